"""Run bash-dap with its temporary files in a folder that dapeer removes. Only the standard library; run with `-I -S`.

bash-dap leaves a folder behind at each end. Setting `TMPDIR` would change it for the debugged scripts as well, so
this sets `tempfile.tempdir`. Arguments: the folder, and bash-dap's command, a Python script with a shebang line.
"""

from __future__ import annotations

import os
import sys

CODE = (
    "import runpy, sys, tempfile; _, tempfile.tempdir, *sys.argv = sys.argv; "
    "sys.path = [*filter(None, sys.path)]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


def main() -> None:
    """Replace this process by bash-dap. A command that is not a Python script runs unchanged."""
    folder, command = sys.argv[1:]
    with open(command, "rb") as file:
        first = os.fsdecode(file.readline(4096))
    interpreter = first[2:].split() if first.startswith("#!") else []
    if any("python" in word for word in interpreter):
        os.execv(interpreter[0], [*interpreter, "-c", CODE, folder, command])
    os.execv(command, [command])


if __name__ == "__main__":
    main()
