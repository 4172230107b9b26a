"""What threads and tasks of a program wait for, as lines. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dapeer.base.json_types import Value, as_array, as_object
from dapeer.base.text.fitting import shortened

MAX_NAME_CHARS = 160
"""Characters of a name."""
MAX_LISTED_WAITS = 20
"""Waits that are listed, beside those of a deadlock."""
MAX_HOLDERS = 4
"""Members that are named of one wait."""


def deadlock(answer: Mapping[str, Value]) -> list[str]:
    """Return what each member of a deadlock waits for, in its circle's order; empty: none is known."""
    waits = _by_member(answer)
    return [_line(answer, waits[each]) for each in _numbers(answer.get("circle")) if each in waits]


def others(answer: Mapping[str, Value], listed: Collection[int]) -> list[str]:
    """Return what members outside deadlocks wait for; `listed` has the program's numbers that count."""
    circle = set(_numbers(answer.get("circle")))
    left = [
        _line(answer, wait)
        for each, wait in _by_member(answer).items()
        if each not in circle and _own_id(answer, each) in listed
    ]
    more = [f"({len(left) - MAX_LISTED_WAITS} more wait)"] if len(left) > MAX_LISTED_WAITS else []
    return left[:MAX_LISTED_WAITS] + more


def _by_member(answer: Mapping[str, Value]) -> Mapping[int, Mapping[str, Value]]:
    waits = map(as_object, as_array(answer.get("waits")))
    return {member: wait for wait in waits if isinstance(member := wait.get("member"), int)}


def _numbers(listed: Value) -> Sequence[int]:
    return [each for each in as_array(listed) if isinstance(each, int)]


def _line(answer: Mapping[str, Value], wait: Mapping[str, Value]) -> str:
    """Return one wait: who, for what, in which state, and who has to go on first."""
    number = wait.get("member")
    who = _name(answer, number if isinstance(number, int) else -1)
    what, state = (shortened(str(wait.get(key) or ""), MAX_NAME_CHARS) for key in ("what", "state"))
    limited = " for a limited time" if wait.get("timed") else ""
    holders = [*_holders(answer, wait)]
    more = [f"and {len(holders) - MAX_HOLDERS} more"] if len(holders) > MAX_HOLDERS else []
    parts = [f"{who} waits for {what}{limited}", state, *holders[:MAX_HOLDERS], *more]
    return ", ".join(filter(None, parts))


def _holders(answer: Mapping[str, Value], wait: Mapping[str, Value]) -> Iterator[str]:
    """Yield who has to go on first, each with how, and since where."""
    what = str(wait.get("what") or "")
    for each in as_array(wait.get("by")):
        match each:
            case [int(number), str(how), str(since)] if not what.endswith(_name(answer, number)):
                name = " ".join(filter(None, (how, _name(answer, number))))
                yield f"{name} since {since}" if since else name
            case _:
                pass


def _own_id(answer: Mapping[str, Value], number: int) -> int:
    match as_array(answer.get("members"))[number : number + 1]:
        case [[_, _, int(own_id)]]:
            return own_id
        case _:
            return 0


def _name(answer: Mapping[str, Value], number: int) -> str:
    members = as_array(answer.get("members"))
    match members[number : number + 1]:
        case [[str(kind), str(name), *_]]:
            return shortened(f"{kind} {name}", MAX_NAME_CHARS)
        case _:
            return "another"
