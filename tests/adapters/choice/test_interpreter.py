"""Which interpreter a Python program is run with."""

import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice.interpreter import find_program, find_python, version_of, why_slow
from dapeer.adapters.definition.sections import Interpreter
from dapeer.base.errors import ArgumentError


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


SLOW = Interpreter((3, 8), "", (3, 12), "Slow before 3.12.")


@pytest.mark.parametrize(
    ("version", "names", "said"),
    [
        ("3.12.1", ["python3.13"], ""),
        ("3.11.7", ["python3.11"], "Slow before 3.12."),
        (
            "3.11.7",
            ["python3.12", "python3.13"],
            "Slow before 3.12. PATH/python3.13 is here: make an environment with it (`PATH/python3.13 -m venv .venv-3.13`), "
            "install the program's packages there, and give .venv-3.13 as `python`.",
        ),
    ],
)
def test_the_newest_python_that_a_debugger_does_not_make_slow_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, names: list[str], said: str
) -> None:
    python = environment(tmp_path / ".venv")
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(f"version = {version}\n")
    path = tmp_path / "path"
    path.mkdir()
    for name in names:
        (path / name).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert why_slow(python, SLOW, tmp_path) == said.replace("PATH", str(path))


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


def test_a_relative_argument_is_looked_for_in_the_folder_and_in_the_project(tmp_path: Path) -> None:
    given = environment(tmp_path / "given")
    folder = tmp_path / "folder"
    folder.mkdir()
    for argument in ("given", "given/bin/python"):
        assert find_python(argument, folder, {}, project=tmp_path) == given
    with pytest.raises(ArgumentError) as caught:
        find_python("no/python", folder, {}, project=tmp_path)
    assert f"looked at {folder}/no/python and {tmp_path}/no/python" in caught.value.problem


def test_the_environment_nearest_to_the_program_is_taken_then_that_of_the_folder_to_run_in(
    tmp_path: Path,
) -> None:
    inner, outer = environment(tmp_path / "a" / ".venv"), environment(tmp_path / "b" / ".venv")
    program = tmp_path / "a" / "main.py"
    assert find_python(None, tmp_path / "b", {}, program=str(program)) == inner
    assert find_python(None, tmp_path / "b", {}, program="/nowhere/main.py") == outer


def test_a_console_script_runs_in_its_own_environment(tmp_path: Path) -> None:
    python = environment(tmp_path / "tools")
    environment(tmp_path / ".venv")
    (tmp_path / "tools" / "pyvenv.cfg").write_text("version = 3.11.7\n")
    env = {"VIRTUAL_ENV": str(tmp_path / ".venv")}
    script = str(tmp_path / "tools" / "bin" / "flask")
    assert find_python(None, tmp_path, env, program=script) == python


@pytest.mark.parametrize(
    ("configuration", "version"),
    [("version = 3.6.15\n", (3, 6)), ("home = /x\nversion_info = 3.12.1.final.0\n", (3, 12))],
)
def test_the_version_of_an_environment_is_read_without_running_its_interpreter(
    tmp_path: Path, configuration: str, version: tuple[int, int]
) -> None:
    (tmp_path / "pyvenv.cfg").write_text(configuration)
    assert version_of(str(tmp_path / "bin" / "python"), tmp_path) == version


def test_an_interpreter_whose_name_tells_nothing_is_asked_for_its_version(tmp_path: Path) -> None:
    """The executable is no Python: it answers as an old one does."""
    said = tmp_path / "pretends_to_be_2_7"
    said.write_text("#!/bin/sh\necho 'version = 2.7'\n")
    silent = tmp_path / "says_nothing"
    silent.write_text("#!/bin/sh\nexit 1\n")
    for file in (said, silent):
        file.chmod(0o755)
    assert version_of(str(said), tmp_path) == (2, 7)
    assert version_of(str(silent), tmp_path) is None
    assert version_of(str(tmp_path / "nowhere"), tmp_path) is None


def test_an_interpreter_that_has_failed_is_asked_again(tmp_path: Path) -> None:
    python = tmp_path / "fails_once"
    python.write_text("#!/bin/sh\n[ -e answers ] && echo 'version = 3.9' || exit 1\n")
    python.chmod(0o755)
    assert version_of(str(python), tmp_path) is None
    (tmp_path / "answers").touch()
    assert version_of(str(python), tmp_path) == (3, 9)


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
    assert argument in caught.value.problem


def test_no_interpreter_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="No Python interpreter"):
        find_python(None, tmp_path, {"PATH": str(tmp_path)})


def runs(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_by_its_name_is_the_environment_s_script_or_on_path(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    tool, ours = runs(elsewhere / "tool"), runs(project / "bin" / "tool")
    env = {"PATH": f":bin:{Path(ours).parent}:{elsewhere}"}
    # What a project puts on PATH under the name of a known tool is not that tool.
    assert find_program("tool", project, env, project) == tool
    environment(project / ".venv")
    script = runs(project / ".venv" / "bin" / "tool")
    assert find_program("tool", project, env, project) == script
    assert find_program("nothing", project, env, project) is None
    # The scripts of the interpreter that is asked for come first.
    python, beside = (
        runs(tmp_path / "other" / "bin" / "python"),
        runs(tmp_path / "other" / "bin" / "tool"),
    )
    assert find_program("tool", project, env, project, python) == beside
