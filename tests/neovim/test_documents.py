"""The person's open files: which are changed, saving them, what is selected."""

import os
from pathlib import Path

from mcp import Client

from tests.harness import ask, read, refusal
from tests.neovim.editor import Editor
from tests.neovim.reviewing import as_before, everything, reviewing

EDIT = """
vim.cmd.edit(...)
vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'changed' })
"""


async def test_a_file_is_saved_where_nobody_else_has_changed_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo")
    async with reviewing(tmp_path) as (c, editor):
        dirty = {"success": True, "filePath": str(path), "isDirty": True, "isUntitled": False}
        closed = await ask(c, "nvim_check_document_dirty", filename="a.txt")
        assert closed == {
            "success": False,
            "filePath": str(path),
            "message": f"Neovim has no such file open: {path}.",
        }
        assert (await ask(c, "nvim_save_document", filename="a.txt")) == closed
        assert await editor.lua("return #vim.api.nvim_list_bufs()") == 1
        await editor.lua(EDIT, "a.txt")
        before = await everything(editor)
        for filename in ({}, {"filename": "a.txt"}, {"filename": str(path)}):
            assert await ask(c, "nvim_check_document_dirty", **filename) == dirty
        assert await read(c, "nvim_check_document_dirty") == "a.txt has unsaved changes."
        assert await ask(c, "nvim_save_document", filename="a.txt") == {
            "success": True,
            "filePath": str(path),
            "saved": True,
            "message": "a.txt is saved.",
        }
        assert path.read_bytes() == b"changed\r\ntwo\r\n"
        before["buffers"][str(await editor.lua("return vim.fn.bufnr()"))][1] = False
        await as_before(editor, before)
        assert await read(c, "nvim_save_document") == "a.txt has nothing to save."
        assert await read(c, "nvim_check_document_dirty") == "a.txt has no unsaved changes."
        # A new file, and one that is not shown.
        await editor.lua(EDIT, "new.txt")
        await editor.lua("vim.cmd.edit('a.txt')")
        assert await read(c, "nvim_save_document", filename="new.txt") == "new.txt is saved."
        assert (tmp_path / "new.txt").read_text(encoding="utf-8") == "changed\n"


def _write_later(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # By more than any clock's grain.
    os.utime(path, (2_000_000_000, 2_000_000_000))


async def _notices(editor: Editor) -> None:
    """Let Neovim see what is on the disk, and the person say: not now."""
    await editor.lua("""
      vim.api.nvim_create_autocmd('FileChangedShell', { callback = function() vim.v.fcs_choice = '' end })
      vim.cmd('silent! checktime')
    """)


async def _asked(c: Client, editor: Editor) -> str:
    """Try to save; nobody must be asked."""
    sentence = await refusal(c, "nvim_save_document", filename="a.txt")
    assert await editor.mode() == {"mode": "n", "blocking": False}
    return sentence


async def test_saving_is_refused_where_neovim_would_ask(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("vim.o.confirm = true")
        await editor.lua(EDIT, "a.txt")
        _write_later(path, "theirs\ntwo\n")
        await _notices(editor)
        for _ in range(2):
            assert "has changed on the disk" in await _asked(c, editor)
        assert path.read_text(encoding="utf-8") == "theirs\ntwo\n"
        # The same text with a new time is no change.
        _write_later(path, "one\ntwo\n")
        await _notices(editor)
        assert await read(c, "nvim_save_document", filename="a.txt") == "a.txt is saved."
        # What counts is what was written last, not what was read first.
        await editor.lua("vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'more' })")
        assert await read(c, "nvim_save_document", filename="a.txt") == "a.txt is saved."
        assert path.read_text(encoding="utf-8") == "changed\nmore\n"
        await editor.lua("vim.cmd('undo') vim.bo.readonly = true")
        assert "is read-only" in await _asked(c, editor)
        # What appears where a new file was meant to be.
        await editor.lua(EDIT, "new.txt")
        (tmp_path / "new.txt").write_text("theirs\n", encoding="utf-8")
        assert "has changed on" in await refusal(c, "nvim_save_document", filename="new.txt")
        for filename, reason in (("", "has no file"), (".env", "secrets"), ("99", "no buffer 99")):
            await editor.lua("vim.cmd('enew')")
            assert reason in await refusal(c, "nvim_save_document", filename=filename)
        await editor.lua(EDIT, "kept.txt")
        await editor.lua(
            "vim.api.nvim_create_autocmd('BufWriteCmd', { callback = function() end })"
        )
        assert "prevented the write of kept.txt" in await refusal(c, "nvim_save_document")
        assert await editor.mode() == {"mode": "n", "blocking": False}


SELECTED = "zero\nünd 🎉 so\nlast\n"


async def test_that_nothing_is_selected_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(SELECTED, encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("vim.cmd.edit('a.txt')")
        assert await ask(c, "nvim_get_selection") == {
            "success": True,
            "text": "",
            "filePath": str(path),
            "fileUrl": path.as_uri(),
            "selection": {
                "start": {"line": 0, "character": 0},
                "end": {"line": 0, "character": 0},
                "isEmpty": True,
            },
            "active": False,
        }
        assert (await read(c, "nvim_get_selection")).startswith("Nothing is selected in a.txt")


async def test_a_selection_is_told_and_not_ended(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(SELECTED, encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("vim.cmd.edit('a.txt')")
        for keys, mode, text, start, end in (
            ("2G0wv", "v", "🎉", (1, 4), (1, 6)),
            ("2G0wvb", "v", "ünd 🎉", (1, 0), (1, 6)),
            ("2GVj", "V", "ünd 🎉 so\nlast", (1, 0), (2, 4)),
            ("gg0<C-v>jl", "\x16", "ze\nün", (0, 0), (1, 2)),
        ):
            await editor.keys(keys)
            for now in (True, False):
                found = await ask(c, "nvim_get_selection")
                assert (found["text"], found["active"]) == (text, now)
                assert found["selection"] == {
                    "start": {"line": start[0], "character": start[1]},
                    "end": {"line": end[0], "character": end[1]},
                    "isEmpty": False,
                }
                assert (await editor.mode())["mode"] == (mode if now else "n")
                await editor.keys("<Esc>")
        assert (await read(c, "nvim_get_selection")).startswith("a.txt:1-2, selected last:\nze\n")


async def test_a_selection_is_told_from_elsewhere_by_name_and_a_large_one_is_cut(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text(SELECTED, encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("vim.cmd.edit('a.txt')")
        await editor.keys("gg0<C-v>jl<Esc>")
        await editor.lua("""
          vim.cmd('enew') vim.api.nvim_buf_set_lines(0, 0, -1, false, { ('ü'):rep(50000) })
          vim.cmd('normal! V')
        """)
        found = await ask(c, "nvim_get_selection", filename="a.txt")
        assert (found["text"], found["active"]) == ("ze\nün", False)
        await editor.lua("vim.cmd('normal! V')")
        await editor.keys("V<Esc>")
        text = (await ask(c, "nvim_get_selection"))["text"]
        assert text == "ü" * 32768 + "\n… (34464 more bytes; read the lines with nvim_buffer_read)"


async def test_open_editors_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1\n2\n", encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua(EDIT, "b.txt")
        await editor.lua("vim.cmd('badd c.txt') vim.cmd('edit a.py') vim.cmd('help')")
        found = await ask(c, "nvim_get_open_editors")
        assert [(one["label"], one["isActive"], one["isDirty"]) for one in found["tabs"]] == [
            ("b.txt", False, True),
            ("c.txt", False, False),
            ("a.py", True, False),
        ]
        assert found["tabs"][2] == {
            "uri": (tmp_path / "a.py").as_uri(),
            "isActive": True,
            "isPinned": False,
            "isPreview": False,
            "isDirty": False,
            "label": "a.py",
            "groupIndex": 0,
            "viewColumn": 1,
            "isGroupActive": True,
            "fileName": str(tmp_path / "a.py"),
            "languageId": "python",
            "lineCount": 2,
            "isUntitled": False,
            "selection": {
                "start": {"line": 0, "character": 0},
                "end": {"line": 0, "character": 0},
                "isEmpty": True,
            },
        }
        assert (
            await read(c, "nvim_get_open_editors", start=1, count=1)
            == "c.txt\n… 1 more: start = 2."
        )
        assert await read(c, "nvim_get_open_editors") == (
            "b.txt (unsaved changes)\nc.txt\na.py (the person is here)"
        )
