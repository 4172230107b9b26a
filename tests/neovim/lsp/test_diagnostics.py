"""What is wrong with the code, asked for at whatever moment."""

from pathlib import Path

from tests.harness import ask, read, refusal
from tests.json_types import Json
from tests.neovim.lsp.workspace import BOTH, RUFF, TY, shop


def told(found: Json) -> set[tuple[str, int, int, str]]:
    """Return file, line, column and code of what was found."""
    return {
        (Path(each["path"]).name, each["line"], each["column"], each.get("code", ""))
        for each in found["diagnostics"]
    }


IN_SHOP = {("shop.py", 2, 8, "F401"), ("shop.py", 25, 14, "invalid-assignment")}
IN_TILL = {("till.py", 9, 7, "unresolved-reference"), ("till.py", 9, 7, "F821")}


async def test_diagnostics_are_counted_and_chosen_by_severity(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, _, _):
        found = await ask(c, "nvim_diagnostics_list", fresh=True)
        assert told(found) == IN_SHOP
        assert found["counts"] == {"error": 1, "warn": 1, "info": 0, "hint": 0}
        wrong = next(each for each in found["diagnostics"] if each["severity"] == "error")
        assert (wrong["end_line"], wrong["end_column"]) == (25, 17)
        assert wrong["client"] == wrong["source"] == "ty"
        severe = await ask(c, "nvim_diagnostics_list", fresh=True, severity="error")
        assert {each["severity"] for each in severe["diagnostics"]} == {"error"}


async def test_diagnostics_are_of_an_edit_that_is_not_saved_and_not_even_sent(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as (c, editor, _):
        await editor.lua("vim.fn.setline(24, 'x = \"😀\"; y = nothing')")
        await editor.lua("vim.api.nvim_buf_set_lines(0, 1, 2, false, {})")
        await editor.lua("vim.api.nvim_buf_set_lines(0, -2, -1, false, { 'fine: int = 1' })")
        found = await ask(c, "nvim_diagnostics_list", fresh=True)
        assert told(found) == {
            ("shop.py", 23, 14, "F821"),
            ("shop.py", 23, 14, "unresolved-reference"),
        }
        assert found["notes"] == []


async def test_diagnostics_are_of_files_that_are_not_open_and_of_new_ones(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, editor, root):
        assert told(await ask(c, "nvim_diagnostics_list", filename="till.py")) == IN_TILL
        (root / "new.py").write_text("import os\n", encoding="utf-8")
        text = await read(c, "nvim_diagnostics_list", filename="new.py")
        assert "Diagnostics of new.py (ruff, ty): 1 warn\nnew.py\n  1:8 warn `os`" in text.replace(
            "(ty, ruff)", "(ruff, ty)"
        )
        # It is not in a window, where Neovim would look after it; so the servers are asked.
        await editor.lua("vim.fn.setbufline('new.py', 1, 'import re')")
        assert "`re`" in await read(c, "nvim_diagnostics_list", filename="new.py")


async def test_a_file_that_somebody_else_writes_is_read_again_unless_it_was_changed(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as (c, editor, root):
        (root / "new.py").write_text("import os\n", encoding="utf-8")
        await read(c, "nvim_diagnostics_list", filename="new.py")
        await editor.lua("vim.fn.setbufline('new.py', 1, 'import re')")
        assert told(await ask(c, "nvim_diagnostics_list", filename="till.py")) == IN_TILL
        (root / "till.py").write_text("import json\n", encoding="utf-8")
        found = await ask(c, "nvim_diagnostics_list", filename="till.py")
        assert told(found) == {("till.py", 1, 8, "F401")}
        (root / "new.py").write_text("import io\n", encoding="utf-8")
        found = await ask(c, "nvim_diagnostics_list", filename="new.py")
        assert found["notes"] == ["new.py: changed on the disk since Neovim read it."]


async def test_the_diagnostics_of_other_plugins_count_too(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, editor, _):
        await read(c, "nvim_diagnostics_list", fresh=True)
        await editor.lua(
            "vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), 0,"
            " { { lnum = 0, col = 0, message = 'too short', source = 'linter', code = 7 } })"
        )
        whole = await read(c, "nvim_diagnostics_list")
        assert "1:1 error too short (linter 7)" in whole
        part = await read(c, "nvim_diagnostics_list", workspace=True, count=1)
        assert "start=1 gives more." in part
        assert "exclude" in await refusal(
            c, "nvim_diagnostics_list", workspace=True, filename="shop.py"
        )


async def test_the_whole_workspace_is_asked_for_where_a_server_knows_it(tmp_path: Path) -> None:
    # ty looks into files that are not open only in this mode. In its other one it never answers a
    # request for the workspace, which is allowed: there may be news later.
    whole = {"ty": f"{TY}, options = {{ diagnosticMode = 'workspace' }}", "ruff": RUFF}
    async with shop(tmp_path, whole) as (c, editor, root):
        found = await ask(c, "nvim_diagnostics_list", workspace=True, fresh=True)
        assert told(found) == IN_SHOP | {("till.py", 9, 7, "unresolved-reference")}
        assert await editor.lua("return vim.fn.bufloaded('till.py')") == 0
        assert "ruff reports only open files." in found["notes"]
        # The person may look at secrets; nobody else.
        (root / "secrets.py").write_text("x: int = 'password'\n", encoding="utf-8")
        await editor.lua("vim.cmd.edit('secrets.py')")
        for fresh in (True, False):
            found = await ask(c, "nvim_diagnostics_list", workspace=True, fresh=fresh)
            assert "shop.py" in {name for name, *_ in told(found)}
            assert "secrets.py" not in {name for name, *_ in told(found)}
        assert "may hold secrets" in await refusal(c, "nvim_diagnostics_list")


async def test_a_server_that_pushes_its_diagnostics_is_waited_for(tmp_path: Path) -> None:
    pushing = {**BOTH, "ruff": f"{RUFF}, push = true"}
    async with shop(tmp_path, pushing) as (c, editor, _):
        await editor.lua("vim.fn.setline(24, 'y = nothing')")
        found = await ask(c, "nvim_diagnostics_list", fresh=True)
        assert ("shop.py", 24, 5, "F821") in told(found)
        # Neovim asks ty for the same after an edit, and cancels what has been asked before.
        assert found["notes"] == []
        await editor.lua("vim.fn.setline(24, 'y = other')")
        text = await read(c, "nvim_diagnostics_list", fresh=True)
        assert "Undefined name `other`" in text
        assert "`nothing`" not in text
        assert "has not answered" not in text
        # Nothing has changed, so nothing is pushed: what has been told counts.
        again = await ask(c, "nvim_diagnostics_list", fresh=True)
        assert again["notes"] == []
        assert told(await ask(c, "nvim_diagnostics_list", filename="till.py")) == IN_TILL


async def test_without_a_server_that_is_said_at_once(tmp_path: Path) -> None:
    async with shop(tmp_path, {}, opened=None) as (c, editor, _):
        assert "No language server runs." in await read(c, "nvim_lsp_clients")
        for tool in ("hover", "definition", "references", "rename", "code_actions"):
            given = {"new_name": "x"} if tool == "rename" else {}
            said = await refusal(c, f"nvim_lsp_{tool}", filename="shop.py", line=1, **given)
            assert "No language server is attached to shop.py (file type python)." in said
        said = await refusal(c, "nvim_lsp_workspace_symbols", query="x")
        assert "No language server runs." in said
        for given in ({"filename": "shop.py"}, {"workspace": True, "fresh": True}):
            found = await ask(c, "nvim_diagnostics_list", **given)
            assert found["diagnostics"] == found["clients"] == []
            assert "o language server" in found["notes"][0]
        assert await editor.lua("return #vim.api.nvim_get_autocmds({ event = 'LspRequest' })") == 0
