"""Scripts for tests/fake_adapter.py, made from the schema of the debug adapter protocol, and spoilt."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from hypothesis import strategies as st

from tests.hostile.odd import ODD, Json, Schema, Strategy, deep, mutated

COMMANDS = (
    "initialize", "launch", "configurationDone", "threads", "stackTrace", "scopes", "variables", "evaluate",
    "next", "continue", "pause", "setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints",
    "setVariable", "source", "modules", "loadedSources", "exceptionInfo", "completions", "readMemory",
    "disassemble", "dataBreakpointInfo", "setDataBreakpoints", "stepInTargets", "gotoTargets", "terminate", "disconnect",
)  # fmt: skip
STARTING = COMMANDS[:3]
LIKELY = (*COMMANDS[:9], "setBreakpoints")
"""Commands of nearly every session."""
DEAF = [{"fail": {"message": "takes none"}}]
"""To one command: what others are told as well, so they must not fail by it."""
COMPLETED = "supportsConfigurationDoneRequest"
REVERSE = ("runInTerminal", "startDebugging")
EVERYTHING: Json = dict.fromkeys((
    COMPLETED, "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
    "supportsSetVariable", "supportsTerminateRequest", "supportsModulesRequest", "supportsLoadedSourcesRequest",
    "supportsExceptionInfoRequest", "supportsCompletionsRequest", "supportsReadMemoryRequest",
    "supportsDisassembleRequest", "supportsDataBreakpoints", "supportsStepInTargetsRequest",
    "supportsGotoTargetsRequest", "supportsEvaluateForHovers", "supportsDelayedStackTraceLoading",
), True)  # fmt: skip

HEADERS = (
    "Content-Length: x\r\n\r\n", "Content-Length: -5\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n",
    "Content-Length: 1e3\r\n\r\n", "Content-Length:\r\n\r\n", "Content-Length: 2\r\n\r\n{}", "\r\n\r\n\r\n\r\n",
    "Content-Length: 5\r\nContent-Length: 7\r\n\r\n[1,2,3]", "content-length: 4\r\n\r\nnull", "X: \xff\xfe\r\n\r\n",
    "Content-Length: 9\r\n\r\n{\"type\":1", "Content-Length: 3\r\nX: " + "y" * 9000 + "\r\n\r\n{}\n",
)  # fmt: skip


@cache
def definitions() -> dict[str, Json]:
    """Return the definitions of the protocol's own JSON schema, which debugpy brings along."""
    spec = find_spec("debugpy")
    assert spec is not None
    assert spec.origin is not None
    inside = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
    return json.loads((Path(spec.origin).parent / inside).read_text(encoding="utf-8"))[
        "definitions"
    ]


@cache
def _fitting(name: str, part: str) -> Strategy:
    """Return a strategy of the bodies, or the arguments, of a message."""
    schema = Schema(definitions())
    whole = schema.whole(definitions()[name])["properties"]
    return schema.fitting(whole[part]) if part in whole else st.just({})


def _named(command: str, kind: str) -> str:
    return f"{command[0].upper()}{command[1:]}{kind}"


@cache
def _events() -> list[str]:
    return [name for name in definitions() if name.endswith("Event") and name != "Event"]


def _event_name(definition: str) -> str:
    return str(definitions()[definition]["allOf"][1]["properties"]["event"]["enum"][0])


def _spoilt(fitting: Strategy) -> Strategy:
    return st.one_of(mutated(fitting), mutated(fitting), mutated(fitting), fitting, ODD)


def _event() -> Strategy:
    return st.sampled_from(_events()).flatmap(
        lambda name: _spoilt(_fitting(name, "body")).map(
            lambda body: {"event": [_event_name(name), body]}
        )
    )


def _reverse() -> Strategy:
    return st.sampled_from(REVERSE).flatmap(
        lambda command: _spoilt(_fitting(_named(command, "Request"), "arguments")).map(
            lambda arguments: {"request": [command, arguments]}
        )
    )


def _answer(command: str) -> Strategy:
    return _spoilt(_fitting(_named(command, "Response"), "body")).map(
        lambda body: {"respond": body}
    )


def _failure() -> Strategy:
    error = _spoilt(_fitting("ErrorResponse", "body"))
    return st.fixed_dictionaries(
        {"fail": st.fixed_dictionaries({}, optional={"message": ODD, "body": error})}
    )


def _message() -> Strategy:
    """A message whose outermost fields are odd: its number, its type, what it answers."""
    names = st.sampled_from(["seq", "type", "request_seq", "command", "success", "event", "body"])
    return st.dictionaries(names, ODD, min_size=1, max_size=3).map(lambda odd: {"message": odd})


def _raw(value: object) -> Json:
    text = json.dumps(value)
    return {"raw": f"Content-Length: {len(text)}\r\n\r\n{text}"}


def _bytes() -> Strategy:
    frames = st.sampled_from([deep(5), deep(900), [], 0, {"type": "event"}, {"seq": "x"}])
    return st.one_of(
        st.sampled_from(HEADERS).map(lambda text: {"raw": text}), frames.map(_raw),
        st.text(st.characters(codec="latin-1"), max_size=20).map(lambda text: {"raw": text}),
    )  # fmt: skip


@st.composite
def _actions(draw: st.DrawFn, command: str) -> list[Any]:
    action = st.one_of(
        _answer(command), _event(), _event(), _reverse(), _failure(), _message(), _bytes(),
        st.sampled_from(["ok", "hold", {"big": ["output", 200_000]}, {"exit": 1}]),
        st.sampled_from(COMMANDS).map(lambda held: {"release": held}),
        _event().map(lambda event: {"times": [40, event]}),
    )  # fmt: skip
    actions = draw(st.lists(action, min_size=1, max_size=5))
    # Mostly the session goes on, so that what comes after is attacked, too.
    if draw(st.integers(0, 19 if command in STARTING else 3)):
        actions.insert(draw(st.integers(0, len(actions))), "default")
    return actions


@st.composite
def scripts(draw: st.DrawFn) -> Json:
    """Draw what an adapter does instead of what it should, or besides it, at some commands."""
    which = st.one_of(st.sampled_from(LIKELY), st.sampled_from(COMMANDS))
    commands = draw(st.lists(which, min_size=2, max_size=7, unique=True))
    # Without the last request of the start nothing would come after it.
    able = st.one_of(mutated(st.just(EVERYTHING)), _spoilt(_fitting("InitializeResponse", "body")))
    capabilities = able.map(
        lambda odd: cast("Json", odd) | {COMPLETED: True} if isinstance(odd, dict) else EVERYTHING
    )
    on = {command: draw(_actions(command)) for command in commands}
    if draw(st.booleans()):
        on["setBreakpoints"] = DEAF
    return {
        "on": on,
        "start": draw(st.lists(st.one_of(_event(), _bytes()), max_size=1)),
        "capabilities": draw(capabilities),
    }


LOOKS: list[tuple[str, Json]] = [
    ("dap_snapshot", {}), ("dap_threads", {}), ("dap_stacktrace", {}), ("dap_scopes", {}),
    ("dap_variables", {}), ("dap_variables", {"path": "line"}), ("dap_exception_info", {}), ("dap_history", {}),
    ("dap_evaluate", {"expression": "line", "timeout_ms": 800}), ("dap_set_variable", {"path": "line", "value": "7"}),
    ("dap_step_over", {"timeout_ms": 800}), ("dap_step_into", {"timeout_ms": 800}),
    ("dap_continue", {"timeout_ms": 800}), ("dap_pause", {"timeout_ms": 800}), ("dap_modules", {}),
    ("dap_modules", {"kind": "sources"}), ("dap_read_memory", {"address": "0x10"}), ("dap_disassemble", {}),
    ("dap_completions", {"text": "li"}), ("dap_set_data_breakpoint", {"path": "line"}),
    ("dap_goto", {"line": 3}), ("dap_source", {"source_reference": 12}), ("dap_program_output", {}),
    ("dap_set_exception_breakpoints", {"filters": ["all"]}), ("dap_restart", {"timeout_ms": 800}),
    ("dap_current_location", {}), ("dap_request", {"command": "threads", "timeout_ms": 800}),
    ("dap_send_input", {"text": "x", "timeout_ms": 200}), ("dap_run_to", {"line": 5, "timeout_ms": 800}),
]  # fmt: skip
"""What an assistant does with a session, sane in itself: the adapter is the odd one here."""

rounds: st.SearchStrategy[tuple[Json, list[tuple[str, Json]]]] = st.tuples(
    scripts(), st.lists(st.sampled_from(LOOKS), min_size=3, max_size=6)
)
"""A script, and the calls of one session with it."""
