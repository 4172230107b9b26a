"""Names and docstrings in the package's source: units, first lines, modules whose names say nothing."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tools.figures import LONGEST_FIRST_LINE, long_first_lines
from tools.source import Source, parse

SOURCE = Source()
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}


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
