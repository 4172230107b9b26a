"""The picture of the README: a person's Neovim, and below it what their assistant asks and reads.

`uv run python -m tests.picture` takes it: Neovim, nvim-dap, debugpy and dapeer are real, and so is what stands on the screen. What the
two do is written down here.
"""

import asyncio
import html
import io
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mcp import Client
from mcp.types import TextContent
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.neovim.coloured import screen
from tests.neovim.editor import neovim
from tests.neovim.joint import attached
from tests.neovim.person import Person
from tests.programs import PROGRAMS, ROOT

PICTURE = ROOT / "docs" / "picture.svg"
TITLE = "shop.py asks for 81.00 and should ask for 90.00. Why?"
WIDTH, HEIGHT = 100, 19
"""Neovim's columns and rows. Its last row, for messages, is left out."""
TOP = 20
"""The first line of the program that is shown."""

RC = """
vim.o.termguicolors, vim.o.number, vim.o.laststatus = true, true, 0
vim.fn.sign_define('DapBreakpoint', { text = '●', texthl = 'DiagnosticError' })
vim.fn.sign_define('DapBreakpointCondition', { text = '◆', texthl = 'DiagnosticWarn' })
vim.fn.sign_define('DapStopped', { text = '→', texthl = 'DiagnosticOk', linehl = 'Visual' })
"""
"""What the person has configured."""

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
class Scene:
    """What is to be seen."""

    screen: list[Text]
    """Neovim's, row by row."""
    transcript: list[Text]
    """What the assistant has asked and read, line by line."""


async def scene(folder: Path) -> Scene:
    """Let a person and an assistant debug the shop together; return how that looks at the end."""
    shop, lines = _shop(folder)
    add, total, ready = (lines[marker] for marker in ("add", "total", "order_ready"))
    async with (
        neovim(folder, rc=RC, setup={}, ui=True, cwd=shop.parent) as editor,
        attached(editor, shop.parent) as (client, _),
    ):
        person = Person(editor)
        await editor.wire.request("nvim_ui_try_resize", WIDTH, HEIGHT)
        await person.breaks_at(shop, ready)
        await person.run(str(shop))
        await person.sees_stop(ready)
        transcript = [
            *await _call(
                client,
                "dap_set_breakpoint",
                filename="shop.py",
                line=add,
                condition="item.name == 'spoon'",
            ),
            *await _call(
                client,
                "dap_continue",
                evaluate=["item.price * item.quantity", "item.cost(self.discount)"],
            ),
            *await _call(
                client,
                "dap_run_to",
                filename="shop.py",
                line=total,
                evaluate=["total * (1 - self.discount)"],
            ),
        ]
        await person.sees_stop(total)
        await editor.lua("vim.fn.winrestview({ topline = ... })", TOP)
        return Scene((await screen(editor.socket, WIDTH, HEIGHT))[:-1], transcript)


def _shop(folder: Path) -> tuple[Path, dict[str, int]]:
    """Write the program without the marks of its lines; return where, and the lines by their marks."""
    marked = (PROGRAMS / "shop.py").read_text("utf-8").splitlines()
    found = ((number, re.search(r" +# @(\w+)$", line)) for number, line in enumerate(marked, 1))
    lines = {match[1]: number for number, match in found if match}
    shop = folder / "shop" / "shop.py"
    shop.parent.mkdir()
    shop.write_text("".join(re.sub(r" +# @\w+$", "", line) + "\n" for line in marked), "utf-8")
    return shop, lines


async def _call(client: Client, tool: str, **arguments: object) -> list[Text]:
    given = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    assert not result.is_error, text
    called = Text(f"→ {tool}", "bold cyan").append(f"({given})", "not bold cyan")
    return [Text(), called, *(Text(f"  {line}") for line in text.splitlines())]


def drawn(scene: Scene) -> str:
    """Return a scene as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    you, assistant = (
        Text(f" {who}".ljust(WIDTH), "reverse")
        for who in ("You, in Neovim: shop.py", "Your assistant")
    )
    for line in (you, *scene.screen, assistant, *scene.transcript):
        console.print(line, no_wrap=True, overflow="ellipsis", highlight=False)
    svg = console.export_svg(title=TITLE, theme=THEME, unique_id="dapeer")
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


def take() -> str:
    """Return the picture as it looks now."""
    with tempfile.TemporaryDirectory(prefix="picture-") as folder:
        return drawn(asyncio.run(scene(Path(folder).resolve())))


if __name__ == "__main__":
    PICTURE.write_text(take(), "utf-8")
