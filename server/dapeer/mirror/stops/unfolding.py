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
        """Keep the first members of a folded value, without those that are not data (`is_no_data`).

        `reference` is its variablesReference; `variables` are its children from the first on. At most `count`, and at most
        `FIRST_MEMBERS`, are kept, although an adapter may send more.
        """
        members = [each for each in variables if not is_no_data(each)]
        self.first[reference] = members[: min(count, FIRST_MEMBERS)]
        self._outdate()

    def shown(self, variable: Variable) -> str:
        """Return a variable's value as text.

        If the adapter shows it folded, the text has its first members, as far as fetched. Members that the program itself has
        reported replace the adapter's value.
        """
        reference = variable["variablesReference"]
        if reference in self.reported:
            return self.reported[reference]
        members, _ = self._inside(reference)
        return unfolded(variable["value"], members) if members else variable["value"]

    def brief(self, variable: Variable, limit: int) -> str:
        """Return the text of `shown` in at most `limit` characters.

        It is computed once for each container and value.
        """
        if not variable["variablesReference"]:
            return adapters_value(variable, limit)
        key = variable["variablesReference"], variable["value"]
        if key not in self._briefs:
            self._briefs[key] = fitted(self.shown(variable), limit)
        return self._briefs[key]

    def _inside(self, reference: int) -> tuple[Sequence[tuple[str, str]], int]:
        """Return what `_members` finds of a container, and how many containers were expanded for that.

        Members are pairs of name and value. It is computed once for each container: thousands of variables may have the same.
        """
        if reference not in self._insides:
            done: list[int] = []
            self._insides[reference] = self._members(reference, (), done), len(done)
        return self._insides[reference]

    def _members(
        self, reference: int, around: tuple[int, ...], done: list[int]
    ) -> list[tuple[str, str]]:
        """Return names and values of a container's first members, the values themselves unfolded.

        `around` are the references of the containers that it is in: one inside itself has no members. Each container that is
        expanded is appended to `done`; at `MAX_CONTAINERS` of these, or `MAX_LEVELS` around it, the result is empty.
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
        """Return a member's value with its own members, where known.

        Containers expanded for it are added to `done`.
        """
        reference = variable["variablesReference"]
        if reference in self.reported:
            done.append(reference)
            return self.reported[reference]
        members = self._members(reference, around, done) if reference else ()
        return unfolded(variable["value"], members) if members else variable["value"]

    def members_of(self, variable: Variable) -> list[Variable]:
        """Return the first members that were fetched of a folded variable; empty if none were."""
        return self.first.get(variable["variablesReference"], [])

    def take_reported(self, members: Mapping[int, str]) -> None:
        """Add texts that the program printed of containers, by variablesReference.

        They replace the adapter's values.
        """
        self.reported |= members
        self._outdate()

    def forget(self) -> None:
        """Drop all fetched and reported members, since a write may have changed them."""
        self.first.clear()
        self.reported.clear()
        self._outdate()

    def _outdate(self) -> None:
        """Empty the caches of computed texts and members."""
        self._insides.clear()
        self._briefs.clear()

    def expanded_count(self, variable: Variable) -> int:
        """Return how many containers were expanded to show a variable; 0 if its value is the adapter's own."""
        reference = variable["variablesReference"]
        return 1 if reference in self.reported else self._inside(reference)[1]


def adapters_value(variable: Variable, limit: int) -> str:
    """Return the adapter's own value of a variable, in at most `limit` characters."""
    return fitted(variable["value"], limit)


def _within(value: str, room: int) -> str:
    """Return a text, fitted into `room` characters if it is longer."""
    return value if len(value) <= room else fitted(value, room)


def is_element(variable: Variable) -> bool:
    """Whether a child is an element of its container, by its name; the others are members.

    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("007", "[7]", "'key'", "(1, 2)")]
    [True, True, True, True]
    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("len()", "[[Prototype]]", "@a", "[raw]")]
    [False, False, False, False]
    """
    return bool(_ELEMENT.match(variable["name"]))


def is_no_data(variable: Variable) -> bool:
    """Return whether a member is not data: a length, internal property, getter, method, group of methods.

    The forms are those of js-debug, debugpy and rdbg.
    """
    name, value = variable["name"], variable["value"]
    computed = variable.get("presentationHint", {}).get("lazy")
    # debugpy adds the length, and puts methods into groups.
    if name == "len()" or not (value or variable.get("type")):
        return True
    internal = name.startswith("[[") or name == "#class"
    return bool(computed) or internal or value.startswith(("ƒ ", "async ƒ ", "class "))
