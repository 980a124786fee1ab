"""The language model: counts of characters in context, and sets of characters that are easily confused."""
