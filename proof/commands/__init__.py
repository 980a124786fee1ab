"""The commands, one module each. A command parses its options, calls the program and prints the result."""
