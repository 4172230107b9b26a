"""A look at a stop without what its reader does not need. Pure."""

from __future__ import annotations

import re
from typing import cast

from dapeer.snapshot import Snapshot

_LEFT_OUT = frozenset({"stack", "locals"})
_OF_THEM = re.compile(r"(?:\d+ more (?:frame|local)s?|also .*): dap_\w+")
"""A note that tells where there is more of what is left out."""
_MARK = "→"


def brief(view: Snapshot) -> Snapshot:
    """Return where a stopped program is, what has changed and what has happened, without what is there besides."""
    if view["state"] != "stopped":
        return view
    kept = cast("Snapshot", {key: each for key, each in view.items() if key not in _LEFT_OUT})
    if "source" in view:
        kept["source"] = marked(view["source"])
    if "notes" in view:
        kept["notes"] = [note for note in view["notes"] if not _OF_THEM.match(note)]
    return kept


def marked(source: str) -> str:
    r"""Return the line of numbered source at which the program is.

    >>> marked("  9 a\n→ 10 b")
    '→ 10 b'
    """
    return "\n".join(line for line in source.splitlines() if line.startswith(_MARK))
