"""`python -m scripts.segmenter`: see `scripts.segmenter.train`."""

from scripts.segmenter.train import main

main()
