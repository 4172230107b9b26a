"""Sourced by GDB: commands on the files of a program, and a warning of scripts that GDB has not run.

`dapeer_sources NAME` lists the source files of a name, of what `dapeer_file` has read.

GDB runs `PROGRAM-gdb.py`, and scripts inside of a program, where its `auto-load safe-path` allows that. Its warnings about
those that it has left out do not reach a client of its DAP. Here they are named, with the way to run them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
telling: Any = importlib.import_module("gdb_telling")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

# Scripts beside a program.

OF_RUST = "gdb_load_rust_pretty_printers.py"
"""Every Rust program names it. It lies in Rust's own folder, and dapeer loads it."""
STAND_IN = b"/companions/process/stand_in.py\0"
"""The end of an argument of such a process."""
NOT_RUN = re.compile(r"^No +(\S.*?) *$", re.MULTILINE)
"""A row of `info auto-load`."""
SCRIPTS = patching.Row(
    "gdb-scripts",
    "GDB",
    "Scripts of a project that GDB does not run are not named.",
    uses=("gdb.dap.server:send_event(event body=)",),
)


def warning(scripts: list[str]) -> str:
    """Return the text for the client about scripts that GDB did not run, with a line end.

    `scripts` are file names, or names of scripts inside of the program. If one is an absolute path, the text says how to run it.
    """
    file = next((name for name in scripts if name.startswith("/")), "")
    way = f'dap_evaluate(expressions=["source {file}"], context="repl") runs one.' if file else ""
    return f"GDB did not run {', '.join(scripts)}: at a core dump or a running process, scripts of a project run on request only. {way}\n"


def is_stand_in(pid: int) -> bool:
    """Return whether a process is dapeer's, which waits for GDB and becomes the program then."""
    try:
        return STAND_IN in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@SCRIPTS
def name_scripts(patch: Any) -> None:
    """Have an `output` event sent, after files are loaded, that names scripts which GDB did not run.

    Each script is named once, Rust's own never. Several files that are loaded at once are handled together. Nothing
    is sent where GDB runs all scripts, or the process is a stand-in, which is to become another program. `patch` is
    this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced by it.
    """
    send: Any = importlib.import_module("gdb.dap.server").send_event
    known: set[str] = set()
    queued: list[bool] = []

    def ask(_event: Any) -> None:
        """Post `look` to GDB's main thread, unless it waits there already."""
        if not queued:
            queued.append(True)
            gdb.post_event(patch.guard(look, lambda: None))

    def look() -> None:
        """Read `info auto-load`, and send the event for scripts that are not known yet, if there are any.

        If GDB runs all scripts, or the process is to become another program, do nothing. Scripts that were told are known from then on.
        """
        queued.clear()
        if gdb.parameter("auto-load safe-path") == os.sep:
            # It runs all that it finds.
            return
        if is_stand_in(gdb.selected_inferior().pid):
            # These are Python's.
            return
        found = NOT_RUN.findall(gdb.execute("info auto-load", to_string=True))
        new = [name for name in dict.fromkeys(found) if name not in known and name != OF_RUST]
        known.update(new)
        if new:
            send("output", {"category": "important", "output": warning(new)})

    telling.hear(patch, gdb.events.new_objfile, ask)


# The source files of a program, the program itself, and what it reads.

SOURCES = patching.Row(
    "gdb-sources",
    "GDB",
    "A breakpoint in a file that lies elsewhere than where it was compiled does not bind.",
    adds=True,
)


def source_files(name: str) -> list[str]:
    """Return the full paths of the program's source files that have the base name `name`, each once."""
    pattern = f"^{re.escape(name)}$"
    listed: Any = gdb.execute_mi("-file-list-exec-source-files", "--basename", "--", pattern)
    return list(
        dict.fromkeys(str(each.get("fullname") or each["file"]) for each in listed["files"])
    )


def load_program(program: str) -> None:
    """Load the program at the path `program` into GDB, and drop its output and errors.

    GDB's DAP loads it again, and reports what is wrong then.
    """
    with contextlib.suppress(gdb.error):
        gdb.execute(f"file '{program}'", to_string=True)


def set_input(path: str) -> None:
    """Have the program that GDB starts read the file `path` as its standard input.

    GDB's shell opens it: DAP's `launch` quotes all that stands in `args`.
    """
    opened = f'exec "$@" < {shlex.quote(path)}'
    gdb.execute(f"set exec-wrapper /bin/sh -c {shlex.quote(opened)} sh", to_string=True)


@SOURCES
def add_commands(patch: Any) -> None:
    """Define GDB's commands `dapeer_sources NAME`, `dapeer_file PROGRAM` and `dapeer_stdin FILE`.

    The first prints the paths of the program's files that have the base name NAME, one a line, and an empty line if
    there is none. The second loads a program, and drops GDB's output and errors. The third has the program that GDB
    starts read FILE as its standard input. `patch` is this patch's `patching.Row`, which calls this function when it
    is applied. The commands stay when it is undone or off: then the first prints an empty line, the second does
    nothing, and the third works as before.
    """
    find = patch.guard(source_files, lambda _name: [])  # pyright: ignore[reportUnknownLambdaType]

    class Sources(gdb.Command):  # type: ignore[misc]
        """List the files of the program that have a name."""

        def invoke(self, argument: str, _from_tty: object) -> None:
            gdb.write("\n".join(find(argument)) + "\n")

    class File(gdb.Command):  # type: ignore[misc]
        """Read a program."""

        def invoke(self, argument: str, _from_tty: object) -> None:
            patch.guard(load_program, lambda _program: None)(argument)  # pyright: ignore[reportUnknownLambdaType]

    class Input(gdb.Command):  # type: ignore[misc]
        """Have the program read a file as its standard input."""

        def invoke(self, argument: str, _from_tty: object) -> None:
            set_input(argument)

    Input("dapeer_stdin", gdb.COMMAND_FILES)
    Sources("dapeer_sources", gdb.COMMAND_DATA)
    File("dapeer_file", gdb.COMMAND_FILES)


if gdb is not None:
    telling.report_by_dap()
    SCRIPTS.apply()
    SOURCES.apply()
