"""Sourced by GDB: `dapeer_sources NAME` lists the files of a name, of what `dapeer_file` has read."""

from __future__ import annotations

import contextlib
import importlib
import re
import shlex
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

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
def add_command(patch: Any) -> None:
    """Define GDB's commands `dapeer_sources NAME`, `dapeer_file PROGRAM` and `dapeer_stdin FILE`.

    The first prints the paths of the program's files that have a base name, the second loads a program, the third says what file the
    program reads as stdin. `patch` is this patch's `patching.Row`, which calls this function when it is applied; the commands stay when it
    is undone, and the first two do nothing then.
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
    importlib.import_module("gdb_telling").report_by_dap()
    SOURCES.apply()
