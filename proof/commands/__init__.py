"""The commands, one module each: parse, call, print. What they call knows nothing of a command line."""
