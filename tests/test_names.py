"""The names in the package's source: each says what it stands for, and for one thing."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tools.figures import LONGEST_FIRST_LINE, long_first_lines, names
from tools.source import Source, parse

SOURCE = Source()
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}


def test_no_name_is_forbidden_or_without_a_subject_and_no_two_types_have_one_name() -> None:
    assert not [f"{each.name}: {place}" for each in names(SOURCE) for place in each.places]


@pytest.mark.parametrize(
    "text",
    [
        "def told(): ...",
        "def f(*, wanted): ...",
        "class IsAsked: ...",
        "class C:\n    _begun = 1",
        "class C:\n    def f(self):\n        self.was_heard = 1",
        "SECONDS_TO_TELL = 1",
        "def f():\n    told = 1",
        "for asked in (): ...",
        "class Twice: ...",
        "MOST = 20",
        "_LEAST: int = -1",
        "FIRST, LAST = 40, 15",
        "ROOM = 8 << 20",
    ],
)
def test_each_kind_of_name_is_looked_at(text: str, tmp_path: Path) -> None:
    package = tmp_path / "server" / "dapeer"
    package.mkdir(parents=True)
    (package / "one.py").write_text(text)
    (package / "other.py").write_text("class Twice: ...")
    assert [place for each in names(Source(tmp_path)) for place in each.places]


def test_the_first_line_of_a_docstring_is_short() -> None:
    assert not list(long_first_lines(SOURCE))


@pytest.mark.parametrize(
    "text",
    [
        '"""{}"""',
        'A = 1\n"""{}"""',
        'class C:\n    """{}"""',
        'class C:\n    a: int\n    """{}"""',
        'def f():\n    """{}\n\n    More.\n    """',
        'async def f():\n    r"""{}"""',
    ],
)
def test_each_docstring_is_looked_at(text: str, tmp_path: Path) -> None:
    package = tmp_path / "server" / "dapeer"
    package.mkdir(parents=True)
    line = "a" * LONGEST_FIRST_LINE
    (package / "one.py").write_text(text.format(line))
    assert not list(long_first_lines(Source(tmp_path)))
    (package / "two.py").write_text(text.format(f"{line}."))
    assert list(long_first_lines(Source(tmp_path))) == [f"two.py: {line}."]


def test_a_constant_of_time_has_its_unit_in_its_name() -> None:
    without = [
        f"{SOURCE.name_of(path)}: {name}"
        for path in SOURCE.modules
        for constant, said in pairwise(parse(path).body)
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
        if re.match(r"(?:In )?(?:Milliseconds|Seconds)\b", str(said.value.value))
        for name in re.findall(r"^\w+", ast.unparse(constant))
        if "SECONDS" not in name
    ]
    assert not without


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {
        part
        for path in SOURCE.modules
        for part in path.relative_to(SOURCE.package).with_suffix("").parts
    }
    assert not names & EMPTY_NAMES
