"""`python -m proof` is `proof`."""

import sys

from proof.cli import main

sys.exit(main())
