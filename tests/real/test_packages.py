"""What others say of what is released: their validators find nothing wrong, and what it installs is not large."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests import npm
from tests.programs import ROOT
from tools import packages

VENV = Path(sys.executable).parent


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def linter(name: str) -> Path:
    """Return the path of a linter of the group `dev`; skip the test without it."""
    path = VENV / name
    if not path.exists():
        pytest.skip(f"needs {name}: uv sync --group dev")
    return path


def installed(requirements: Iterable[str]) -> dict[str, Distribution]:
    """Return what some requirements install, theirs included."""
    found: dict[str, Distribution] = {}
    left = [(Requirement(each), "") for each in requirements]
    while left:
        needed, of_extra = left.pop()
        if needed.marker and not needed.marker.evaluate({"extra": of_extra}):
            continue
        for extra in {"", *needed.extras}:
            if (key := f"{needed.name.lower()}[{extra}]") not in found:
                found[key] = distribution(needed.name)
                left += [(Requirement(each), extra) for each in found[key].requires or ()]
    return found


def megabytes(distributions: Iterable[Distribution]) -> float:
    """Return how much of the disk their files take, bytecode apart."""
    paths = {Path(str(file.locate())) for each in distributions for file in each.files or ()}
    files = [path for path in paths if path.suffix != ".pyc" and path.is_file()]
    return sum(path.stat().st_size for path in files) / 1e6


def test_a_first_demo_installs_what_a_user_needs_and_the_runner_of_the_tests_is_small() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["uv"]["default-groups"] == ["test"]
    users = installed(project["project"]["dependencies"])
    runner = installed(project["dependency-groups"]["test"])
    assert "debugpy[]" in users
    assert 1 < megabytes(runner.values()) <= 15
    assert 10 < megabytes({**users, **runner}.values()) <= 75


@pytest.mark.parametrize("folder", [".", packages.AGENT])
def test_skillsaw_finds_nothing(folder: str) -> None:
    said = run(linter("skillsaw"), "lint", folder)
    assert "Errors:   0" in said
    assert "Warnings: 0" in said


def test_zizmor_finds_nothing() -> None:
    assert "No findings" in run(linter("zizmor"), "--offline", ".github/workflows")


def test_mcpb_accepts_the_bundle() -> None:
    run(*npm.mcpb(), "validate", "packages/mcpb/manifest.json")


def test_claude_accepts_the_plugin(tmp_path: Path) -> None:
    said = run(npm.claude(), "plugin", "validate", ".", HOME=str(tmp_path), DISABLE_AUTOUPDATER="1")
    assert "Validation passed" in said


def test_luarocks_accepts_the_rockspec() -> None:
    luarocks = shutil.which("luarocks")
    if luarocks is None:
        pytest.skip("needs luarocks (Debian: apt-get install luarocks)")
    run(luarocks, "lint", *(path for path in packages.files() if path.endswith(".rockspec")))
