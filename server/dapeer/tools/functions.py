"""Breakpoints on functions by name: where a program stops, and where it collects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dapeer.dap.types import Breakpoint
from dapeer.dap.wanted import WantedFunction, title_of
from dapeer.sessions.session import Session
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.collecting import check_at
from dapeer.tools.base.notes import noted
from dapeer.tools.base.tool import tool
from dapeer.view import render


@tool("Stop at functions", idempotent=True)
async def dap_set_function_breakpoints(call: Call, names: list[str]) -> Reply:
    """Stop when one of these functions is entered; replaces earlier ones, [] removes them."""
    debugger = call.debugger
    debugger.breakpoints.functions = names
    untaken = await debugger.push_functions().untaken()
    made = {
        name: made
        for s in debugger.sessions.values()
        if not s.mirror.ended
        for name, made in s.mirror.placed.functions
    }
    lines = [f"{name}: {render.breakpoint_state(made.get(name))}" for name in names]
    text = "\n".join(lines) or "No function breakpoints."
    return noted(Reply(text, {"functions": names}), untaken)


async def added(call: Call, wanted: WantedFunction) -> Reply:
    """Collect at functions, in programs that run and in later ones."""
    check_at(call, [wanted])
    debugger = call.debugger
    title = title_of(wanted)
    debugger.breakpoints.collecting[call.focus.key, title] = wanted
    debugger.expect_now(title, 0)
    untaken = await debugger.push_collecting().untaken()
    return noted(Reply("\n".join(_states(call, title, wanted)), data(wanted)), untaken)


async def removed(call: Call, name: str) -> Reply:
    """Collect no longer at functions, named as when that began."""
    wanted = call.debugger.breakpoints.collecting
    gone = [
        each
        for each in call.debugger.breakpoints.at_functions(call.focus.key)
        if name in {each[1], wanted[each]["name"]}
    ]
    if not gone:
        return Reply(f"No breakpoint at {name}; nothing changed.", {"removed": False})
    for each in gone:
        del wanted[each]
    untaken = await call.debugger.push_collecting().untaken()
    told = Reply(f"Nothing is collected at {name} any more.", {"removed": True})
    return noted(told, untaken)


def lines(call: Call) -> list[str]:
    """Return each point that collects at functions, with its states in the sessions."""
    wanted = call.debugger.breakpoints.collecting
    return [line for (_, title), each in wanted.items() for line in _states(call, title, each)]


def _states(call: Call, title: str, wanted: WantedFunction) -> list[str]:
    live = [each for each in call.debugger.sessions.values() if not each.mirror.ended]
    return list(dict.fromkeys(_told(title, wanted, live)))


def _told(title: str, wanted: WantedFunction, live: Sequence[Session]) -> Iterator[str]:
    options = render.options(wanted)
    for each in live:
        made = each.mirror.placed.collecting_at.get(title)
        if made is not None:
            yield f"{title} {_state(made)}{options}"
        elif not each.delegates:
            yield f"{title} not collected ({each.lines.why_not_at(wanted, each.adapter)}){options}"
    if not live:
        yield f"{title} {render.breakpoint_state(None)}{options}"


def _state(made: Breakpoint) -> str:
    said = made.get("message")
    return f"{render.breakpoint_state(made)}{f': {said}' if said else ''}"


def data(wanted: WantedFunction) -> dict[str, Any]:
    """Return a point as facts."""
    facts: dict[str, Any] = {
        "calls" if wanted["calls"] else "function": wanted["name"],
        "collect": wanted["collect"] or None,
        "condition": wanted.get("condition"),
        "max_hits": wanted.get("maxHits"),
    }
    return {key: value for key, value in facts.items() if value is not None}


TOOLS = (dap_set_function_breakpoints,)
