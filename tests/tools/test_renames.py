"""Names change over the whole tree by a table, and a commit of renames is proven to be one."""

import subprocess
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("also", "wrong"), [("", 0), ("print(1)\n", 1)])
def test_a_commit_of_renames_is_one_only_if_nothing_else_changes(
    tree: Path, capsys: pytest.CaptureFixture[str], also: str, wrong: int
) -> None:
    (tree / "shop.py").write_text(SHOP.replace("looks", "count_items"))
    (tree / "user.py").write_text(USER.replace("looks", "count_items") + also)
    commit("Rename what counts\n\nlooks -> count_items\n")
    assert renames.main(["check"]) == wrong
    assert capsys.readouterr().out == "user.py changes more than names\n" * wrong
