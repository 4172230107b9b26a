"""The Pythons whose programs the stories debug, each with pytest: `DAPEER_PYTHONS="3.8 3.12"` chooses some, `all` all."""

import os

import pytest

from tests.npm import MissingError
from tests.pythons import python_of
from tests.real.software import environment_with

ALL = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t")
"""With `t`: the build without the global lock."""
QUICK = ("3.8", "3.11", "3.13")
"""Those of the quick suite: the oldest, the last before `sys.monitoring`, the newest that is everywhere."""


def chosen() -> tuple[str, ...]:
    """Return the versions that were chosen."""
    text = os.environ.get("DAPEER_PYTHONS", " ".join(QUICK))
    return ALL if text == "all" else tuple(text.split())


def story(*, since: str = "", why: str = "") -> pytest.MarkDecorator:
    """Have a test run in each chosen Python, its argument `version`; from one on it is known to fail, and why."""

    def parameter(version: str) -> object:
        fails = bool(since) and _numbers(version) >= _numbers(since)
        marks = [pytest.mark.xfail(reason=f"{since} and later: {why}")] if fails else []
        return pytest.param(version, marks=marks)

    return pytest.mark.parametrize("version", [parameter(version) for version in chosen()])


def with_pytest(version: str) -> str:
    """Return an interpreter of a version with the newest pytest that it can have; else the test is skipped."""
    return with_packages("pytest", version, "pytest>=8.3")


def with_packages(name: str, version: str, *wanted: str) -> str:
    """Return an interpreter of a version with packages of PyPI; else the test is skipped."""
    base = python_of(version)
    try:
        folder = environment_with(f"{name}-{version}", base, *wanted)
    except MissingError as missing:
        pytest.skip(str(missing))
    return str(folder / "bin" / "python")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.rstrip("t").split("."))
