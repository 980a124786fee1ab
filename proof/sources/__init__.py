"""Where page images come from: IIIF manifests and Kanripo image lists, fetched one at a time.

Nothing else in the program asks anything of a network, and this only at a person's command (`proof fetch`).
"""
