"""Run a program with stdin as its controlling terminal. Only the standard library; with `-I -S`.

This process already leads a session. With a controlling terminal the program can open `/dev/tty`, and gets
SIGHUP when the terminal closes.
"""

from __future__ import annotations

import fcntl
import os
import sys
import termios


def main(command: list[str]) -> None:
    """Make stdin the controlling terminal, and replace this process by the program `command`.

    Its first word is looked for on PATH. Exits with a message on stderr if there is no such program, or it may not be run.
    """
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    try:
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        sys.exit(f"{command[0]}: {getattr(error, 'strerror', None) or error}")


if __name__ == "__main__":
    main(sys.argv[1:])
