"""`python -m dapeer` is the command `dapeer`."""

import sys

from dapeer.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
