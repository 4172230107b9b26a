"""Several Neovims at once, each an IDE of Claude Code, and one that changes its directory."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.neovim.claude import HEADER, Cli, all_locks, cli, lock, offered, texts_of
from tests.neovim.editor import Editor
from tests.processes import process_gone


@dataclass
class Pair:
    """A Neovim and a CLI that is connected to it."""

    editor: Editor
    claude: Cli
    file: Path

    async def looks(self) -> str:
        """Let the CLI open its file; return which file it hears of then."""
        await self.claude.texts("openFile", filePath=str(self.file))
        return (await self.claude.hears("selection_changed"))["filePath"]


@asynccontextmanager
async def pair(home: Path, name: str) -> AsyncGenerator[Pair]:
    """Start a Neovim in a user's only project, and connect a CLI."""
    own, file = home / name, home / f"{name}.txt"
    own.mkdir()
    file.write_text("text\n", encoding="utf-8")
    async with (
        offered(own, home=home, cwd=home) as editor,
        cli(home, lambda told: told["pid"] == editor.pid) as claude,
    ):
        yield Pair(editor, claude, file)


async def test_neovims_in_one_directory_are_each_an_ide_until_they_end(tmp_path: Path) -> None:
    async with pair(tmp_path, "first") as first, pair(tmp_path, "second") as second:
        known = {told["pid"]: (port, told) for port, told in all_locks(tmp_path)}
        port, told = known.pop(first.editor.pid)
        [(_, kept)] = known.values()
        with pytest.raises(InvalidStatus, match="401"):
            await connect(f"ws://127.0.0.1:{port}", additional_headers={HEADER: kept["authToken"]})
        for one in (second, first):
            assert await one.looks() == str(one.file)
        answer = first.claude.calls("openDiff", new_file_path="a.txt", new_file_contents="new\n")
        await first.editor.wait_for_notification("opened")
        assert await second.claude.texts("closeAllDiffTabs") == ["CLOSED_0_DIFF_TABS"]
        assert await second.editor.lua("return #vim.api.nvim_list_tabpages()") == 1
        await first.editor.keys(":qa!<CR>")
        assert (await texts_of(answer))[0] == "DIFF_REJECTED"
        await first.editor.ended()
        await process_gone(told["dapeer"])
        assert lock(tmp_path)[1] == kept
        assert await second.claude.texts("openFile", filePath=str(first.file))
        heard = await second.claude.hears("selection_changed")
        assert heard["filePath"] == str(first.file)
        assert first.claude.told.empty()


async def test_a_neovim_that_changes_its_directory_is_found_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        port, told = lock(tmp_path)
        await editor.lua("vim.cmd.cd('elsewhere')")
        # Neovim has told it before it answers this.
        await claude.texts("getCurrentSelection")
        moved = str(tmp_path / "elsewhere")
        assert lock(tmp_path) == (port, {**told, "workspaceFolders": [moved]})
        folders = json.loads((await claude.texts("getWorkspaceFolders"))[0])
        assert folders["rootPath"] == moved
