"""The interpreter of a Python program, found the way a person expects."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from dapeer.adapters.definition.sections import Interpreter
from dapeer.base.errors import ArgumentError
from dapeer.base.system import environment, folder_names, foreign_files

_IN_VENV = ("bin/python", "bin/python3", "Scripts/python.exe")
_PRINT_VERSION = "import sys; print('version = %d.%d' % sys.version_info[:2])"
_VERSION = re.compile(r"^version(?:_info)? *= *(\d+)\.(\d+)", re.MULTILINE)
"""In `pyvenv.cfg`, and in the answer to `_PRINT_VERSION`."""
_NAMED = re.compile(r"(?:python|pypy)(\d)\.(\d+)(?:\.exe)?$")
_LAST_MINOR = 20
"""The minor version of the newest Python 3 that is looked for."""
_INSTALLED = (".pyenv/versions/3.*/bin", ".local/share/uv/python/cpython-3.*/bin")
"""Where pyenv and uv keep Pythons, from the home."""
_SECONDS_TO_ANSWER = 10
_MAX_ERROR_CHARS = 300
"""Characters of what an interpreter says that does not run."""


def find_python(
    argument: str | None,
    cwd: Path,
    env: Mapping[str, str],
    *,
    project: Path | None = None,
    program: str | None = None,
) -> str:
    """Return the path of the Python interpreter for a program; `env` are its variables.

    In this order: the argument (a path, seen from `cwd` or the project, a virtual environment's folder, or a name
    on PATH), the environment whose console script the program is, `$VIRTUAL_ENV` unless it is dapeer's own, the
    nearest `.venv` above the program, that in or above `cwd`, dapeer's own environment if that lies in `cwd` or a
    folder above, `python3`, then `python` on PATH of `env`. An environment without a runnable interpreter is
    passed over. `argument` is what the caller gave; None or empty: nothing. `program` is the path of the program,
    None if there is none. `project` is only used for a relative path in `argument`.

    Raises:
        ArgumentError: The argument is no interpreter, or none is found.
    """
    if argument:
        return _find_interpreter(argument, [cwd, project or cwd], env)
    environments = _environments(cwd, env, program)
    found = next((python for folder in environments for python in _pythons(folder)), None)
    found = found or next(
        filter(None, (_on_path(name, env) for name in ("python3", "python"))), None
    )
    if found is None:
        raise ArgumentError("No Python interpreter was found.", "Give its path as `python`.")
    return found


def unused_environment(
    cwd: Path, env: Mapping[str, str], program: str | None, chosen_interpreter: str
) -> str:
    """Return why a likelier virtual environment than that of `chosen_interpreter` was passed over.

    The environments are examined in the order of `find_python`, up to the one with `chosen_interpreter`, the path
    that `find_python` has found without an argument; another one gives false reports. The sentence names the first
    that is broken: it has a `pyvenv.cfg` or a `python`, but none that runs. It is empty if none is broken; folders
    that are missing do not count. `cwd`, `env` and `program` are those of the search for the interpreter. The file
    system is read.
    """
    for folder in _environments(cwd, env, program):
        if chosen_interpreter in _pythons(folder):
            break
        python = folder / _IN_VENV[0]
        if foreign_files.is_file(folder / "pyvenv.cfg") or os.path.lexists(python):
            reason = foreign_files.why_no_file(python) or "is not executable"
            return f"{folder} is broken, so {chosen_interpreter} was used: {python} {reason}"
    return ""


def check_version(python: str, interpreter: Interpreter, cwd: Path) -> None:
    """Raise if the adapter cannot debug an interpreter; without the check, it would not answer.

    `python` is the interpreter's path, `interpreter` the definition's table. If the version is not known from
    files, the interpreter is run in `cwd`: that blocks for `_SECONDS_TO_ANSWER` at most. An interpreter whose
    version stays unknown passes if it did not fail; so does one that does not exist, or does not answer in
    time.

    Raises:
        ArgumentError: The interpreter is too old, ends with an error, or would wait for ever for its
            `pyvenv.cfg`.
    """
    for folder in Path(python).parents[:2]:
        settings = folder / "pyvenv.cfg"
        if kind := foreign_files.why_to_wait(settings):
            raise ArgumentError(
                f"{python} would wait for its {settings.name} for ever: {settings} {kind}.",
                "Remove it, or give another interpreter as `python`.",
            )
    output, code = _version_text(python, cwd)
    version = _version_in(output)
    if version is None and code:
        words = f" It said: {output}" if output else ""
        raise ArgumentError(
            f"{python} ended with exit code {code} when it was asked for its version.{words}",
            "Give another as `python`.",
        )
    if version is not None and version < interpreter.minimum:
        least = ".".join(map(str, interpreter.minimum))
        raise ArgumentError(
            f"{python} is Python {version[0]}.{version[1]}, which is too old: {least} is the oldest "
            "that can be debugged.",
            f"Give another as `python`. {interpreter.older}".rstrip(),
        )


def why_slow(python: str, interpreter: Interpreter, cwd: Path) -> str:
    """Return why a debugger makes this interpreter slow, with a faster one here; empty if it does not.

    It is empty too if the version is unknown. Where neither its environment nor its file's path tells the
    version, the interpreter may be run, in `cwd`: that blocks. If no faster one is here, only the reason is
    returned. `python` is the interpreter's path; `interpreter` has the version from which it is fast, and the
    reason.
    """
    version = version_of(python, cwd)
    if version is None or version >= interpreter.fast:
        return ""
    minor, other = next(
        _newer_pythons(interpreter.fast[1], environment.environment_for(cwd)), (0, "")
    )
    if not other:
        return interpreter.slow
    if not foreign_files.is_file(Path(python).parent.parent / "pyvenv.cfg"):
        return f"{interpreter.slow} {other} is here: give it as `python`."
    return (
        f"{interpreter.slow} {other} is here: make an environment with it (`{other} -m venv .venv-3.{minor}`), install the "
        f"program's packages there, and give .venv-3.{minor} as `python`."
    )


def _newer_pythons(least: int, env: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield minor version and path of the Python 3s of PATH, pyenv and uv from `least` on, newest first.

    `least` is a minor version, `env` has `PATH`. Versions above 3.`_LAST_MINOR` are not looked for. Each
    version comes once, that of PATH first; folders named `shims` are passed over, and no Python is run.
    """
    # A shim is there for each version that pyenv or asdf has anywhere, and refuses to run most of them.
    folders = [each for each in env.get("PATH", "").split(os.pathsep) if Path(each).name != "shims"]
    for installed in _INSTALLED:
        folders += map(str, Path(folder_names.home()).glob(installed))
    path = os.pathsep.join(folders)
    for minor in range(_LAST_MINOR, least - 1, -1):
        if found := shutil.which(f"python3.{minor}", path=path):
            yield minor, found


def version_of(python: str, cwd: Path) -> tuple[int, int] | None:
    """Return an interpreter's major and minor version; None if unknown.

    It is read from the virtual environment, or the name of the file; only where neither tells the
    interpreter is run, in `cwd`, which some heed, and once there: that blocks.
    """
    return _version_in(_version_text(python, cwd)[0])


def _version_in(text: str) -> tuple[int, int] | None:
    found = _VERSION.search(text) or _NAMED.search(text)
    return (int(found[1]), int(found[2])) if found else None


def _version_text(python: str, cwd: Path) -> tuple[str, int]:
    """Return a text that tells an interpreter's version, and its exit code if it was run.

    The text is the content of `pyvenv.cfg` of its environment or else the path of its file with links resolved, if one of
    them has a version; the interpreter is not run then, and the code is 0. Otherwise it is run in `cwd`, which blocks for
    `_SECONDS_TO_ANSWER` at most, and the text is what it prints, which is cached until the file changes, or the end of its
    stderr if it failed. An empty text with exit code 0 means that it does not exist, could not be run, or did not
    answer in time. `python` is the interpreter's path.
    """
    try:
        settings = foreign_files.read_text(Path(python).parents[1] / "pyvenv.cfg")
    except (OSError, IndexError):
        settings = ""
    for text in (settings, os.path.realpath(python)):
        if _version_in(text) is not None:
            return text, 0
    try:
        return _run_for_version(python, Path(python).stat().st_mtime_ns, cwd), 0
    except subprocess.CalledProcessError as error:
        output = error.stderr.decode("utf-8", "replace")
        return output.strip()[-_MAX_ERROR_CHARS:], error.returncode
    except (OSError, subprocess.TimeoutExpired):
        return "", 0


@functools.lru_cache(maxsize=64)
def _run_for_version(python: str, _changed: int, cwd: Path) -> str:
    """Run an interpreter in `cwd`, and return what it prints of itself; this is cached, an error is not.

    `_changed` is the time of the interpreter's file, so that it runs again if that changed.

    Raises:
        subprocess.CalledProcessError: It ended with another exit code than 0.
        subprocess.TimeoutExpired: It did not answer in `_SECONDS_TO_ANSWER`.
        OSError: It cannot be started.
    """
    done = subprocess.run(
        [python, "-c", _PRINT_VERSION],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=cwd,
        timeout=_SECONDS_TO_ANSWER,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


def find_program(
    name: str, cwd: Path, env: Mapping[str, str], project: Path, python: str = ""
) -> str | None:
    """Return the program that a bare name means; None if there is none.

    The program is a console script beside the given `python`, else one in the active virtual environment or the
    `.venv` of `cwd` or of a folder above, or dapeer's own if `cwd` is in its project, else a program on PATH. A
    relative folder of PATH, or one within the project, is passed over: what lies there is not what the name
    means elsewhere. `env` has `PATH` (else the system's default) and the active environment.

    Raises:
        ArgumentError: `python` is no interpreter.
    """
    given = [Path(_find_interpreter(python, [cwd, project], env)).parent / name] if python else []
    scripts = [*given, *(folder / "bin" / name for folder in _environments(cwd, env, None))]
    folders = [
        folder
        for folder in env.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder) and not Path(folder).is_relative_to(project)
    ]
    found = next((str(script) for script in scripts if _runs(script)), None)
    return found or shutil.which(name, path=os.pathsep.join(folders))


def _environments(cwd: Path, env: Mapping[str, str], program: str | None) -> Iterator[Path]:
    """Yield the folders of virtual environments that may be meant, the likeliest first.

    First comes the one in which `program`, a path or None, is itself; then the one that is active in `env`, the
    program's variables, unless it is dapeer's own; then the `.venv` in each folder from `program` upwards, and
    from `cwd` itself upwards; last dapeer's own, if it is that of `cwd`. The folders need not exist, except the
    first, and may come twice.
    """
    file = None if program is None else Path(program)
    if file is not None and foreign_files.is_file(file.parent.parent / "pyvenv.cfg"):
        yield file.parent.parent
    active = environment.active_environment(env)
    if active is not None:
        yield active
    for folder in (file, cwd):
        if folder is not None:
            yield from (above / ".venv" for above in (folder, *folder.parents))
    if environment.is_in_own_project(cwd):
        yield Path(sys.prefix)


def _find_interpreter(argument: str, bases: list[Path], env: Mapping[str, str]) -> str:
    """Return the interpreter of an argument: a path seen from `bases`, an environment, a name on PATH.

    In each of `bases`, in order, the argument may be the folder of an environment or, if it has a separator, a file that can be run; `~` is
    expanded. One without a separator is looked for on the `PATH` of `env` last.

    Raises:
        ArgumentError: It is none; the error says where it was looked for.
    """
    # Unlike pathlib's, it leaves the home of an unknown user unchanged.
    expanded = os.path.expanduser(argument)
    tried = dict.fromkeys(base / expanded for base in bases)
    for path in tried:
        found = next(_pythons(path), None) if foreign_files.is_folder(path) else None
        if found is None and os.sep in argument and _runs(path):
            found = str(path)
        if found is not None:
            return found
    found = None if os.sep in argument else _on_path(argument, env)
    if found is None:
        looked = " and ".join(map(_seen, tried)) + ("" if os.sep in argument else " and on PATH")
        raise ArgumentError(
            f"`python`: {argument} is not a runnable Python interpreter; looked at {looked}.",
            "Give the path of an interpreter or of a virtual environment.",
        )
    return found


def _seen(path: Path) -> str:
    """Return a path that was looked at, with what kept it from being looked at."""
    reason = foreign_files.why_no_file(path)
    return f"{path} ({reason})" if reason.startswith("cannot be reached") else str(path)


def _pythons(environment: Path) -> Iterator[str]:
    """Yield the runnable interpreters in the folder of a virtual environment, not resolved."""
    # Never resolved: an environment's interpreter is a link, and known by where the link is.
    paths = (environment / name for name in _IN_VENV)
    return (str(path) for path in paths if _runs(path))


def _runs(path: Path) -> bool:
    return foreign_files.is_file(path) and os.access(path, os.X_OK)


def _on_path(name: str, env: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=env.get("PATH", os.defpath))
