"""The tools of dapeer as data, without loading them: what each is called, takes and counts as.

`python -m tools.known_answers` writes `known.json` from the tools, and a test fails while it is outdated. Only the standard
library, and little of it: commands of the command line and methods of scripts are made of this at each start.
"""

from __future__ import annotations

import json
from functools import cache
from os import path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final, TypedDict

    class KnownCase(TypedDict):
        """The kinds that one argument adds to a call, as in `peers.consent_kinds.ArgumentKinds`."""

        argument: str
        adds: Sequence[str]
        explanation: str
        """When it adds them, for people; empty: if the argument is given."""

    class KnownKinds(TypedDict):
        """The kinds of a tool's calls, as in `peers.consent_kinds.CallKinds`."""

        always: Sequence[str]
        cases: Sequence[KnownCase]
        remark: str

    class KnownTool(TypedDict):
        """A tool, as its `@tool` declares it."""

        title: str
        section: str
        description: str
        read_only: bool
        destructive: bool
        idempotent: bool
        resumes: bool
        starts: bool
        is_lean: bool
        kinds: KnownKinds | None
        """None: none if it is read-only, else every kind."""
        needs: Sequence[str] | None
        """What an adapter must support, one of these; None: nothing."""
        argument_needs: Mapping[str, str]
        unlisted: Sequence[str]
        arguments: Mapping[str, Any]
        """The JSON Schema of its arguments, the unlisted ones too."""
        data: Mapping[str, Any] | None
        """The JSON Schema of its data; None: it is unspecified."""


KNOWN: Final = "known.json"
_PACKAGE: Final = path.dirname(path.dirname(path.dirname(__file__)))


def known_file(module: str) -> str:
    """Return the path of the JSON file that describes the tools of a module, given as `dapeer.…`.

    Each integration has a file of its own; all other modules share that of `dapeer.tools`.
    """
    _, room, *rest = module.split(".")
    folders = (room, rest[0]) if room == "integrations" else ("tools",)
    return path.join(_PACKAGE, *folders, KNOWN)


@cache
def known_tools(file: str = known_file("dapeer.tools")) -> Mapping[str, KnownTool]:
    """Read a file that describes tools, and return them by name, in the documentation's order.

    `tools.known_answers` writes such files. By default it is the file of dapeer's own tools. Each file is read once per process.
    """
    with open(file, encoding="utf-8") as lines:
        return json.load(lines)
