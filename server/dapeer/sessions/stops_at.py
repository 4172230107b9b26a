"""Where a session stops besides lines: at functions, and at kinds of exceptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dapeer.dap.exception_filters import Filters
from dapeer.dap.messages import Body
from dapeer.dap.requests import exception_arguments
from dapeer.dap.types import FunctionBreakpoint
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.fetching import SendRequest


class StopsAt:
    """The breakpoints of a session that are on no line."""

    def __init__(
        self, adapter: str, mirror: Mirror, request: SendRequest, supports: Callable[[str], bool]
    ) -> None:
        self.filters = Filters()
        """The exception filters: the adapter's, and those that dapeer makes."""
        self.own: Sequence[str] = ()
        """Functions at which the program stops, in addition to the function breakpoints."""
        self.conditions: Mapping[str, str] | None = None
        """By exception filter: its condition, as far as the adapter supports it."""
        self._adapter = adapter
        self._mirror = mirror
        self._request = request
        self._supports = supports
        self._wanted: Sequence[str] = ()
        self._of_filters: tuple[str, ...] = ()

    async def functions(self, names: Sequence[str]) -> None:
        """Set the function breakpoints, together with the program's own functions and those of filters."""
        self._wanted = names
        every = dict.fromkeys([*names, *self.own, *self._of_filters])
        wanted: list[FunctionBreakpoint] = [{"name": name} for name in every]
        await self._request("setFunctionBreakpoints", {"breakpoints": wanted})

    async def exceptions(self, texts: Sequence[str]) -> None:
        """Stop at these kinds of exceptions, and at no others; each is a filter, a type, or `filter:type`."""
        functions = self.filters.functions(texts)
        if functions != self._of_filters and self._supports("setFunctionBreakpoints"):
            self._of_filters = functions
            await self.functions(self._wanted)
        if self._supports("setExceptionBreakpoints"):
            await self._request("setExceptionBreakpoints", self._arguments(texts))

    def _arguments(self, texts: Sequence[str]) -> Body:
        offered = self._mirror.exception_filters
        if self.conditions and self._supports("exceptionFilterOptions"):
            return exception_arguments([each for each in texts if each in offered], self.conditions)
        return self.filters.arguments(texts, offered)

    def check(self, texts: Sequence[str]) -> None:
        """Raise `ArgumentError` when the adapter cannot stop at one of these kinds of exceptions."""
        self.filters.check(texts, self._mirror.exception_filters, self._adapter)

    def standing(self, texts: Sequence[str] | None) -> Sequence[str] | None:
        """Return those of `texts` that the adapter can stop at, None: its defaults; None when it has no filters."""
        return self.filters.standing(texts, self._mirror.exception_filters)
