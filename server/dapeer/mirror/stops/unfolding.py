"""The first members of values that an adapter shows folded, and how the values read with them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dapeer.base.text.fitting import fitted, shortened
from dapeer.base.text.folding import unfolded
from dapeer.dap.types import Variable

MAX_CONTAINERS = 100
"""Containers that are expanded to show one value; some contain the same one many times."""
MAX_LEVELS = 30
"""Containers in each other that are expanded to show one value."""
FIRST_MEMBERS = 40
"""First members of a container that are kept, at most."""
UNFOLDED_TEXT = 8000
"""Characters that the members of a container share: more than any tool shows of a value."""

_ELEMENT = re.compile(r"""-?\d|\[(?!\[|raw\])|[bru]{0,2}['"]|[(:](?=.)|(?:None|True|False)\Z""")
"""How the name of an element begins: its index or its key, as the languages write them."""

_Inside = tuple[Sequence[tuple[str, str]], int]


@dataclass(slots=True)
class Unfolding:
    """What was fetched of the folded values at one stop.

    An adapter may send thousands of variables, in each other and again and again: whatever it sends, the work grows
    with its size only.
    """

    first: dict[int, list[Variable]] = field(default_factory=dict[int, list[Variable]])
    """The first children of folded values, by variablesReference."""
    reported: dict[int, str] = field(default_factory=dict[int, str])
    """Members that the program itself has reported, by variablesReference; `take_reported` adds to them."""
    _insides: dict[int, _Inside] = field(default_factory=dict[int, _Inside])
    """What `_inside` returns, by variablesReference."""
    _briefs: dict[tuple[int, str], str] = field(default_factory=dict[tuple[int, str], str])
    """What `brief` returns, by variablesReference and value."""

    def __bool__(self) -> bool:
        """Whether anything was fetched."""
        return bool(self.first or self.reported)

    def take(self, reference: int, variables: Sequence[Variable], count: int) -> None:
        """Keep the first children of a folded value; an adapter may send more than `count`."""
        members = [each for each in variables if not is_aside(each)]
        self.first[reference] = members[: min(count, FIRST_MEMBERS)]
        self._outdate()

    def shown(self, variable: Variable) -> str:
        """Return a variable's value; if the adapter folds it, with its first elements as far as fetched."""
        reference = variable["variablesReference"]
        if reference in self.reported:
            return self.reported[reference]
        members, _ = self._inside(reference)
        return unfolded(variable["value"], members) if members else variable["value"]

    def brief(self, variable: Variable, limit: int) -> str:
        """Return what `shown` does, in `limit` characters; that too is found out once for each container."""
        if not variable["variablesReference"]:
            return closed(variable, limit)
        key = variable["variablesReference"], variable["value"]
        if key not in self._briefs:
            self._briefs[key] = fitted(self.shown(variable), limit)
        return self._briefs[key]

    def _inside(self, reference: int) -> tuple[Sequence[tuple[str, str]], int]:
        """Return names and values of a container's first members, and how many containers were expanded.

        That is found out once for each container: thousands of variables may have one and the same.
        """
        if reference not in self._insides:
            done: list[int] = []
            self._insides[reference] = self._members(reference, (), done), len(done)
        return self._insides[reference]

    def _members(
        self, reference: int, around: tuple[int, ...], done: list[int]
    ) -> list[tuple[str, str]]:
        """Return names and values of a container's first members, unless it is `around` itself.

        What was expanded for that is added to `done`.
        """
        first = self.first.get(reference)
        enough = len(done) >= MAX_CONTAINERS or len(around) >= MAX_LEVELS
        if not first or enough or reference in around:
            return []
        done.append(reference)
        inner, room = (*around, reference), UNFOLDED_TEXT // len(first)
        return [
            (shortened(each["name"], room), _within(self._unfolded(each, inner, done), room))
            for each in first
        ]

    def _unfolded(self, variable: Variable, around: tuple[int, ...], done: list[int]) -> str:
        reference = variable["variablesReference"]
        if reference in self.reported:
            done.append(reference)
            return self.reported[reference]
        members = self._members(reference, around, done) if reference else ()
        return unfolded(variable["value"], members) if members else variable["value"]

    def inside(self, variable: Variable) -> list[Variable]:
        """Return what was fetched of a folded variable."""
        return self.first.get(variable["variablesReference"], [])

    def take_reported(self, members: Mapping[int, str]) -> None:
        """Keep the members of containers, by variablesReference, as the program itself has reported them."""
        self.reported |= members
        self._outdate()

    def forget(self) -> None:
        """Forget fetched members of variables but those in the adapter's own values: they may have changed."""
        self.first.clear()
        self.reported.clear()
        self._outdate()

    def _outdate(self) -> None:
        self._insides.clear()
        self._briefs.clear()

    def opened(self, variable: Variable) -> int:
        """Return how many containers were opened to show a variable."""
        reference = variable["variablesReference"]
        return 1 if reference in self.reported else self._inside(reference)[1]


def closed(variable: Variable, limit: int) -> str:
    """Return what the adapter itself shows of a variable, in `limit` characters."""
    return fitted(variable["value"], limit)


def _within(value: str, room: int) -> str:
    return value if len(value) <= room else fitted(value, room)


def is_element(variable: Variable) -> bool:
    """Whether a child is an element of its container, by its name; the others are members.

    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("007", "[7]", "'key'", "(1, 2)")]
    [True, True, True, True]
    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("len()", "[[Prototype]]", "@a", "[raw]")]
    [False, False, False, False]
    """
    return bool(_ELEMENT.match(variable["name"]))


def is_aside(variable: Variable) -> bool:
    """Whether a member is not data: js-debug's internal properties, getters, methods; rdbg's class."""
    name, value = variable["name"], variable["value"]
    computed = variable.get("presentationHint", {}).get("lazy")
    # debugpy adds the length, and puts methods into groups.
    if name == "len()" or not (value or variable.get("type")):
        return True
    internal = name.startswith("[[") or name == "#class"
    return bool(computed) or internal or value.startswith(("ƒ ", "async ƒ ", "class "))
