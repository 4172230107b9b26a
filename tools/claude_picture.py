"""The picture of docs/claude-code.md: a person asks Claude Code in Neovim, and its change opens as a diff.

`uv run python -m tools.claude_picture` takes it: Neovim, dapeer and Claude Code are real, and so is what stands on the screen. What the
person types and what the model wants is written down here.
"""

import asyncio
import tempfile
from pathlib import Path

from rich.text import Text

from tests.hosts.test_claude_ide import Desk, desk, proposes
from tests.neovim.coloured import screen
from tests.programs import ROOT
from tools.drawing import Panel, drawn

PICTURE = ROOT / "docs" / "claude-code.svg"
TITLE = "Claude Code in Neovim"
WIDTH, HEIGHT = 110, 20
ROWS_OF_A_CHANGE = 5
BARE = "vim.o.termguicolors, vim.o.laststatus, vim.o.showtabline = true, 0, 0"
"""What the person has configured: without the lines that would name the folders of this machine."""


async def scene(folder: Path) -> list[Panel]:
    """Let a person select a function and ask for a change; return how that looks, and how the change is shown."""
    async with desk(folder) as at:
        await at.editor.wire.request("nvim_ui_try_resize", WIDTH, HEIGHT)
        await at.editor.lua(BARE)
        await at.editor.keys("<C-\\><C-n><C-w>pggVj")
        await at.sees("2 lines selected")
        await at.editor.keys("<Esc><C-w>pi")
        await at.editor.keys(asked := proposes(at))
        await at.sees(asked)
        asking = Panel("You ask Claude Code about what you have selected", await rows(at))
        await at.editor.keys("<CR>")
        await at.editor.wait_for_notification("opened")
        change = (await rows(at))[:ROWS_OF_A_CHANGE]
        deciding = Panel("Its change opens as a diff: edit it, and :w accepts it", change)
    return [asking, deciding]


async def rows(at: Desk) -> list[Text]:
    """Return what Neovim shows."""
    return (await screen(at.editor.socket, WIDTH, HEIGHT))[:-1]


def take() -> str:
    """Return the picture as it looks now."""
    with tempfile.TemporaryDirectory(prefix="picture-") as folder:
        return drawn(TITLE, asyncio.run(scene(Path(folder).resolve())), WIDTH)


if __name__ == "__main__":
    PICTURE.write_text(take(), "utf-8")
