"""Suggestions for a name in an expression that does not exist."""

from __future__ import annotations

import contextlib
import difflib
import re

import anyio

from dapeer.base.errors import DapeerError
from dapeer.base.text.fitting import fitted
from dapeer.dap.sent_requests import CompletionsArguments
from dapeer.sessions.core.evaluating import find_variable_by_text
from dapeer.sessions.core.session import Session
from dapeer.view.returns import stop_in_returned_function
from dapeer.view.variables import VALUE_CHARS

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

    `expression` uses the name. The adapter is asked for variables and completions of the frame, for at most `seconds`; its errors are
    ignored. Each suggestion is a short text: similar names, or the value that the name had in a function that has just returned. Empty: the
    error is not about a missing name, there is no frame, or nothing similar is found.
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
                    *await _variables(session, frame, container),
                    *await _completions(session, frame, container, name),
                ]
            )
            near = difflib.get_close_matches(name, names, MAX_SUGGESTED_NAMES, MIN_NAME_LIKENESS)
            lines += [f"near: {', '.join(near)}"] * bool(near)
    return lines if container else [*lines, *_in_returned(session, name)]


def missing_name(expression: str, error: str) -> str | None:
    """Return the name in an expression that an adapter's error calls undefined.

    None: the error is about something else.

    >>> missing("order.itms[0]", "AttributeError: 'Order' object has no attribute 'itms'")
    'itms'
    >>> missing("f(1) + g", "TypeError: f() takes 0 arguments")
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


async def _variables(session: Session, frame: int, container: str) -> list[str]:
    """Return the names of a frame's local variables, or of the members of an expression.

    `container` is that expression; empty: the local variables. Scopes and variables are requested from the adapter. Empty: the container is
    not found, or has no members. `frame` is the adapter's id of the frame.
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


async def _completions(session: Session, frame: int, container: str, name: str) -> list[str]:
    """Return the names that the adapter completes from the first letter of `name`.

    They are members of the expression `container` if that is not empty. These include globals and properties. Empty if the adapter does not
    support `completions`. `frame` is the adapter's id of the frame.
    """
    if not session.supports("completions"):
        return []
    text = f"{container}.{name[0]}" if container else name[0]
    position = CompletionsArguments(text=text, column=len(text) + 1, frameId=frame)
    body = await session.request("completions", position)
    targets = body.get("targets") or []
    texts = (str(each.get("text") or each["label"]) for each in targets)
    return [found[0] for each in texts if (found := _LAST.search(each))]


def _in_returned(session: Session, name: str) -> list[str]:
    """Return the value that a variable had in the function that has just returned to this frame.

    It is a list of one text. Empty: no function has just returned, or it had no variable of that name.
    """
    stop = session.mirror.stop
    last = stop_in_returned_function(session.mirror.history, stop) if stop else None
    if last is None or last.top is None:
        return []
    value = next((each["value"] for each in last.locals() if each["name"] == name), None)
    if value is None:
        return []
    return [f"{name} = {fitted(value, VALUE_CHARS)} in {last.top['name']}, which has returned"]
