"""What pyproject.toml asks for."""

import ast
import re
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import packages_distributions

import pytest

from tests.programs import ROOT
from tools import constraints
from tools.constraints import name_of, version_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES: list[str] = PROJECT["project"]["dependencies"]
GROUPS: dict[str, list[object]] = PROJECT["dependency-groups"]
FOR_TESTS = [each for group in GROUPS.values() for each in group if isinstance(each, str)]

OURS = {"dapeer", "tests", "tools"}
OF_THE_DEBUGGED = {"pytest"}
"""What programs of ours import in the interpreter of a user's project, which has it."""


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_dependency_has_a_lowest_version_and_ends_before_the_next_large_one(
    dependency: str,
) -> None:
    """Pitfall 22."""
    assert re.fullmatch(r"[\w-]+>=\d[\d.]*,<\d[\d.]*", dependency)


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_ci_runs_with_one_exact_version_within_the_bounds(dependency: str) -> None:
    name, lowest, end = re.split(r">=|,<", dependency)
    versions = [version_of(each) for each in constraints.lines() if name_of(each) == name]
    assert len(versions) == 1, f"run `uv run python -m {constraints.__name__}`"
    assert _numbers(lowest) <= _numbers(versions[0]) < _numbers(end)


def test_the_exact_versions_name_no_host_and_no_hash() -> None:
    for requirement in constraints.lines():
        assert re.fullmatch(r"[a-z0-9-]+==[\w.]+( ; [^:@#]+)?", requirement)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


@pytest.mark.parametrize(
    ("folder", "declared", "others"),
    [
        ("server", DEPENDENCIES, OF_THE_DEBUGGED),
        ("tests", [*DEPENDENCIES, *FOR_TESTS], set[str]()),
        ("tools", [*DEPENDENCIES, *FOR_TESTS], set[str]()),
    ],
)
def test_what_is_imported_is_declared(
    folder: str, declared: Sequence[str], others: set[str]
) -> None:
    names = {_normal(re.split(r"[^\w.-]", each)[0]) for each in declared}
    owners = packages_distributions()
    foreign = _imported(folder) - sys.stdlib_module_names - OURS - others
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
