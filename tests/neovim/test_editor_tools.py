"""What an assistant sees of the editor, and what it may show and change there."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import Json, ask, read, refusal
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.neovim.person import Person

TELL = "require('desk').tell()"
LOOK = "return require('desk').look()"

POEM = ["The sea", "is calm", "to-night;", "über die", "Wellen 😀 weht", "a wind"]


@asynccontextmanager
async def at_work(
    tmp_path: Path, rc: str = "", setup: Mapping[str, object] | None = None
) -> AsyncGenerator[tuple[Client, Editor]]:
    """Start a Neovim with a screen, in which the person has a file open, and an assistant."""
    (tmp_path / "poem.txt").write_text("\n".join(POEM) + "\n", encoding="utf-8")
    async with (
        neovim(
            tmp_path,
            dap=False,
            ui=True,
            cwd=tmp_path,
            rc=f"{TELL}\n{rc}",
            setup=setup or {},
        ) as editor,
        attached(editor) as (c, _),
    ):
        await editor.lua("vim.cmd.edit('poem.txt')")
        yield c, editor


async def types(editor: Editor, keys: str, mode: str) -> None:
    """Type as the person does, until that leads to a mode."""
    await editor.keys(keys)
    while (await editor.wait_for_notification("mode"))[0] != mode:
        pass


async def text_of(editor: Editor, name: str = "poem.txt") -> list[str]:
    """Return the lines of a buffer."""
    return await editor.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)", name
    )


LOOKS: list[tuple[str, Json]] = [
    ("nvim_buffers_list", {"all": True}),
    ("nvim_buffer_read", {}),
    ("nvim_buffer_read", {"visible": True}),
    ("nvim_buffer_read", {"filename": "other.py"}),
    ("nvim_cursor_context", {}),
    ("nvim_undo_tree", {}),
    ("nvim_undo_tree", {"filename": "other.py"}),
    ("nvim_quickfix_list", {}),
]


async def test_looking_changes_nothing_of_the_persons_whatever_they_do(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import os\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("""
          vim.cmd('normal! Gyy"ayyo')
          vim.cmd('normal! ddggma3jmb')
          vim.cmd('silent vsplit | normal! 2j')
        """)
        for keys, mode in (("", "n"), ("ix", "i"), ("<Esc>vj", "v"), ("d", "n"), ("d", "no")):
            if keys:
                await types(editor, keys, mode)
            before = await editor.lua(LOOK)
            assert before["desk"]["mode"] == mode
            for tool, arguments in LOOKS:
                await ask(c, tool, **arguments)
                assert await editor.lua(LOOK) == before, (tool, mode)
        await types(editor, "<Esc>:echo 1", "c")
        for tool, arguments in LOOKS:
            await ask(c, tool, **arguments)
        assert await editor.lua("return vim.fn.getcmdline()") == "echo 1"


async def test_buffers_are_told_with_what_is_not_saved(tmp_path: Path) -> None:
    for name in ("one.py", "two.py", ".env"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("""
          vim.cmd('edit one.py | edit two.py | edit .env | edit poem.txt | normal! 3G')
          vim.api.nvim_buf_set_lines(vim.fn.bufnr('two.py'), 0, -1, false, { 'x = 2', 'y = 3' })
        """)
        listed = await ask(c, "nvim_buffers_list")
        rows = {Path(row["file"]).name: row for row in listed["buffers"]}
        assert next(iter(rows)) == "poem.txt"
        assert set(rows) == {"poem.txt", ".env", "two.py", "one.py"}
        assert (
            rows["poem.txt"] | {"current": True, "visible": True, "lines": 6, "line": 3}
            == rows["poem.txt"]
        )
        assert (rows["two.py"]["modified"], rows["two.py"]["filetype"]) == (True, "python")
        assert rows[".env"]["secret"]
        said = await read(c, "nvim_buffers_list", count=2)
        assert "poem.txt: 6 lines, text, visible, current, line 3" in said
        assert "(2 of 4 shown; start=2 gives more)" in said

        seen = await ask(c, "nvim_buffer_read", filename="two.py")
        assert (seen["lines"], seen["modified"]) == (["x = 2", "y = 3"], True)
        assert await read(c, "nvim_buffer_read", filename=str(rows["two.py"]["bufnr"]), line=2) == (
            "two.py, lines 2-2 of 2, modified, not saved\n  2 y = 3"
        )
        assert "secrets" in await refusal(c, "nvim_buffer_read", filename=".env")
        number = str(rows[".env"]["bufnr"])
        assert "secrets" in await refusal(c, "nvim_buffer_read", filename=number)
        assert "secrets" in await refusal(c, "nvim_buffer_write", filename=".env", text="x")
        (tmp_path / "plain").symlink_to(tmp_path / ".env")
        assert "secrets" in await refusal(c, "nvim_buffer_read", filename="plain")
        assert "There is no file" in await refusal(c, "nvim_buffer_read", filename="three.py")
        assert "only 6 lines" in await refusal(c, "nvim_buffer_read", line=7)
        await editor.lua("vim.cmd('edit .env')")
        context = await ask(c, "nvim_cursor_context")
        assert context["secret"]
        assert "lines" not in context


async def test_long_texts_are_cut_and_the_rest_can_be_had(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x" * 5000 + "\n" + "y\n" * 3000, encoding="utf-8")
    async with at_work(tmp_path) as (c, _):
        seen = await ask(c, "nvim_buffer_read", filename="long.txt")
        assert (seen["first"], seen["last"], seen["total"]) == (1, 200, 3001)
        assert len(seen["lines"][0]) == 1000
        said = await read(c, "nvim_buffer_read", filename="long.txt", line=2990, count=5)
        assert said.endswith("2994 y\n(7 more lines: line=2995)")


async def test_what_is_on_screen_is_told_with_its_folds(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('setlocal foldmethod=manual | 2,4fold | normal! 5G')")
        seen = await ask(c, "nvim_buffer_read", visible=True)
        assert [(row["line"], row.get("folded_to")) for row in seen["rows"]] == [
            (1, None),
            (2, 4),
            (5, None),
            (6, None),
        ]
        said = await read(c, "nvim_buffer_read", visible=True)
        assert "→ 5 Wellen 😀 weht" in said
        assert "(folded to 4)" in said
        # In a window that is too small for the text, only what is in it.
        await editor.lua(
            "vim.cmd('normal! zE') vim.api.nvim_win_set_height(0, 3) vim.cmd('normal! 4Gzt')"
        )
        await editor.lua("vim.cmd('split | resize 3 | normal! 4Gzt')")
        assert (await ask(c, "nvim_buffer_read", visible=True))["first"] == 4
        (tmp_path / "hidden.txt").write_text("x\n", encoding="utf-8")
        assert "in no window" in await refusal(
            c, "nvim_buffer_read", filename="hidden.txt", visible=True
        )


async def test_a_change_is_small_and_one_step_of_undo(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("""
          vim.cmd('normal! 5G$')
          NS = vim.api.nvim_create_namespace('test')
          MARK = vim.api.nvim_buf_set_extmark(0, NS, 4, 7, {})
          vim.cmd('normal! 6Gmm5G')
          vim.fn.setreg('"', 'mine')
        """)
        cursor = "return vim.api.nvim_win_get_cursor(0)"
        before = await editor.lua(cursor)
        whole = ["Title", "", *POEM]
        whole[4] = "to night;"
        whole[6] = "Wogen 😀 weht"
        done = await ask(c, "nvim_buffer_write", text="\n".join(whole) + "\n")
        assert await text_of(editor) == whole
        assert (done["added"], done["removed"], done["saved"]) == (4, 2, False)
        assert "+Wogen 😀 weht" in done["diff"]
        # Cursor, marks and extmarks are where they were in the text.
        assert await editor.lua(cursor) == [before[0] + 2, before[1] - 1]
        assert await editor.lua("return vim.api.nvim_buf_get_mark(0, 'm')[1]") == 8
        mark = await editor.lua("return vim.api.nvim_buf_get_extmark_by_id(0, NS, MARK, {})")
        assert mark == [6, 6]
        assert await editor.lua("return vim.fn.getreg('\"')") == "mine"
        await editor.lua("vim.cmd('silent undo')")
        assert await text_of(editor) == POEM
        assert (tmp_path / "poem.txt").read_text(encoding="utf-8") == "\n".join(POEM) + "\n"


async def test_what_the_person_types_stays_a_step_of_its_own(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await types(editor, "Goone", "i")
        await ask(c, "nvim_buffer_write", line=1, text="THE SEA")
        await types(editor, " two<Esc>", "n")
        assert await text_of(editor) == ["THE SEA", *POEM[1:], "one two"]
        for expected in (
            ["THE SEA", *POEM[1:], "one"],
            [*POEM, "one"],
            POEM,
        ):
            await editor.lua("vim.cmd('silent undo')")
            assert await text_of(editor) == expected


async def test_lines_and_texts_are_replaced_inserted_and_deleted(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await ask(c, "nvim_buffer_write", line=2, end_line=3, text="roars")
        await ask(c, "nvim_buffer_write", line=1, end_line=0, text="by M. A.\n")
        await ask(c, "nvim_buffer_write", old_text="über die\nWellen", text="over")
        await ask(c, "nvim_buffer_write", line=5, end_line=4, text="last")
        await ask(c, "nvim_buffer_write", line=6, text="")
        assert await text_of(editor) == ["by M. A.", "The sea", "roars", "over 😀 weht", "last"]
        for arguments, said in (
            ({"old_text": "a", "text": ""}, "`old_text` is 3 times in poem.txt, at lines 2, 3, 5."),
            ({"old_text": "none", "text": ""}, "`old_text` is not in poem.txt."),
            ({"old_text": "", "text": ""}, "`old_text` is empty."),
            ({"old_text": "sea", "line": 1, "text": ""}, "not both"),
            ({"line": 9, "text": ""}, "poem.txt has only 5 lines."),
            ({"line": 3, "end_line": 1, "text": ""}, "`end_line` must be at least 2"),
            ({"end_line": 1, "text": ""}, "`end_line` needs `line`."),
        ):
            refused = await refusal(c, "nvim_buffer_write", **arguments)
            assert said in refused
        # The last line ends as the others do.
        await ask(c, "nvim_buffer_write", old_text="over 😀 weht\nlast\n", text="over\n")
        assert await text_of(editor) == ["by M. A.", "The sea", "roars", "over"]
        await ask(c, "nvim_buffer_write", old_text="over\n", text="")
        assert await text_of(editor) == ["by M. A.", "The sea", "roars"]
        await ask(c, "nvim_buffer_write", text="")
        assert await text_of(editor) == [""]
        await ask(c, "nvim_buffer_write", line=1, end_line=0, text="new\n")
        assert await text_of(editor) == ["new"]


READ = """
local lines, get = 0, vim.api.nvim_buf_get_lines
vim.api.nvim_buf_get_lines = function(...)
  local found = get(...)
  lines = lines + #found
  return found
end
vim.g.lines_read = function() return lines end
"""


async def test_changing_a_line_of_a_large_buffer_reads_those_around_it(tmp_path: Path) -> None:
    large = "".join(f"line {number}\n" for number in range(1, 20001))
    (tmp_path / "large.txt").write_text(large, encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('silent edit large.txt')")
        for text in ("one", "first"):
            await ask(c, "nvim_buffer_write", line=1, text=text)
        await editor.lua(READ)
        done = await ask(c, "nvim_buffer_write", line=15000, end_line=15001, text="changed")
        assert await editor.lua("return vim.g.lines_read()") < 50
        assert (done["added"], done["removed"]) == (1, 2)
        assert done["diff"].splitlines() == [
            "@@ -14998,6 +14998,5 @@",
            " line 14998",
            " line 14999",
            "-line 15000",
            "-line 15001",
            "+changed",
            " line 15002",
            " line 15003",
        ]
        done = await ask(c, "nvim_buffer_write", old_text="line 19000\n", text="")
        assert done["diff"].splitlines()[0] == "@@ -18997,5 +18997,4 @@"
        text = await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        assert len(text) == 19998
        assert text[14998:15001] == ["line 14999", "changed", "line 15002"]


async def test_a_line_of_a_text_of_megabytes_is_changed_and_saved_at_once(tmp_path: Path) -> None:
    huge = tmp_path / "huge.txt"
    huge.write_text("".join(f"line {n}\n" for n in range(1, 120_001)), encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('silent edit huge.txt')")
        # The person has changed it, and saved it once.
        await editor.lua(
            "vim.fn.setline(1, 'mine') vim.cmd('silent write') vim.fn.setline(2, 'mine')"
        )
        await editor.lua(READ)
        await ask(c, "nvim_buffer_read", filename="huge.txt", line=1, count=2)
        await ask(c, "nvim_buffer_write", line=5, text="unsaved")
        done = await ask(c, "nvim_buffer_write", line=100_000, text="saved", save=True)
        assert (done["saved"], done["added"], done["removed"]) == (True, 1, 1)
        assert await editor.lua("return vim.g.lines_read()") < 100
        told = await read(c, "nvim_buffer_write", old_text="line 90000\nline", text="x\nline")
        assert "@@ -89998,5 +89998,5 @@\n line 89998\n line 89999\n-line 90000\n+x\n" in told
        # What others change on the way, or on the disk, is not lost.
        await editor.lua("vim.cmd('autocmd BufWritePre huge.txt call setline(7, \"theirs\")')")
        told = await read(c, "nvim_buffer_write", line=50, text="fifty", save=True)
        assert "Something changed the text when it was saved" in told
        lines = huge.read_text(encoding="utf-8").splitlines()
        assert [lines[n] for n in (0, 1, 4, 6, 49)] == [
            "mine",
            "mine",
            "unsaved",
            "theirs",
            "fifty",
        ]
        await editor.lua("vim.fn.setline(3, 'mine')")
        huge.write_text("of somebody else\n", encoding="utf-8")
        told = await refusal(c, "nvim_buffer_write", line=5, text="z", save=True)
        assert "huge.txt has changed on the disk since Neovim read it" in told
        assert huge.read_text(encoding="utf-8") == "of somebody else\n"


async def test_what_must_not_be_changed_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "locked.txt").write_text("a\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.bo.readonly = true")
        assert "read-only" in await refusal(c, "nvim_buffer_write", text="x")
        await editor.lua("vim.bo.readonly = false vim.bo.modifiable = false")
        assert "'modifiable' is off" in await refusal(c, "nvim_buffer_write", text="x")
        assert "'modifiable' is off" in await refusal(c, "nvim_undo_goto", seq=0)
        assert await text_of(editor) == POEM
        scratch = await editor.lua("return vim.api.nvim_create_buf(false, true)")
        number = str(scratch)
        assert "not a file but a nofile buffer" in await refusal(
            c, "nvim_buffer_write", filename=number, text="x"
        )


async def test_a_saved_change_reaches_the_disk_as_the_file_was(tmp_path: Path) -> None:
    dos = tmp_path / "dos.txt"
    dos.write_bytes(b"a\r\nb\r\n")
    async with at_work(tmp_path) as (c, editor):
        done = await ask(
            c, "nvim_buffer_write", filename="dos.txt", old_text="a\r\nb", text="a\r\nc", save=True
        )
        assert (done["saved"], done["modified"], dos.read_bytes()) == (True, False, b"a\r\nc\r\n")
        await ask(c, "nvim_buffer_write", filename="new/folder/x.py", text="x = 1\n", save=True)
        assert (tmp_path / "new/folder/x.py").read_text(encoding="utf-8") == "x = 1\n"
        # What nobody has shown stays out of the person's list, until it is theirs to save.
        assert not await editor.lua("return vim.bo[vim.fn.bufnr('dos.txt')].buflisted")
        await ask(c, "nvim_buffer_write", filename="dos.txt", line=1, text="z")
        assert await editor.lua("return vim.bo[vim.fn.bufnr('dos.txt')].buflisted")

        # Changed by somebody else meanwhile: read anew, unless the person has changes, too.
        (tmp_path / "poem.txt").write_text("other\n", encoding="utf-8")
        await ask(c, "nvim_buffer_write", old_text="other", text="another")
        (tmp_path / "poem.txt").write_text("once more\n", encoding="utf-8")
        stale = await refusal(c, "nvim_buffer_write", text="lost", save=True)
        assert "has changed on the disk" in stale
        assert await text_of(editor) == ["another"]
        assert (tmp_path / "poem.txt").read_text(encoding="utf-8") == "once more\n"
        assert not (await editor.mode())["blocking"]
        # With ends of lines as on old machines nothing has changed, either.
        (tmp_path / "mac.txt").write_bytes(b"a\rb\r")
        await editor.lua("vim.cmd('set fileformats=mac')")
        for text in ("c", "d"):
            await ask(c, "nvim_buffer_write", filename="mac.txt", line=1, text=text)
        await ask(c, "nvim_save_document", filename="mac.txt")
        assert (tmp_path / "mac.txt").read_bytes() == b"d\rb\r"
        # A folder that cannot be made.
        await ask(c, "nvim_buffer_write", filename="later/x", text="x")
        (tmp_path / "later").write_text("", encoding="utf-8")
        failed = await refusal(c, "nvim_buffer_write", filename="later/x", text="y", save=True)
        assert failed.startswith("The text of later/x is changed, but not saved: Neovim cannot")


async def test_what_is_read_is_what_is_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        assert (await ask(c, "nvim_buffer_read", filename="a.txt"))["lines"] == ["one"]
        path.write_text("one\ntwo\n", encoding="utf-8")
        assert await read(c, "nvim_buffer_read", filename="a.txt") == (
            "a.txt, lines 1-2 of 2\n  1 one\n  2 two"
        )
        await ask(c, "nvim_buffer_write", filename="a.txt", line=1, text="mine")
        assert "not saved\n" in await read(c, "nvim_buffer_read", filename="a.txt")
        path.write_text("theirs\n", encoding="utf-8")
        for _ in range(2):
            assert (await read(c, "nvim_buffer_read", filename="a.txt")).startswith(
                "a.txt, lines 1-2 of 2, modified, not saved, changed on the disk since Neovim read it\n"
            )
        path.unlink()
        assert "not saved, not on the disk\n" in await read(c, "nvim_buffer_read", filename="a.txt")
        assert (await editor.mode())["blocking"] is False


async def test_names_are_files_and_nothing_else_is_opened(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("~tilde.txt", "server.key.bak", ".envrc~"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('badd gone.txt | badd folder | badd http://127.0.0.1:9/x')")
        for tool in ("nvim_buffer_read", "nvim_open_file"):
            for filename, said in {
                "http://127.0.0.1:9/y": "tools open only files",
                "http://127.0.0.1:9/x": "There is no file",
                "gone.txt": "There is no file",
                "folder": "is a directory",
                "server.key.bak": "secrets",
                ".envrc~": "secrets",
                "9" * 30: "There is no buffer",
            }.items():
                assert said in await refusal(c, tool, filename=filename), filename
        tilde = await ask(c, "nvim_buffer_read", filename="~tilde.txt")
        assert tilde["file"] == str(tmp_path / "~tilde.txt")


async def test_selections_are_told_in_characters(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):

        async def selection() -> tuple[str, str, tuple[int, int, int, int], bool]:
            found = (await ask(c, "nvim_cursor_context"))["selection"]
            where = (found["line"], found["column"], found["end_line"], found["end_column"])
            return found["kind"], found["text"], where, found["active"]

        assert "selection" not in await ask(c, "nvim_cursor_context")
        await types(editor, "5G0v7l", "v")
        assert await selection() == ("characters", "Wellen 😀", (5, 1, 5, 8), True)
        await types(editor, "<Esc>", "n")
        assert await selection() == ("characters", "Wellen 😀", (5, 1, 5, 8), False)
        await types(editor, "4GVj", "V")
        assert await selection() == ("lines", "über die\nWellen 😀 weht", (4, 1, 5, 13), True)
        await types(editor, "<Esc>gg0l<C-v>jl", "\x16")
        assert await selection() == ("block", "he\ns ", (1, 2, 2, 3), True)
        said = await read(c, "nvim_cursor_context", around=0)
        assert said.splitlines()[0] == "poem.txt:2:3 of 6 lines"
        assert said.splitlines()[1].startswith("visual block mode; lines 1-6 on screen")
        assert "Selected (block) 1:2-2:3:\n  he\n  s " in said


CHATS = """
  local function beside(command, filetype)
    vim.cmd(command)
    vim.api.nvim_set_current_buf(vim.api.nvim_create_buf(false, true))
    vim.bo.filetype = filetype
  end
"""


async def test_current_is_where_the_person_edits_and_never_the_chat(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import os\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):

        async def current() -> str:
            context = await ask(c, "nvim_cursor_context")
            return Path(context["file"]).name if context["open"] else "nothing"

        await editor.lua("vim.cmd('vsplit other.py | wincmd p | normal! 2G')")
        assert await current() == "poem.txt"
        for command, filetype in {
            "vsplit": "opencode_output",
            "split": "codecompanion",
            "topleft vsplit": "NvimTree",
            "botright split": "dapui_scopes",
        }.items():
            await editor.lua(f"{CHATS} beside(...)", command, filetype)
            assert await current() == "poem.txt", filetype
        context = await ask(c, "nvim_cursor_context")
        assert (context["focused"], context["line"]) == (False, 2)
        assert "the person is in a dapui_scopes window" in await read(c, "nvim_cursor_context")
        await editor.lua("vim.cmd('copen')")
        assert await current() == "poem.txt"
        await editor.lua("vim.cmd('split | terminal cat')")
        assert await current() == "poem.txt"
        await editor.lua("""
          local buffer = vim.api.nvim_create_buf(true, false)
          vim.api.nvim_open_win(buffer, true, { relative = 'editor', row = 1, col = 1, width = 9, height = 2 })
        """)
        assert await current() == "poem.txt"
        assert (await ask(c, "nvim_buffer_read"))["lines"] == POEM
        # The window goes: the other one is left; then none is.
        await editor.lua("vim.api.nvim_win_close(vim.fn.bufwinid('poem.txt'), true)")
        assert await current() == "other.py"
        await editor.lua("vim.api.nvim_win_close(vim.fn.bufwinid('other.py'), true)")
        assert await current() == "nothing"
        assert "no file open" in await refusal(c, "nvim_buffer_read")


async def test_a_file_is_shown_without_taking_the_focus(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("".join(f"x{n} = 1\n" for n in range(100)), encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua(
            f"{CHATS} beside('vsplit', 'opencode') CHAT = vim.api.nvim_get_current_win()"
        )
        here = "return { vim.api.nvim_get_current_win(), CHAT }"
        shown = await ask(c, "nvim_open_file", filename="other.py", line=50, column=3)
        assert (shown["line"], shown["column"], shown["focused"]) == (50, 3, False)
        mine, chat = await editor.lua(here)
        assert mine == chat
        # In the person's last window, with its file type's options, and CTRL-O leads back.
        assert await editor.lua(
            "return vim.api.nvim_win_get_cursor(vim.fn.bufwinid('other.py'))"
        ) == [50, 2]
        assert await editor.lua("return vim.bo[vim.fn.bufnr('other.py')].filetype") == "python"
        assert await editor.lua("return vim.fn.bufwinid('poem.txt')") == -1
        await editor.lua("""
          vim.api.nvim_win_call(vim.fn.bufwinid('other.py'), function() vim.cmd('normal! \\15\\15') end)
        """)
        assert await editor.lua("return vim.fn.bufwinid('poem.txt')") != -1


async def test_a_text_is_marked_until_the_person_moves_and_with_the_focus_selected(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua(
            f"{CHATS} beside('vsplit', 'opencode') CHAT = vim.api.nvim_get_current_win()"
        )
        await ask(c, "nvim_open_file", filename="poem.txt", text="a wind\n")
        await ask(c, "nvim_open_file", filename="poem.txt", text="calm\nto-night")
        marks = """
          local found = vim.api.nvim_buf_get_extmarks(
            vim.fn.bufnr('poem.txt'), vim.api.nvim_create_namespace('dapeer_shown'), 0, -1, { details = true })
          return vim.tbl_map(function(m) return { m[2], m[3], m[4].end_row, m[4].end_col } end, found)
        """
        assert await editor.lua(marks) == [[1, 3, 2, 8]]
        await editor.lua("vim.cmd('wincmd p')")
        await types(editor, "jV", "V")
        assert await editor.lua(marks) == []
        await types(editor, "<Esc>", "n")
        await Person(editor).pauses()
        shown = await ask(
            c, "nvim_open_file", filename="poem.txt", line=5, column=8, end_column=10, focus=True
        )
        assert shown["focused"]
        assert (await ask(c, "nvim_cursor_context"))["selection"]["text"] == "😀 w"
        assert "not in poem.txt, which is shown" in await refusal(
            c, "nvim_open_file", filename="poem.txt", text="nowhere"
        )


async def test_a_file_is_shown_beside_what_must_stay(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        windows = """
          return vim.tbl_map(function(w)
            return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(w)), ':t')
          end, vim.api.nvim_tabpage_list_wins(0))
        """
        # The person is typing there: neither their text nor their cursor goes away.
        await types(editor, "i", "i")
        shown = await ask(c, "nvim_open_file", filename="a.txt", focus=True)
        assert not shown["focused"]
        assert sorted(await editor.lua(windows)) == ["a.txt", "poem.txt"]
        await types(editor, "!<Esc>", "n")
        assert (await text_of(editor))[0] == "!The sea"
        # Without 'hidden' a changed text may not leave its window.
        await editor.lua("vim.cmd('only | set nohidden')")
        await ask(c, "nvim_open_file", filename="b.txt")
        assert sorted(await editor.lua(windows)) == ["b.txt", "poem.txt"]
        await editor.lua("vim.cmd('only | silent write | set winfixbuf')")
        await ask(c, "nvim_open_file", filename="c.txt")
        assert sorted(await editor.lua(windows)) == ["c.txt", "poem.txt"]
        # Only a terminal is there.
        await editor.lua("vim.cmd('set hidden | tabnew | terminal cat')")
        await ask(c, "nvim_open_file", filename="d.txt")
        assert (await editor.lua(windows))[1] == "d.txt"
        assert await editor.lua("return vim.bo.buftype") == "terminal"
        # A help is shown where it is, and takes no window of a text's.
        await editor.lua("vim.cmd('help | wincmd p') HELP = vim.fn.bufnr('help.txt')")
        before = await editor.lua(windows)
        number = str(await editor.lua("return HELP"))
        await ask(c, "nvim_open_file", filename=number, line=3)
        assert await editor.lua(windows) == before
        await editor.lua("vim.cmd('helpclose')")
        await ask(c, "nvim_open_file", filename=number, line=3)
        assert sorted(await editor.lua(windows)) == sorted(before)
        assert not await editor.lua("return vim.bo[HELP].buflisted")


async def test_a_file_that_another_neovim_has_open_asks_nobody(tmp_path: Path) -> None:
    swap = tmp_path / "swap"
    swap.mkdir()
    (tmp_path / "shared.txt").write_text("x\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("y\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.o.updatecount = 200 vim.o.directory = ...", f"{swap}//")
        # Two swap files of a process that is gone.
        await editor.lua("""
          for _, name in ipairs({ 'shared.txt', 'other.txt' }) do
            vim.cmd.edit(name) vim.cmd('silent preserve')
            vim.uv.fs_copyfile(vim.fn.swapname('%'), vim.fn.swapname('%') .. '.kept')
            local there = vim.fn.swapname('%')
            vim.cmd('bwipeout')
            vim.uv.fs_rename(there .. '.kept', there)
          end
        """)
        assert len(list(swap.iterdir())) >= 2
        assert (await ask(c, "nvim_buffer_read", filename="shared.txt"))["lines"] == ["x"]
        await ask(c, "nvim_open_file", filename="other.txt")
        assert not (await editor.mode())["blocking"]
        assert "other.txt" in await editor.lua("return vim.fn.bufname()")
        assert "A" not in await editor.lua("return vim.o.shortmess")


LEFT = """
local name, bang = ...
vim.cmd.edit(name)
vim.fn.setline(1, 'never saved')
vim.cmd('silent preserve')
local swap = vim.fn.swapname('%')
vim.uv.fs_copyfile(swap, swap .. '.kept')
vim.cmd('bwipeout!')
-- The process that it is of: ours lives, and of this machine there is no other with this number.
local file = assert(io.open(swap .. '.kept', 'r+b'))
file:seek('set', 24)
file:write('\\255\\255\\255\\127')
file:close()
vim.uv.fs_rename(swap .. '.kept', swap)
"""


@pytest.mark.parametrize("folder", [".", "swap", "swap//"])
async def test_a_swap_file_with_changes_of_a_file_that_is_loaded_for_the_assistant_is_told_of(
    tmp_path: Path, folder: str
) -> None:
    (tmp_path / "swap").mkdir()
    (tmp_path / "shop.py").write_text("saved\n", encoding="utf-8")
    there = folder if folder == "." else f"{tmp_path}/{folder}"
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.o.updatecount = 200 vim.o.directory = ...", there)
        await editor.lua(LEFT, "shop.py")
        await editor.lua("""
          vim.notify = function(message) vim.rpcnotify(vim.g.test_channel, 'notified', message) end
        """)
        assert (await ask(c, "nvim_buffer_read", filename="shop.py"))["lines"] == ["saved"]
        (told,) = await editor.wait_for_notification("notified")
        assert told == "dapeer: loaded shop.py; its swap file has unsaved changes (:recover)"
        assert not (await editor.mode())["blocking"]


async def test_quickfix_lists_are_read_and_made(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1\n", encoding="utf-8")
    async with at_work(tmp_path) as (c, editor):
        assert "is empty" in await read(c, "nvim_quickfix_list")
        await editor.lua(
            "vim.cmd('vsplit') vim.fn.setqflist({}, ' ', { title = 'mine', lines = { 'x' } })"
        )
        windows = "return { vim.api.nvim_get_current_win(), vim.fn.winnr('#') }"
        before = await editor.lua(windows)
        items: list[Json] = [
            {"filename": "poem.txt", "line": 5, "column": 8, "text": "smile", "type": "error"},
            {"filename": ".env", "line": 1, "text": "KEY=1"},
            {"text": "a\0remark"},
        ]
        done = await ask(c, "nvim_quickfix_set", title="ours", items=items, open=True)
        assert done["shown"]
        assert await editor.lua(windows) == before
        assert await editor.lua("return vim.fn.getqflist({ winid = 0 }).winid") != 0
        listed = await ask(c, "nvim_quickfix_list")
        assert (listed["title"], listed["list"], listed["lists"]) == ("ours", 2, 2)
        first = listed["items"][0]
        assert listed["items"][2]["text"] == "a^@remark"
        assert (Path(first["file"]).name, first["line"], first["column"]) == ("poem.txt", 5, 8)
        assert await read(c, "nvim_quickfix_list", start=1, count=1) == (
            "ours (list 2 of 2, 3 items)\n  1 .env:1: (may hold secrets)\n"
            "(1 of 3 shown; start=2 gives more)"
        )
        await editor.lua("vim.cmd('silent cfirst')")
        assert await editor.lua("return vim.api.nvim_win_get_cursor(0)") == [5, 7]
        await editor.lua("vim.cmd('silent colder')")
        assert (await ask(c, "nvim_quickfix_list"))["title"] == "mine"
        await types(editor, "i", "i")
        done = await ask(c, "nvim_quickfix_set", items=[{"text": "x"}], open=True)
        assert not done["shown"]


async def test_location_lists_are_read_as_quickfix_lists_are(tmp_path: Path) -> None:
    (tmp_path / "hidden.txt").touch()
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('vsplit shop.py | wincmd p')")
        none = await read(c, "nvim_quickfix_list", location=True)
        assert none == "The location list of the window of poem.txt is empty."
        await editor.lua("""
          local items = { { filename = 'poem.txt', lnum = 5, col = 8, text = 'smile', type = 'E' }, { text = 'x' } }
          vim.fn.setloclist(vim.fn.bufwinid('shop.py'), {}, ' ', { title = 'theirs', items = items })
        """)
        assert (await read(c, "nvim_quickfix_list", location=True)).endswith(
            "is empty. Windows with one show: shop.py."
        )
        listed = await ask(c, "nvim_quickfix_list", filename="shop.py")
        assert (listed["title"], listed["total"]) == ("theirs", 2)
        said = await read(c, "nvim_quickfix_list", filename="shop.py", count=1)
        assert said == (
            "location list of the window of shop.py: theirs (list 1 of 1, 2 items)\n"
            "→ 0 poem.txt:5:8: error: smile\n(1 of 2 shown; start=1 gives more)"
        )
        await editor.lua("vim.cmd('wincmd p | lopen')")
        assert "smile" in await read(c, "nvim_quickfix_list", location=True)
        hidden = await refusal(c, "nvim_quickfix_list", filename="hidden.txt")
        assert hidden.startswith("No window shows hidden.txt")
        assert "is empty" in await read(c, "nvim_quickfix_list")


async def test_lua_is_run_only_when_the_person_allows_and_never_for_long(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, _):
        names = {tool.name for tool in (await c.list_tools()).tools}
        assert not names & {"nvim_exec_lua", "nvim_test_sync_buffers"}
    setup = {"tools": {"exec": True, "test": True}}
    async with at_work(tmp_path, setup=setup) as (c, editor):

        async def run(code: str) -> str:
            return await read(c, "nvim_exec_lua", code=code)

        assert await run("1 + 1") == "2"
        assert await run("print('a', 1) return { x = { 2 } }, nil") == (
            "{\n  x = { 2 }\n}\nnil\nPrinted:\na\t1"
        )
        assert (await ask(c, "nvim_exec_lua", code="{ x = { 2 } }"))["values"] == [{"x": [2]}]
        assert "function" in await run("print")
        assert await run("HERE = vim.fn.bufname()") == "It returned nothing."
        assert await editor.lua("return HERE") == "poem.txt"
        assert len(await run("('x'):rep(1e6)")) < 30_000
        for code, said in {
            "x y": "The code is not Lua: code:1:",
            "print('so far') error('bad')": "The code failed: code:1: bad.\nIt had printed:\nso far",
            "error({ code = 3 })": "code = 3",
            "while true do end": "it blocked the main thread for more than 2 seconds",
            "vim.wait(10)": "vim.wait would block Neovim; a tool must not wait",
            "vim.fn.input('?')": "vim.fn.input would block Neovim",
        }.items():
            assert said in await refusal(c, "nvim_exec_lua", code=code)
        buffers = await ask(c, "nvim_test_sync_buffers")
        assert buffers["buffers"][0]["line_count"] == 6


@pytest.mark.parametrize(
    ("keys", "mode", "rest"),
    [("3GVj", "V", []), ("3G0vj$", "v", [""]), ("3G0<C-v>j", "\x16", ["o-night;", "ber die"])],
)
@pytest.mark.parametrize("select", ["", "<C-g>", "<C-g><C-o>"])
async def test_a_text_that_is_written_above_a_selection_does_not_enlarge_it(
    tmp_path: Path, keys: str, mode: str, rest: list[str], select: str
) -> None:
    modes = {
        "": mode,
        "<C-g>": {"v": "s", "V": "S", "\x16": "\x13"}[mode],
        "<C-g><C-o>": mode + "s",
    }
    async with at_work(tmp_path) as (c, editor):
        await types(editor, keys + select, modes[select])
        await ask(c, "nvim_buffer_write", line=1, end_line=0, text="by M. A.\n\n")
        await ask(c, "nvim_buffer_write", line=3, text="THE SEA")
        assert (await editor.mode())["mode"] == modes[select]
        await types(editor, "<C-g>d" if select == "<C-g>" else "d", "n")
        head = ["by M. A.", "", "THE SEA", "is calm"]
        left = rest if mode != "v" else []
        assert await text_of(editor) == [*head, *left, *POEM[4:]]
