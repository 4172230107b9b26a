"""Removes dapeer's own credentials from its environment, those of integrations included.

The command line takes them out of the environment before anything else happens, so no adapter, debugged
program or terminal inherits them. Every other variable stays, such as `ANTHROPIC_API_KEY`: the program may
need it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping
    from typing import Final

TOKEN: Final = "DAPEER_TOKEN"  # noqa: S105 - its name
"""The token that clients of `dapeer serve` must send."""


def remove_credentials(
    others: Iterable[str], environment: MutableMapping[str, str] = os.environ
) -> Mapping[str, str]:
    """Remove dapeer's token and the variables `others` from `environment`, and return those that were set.

    The result has their values by name. `environment` is dapeer's own unless it is given.
    """
    return {name: environment.pop(name) for name in (TOKEN, *others) if name in environment}
