"""`python -m frozenbench`: the same as the console script."""

import sys

from frozenbench.cli import main

if __name__ == "__main__":
    sys.exit(main())
