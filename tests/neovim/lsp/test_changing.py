"""What the tools change by way of language servers, and what they leave as it is."""

from pathlib import Path

from tests.harness import ask, read, refusal
from tests.neovim.editor import Editor
from tests.neovim.lsp.workspace import SHOP, TILL, shop, text
from tests.neovim.person import Person


async def undone(editor: Editor, path: Path) -> str:
    """Undo once in a file, as the person may; return the text then."""
    code = "vim.api.nvim_buf_call(vim.fn.bufnr(...), function() vim.cmd('silent undo') end)"
    await editor.lua(code, str(path))
    return "\n".join(await text(editor, path)) + "\n"


async def test_a_rename_is_shown_then_made_in_all_files_and_undo_takes_it_back(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as (c, editor, root):
        desk = await Person(editor).desk()
        shown = await ask(c, "nvim_lsp_rename", symbol="total", new_name="summation")
        assert (shown["applied"], shown["file_count"]) == (False, 2)
        assert "+def summation(books" in shown["files"][0]["diff"]
        assert "+    return summation([Book(), Book()])" in shown["files"][1]["diff"]
        assert await Person(editor).desk() == desk
        assert (root / "till.py").read_text(encoding="utf-8") == TILL
        assert await editor.lua("return vim.fn.bufnr('till.py')") == -1

        # The person stands behind the name, on `books`.
        await editor.lua("vim.api.nvim_win_set_cursor(0, { 19, 10 })")
        given = {"symbol": "total", "new_name": "summation", "apply": True}
        told = await read(c, "nvim_lsp_rename", **given)
        assert "2 files changed." in told
        assert "Saved 2 files." in told
        for name, before in {"shop.py": SHOP, "till.py": TILL}.items():
            after = before.replace("total", "summation")
            assert (root / name).read_text(encoding="utf-8") == after
            assert await undone(editor, root / name) == before
        after = await Person(editor).desk()
        assert after["windows"][0]["buffer"] == desk["windows"][0]["buffer"]
        assert after["registers"] == desk["registers"]
        assert after["listed"].keys() == desk["listed"].keys()


async def test_a_rename_saves_nothing_that_the_person_has_not_saved(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, editor, root):
        given = {"symbol": "total", "new_name": "summation", "apply": True}
        await ask(c, "nvim_lsp_rename", **given)
        for name, before in {"shop.py": SHOP, "till.py": TILL}.items():
            assert await undone(editor, root / name) == before
        await editor.lua('vim.cmd(\'silent redo\'); vim.fn.setline(1, \'"""My shop."""\')')
        await editor.lua("vim.api.nvim_win_set_cursor(0, { 19, 14 })")
        given = {"line": 19, "symbol": "summation", "new_name": "sum_up", "apply": True}
        done = await ask(c, "nvim_lsp_rename", **given)
        files = {Path(each["path"]).name: each for each in done["files"]}
        assert files["shop.py"]["saved"] is False
        assert "unsaved changes" in files["shop.py"]["not_saved"]
        assert "My shop" not in (root / "shop.py").read_text(encoding="utf-8")
        cursor = "return vim.fn.getline('.'):sub(vim.fn.col('.'))"
        assert await editor.lua(cursor) == "books: list[Book]) -> int:"
        # The undo step of the rename is not that of the person.
        mine = SHOP.replace("total", "summation").replace("A shop.", "My shop.")
        assert await undone(editor, root / "shop.py") == mine


async def test_what_cannot_be_renamed_is_refused(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, _, _):
        said = await refusal(c, "nvim_lsp_rename", line=1, column=3, new_name="x")
        assert "cannot be renamed" in said


async def test_formatting_moves_no_sign_and_leaves_a_file_as_it_was_written(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as (c, editor, root):
        shown = await read(c, "nvim_lsp_format")
        assert "Format shop.py with ruff: 1 file would change." in shown
        assert '-grüße = "😀😀"; länge = len(grüße)' in shown
        await editor.lua(
            "vim.fn.sign_define('here', { text = '>' });"
            "vim.fn.sign_place(1, 'test', 'here', 'shop.py', { lnum = 25 })"
        )
        told = await read(c, "nvim_lsp_format", apply=True, save=False)
        assert "Not saved: shop.py, because `save` is false." in told
        assert (root / "shop.py").read_text(encoding="utf-8") == SHOP
        lines = await text(editor, root / "shop.py")
        assert lines[24:26] == ['grüße = "😀😀"', "länge = len(grüße)"]
        sign = "return vim.fn.sign_getplaced('shop.py', { group = 'test' })[1].signs[1].lnum"
        assert lines[(await editor.lua(sign)) - 1] == 'wrong: int = "a"'
        assert await undone(editor, root / "shop.py") == SHOP
        assert "nothing to change" in await read(c, "nvim_lsp_format", line=1, end_line=1)

        (root / "dos.py").write_bytes(b"x = 1\r\nprint( x )\r\ny = 2")
        assert "Saved 1 file" in await read(c, "nvim_lsp_format", filename="dos.py", apply=True)
        assert (root / "dos.py").read_bytes() == b"x = 1\r\nprint(x)\r\ny = 2\r\n"
        assert "nothing to change" in await read(c, "nvim_lsp_format", filename="dos.py")

        # Somebody else has written the file since: neither side is lost, and Neovim asks nobody.
        (root / "till.py").write_text(TILL, encoding="utf-8")
        await editor.lua("vim.fn.bufload(vim.fn.bufadd('till.py')); vim.o.autoread = false")
        (root / "till.py").write_text("print( 1 )\n", encoding="utf-8")
        told = await read(c, "nvim_lsp_format", filename="till.py", apply=True)
        assert "Not saved: till.py, because till.py has changed on the disk" in told
        assert (root / "till.py").read_text(encoding="utf-8") == "print( 1 )\n"
        assert (await editor.mode())["blocking"] is False

        await editor.lua("vim.bo.modifiable = false")
        assert "not modifiable" in await refusal(c, "nvim_lsp_format", apply=True)


async def test_a_code_action_is_listed_then_shown_then_made(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, _, root):
        offered = await ask(c, "nvim_lsp_code_actions", line=2)
        first = offered["actions"][0]
        assert (first["client"], first["kind"]) == ("ruff", "quickfix")
        assert first["title"].endswith("Remove unused import: `os`")
        shown = await read(c, "nvim_lsp_code_actions", line=2, action=1)
        assert "Nothing is changed yet" in shown
        assert "-import os" in shown
        said = await refusal(c, "nvim_lsp_code_actions", line=2, action="Nonsense")
        assert "There is no code action" in said
        assert "2. Ruff (F401): Disable for this line" in said
        assert "`action`" in await refusal(c, "nvim_lsp_code_actions", line=2, apply=True)

        # One that the server works out only when it has been chosen; of the whole file.
        title = "Ruff: Fix all auto-fixable problems"
        told = await read(c, "nvim_lsp_code_actions", action=title, apply=True)
        assert "Saved 1 file" in told
        fixed = SHOP.replace("import os\n", "")
        assert (root / "shop.py").read_text(encoding="utf-8") == fixed
        kinds = await ask(c, "nvim_lsp_code_actions", kind="source.organizeImports")
        assert {each["kind"] for each in kinds["actions"]} == {"source.organizeImports.ruff"}
        # No server offers anything for this place.
        assert (await ask(c, "nvim_lsp_code_actions", line=10, kind="refactor"))["actions"] == []
