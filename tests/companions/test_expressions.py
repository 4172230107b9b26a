"""What debugpy evaluates with the texts of our modules: all that these import is with them, and they are sent only where they are missing."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dapeer.adapters.definition.definition import load, read_with_shared, shipped
from dapeer.adapters.definition.table import COMPANIONS, without_docstrings
from dapeer.base.json_types import is_object
from dapeer.mirror.places import SPEC
from tests.processes import LIMIT

DEFINITION = shipped() / "debugpy.toml"
TEXTS = re.compile(r"\$\{texts:([^}]+)\}")
ANSWERS = """
import json, sys
waits, brought, folder = json.loads(sys.stdin.read())
def answer(expression):
    try:
        return sorted(json.loads(str(eval(expression))))
    except KeyError as error:
        return repr(error)
print(json.dumps([answer(waits), answer(brought), [each for each in sys.modules if "dapeer" in each]]))
sys.path.insert(0, folder)
import dapeer_debuggee.improving
print(json.dumps([answer(waits), answer(brought)]))
"""


def expressions(values: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the expressions of a definition that have texts in them, with their keys."""
    if is_object(values):
        for name, each in values.items():
            yield from expressions(each, f"{key}.{name}")
    elif isinstance(values, str) and TEXTS.search(values):
        yield key.removeprefix("."), values


EXPRESSIONS = dict(expressions(read_with_shared(DEFINITION)))


def imported(path: Path) -> Iterator[Path]:
    """Yield the files of the modules that a module imports of its own package, also later."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            names = [folder / each.name for each in node.names]
            found = [each.with_suffix(".py") for each in (folder, *names)]
            yield from (each for each in found if each.is_file())


@pytest.mark.parametrize("key", EXPRESSIONS)
def test_the_texts_of_an_expression_hold_all_that_they_import(key: str) -> None:
    patterns = TEXTS.findall(EXPRESSIONS[key])
    files = {each for pattern in patterns for each in COMPANIONS.glob(pattern)}
    assert files
    missing = {other for each in files for other in imported(each)} - files
    assert not {each.name for each in missing}


class WithoutTexts(ast.NodeTransformer):
    """Takes from a syntax tree each statement that is only a string."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node


def statements(source: str) -> str:
    """Return the syntax tree of a module, as text, without statements that are only a string."""
    return ast.dump(WithoutTexts().visit(ast.parse(source)))


@pytest.mark.parametrize("key", EXPRESSIONS)
def test_a_text_is_sent_without_its_docstrings_and_with_all_its_lines(key: str) -> None:
    files = {
        each for pattern in TEXTS.findall(EXPRESSIONS[key]) for each in COMPANIONS.glob(pattern)
    }
    for file in files:
        source = file.read_text("utf-8")
        sent = without_docstrings(source)
        assert sent.count("\n") == source.count("\n")
        assert statements(sent) == statements(source)
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [each for each in ast.walk(ast.parse(sent)) if isinstance(each, documented)]
        assert not [each for each in nodes if ast.get_docstring(each)]


def test_no_text_is_sent_that_an_answer_does_not_need() -> None:
    files = TEXTS.findall(EXPRESSIONS["threads.brought"])
    assert not [each for each in files if "*" in each]
    needed = {each for file in files for each in imported(COMPANIONS / file)}
    begun = ("arriving", "waits", "__init__")
    unused = [
        each for each in files if Path(each).stem not in begun and COMPANIONS / each not in needed
    ]
    assert not unused


def test_the_texts_are_sent_only_to_a_program_that_lacks_the_modules() -> None:
    waits, brought = load(DEFINITION).sight.waits
    assert len(waits) < 300 < len(brought)
    sent = [each.replace(SPEC, json.dumps("{}")) for each in (waits, brought)]
    sent.append(str(COMPANIONS / "python"))
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS],
        input=json.dumps(sent), capture_output=True, text=True, timeout=LIMIT, check=True,
    )  # fmt: skip
    without, having = map(json.loads, done.stdout.splitlines())
    graph: Any = ["circle", "members", "queues", "waits"]
    assert without == ["KeyError('dapeer_debuggee.improving')", graph, []]
    assert having == [graph, graph]
