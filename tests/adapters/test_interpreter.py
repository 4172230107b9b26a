"""Which interpreter a Python program is run with."""

import sys
from pathlib import Path

import pytest

from dapeer.adapters.interpreter import find_python
from dapeer.errors import ArgumentError


def environment(folder: Path) -> str:
    """Make what looks like a virtual environment; return its interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return str(python)


def on_path(folder: Path, name: str = "python3") -> tuple[str, dict[str, str]]:
    folder.mkdir()
    (folder / name).symlink_to(sys.executable)
    return str(folder / name), {"PATH": str(folder)}


def test_the_argument_wins(tmp_path: Path) -> None:
    given = environment(tmp_path / "given")
    environment(tmp_path / ".venv")
    env = {"VIRTUAL_ENV": str(tmp_path / ".venv")}
    assert find_python(given, tmp_path, env) == given


def test_the_argument_may_be_relative_a_folder_or_a_name(tmp_path: Path) -> None:
    given = environment(tmp_path / "given")
    python, env = on_path(tmp_path / "path", "mypython")
    assert find_python("given/bin/python", tmp_path, {}) == given
    assert find_python("given", tmp_path, {}) == given
    assert find_python("mypython", tmp_path, env) == python


def test_the_active_environment_comes_before_that_of_the_project(tmp_path: Path) -> None:
    active = environment(tmp_path / "active")
    environment(tmp_path / ".venv")
    assert find_python(None, tmp_path, {"VIRTUAL_ENV": str(tmp_path / "active")}) == active


def test_an_active_environment_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    python = environment(tmp_path / ".venv")
    assert find_python(None, tmp_path, {"VIRTUAL_ENV": str(tmp_path / "gone")}) == python


def test_the_nearest_environment_of_the_project_is_taken(tmp_path: Path) -> None:
    outer = environment(tmp_path / ".venv")
    inner = environment(tmp_path / "a" / ".venv")
    (tmp_path / "b" / "c").mkdir(parents=True)
    assert find_python(None, tmp_path / "a", {}) == inner
    assert find_python(None, tmp_path / "b" / "c", {}) == outer


@pytest.mark.parametrize("name", ["python3", "python"])
def test_path_comes_last(tmp_path: Path, name: str) -> None:
    python, env = on_path(tmp_path / "path", name)
    assert find_python(None, tmp_path, env) == python


@pytest.mark.parametrize(
    "argument", ["/nowhere/python", "plain.txt", "./plain.txt", "empty", "nopy"]
)
def test_a_bad_argument_is_named(tmp_path: Path, argument: str) -> None:
    (tmp_path / "plain.txt").write_text("not executable")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArgumentError) as caught:
        find_python(argument, tmp_path, {"PATH": str(tmp_path)})
    assert argument in caught.value.what


def test_no_interpreter_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="No Python interpreter"):
        find_python(None, tmp_path, {"PATH": str(tmp_path)})
