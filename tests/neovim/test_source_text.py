"""The text that a person sees at a stop, and the text that the program has loaded."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask
from tests.neovim.editor import neovim
from tests.neovim.joint import attached
from tests.neovim.person import Person
from tests.neovim.test_following import comes_true

SOURCE = "one = 1\ntwo = 2\nthree = 3\nfour = 4\n"
LINE_OF_SIGN = """
local session = require('dap').session()
local sign = vim.fn.sign_getplaced(vim.fn.bufnr('shop.py'), { group = session.sign_group })[1].signs[1]
return vim.fn.getbufline('shop.py', sign.lnum)[1]
"""
"""The text under the arrow."""
NOTE = """
local names = vim.api.nvim_get_namespaces()
local marks = vim.api.nvim_buf_get_extmarks(0, names['dapeer.source_text'], 0, -1, { details = true })
return vim.tbl_map(function(mark) return mark[4].virt_text[1][1] end, marks)
"""


async def notes(person: Person) -> list[str]:
    """Return what stands beside the arrow about the text."""
    return list(await person.editor.lua(NOTE))


async def runs(client: Client, source: Path, line: int) -> None:
    """Let the assistant start the program, up to a line."""
    await ask(
        client,
        "dap_run",
        program=str(source),
        breakpoints=[{"filename": str(source), "line": line}],
    )


@asynccontextmanager
async def opened(tmp_path: Path, text: str = SOURCE) -> AsyncGenerator[tuple[Client, Person, Path]]:
    """Let a person have the program open, with a change of theirs to undo, and an assistant."""
    source = tmp_path / "shop.py"
    source.write_bytes(text.encode())
    async with (
        neovim(tmp_path, ui=True, setup={"follow": "always"}, cwd=tmp_path) as editor,
        attached(editor, tmp_path) as (client, _),
    ):
        await editor.keys(":edit shop.py<CR>Go# mine<Esc>:write<CR>:2<CR>")
        await comes_true(editor, "vim.fn.line('.') == 2 and not vim.bo.modified")
        yield client, Person(editor), source


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("starter", ["assistant", "person"])
async def test_a_file_that_was_changed_on_the_disk_is_read_again_before_its_first_stop(
    tmp_path: Path, starter: str, ends: str
) -> None:
    async with opened(tmp_path, SOURCE.replace("\n", ends)) as (client, person, source):
        source.write_bytes((ends.join(["# a", "# b", ""]) + SOURCE.replace("\n", ends)).encode())
        if starter == "assistant":
            await runs(client, source, 5)
        else:
            await ask(client, "dap_set_breakpoint", filename=str(source), line=5)
            await person.run(str(source))
        await person.sees_stop(5)
        assert await person.editor.lua(LINE_OF_SIGN) == "three = 3"
        assert await notes(person) == []
        # What the person had done can be undone still.
        assert await person.editor.lua("return vim.fn.undotree().seq_cur") > 0
        await ask(client, "dap_terminate")


async def test_a_file_that_is_changed_while_its_program_runs_keeps_the_text_that_was_loaded(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (client, person, source):
        await runs(client, source, 2)
        await person.sees_stop(2)
        source.write_text("# new\n" + SOURCE)
        await ask(client, "dap_step_over")
        await person.sees_stop(3)
        assert await person.editor.lua(LINE_OF_SIGN) == "three = 3"
        (note,) = await notes(person)
        assert "the file was changed after the program started" in note
        await ask(client, "dap_continue")
        assert await notes(person) == []


@pytest.mark.parametrize(("keys", "noted"), [("ggO# new<Esc>", True), ("Go# new<Esc>", False)])
async def test_unsaved_changes_that_move_the_line_of_a_stop_are_noted_beside_the_arrow(
    tmp_path: Path, keys: str, noted: bool
) -> None:
    async with opened(tmp_path) as (client, person, source):
        await runs(client, source, 2)
        await person.sees_stop(2)
        await person.editor.keys(keys)
        await comes_true(person.editor, "vim.bo.modified and vim.fn.mode() == 'n'")
        await ask(client, "dap_step_over")
        await person.sees_stop(3)
        assert ["unsaved changes" in note for note in await notes(person)] == [True] * noted
        await ask(client, "dap_terminate")


async def test_who_wants_to_be_asked_before_a_file_is_read_again_reads_that_it_differs(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (client, person, source):
        await person.editor.lua("vim.o.autoread = false")
        source.write_text("# new\n" + SOURCE)
        await runs(client, source, 4)
        await person.sees_stop(4)
        assert await person.editor.lua("return vim.fn.getline(1)") == "one = 1"
        (note,) = await notes(person)
        assert "the file has another text on the disk" in note
        await ask(client, "dap_terminate")
