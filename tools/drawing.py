"""Draws what stands on screens, as SVG, and reads it again."""

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
TEXT = re.compile(r'<text class="dapeer-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>')
CELL = 12.2
"""How wide rich draws one column."""

THEME = TerminalTheme(
    (0x14, 0x16, 0x1B), (0xE0, 0xE2, 0xEA),
    [(0x07, 0x08, 0x0D), (0xFF, 0xC0, 0xB9), (0xB3, 0xF6, 0xC0), (0xFC, 0xE0, 0x94), (0xA6, 0xDB, 0xFF), (0xFF, 0xCA, 0xFF), (0x8C, 0xF8, 0xF7), (0xE0, 0xE2, 0xEA)],
)  # fmt: skip
"""The colours of Neovim's own default scheme."""


@dataclass(frozen=True)
class Panel:
    """One screen, or what somebody reads."""

    caption: str
    lines: Sequence[Text]


def drawn(title: str, panels: Sequence[Panel], width: int) -> str:
    """Return panels below each other as SVG, `width` columns wide."""
    console = Console(record=True, width=width, file=io.StringIO(), legacy_windows=False)
    for panel in panels:
        caption = Text(f" {panel.caption}".ljust(width), "reverse")
        for line in (caption, *panel.lines):
            console.print(line, no_wrap=True, overflow="ellipsis", highlight=False)
    svg = console.export_svg(title=title, theme=THEME, unique_id="dapeer")
    # Where pictures are shown, no font is fetched for them.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", FONT)


def words(svg: str) -> list[str]:
    """Return what is to be read in a picture, line by line."""
    lines: dict[float, str] = {}
    for x, y, text in TEXT.findall(svg):
        before = lines.get(float(y), "")
        lines[float(y)] = before.ljust(round(float(x) / CELL)) + html.unescape(text)
    return [lines[y].replace("\xa0", " ").rstrip() for y in sorted(lines)]
