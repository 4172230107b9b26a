"""What pyproject.toml asks for."""

import ast
import re
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import packages_distributions

import pytest

from tests.programs import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES: list[str] = PROJECT["project"]["dependencies"]
FOR_TESTS: list[str] = PROJECT["dependency-groups"]["dev"]

OURS = {"dapeer", "tests"}
OF_ANOTHER_PYTHON = {"_sha2", "_sha256"}
"""Modules of Python's library that not every version has."""
OF_THE_DEBUGGED = {"pytest"}
"""What programs of ours import in the interpreter of a user's project, which has it."""


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_dependency_has_a_lowest_version_and_ends_before_the_next_large_one(
    dependency: str,
) -> None:
    """Pitfall 22."""
    assert re.fullmatch(r"[\w-]+>=\d[\d.]*,<\d[\d.]*", dependency)


@pytest.mark.parametrize(
    ("folder", "declared", "others"),
    [
        ("server", DEPENDENCIES, OF_THE_DEBUGGED),
        ("tests", [*DEPENDENCIES, *FOR_TESTS], set[str]()),
    ],
)
def test_what_is_imported_is_declared(
    folder: str, declared: Sequence[str], others: set[str]
) -> None:
    names = {_normal(re.split(r"[^\w.-]", each)[0]) for each in declared}
    owners = packages_distributions()
    foreign = _imported(folder) - sys.stdlib_module_names - OURS - OF_ANOTHER_PYTHON - others
    missing = {name for name in foreign if names.isdisjoint(map(_normal, owners.get(name, [name])))}
    assert not missing


def _imported(folder: str) -> set[str]:
    """Return the packages that the modules of a folder import, wherever they do."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names):
                    found |= {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(module=str(module), level=0):
                    found.add(module.partition(".")[0])
                case _:
                    pass
    return found


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")
