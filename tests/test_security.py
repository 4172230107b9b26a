"""SECURITY.md and docs/security.md name the tests that show what they say."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.programs import ROOT

PAGES = ("SECURITY.md", "docs/security.md")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ABOUT = re.compile(r"^## (?:An?other|An?|The) .*?$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""A section about somebody, and what they can and cannot do."""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse(page(file))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


def lines() -> Iterator[str]:
    """Yield what SECURITY.md says of each of those who are not trusted."""
    for section in ABOUT.findall(page("SECURITY.md")):
        yield from re.split(r"^\* ", section, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("name", PAGES)
def test_the_tests_that_are_named_exist(name: str) -> None:
    named = TEST.findall(page(name))
    assert named
    missing = [f"{file}::{test}" for file, test in named if test not in functions_of(file)]
    assert not missing


def test_the_modules_that_are_named_exist() -> None:
    named = re.findall(r"`([\w/]+\.py)`", page("docs/security.md"))
    assert len(named) > 15
    assert not [name for name in named if not (ROOT / "server/dapeer" / name).is_file()]


def test_each_line_about_who_is_not_trusted_names_a_test() -> None:
    said = [*lines()]
    assert len(said) > 25
    assert not [line for line in said if not TEST.search(line)]
