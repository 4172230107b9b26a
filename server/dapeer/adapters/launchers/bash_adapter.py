"""Run bash-dap, whose temporary files go to a folder that is removed. Only the standard library; run with `-I -S`.

It leaves a folder behind at each end. No variable is changed: the scripts that it runs have the user's own
folder. Arguments: the folder, and bash-dap's command, which is a Python script with an interpreter of its own.
"""

from __future__ import annotations

import os
import sys

CODE = (
    "import runpy, sys, tempfile; _, tempfile.tempdir, *sys.argv = sys.argv; "
    "sys.path = [*filter(None, sys.path)]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


def main() -> None:
    """Become bash-dap. Where its command is not such a script, it runs as it is."""
    folder, command = sys.argv[1:]
    with open(command, "rb") as file:  # noqa: PTH123 - pathlib takes time to import
        first = os.fsdecode(file.readline(4096))
    interpreter = first[2:].split() if first.startswith("#!") else []
    if any("python" in word for word in interpreter):
        os.execv(interpreter[0], [*interpreter, "-c", CODE, folder, command])  # noqa: S606
    os.execv(command, [command])  # noqa: S606


if __name__ == "__main__":
    main()
