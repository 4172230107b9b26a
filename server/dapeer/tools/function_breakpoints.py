"""Breakpoints on functions by name: where a program stops, and where it collects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dapeer.base.text.fitting import quoted
from dapeer.base.text.lines import lines_of
from dapeer.dap.requested_breakpoints import (
    RequestedFunction,
    collects_at,
    function_breakpoint,
    title_of,
)
from dapeer.dap.types import Breakpoint
from dapeer.peers.consent_kinds import EVALUATE, EXPRESSION, WRITE, ArgumentKinds, CallKinds
from dapeer.sessions.core.session import Session
from dapeer.sessions.outcomes import NO_FUNCTIONS
from dapeer.tools.base.call import Call, Reply, with_notes
from dapeer.tools.base.collect_arguments import check_and_claim_functions
from dapeer.tools.base.tool import Section, tool
from dapeer.view import render
from dapeer.view.render import MAX_LISTED_VALUES

_FUNCTION = re.compile(r"[^\s'\"`;]+")


def _is_more_than_a_function(name: object) -> bool:
    """Whether a name has more than a function's name in it: some adapters take the rest for a condition."""
    return _FUNCTION.fullmatch(str(name)) is None


@tool(
    "Stop at functions",
    section=Section.STOP,
    kinds=CallKinds(
        WRITE, (ArgumentKinds("names[]", EVALUATE, EXPRESSION, _is_more_than_a_function),)
    ),
    idempotent=True,
)
async def dap_set_function_breakpoints(call: Call, names: list[str]) -> Reply:
    """Stop when one of these functions (`f`, `f if n > 3`) is entered; replaces earlier ones, [] removes them."""
    return await _stop_at(call, names)


async def _stop_at(call: Call, names: list[str]) -> Reply:
    """Make these the only functions at which programs stop, and return their states as a reply.

    They are sent to all sessions. Adapters that do not support function breakpoints, or conditions of them, are named in notes. `names`
    may have conditions, as `f if n > 3`; empty: none stop any more. The data has `functions`, the names.
    """
    debugger = call.debugger
    debugger.breakpoints.stop_at(names)
    for name in names:
        debugger.expect_now(name, 0)
    untaken = await debugger.push_functions().wait_for_failures()
    live = debugger.sessions.live
    made = {name: made for s in live for name, made in s.mirror.placed.functions}
    lines = [
        f"{name}: {_state(made.get(function_breakpoint(each)['name']))}"
        for each, name in quoted_names(names)
    ]
    lines += [f"and {len(names) - MAX_LISTED_VALUES:,} more"] * (len(names) > MAX_LISTED_VALUES)
    text = lines_of(lines) or "No function breakpoints."
    reply = Reply(text, {"functions": [name for _, name in quoted_names(names)]})
    return with_notes(reply, [*untaken, *_limits(call, live, names)])


def _limits(call: Call, live: Sequence[Session], names: Sequence[str]) -> Iterator[str]:
    """Yield a note for each adapter that cannot stop at functions, or ignores their conditions.

    Only adapters of the `live` sessions count. `names` are the function breakpoints, which may be `f if n > 3`. Nothing is yielded if there
    are none.
    """
    conditional = any("condition" in function_breakpoint(name) for name in names)
    debugging = [s for s in live if not s.delegates]
    for adapter in dict.fromkeys(s.adapter for s in debugging if names):
        session = next(s for s in debugging if s.adapter == adapter)
        definition = call.debugger.definitions.get(adapter)
        mute = definition is not None and "condition_at_functions" in definition.cannot
        if not session.supports("setFunctionBreakpoints"):
            yield f"{adapter} {NO_FUNCTIONS}"
        elif conditional and (mute or not session.supports("condition")):
            yield f"{adapter} ignores conditions here, so these functions stop each time: a breakpoint on a line may have one"


def quoted_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the first `MAX_LISTED_VALUES` names of functions, each as (name, name quoted for an answer)."""
    return [(name, quoted(name)) for name in names[:MAX_LISTED_VALUES]]


async def add_point(call: Call, requested: RequestedFunction) -> Reply:
    """Collect or stop at functions in all programs, running and later ones; return the states as a reply.

    A point that collects belongs to the calling client, and replaces one of the same title; one that stops is added to those that there
    are.

    Raises:
        ArgumentError: An expression does not parse.
    """
    debugger = call.debugger
    if not collects_at(requested):
        return await _stop_at(
            call, [*dict.fromkeys([*debugger.breakpoints.functions, requested["name"]])]
        )
    check_and_claim_functions(call, [requested])
    title = title_of(requested)
    debugger.breakpoints.collecting[call.focus.key, title] = requested
    debugger.expect_now(title, 0)
    untaken = await debugger.push_collecting().wait_for_failures()
    return with_notes(
        Reply(lines_of(_states(call, title, requested)), data_of_point(requested)), untaken
    )


async def remove_point(call: Call, name: str) -> Reply:
    """End collecting and stopping at functions in all programs; return whether there was any, as a reply.

    `name` is the function, or the title of the point that collects. Of points that collect only those of the calling client are removed;
    stopping there ends for all clients. The data is `removed`: whether anything was. Notes say where that failed.
    """
    at_functions, stops = call.debugger.breakpoints.collecting, call.debugger.breakpoints.functions
    gone = [
        each
        for each in call.debugger.breakpoints.at_functions(call.focus.key)
        if name in {each[1], at_functions[each]["name"]}
    ]
    if name in stops:
        call.debugger.breakpoints.stop_at([each for each in stops if each != name])
        unstopped = await call.debugger.push_functions().wait_for_failures()
        if not gone:
            return with_notes(
                Reply(f"Nothing stops at {name} any more.", {"removed": True}), unstopped
            )
    elif not gone:
        return Reply(f"No breakpoint at {name}; nothing changed.", {"removed": False})
    for each in gone:
        del at_functions[each]
    untaken = await call.debugger.push_collecting().wait_for_failures()
    answer = Reply(f"Nothing is collected at {name} any more.", {"removed": True})
    return with_notes(answer, untaken)


def lines_of_points(call: Call) -> list[str]:
    """Return the lines of all points that collect at functions: for each one per different state.

    The states are those in living sessions.
    """
    at_functions = call.debugger.breakpoints.collecting
    return [
        line for (_, title), each in at_functions.items() for line in _states(call, title, each)
    ]


def _states(call: Call, title: str, requested: RequestedFunction) -> list[str]:
    """Return the lines of one point that collects at functions: one for each different state."""
    live = call.debugger.sessions.live
    return list(dict.fromkeys(_state_lines(title, requested, live)))


def _state_lines(
    title: str, requested: RequestedFunction, live: Sequence[Session]
) -> Iterator[str]:
    """Yield the state of a point that collects at functions in each session, or why it does not collect.

    `title` is the key of the point. Sessions that leave their program to a child yield nothing. Without sessions one line says that it is
    not sent yet.
    """
    options = render.options(requested)
    for each in live:
        made = each.mirror.placed.collecting_at.get(title)
        if made is not None:
            yield f"{quoted(title)} {_state(made)}{options}"
        elif not each.delegates:
            yield f"{quoted(title)} not collected ({each.lines.why_not_at(requested, each.adapter)}){options}"
    if not live:
        yield f"{quoted(title)} {render.breakpoint_state(None)}{options}"


def _state(made: Breakpoint | None) -> str:
    """Return the state of a breakpoint in an adapter, with the adapter's message.

    `made` is the adapter's answer; None: no adapter has got it.
    """
    message = made.get("message") if made else None
    return f"{render.breakpoint_state(made)}{f': {message}' if message else ''}"


def data_of_point(requested: RequestedFunction) -> dict[str, Any]:
    """Return a point at functions as data, with the options that it has.

    The keys are `function` or `calls`, `collect`, `condition` and `max_hits`.
    """
    facts: dict[str, Any] = {
        "calls" if requested["calls"] else "function": quoted(requested["name"]),
        "collect": requested["collect"] or None,
        "condition": quoted(requested.get("condition") or "") or None,
        "max_hits": requested.get("maxHits"),
    }
    return {key: value for key, value in facts.items() if value is not None}
