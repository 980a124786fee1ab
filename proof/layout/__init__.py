"""What stands where on a page of any kind: plates, openings, frame, columns with rules and without, registers, notes,
figures, strips; what a person set right of it."""
