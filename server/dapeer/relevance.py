"""Which local variables matter first at a stop. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dapeer.dap.types import Variable
from dapeer.history import Stop

_NAME = re.compile(r"[^\W\d][\w$]*")
DEFINITIONS = ("module", "class", "function")
"""What is among the variables of a module, but seldom what somebody looks for."""


def definition(variable: Variable) -> str:
    """Return which of the definitions of its module a variable is, as the adapter hints; empty: it is data."""
    kind = str(variable.get("presentationHint", {}).get("kind") or "")
    return kind if kind in DEFINITIONS else ""


def on_line(stop: Stop) -> set[str]:
    """Return the names in the line of source where the program is."""
    return set(_NAME.findall(_line(stop)))


def _line(stop: Stop) -> str:
    """Return the line of source where the program is."""
    if stop.source is None or stop.top is None:
        return ""
    first, lines = stop.source
    number = stop.top["line"] - first
    return lines[number] if 0 <= number < len(lines) else ""


def by_use(
    variables: Sequence[Variable],
    named: Collection[str],
    arguments: Collection[str],
    changed: Collection[str],
) -> list[Variable]:
    """Return variables in the order in which they are likely to matter: what was returned and what the line names first."""

    def rank(variable: Variable) -> int:
        name = variable["name"]
        groups = (name.startswith("("), name in named, name in arguments, name in changed)
        if any(groups):
            return groups.index(True)
        return len(groups) + bool(definition(variable))

    return sorted(variables, key=rank)


def arrived(stop: Stop, frame_id: int) -> bool:
    """Whether the locals of a frame were fetched; a frame may have none."""
    if stop.set_aside is not None:
        return True
    wanted = (scope["variablesReference"] for scope in stop.local_scopes(frame_id))
    return frame_id in stop.scopes and all(reference in stop.variables for reference in wanted)
