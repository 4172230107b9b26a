"""Evaluating in a program, and writing to its variables: one at a time in each session."""

from __future__ import annotations

from typing import Any

from dapeer.dap.messages import Body
from dapeer.mirror.post_mortem import no_process
from dapeer.sessions.core.session import Session


async def evaluate(
    session: Session, expression: str, frame_id: int | None, context: str, seconds: float
) -> Body:
    """Evaluate an expression in a frame, or without one, in a DAP context."""
    arguments: dict[str, Any] = {"expression": expression, "context": context}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    async with session.evaluating:
        with no_process(session.post_mortem), session.advice.on_failure(context):
            return await session.request("evaluate", arguments, seconds=seconds)


async def set_expression(
    session: Session, expression: str, value: str, frame_id: int | None
) -> Body:
    """Assign to an expression that names a place."""
    arguments: dict[str, Any] = {"expression": expression, "value": value}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    async with session.evaluating:
        return await session.request("setExpression", arguments)


async def set_variable(session: Session, reference: int, name: str, value: str) -> Body:
    """Give a child of a scope or variable a new value."""
    arguments = {"variablesReference": reference, "name": name, "value": value}
    async with session.evaluating:
        return await session.request("setVariable", arguments)
