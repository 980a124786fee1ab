"""A page drawn from a text, with wear and the true boxes."""
