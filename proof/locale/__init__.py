"""The languages of the interface and their catalogues."""
