"""Where a session stops besides lines: at functions, and at kinds of exceptions."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

import anyio

from dapeer.dap.requested_breakpoints import function_breakpoint
from dapeer.dap.requests import exception_arguments
from dapeer.dap.sent_requests import SendRequest
from dapeer.dap.types import (
    Breakpoint,
    SetBreakpointsResponseBody,
    SetExceptionBreakpointsArguments,
)
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.traits import Traits

NEVER = "1 == 2"
"""A condition that holds in no language."""
SECONDS_TO_UNDO = 2.0
"""Seconds for which the answer is awaited that a function breakpoint is gone which was only tried."""


class FunctionsAndFilters:
    """The breakpoints of a session that are on no line."""

    def __init__(
        self,
        adapter: str,
        mirror: Mirror,
        request: SendRequest,
        supports: Callable[[str], bool],
        traits: Traits,
    ) -> None:
        """Keep one session's function breakpoints and exception filters; nothing is sent yet.

        `supports` tells whether the adapter has a request or an option.
        """
        self.filters = traits.stopping.filters
        """The exception filters: the adapter's, and those that dapeer makes."""
        self.own_functions = traits.functions
        """Functions at which the program stops, in addition to the function breakpoints."""
        self._conditions = traits.conditions
        self._adapter = adapter
        self._mirror = mirror
        self._request = request
        self._supports = supports
        self._function_names: Sequence[str] = ()
        self._of_filters: tuple[str, ...] = ()
        self._function_log_points: Sequence[Mapping[str, Any]] = ()
        self._set_lock = anyio.Lock(fast_acquire=True)

    async def set_functions(self, names: Sequence[str]) -> None:
        """Send function breakpoints for these names, the session's own functions, and those of filters."""
        self._function_names = names
        async with self._set_lock:
            await self._set(self._all_function_breakpoints)

    async def set_function_log_points(self, logging: Sequence[Mapping[str, Any]]) -> None:
        """Send all function breakpoints, with the log points `logging` in place of the last ones.

        Each of `logging` is a function breakpoint with `name` and what it logs. The caller checks that the adapter's function breakpoints
        have log messages.
        """
        self._function_log_points = logging
        async with self._set_lock:
            await self._set(self._all_function_breakpoints)

    @contextlib.asynccontextmanager
    async def temporary_breakpoint(self, name: str) -> AsyncGenerator[Breakpoint]:
        """Set one more function breakpoint, at `name`, while the body runs; yield the adapter's answer on it.

        The new breakpoint has a condition that is never true, if the adapter supports conditions, so that it
        stops nothing; with another adapter it may stop the program. Earlier breakpoints at the same function are
        left out while the body runs. Afterwards they are set again and the new one is removed, also after an
        error and when the caller is cancelled. If the adapter does not answer that within `SECONDS_TO_UNDO`, the
        wait ends without an error. An unverified breakpoint is yielded if the adapter answers none. The body must
        not set function breakpoints by this object, whose lock is held.

        Raises:
            DapeerError: The adapter rejects a request, or does not answer.
        """
        async with self._set_lock:
            others = [each for each in self._all_function_breakpoints if each["name"] != name]
            tried: dict[str, Any] = {"name": name}
            if self._supports("condition"):
                tried["condition"] = NEVER
            before = {made.get("id") for _, made in self._mirror.breakpoint_statuses.functions}
            try:
                body = await self._set([*others, tried])
                made: list[Breakpoint] = body.get("breakpoints") or []
                # Some answer in an order of their own.
                new = [each for each in made if each.get("id") not in before]
                yield new[0] if len(new) == 1 else made[-1] if made else Breakpoint(verified=False)
            finally:
                # Also when the caller's time is over: the program would stop there.
                with anyio.move_on_after(SECONDS_TO_UNDO, shield=True):
                    await self._set(self._all_function_breakpoints)

    @property
    def _all_function_breakpoints(self) -> list[Mapping[str, Any]]:
        """All function breakpoints to send: of names, each once, and those that log."""
        names = dict.fromkeys([*self._function_names, *self.own_functions, *self._of_filters])
        return [*map(function_breakpoint, names), *self._function_log_points]

    async def _set(self, requested: Sequence[Mapping[str, Any]]) -> SetBreakpointsResponseBody:
        """Send `setFunctionBreakpoints` with these breakpoints; return the response's body."""
        return await self._request("setFunctionBreakpoints", {"breakpoints": requested})

    async def set_exceptions(self, texts: Sequence[str]) -> None:
        """Send the exception filters `texts`, in place of all others.

        Each is a filter, a type, or `filter:type`. Filters that stand for functions are sent as function breakpoints. The others are not
        sent if the adapter has no `setExceptionBreakpoints`.
        """
        arguments = await self.prepare_exceptions(texts)
        if self._supports("setExceptionBreakpoints"):
            await self._request("setExceptionBreakpoints", arguments)

    async def prepare_exceptions(self, texts: Sequence[str]) -> SetExceptionBreakpointsArguments:
        """Return the arguments of `setExceptionBreakpoints` for `texts`; send the filters that are functions.

        Each of `texts` is a filter, a type, `filter:type` or `filter:condition`; those that the adapter does not support
        are dropped. Filters that stand for functions are sent at once as function breakpoints, if they have changed and
        the adapter supports function breakpoints, and are not in the arguments. If the plan has conditions for filters
        and the adapter supports `exceptionFilterOptions`, only texts that are filters of the adapter are in the
        arguments, with their conditions: types and conditions in `texts` are dropped then. `setExceptionBreakpoints`
        itself is not sent.

        Raises:
            DapeerError: The adapter rejects the function breakpoints, or does not answer; the next call sends them again.
        """
        functions = self.filters.functions(texts)
        if functions != self._of_filters and self._supports("setFunctionBreakpoints"):
            before, self._of_filters = self._of_filters, functions
            try:
                await self.set_functions(self._function_names)
            except BaseException:
                self._of_filters = before
                raise
        offered = self._mirror.exception_filters
        if self._conditions and self._supports("exceptionFilterOptions"):
            chosen = [each for each in texts if each in offered]
            return exception_arguments(chosen, self._conditions)
        return self.filters.arguments(texts, offered)

    def check(self, texts: Sequence[str]) -> None:
        """Raise `ArgumentError` if the adapter cannot stop at one of these filters, types, or `filter:type`."""
        self.filters.check(texts, self._mirror.exception_filters, self._adapter)

    def filters_at_start(self, texts: Sequence[str] | None) -> Sequence[str] | None:
        """Return the exception filters to send at a start: those of `texts` that the adapter has.

        If `texts` is None, these are the adapter's default filters. None: the adapter has no exception filters, so no request is to be
        sent.
        """
        return self.filters.filters_at_start(texts, self._mirror.exception_filters)
