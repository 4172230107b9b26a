"""The credentials that dapeer itself is given in its environment: by which clients enter, and by which it enters OpenCode.

They are nobody else's. The command line takes them out of the environment before anything else happens, so that no
adapter, no program that is debugged and no terminal inherits them. Every other variable, `ANTHROPIC_API_KEY` for one, may be
what the program needs to run, and stays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import Final

TOKEN: Final = "DAPEER_TOKEN"  # noqa: S105 - its name
"""What clients of `dapeer serve` must show."""
OPENCODE_PASSWORD: Final = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 - its name
"""What an OpenCode server wants to see. OpenCode reads the same variable."""

NAMES: Final = (TOKEN, OPENCODE_PASSWORD)


def taken(environment: MutableMapping[str, str] = os.environ) -> Mapping[str, str]:
    """Take the credentials out of our environment, and return them by their names."""
    return {name: environment.pop(name) for name in NAMES if name in environment}
