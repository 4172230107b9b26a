"""What a Neovim's screen shows, with its colours: a second screen beside that of the test, as `:help ui-linegrid` has it."""

import asyncio
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, cast

from rich.style import Style
from rich.text import Text

from tests.neovim.wire import Wire

Cell = tuple[str, int]
"""A character, and the number of its highlight."""


async def screen(socket: str, columns: int, rows: int) -> list[Text]:
    """Return the rows of the screen of the Neovim that listens there."""
    grid = _Grid(*await asyncio.open_unix_connection(socket))
    try:
        await grid.request("nvim_ui_attach", columns, rows, {"rgb": True, "ext_linegrid": True})
        # What is drawn by it comes before its answer.
        await grid.request("nvim_command", "redraw!")
        return grid.rows()
    finally:
        await grid.aclose()


class _Grid(Wire):
    """A connection that keeps what is drawn. After `:redraw!` everything has been, so no scrolling is followed."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._cells: list[list[Cell]] = []
        self._highlights: dict[int, Mapping[str, Any]] = {}
        super().__init__(reader, writer)

    def rows(self) -> list[Text]:
        return [Text.assemble(*self._runs(row)) for row in self._cells]

    def _runs(self, row: list[Cell]) -> Iterator[tuple[str, Style]]:
        """Yield what stands side by side in one highlight."""
        for number, run in itertools.groupby(row, lambda cell: cell[1]):
            yield "".join(text for text, _ in run), _style(self._highlights.get(number, {}))

    def _take(self, message: list[Any]) -> None:
        super()._take(message)
        if message[1] == "redraw":
            for name, *events in message[2]:
                for event in events:
                    self._draw(name, event)

    def _draw(self, name: str, event: list[Any]) -> None:
        match name, event:
            case "grid_resize", [_, columns, rows]:
                self._cells = [[(" ", 0)] * columns for _ in range(rows)]
            case "hl_attr_define", [number, rgb, *_]:
                self._highlights[number] = cast("Mapping[str, Any]", rgb)
            case "grid_line", [_, row, column, cells, *_]:
                drawn = [*_cells(cells)]
                self._cells[row][column : column + len(drawn)] = drawn
            case _:
                pass


def _cells(told: list[list[Any]]) -> Iterator[Cell]:
    highlight = 0
    for text, *more in told:
        highlight = more[0] if more else highlight
        yield from [(text, highlight)] * (more[1] if len(more) > 1 else 1)


def _style(highlight: Mapping[str, Any]) -> Style:
    return Style(
        color=_colour(highlight.get("foreground")),
        bgcolor=_colour(highlight.get("background")),
        bold=highlight.get("bold"),
        reverse=highlight.get("reverse"),
    )


def _colour(rgb: int | None) -> str | None:
    return None if rgb is None else f"#{rgb:06x}"
