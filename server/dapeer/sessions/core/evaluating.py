"""A program's variables: found by a path, evaluated, or written, one at a time in each session."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

import anyio

from dapeer.base.errors import ArgumentError, ChannelError, RequestTimeout
from dapeer.dap.sent_requests import EvaluateArguments, SetExpressionArguments, SetVariableArguments
from dapeer.dap.types import (
    EvaluateResponseBody,
    Scope,
    SetExpressionResponseBody,
    SetVariableResponseBody,
    Variable,
)
from dapeer.mirror.post_mortem import explain_lack_of_process
from dapeer.sessions.core.session import Session
from dapeer.view import variables

SECONDS_TO_CANCEL = 2.0
"""Seconds for an adapter to break off an evaluation."""
WHOLE = "dapeerWhole"
"""The key of a `ValueFormat` that asks our companion in the program for a whole value."""
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")


async def evaluate(
    session: Session,
    expression: str,
    frame_id: int | None,
    context: str,
    seconds: float,
    *,
    whole: bool = False,
) -> EvaluateResponseBody:
    """Send `evaluate` with a DAP `context` (`watch`, `repl`, …) and return the body of its response.

    The code of `expression` runs in the program. `frame_id` is the adapter's frame id; None evaluates without a frame.
    Evaluations of one session run one after the other; the wait for one before has no limit here. If the adapter does
    not answer within `seconds`, or the caller is cancelled, the adapter gets `cancel`, if it supports that; after a
    timeout it then has `SECONDS_TO_CANCEL` more to answer. `whole` asks for a whole value, in a format that only
    dapeer's companion in the program knows: set it only where that is there. The arguments are recorded in the session
    as those of its last evaluation.

    Raises:
        RequestTimeout: It was not answered in time; `cancelled` says whether the adapter has broken it off.
        DapeerError: As `Session.send`, maybe with a longer hint; in a core dump, a failure that needs a process says so.
    """
    arguments: EvaluateArguments = {"expression": expression, "context": context}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    if whole:
        arguments["format"] = {WHOLE: True}
    async with session.evaluation_lock:
        session.record_evaluation(arguments)
        with explain_lack_of_process(session.post_mortem), session.advice.on_failure(context):
            try:
                return await session.request("evaluate", arguments, seconds=seconds)
            except RequestTimeout as error:
                if session.supports("cancel") and await _cancel_evaluation(
                    session, SECONDS_TO_CANCEL
                ):
                    raise RequestTimeout("evaluate", seconds, cancelled=True) from error
                raise
            except anyio.get_cancelled_exc_class():
                if session.supports("cancel"):
                    await _cancel_evaluation(session, 0)
                raise


async def _cancel_evaluation(session: Session, seconds: float) -> bool:
    """Send `cancel` for the pending `evaluate`; return whether `evaluate` was answered within `seconds`.

    The caller has checked that the adapter supports `cancel`. False also means that no evaluation is pending
    (nothing is sent), or that the connection fails or ends. The wait is not interrupted by a cancellation of
    the caller.
    """
    sent = session.unanswered_evaluation()
    if sent is None:
        return False
    with contextlib.suppress(ChannelError), anyio.CancelScope(shield=True):
        await session.channel.send("cancel", {"requestId": sent.seq})
        # A connection that ends answers nothing, and leaves nothing unanswered.
        return (
            await session.wait_for(lambda: session.unanswered_evaluation() is not sent, seconds)
            and not session.channel.closed_event.is_set()
        )
    return False


async def set_expression(
    session: Session, expression: str, value: str, frame_id: int | None
) -> SetExpressionResponseBody:
    """Send `setExpression`: assign the text `value` to `expression` in a frame.

    Return the response's body. `frame_id` is the adapter's; None: no frame. The call waits for the session's evaluations to end first,
    and raises as `Session.send`.
    """
    arguments: SetExpressionArguments = {"expression": expression, "value": value}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    async with session.evaluation_lock:
        return await session.request("setExpression", arguments)


async def set_variable(
    session: Session, reference: int, name: str, value: str
) -> SetVariableResponseBody:
    """Send `setVariable`: give the child `name` of the container `reference` the text `value`.

    Return the body. `reference` is the adapter's `variablesReference` of a scope or variable. It waits for the session's evaluations to
    end first.
    """
    arguments = SetVariableArguments(variablesReference=reference, name=name, value=value)
    async with session.evaluation_lock:
        return await session.request("setVariable", arguments)


async def walk_to_variable(
    session: Session, segments: Sequence[str], frame: int | None
) -> tuple[Variable | None, int]:
    """Find a variable by its path: a name in one of the frame's scopes, then the names of children.

    Return the variable and the `variablesReference` of what contains it; `(None, 0)` if there is none, a child on the path (also the last
    one) is lazy, or `frame` (an adapter's id) is None. `segments` has one name at least. Expensive scopes are skipped, and only the first
    scope that has the first name counts. Scopes and variables that the mirror lacks are requested from the adapter.

    Raises:
        DapeerError: The program is not stopped, or a request failed.
    """
    scopes: Sequence[Scope] = await session.inspect.scopes(frame) if frame is not None else []
    for scope in scopes:
        if scope.get("expensive"):
            continue
        container = scope["variablesReference"]
        found = variables.find_child(await session.inspect.variables(container), segments[0])
        if found is None:
            continue
        for segment in segments[1:]:
            container = found["variablesReference"]
            found = (
                variables.find_child(await session.inspect.variables(container), segment)
                if container
                else None
            )
            # A lazy value needs an evaluation.
            if found is None or found.get("presentationHint", {}).get("lazy"):
                return None, 0
        return found, container
    return None, 0


async def find_variable_by_text(
    session: Session, path: str, frame: int | None
) -> tuple[Variable | None, int]:
    """Find a variable by a path such as `a.b[0]`, in the scopes of a frame, then in the children.

    Return it and the `variablesReference` of what contains it; `(None, 0)`: `path` is no path, there is no such variable, or `frame` (an
    adapter's id) is None. What the mirror lacks is requested from the adapter.
    """
    with contextlib.suppress(ArgumentError):
        return await walk_to_variable(session, variables.parse_path(path), frame)
    return None, 0


def normalize_address(address: str) -> str:
    """Return an address without leading zeros, in one form; another kind of reference unchanged.

    >>> normalize_address("0x0000401136"), normalize_address("7"), normalize_address("object-7")
    ('0x401136', '7', 'object-7')
    """
    return f"{int(address, 16):#x}" if ADDRESS.fullmatch(address) else address
