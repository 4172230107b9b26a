"""What is debugged where the program is a command, as one types it in a shell."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dapeer.adapters.launch_request import LaunchRequest
from dapeer.base.errors import ArgumentError
from dapeer.launch.commands import resolve_command, script_interpreter
from tests.harness import OURS


def typed(folder: Path, *words: str, kind: str | None = None, **inputs: object) -> LaunchRequest:
    program, *args = words
    given: dict[str, Any] = {"program": program, **({"args": args} if args else {}), **inputs}
    return resolve_command(OURS, LaunchRequest(kind, None, "", given, {}, None), folder)


@pytest.mark.parametrize(
    ("words", "kind", "inputs", "config"),
    [
        (["python3", "-u", "-X", "dev", "a.py", "-v"], "debugpy", {"program": "a.py", "args": ["-v"]}, {"pythonArgs": ["-u", "-X", "dev"]}),
        (["python", "-Bm", "shop", "x"], "debugpy", {"module": "shop", "args": ["x"]}, {"pythonArgs": ["-B"]}),
        (["python3", "-c", "f()"], "debugpy", {"code": "f()"}, {}),
        (["python3 a.py --all 'x y'"], "debugpy", {"program": "a.py", "args": ["--all", "x y"]}, {}),
        (["bash", "a.sh", "1"], "bash-dap", {"program": "a.sh", "args": ["1"]}, {}),
    ],
)  # fmt: skip
def test_an_interpreters_program_is_debugged(
    words: list[str], kind: str, inputs: dict[str, Any], config: dict[str, Any], tmp_path: Path
) -> None:
    if words[0] == "python":
        # Debian has no `python`, but each project's environment.
        environment = tmp_path / ".venv"
        (environment / "bin").mkdir(parents=True)
        (environment / "pyvenv.cfg").touch()
        (environment / "bin/python").symlink_to(sys.executable)
    found = typed(tmp_path, *words)
    rest = {key: each for key, each in found.inputs.items() if key not in {"remark", "python"}}
    assert (found.type, rest, found.config) == (kind, inputs, config)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("go build ./...", "the debugger would see go alone. Give a folder or a file of Go"),
        ("cargo +nightly run", "would see cargo alone. Build it with `cargo build`"),
        ("make test", "give the program that the recipe starts as `program`"),
        ("uv run --with rich a.py -v", 'as `program`: dap_run(program="a.py", args=["-v"]).'),
        ("uv run -m pytest", 'dap_run(program="python", args=["-m", "pytest"]).'),
        ("bundle exec rspec", 'dap_run(program="rspec", env={"RUBYOPT": "-rbundler/setup"}).'),
        ("python3", "is an interpreter, and nothing in `args` says what it runs."),
    ],
)
def test_a_command_that_no_debugger_follows_is_refused_with_the_right_call(
    words: str, told: str, tmp_path: Path
) -> None:
    for given in ([words], words.split()):
        with pytest.raises(ArgumentError) as caught:
            typed(tmp_path, *given)
        assert told in str(caught.value)


def test_the_right_call_is_valid_whatever_the_command_has(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        typed(tmp_path, "uv", "run", "--with", "rich", "it's.py", 'say "hi"', "\\n")
    assert str(caught.value).endswith(
        r"""dap_run(program="it's.py", args=["say \"hi\"", "\\n"])."""
    )


def test_who_names_a_debugger_of_the_interpreter_gets_it(tmp_path: Path) -> None:
    for words, kind in ((["python3", "a.py"], "gdb"), (["make"], "gdb"), (["python3"], "bash-dap")):
        found = typed(tmp_path, *words, kind=kind)
        assert (found.type, found.inputs["program"]) == (kind, words[0])


def test_a_file_of_the_project_is_a_program_whatever_its_name(tmp_path: Path) -> None:
    for name in ("python3", "make", "go"):
        (tmp_path / name).write_text("print()\n")
        assert typed(tmp_path, name, "x").inputs == {"program": name, "args": ["x"]}


def test_a_shim_of_a_version_manager_is_not_debugged_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims = tmp_path / "elsewhere" / "shims"
    shims.mkdir(parents=True)
    for name in ("python3", "pytest"):
        (shims / name).write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" "$@"\n')
        (shims / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(shims) + os.pathsep + os.environ["PATH"])
    (tmp_path / "project").mkdir()
    found = typed(tmp_path / "project", "pytest", "tests")
    assert found.inputs["program"] == str(Path(sys.executable).parent / "pytest")
    assert found.type == "debugpy"


def test_a_shim_that_starts_nothing_is_the_program_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims, own = tmp_path / "elsewhere" / "shims", tmp_path / "own"
    shims.mkdir(parents=True)
    own.mkdir()
    (own / "pytest").write_text("print()\n")
    for name in ("python3", "pytest"):
        (shims / name).write_text("#!/usr/bin/env bash\necho none is installed\nexit 1\n")
        (shims / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(shims) + os.pathsep + os.environ["PATH"])
    monkeypatch.chdir(own)
    (tmp_path / "project").mkdir()
    found = typed(tmp_path / "project", "pytest", "tests")
    assert found.inputs == {"program": "pytest", "args": ["tests"]}


def test_a_test_runner_of_node_modules_is_found_whether_typed_with_its_folder_or_not(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "node_modules" / ".bin"
    folder.mkdir(parents=True)
    (folder / "vitest").write_text("#!/bin/sh\nexec node vitest.mjs\n")
    (folder / "vitest").chmod(0o755)
    with_folder = typed(tmp_path, "./node_modules/.bin/vitest", "run")
    bare = typed(tmp_path, "vitest", "run")
    assert with_folder.type == bare.type == "js-debug"
    assert with_folder.config == bare.config
    assert "remark" not in with_folder.inputs


def test_a_script_of_an_installer_names_its_interpreter_also_behind_a_shell(tmp_path: Path) -> None:
    for number, text in enumerate(
        (
            f"#!{sys.executable}\n",
            f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n",
        )
    ):
        script = tmp_path / str(number)
        script.write_text(text)
        assert script_interpreter(str(script)) == sys.executable
    assert script_interpreter(str(tmp_path / "none")) == ""
