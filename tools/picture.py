"""The picture of the README: a person's Neovim, and below it what their assistant asks and reads.

`uv run python -m tools.picture` takes it: Neovim, nvim-dap, debugpy and dapeer are real, and so is what stands on the screen. What the
two do is written down here.
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path

from mcp import Client
from mcp.types import TextContent
from rich.text import Text

from tests.neovim.coloured import screen
from tests.neovim.editor import neovim
from tests.neovim.joint import attached
from tests.neovim.person import Person
from tests.programs import PROGRAMS, ROOT
from tools.drawing import Panel, drawn

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


async def scene(folder: Path) -> list[Panel]:
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
        shown = (await screen(editor.socket, WIDTH, HEIGHT))[:-1]
        return [Panel("You, in Neovim: shop.py", shown), Panel("Your assistant", transcript)]


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


def take() -> str:
    """Return the picture as it looks now."""
    with tempfile.TemporaryDirectory(prefix="picture-") as folder:
        return drawn(TITLE, asyncio.run(scene(Path(folder).resolve())), WIDTH)


if __name__ == "__main__":
    PICTURE.write_text(take(), "utf-8")
