"""The tool that runs a program until an expression holds, or a value changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from dapeer.base.errors import ArgumentError
from dapeer.mirror.watch import On, watch
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.watching import Scope
from dapeer.tools.base.arguments import LONGEST, Milliseconds, SessionId, frame_of, several
from dapeer.tools.base.asked import Asked, Evaluate, Show, WaitUntilPaused
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.collecting import check
from dapeer.tools.base.deadline import Left
from dapeer.tools.base.tool import tool
from dapeer.tools.base.waiting import resume
from dapeer.view.sources import source_file
from dapeer.view.stacks import frame_path

_FUNCTION = re.compile(r"[\w.*:<>~]+")
_Scope = Annotated[
    Sequence[str],
    BeforeValidator(several),
    Field(description="files, functions; default: all but libraries"),
]


@tool("Run until")
async def dap_run_until(
    call: Call,
    expression: str,
    on: On = "true",
    scope: _Scope = (),
    every: Annotated[bool, Field(description="record all, stop at none")] = False,
    evaluate: Evaluate = (),
    show: Show = None,
    wait_until_paused: WaitUntilPaused = True,
    timeout_ms: Milliseconds = 30_000,
    session_id: SessionId = None,
) -> Reply:
    """Run to the line, anywhere, after which an expression holds or changes, or which writes to a variable, attribute or item."""
    session = call.focus.session(session_id)
    stop = session.mirror.stopped()
    left = Left(timeout_ms)
    if not expression.strip() or len(expression) > LONGEST:
        raise ArgumentError(f"`expression` has 1 to {LONGEST} characters.", "Give one.")
    frame = await frame_of(session, None)
    top = await session.inspect.top(stop)
    path = frame_path(top) if top else ""
    if path or session.lines.tracers:
        check(call.debugger, path, [expression])
    where = _scope(scope, call.debugger)
    wanted = watch(session.program.collected, expression.strip(), on, call.focus.key, every=every)
    await session.watching.begin(wanted, where, frame)
    call.debugger.tell("that it is over", [session], lambda each: each.watching.follow())
    sent = session.resume("continue", {"threadId": stop.thread_id})
    asked = Asked(evaluate, show, wait_until_paused)
    return await resume(call, session, sent, int(left.ms), asked)


def _scope(given: Sequence[str], debugger: Debugger) -> Scope:
    """Return the files and functions of a scope.

    Raises:
        ArgumentError: There is no such file.
    """
    scope: dict[str, list[str]] = {"files": [], "functions": []}
    known = {end for each in debugger.definitions.values() for end in each.extensions}
    for each in given:
        is_file = (debugger.project / each).is_file() or Path(each).suffix in known
        if not is_file and _FUNCTION.fullmatch(each):
            scope["functions"].append(each)
        else:
            scope["files"].append(source_file(each, debugger.project))
    return scope


TOOLS = (dap_run_until,)
