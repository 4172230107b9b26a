"""Keys that earlier versions of dapeer read in definitions, and this one ignores. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dapeer.base.json_types import is_array, is_object

_KEPT_READY = "No adapter is kept ready for the next session."
RETIRED: dict[str, str] = {
    "attach.core.transport.kept_ready": _KEPT_READY,
    "attach.pid.transport.kept_ready": _KEPT_READY,
    "attach.tcp.transport.kept_ready": _KEPT_READY,
    "launch_variant.transport.kept_ready": _KEPT_READY,
    "quirks.answers_ahead": "No adapter answers ahead of questions.",
    "quirks.repl_is_command": "Nothing has read it.",
    "transport.kept_ready": _KEPT_READY,
}
"""A sentence on what became of a key, by its dotted name without the numbers of lists.

`quirks.example` stands for `[quirks] example`.
"""

_NUMBER = re.compile(r"\[\d+\]")


def is_retired(name: str) -> bool:
    """Return whether a dotted name, perhaps with numbers of lists, is of a key that is read no more."""
    return _NUMBER.sub("", name) in RETIRED


def retired_in(values: Mapping[str, object], above: str = "") -> Iterator[str]:
    """Yield the dotted name of each retired key in a definition's values, each time that it is there.

    `above` is the name of the table that the values are in, with a dot at its end.
    """
    for key, value in values.items():
        name = f"{above}{key}"
        if name in RETIRED:
            yield name
        for each in value if is_array(value) else [value]:
            if is_object(each):
                yield from retired_in(each, f"{name}.")
