"""What stands where on a page of any kind: columns with rules and without, registers, notes, figures."""
