"""Install the software of the gallery: `uv run python -m tests.real.install`."""

import sys

from tests.real.software import install

if __name__ == "__main__":
    for problem in install():
        sys.stderr.write(f"its tests are skipped: {problem}\n")
