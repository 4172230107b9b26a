"""What pyproject.toml asks for."""

import re
import tomllib

import pytest

from tests.programs import ROOT

DEPENDENCIES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "dependencies"
]


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_dependency_has_a_lowest_version_and_ends_before_the_next_large_one(
    dependency: str,
) -> None:
    """Pitfall 22."""
    assert re.fullmatch(r"[\w-]+>=\d[\d.]*,<\d[\d.]*", dependency)
