"""What the tools tell of code that language servers know."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from tests.harness import ask, read, refusal
from tests.json_types import Json
from tests.neovim.lsp.workspace import TY, shop
from tests.neovim.person import Person


def places(found: Json) -> list[tuple[str, int, int]]:
    return [(Path(at["path"]).name, at["line"], at["column"]) for at in found["locations"]]


@asynccontextmanager
async def alone(tmp_path: Path) -> AsyncGenerator[tuple[Client, Path]]:
    """Give an assistant and the project; what it does leaves the person's desk as it is."""
    async with shop(tmp_path) as (c, editor, root):
        desk = await Person(editor).desk()
        yield c, root
        assert await Person(editor).desk() == desk


async def test_a_name_is_explained(tmp_path: Path) -> None:
    async with alone(tmp_path) as (c, root):
        hover = await ask(c, "nvim_lsp_hover", line=19, symbol="total")
        assert hover["path"] == str(root / "shop.py")
        assert (hover["line"], hover["column"]) == (19, 5)
        # Ruff offers hovers, too, and has nothing to say here.
        assert [each["client"] for each in hover["hovers"]] == ["ty"]
        assert "def total(books: list[Book]) -> int" in hover["hovers"][0]["text"]
        assert "Add up." in await read(c, "nvim_lsp_hover", symbol="total")
        clients = await read(c, "nvim_lsp_clients")
        assert "ruff (id" in clients
        assert f"root: {root}" in clients


async def test_places_are_found(tmp_path: Path) -> None:
    async with alone(tmp_path) as (c, _):
        found = await ask(c, "nvim_lsp_definition", filename="till.py", line=5, symbol="total")
        assert places(found) == [("shop.py", 19, 5)]
        assert found["locations"][0]["text"] == "def total(books: list[Book]) -> int:"
        found = await ask(c, "nvim_lsp_type_definition", line=21, symbol="book")
        assert places(found) == [("shop.py", 10, 7)]
        found = await ask(c, "nvim_lsp_implementation", line=7, symbol="price")
        assert ("shop.py", 15, 9) in places(found)
        found = await ask(c, "nvim_lsp_references", symbol="total")
        assert places(found) == [("shop.py", 19, 5), ("till.py", 1, 24), ("till.py", 5, 12)]
        told = await read(c, "nvim_lsp_references", symbol="total", count=1, start=1)
        assert "3 in 2 files" in told
        assert "till.py\n  1:24  from shop import Book, total" in told
        assert "1 of 3 shown; start=2 gives more." in told


async def test_calls_and_symbols_are_told(tmp_path: Path) -> None:
    async with alone(tmp_path) as (c, root):
        calls = await ask(c, "nvim_lsp_call_hierarchy", symbol="total")
        assert [each["name"] for each in calls["functions"]] == ["pay"]
        assert calls["functions"][0]["calls"][0]["line"] == 5
        called = await read(c, "nvim_lsp_call_hierarchy", symbol="total", direction="outgoing")
        assert "method price  shop.py:15\n  called at 21:21" in called

        outline = await ask(c, "nvim_lsp_symbols")
        assert [each["name"] for each in outline["symbols"]][:3] == ["Priced", "Book", "total"]
        book = outline["symbols"][1]
        assert [each["name"] for each in book["children"]] == ["title", "price"]
        assert (book["line"], book["end_line"]) == (10, 16)
        top = await read(c, "nvim_lsp_symbols", depth=1)
        assert "class Book  10-16" in top
        assert "method" not in top
        part = await ask(c, "nvim_lsp_symbols", count=1, start=4)
        assert part["symbols"][0]["container"] == "Book"
        everywhere = await ask(c, "nvim_lsp_workspace_symbols", query="pay")
        assert everywhere["symbols"][0]["path"] == str(root / "till.py")


async def test_columns_count_characters_whatever_the_servers_count(tmp_path: Path) -> None:
    # ty takes what the client prefers.
    counted = {"eight": "utf-8", "sixteen": "utf-16", "thirtytwo": "utf-32"}
    servers = {name: f"{TY}, encodings = {{ '{unit}' }}" for name, unit in counted.items()}
    async with shop(tmp_path, servers) as (c, editor, _):
        clients = (await ask(c, "nvim_lsp_clients"))["clients"]
        assert {each["name"]: each["encoding"] for each in clients} == counted
        # grüße = "😀😀"; länge = len(grüße); print(länge)
        found = await ask(c, "nvim_lsp_references", line=24, column=15)
        # Were one of them misunderstood, there would be more places.
        assert places(found) == [("shop.py", 24, 15), ("shop.py", 24, 41)]
        assert {each["end_column"] for each in found["locations"]} == {20, 46}
        same = await ask(c, "nvim_lsp_references", line=24, symbol="länge", column=20)
        assert places(same) == places(found)
        assert same["column"] == 41
        hover = await ask(c, "nvim_lsp_hover", line=24, symbol="länge")
        assert [each["client"] for each in hover["hovers"]] == list(counted)
        for name in counted:
            # One after the other is the first that is asked to rename.
            new = f"weite_{name}"
            given = {"line": 24, "symbol": "länge", "new_name": new}
            shown = await read(c, "nvim_lsp_rename", **given)
            assert f'+grüße = "😀😀"; {new} = len(grüße); print({new})' in shown
            await editor.lua("vim.lsp.get_clients({ name = ... })[1]:stop(true)", name)
            await editor.wait_for_notification("detached")


async def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with shop(tmp_path) as (c, editor, root):
        said = await refusal(c, "nvim_lsp_hover", line=20, symbol="total")
        assert '`total` is not on line 20 of shop.py, which is `"""Add up."""`' in said
        assert "It is on line 19." in said
        assert "does not occur in shop.py" in await refusal(c, "nvim_lsp_hover", symbol="nothing")
        assert "shop.py has 25 lines" in await refusal(c, "nvim_lsp_hover", line=99)
        assert "no column 99" in await refusal(c, "nvim_lsp_hover", line=1, column=99)
        assert "Say where" in await refusal(c, "nvim_lsp_hover", filename="till.py")

        # The cursor of the person is a place, too; unsaved text counts.
        await editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'def fresh(): ...', '' })")
        await editor.lua("vim.api.nvim_win_set_cursor(0, { 1, 5 })")
        assert "def fresh()" in await read(c, "nvim_lsp_hover")

        (root / ".env").write_text("TOKEN = 1\n", encoding="utf-8")
        assert "secret" in await refusal(c, "nvim_lsp_hover", filename=".env", line=1)
        said = await refusal(c, "nvim_lsp_symbols", filename="pyproject.toml")
        assert "No language server is attached to pyproject.toml (file type toml)." in said
        assert "ruff, ty" in said or "ty, ruff" in said
        said = await refusal(c, "nvim_lsp_format", client="ty")
        assert "ruff does" in said
