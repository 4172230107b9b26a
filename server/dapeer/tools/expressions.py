"""Tools that evaluate, assign and complete expressions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from dapeer.adapters.definition.placeholders import fill
from dapeer.base.errors import ArgumentError, DapeerError, RequestFailed
from dapeer.base.text.fitting import original_length, shortened
from dapeer.base.text.lines import indented, indented_after_first, lines_of
from dapeer.base.text.tracebacks import cause
from dapeer.dap.sent_requests import CompletionsArguments
from dapeer.dap.types import CompletionItem, Scope
from dapeer.peers.consent_kinds import ALL, EVALUATE, ArgumentKinds, CallKinds
from dapeer.sessions.core.evaluating import (
    evaluate,
    find_variable_by_text,
    set_expression,
    set_variable,
)
from dapeer.sessions.core.session import Session
from dapeer.tools.base import evaluation, report
from dapeer.tools.base.arguments import CallTarget, FrameId, SessionId, frame_of
from dapeer.tools.base.call import Call, RemainingTime, Reply, with_notes
from dapeer.tools.base.evaluation import (
    MAX_WHOLE_CHARS,
    RESULT_CHARS,
    SECONDS_TO_EVALUATE,
    EvaluationResult,
    name_suggestions,
)
from dapeer.tools.base.schema import Unlisted
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.inspection import VALUE_CHARS
from dapeer.view import variables

_MEMBER = re.compile(r"[.:>\])]\s*\w*$")
"""The ends of a text that is completed by members: `.`, `::`, `->`, `?.`, a bracket."""

MAX_COMPLETIONS = 50
"""Completions that are shown."""


@tool(
    "Evaluate",
    section=Section.LOOK,
    kinds=CallKinds(
        EVALUATE,
        (
            ArgumentKinds(
                "context", ALL, "`repl` (debugger commands)", lambda context: context == "repl"
            ),
        ),
        "an expression may change anything",
    ),
    is_lean=True,
    destructive=True,
    group_state="stopped",
)
async def dap_evaluate(
    call: Call,
    expressions: Sequence[str],
    frame_id: FrameId = None,
    context: Literal["watch", "repl", "hover", "clipboard", "variables"] = "watch",
    max_chars: Annotated[int | None, Field(ge=1, le=MAX_WHOLE_CHARS), Unlisted()] = None,
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000,
    *,
    target: CallTarget,
) -> Reply:
    """Evaluate in a frame, default the one shown. Context repl: statements, gdb's commands.

    The expressions are evaluated one after the other, within `timeout_ms` for all, in the frame `frame_id`; they
    may change the program. `context` is DAP's. Of several each one has its value or its error; at a stop, those
    behind one that takes too long, or has resumed or ended the program, are not evaluated. A frame of a thread or
    task that is not stopped is read, where that is possible: `frame_id`, or after a request to pause one of the
    user's; `context` and `group` do not count then, and a note says so of `context`; code of the program is awaited
    for two seconds at most. The data of one is `expression`, `result` and, if known, `type` and
    `variables_reference`; of several, or with `group`, `values` is the list of these, with `error` for a failed
    one. `frame` is the place. With `max_chars` and context `watch`, each value is shown as whole as the adapter
    gives it, up to `max_chars`; several share `MAX_WHOLE_CHARS` equally.

    Raises:
        RequestFailed: There is one expression only, without a `group`, and it fails.
        RequestTimeout: The adapter does not answer for such a single expression in time.
        ChannelClosed: The program or its adapter ends at such a single expression.
        NotStopped: The session is not stopped, and no frame of its threads can be read.
        NoSession: There is no such session, or it is not clear which one is meant.
        StaleReference: The frame belongs to an earlier stop.
        ArgumentError: `expressions` is empty, or there is no such frame.
        DapeerError: The adapter rejects the request for the frame.
    """
    if not expressions:
        raise ArgumentError("`expressions` is empty.", "Give at least one.")
    session = call.session(target.session_id)
    left = RemainingTime(timeout_ms)
    if running := await report.frame_to_read(session, frame_id):
        unused = ["`context` has no effect in a thread that runs"] * (context != "watch")
        return with_notes(
            await report.evaluate_in_frame(session, running, expressions, max_chars, left), unused
        )
    frame = await frame_of(session, frame_id)
    place = evaluation.place(session, frame)
    where = [f"in {place}"] * bool(place)
    if len(expressions) > 1 or target.group is not None:

        async def evaluate_one(expression: str) -> EvaluationResult:
            return await _evaluated(call, session, expression, frame, context, max_chars, left)

        found = await evaluation.evaluate_all(
            session, expressions, frame, context, left, evaluate_one
        )
        total = RESULT_CHARS if max_chars is None else MAX_WHOLE_CHARS
        room = min(max(total // len(found), VALUE_CHARS), max_chars or total)
        lines = [*(each.line(room) for each in found), *(f"({each})" for each in where)]
        values = [each.data(room) for each in found]
        return Reply(lines_of(lines), {"values": values, "frame": place})
    expression = expressions[0]
    try:
        async with evaluation.consequence_noted(call, session, left):
            one = await _evaluated(call, session, expression, frame, context, max_chars, left)
    except RequestFailed as error:
        where += await name_suggestions(session, frame, expression, error.problem)
        hint = f"({'; '.join(where)})" if where else ""
        raise RequestFailed(error.command, f"{error}\n{hint}".strip()) from error
    return _reply_of(one, max_chars, where, place)


async def _evaluated(
    call: Call,
    session: Session,
    expression: str,
    frame: int | None,
    context: str,
    max_chars: int | None,
    left: RemainingTime,
) -> EvaluationResult:
    """Evaluate one expression in an adapter's frame, and return its result, whole with `max_chars`.

    Raises:
        DapeerError: It cannot be evaluated, or the adapter does not answer in time.
    """
    if max_chars is None or context != "watch":
        return await evaluation.evaluate_expression(session, expression, frame, context, left)
    definition = call.debugger.definitions.get(session.adapter)
    knows = definition is not None and definition.quirks.whole_values
    return await evaluation.evaluate_whole(session, expression, frame, left, knows=knows)


def _reply_of(one: EvaluationResult, max_chars: int | None, where: list[str], place: str) -> Reply:
    """Return one result as a reply, cut to `max_chars`, with a hint in brackets below it.

    None or 0 stands for `RESULT_CHARS`. `where` are sentences for the hint, which is there if there are any, or
    the value is cut (or its text has a `…` of its own): then the hint says how to see more. `place` is the frame
    as text, which becomes `frame` of the data.
    """
    room = max_chars or RESULT_CHARS
    shown = one.text(room)
    if original_length(one.value) or len(one.value) > room or "…" in shown:
        part = "ask for a part of it"
        whole = f"dap_evaluate max_chars={MAX_WHOLE_CHARS} shows more"
        where = [*where, part if max_chars is not None else f"{part}, or {whole}"]
    hint = f"({'; '.join(where)})" if where else ""
    return Reply(
        f"{indented(shown.rstrip())}\n{indented_after_first(hint)}".rstrip(),
        {**one.data(room), "frame": place},
        max_value_chars=max_chars or 0,
    )


@tool(
    "Set a variable", section=Section.LOOK, kinds=CallKinds(("write", "evaluate")), destructive=True
)
async def dap_set_variable(
    call: Call,
    path: str,
    value: Annotated[str, Field(description="an expression")],
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Give a variable a value.

    `path`, such as `order.items[3].price`, is what is assigned to, in the frame `frame_id` (by default the
    one shown). An adapter with `setExpression` also gets a path that it shows no variable for: Python may make
    the variable then. `value` is an expression of the program's language, whose code runs in the program, and
    may run twice. The data has `path`, `value` as it is then (`value` as given where neither the adapter nor
    reading the path again tells), and `was` if the old value is known. Both values are shortened. A note says
    if the program has left the stop by the assignment. `session_id` is by default the client's session; the
    session becomes the client's default, unless it is of another program and no id is given.

    Raises:
        ArgumentError: There is no such frame; the adapter lacks `setExpression`, and the path cannot be read or
            names no variable; or the adapter assigns by a statement, as debugpy does, and `value` is empty.
        StaleReference: `frame_id` belongs to an earlier stop.
        RequestFailed: The adapter rejects the path or the value, or the variable still has the old one.
        Unsupported: The adapter cannot assign.
        NotStopped: The session is not stopped.
        DapeerError: There is no such session, or the adapter rejects a request, does not answer, or ends.
    """
    session = call.session(session_id)
    assignable = session.supports("setExpression")
    if not assignable:
        session.require("setVariable")
        variables.parse_path(path)
    frame = await frame_of(session, frame_id)
    async with evaluation.consequence_noted(
        call, session, RemainingTime(SECONDS_TO_EVALUATE * 1000)
    ):
        return await _assign(call, session, path, value, frame)


async def _assign(call: Call, session: Session, path: str, value: str, frame: int | None) -> Reply:
    """Assign a value to a variable in the program, and return the new and the old value as a reply.

    Where the adapter's definition has an assignment statement, that is run by `evaluate`, except for a variable
    of an outer scope or without `evaluateName`. Else a variable that the adapter shows is set by `setVariable`,
    another path (or a private member whose name the adapter changes, or any path without `setVariable`) by
    `setExpression`. If the adapter has `setExpression`, a shown variable that seems changed is evaluated again to
    check that. `value` is an expression; where an adapter with a statement sets a variable of an outer scope, it
    is evaluated once more if that seems to stay as it was. `frame` is the adapter's id of a frame; None: there is
    none. The reply's data has `path`, `value`, and `was` if the adapter shows the variable; long values are cut.

    Raises:
        ArgumentError: The adapter shows no such variable or cannot set it, and cannot assign to expressions; or a
            statement is to be run, and `value` is empty.
        RequestFailed: The adapter rejects the value, or the variable still has the old one.
        DapeerError: The adapter did not answer in time, or the session has ended.
    """
    assignable = session.supports("setExpression")
    found, container = await find_variable_by_text(session, path, frame)
    definition = call.debugger.definitions.get(session.adapter)
    private = assignable and definition is not None and definition.quirks.names_private(path)
    statement = definition.quirks.assignment if definition is not None else ""
    target = path if found is None else str(found.get("evaluateName") or "")
    by_statement = bool(statement and target) and not await _is_of_outer_scope(
        session, container, frame
    )
    if by_statement:
        text = str(fill(statement, {"path": target, "value": value}))
        await _assign_by_statement(session, text, value, frame)
        body = {"value": await _read_back(session, target, frame)}
    elif found is not None and session.supports("setVariable") and not private:
        body = await set_variable(session, container, found["name"], value)
    elif assignable:
        body = await set_expression(session, path, value, frame)
    else:
        raise ArgumentError(
            f"`path`: there is no variable {path} in this frame."
            if found is None
            else f"`path`: {session.adapter} cannot set {path}.",
            "dap_variables lists what is there; dap_evaluate in context repl can assign anything.",
        )
    if found is None:
        there = await _read_back(session, path, frame)
        # Who is assigned to may make another value of it, or none.
        new = shortened(str(there or body.get("value") or body.get("result") or value), VALUE_CHARS)
        return Reply(indented_after_first(f"{path} = {new}"), {"path": path, "value": new})
    new = shortened(str(body.get("value") or value), VALUE_CHARS)
    was = shortened(found["value"], VALUE_CHARS)
    changed = body.get("value") not in {None, found["value"]} and value != found["value"]
    if statement and not by_statement and not changed:
        # It stays as it was also where the value has failed, which `setVariable` does not say.
        await evaluate(session, value, frame, "watch", SECONDS_TO_EVALUATE)
    if assignable and changed and await _read_back(session, path, frame) == found["value"]:
        raise RequestFailed(
            "setVariable",
            f"{session.adapter} answers that {path} is {new} now, but it is still {was}.",
            "dap_evaluate in context repl can assign anything.",
        )
    return Reply(
        indented_after_first(f"{path} = {new} (was {was})"),
        {"path": path, "value": new, "was": was},
    )


async def _is_of_outer_scope(session: Session, container: int, frame: int | None) -> bool:
    """Return whether a `variablesReference` is that of a scope of a frame, but not of the innermost one.

    `frame` is the adapter's id; None: no frame, so it is none. The scopes that the mirror lacks are requested from the adapter.
    """
    scopes: Sequence[Scope] = await session.inspect.scopes(frame) if frame is not None else []
    return container in {scope["variablesReference"] for scope in scopes[1:]}


async def _assign_by_statement(
    session: Session, statement: str, value: str, frame: int | None
) -> None:
    """Run an assignment in the adapter's console, as `evaluate` in context `repl`.

    It changes the program. For some adapters this is the only request that says why a value cannot be
    assigned.

    Args:
        session: The session of the program.
        statement: The assignment, in the language of the program.
        value: The expression of the assigned value, as the caller gave it; only checked for being empty.
        frame: The adapter's id of the frame; None: no frame.

    Raises:
        ArgumentError: `value` is empty.
        RequestFailed: The assignment failed; its text is the error line of the traceback that the adapter
            sent, else all that it sent.
        DapeerError: The adapter did not answer in `SECONDS_TO_EVALUATE`, or the session has ended; the
            value may have changed.
    """
    if not value.strip():
        raise ArgumentError("`value` is empty.", "Give an expression.")
    try:
        await evaluate(session, statement, frame, "repl", SECONDS_TO_EVALUATE)
    except RequestFailed as error:
        raise RequestFailed(
            "setVariable",
            f"The assignment failed: {cause(error.problem).rstrip('.')}.",
            "Give another value, or assign to what holds it.",
        ) from error


async def _read_back(session: Session, path: str, frame: int | None) -> str | None:
    """Evaluate a path, and return its value; None: that fails, or the path may call something."""
    with contextlib.suppress(DapeerError):
        if variables.is_plain(part.lstrip("#") for part in variables.parse_path(path)):
            body = await evaluate(session, path, frame, "watch", SECONDS_TO_EVALUATE)
            return body.get("result")
    return None


@tool("Complete an expression", section=Section.LOOK, read_only=True, needs=["completions"])
async def dap_completions(
    call: Call,
    text: str,
    column: Annotated[int | None, Field(ge=1, description="default the end of the text")] = None,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """List completions of an expression, such as `order.`, in a frame (default the one shown).

    `text` is completed at `column` (from 1; None: its end), with the names of the frame `frame_id`. At most
    `MAX_COMPLETIONS` different texts are returned, those that begin with `_` last. The data has them as the
    list `completions`, and `more`, how many were left out; `more` is absent if none were.

    Raises:
        ConsentNeeded: Members of an object are completed, which may run code of the program.
        Unsupported: The adapter has no completions.
        NotStopped: The session is not stopped.
        NoSession: There is no such session, or it is not clear which one is meant.
        StaleReference: The frame belongs to an earlier stop.
        ArgumentError: There is no such frame.
        DapeerError: The adapter rejects the request, or does not answer.
    """
    session = call.session(session_id)
    session.require("completions")
    if _MEMBER.search(text[: (column or len(text) + 1) - 1]):
        call.require_consent(
            "evaluate",
            "Completing members asks the object for them, which may run code of the program.",
            "dap_variables with its path lists them.",
        )
    arguments: CompletionsArguments = {"text": text, "column": column or len(text) + 1}
    if (frame := await frame_of(session, frame_id)) is not None:
        arguments["frameId"] = frame
    body = await session.request("completions", arguments)
    targets = body.get("targets") or []
    names = sorted(dict.fromkeys(map(_completion, targets)), key=lambda name: name.startswith("_"))
    shown, left = names[:MAX_COMPLETIONS], len(names) - MAX_COMPLETIONS
    more = f"\n({left} more: give a longer text)" if left > 0 else ""
    return Reply(
        ("\n".join(map(indented, shown)) or "No completions.") + more,
        {"completions": shown, **({"more": left} if left > 0 else {})},
    )


def _completion(target: CompletionItem) -> str:
    return shortened(str(target.get("text") or target["label"]), VALUE_CHARS)
