"""Where page images come from: IIIF manifests and Kanripo image lists, fetched one at a time.

Only at a person's command (`proof fetch`) is anything asked of a network, and nothing else in the program asks: but
for paddleocr, which looks for a model of its makers that is named and not on the machine.
"""
