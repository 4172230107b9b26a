"""Runs debugpy's launcher, which starts the program, reads its output, and tells its end.

This runs in the program's own Python.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import runpy
import sys
import types
from collections.abc import Callable, Generator
from typing import Any

NO_TOKEN = "none"  # noqa: S105 - it is none
"""Passed in place of the adapter's access token, if it has none."""

FORCED = ("PYTHONUNBUFFERED", "PYTHONIOENCODING")
"""Variables that debugpy sets for a program whose output it reads."""
SUPPORT = "GEVENT_SUPPORT"
"""The variable by which pydevd, at its import, keeps threads and sockets that greenlets replace."""
INTEGRATION = "_pydevd_bundle.pydevd_gevent_integration"
GREENLETS = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:gevent|eventlet)\b", re.MULTILINE)
IMPORTED = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
MAX_SOURCE_BYTES = 1 << 20
"""Bytes of a source that are looked at."""
UNBUFFERED = "-u"
"""Python's option by which output arrives at once."""


def run(folder: str, script: str, beside: Callable[[str], Any]) -> None:
    """Run debugpy's launcher in this process, with those patches that fit it.

    It returns or exits as the launcher does. A patch that does not fit is left off, and reported to dapeer by
    a line on stderr.

    Args:
        folder: The folder of debugpy, which its launcher passes to Python to start the debug server.
        script: The path of the script that runs the program instead: `debugpy_launcher.py`.
        beside: Imports a module that lies beside that script, by its name, and returns it.
    """
    patching = beside("dapeer_debuggee.patching")
    patching.reporters.append(patching.to_stderr)
    spawn_beneath(patching, folder, script).apply()
    keep_environment(patching, folder).apply()
    try:
        output = beside("debugpy_output")
    except Exception as error:  # such as a system without `fcntl`
        lost = "Each stop is shown a moment later, and some output before it may come after it."
        patching.Row("output-drained", "debugpy", lost).fail(error)
    else:
        output.REFUSED.apply()
        output.DRAINED.apply()
    runpy.run_module("debugpy.launcher", run_name="__main__", alter_sys=True)


def spawn_beneath(patching: Any, folder: str, script: str) -> Any:
    """Register the row by which debugpy's launcher starts the program by a script, and return it.

    The row is not applied here. Applied, it replaces debugpy's `spawn`: the script is put before `folder` on the command line, and behind
    it the option for an access token is left out if it says that there is none. A command line without `folder` stays as it is.

    Args:
        patching: The module `patching`.
        folder: The path that the launcher runs to start the server.
        script: The path of the script.
    """
    target = "debugpy.launcher.debuggee:spawn"
    row = patching.Row(
        "program-beneath",
        "debugpy",
        "Programs run with debugpy's own frames and namespace, and without dapeer's changes in them.",
        replaces={target: "process_name cmdline env redirect_output"},
    )

    @row
    def apply(_row: Any) -> None:
        """Replace debugpy's `spawn`, so that the program is run by `script`, without the option for the token.

        It is called when the row is applied. A command line without `folder` stays as it is.
        """

        @row.replace(target)
        def spawn(
            stock: Any, process_name: str, cmdline: list[str], *rest: Any, **named: Any
        ) -> Any:
            if folder in cmdline:
                place = cmdline.index(folder)
                cmdline = [*cmdline[:place], script, *without_token(cmdline[place:])]
            return stock(process_name, cmdline, *rest, **named)

    return row


def keep_environment(patching: Any, folder: str) -> Any:
    """Make the patch by which the program's environment is as the user gave it; return it, not applied.

    debugpy sets variables by which the program's streams, and those of all its children, are UTF-8 and unbuffered.
    With the patch, the two variables of `FORCED` have the values that the user gave, or are not set, and the
    program's own Python gets the option for unbuffered streams, which no child inherits. This holds where debugpy
    reads the output, and `folder` is in the command. Otherwise, such as in a terminal, the program is started as
    debugpy does. The patch is a `patching.Row`, which enters itself into the register of patches; its `apply` is
    left to the caller.

    Args:
        patching: The module `patching`.
        folder: The folder of debugpy, which the launcher passes to Python to start the debug server.
    """
    launch, spawn = "debugpy.launcher.handlers:launch_request", "debugpy.launcher.debuggee:spawn"
    row = patching.Row(
        "environment-as-given",
        "debugpy",
        "Programs and their children print as UTF-8 and unbuffered, whatever their environment says.",
        replaces={launch: "request", spawn: "process_name cmdline env redirect_output"},
    )
    given: dict[str, Any] = {}

    @row
    def apply(_row: Any) -> None:
        """Replace two functions of debugpy: one remembers the given environment, the other restores it.

        It is called when the row is applied.
        """

        @row.replace(launch)
        def launch_request(stock: Any, request: Any, *rest: Any, **named: Any) -> Any:
            given.update({**os.environ, **(request.arguments.get("env") or {})})
            return stock(request, *rest, **named)

        @row.replace(spawn)
        def with_given(
            stock: Any,
            process_name: str,
            cmdline: list[str],
            env: dict[str, str],
            redirect_output: Any,
            *rest: Any,
            **named: Any,
        ) -> Any:
            """Do as debugpy's `spawn`, with the remembered variables and Python's `-u`, if it reads the output.

            Into a terminal (`redirect_output` is false) the program is started as debugpy does.
            """
            # Into a terminal debugpy lets the program print as it does.
            if redirect_output and folder in cmdline:
                env = {key: value for key, value in env.items() if key not in FORCED}
                env.update({key: given[key] for key in FORCED if given.get(key) is not None})
                place = cmdline.index(folder)
                cmdline = [*cmdline[:place], UNBUFFERED, *cmdline[place:]]
            return stock(process_name, cmdline, env, redirect_output, *rest, **named)

    return row


def without_token(command: list[str]) -> list[str]:
    """Return debugpy's command line without the option of an access token, if its value is `NO_TOKEN`.

    Any other command line is returned unchanged.
    """
    name = "--adapter-access-token"
    place = command.index(name) if name in command else len(command)
    if command[place + 1 : place + 2] != [NO_TOKEN]:
        return command
    return command[:place] + command[place + 2 :]


def nothing() -> None:
    """Do nothing, in place of any function of a module that is left out."""


class AbsentModule(types.ModuleType):
    """Stands for a module of pydevd that the program does without."""

    def __getattr__(self, name: str) -> Any:
        """Return a function that does nothing, for any name without two leading underscores."""
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing


@contextlib.contextmanager
def set_gevent_support(command: list[str]) -> Generator[None, None, None]:
    """Set `GEVENT_SUPPORT` in the body, where pydevd is imported, if the program uses greenlets.

    `command` is debugpy's command line; `uses_greenlets` tells by it whether the program does. The variable is
    removed at the end, so the program does not see it. If the program uses none, or the user has set the
    variable, nothing happens. Otherwise, if gevent is not installed, a module of pydevd's that needs gevent is
    replaced, also after the body, by one whose functions do nothing.
    """
    if SUPPORT in os.environ or not uses_greenlets(command):
        yield
        return
    os.environ[SUPPORT] = "True"
    if importlib.util.find_spec("gevent") is None:
        # pydevd would print that it misses what only its list of gevent's greenlets needs.
        sys.modules[INTEGRATION] = AbsentModule(INTEGRATION)
    try:
        yield
    finally:
        del os.environ[SUPPORT]


def uses_greenlets(command: list[str]) -> bool:
    """Return whether a program, or a module beside it that it imports, imports gevent or eventlet.

    `command` is debugpy's command line, which names the program by its path or by `-m`. Sources are only searched for such lines, in their
    first `MAX_SOURCE_BYTES`; none is run. False also if there is no source.
    """
    named = command[command.index("-m") + 1 : command.index("-m") + 2] if "-m" in command else []
    places = [
        place for each in named for place in sources_of(os.getcwd(), each.replace(".", os.sep))
    ]
    program = next(filter(os.path.isfile, [*places, *command[1:]]), "")
    text = first_bytes_of(program)
    if GREENLETS.search(text):
        return True
    folder = os.path.dirname(os.path.abspath(program))
    imported = {each.decode("ascii", "ignore") for each in IMPORTED.findall(text)}
    return any(
        GREENLETS.search(first_bytes_of(place))
        for each in imported
        for place in sources_of(folder, each)
    )


def sources_of(folder: str, name: str) -> list[str]:
    """Return the three paths at which the source of the module or package `name` of `folder` may be.

    They need not exist.
    """
    place = os.path.join(folder, name)
    return [f"{place}.py", os.path.join(place, "__main__.py"), os.path.join(place, "__init__.py")]


def first_bytes_of(path: str) -> bytes:
    """Return the first `MAX_SOURCE_BYTES` bytes of a file, or all if it has fewer.

    The result is empty if the file cannot be read, or is no regular file.
    """
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.read(MAX_SOURCE_BYTES)
    except OSError:
        return b""
