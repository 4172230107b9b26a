"""Which local variables matter first at a stop. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from dapeer.dap.types import Variable
from dapeer.mirror.stops import Stop

_NAME = re.compile(r"[^\W\d][\w$]*")
DEFINITIONS = ("module", "class", "function")
"""Kinds of module variables that are seldom of interest."""


def definition(variable: Variable) -> str:
    """Return `module`, `class` or `function` if the adapter says that a variable is one; else empty."""
    kind = str(variable.get("presentationHint", {}).get("kind") or "")
    return kind if kind in DEFINITIONS else ""


def parted(variables: Iterable[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Return two lists: those variables that are data, and those that are definitions of a module."""
    data: list[Variable] = []
    definitions: list[Variable] = []
    for variable in variables:
        (definitions if definition(variable) else data).append(variable)
    return data, definitions


def names_on_line(stop: Stop) -> frozenset[str]:
    """Return the names in the line of source where the program is; empty if its source is unknown."""
    return _names(_line(stop))


def names_around(stop: Stop) -> frozenset[str]:
    """Return the names in the lines of source that a stop shows; empty if its source is unknown."""
    return _names("\n".join(stop.found.source[1])) if stop.found.source else frozenset()


@lru_cache(maxsize=8)
def _names(source: str) -> frozenset[str]:
    """Return the names in a piece of source; cached, since it is looked at several times for each stop."""
    return frozenset(_NAME.findall(source))


def bare(name: str) -> str:
    """Return a name without signs that languages and adapters put around it, such as `@`, `$` and quotes.

    >>> bare("@queue"), bare("%self"), bare("'price'")
    ('queue', 'self', 'price')
    """
    return name.strip("@$%&*:'\"")


def _line(stop: Stop) -> str:
    """Return the line of source where the program is; empty if it is unknown."""
    if stop.found.source is None or stop.top is None:
        return ""
    first, lines = stop.found.source
    number = stop.top["line"] - first
    return lines[number] if 0 <= number < len(lines) else ""


def _groups(stop: Stop, changed: Collection[str]) -> list[list[Variable]]:
    """Return the locals of a stop in seven groups, the likeliest to matter first.

    They are: returned values, names in the current line, in the lines around it (`AROUND_GROUP`), arguments, names in `changed`,
    other data (`UNUSED_GROUP`), and definitions of the module (`DEFINED_GROUP`).
    """
    line, lines, arguments = names_on_line(stop), names_around(stop), stop.arguments()
    named = line.union(lines, arguments, changed)
    groups: list[list[Variable]] = [[] for _ in range(7)]
    for variable in stop.locals():
        name = variable["name"]
        # Nothing speaks for most of many.
        if name not in named and name.isidentifier():
            groups[DEFINED_GROUP if definition(variable) else UNUSED_GROUP].append(variable)
            continue
        name, plain, data = variable["name"], bare(variable["name"]), not definition(variable)
        speaking = (
            name.startswith("("), plain in line, data and plain in lines, data and name in arguments, data and name in changed, data,
        )  # fmt: skip
        groups[speaking.index(True) if any(speaking) else DEFINED_GROUP].append(variable)
    return groups


def by_need(stop: Stop) -> tuple[list[Variable], list[Variable]]:
    """Return two lists of the locals: those that the shown source uses, with the arguments; all others.

    Of the first those come first that the current line uses.
    """
    groups = _groups(stop, ())
    return _join_groups(groups[: UNUSED_GROUP - 1]), _join_groups(groups[UNUSED_GROUP - 1 :])


def _join_groups(groups: Iterable[list[Variable]]) -> list[Variable]:
    """Return the variables of all groups in one list."""
    return [*chain.from_iterable(groups)]


AROUND_GROUP, UNUSED_GROUP, DEFINED_GROUP = 2, 5, 6
"""Groups of locals: named in the lines around, irrelevant, and definitions."""
MAX_LOCALS = 20
"""Locals that are shown."""
MAX_UNSORTED_LOCALS = 10
"""Locals that are all shown, whether anything speaks for them or not."""
MIN_LOCALS = 4
"""Locals that are shown if there are more than those, whatever their relevance."""


MIN_TYPED = 50
"""Locals that are not shown, of which it is told what they are."""
MAX_TYPES = 3
"""Types of these that are told."""


@dataclass(frozen=True, slots=True)
class LocalsChoice:
    """The shown locals of a stop, and how many are not shown: data (many by type), definitions by kind."""

    shown_locals: list[Variable]
    hidden_count: int
    types: Mapping[str, int]
    """The most frequent types of what is hidden, with counts; empty: few are left, or of one type."""
    definitions: Mapping[str, int]


def choose_locals(stop: Stop, changed: Collection[str]) -> LocalsChoice:
    """Choose the locals to show at a stop, at most `MAX_LOCALS`, in the order of their relevance.

    If there are more than `MAX_UNSORTED_LOCALS` and the source is known, only those are shown that the source, arguments or `changed`
    (names of changed locals) speak for, but at least `MIN_LOCALS`. Definitions of the module are only counted. The result also has the
    number of data that are not shown, their frequent types with counts (empty for few), and the number of definitions by kind.
    """
    *data, defined = _groups(stop, changed)
    whole = _join_groups(data)
    count = len(whole)
    others = count - len(data[AROUND_GROUP]) - len(data[UNUSED_GROUP])
    # Where a line nearby names dozens, the arguments are not lost behind them.
    data[AROUND_GROUP][MAX_LOCALS - min(others, MAX_LOCALS) :] = []
    matter = sum(map(len, data[:UNUSED_GROUP]))
    if count > MAX_UNSORTED_LOCALS and stop.found.source is not None:
        data[UNUSED_GROUP][max(MIN_LOCALS - matter, 0) :] = []
    shown = _join_groups(data)[:MAX_LOCALS]
    kinds = [*map(definition, defined)]
    ids = {*map(id, shown)}
    types = _types([each for each in whole if id(each) not in ids])
    return LocalsChoice(
        shown, count - len(shown), types, {each: kinds.count(each) for each in DEFINITIONS}
    )


def _types(variables: Collection[Variable]) -> Mapping[str, int]:
    """Return the most frequent types of many variables, with counts; empty for few, or one type."""
    counts = Counter(each.get("type") or "" for each in variables)
    if len(variables) < MIN_TYPED or len(counts) < 2:
        return {}
    return {name: count for name, count in counts.most_common(MAX_TYPES) if name}


def has_locals(stop: Stop, frame_id: int) -> bool:
    """Return whether the locals of a frame were fetched, so that an empty list means that it has none.

    `frame_id` is the adapter's id. It is also True where the locals were fetched and set aside, since lldb-dap gave their
    references to another frame.
    """
    if stop.values.stale_locals is not None:
        return True
    references = (scope["variablesReference"] for scope in stop.values.local_scopes(frame_id))
    return frame_id in stop.values.scopes and all(
        reference in stop.values.variables for reference in references
    )
