"""Drawn pages with labels, and the training of the network that finds columns on them."""
