"""Resolves what a caller names: a variable by a path, memory by an address or an expression."""

from __future__ import annotations

import contextlib
import re

from dapeer.base.errors import ArgumentError, RequestFailed
from dapeer.dap.types import Variable
from dapeer.peers.consent_kinds import is_name
from dapeer.sessions.core.evaluating import (
    ADDRESS,
    evaluate,
    find_variable_by_text,
    walk_to_variable,
)
from dapeer.sessions.core.session import Session
from dapeer.tools.base.call import Call
from dapeer.view import variables

SECONDS_TO_EVALUATE = 10.0
"""Seconds that looking up a path may take."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


async def find_variable(call: Call, session: Session, path: str, frame: int | None) -> Variable:
    """Return the variable that a path such as `order.items[3].price` names in a frame.

    The path is followed through the adapter's scopes and variables. What is not among these (an element far down a long list, a property)
    is evaluated as an expression, which may run code of the program: the call needs consent for `evaluate` then. `frame` is the adapter's
    id of the frame; None: there is none, so that only an evaluation can find it.

    Raises:
        ArgumentError: There is no such variable, or the adapter rejects the evaluation.
        ConsentNeeded: Only an evaluation can resolve the path, and nobody has consented.
    """
    segments = variables.parse(path)
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

    `text` is an address, a pointer, or `&variable`. A number is returned as it is. Anything else is evaluated in the frame with the
    adapter's id `frame`, or looked up among the variables; that may run an overloaded operator of the program. With a `call`, such an
    evaluation needs consent for `evaluate`, except of a plain name; without one nobody is asked. An evaluation that the adapter rejects is
    passed over.

    Raises:
        ArgumentError: The text is neither an address nor a name, or what it names has no address.
        ConsentNeeded: Only an evaluation can resolve it, and nobody has consented.
    """
    if _NUMBER.fullmatch(text):
        return text
    name = text.lstrip("&*$")
    if not variables.is_plain(variables.parse(name)):
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
