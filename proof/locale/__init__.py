"""The languages of the interface, their catalogues, and what notices say."""
