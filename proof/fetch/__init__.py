"""Fetching page images from IIIF manifests and Kanripo image lists, one at a time.

Only the command `proof fetch` uses the internet, except that paddleocr fetches a model of its makers if the user names
one that is not on the machine.
"""
