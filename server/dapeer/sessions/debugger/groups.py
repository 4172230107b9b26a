"""Groups of programs that were started together, and the processes of one program: each has a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dapeer.base.errors import NoSession
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.registry import Sessions

MAX_LISTED_GROUPS = 10
"""Groups that an error lists."""


@dataclass(frozen=True, slots=True)
class Group:
    """Several sessions with one name."""

    name: str
    members: Mapping[str, Session]
    """By their labels: what they were started as, or their numbers."""
    stop_all: bool = False
    """The end of one ends all."""

    @property
    def lives(self) -> bool:
        """Whether any of its sessions has not ended."""
        return any(not each.over for each in self.members.values())

    def acting(self, label: str) -> Session:
        """Return the session on which a tool works when the member `label` is meant.

        That may be a child session. If the program has only this member in the group, a stopped process of it comes first.
        """
        member = self.members[label]
        exactly = sum(each.program is member.program for each in self.members.values()) > 1
        return member.program.acting(member, exactly=exactly)


class Groups:
    """The groups that there are: those of starts, and programs of several processes."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._started_groups: dict[str, Group] = {}

    def add(self, name: str, members: Mapping[str, Session], *, stop_all: bool = False) -> Group:
        """Make and keep a group of the sessions in `members`, which has them by their labels; return it.

        If a group has its name already, a number is appended. `stop_all`: the end of one member is to end all.
        """
        self._drop_unknown_groups()
        taken = {*self._started_groups, *(each.name for each in self._processes())}
        free = next(
            each for n in range(1, len(taken) + 2) if (each := _numbered(name, n)) not in taken
        )
        group = self._started_groups[free] = Group(free, members, stop_all)
        return group

    @property
    def all(self) -> Sequence[Group]:
        """Every group: those that were started together first, then programs with several processes."""
        self._drop_unknown_groups()
        return [*self._started_groups.values(), *self._processes()]

    def named(self, name: str) -> Group:
        """Return the group of a name.

        Raises:
            NoSession: There is none.
        """
        every = self.all
        for each in every:
            if each.name == name:
                return each
        listed = ", ".join(each.name for each in every[:MAX_LISTED_GROUPS]) or "none"
        raise NoSession(f"There is no group {name!r}.", f"Groups: {listed}.")

    def _processes(self) -> list[Group]:
        """Return a group for each living program that has several debugged processes.

        Their labels are the session ids; the name is the program's, with an id where it is not unique.
        """
        groups: list[Group] = []
        for first in self._sessions.programs:
            debugged = first.program.debugged
            if len(debugged) > 1:
                members = {str(each.id): each for each in debugged}
                names = {each.name for each in groups} | {*self._started_groups}
                name = first.name if first.name not in names else f"{first.name} {first.id}"
                groups.append(Group(name, members))
        return groups

    def _drop_unknown_groups(self) -> None:
        """Drop groups none of whose sessions is known to the registry any more."""
        known = {*self._sessions.values()}
        self._started_groups = {
            name: each
            for name, each in self._started_groups.items()
            if not known.isdisjoint(each.members.values())
        }


def _numbered(name: str, number: int) -> str:
    """Return a group's name with a number, which 1 leaves out."""
    return name if number == 1 else f"{name} {number}"
