"""What threads and tasks of a program wait for, as lines. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dapeer.base.json_types import Value, as_array, as_object
from dapeer.base.text.fitting import shortened

MAX_NAME_CHARS = 160
"""Characters of a name."""
MAX_LISTED_WAITS = 20
"""Groups of waits that are listed, beside those of a deadlock."""
MAX_HOLDERS = 4
"""Members that are named of one wait."""
RUNNING = "running"
"""The note of a wait for what runs already; those of its group are named first."""
MAX_WAITING = 8
"""Members that are named of a group that waits for the same."""


@dataclass(frozen=True, slots=True)
class ProcessWaits:
    """What a debuggee has answered of what its threads and tasks wait for."""

    name: str
    """The process, as it is named in lines: `process 4242`."""
    answer: Mapping[str, Value]


def deadlock(answer: Mapping[str, Value]) -> list[str]:
    """Return a line for each member of a deadlock, in the order of its circle; empty if there is none.

    `answer` is the debuggee's: `members` (kind, name, own id), `waits` (member, on, what, state, timed, by, note, together, decides) and
    `circle` (numbers of members).
    """
    waits = _by_member(answer)
    return [_line(answer, waits[each]) for each in _numbers(answer.get("circle")) if each in waits]


def lines_of_other_waits(answer: Mapping[str, Value], own_ids: Collection[int]) -> list[str]:
    """Return what members outside of a deadlock wait for, those that wait for the same in one line.

    `answer` is as for `deadlock`; only members whose own id is in `own_ids` count. Waits for what somebody holds
    come first, then those that others have to end, then the rest. Within each of these three, waits with a limit of
    time come last, and among equals what most members wait for comes first. Waits of one kind that have no holder
    are one line, or two if only some have a limit. Beyond `MAX_LISTED_WAITS` lines, a last line has the number of
    the members that are left out. The list is empty if no such member waits.
    """
    circle = set(_numbers(answer.get("circle")))
    groups: dict[object, list[Mapping[str, Value]]] = {}
    for each, wait in _by_member(answer).items():
        if each not in circle and _own_id(answer, each) in own_ids:
            groups.setdefault(wait.get("on") or ("", each), []).append(wait)
    ordered = sorted(_folded(groups.values()), key=_order)
    lines = [
        _line(answer, group[0]) if len(group) == 1 else _same_wait_line(answer, group)
        for group in ordered
    ]
    more = sum(map(len, ordered[MAX_LISTED_WAITS:]))
    return lines[:MAX_LISTED_WAITS] + [f"({more} more wait)"] * bool(more)


def lines_of_held_waits(answer: Mapping[str, Value]) -> list[str]:
    """Return the lines of `lines_of_other_waits` on waits that may explain why nothing goes on.

    `answer` is as for `deadlock`. The lines are on waits without a limit of time whose end depends on another member. The result is empty
    if no wait without a limit is for something that a known member holds: a program that works seldom has one.
    """
    return _leading_lines(answer) if any(map(_is_held, _endless(answer))) else []


def lines_of_other_processes(processes: Sequence[ProcessWaits]) -> list[str]:
    """Return lines on the waits in all processes but the first one that may explain why nothing goes on.

    These are waits in a deadlock, and of each process up to `MAX_LISTED_WAITS` lines on waits without a
    limit of time whose end depends on another thread or task, then how many more wait; waits for an idle
    queue or future are left out. The first of `processes` only serves to name who else has a queue. Each
    line begins with the names of its processes; where several have the same line, they are named together.
    """
    names: dict[str, list[str]] = {}
    for each in processes[1:]:
        known = with_sharers(each, processes)
        for line in (*deadlock(known), *_leading_lines(known)):
            names.setdefault(line, []).append(each.name)
    return [f"{', '.join(of)}: {line}" for line, of in names.items()]


def with_sharers(process: ProcessWaits, processes: Sequence[ProcessWaits]) -> Mapping[str, Value]:
    """Return the answer of a process, in which waits for queues between processes name who else has these.

    Each wait in the copy has the key `sharers`: a text, such as `thread events of process 7 has it: self._queue,
    events.py:41 in _take`, of at most `MAX_HOLDERS` threads and tasks of the other `processes` whose frames have
    the same queue, separated by `; `. It is empty if there is none, or for a wait of another kind. `process` may be
    among `processes`.
    """
    waits: list[Value] = []
    for wait in map(as_object, as_array(process.answer.get("waits"))):
        pipe = wait.get("pipe")
        found = [
            f"{_name(each.answer, number)} of {each.name} has it: {name}, {place}"
            for each in processes
            if pipe and each is not process
            for number, name, place in _variables_with_queue(each.answer, pipe)
        ]
        waits.append({**wait, "sharers": "; ".join(found[:MAX_HOLDERS])})
    return {**process.answer, "waits": waits}


def _variables_with_queue(
    answer: Mapping[str, Value], pipe: Value
) -> Iterator[tuple[int, str, str]]:
    """Yield each variable of a debuggee's frames that holds the queue of a pipe, as (member, name, place).

    `answer` is the debuggee's, as for `deadlock`, and has `queues`, too; `pipe` is the value that a wait has as `pipe`.
    The member is the index in `members` of the thread or task whose frame it is; the name is the variable's, such as
    `self._queue`; the place is a text, such as `events.py:41 in _take`. Other entries of `queues` are passed over.
    """
    for each in as_array(answer.get("queues")):
        match each:
            case [int(number), str(other), str(name), str(place)] if other == pipe:
                yield number, name, place
            case _:
                pass


def _endless(answer: Mapping[str, Value]) -> Iterator[Mapping[str, Value]]:
    """Yield the waits of the debuggee's answer that have no limit of time."""
    waits = map(as_object, as_array(answer.get("waits")))
    return (each for each in waits if not each.get("timed"))


def _leading_lines(answer: Mapping[str, Value]) -> list[str]:
    """Return a line for each wait that has no limit of time and shows what must go on before others can.

    `answer` is the debuggee's, as for `deadlock`. A wait counts if something is known to hold what it waits for
    (`on` and `by`), or if it `decides`. Members of a deadlock, which `circle` lists, have no line here. Equal
    waits are joined, and the number of lines is limited, as by `lines_of_other_waits`; the list is empty if no
    wait counts.
    """
    leading: list[Value] = [
        {**each}
        for each in _endless(answer)
        if (each.get("by") and each.get("on")) or each.get("decides")
    ]
    leads: Mapping[str, Value] = {**answer, "waits": leading}
    return lines_of_other_waits(leads, {_own_id(answer, each) for each in _by_member(leads)})


def _folded(
    groups: Iterable[Sequence[Mapping[str, Value]]],
) -> Sequence[Sequence[Mapping[str, Value]]]:
    """Join those groups of waits that are of one kind and have no holder; return all groups, in order.

    Each of `groups` has waits for the same object, at least one. The kind is the key `together` of a group's first
    wait, the holder its key `by`; groups with and without a limit of time (`timed`) are not joined. Joined groups are
    one, at the place of the first of them. Groups without a kind, or with a holder, stay as they are.
    """
    folded: dict[object, list[Mapping[str, Value]]] = {}
    for number, group in enumerate(groups):
        kind = group[0].get("together")
        key = (kind, bool(group[0].get("timed"))) if kind and not group[0].get("by") else number
        folded.setdefault(key, []).extend(group)
    return [*folded.values()]


def _order(group: Sequence[Mapping[str, Value]]) -> tuple[bool, bool, bool, int]:
    """Return by what groups of waits are sorted: the first of them says most."""
    wait = group[0]
    is_ended = bool(wait.get("by") or wait.get("decides"))
    return not _is_held(wait), not is_ended, bool(wait.get("timed")), -len(group)


def _is_held(wait: Mapping[str, Value]) -> bool:
    """Return whether it is known who holds what is waited for."""
    return any(as_array(each)[1:2] == ["held by"] for each in as_array(wait.get("by")))


def _by_member(answer: Mapping[str, Value]) -> Mapping[int, Mapping[str, Value]]:
    """Return the waits of the debuggee's answer by the number of the member that waits."""
    waits = map(as_object, as_array(answer.get("waits")))
    return {member: wait for wait in waits if isinstance(member := wait.get("member"), int)}


def _numbers(listed: Value) -> Sequence[int]:
    """Return the integers of a JSON list; empty for anything else."""
    return [each for each in as_array(listed) if isinstance(each, int)]


def _line(answer: Mapping[str, Value], wait: Mapping[str, Value]) -> str:
    """Return one wait as a line: who waits, for what, in which state that is, and who holds it."""
    what = str(wait.get("what") or "")
    note = str(wait.get("note") or "")
    noted = {**wait, "what": f"{what} ({note})"} if note and not what.endswith(note) else wait
    return f"{_waiting(answer, wait)} waits for {_awaited(answer, noted)}"


def _same_wait_line(answer: Mapping[str, Value], group: Sequence[Mapping[str, Value]]) -> str:
    """Return a line for members that wait for the same: how many, for what, held by whom, and their names.

    At most `MAX_WAITING` of them are named, those that run first, each with the note of its wait; the
    others are counted. `group` are their waits, at least one, out of the debuggee's `answer` (keys
    `members` and `waits`).
    """
    names = [_waiting(answer, each) for each in group]
    kinds = {each.partition(" ")[0] for each in names}
    kind = f"{kinds.pop()}s" if len(kinds) == 1 else "threads and tasks"
    # The same object may have a name in one frame, and none in another.
    best = max(group, key=lambda each: len(str(each.get("what") or "")))
    if together := best.get("together"):
        # Of the futures in a group each has its own state.
        own = "" if len({each.get("on") for each in group}) > 1 else best.get("state")
        best = {**best, "what": together, "state": own}
    ordered = sorted(zip(names, group, strict=True), key=_first_running)
    named = [
        _member_with_note(name.partition(" ")[2], wait) for name, wait in ordered[:MAX_WAITING]
    ]
    named += [f"… {len(names) - MAX_WAITING} more"] if len(names) > MAX_WAITING else []
    return f"{len(names)} {kind} wait for {_awaited(answer, best)}: {', '.join(named)}"


def _first_running(each: tuple[str, Mapping[str, Value]]) -> tuple[bool, int, str]:
    """Return by what members of a group are sorted: those that run first, then by their place in a queue."""
    note = str(each[1].get("note") or "")
    return note != RUNNING, len(note), note


def _member_with_note(name: str, wait: Mapping[str, Value]) -> str:
    """Return the name of a member with the note of its wait in parentheses, if it has one."""
    note = shortened(str(wait.get("note") or ""), MAX_NAME_CHARS)
    return f"{name} ({note})" if note else name


def _waiting(answer: Mapping[str, Value], wait: Mapping[str, Value]) -> str:
    """Return the name of the member that waits."""
    number = wait.get("member")
    return _name(answer, number if isinstance(number, int) else -1)


def _awaited(answer: Mapping[str, Value], wait: Mapping[str, Value]) -> str:
    """Return what a member waits for, in which state that is, and who holds it or has to go on first.

    `wait` is one wait of the debuggee's `answer`. Its keys are `what` and `state` (texts, each cut to
    `MAX_NAME_CHARS`), `timed` (whether the wait has a time limit), `by` (a list of holders, each as
    `_holders` reads it) and perhaps `sharers` (a text). The `members` of `answer` have the names of the
    holders. At most `MAX_HOLDERS` holders are named, then the others counted ("and 2 more"); if there are
    several and at least one is known to hold what is waited for, `held by` and the number of all come
    first. The parts of the text are separated by commas, and those that are missing or empty are left out.
    """
    what, state = (shortened(str(wait.get(key) or ""), MAX_NAME_CHARS) for key in ("what", "state"))
    limited = " for a limited time" if wait.get("timed") else ""
    holders = [*_holders(answer, wait)]
    count = f"held by {len(holders)}: " if len(holders) > 1 and _is_held(wait) else ""
    if count:
        holders = [each.removeprefix("held by ") for each in holders]
    more = [f"and {len(holders) - MAX_HOLDERS} more"] if len(holders) > MAX_HOLDERS else []
    sharers = str(wait.get("sharers") or "")
    parts = [f"{what}{limited}", state, sharers, count + ", ".join([*holders[:MAX_HOLDERS], *more])]
    return ", ".join(filter(None, parts))


def _holders(answer: Mapping[str, Value], wait: Mapping[str, Value]) -> Iterator[str]:
    """Yield a text for each member that holds or must end what is waited for: `held by NAME since PLACE`.

    `wait["by"]` has a list for each member: its index in `answer["members"]`, how it delays the wait ("held by",
    "queued behind", or empty), and the place since when. An empty how and an empty place are left out of the text, and
    a member that `answer`, the debuggee's, does not know is called `another`. A member is left out if the description
    in `wait["what"]` already ends with its name, and so is a list of another form.
    """
    what = str(wait.get("what") or "")
    for each in as_array(wait.get("by")):
        match each:
            case [int(number), str(how), str(since)] if not what.endswith(_name(answer, number)):
                name = " ".join(filter(None, (how, _name(answer, number))))
                yield f"{name} since {since}" if since else name
            case _:
                pass


def _own_id(answer: Mapping[str, Value], number: int) -> int:
    """Return the id that the program has for a member of the answer; 0 if it has none."""
    match as_array(answer.get("members"))[number : number + 1]:
        case [[_, _, int(own_id)]]:
            return own_id
        case _:
            return 0


def _name(answer: Mapping[str, Value], number: int) -> str:
    """Return kind and name of a member of the answer, such as `thread worker`; `another` if it is unknown.

    `answer` is what a debuggee has answered of what its threads and tasks wait for. `number` is the member's
    index, from 0, in `members` of that answer. The text is `shortened` to `MAX_NAME_CHARS`.
    """
    members = as_array(answer.get("members"))
    match members[number : number + 1]:
        case [[str(kind), str(name), *_]]:
            return shortened(f"{kind} {name}", MAX_NAME_CHARS)
        case _:
            return "another"
