"""Shows a person where the clients of this core collect, by signs in their Neovim."""

from __future__ import annotations

from dapeer.neovim.client import Neovim
from dapeer.sessions.breakpoints.breakpoints import Breakpoints

SHOW = "require('dapeer.editor.collecting').show(...)"
AT = "require('dapeer.editor.collecting').at(...)"


class CollectionSigns:
    """Keeps the signs of one Neovim equal to the points at which programs collect."""

    def __init__(self, breakpoints: Breakpoints, neovim: Neovim) -> None:
        """Begin to show changes of the points and functions that collect; `join` shows those that exist."""
        self._points = breakpoints.points
        self._functions = breakpoints.collecting
        self._neovim = neovim
        self._points.listeners.append(self._show)
        self._functions.listeners.append(self._send_functions)

    def close(self) -> None:
        """Stop showing changes; Neovim removes the signs when the core is gone."""
        self._points.listeners.remove(self._show)
        self._functions.listeners.remove(self._send_functions)

    def join(self) -> None:
        """Show all points and functions at which programs collect already."""
        for path in self._points.by_path:
            self._show(path)
        if self._functions:
            self._send_functions()

    def _show(self, path: str) -> None:
        """Send Neovim all points that collect in a file; they replace the signs that it shows there."""
        points = [
            {"line": each["line"], "collect": each.get("collect")} for each in self._points.of(path)
        ]
        self._neovim.send(SHOW, self._neovim.channel, path, points)

    def _send_functions(self) -> None:
        """Send Neovim the names of all functions at which programs collect, with their expressions."""
        named = [
            {"name": title, "collect": each["collect"]}
            for (_, title), each in self._functions.items()
        ]
        self._neovim.send(AT, self._neovim.channel, named)
