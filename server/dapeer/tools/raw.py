"""The raw way out: any request of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, cast

from pydantic import Field

from dapeer.base.errors import ArgumentError, Unsupported
from dapeer.base.json_types import is_array, is_object
from dapeer.base.text.fitting import shortened
from dapeer.dap.requests import RESUMES
from dapeer.mirror.stops import Kind
from dapeer.peers.consent_kinds import ALL, EVALUATE, NOTHING, RUN, WRITE, ArgumentKinds, CallKinds
from dapeer.tools.base.arguments import Milliseconds, SessionId
from dapeer.tools.base.call import Call, Reply, compact
from dapeer.tools.base.tool import Section, tool

ANSWER_CHARS: Final = 8000
"""Characters of an answer that are shown."""

OWN: Final = {
    "initialize": "dap_run",
    "launch": "dap_run",
    "attach": "dap_run",
    "configurationDone": "dap_run",
    "restart": "dap_restart",
    "terminate": "dap_terminate",
    "disconnect": "dap_disconnect",
    "setBreakpoints": "dap_set_breakpoint",
    "setFunctionBreakpoints": "dap_set_function_breakpoints",
    "source": "dap_source",
}
"""Requests that would bypass dapeer's state or show any file, with the tool to use instead."""

REQUIRED: Final = {
    "scopes": "frameId",
    "stackTrace": "threadId",
    "variables": "variablesReference",
}
"""The argument under which part of a request's answer is kept."""

HANDLES: Final[Mapping[str, Kind]] = {
    "frameId": "frame_id",
    "variablesReference": "variables_reference",
}
"""Ids that callers know as handles."""


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


def _sets(command: object) -> bool:
    """Whether the name of a DAP request begins with `set` or `write`."""
    return str(command).startswith(("set", "write"))


def _is_unknown(command: object) -> bool:
    """Whether a name is that of no DAP request that dapeer knows to look, resume, evaluate or set."""
    return not (command in _LOOKING | _RESUMING | _ASKING or _sets(command))


_REQUEST_KINDS: Final = CallKinds(
    NOTHING,
    (
        ArgumentKinds(
            "command", RUN, "to resume, pause or end threads", lambda command: command in _RESUMING
        ),
        ArgumentKinds("command", WRITE, "`goto`", lambda command: command == "goto"),
        ArgumentKinds("command", ("write", "evaluate"), "`set…`, `write…`", _sets),
        ArgumentKinds(
            "command",
            EVALUATE,
            ", ".join(f"`{each}`" for each in sorted(_ASKING)),
            lambda command: command in _ASKING,
        ),
        ArgumentKinds("arguments.context", ALL, "`repl`", lambda context: context == "repl"),
        ArgumentKinds("command", ALL, "that is not in the specification", _is_unknown),
    ),
)


@tool(
    "Raw request", section=Section.MEMORY, kinds=_REQUEST_KINDS, destructive=True, needs=["threads"]
)
async def dap_request(
    call: Call,
    command: str,
    arguments: dict[str, Any] | None = None,
    force: Annotated[
        bool, Field(description="send an unadvertised request: the adapter may crash or hang")
    ] = False,
    timeout_ms: Milliseconds = 10_000,
    session_id: SessionId = None,
) -> Reply:
    """Send a Debug Adapter Protocol request that no other tool sends, and return its answer. Use the ids that other tools return.

    `command` and `arguments` are DAP's, with frames and references as handles (the ids that tools give), which
    are replaced by the adapter's ids; in the answer it is the other way round. While the program is not
    stopped, ids are the adapter's own. `force` sends the request although the adapter does not advertise it.
    The adapter has `timeout_ms` to answer. The request may run code of the program or change it. The session
    becomes the client's default, unless it is of another program and no id is given. The data has `body`, or if
    that is longer than `ANSWER_CHARS` as text, `cut`: its beginning as text.

    Raises:
        ArgumentError: Another tool sends this request, an argument is missing, or there is no such handle, and
            nothing was sent; or the answer has more ids than a stop may have.
        StaleReference: A handle belongs to an earlier stop; nothing was sent.
        NoSession: There is no session `session_id`, or without an id it is not clear which one is meant.
        Unsupported: The adapter does not advertise it; nothing was sent.
        NotStopped: The program has ended, or it is not stopped and the request resumes it.
        DapeerError: The adapter rejects it, or does not answer in time.
    """
    session = call.session(session_id)
    if command in OWN:
        raise ArgumentError(
            f"`command`: {OWN[command]} does what `{command}` does, and keeps dapeer's state right.",
            f"Use {OWN[command]}.",
        )
    if (needed := REQUIRED.get(command, command)) not in {command, *(arguments or {})}:
        raise ArgumentError(f"`arguments`: `{command}` needs `{needed}`.")
    session.mirror.require_live()
    if command in RESUMES:
        session.mirror.require_stop()
    if not force and not session.supports(command):
        raise Unsupported(
            f"The adapter {session.adapter} does not advertise `{command}`; nothing was sent.",
            "`force: true` sends it anyway, but some adapters then crash or hang.",
        )
    stop = session.mirror.stop
    given = with_ids(arguments or {}, stop.presentation.handles.resolve) if stop else arguments
    body = await session.send(command, given, seconds=timeout_ms / 1000, forced=force)
    stop = session.mirror.stop
    answer = with_ids(body, stop.presentation.handles.handle_for) if stop else body
    text = compact(answer)
    data = {"body": answer} if len(text) <= ANSWER_CHARS else {"cut": text[:ANSWER_CHARS]}
    return Reply(shortened(text, ANSWER_CHARS), data)


def with_ids(value: Any, change: Callable[[Kind, int], int], within: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Return a copy of a DAP body in which `change` has replaced ids of frames, and references.

    These are the numbers of `frameId` and `variablesReference` at any depth, and of `id` in the items of
    `stackFrames`. `change` gets what a number is for (`frame_id` or `variables_reference`) and the number, and
    returns the new one. A 0, which means none, stays. `within` is the name of the property whose value this is;
    callers leave it out.

    >>> with_ids({"stackFrames": [{"id": 7}], "variablesReference": 0}, lambda kind, number: 10 * number)
    {'stackFrames': [{'id': 70}], 'variablesReference': 0}
    """
    match value:
        case _ if is_object(value):
            names = {**HANDLES, "id": "frame_id"} if within == "stackFrames" else HANDLES
            return {
                name: change(cast("Kind", names[name]), each)
                if name in names and isinstance(each, int) and each
                else with_ids(each, change, name)
                for name, each in value.items()
            }
        case _ if is_array(value):
            return [with_ids(each, change, within) for each in value]
        case _:
            return value
