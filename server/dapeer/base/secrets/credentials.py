"""Removes dapeer's own credentials from its environment: its clients' token, OpenCode's password.

The command line takes them out of the environment before anything else happens, so no adapter, debugged
program or terminal inherits them. Every other variable stays, such as `ANTHROPIC_API_KEY`: the program may
need it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from typing import Final

TOKEN: Final = "DAPEER_TOKEN"  # noqa: S105 - its name
"""The token that clients of `dapeer serve` must send."""
OPENCODE_PASSWORD: Final = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 - its name
"""The password of an OpenCode server. OpenCode reads the same variable."""

OPENCODE_URL: Final = "DAPEER_OPENCODE_URL"
"""The variable with the address of an OpenCode server; it is no secret, and stays."""

NAMES: Final = (TOKEN, OPENCODE_PASSWORD)


def taken(environment: MutableMapping[str, str] = os.environ) -> Mapping[str, str]:
    """Remove the credentials from dapeer's environment, and return them by name."""
    return {name: environment.pop(name) for name in NAMES if name in environment}
