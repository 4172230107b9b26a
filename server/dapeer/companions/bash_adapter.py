"""Run bash-dap with its temporary files in dapeer's folder. Only the standard library; with `-I -S`.

    bash_adapter.py FOLDER COMMAND             replace this process by COMMAND, which is bash-dap: a Python script with a shebang line
    bash_adapter.py --within FOLDER COMMAND    run it, in its own Python
    bash_adapter.py --patches                  print the rows of the register as JSON, and start nothing

bash-dap leaves a folder behind at each end. Setting `TMPDIR` would change it for the debugged scripts as well, so
this sets `tempfile.tempdir`.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from typing import Any


def main() -> None:
    """Replace this process by bash-dap, or do what `--within` or `--patches` in `sys.argv` says.

    `sys.argv` has a folder for temporary files and the path of the command, which is bash-dap. A Python script
    is run by the interpreter of its first line, in this file with `--within`; any other command is run
    unchanged, so its temporary files stay where they are. This call does not return from either. With
    `--within`, folder and command follow, and the script is run in this process as `__main__`: what it raises
    leaves here. With `--patches`, the patches that this file applies are printed as a JSON list of objects
    (`patching.rows_as_dicts`).

    Raises:
        OSError: The command cannot be read or run.
    """
    if sys.argv[1] == "--patches":
        set_temporary_folder("")
        json.dump(patching.rows_as_dicts(), sys.stdout)
        return
    if sys.argv[1] == "--within":
        run_within(*sys.argv[2:])
        return
    folder, command = sys.argv[1:]
    with open(command, "rb") as file:
        first = os.fsdecode(file.readline(4096))
    interpreter = first[2:].split() if first.startswith("#!") else []
    if any("python" in word for word in interpreter):
        within = [*interpreter, __file__, "--within", folder, command]
        os.execve(interpreter[0], within, patching.environment_for_reports())
    os.execv(command, [command])


def run_within(folder: str, command: str) -> None:
    """Run the Python script `command` as `__main__` in this process, with its temporary files in `folder`."""
    patching.reporters.append(patching.to_stderr)
    set_temporary_folder(folder)
    sys.argv = [command]
    runpy.run_path(command, run_name="__main__")


def set_temporary_folder(folder: str) -> None:
    """Set `tempfile.tempdir` to `folder` in this process, by a new patch that is registered and applied.

    The patch is a `patching.Row`, named `bash-temporary-files`. Nothing is raised: if the user has switched
    the row off, or Python lacks what it needs, the folder is not set; the latter is reported.
    """
    made = patching.Row(
        "bash-temporary-files",
        "Python",
        "bash-dap leaves a folder among the temporary files behind at each end.",
        uses=("tempfile:tempdir", "tempfile:mkdtemp(suffix= prefix= dir=)"),
    )

    @made
    def apply(patch: Any) -> None:
        patch.set("tempfile:tempdir", folder)

    made.apply()


def beside(name: str) -> Any:
    """Import a module of the Python companions by its name, and return it.

    As a side effect this file's own folder, which Python has put there, is removed from `sys.path`, also after an
    error.

    Raises:
        ImportError: There is no such module; any other error of the module's code leaves, too.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    python = os.path.join(here, "python")
    sys.path[:] = [python, *(each for each in sys.path if each != here)]
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[0]


patching: Any = beside("dapeer_debuggee.patching")


if __name__ == "__main__":
    main()
