"""Names change over the whole tree by a table, and a commit of renames is proven to be one."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.programs import tool
from tools import renames

SHOP = """\
MOST = 3


class Cart:
    def left(self, of: int) -> int:
        return of - 1


def looks(cart: Cart) -> int:
    return cart.left(of=MOST)
"""
USER = "import shop\nfrom shop import Cart, looks\n\nprint(looks(Cart()), Cart().left(of=2), shop.looks)\n"
TABLE = "shop.py\tMOST\tMAX_ITEMS\nshop.py\tCart.left(of)\tcount\nshop.py\tCart.left\tremaining\nshop.py\tlooks\tcount_items\nshop.py\tno\tyes\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tool("git")
    pytest.importorskip("pyright", reason="needs pyright: uv sync --group dev")
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    (folder / "user.py").write_text(USER)
    (folder / "pyrightconfig.json").write_text("{}")
    monkeypatch.chdir(folder)
    git("init", "--quiet")
    commit("Begin")
    return folder


def git(*arguments: str) -> None:
    who = ["-c", "user.name=dapeer", "-c", "user.email=dapeer@example.com"]
    subprocess.run(["git", *who, *arguments], check=True)


def commit(message: str) -> None:
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


def test_a_table_renames_a_method_its_parameter_and_a_function_where_they_are_used(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table").write_text(TABLE)
    assert renames.main(["apply", str(tmp_path / "table")]) == 1
    said = capsys.readouterr()
    assert said.out == "MOST -> MAX_ITEMS\nleft -> remaining\nlooks -> count_items\nof -> count\n"
    assert "left out: shop.py has no no" in said.err
    assert "cart.remaining(count=MAX_ITEMS)" in (tree / "shop.py").read_text()
    assert (
        "print(count_items(Cart()), Cart().remaining(count=2), shop.count_items)"
        in (tree / "user.py").read_text()
    )


BOX = """\
from dataclasses import dataclass, replace
from typing import NamedTuple


@dataclass(frozen=True)
class Row:
    used: int
    line: int = 0


class Place(NamedTuple):
    at: int


class Box:
    def __init__(self, row: Row) -> None:
        self._got, self.news = row, [Place(at=1)]

    def total(self) -> int:
        return self._got.used + self.news[0].at


class Crate(Box):
    def own(self) -> Row:
        return replace(self._got, used=2)
"""
BOX_USER = """\
from box import Box, Place, Row


def told(value: object) -> int:
    match value:
        case Row(used=count):
            return count
        case Place(at=count):
            return count
        case Box():
            value.news = []
            return value.total()
        case _:
            return Row(used=3).used
"""
BOX_TABLE = "box.py\tRow.used\tbytes_used\nbox.py\tPlace.at\toffset\nbox.py\tBox._got\t_row\nbox.py\tBox.news\tplaces\n"


def test_a_table_renames_fields_and_what_a_method_sets_also_in_subclasses_keywords_and_patterns(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "box.py").write_text(BOX)
    (tree / "box_user.py").write_text(BOX_USER)
    commit("Add boxes")
    (tmp_path / "table").write_text(BOX_TABLE)
    assert renames.main(["apply", str(tmp_path / "table")]) == 0
    said = capsys.readouterr()
    assert said.out == "_got -> _row\nat -> offset\nnews -> places\nused -> bytes_used\n"
    # `replace` takes any keyword, so that pyright does not know what this one means.
    assert said.err == "text: used -> bytes_used: box.py:25\n"
    names = {"used": "bytes_used", "at": "offset", "_got": "_row", "news": "places"}
    new = re.sub(r"\b(used|at|_got|news)\b", lambda match: names[match[0]], BOX)
    assert (tree / "box.py").read_text() == new.replace("_row, bytes_used=2", "_row, used=2")
    assert (tree / "box_user.py").read_text() == re.sub(
        r"\b(used|at|news)\b", lambda match: names[match[0]], BOX_USER
    )


@pytest.mark.parametrize(("also", "wrong"), [("", 0), ("print(1)\n", 1)])
def test_a_commit_of_renames_is_one_only_if_nothing_else_changes(
    tree: Path, capsys: pytest.CaptureFixture[str], also: str, wrong: int
) -> None:
    (tree / "shop.py").write_text(SHOP.replace("looks", "count_items"))
    (tree / "user.py").write_text(USER.replace("looks", "count_items") + also)
    commit("Rename what counts\n\nlooks -> count_items\n")
    assert renames.main(["check"]) == wrong
    assert capsys.readouterr().out == "user.py changes more than names\n" * wrong
