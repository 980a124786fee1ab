"""`python -m proof` is `proof`."""

from proof.cli import run

run()
