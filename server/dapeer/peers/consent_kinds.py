"""The kinds of action of a tool call, computed from its arguments; each may need consent. Pure.

A tool declares the kinds of its calls as `CallKinds`. One that declares none, and does not only look, counts as every kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from dapeer.base.json_types import as_object

ActionKind = Literal["run", "evaluate", "write", "read"]
Kinds = tuple[ActionKind, ...]

ALL: Final[Kinds] = ("run", "evaluate", "write")
"""Kinds that may change something; `read` shows a file outside of the project and the program."""
NOTHING: Final[Kinds] = ()
RUN: Final[Kinds] = ("run",)
EVALUATE: Final[Kinds] = ("evaluate",)
WRITE: Final[Kinds] = ("write",)

_NAME = re.compile(r"0x[0-9a-fA-F]+|&?\$?\w+")
_EXCEPTION = re.compile(r"[^:]*(?::[\w.:$]*)?")
"""A filter, and after a colon a type of exceptions; anything else there is a condition."""


@dataclass(frozen=True, slots=True)
class ArgumentKinds:
    """The kinds that one argument adds to a call."""

    argument: str
    """Its name; `breakpoints[].condition`: that of any of the breakpoints."""
    adds: Kinds
    explanation: str = ""
    """When it does, for people; empty: it is given."""
    applies: Callable[[Any], bool] = bool

    @property
    def words(self) -> str:
        """The condition as a text for people: the argument, and the explanation if there is one."""
        return f"`{self.argument}`{f' {self.explanation}' if self.explanation else ''}"


@dataclass(frozen=True, slots=True)
class CallKinds:
    """The kinds of a tool's calls."""

    for_every_call: Kinds
    cases: tuple[ArgumentKinds, ...] = ()
    remark: str = ""
    """A remark for people."""

    def kinds_of_call(self, arguments: Mapping[str, Any]) -> Kinds:
        """Return the kinds of a call with these arguments: `for_every_call`, and those of cases that hold.

        A case holds if its function is true of any value of its argument.
        """
        kinds: list[ActionKind] = [*self.for_every_call]
        for case in self.cases:
            if any(map(case.applies, _values_at(arguments, case.argument))):
                kinds += case.adds
        return tuple(dict.fromkeys(kinds))


def is_name(text: object) -> bool:
    """Whether a text is only a name, which no language resolves by code: `total`, `&total`, `0x7ffe`.

    >>> is_name("&total"), is_name("*pointer"), is_name("items[3]")
    (True, False, False)
    """
    return _NAME.fullmatch(str(text)) is not None


def is_expression(text: object) -> bool:
    """Whether a text is more than a name, so that evaluating it may run code of the program."""
    return bool(text) and not is_name(text)


def has_condition(exception_filter: object) -> bool:
    """Whether an exception filter has a condition behind its colon, rather than the name of a type."""
    return _EXCEPTION.fullmatch(str(exception_filter)) is None


CONDITIONS: Final = (ArgumentKinds("condition", EVALUATE), ArgumentKinds("hit_condition", EVALUATE))
VALUES: Final = (ArgumentKinds("evaluate", EVALUATE),)
"""What `evaluate` adds, the expressions whose values the next stop shows."""
THEN: Final = (
    ArgumentKinds("then[].input", EVALUATE, "(a program may run what is typed)"),
    ArgumentKinds("then[].evaluate", EVALUATE),
)
"""What `then` adds to a call that runs something anyway, as its commands and requests do."""
EXPRESSION: Final = "if it is more than a name"
RUNS: Final = CallKinds(RUN)
RESUMES_PROGRAM: Final = CallKinds(RUN, VALUES)
"""Of a tool that resumes or pauses a program."""
WRITES: Final = CallKinds(WRITE)


def kinds_of(declared: CallKinds | None, arguments: Mapping[str, Any], *, read_only: bool) -> Kinds:
    """Return the kinds of a call that may need consent; `arguments` are checked against the tool's schema.

    Without a declaration (None) a tool that is `read_only` has none, and any other all that change something (`ALL`).

    >>> kinds_of(CallKinds(WRITE, CONDITIONS), {"line": 3, "condition": "f()"}, read_only=False)
    ('write', 'evaluate')
    """
    if declared is None:
        return NOTHING if read_only else ALL
    return declared.kinds_of_call(arguments)


def _values_at(arguments: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path in the arguments, such as `breakpoints[].condition`.

    `path` has names with dots between them; a name with `[]` is that of a list, which is not checked: its
    elements are yielded, or looked into, one by one. A list without `[]` in the path is one value. Nothing is
    yielded for an argument that is absent or null, or where something on the path is no object; a null element of
    a list at the path's end is yielded.
    """
    name, _, rest = path.partition(".")
    of_list = name.endswith("[]")
    fields = as_object(arguments)
    found: Any = fields.get(name.removesuffix("[]"))
    if found is None:
        return
    for each in found if of_list else (found,):
        if rest:
            yield from _values_at(each, rest)
        else:
            yield each
