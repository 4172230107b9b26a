"""Shows a person where the clients of this core collect, by signs in their Neovim."""

from __future__ import annotations

from dapeer.neovim.client import Neovim
from dapeer.sessions.collection_points import CollectionPoints

SHOW = "require('dapeer.editor.collecting').show(...)"


class CollectionSigns:
    """Keeps the signs of one Neovim equal to the points at which programs collect."""

    def __init__(self, points: CollectionPoints, neovim: Neovim) -> None:
        self._points = points
        self._neovim = neovim
        points.listeners.append(self._show)

    def close(self) -> None:
        """Show nothing more; the signs go with the core."""
        self._points.listeners.remove(self._show)

    def join(self) -> None:
        """Show what is collected already."""
        for path in self._points.by_path:
            self._show(path)

    def _show(self, path: str) -> None:
        points = [
            {"line": each["line"], "collect": each.get("collect")} for each in self._points.of(path)
        ]
        self._neovim.send(SHOW, self._neovim.channel, path, points)
