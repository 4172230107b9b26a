"""Evaluates expressions at a stop, each of which may fail by itself, and finds what a caller names."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio

from dapeer.base.errors import (
    ArgumentError,
    ChannelClosed,
    DapeerError,
    RequestFailed,
    RequestTimeout,
)
from dapeer.base.text.fitting import fitted, is_nested, shortened, type_if_not_obvious
from dapeer.dap.sent_requests import CompletionsArguments
from dapeer.dap.types import Variable
from dapeer.mirror.stops import Stop
from dapeer.peers.consent_kinds import is_name
from dapeer.sessions.core.evaluating import (
    ADDRESS,
    evaluate,
    find_variable_by_text,
    walk_to_variable,
)
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import last_place, wait_for_place
from dapeer.tools.base.call import Call, RemainingTime
from dapeer.view import variables
from dapeer.view.snapshot import EXCEPTION_CHARS
from dapeer.view.stacks import frame_line
from dapeer.view.variables import VALUE_CHARS, stop_in_returned_function

# Suggestions for a name in an expression that does not exist.

MAX_SUGGESTED_NAMES = 3
"""Names that are suggested."""
MIN_NAME_LIKENESS = 0.7
"""How much alike two names are, from 0 to 1."""
SECONDS_TO_FIND = 1.0
"""Seconds that looking for names may take."""

_MISSING = re.compile(
    r"not defined|undefined|undeclared|unknown|not found|could not (?:find|resolve)|cannot (?:find|resolve)"
    r"|no (?:attribute|member|symbol|field|local variable)|Unresolved",
    re.IGNORECASE,
)
"""How adapters say that a name is not there."""
_NAME = re.compile(r"[^\W\d]\w*")
_LAST = re.compile(r"\w+(?=\W*$)")
"""The name at the end of a completion, such as of `items(`."""
_MEMBER = re.compile(r"([\w.\[\]'\"]+)(?:\.|->|\?\.|::)$")
"""The expression before the name of a member."""


async def name_suggestions(
    session: Session,
    frame: int | None,
    expression: str,
    error: str,
    seconds: float = SECONDS_TO_FIND,
) -> list[str]:
    """Return suggestions for a name that does not exist, of which the adapter's `error` complains.

    `expression` uses the name. The adapter is asked for the variables and completions of the frame, or of the
    object before the name, which may run code of the program, for at most `seconds`, and never longer than
    `SECONDS_TO_FIND`; its errors are ignored. `frame` is the adapter's id of the frame. Each suggestion is a short
    text: similar names (`near: total, totals`), or the value that the name had in a function that has just
    returned; the latter not for a member of an object (`a.b`). Empty: the error is not about a missing name,
    `frame` is None, or nothing is found.
    """
    name = missing_name(expression, error)
    if name is None or frame is None:
        return []
    container = _container(expression, name)
    lines: list[str] = []
    with contextlib.suppress(DapeerError, TimeoutError):
        with anyio.fail_after(min(seconds, SECONDS_TO_FIND)):
            names = dict.fromkeys(
                [
                    *await _variable_names(session, frame, container),
                    *await _request_completions(session, frame, container, name),
                ]
            )
            near = difflib.get_close_matches(name, names, MAX_SUGGESTED_NAMES, MIN_NAME_LIKENESS)
            lines += [f"near: {', '.join(near)}"] * bool(near)
    return lines if container else [*lines, *_value_in_returned_function(session, name)]


def missing_name(expression: str, error: str) -> str | None:
    """Return the name in an expression that an adapter's error calls undefined.

    None: the error is about something else, or names nothing that is in the expression.

    >>> missing_name("order.itms[0]", "AttributeError: 'Order' object has no attribute 'itms'")
    'itms'
    >>> missing_name("f(1) + g", "TypeError: f() takes 0 arguments")
    """
    if _MISSING.search(error) is None:
        return None
    used = set(_NAME.findall(expression))
    return next((each for each in reversed(_NAME.findall(error)) if each in used), None)


def _container(expression: str, name: str) -> str:
    """Return the expression of which a missing name should be a member; empty if it stands for itself.

    >>> _container("a + order.items[3].prize", "prize"), _container("prize + 1", "prize")
    ('order.items[3]', '')
    """
    place = re.search(rf"\b{re.escape(name)}\b", expression)
    found = _MEMBER.search(expression[: place.start()]) if place else None
    return found[1] if found else ""


async def _variable_names(session: Session, frame: int, container: str) -> list[str]:
    """Return the names of a frame's local variables, or of the members of an expression.

    `container` is that expression, a path such as `a.b[0]`, which is looked up and not evaluated; empty: the local
    variables. Scopes and variables that are not known yet are requested from the adapter. The list is empty if the
    container is not found, or there are no variables or members. `frame` is the adapter's id of the frame.

    Raises:
        DapeerError: The program is not stopped, or a request fails.
    """
    if not container:
        await session.inspect.scopes(frame)
        stop = session.mirror.require_stop()
        for scope in stop.values.local_scopes(frame):
            await session.inspect.variables(scope["variablesReference"])
        return [each["name"] for each in stop.locals(frame)]
    found, _ = await find_variable_by_text(session, container, frame)
    if found is None or not found["variablesReference"]:
        return []
    return [each["name"] for each in await session.inspect.variables(found["variablesReference"])]


async def _request_completions(
    session: Session, frame: int, container: str, name: str
) -> list[str]:
    """Return the names that the adapter completes from the first letter of `name`.

    If the expression `container` is not empty, the names are those of its members; else they include globals,
    too. Of each completion only the last word counts; one without a word is left out. The list is empty if the
    adapter does not support `completions`. `frame` is the adapter's id of the frame, and `name` must not be
    empty. The adapter may run code of the program, such as a property's.

    Raises:
        DapeerError: The adapter rejects the request, or does not answer.
    """
    if not session.supports("completions"):
        return []
    text = f"{container}.{name[0]}" if container else name[0]
    position = CompletionsArguments(text=text, column=len(text) + 1, frameId=frame)
    body = await session.request("completions", position)
    targets = body.get("targets") or []
    texts = (str(each.get("text") or each["label"]) for each in targets)
    return [found[0] for each in texts if (found := _LAST.search(each))]


def _value_in_returned_function(session: Session, name: str) -> list[str]:
    """Return the value that a variable had in the function that has just returned to this frame.

    That is its value at the last stop in the function, perhaps not that at its end. The result is a list of one
    text, `NAME = VALUE in FUNCTION, which has returned`, with the value cut to about `VALUE_CHARS`. Empty: the
    session is not stopped, no function in which it had stopped has just returned, or no local of that name was
    there.
    """
    stop = session.mirror.stop
    last = stop_in_returned_function(session.mirror.history, stop) if stop else None
    if last is None or last.default_frame is None:
        return []
    value = next((each["value"] for each in last.locals() if each["name"] == name), None)
    if value is None:
        return []
    return [
        f"{name} = {fitted(value, VALUE_CHARS)} in {last.default_frame['name']}, which has returned"
    ]


RESULT_CHARS = 2000
"""Characters of a single value that was asked for."""
MAX_WHOLE_CHARS = 100_000
"""Characters of a value that a caller can ask for."""
MAX_OPENED_VALUES = 30
"""Values within one that are opened, where the adapter shows them folded."""
_FRAME = re.compile(r'\s+File "')
"""The first line of a frame in a traceback of Python's."""
_CUT_TEXT = re.compile(r"""["'`].*…""", re.DOTALL)
"""The beginning of a text that the adapter has cut, in its midst or at its end."""
_PLAIN_PATH = re.compile(r"[\w$.\[\]\s]+")
"""An expression that calls nothing, but perhaps a property."""
_LEFT_OUT = re.compile(r'…|\.\.\.|<|0x[0-9a-fA-F]+\b(?! ")')
"""Marks in a value of which more can be shown: something is left out, or only named."""


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The result of an expression: a value, or the adapter's error."""

    expression: str
    value: str = ""
    type: str = ""
    reference: int = 0
    """The reference by which dap_variables lists its members; 0: it has none."""
    error: str = ""
    consequence: str = ""
    """What has become of the stop at which it was evaluated; empty where that lasts."""

    @property
    def gist(self) -> str:
        """The line of the error that names the problem, shortened, with the consequence in parentheses."""
        return f"{shortened(_main_line(self.error), EXCEPTION_CHARS)}{self._after}"

    @property
    def _after(self) -> str:
        return f" ({self.consequence})" if self.consequence else ""

    def data(self, limit: int) -> dict[str, Any]:
        """Return the result as data: `expression` with `error`, or with `result`, and what else is known.

        That is `type` and `variables_reference`. `limit` is the number of characters to which the value is cut.
        """
        if self.error:
            return {"expression": self.expression, "error": self.error}
        facts = {"type": self.type, "variables_reference": self.reference}
        known = {key: fact for key, fact in facts.items() if fact}
        return {"expression": self.expression, "result": fitted(self.value, limit), **known}

    def text(self, limit: int) -> str:
        """Return the value, cut to about `limit` characters, with its type and reference in brackets.

        The type is given if the value does not show it, the `variables_reference` if the value has more than is
        shown. `(no value)` stands for an empty value without these, as of an evaluation that failed: `error` is
        not in the text. What the evaluation has made of the stop (`consequence`) follows in parentheses, if
        anything.
        """
        shown = fitted(self.value, limit)
        named = type_if_not_obvious(self.type, shown)
        more = [f"type {named}"] * bool(named)
        more += [f"variables_reference {self.reference}"] * bool(self.reference and has_more(shown))
        value = shown + (f" [{', '.join(more)}]" if more else "") or "(no value)"
        return f"{value}{self._after}"

    def line(self, limit: int) -> str:
        """Return the expression and its result as one line: `expression = value`, or `expression: error`.

        `limit` is the number of characters to which the value is cut.
        """
        expression = shortened(" ".join(self.expression.split()), VALUE_CHARS)
        if self.error:
            return f"{expression}: {self.gist}"
        return f"{expression} = {self.text(limit)}"


def _main_line(error: str) -> str:
    r"""Return the line of an error message that names the problem.

    Of a Python traceback that is the first line behind the last frame that is not indented (without one, the last
    line), so of chained tracebacks the last exception's; of other messages it is the first line. An empty message
    gives an empty text.

    >>> _main_line('Traceback (most recent call last):\n  File "a.py", line 1\nError: no `x`\n  1 | x\n    | ^')
    'Error: no `x`'
    """
    lines = error.strip().splitlines() or [""]
    if not lines[0].startswith("Traceback"):
        return lines[0]
    frames = [number for number, line in enumerate(lines) if _FRAME.match(line)] or [0]
    after = [line for line in lines[frames[-1] + 1 :] if line and not line[0].isspace()]
    return after[0] if after else lines[-1]


def has_more(value: str) -> bool:
    """Whether a value, as an adapter writes it, has parts that its text leaves out or only names.

    >>> has_more("(1, 2)"), has_more("[1, 2, …] (9 items)"), has_more("<Cart object at 0x7f2e>"), has_more("Cart")
    (False, True, True, True)
    """
    return not is_nested(value) or _LEFT_OUT.search(value) is not None


async def evaluate_expression(
    session: Session,
    expression: str,
    frame: int | None,
    context: str,
    remaining: RemainingTime,
    *,
    whole: bool = False,
) -> EvaluationResult:
    """Send the adapter an `evaluate` request, and return the expression's result.

    Code of the program may run. `frame` is the adapter's id of a frame; None: the expression is evaluated
    without one. `context` is DAP's, such as `watch` or `repl`. `whole` asks for the value uncut, in a
    `format` that the adapter must know. `remaining` is the remaining time of the call, which limits the wait
    for the answer, but not for earlier evaluations of the session, which are waited for first.

    If the program has left the stop by then, or was not stopped, the adapter's value is returned without a
    reference. Else the elements that the adapter leaves out of a container are requested, too, as far as
    there is time and the adapter gives them, and kept in the stop's values; the reference is a handle of the
    stop, or 0 if the value has no members.

    Raises:
        DapeerError: The expression cannot be evaluated, the adapter does not answer within `remaining`, or the
            stop has no handle left.
    """
    before = session.mirror.stop
    seconds = max(round(remaining.remaining_ms / 1000, 2), 0.01)
    body = await evaluate(session, expression, frame, context, seconds, whole=whole)
    stop = session.mirror.stop
    value, reference = str(body.get("result") or ""), int(body.get("variablesReference") or 0)
    if stop is None or stop is not before:
        return EvaluationResult(expression, value, str(body.get("type") or ""))
    if reference:
        result = Variable(name=expression, value=value, variablesReference=reference)
        with anyio.move_on_after(remaining.seconds_to_inspect):
            await _request_folded_elements(session, stop, result)
        value = stop.values.shown(result)
        reference = stop.presentation.handles.handle_for("variables_reference", reference)
    return EvaluationResult(expression, value, str(body.get("type") or ""), reference)


async def evaluate_whole(
    session: Session, expression: str, frame: int | None, remaining: RemainingTime, *, knows: bool
) -> EvaluationResult:
    """Evaluate an expression as `evaluate_expression` does, and return its value as whole as possible.

    `knows`: the adapter knows the format that asks for a whole value. Of any other, a text that it has cut is evaluated once more
    for the clipboard, unless the expression may call something.

    Raises:
        DapeerError: The expression cannot be evaluated, or the adapter does not answer in time.
    """
    found = await evaluate_expression(session, expression, frame, "watch", remaining, whole=knows)
    able = bool(session.mirror.capabilities.get("supportsClipboardContext")) and not knows
    if not (able and _CUT_TEXT.match(found.value) and _PLAIN_PATH.fullmatch(expression)):
        return found
    return await evaluate_expression(session, expression, frame, "clipboard", remaining)


async def consequence_of(session: Session, before: Stop | None, remaining: RemainingTime) -> str:
    """Return in a few words what has become of the stop at which an evaluation was begun.

    The program may have ended, been resumed, or stopped anew. If the program has stopped again, wait until its place is
    known.

    Args:
        session: The session of the program.
        before: The session's stop when the evaluation was begun; None: it was running.
        remaining: The remaining time of the call, which limits the wait.

    Returns:
        Some words; empty if the stop still lasts. For a program that was running they only say that it has stopped:
        they are empty while it runs, and also if it has ended.
    """
    stop = session.mirror.stop
    if stop is before:
        return ""
    if session.mirror.has_ended:
        code = session.mirror.exit_code
        return f"the program has ended{f', exit code {code}' if code is not None else ''}"
    if stop is None:
        return "the program runs now"
    await wait_for_place(session, remaining.seconds_to_inspect)
    return f"the program has stopped ({stop.reason}) in {last_place(session)}"


@asynccontextmanager
async def consequence_noted(
    call: Call, session: Session, remaining: RemainingTime
) -> AsyncGenerator[None]:
    """Run the block of a `with`, and note in the call's answer if the program has left its stop by then.

    The note says that the program runs now, has stopped anew (and where), or has ended. Of a program that was
    running before the block, only a stop is noted. The note is added, too, when the block raises a
    `DapeerError`, except for `ChannelClosed`, which itself says how the program ended. No other exception leads
    to a note. All are raised on. `remaining` limits the wait for the new place.
    """
    before = session.mirror.stop
    try:
        yield
    except ChannelClosed:
        raise  # it says how the program has ended
    except DapeerError:
        await _note(call, session, before, remaining)
        raise
    await _note(call, session, before, remaining)


async def _note(
    call: Call, session: Session, before: Stop | None, remaining: RemainingTime
) -> None:
    """Append to the notes of a call what has become of the stop `before`, if that stop does not last."""
    if consequence := await consequence_of(session, before, remaining):
        call.notes.append(consequence)


async def _request_folded_elements(session: Session, stop: Stop, variable: Variable) -> None:
    """Request the elements of a value that the adapter shows folded, and of folded values in it.

    This goes level by level, from `variable` on. The elements are stored in the stop's values. At most
    `MAX_OPENED_VALUES` containers are requested; one whose members are known already is passed over, with all
    that is in it. A request that fails raises nothing: its container stays as it is.
    """
    folded, opened = [variable], 0
    while folded and opened < MAX_OPENED_VALUES:
        one = folded.pop(0)
        if stop.values.unfolded.members_of(one):
            continue  # a value that contains itself, or appears twice
        await session.inspect.fetch_members(one)
        inside = stop.values.unfolded.members_of(one)
        folded += [
            one for one in inside if one["variablesReference"] and session.inspect.is_folded(one)
        ]
        opened += 1


async def evaluate_all(
    session: Session,
    expressions: Sequence[str],
    frame: int | None,
    context: str,
    remaining: RemainingTime,
    evaluate_one: Callable[[str], Awaitable[EvaluationResult]] | None = None,
) -> list[EvaluationResult]:
    """Evaluate expressions one after the other; return one result per expression, in their order.

    The evaluation may run code of the program. An expression that fails (a `DapeerError`) raises nothing, and
    has the error in its result; a name that does not exist gets suggestions. After an expression that takes
    too long, whose adapter has gone, or that resumes, stops or ends the program, the following ones are not
    evaluated: their error says so. A result's `consequence` tells what has become of the program. `frame` is
    the adapter's id of a frame, or None for no frame; `context` is DAP's, such as `watch`; `remaining` is the
    time for all of them. `evaluate_one` is awaited with each expression in place of `evaluate_expression`,
    and returns its result; None: `evaluate_expression` is used.
    """

    async def evaluate_shortened(expression: str) -> EvaluationResult:
        return await evaluate_expression(session, expression, frame, context, remaining)

    evaluate_one = evaluate_one or evaluate_shortened
    found: list[EvaluationResult] = []
    before, over = session.mirror.stop, False
    for expression in expressions:
        if over:
            found.append(EvaluationResult(expression, error="not evaluated"))
            continue
        try:
            one = await evaluate_one(expression)
        except DapeerError as error:
            over = isinstance(error, (RequestTimeout, ChannelClosed))
            consequence = "" if over else await consequence_of(session, before, remaining)
            known = over or consequence
            why = (
                error.problem
                if known
                else await _explain_error(session, frame, expression, error, remaining)
            )
            one = EvaluationResult(expression, error=why, consequence=consequence)
        else:
            one = replace(one, consequence=await consequence_of(session, before, remaining))
        over |= bool(one.consequence)
        found.append(one)
    return found


async def _explain_error(
    session: Session,
    frame: int | None,
    expression: str,
    error: DapeerError,
    remaining: RemainingTime,
) -> str:
    """Return the text of an evaluation's error, with names that are similar to one that does not exist."""
    near = await name_suggestions(
        session, frame, expression, error.problem, remaining.seconds_to_inspect
    )
    return f"{_main_line(str(error))} ({'; '.join(near)})" if near else str(error)


def place(session: Session, frame: int | None) -> str:
    """Return the frame with this adapter's id as one line (function, file and line).

    Empty if `frame` is None, the session is not stopped, or the stop has no such frame.
    """
    stop = session.mirror.stop
    found = stop.stack.frame(frame) if stop else None
    return frame_line(found, session.project) if found else ""


# What a caller names: a variable by a path, memory by an address or an expression.

SECONDS_TO_EVALUATE = 10.0
"""Seconds that looking up a path may take."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|[0-9]{1,20}")


async def find_variable(call: Call, session: Session, path: str, frame: int | None) -> Variable:
    """Return the variable that a path such as `order.items[3].price` names in a frame.

    The path is followed through the adapter's scopes and variables. What is not among these (an element far
    down a long list, a property) is evaluated as an expression, which may run code of the program: the call
    needs consent for `evaluate` then; the result has no type. A path with anything but names, numbers and
    quoted keys, such as `items[f()]`, is never evaluated. `frame` is the adapter's id of the frame; None:
    there is none, so that only an evaluation can find the variable.

    Raises:
        ArgumentError: `path` is no path, there is no such variable, or the adapter rejects the evaluation.
        ConsentNeeded: Only an evaluation can resolve the path, and nobody has consented.
        DapeerError: The program is not stopped, a request for variables failed, or the adapter does not
            answer.
    """
    segments = variables.parse_path(path)
    found, _ = await walk_to_variable(session, segments, frame)
    if found is not None:
        return found
    hint = "dap_variables without arguments lists the locals; dap_evaluate takes any expression."
    if not variables.is_plain(segments):
        raise ArgumentError(f"`path`: there is no variable {path} in this frame.", hint)
    call.require_consent(
        "evaluate",
        f"{path} is not among the variables that the adapter shows, and evaluating it may run code of the program.",
        "dap_variables by variables_reference lists what there is.",
    )
    try:
        body = await evaluate(session, path, frame, "watch", SECONDS_TO_EVALUATE)
    except RequestFailed as error:
        # A property that raises, or takes too long, is there all the same.
        raise ArgumentError(
            f"`path`: {path} is not among the variables of this frame, and evaluating it failed: {error.message}",
            hint,
        ) from error
    return Variable(
        name=path,
        value=str(body.get("result")),
        variablesReference=body.get("variablesReference") or 0,
    )


async def memory_reference(
    session: Session, text: str, frame: int | None, *, call: Call | None = None
) -> str:
    """Return the adapter's reference to a place in memory that a caller names.

    `text` is an address, a pointer, or `&variable`. A number is returned in hex. Anything else is evaluated in
    the frame with the adapter's id `frame`, which may run an overloaded operator of the program. If the
    evaluation is rejected or gives no address, the variable's reference is returned, unless `text` begins with
    `*` or `$`. With a `call`, what is no plain name, such as `a[3]`, is looked up first, and its evaluation needs
    consent for `evaluate`; without one nobody is asked.

    Raises:
        ArgumentError: The text is neither an address nor a name or path, or what it names has no address.
        ConsentNeeded: Only an evaluation can resolve it, and nobody has consented.
        DapeerError: The program is not stopped, or the adapter does not answer.
    """
    if _NUMBER.fullmatch(text):
        return f"{int(text, 16 if text.startswith('0x') else 10):#x}"
    name = text.lstrip("&*$")
    if not variables.is_plain(variables.parse_path(name)):
        raise ArgumentError(
            f"`address`: {text!r} is neither an address nor a name.",
            "Give 0x…, a pointer, &variable, or evaluate the expression with dap_evaluate first.",
        )
    if call is not None and not is_name(text):
        variable, _ = await find_variable_by_text(session, text, frame)
        if variable is not None and "memoryReference" in variable:
            return variable["memoryReference"]
        call.require_consent(
            "evaluate",
            f"Evaluating {text} may run code of the program.",
            "Give 0x…, a name or &name; dap_variables shows addresses of pointers.",
        )
    shown = ""
    with contextlib.suppress(RequestFailed):
        body = await evaluate(session, text, frame, "watch", SECONDS_TO_EVALUATE)
        shown = str(body.get("result") or "")
        if found := body.get("memoryReference") or _address_in(shown):
            return str(found)
    variable, _ = await find_variable_by_text(session, name, frame)
    if variable is None or "memoryReference" not in variable or text[0] in "*$":
        raise ArgumentError(
            f"`address`: {text} has no address{f'; it is {shown}' if shown else ''}.",
            "Give 0x… or a pointer" + (f", or &{text}." if text == name else "."),
        )
    return variable["memoryReference"]


def _address_in(result: str) -> str | None:
    """Return the first hexadecimal address in the text of a value; None if there is none."""
    found = ADDRESS.search(result)
    return found[0] if found else None
