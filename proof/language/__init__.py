"""What the language model says: a character model of the language, and the sets of characters that a hand runs
together."""
