"""A program's variables: found by a path, evaluated, or written, one at a time in each session."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

import anyio

from dapeer.base.errors import ArgumentError, ChannelError, RequestTimeout
from dapeer.dap.bodies import (
    EvaluateResponseBody,
    SetExpressionResponseBody,
    SetVariableResponseBody,
)
from dapeer.dap.sent_requests import EvaluateArguments, SetExpressionArguments, SetVariableArguments
from dapeer.dap.types import Scope, Variable
from dapeer.mirror.post_mortem import no_process
from dapeer.sessions.core.session import Session
from dapeer.view import variable_path

SECONDS_TO_CANCEL = 2.0
"""Seconds for an adapter to break off an evaluation."""
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")


async def evaluate(
    session: Session, expression: str, frame_id: int | None, context: str, seconds: float
) -> EvaluateResponseBody:
    """Evaluate an expression in a frame, or without one, in a DAP context.

    An adapter that has not answered in time, or whose answer nobody awaits any more, is asked to break it off, if it can.

    Raises:
        RequestTimeout: It was not answered in time.
    """
    arguments: EvaluateArguments = {"expression": expression, "context": context}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    async with session.evaluating:
        with no_process(session.post_mortem), session.advice.on_failure(context):
            try:
                return await session.request("evaluate", arguments, seconds=seconds)
            except RequestTimeout as error:
                if session.supports("cancel") and await _cancelled(session, SECONDS_TO_CANCEL):
                    raise RequestTimeout("evaluate", seconds, cancelled=True) from error
                raise
            except anyio.get_cancelled_exc_class():
                if session.supports("cancel"):
                    await _cancelled(session, 0)
                raise


async def _cancelled(session: Session, seconds: float) -> bool:
    """Ask an adapter to break off an evaluation (DAP: `cancel`); return whether it has done so in time."""
    sent = session.channel.awaited("evaluate")
    if sent is None:
        return False
    with contextlib.suppress(ChannelError), anyio.CancelScope(shield=True):
        await session.channel.send("cancel", {"requestId": sent.seq})
        return await session.wait_for(
            lambda: session.channel.awaited("evaluate") is not sent, seconds
        )
    return False


async def set_expression(
    session: Session, expression: str, value: str, frame_id: int | None
) -> SetExpressionResponseBody:
    """Assign to an expression that names a place."""
    arguments: SetExpressionArguments = {"expression": expression, "value": value}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    async with session.evaluating:
        return await session.request("setExpression", arguments)


async def set_variable(
    session: Session, reference: int, name: str, value: str
) -> SetVariableResponseBody:
    """Give a child of a scope or variable a new value."""
    arguments = SetVariableArguments(variablesReference=reference, name=name, value=value)
    async with session.evaluating:
        return await session.request("setVariable", arguments)


async def walk(
    session: Session, segments: Sequence[str], frame: int | None
) -> tuple[Variable | None, int]:
    """Follow a path through scopes and children; return the variable and its container's reference."""
    scopes: Sequence[Scope] = await session.inspect.scopes(frame) if frame is not None else []
    for scope in scopes:
        if scope.get("expensive"):
            continue
        container = scope["variablesReference"]
        found = variable_path.child(await session.inspect.variables(container), segments[0])
        if found is None:
            continue
        for segment in segments[1:]:
            container = found["variablesReference"]
            found = (
                variable_path.child(await session.inspect.variables(container), segment)
                if container
                else None
            )
            # A lazy value needs an evaluation.
            if found is None or found.get("presentationHint", {}).get("lazy"):
                return None, 0
        return found, container
    return None, 0


async def known(session: Session, path: str, frame: int | None) -> tuple[Variable | None, int]:
    """Do as `walk` does with a text that may be no path at all."""
    with contextlib.suppress(ArgumentError):
        return await walk(session, variable_path.parse(path), frame)
    return None, 0


def tidy(address: str) -> str:
    """Return an address without leading zeros, in one form; another kind of reference unchanged.

    >>> tidy("0x0000401136"), tidy("7"), tidy("object-7")
    ('0x401136', '7', 'object-7')
    """
    return f"{int(address, 16):#x}" if ADDRESS.fullmatch(address) else address
