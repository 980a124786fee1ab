"""What stands where on a page: plates, openings, frame, columns, notes, strips; what a person set right of it."""
