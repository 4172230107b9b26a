"""Collecting by `sys.monitoring`, since Python 3.12: pydevd has a tool of its own there, and this is another one.

Codes are found when they begin or go on; after that Python tells only of the lines that have a point, and the rest runs at its own speed.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

contexts: Any = importlib.import_module("in_debuggee.dapeer_contexts")

TOOLS = (3, 4)
"""Numbers that no kind of tool has for itself."""
NAME = "dapeer"
current: Any = sys._getframe  # pyright: ignore[reportPrivateUsage]


class Road:
    """Has the recorders of lines called."""

    def __init__(self) -> None:
        self._tool: int | None = None
        self._bound: Any = None
        self._codes: dict[Any, Any] = {}
        of_python: Any = sys
        self._python: Any = of_python.monitoring

    def begin(self, bound: Any) -> str:
        """Record at these points from now on; return why that cannot be."""
        if self._tool is None:
            self._tool = next((each for each in TOOLS if not self._python.get_tool(each)), None)
            if self._tool is None:
                return "sys.monitoring has no number left for another tool"
            self._python.use_tool_id(self._tool, NAME)
        self._forget()
        self._bound = bound
        events = self._python.events
        self._python.register_callback(self._tool, events.PY_START, self._entered)
        self._python.register_callback(self._tool, events.PY_RESUME, self._entered)
        self._python.register_callback(self._tool, events.LINE, self._line)
        self._python.set_events(self._tool, events.PY_START | events.PY_RESUME)
        of_python: Any = sys
        for frame in of_python._current_frames().values():
            self._find_all(frame)
        # What was found to have no point may have one now.
        self._python.restart_events()
        return ""

    def end(self) -> None:
        """Record nothing more."""
        if self._tool is None:
            return
        self._forget()
        events = self._python.events
        self._python.set_events(self._tool, 0)
        for event in (events.PY_START, events.PY_RESUME, events.LINE):
            self._python.register_callback(self._tool, event, None)
        self._python.free_tool_id(self._tool)
        self._tool = None

    def _forget(self) -> None:
        """Have Python tell nothing of the codes that have points."""
        for code in self._codes:
            self._python.set_local_events(self._tool, code, 0)
        self._codes = {}

    def _find_all(self, frame: Any) -> None:
        """Do so for a frame and those that have called it."""
        while frame is not None:
            self._find(frame)
            frame = frame.f_back

    def _entered(self, _code: Any, _place: int) -> Any:
        """Look at a code that begins or goes on, once."""
        self._find(current(1))
        return self._python.DISABLE

    def _find(self, frame: Any) -> None:
        """Have the lines of a frame's code told if it has points."""
        code = frame.f_code
        if code in self._codes:
            return
        recorders = self._bound.recorders(frame)
        if recorders:
            self._codes[code] = recorders
            self._python.set_local_events(self._tool, code, self._python.events.LINE)

    def _line(self, code: Any, line: int) -> Any:
        """Record at a line; no more of one that has no point, or has enough."""
        record = self._codes.get(code, {}).get(line)
        if record is None:
            return self._python.DISABLE
        frame = current(1)
        if record(frame, contexts.context(frame)):
            return self._python.DISABLE
        return None
