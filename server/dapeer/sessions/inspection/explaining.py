"""Evaluates in the program what its adapter does not report at a stop."""

from __future__ import annotations

import contextlib
import json
import re
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from dapeer.adapters.definition.stopping import Expressions
from dapeer.dap.types import Variable
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.stops.stops import Stop

Evaluate: TypeAlias = Callable[[str, int, str], Awaitable[str]]
"""Evaluates an expression in a frame, in a context of DAP's."""

_QUOTED = re.compile(r'"(.+)"', re.DOTALL)


async def explain(mirror: Mirror, stop: Stop, expressions: Expressions, evaluate: Evaluate) -> None:
    """Evaluate the definition's expressions for a stop's signal or exception.

    The mirror keeps the results. `evaluate` takes an expression, a frame id and a DAP context. Nothing is evaluated where no expression
    fits the stop. The stop's stack must have been fetched.

    Raises:
        DapeerError: An evaluation failed.
    """
    frame = stop.stack.frames[stop.thread_id][0]
    innermost = frame["id"]
    if expressions.signal and stop.reason in {"signal", "attach"}:
        name = _signal(await evaluate(expressions.signal, innermost, "hover"))
        mirror.learn(stop, replace(stop.found, signal=name))
    if expressions.exception and stop.reason == "exception" and not stop.body.get("text"):
        mirror.take_exception(stop, await evaluate(expressions.exception, innermost, "hover"))
    for where, told, context in (
        (expressions.finding_at, expressions.finding, "watch"),
        (expressions.thrown_at, expressions.thrown, "repl"),
    ):
        if where and where.search(frame["name"]):
            found = _QUOTED.search(await evaluate(told, innermost, context))
            mirror.take_exception(stop, _unquoted(found[0]) if found else None)


async def evaluate_members(
    mirror: Mirror,
    stop: Stop,
    variables: Sequence[Variable],
    expressions: Expressions,
    evaluate: Evaluate,
) -> None:
    """Evaluate once what `variables` hold that the adapter does not expand.

    The mirror keeps it as their members. Nothing is evaluated if the definition has no expression for it, the stop has no frame, or
    `variables` is empty.

    Raises:
        DapeerError: The evaluation failed.
        ValueError: Its result is no JSON object.
    """
    if not expressions.members or stop.top is None or not variables:
        return
    held = {each["name"]: each["variablesReference"] for each in variables}
    expression = expressions.members.replace("${names}", json.dumps([*held]))
    # In a hover it is a look, which changes nothing: what else is known of the stop stays.
    texts = json.loads(await evaluate(expression, stop.top["id"], "hover"))
    members = {held[name]: str(text) for name, text in texts.items() if name in held}
    mirror.take_members(stop, members)


def _unquoted(quoted: str) -> str:
    """Return a text without its quotes, and without escapes that JSON knows."""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def is_bare(variable: Variable, expressions: Expressions) -> bool:
    """Return whether the adapter shows nothing of a variable's object, by the definition's `bare`."""
    return (
        expressions.bare is not None and expressions.bare.fullmatch(variable["value"]) is not None
    )


def _signal(number: str) -> str:
    """Return the name of the signal with this number.

    Empty: unknown, or one by which debuggers stop programs.
    """
    with contextlib.suppress(ValueError):
        name = signal.Signals(int(number)).name
        return "" if name in {"SIGSTOP", "SIGTRAP"} else name
    return ""
