"""Tools that evaluate, assign and complete expressions."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from dapeer import paths, render
from dapeer.dap.types import CompletionItem, Variable
from dapeer.errors import ArgumentError
from dapeer.fitting import fitted, shortened
from dapeer.tools.arguments import FrameId, SessionId, frame_of
from dapeer.tools.inspection import RESULT, VALUE
from dapeer.tools.lookup import known
from dapeer.tools.tool import Call, Reply, tool
from dapeer.tools.waiting import Left

_MEMBER = re.compile(r"[.:>\])]\s*\w*$")
"""How a text ends that is completed by what an object has: after `.`, `::`, `->`, `?.`, a bracket."""

COMPLETIONS = 50
"""Completions that are shown."""


@tool("Evaluate", destructive=True)
async def dap_evaluate(
    call: Call,
    expression: str,
    frame_id: FrameId = None,
    context: Literal["watch", "repl", "hover", "clipboard", "variables"] = "watch",
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000,
    session_id: SessionId = None,
) -> Reply:
    """Evaluate an expression in a frame (default the one shown). Context repl runs statements, or debugger commands in gdb."""
    session = call.focus.session(session_id)
    left = Left(timeout_ms)
    frame = await frame_of(session, frame_id)
    body = await session.evaluate(expression, frame, context, timeout_ms / 1000)
    stop = session.mirror.stop
    result = str(body.get("result") or "")
    if stop is not None and (reference := body.get("variablesReference")):
        told = Variable(name=expression, value=result, variablesReference=reference)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left.to_tell):
                await session.inspect.unfold(told)
        result = stop.shown(told)
    data: dict[str, Any] = {"result": fitted(result, RESULT)}
    if body.get("type"):
        data["type"] = body["type"]
    if body.get("variablesReference") and stop is not None:
        data["variables_reference"] = stop.handle("variables_reference", body["variablesReference"])
    more = (
        f" [variables_reference {data['variables_reference']}]"
        if "variables_reference" in data
        else ""
    )
    text = render.value(result, RESULT, "ask for a part of it")
    return Reply(f"{text}{more}" or "(no value)", data)


@tool("Set a variable", destructive=True)
async def dap_set_variable(
    call: Call,
    path: Annotated[str, Field(description="such as total or order.items[3].price")],
    value: Annotated[str, Field(description="an expression")],
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Give a variable (with some adapters any assignable expression) a value."""
    session = call.focus.session(session_id)
    assignable = session.supports("setExpression")
    if not assignable:
        session.require("setVariable")
        paths.parse(path)
    frame = await frame_of(session, frame_id)
    found, container = await known(session, path, frame)
    if found is not None and session.supports("setVariable"):
        body = await session.set_variable(container, found["name"], value)
    elif assignable:
        body = await session.set_expression(path, value, frame)
    else:
        raise ArgumentError(
            f"`path`: there is no variable {path} in this frame.",
            "dap_variables lists what is there; dap_evaluate in context repl can assign anything.",
        )
    new = shortened(str(body.get("value") or body.get("result") or value), VALUE)
    if found is None:
        return Reply(f"{path} = {new}", {"path": path, "value": new})
    was = shortened(found["value"], VALUE)
    return Reply(f"{path} = {new} (was {was})", {"path": path, "value": new, "was": was})


@tool("Complete an expression", read_only=True, needs=["completions"])
async def dap_completions(
    call: Call,
    text: str,
    column: Annotated[int | None, Field(ge=1, description="default the end of the text")] = None,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """List how the adapter would complete an expression, as after `order.`, in a frame (default the one shown)."""
    session = call.focus.session(session_id)
    session.require("completions")
    if _MEMBER.search(text[: (column or len(text) + 1) - 1]):
        call.need(
            "evaluate",
            "Completing members asks the object for them, which may run code of the program.",
            "dap_variables with its path lists them.",
        )
    arguments: dict[str, Any] = {"text": text, "column": column or len(text) + 1}
    if (frame := await frame_of(session, frame_id)) is not None:
        arguments["frameId"] = frame
    body = await session.request("completions", arguments)
    targets = cast("list[CompletionItem]", body.get("targets") or [])
    names = sorted(dict.fromkeys(map(_completion, targets)), key=lambda name: name.startswith("_"))
    shown, left = names[:COMPLETIONS], len(names) - COMPLETIONS
    more = f"\n({left} more: give a longer text)" if left > 0 else ""
    return Reply(
        ("\n".join(shown) or "No completions.") + more,
        {"completions": shown, **({"more": left} if left > 0 else {})},
    )


def _completion(target: CompletionItem) -> str:
    return shortened(str(target.get("text") or target["label"]), VALUE)


TOOLS = (dap_evaluate, dap_set_variable, dap_completions)
