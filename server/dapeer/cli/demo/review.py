"""The second half of `dapeer demo --nvim`: the fix is proposed as a diff, and the person decides.

Their Neovim has a linter (Python's own compiler) and a tool that they have written in Lua.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mcp import Client
from mcp.types import TextContent

from dapeer.base.system.tasks import BackgroundTask
from dapeer.cli.demo.neovim import Seat
from dapeer.cli.demo.person import Person
from dapeer.cli.demo.transcript import call, expect, say, show

WRONG: Final = "        return total * (1 - self.discount)"
TYPO: Final = "        return (total"
RIGHT: Final = "        return total"

CONFIGURATION: Final = Path(__file__).with_name("configuration.lua")
"""Theirs; its `...` are this Python and the channel to tell what they see by."""


async def review(client: Client, seat: Seat, somebody: Person, shop: Path) -> None:
    """Play the story; `shop` is the file that is fixed."""
    await seat.configure(CONFIGURATION.read_text(encoding="utf-8"))
    say("It shows the person what it would change: a diff in Neovim. Both sides of it:")
    await _proposes(client, somebody, shop, TYPO)
    say(
        "The person has not looked closely. The file is written, and their linter, which the assistant can read, says:"
    )
    await somebody.sees("linted")
    wrong = await call(client, "nvim_diagnostics_list", filename=shop.name)
    expect("never closed" in str(wrong), "the linter should find the typo")

    say("So once more.")
    await _proposes(client, somebody, shop, RIGHT)
    await somebody.sees("linted")
    await call(client, "nvim_diagnostics_list", filename=shop.name)
    say(
        "The person has a tool of their own, a dozen lines of Lua in their configuration. The assistant can call it, too."
    )
    await call(client, "nvim_amount_to_pay")


async def _proposes(client: Client, somebody: Person, shop: Path, line: str) -> None:
    proposal = _with(line, shop)
    arguments = {"new_file_path": str(shop), "new_file_contents": proposal}
    show(f'\n→ nvim_open_diff(new_file_path="{shop.name}", new_file_contents="…")')
    waiting = BackgroundTask(client.call_tool("nvim_open_diff", arguments))
    await somebody.sees("diff")
    show("\n".join(await somebody.looks(lines=10)))
    say("ZZ accepts it.")
    await somebody.types("ZZ")
    await waiting.ended()
    content = waiting.result().content
    outcome, final = (part.text for part in content if isinstance(part, TextContent))
    show(f"{outcome}, and the final text: {len(final.splitlines())} lines")
    expect(
        (outcome, final) == ("FILE_SAVED", proposal), "the person should accept what was proposed"
    )
    # What an assistant then does with its own tool for writing files.
    _write(shop, final)


def _with(line: str, shop: Path) -> str:
    text = shop.read_text(encoding="utf-8")
    return text.replace(WRONG if WRONG in text else TYPO, line)


def _write(shop: Path, text: str) -> None:
    shop.write_text(text, encoding="utf-8")
