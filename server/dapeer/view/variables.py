"""Variables of a stop: which come first, each in a short line, changes, a returned function's. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from dapeer.base.errors import ArgumentError
from dapeer.base.text.fitting import (
    LEFT_OUT,
    MAX_READ_CHARS,
    fitted,
    fitted_table,
    main_group,
    parse_brackets,
    shortened,
)
from dapeer.dap.types import StackFrame, Variable
from dapeer.mirror.stops import Stop, StopHistory

# Which local variables matter first at a stop.

_NAME = re.compile(r"[^\W\d][\w$]*")
DEFINITIONS = ("module", "class", "function")
"""Kinds of module variables that are seldom of interest."""


def definition_kind(variable: Variable) -> str:
    """Return `module`, `class` or `function` if the adapter says that a variable is one; else empty."""
    kind = str(variable.get("presentationHint", {}).get("kind") or "")
    return kind if kind in DEFINITIONS else ""


def parted(variables: Iterable[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Return two lists: those variables that are data, and those that are definitions of a module."""
    data: list[Variable] = []
    definitions: list[Variable] = []
    for variable in variables:
        (definitions if definition_kind(variable) else data).append(variable)
    return data, definitions


def names_on_line(stop: Stop) -> frozenset[str]:
    """Return the names in the line of source where the program is; empty if its source is unknown."""
    return _names(_line(stop))


def names_around(stop: Stop) -> frozenset[str]:
    """Return the names in the lines of source that a stop shows; empty if its source is unknown."""
    return _names("\n".join(stop.findings.source[1])) if stop.findings.source else frozenset()


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
    if stop.findings.source is None or stop.default_frame is None:
        return ""
    first, lines = stop.findings.source
    number = stop.default_frame["line"] - first
    return lines[number] if 0 <= number < len(lines) else ""


def _groups(stop: Stop, changed: Collection[str]) -> list[list[Variable]]:
    """Return the locals of a stop in seven groups, the likeliest to matter first.

    They are: returned values, names in the current line, in the lines around it (`AROUND_GROUP`), arguments,
    names in `changed`, other data (`UNUSED_GROUP`), and definitions of the module (`DEFINED_GROUP`). A local is
    in the first group that fits; a definition, such as a function, only in the first two or the last. Groups may
    be empty.
    """
    line, lines, arguments = names_on_line(stop), names_around(stop), stop.arguments()
    named = line.union(lines, arguments, changed)
    groups: list[list[Variable]] = [[] for _ in range(7)]
    for variable in stop.locals():
        name = variable["name"]
        # Nothing speaks for most of many.
        if name not in named and name.isidentifier():
            groups[DEFINED_GROUP if definition_kind(variable) else UNUSED_GROUP].append(variable)
            continue
        name, plain, data = variable["name"], bare(variable["name"]), not definition_kind(variable)
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

    If there are more than `MAX_UNSORTED_LOCALS` and the source is known, only those are shown that the source,
    arguments or `changed` (names of changed locals) speak for, but at least `MIN_LOCALS`. Definitions of the
    module are only counted, unless the stop's line names them. The result also has the number of data that are
    not shown, their frequent types with counts (empty for few, or for a single type), and the number of
    definitions by kind, 0 included.
    """
    *data, defined = _groups(stop, changed)
    whole = _join_groups(data)
    count = len(whole)
    others = count - len(data[AROUND_GROUP]) - len(data[UNUSED_GROUP])
    # Where a line nearby names dozens, the arguments are not lost behind them.
    data[AROUND_GROUP][MAX_LOCALS - min(others, MAX_LOCALS) :] = []
    matter = sum(map(len, data[:UNUSED_GROUP]))
    if count > MAX_UNSORTED_LOCALS and stop.findings.source is not None:
        data[UNUSED_GROUP][max(MIN_LOCALS - matter, 0) :] = []
    shown = _join_groups(data)[:MAX_LOCALS]
    kinds = [*map(definition_kind, defined)]
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


def are_locals_fetched(stop: Stop, frame_id: int) -> bool:
    """Return whether the locals of a frame were fetched, so that an empty list means that it has none.

    `frame_id` is the adapter's id, as a rule that of the stop's first frame. The result is True for any frame
    once `stale_locals` has the first frame's locals, since lldb-dap has given the references of its scopes to
    another frame.
    """
    if stop.values.stale_locals is not None:
        return True
    references = (scope["variablesReference"] for scope in stop.values.local_scopes(frame_id))
    return frame_id in stop.values.scopes and all(
        reference in stop.values.variables for reference in references
    )


# Readable paths to variables: `order.items[3].price`.

_PLAIN = re.compile(r"\w+|'[^'\\]*'|\"[^\"\\]*\"")
_SEGMENT = re.compile(r"\.?([^.\[\]]+)|\[([^\[\]]*)\]")


def parse_path(path: str) -> list[str]:
    """Return the segments of a path to a variable: names, and the contents of brackets with their quotes.

    A name may be any text without dots and brackets; blanks around a segment are stripped.

    >>> parse_path("order.items[3].price")
    ['order', 'items', '3', 'price']
    >>> parse_path("prices['a.b']")
    ['prices', "'a.b'"]

    Raises:
        ArgumentError: It is empty, a segment is empty, or brackets do not match or are nested.
    """
    segments: list[str] = []
    position = 0
    for match in _SEGMENT.finditer(path):
        if match.start() != position:
            break
        segments.append((match[1] or match[2]).strip())
        position = match.end()
    if position != len(path) or not segments or not all(segments):
        raise ArgumentError(
            f"`path`: {path!r} is not a path to a variable.",
            "Write it as in order.items[3].price; dap_evaluate takes any expression.",
        )
    return segments


def is_plain(segments: Iterable[str]) -> bool:
    """Return whether the segments of a path are only names, numbers and quoted keys, which call nothing.

    >>> is_plain(["order", "items", "3", "'a b'"]), is_plain(["f()"]), is_plain(["x=5"])
    (True, False, False)
    """
    return all(_PLAIN.fullmatch(segment) for segment in segments)


def find_child(children: Iterable[Variable], segment: str) -> Variable | None:
    """Return the variable among `children` that a segment of a path names, or None.

    Adapters show an index as `3`, `[3]` or `03`, and a key with or without quotes; each of them is found,
    and of several the first. A number with other zeros before it counts only if nothing else fits.

    >>> find_child([{"name": "[3]", "value": "x", "variablesReference": 0}], "3")["value"]
    'x'
    >>> find_child([{"name": "²", "value": "x", "variablesReference": 0}], "2")
    >>> find_child([{"name": "00", "value": "x", "variablesReference": 0}], "0" * 5000)["value"]
    'x'
    """
    known = list(children)
    names = {segment, f"[{segment}]", f"'{segment}'", f'"{segment}"'}
    named = next(
        (v for v in known if v["name"] in names or _unquoted(v["name"]) == _unquoted(segment)), None
    )
    if named is None and segment.isdecimal():
        return next(
            (
                v
                for v in known
                if v["name"].isdecimal() and v["name"].lstrip("0") == segment.lstrip("0")
            ),
            None,
        )
    return named


def _unquoted(name: str) -> str:
    """Return a name without the quotes around it."""
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name


# Their texts, and what has changed.

VALUE_CHARS = 120
"""Characters of one value."""
MAX_CHANGES = 8
MAX_MEMBERS = 2
"""Members beyond which both values are shown whole instead."""

_MEMBER = re.compile(r"(@?[A-Za-z_]\w*)\s*(?:=|:(?!:))\s*(?!=)")
"""A name and what parts it from its value; a type's name, as Rust's `alloc::Global`, has none."""


def locals_of(stop: Stop, changed: Collection[str], notes: list[str]) -> dict[str, str]:
    """Return the texts of the locals to show at a stop, by name, the most relevant first.

    Each text is one line. At most `MAX_LOCALS` are shown; of more than `MAX_UNSORTED_LOCALS` where the
    source is known, only those that the source, the arguments or `changed` name, but at least `MIN_LOCALS`.
    Of definitions only those that the current line names are shown. A name that occurs again, because an
    inner variable hides an outer one, gets an apostrophe. `changed` are the names of changed locals, which
    matter more. Sentences on how many locals and definitions are not shown, or why there are no locals, are
    appended to `notes`. Nothing is requested: locals that the mirror lacks are missing.
    """
    choice = choose_locals(stop, changed)
    if stop.findings.why_no_locals:
        notes.append(f"no locals: {shortened(stop.findings.why_no_locals, VALUE_CHARS)}")
    elif stop.default_frame is not None and not are_locals_fetched(stop, stop.default_frame["id"]):
        notes.append("locals did not arrive (a slow repr?): ask again with dap_variables")
    if choice.hidden_count:
        kinds = [f"{number} {each}" for each, number in choice.types.items()]
        of = f" ({', '.join(kinds)})" if kinds else ""
        notes.append(f"{_count_with_noun(choice.hidden_count, 'more local')}{of}: dap_variables")
    if kinds := [
        _count_with_noun(n, kind) for kind in DEFINITIONS if (n := choice.definitions[kind])
    ]:
        notes.append(f"also {', '.join(kinds)}: dap_variables")
    return _texts_by_name(
        [Variable({**v, "value": stop.values.shown(v)}) for v in choice.shown_locals],
        names_around(stop),
    )


def _count_with_noun(number: int, what: str) -> str:
    """Return a number with a noun in its singular or plural."""
    plural = "es" if what.endswith("s") else "s"
    return f"{number} {what}{plural if number > 1 else ''}"


def changes_in(
    changed: Mapping[str, tuple[str | None, str]], notes: list[str]
) -> dict[str, list[str | None]]:
    """Return a list of the values before and now by name, for at most `MAX_CHANGES` changed variables.

    `changed` is as in `ActivationComparison.changes`; None before says that the variable is new (of a member:
    or was left out of the old text). For an object only the changed members are returned, under names such as
    `cart.total`, if they are known; so the result may have more entries than variables. Each value is on one
    short line. If more variables have changed, a note on how many is appended to `notes`.
    """
    if len(changed) > MAX_CHANGES:
        notes.append(f"{len(changed) - MAX_CHANGES} more changed: dap_variables")
    changes: dict[str, list[str | None]] = {}
    for name, (old, new) in list(changed.items())[:MAX_CHANGES]:
        parts = {} if old is None else differences(_ADDRESS.sub(")", old), _ADDRESS.sub(")", new))
        of_members = {f"{name}.{member}": pair for member, pair in parts.items()}
        for each, (before, now) in (of_members or {name: (old, new)}).items():
            changes[each] = [None if before is None else one_line(before), one_line(now)]
    return changes


def _texts_by_name(
    variables: Sequence[Variable], preferred: Collection[str] = ()
) -> dict[str, str]:
    """Return the values of variables by name, each on one line of about `VALUE_CHARS` characters.

    Only in a value that is too long, and has to be cut, do the members named in `preferred` come first; a value
    that fits keeps the adapter's order. A name that occurs again, because an inner variable hides an outer one,
    gets an apostrophe, and a further one each time.
    """
    values: dict[str, str] = {}
    for variable in variables:
        name = variable["name"]
        while name in values:
            name += "'"
        values[name] = one_line(variable["value"], preferred)
    return values


def one_line(value: str, preferred: Collection[str] = ()) -> str:
    r"""Return the text of a value as one line of about `VALUE_CHARS` characters.

    `value` is the adapter's text. The object's address at its end, as in `) at 0x7f…`, is removed, and zeros at the
    beginning of an address with 16 digits. Line ends become spaces, or ` | ` if the text begins with `(`, as tables
    do; in a text of several lines several spaces become one. If another text than a table has to be cut, members
    whose names are in `preferred` come first.

    >>> one_line("(2,) a int64\n0  1\n1  2")
    '(2,) a int64 | 0 1 | 1 2'
    >>> one_line("Cart(total=3) at 0x7fcedb7f1190")
    'Cart(total=3)'
    >>> one_line("Cart(\n  total=3,\n) at 0x7fcedb7f1190")
    'Cart( total=3, )'
    """
    value = _ZEROS.sub("0x", _ADDRESS.sub(")", value))
    if "\n" not in value:
        return fitted(value, VALUE_CHARS, preferred)
    lines = [" ".join(line.split()) for line in value.split("\n")]
    if value.startswith("("):
        return fitted_table(lines, VALUE_CHARS)
    return fitted(" ".join(lines), VALUE_CHARS, preferred)


_ADDRESS = re.compile(r"\) at 0x[0-9a-f]+\Z")
"""The address of an object, after its members."""
_ZEROS = re.compile(r"\b0x(?=[0-9a-f]{16}\b)0+(?=[0-9a-f])")
"""The beginning of an address that is written in full."""


def differences(before: str, now: str) -> dict[str, tuple[str | None, str]]:
    """Return the changed members of an object, each with its text before and after.

    `before` and `now` are the texts of the object's value. None before says that the member is new, or was left
    out before. The result is empty if the texts do not show the changes: one has no members or an element
    without a name, the text in front of the members differs, a member is gone, a changed member has a `…`, or
    more than `MAX_MEMBERS` have changed. Elements that were left out of both texts are not compared.

    >>> differences("Cart(total=3, name='a')", "Cart(total=4, name='a')")
    {'total': ('3', '4')}
    >>> differences("{'total': 3}", "{'total': 4}"), differences("Cart(total=3)", "0x1")
    ({}, {})
    >>> differences("{value = M<Vec<u32>, alloc::Global>> {s}}", "{value = M<Vec<u32>, alloc::Global>> {t}}")
    {}
    """
    old, new = _members(before), _members(now)
    if old is None or new is None or old.keys() - new.keys() or old[""] != new[""]:
        return {}
    changed = {name: (old.get(name), text) for name, text in new.items() if old.get(name) != text}
    whole = all("…" not in f"{was}{text}" for was, text in changed.values())
    return changed if whole and len(changed) <= MAX_MEMBERS else {}


def _members(text: str) -> dict[str, str] | None:
    """Return the members in the text of a value by name, and under "" the text before them.

    The members are those of the longest brackets within the first `MAX_READ_CHARS` characters; each has its text
    behind the name and `=` or `:`. Marks of elements left out (`LEFT_OUT`) are skipped. None if there are no such
    brackets, more than half of these characters is outside of them, they are empty, an element has no name, or two
    have the same.
    """
    value = parse_brackets(text[:MAX_READ_CHARS])
    group = main_group(value, len(text))
    if group is None or not group.items:
        return None
    found = [_MEMBER.match(item.text) for item in group.items if item.text not in LEFT_OUT]
    members = {each[1]: each.string[each.end() :] for each in found if each is not None}
    return {"": text[: group.start], **members} if len(members) == len(found) else None


# The function that has just returned, inferred from earlier stops.

MAX_RETURNED_LOCALS = 4
"""Locals of a returned function that are shown."""
RETURNED_VALUE_CHARS = 50
"""Characters of each."""
RAISED = "dapeerRaised"
"""A key in the body of `stopped`: the exception that ended the function in which the step began.

Only dapeer's launcher of debugpy sends it.
"""


def describe_raising_function(history: StopHistory, now: Stop) -> str:
    """Return the function that an exception ended since the previous stop, with that and its locals.

    The text is as that of `describe_returned_function`, with the exception after the name. Empty if the adapter reports none: only dapeer's
    launcher of debugpy does.
    """
    error = now.body.get(RAISED)
    return _describe_left_function(history, now, f": {error}") if error else ""


def describe_returned_function(history: StopHistory, now: Stop) -> str:
    """Return the name of the function that returned since the previous stop, with the locals it had there.

    At most `MAX_RETURNED_LOCALS` are named. Empty if it is not known that one returned, or an exception ended it.
    """
    return "" if now.body.get(RAISED) else _describe_left_function(history, now)


def _describe_left_function(history: StopHistory, now: Stop, end: str = "") -> str:
    """Return the name of the function that was left since the previous stop, with its locals there.

    The text reads `NAME`, then `end`, then `; its locals at line 7: a = 1, b = 2, …`, if there are any.
    `now` is the current stop, `end` a text on how the function was left, with the space or comma before it.
    The values are those at the previous stop, shortened; at most `MAX_RETURNED_LOCALS` locals are named,
    none whose name begins with `(`, and `…` stands for more. Empty if it is not known that a function was
    left.
    """
    last = stop_in_returned_function(history.stops_before(now)[-1:], now)
    if last is None or last.default_frame is None:
        return ""
    found = [
        each for each in choose_locals(last, ()).shown_locals if not each["name"].startswith("(")
    ]
    values = [
        f"{each['name']} = {fitted(_without_line_ends(each['value']), RETURNED_VALUE_CHARS)}"
        for each in found[:MAX_RETURNED_LOCALS]
    ]
    more = ", …" if len(found) > MAX_RETURNED_LOCALS else ""
    known = (
        f"; its locals at line {last.default_frame['line']}: {', '.join(values)}{more}"
        if values
        else ""
    )
    return f"{last.default_frame['name']}{end}{known}"


def _without_line_ends(value: str) -> str:
    """Return a value's text with all white space as single spaces, if it has several lines."""
    return " ".join(value.split()) if "\n" in value else value


def stop_in_returned_function(stops: Iterable[Stop], now: Stop) -> Stop | None:
    """Return the last stop in a function that the current function called and that has returned since.

    `stops` are those of the session, the oldest first; only those before `now`, of its thread, count. None if there is no earlier stop at
    another depth of the stack, if the last of these was not deeper, or if its caller at that depth is not the function of `now`.
    """
    earlier = (s for s in reversed(list(stops)) if s.number < now.number and _comparable(s, now))
    last = next((s for s in earlier if _depth(s) != _depth(now)), None)
    if last is None or _depth(last) < _depth(now) or now.default_frame is None:
        return None
    frames = last.stack.frames[last.thread_id]
    caller = (last.stack.default_index or 0) + _depth(last) - _depth(now)
    here = caller < len(frames) and _function(frames[caller]) == _function(now.default_frame)
    return last if here else None


def _comparable(one: Stop, other: Stop) -> bool:
    """Return whether a stop is of the same thread as `other` and has a known frame."""
    return one.thread_id == other.thread_id and one.default_frame is not None


def _depth(stop: Stop) -> int:
    """Return how many frames a stop's stack has from the frame to look at first to the outermost one."""
    frames = stop.stack.frames.get(stop.thread_id, ())
    return stop.stack.total_frames.get(stop.thread_id, len(frames)) - (
        stop.stack.default_index or 0
    )


def _function(frame: StackFrame) -> tuple[object, ...]:
    """Return a key of a frame's function: its name and its file."""
    return frame["name"], frame.get("source", {}).get("path")
