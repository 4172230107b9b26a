"""The kinds of action of a tool call, computed from its arguments; each may need consent. Pure.

A tool that is not here, and does not only look, counts as every kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from dapeer.base.json_types import as_object
from dapeer.dap.requests import RESUMES

ActionKind = Literal["run", "evaluate", "write", "read"]
Kinds = tuple[ActionKind, ...]

ALL: Final[Kinds] = ("run", "evaluate", "write")
"""Kinds that may change something; `read` shows a file outside of the project and the program."""
NOTHING: Final[Kinds] = ()
_RUN: Final[Kinds] = ("run",)
_EVALUATE: Final[Kinds] = ("evaluate",)
_WRITE: Final[Kinds] = ("write",)

_NAME = re.compile(r"0x[0-9a-fA-F]+|&?\$?\w+")
_FUNCTION = re.compile(r"[^\s'\"`;]+")
_EXCEPTION = re.compile(r"[^:]*(?::[\w.:$]*)?")
"""A filter, and after a colon a type of exceptions; anything else there is a condition."""

_LOOKING: Final = frozenset(
    {
        "breakpointLocations", "disassemble", "exceptionInfo", "gotoTargets", "loadedSources", "locations", "modules",
        "readMemory", "scopes", "source", "stackTrace", "stepInTargets", "threads",
    }
)  # fmt: skip
"""Requests that change nothing, and have no program evaluate anything."""
_RESUMING: Final = RESUMES | {"pause", "terminateThreads"}
_ASKING: Final = frozenset({"completions", "dataBreakpointInfo", "evaluate", "variables"})
"""Requests that may run code of the program: `variables` returns the value of a getter."""


@dataclass(frozen=True, slots=True)
class If:
    """The kinds that one argument adds to a call."""

    argument: str
    """Its name; `breakpoints[].condition`: that of any of the breakpoints."""
    adds: Kinds
    explanation: str = ""
    """When it does, for people; empty: it is given."""
    holds: Callable[[Any], bool] = bool

    @property
    def words(self) -> str:
        """Say when it does."""
        return f"`{self.argument}`{f' {self.explanation}' if self.explanation else ''}"


@dataclass(frozen=True, slots=True)
class Counts:
    """The kinds of a tool's calls."""

    always: Kinds
    cases: tuple[If, ...] = ()
    remark: str = ""
    """A remark for people."""

    def of(self, arguments: Mapping[str, Any]) -> Kinds:
        """Return the kinds of one call, the tool's own first."""
        kinds: list[ActionKind] = [*self.always]
        for case in self.cases:
            if any(map(case.holds, _at(arguments, case.argument))):
                kinds += case.adds
        return tuple(dict.fromkeys(kinds))


def is_name(text: object) -> bool:
    """Whether a text is only a name, which no language resolves by code: `total`, `&total`, `0x7ffe`.

    >>> is_name("&total"), is_name("*pointer"), is_name("items[3]")
    (True, False, False)
    """
    return _NAME.fullmatch(str(text)) is not None


def _is_expression(text: object) -> bool:
    return bool(text) and not is_name(text)


def _has_code(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    """Return the names with more text than the pattern allows: some adapters take it for a condition."""
    return lambda text: pattern.fullmatch(str(text)) is None


def _is_one_of(commands: frozenset[str]) -> Callable[[object], bool]:
    return lambda command: command in commands


def _sets(command: object) -> bool:
    return str(command).startswith(("set", "write"))


def _is_unknown(command: object) -> bool:
    return not (command in _LOOKING | _RESUMING | _ASKING or _sets(command))


_CONDITIONS: Final = (If("condition", _EVALUATE), If("hit_condition", _EVALUATE))
_VALUES: Final = (If("evaluate", _EVALUATE),)
_EXPRESSION: Final = "if it is more than a name"
_OPENCODE: Final = Counts(ALL, remark="OpenCode asks by its own rules, too")

TABLE: Final[Mapping[str, Counts]] = {
    "dap_run": Counts(
        _RUN,
        (
            If("code", _EVALUATE),
            If("config", ALL, "(it may hold commands)"),
            If("configuration", ALL, "(it may hold commands)"),
            If("breakpoints", _WRITE),
            If("breakpoints[].condition", _EVALUATE),
            If("breakpoints[].hit_condition", _EVALUATE),
            If("breakpoints[].log_message", _EVALUATE),
            If("breakpoints[].collect", _EVALUATE),
            If("breakpoints[].calls", _EVALUATE),
            If("breakpoints[].expect", _EVALUATE),
            If("exception_filters", _WRITE),
            If("fresh", _WRITE),
            If("exception_filters[]", _EVALUATE, "with a condition", _has_code(_EXCEPTION)),
            *_VALUES,
        ),
        "any program, with any arguments and environment: enough to run any code",
    ),
    "dap_restart": Counts(_RUN, _VALUES, "as it was started"),
    "dap_call": Counts(_RUN, remark="as it was started"),
    "dap_terminate": Counts(_RUN),
    "dap_disconnect": Counts(_RUN),
    "dap_continue": Counts(_RUN, _VALUES),
    "dap_step_over": Counts(_RUN, _VALUES),
    "dap_step_into": Counts(_RUN, _VALUES),
    "dap_step_out": Counts(_RUN, _VALUES),
    "dap_step_back": Counts(_RUN, _VALUES),
    "dap_restart_frame": Counts(_RUN, _VALUES),
    "dap_run_to": Counts(_RUN, _VALUES),
    "dap_run_until": Counts(_RUN, (If("expression", _EVALUATE), *_VALUES)),
    "dap_pause": Counts(_RUN, _VALUES),
    "dap_goto": Counts(("run", "write"), _VALUES, "it can skip code"),
    "dap_send_input": Counts(("run", "evaluate"), _VALUES, "a program may run what is typed"),
    "dap_evaluate": Counts(
        _EVALUATE,
        (If("context", ALL, "`repl` (debugger commands)", lambda context: context == "repl"),),
        "an expression may change anything",
    ),
    "dap_set_variable": Counts(("write", "evaluate")),
    "dap_set_breakpoint": Counts(
        _WRITE,
        (
            *_CONDITIONS, If("log_message", _EVALUATE), If("collect", _EVALUATE), If("calls", _EVALUATE),
            If("expect", _EVALUATE),
        ),
    ),
    "dap_remove_breakpoint": Counts(_WRITE),
    "dap_clear_breakpoints": Counts(_WRITE),
    "dap_set_exception_breakpoints": Counts(
        _WRITE, (If("filters[]", _EVALUATE, "with a condition", _has_code(_EXCEPTION)),)
    ),
    "dap_set_function_breakpoints": Counts(
        _WRITE, (If("names[]", _EVALUATE, _EXPRESSION, _has_code(_FUNCTION)),)
    ),
    "dap_set_data_breakpoint": Counts(
        _WRITE, (*_CONDITIONS, If("path", _EVALUATE, _EXPRESSION, _is_expression))
    ),
    "dap_set_instruction_breakpoint": Counts(
        _WRITE, (*_CONDITIONS, If("address", _EVALUATE, _EXPRESSION, _is_expression))
    ),
    "dap_write_memory": Counts(
        _WRITE, (If("address", _EVALUATE, _EXPRESSION, _is_expression),)
    ),
    "dap_request": Counts(
        NOTHING,
        (
            If("command", _RUN, "to resume, pause or end threads", _is_one_of(_RESUMING)),
            If("command", _WRITE, "`goto`", lambda command: command == "goto"),
            If("command", ("write", "evaluate"), "`set…`, `write…`", _sets),
            If("command", _EVALUATE, ", ".join(f"`{each}`" for each in sorted(_ASKING)), _is_one_of(_ASKING)),
            If("arguments.context", ALL, "`repl`", lambda context: context == "repl"),
            If("command", ALL, "that is not in the specification", _is_unknown),
        ),
    ),
    "nvim_connect": Counts(_RUN),
    "nvim_disconnect": Counts(ALL, remark="what the person was asked about before is refused afterwards"),
    "nvim_lua_call": Counts(NOTHING, remark="asked as the tool that it calls"),
    "opencode_session_create": Counts(_RUN),
    "opencode_prompt": _OPENCODE,
    "opencode_command": _OPENCODE,
    "opencode_reply": _OPENCODE,
    "opencode_tool_call": _OPENCODE,
    "opencode_abort": Counts(_RUN),
}  # fmt: skip
"""The tools of dapeer that do more than look, by name."""


def kinds_of(tool: str, arguments: Mapping[str, Any], *, read_only: bool) -> Kinds:
    """Return the kinds of a call, of arguments that are checked.

    >>> kinds_of("dap_set_breakpoint", {"line": 3, "condition": "f()"}, read_only=False)
    ('write', 'evaluate')
    """
    counts = TABLE.get(tool)
    if counts is None:
        return NOTHING if read_only else ALL
    return counts.of(arguments)


def _at(arguments: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path in the arguments; of a list, each element's."""
    name, _, rest = path.partition(".")
    of_list = name.endswith("[]")
    fields = as_object(arguments)
    found = fields.get(name.removesuffix("[]"))
    if found is None:
        return
    for each in cast("Sequence[Any]", found) if of_list else (found,):
        if rest:
            yield from _at(each, rest)
        else:
            yield each
