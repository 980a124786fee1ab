"""Out of the store, into files: the corrected source, what was changed in it, and forms that other tools read."""
