"""What a diff shows and returns: any text byte for byte, any file, and the disk left alone."""

from pathlib import Path

from tests.harness import refusal
from tests.neovim.editor import Editor
from tests.neovim.reviewing import (
    as_before,
    bars,
    everything,
    file,
    proposed,
    reviewing,
    unchanged,
)

TEXTS = [
    "",
    "\n",
    "\n\n",
    "one\ntwo\n",
    "no newline\nat the end",
    "one\r\ntwo\r\n",
    "one\r\ntwo",
    "mixed\r\nends\n",
    "mixed\r\nends\r",
    "old Mac\rends\r",
    "\r\n",
    "\ufeffwith a BOM\n",
    "\ufeff",
    "\ufeffBOM\r\nand CRLF",
    "ü 🎉 \u2028 \x1b[0m \x7f\ttab\n",
]


async def test_a_text_comes_back_byte_for_byte(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        for old in ("", "one\r\ntwo\n"):
            with file(tmp_path / "a.txt", old.encode()):
                for text in TEXTS:
                    proposal = await proposed(c, editor, "a.txt", text)
                    await editor.keys("ZZ")
                    assert await proposal.answer() == ["FILE_SAVED", text]
        # A large one, too; one that the person has changed keeps its ends.
        large = "".join(f"line {number} {'x' * 90}\r\n" for number in range(20_000))
        proposal = await proposed(c, editor, "large.txt", large)
        await editor.keys("O\x16u00e9<Esc>:w<CR>")
        assert await proposal.answer() == ["FILE_SAVED", "é\r\n" + large]
        for text, keys, edited in (
            ("a\nb", "Gonew<Esc>", "a\nb\nnew"),
            ("", "iwords<Esc>", "words\n"),
            ("a\n", "dd", ""),
            ("a\n", ":s/a//<CR>", "\n"),
            ("a\nb\n", ":set ff=dos<CR>", "a\r\nb\r\n"),
            ("a\n", "u", "a\n"),
        ):
            proposal = await proposed(c, editor, "a.txt", text)
            await editor.keys(keys + "ZZ")
            assert await proposal.answer() == ["FILE_SAVED", edited], keys


async def test_hunks_are_taken_back_as_in_any_diff(tmp_path: Path) -> None:
    lines = [f"{number}\n" for number in range(60)]
    old, new = "".join(lines), "".join(["first\n", *lines[1:50], "last\n", *lines[51:]])
    async with reviewing(tmp_path) as (c, editor):
        with file(tmp_path / "a.txt", old.encode()):
            proposal = await proposed(c, editor, "a.txt", new)
            await editor.keys("do:w<CR>")
            expected = "".join([*lines[:50], "last\n", *lines[51:]])
            assert await proposal.answer() == ["FILE_SAVED", expected]
            # The first change is where the person is.
            proposal = await proposed(c, editor, "a.txt", expected)
            assert await editor.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 51
            await editor.keys("ZQ")
            assert await proposal.answer() == ["DIFF_REJECTED", "a.txt"]


async def seen(editor: Editor, name: str) -> tuple[str, str]:
    """Return the person's two windows as text: the original, and what is said of the proposal."""
    original: str = await editor.lua("""
      local window = vim.api.nvim_tabpage_list_wins(0)[1]
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '|')
    """)
    left, right = await bars(editor)
    assert left == f" original {name}"
    assert right.startswith(" ZZ accept  ZQ reject  ")
    return original, right.removeprefix(" ZZ accept  ZQ reject  ").strip("()")


async def test_the_person_is_told_what_a_diff_does_not_show(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        path = tmp_path / "a%b.txt"
        for old, new, shown, note in (
            (b"a\n", "b\n", "a", ""),
            (None, "b\n", "", "new file"),
            (b"", "b\n", "", ""),
            (b"a\r\n", "a\n", "a", "CRLF → LF"),
            (b"a\n", "a\r\n", "a", "LF → CRLF"),
            (b"a\n", "a", "a", "no newline at the end"),
            (b"a", "\ufeffa\n", "a", "newline at the end added, BOM added"),
            (b"\xef\xbb\xbfa\n", "a\n", "a", "BOM removed"),
            (b"caf\xe9\n", "café\n", "café", "latin1 → utf-8"),
        ):
            path.unlink(missing_ok=True)
            if old is not None:
                path.write_bytes(old)
            proposal = await proposed(c, editor, path, new)
            assert await seen(editor, "a%b.txt") == (shown, note)
            await editor.keys("ZQ")
            await proposal.answer()
            assert (path.read_bytes() if path.exists() else None) == old


async def test_the_person_is_told_that_a_file_is_read_only(tmp_path: Path) -> None:
    for name in ("old.txt", "new.txt"):
        (tmp_path / name).write_text("a\n", encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        for read_only, note in (("old.txt", "read-only original"), ("new.txt", "read-only file")):
            (tmp_path / read_only).chmod(0o444)
            paths = {"old_file_path": "old.txt", "tab_name": "mine"}
            proposal = await proposed(c, editor, "new.txt", "b\n", **paths)
            assert await seen(editor, "old.txt → new.txt") == ("a", note)
            await editor.keys("ZQ")
            await proposal.answer()


async def test_the_person_sees_that_the_original_is_another_file(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("a\n", encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        for name, shown, note in (
            ("new.txt", "old.txt → new.txt", "new file"),
            ("./old.txt", "old.txt", ""),
        ):
            proposal = await proposed(c, editor, name, "b\n", old_file_path="old.txt")
            assert await seen(editor, shown) == ("a", note)
            await editor.keys("ZQ")
            await proposal.answer()


async def test_the_persons_unsaved_text_is_the_original(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        with file(tmp_path / "a.txt", b"on the disk\n"):
            await editor.lua("""
              vim.cmd.edit('a.txt')
              vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'not saved' })
            """)
            before = await everything(editor)
            for old_path in ("a.txt", str(tmp_path / "a.txt"), "./a.txt"):
                proposal = await proposed(
                    c, editor, "b.txt", "new\n", old_file_path=old_path, tab_name="mine"
                )
                assert await seen(editor, "a.txt → b.txt") == (
                    "not saved",
                    "new file, the original has unsaved changes",
                )
                await editor.keys("ZQ")
                assert await proposal.answer() == ["DIFF_REJECTED", "mine"]
                await unchanged(editor, before)
        assert not (tmp_path / "b.txt").exists()


async def test_buffers_of_the_file_show_what_the_assistant_has_written(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        for name in ("a.txt", "unsaved.txt"):
            (tmp_path / name).write_text("one\ntwo\n", encoding="utf-8")
        # Neovim asks about a file that appears, and, with 'noautoread', about one that changes.
        await editor.lua("""
          vim.o.autoread = false
          vim.cmd('edit unsaved.txt | edit new.txt | edit a.txt | 2')
          vim.fn.bufload('unsaved.txt')
          vim.api.nvim_buf_set_lines(vim.fn.bufnr('unsaved.txt'), 0, 1, false, { 'mine' })
          vim.api.nvim_create_autocmd('BufReadPost', { callback = function(found)
            vim.rpcnotify(vim.g.test_channel, 'read', vim.fs.basename(found.file))
          end })
        """)
        # By another name for the same folder.
        (tmp_path / "link").symlink_to(tmp_path)
        for name in ("a.txt", "new.txt", "unsaved.txt"):
            path = tmp_path / "link" / name
            proposal = await proposed(c, editor, path, "ONE\ntwo\n", tab_name=name)
            await editor.keys("ZZ")
            _, text = await proposal.answer()
            (tmp_path / name).write_text(text, encoding="utf-8")
            if name != "unsaved.txt":
                assert await editor.wait_for_notification("read") == [name]
        assert await editor.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 2
        lines = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, 1, false)[1]"
        shown = [await editor.lua(lines, name) for name in ("a.txt", "new.txt", "unsaved.txt")]
        assert shown == ["ONE", "ONE", "mine"]
        assert await editor.mode() == {"mode": "n", "blocking": False}
        # Close_tab is the last word: the file as it is then.
        proposal = await proposed(c, editor, "link/a.txt", "not written\n", tab_name="last")
        await editor.keys("ZZ")
        await proposal.answer()
        (tmp_path / "a.txt").write_text("formatted\n", encoding="utf-8")
        await c.call_tool("nvim_close_tab", {"tab_name": "last"})
        assert await editor.lua(lines, "a.txt") == "formatted"


async def test_a_file_that_is_written_after_its_diff_was_closed_is_shown(tmp_path: Path) -> None:
    """Claude Code closes the diff first, and a formatter may write another text."""
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("""
          vim.cmd.edit('a.txt')
          vim.api.nvim_create_autocmd('BufReadPost', { callback = function(found)
            vim.rpcnotify(vim.g.test_channel, 'shows', vim.api.nvim_buf_get_lines(found.buf, 0, 1, false)[1])
          end })
        """)
        proposal = await proposed(c, editor, "a.txt", "written\n", tab_name="late")
        await editor.keys("ZZ")
        await proposal.answer()
        await c.call_tool("nvim_close_tab", {"tab_name": "late"})
        for text in ("formatted, later", "written"):
            (tmp_path / "a.txt").write_text(f"{text}\n", encoding="utf-8")
            while await editor.wait_for_notification("shows") != [text]:
                pass


LOUD = """
for _, event in ipairs({ 'FileType', 'LspAttach', 'BufReadPost', 'BufNewFile' }) do
  vim.api.nvim_create_autocmd(event, { callback = function(found)
    vim.g.heard = (vim.g.heard or '') .. event .. ':' .. found.match .. ' '
  end })
end
"""


async def test_a_diff_has_colours_and_indents_but_no_server_looks_at_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n  pass\n", encoding="utf-8")
    async with reviewing(tmp_path, LOUD) as (c, editor):
        await editor.lua("""
          vim.cmd.edit('a.py') vim.bo.shiftwidth = 3 vim.bo.expandtab = true
          vim.g.heard = nil
        """)
        proposal = await proposed(c, editor, "a.py", "def g():\n  return 1\n")
        assert await editor.lua("""
          return { vim.g.heard or '', vim.bo.syntax, vim.bo.filetype, vim.bo.shiftwidth, vim.bo.expandtab,
            vim.fn.synIDattr(vim.fn.synID(1, 1, 1), 'name'), vim.bo.swapfile, vim.bo.undofile }
        """) == ["", "python", "", 3, True, "pythonStatement", False, False]
        await editor.keys("ZQ")
        await proposal.answer()
        # With tree-sitter in use elsewhere, the same here.
        await editor.lua("vim.cmd('edit a.lua') vim.treesitter.start(0, 'lua')")
        proposal = await proposed(c, editor, "b.lua", "return 1\n")
        assert await editor.lua("return vim.treesitter.highlighter.active[vim.fn.bufnr()] ~= nil")
        await editor.keys("ZQ")
        await proposal.answer()


async def test_a_persons_own_diffs_and_windows_stay_as_they_are(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        await editor.lua("""
          vim.o.diffopt = 'internal,filler,horizontal'
          vim.cmd('edit a.txt | vsplit b.txt | windo diffthis')
          vim.wo.winfixbuf = true
        """)
        before = await everything(editor)
        for keys in ("ZZ", ":tabclose<CR>"):
            proposal = await proposed(c, editor, "a.txt", "1\n2\n3\n")
            # As wide as the screen: 'diffopt' says so.
            assert await editor.lua("return vim.api.nvim_win_get_width(0) == vim.o.columns")
            await editor.keys(keys)
            await proposal.answer()
            await unchanged(editor, before)
        # From a floating window, and with an autocommand that fails.
        await editor.lua("""
          local buffer = vim.api.nvim_create_buf(false, true)
          vim.api.nvim_open_win(buffer, true, { relative = 'editor', row = 1, col = 1, width = 9, height = 2 })
          vim.api.nvim_create_augroup('bad', {})
          vim.api.nvim_create_autocmd('TabNew', { command = 'throw "of the person"', group = 'bad' })
        """)
        proposal = await proposed(c, editor, "a.txt", "1\n2\n3\n")
        await editor.keys("ZZ")
        assert await proposal.answer() == ["FILE_SAVED", "1\n2\n3\n"]
        await editor.wait_for_notification("closed")
        await editor.lua("vim.api.nvim_del_augroup_by_name('bad') vim.api.nvim_win_close(0, true)")
        kept = ("tabs", "windows", "options", "watchers")
        await as_before(editor, {name: before[name] for name in kept})


async def test_what_cannot_be_reviewed_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"a\0b")
    (tmp_path / "text").write_bytes(b"a")
    async with reviewing(tmp_path) as (c, editor):
        before = await everything(editor)

        async def refused(path: str, text: str = "x", **more: str) -> str:
            arguments = {"new_file_path": path, "new_file_contents": text, **more}
            return await refusal(c, "nvim_open_diff", **arguments)

        assert "is binary" in await refused("binary")
        assert "new_file_contents is binary" in await refused("a.txt", "a\0b")
        assert "it is a directory" in await refused(".")
        assert "it is a directory" in await refused(".", old_file_path="text")
        for path in ("http://127.0.0.1:9/x", "a\0b"):
            assert "is not a file. Give the path of a file." in await refused(path)
            assert "is not a file" in await refused("a.txt", old_file_path=path)
        assert "is not a file. Give the path of a file." in await refused("")
        for path in (".env", "config/.env.local", "id_rsa"):
            assert "may hold secrets" in await refused(path)
        assert "may hold secrets" in await refused("a.txt", old_file_path=".env")
        assert "there is no file /no/where" in await refused("a.txt", old_file_path="/no/where")
        await editor.lua("require('dapeer.editor').LARGEST = 1024 * 1024")
        assert "2 MiB, too much" in await refused("a.txt", "x" * (2 << 20))
        assert await editor.lua("return #require('dapeer.diff').lines()") == 0
        await as_before(editor, before)


async def test_without_a_screen_nobody_is_waited_for(tmp_path: Path) -> None:
    async with reviewing(tmp_path, ui=False) as (c, _):
        arguments = {"new_file_path": "a.txt", "new_file_contents": "x"}
        assert "no user interface" in await refusal(c, "nvim_open_diff", **arguments)


async def test_commands_are_completed_and_say_when_there_is_no_diff(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (_, editor):
        for line in ("accept", "reject because", "diffs"):
            shown = await editor.lua("return vim.fn.execute('Dapeer ' .. ...)", line)
            assert shown.strip() == "dapeer: there is no diff to review"
        await editor.lua("vim.cmd('Dapeer accept all')")
        assert (
            "there is no :Dapeer accept all; there is: accept,"
            in (await editor.wait_for_notification("said"))[0]
        )
        offered = "return vim.fn.getcompletion(..., 'cmdline')"
        assert await editor.lua(offered, "Dapeer re") == ["reject", "restart", "resume"]
        assert await editor.lua(offered, "Dapeer reject ") == []
