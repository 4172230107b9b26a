"""Sourced by GDB: it names the scripts beside a program that it has not run, with the way to run them.

GDB runs `PROGRAM-gdb.py`, and scripts inside of a program, where its `auto-load safe-path` allows that. Its warnings about
those that it has left out do not reach a client of its DAP.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
telling: Any = importlib.import_module("gdb_telling")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

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

    Each script is named once, Rust's own never. Several files that are loaded at once are handled together. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
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


if gdb is not None:
    telling.report_by_dap()
    SCRIPTS.apply()
