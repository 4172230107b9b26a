"""Run a program in the terminal that is our stdin. Only the standard library; run with `-I -S`.

The process leads a session already; here the terminal becomes that session's own, so that the
program can open `/dev/tty`, and is told when the terminal is gone.
"""

from __future__ import annotations

import fcntl
import os
import sys
import termios


def main(command: list[str]) -> None:
    """Become the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    try:
        os.execvp(command[0], command)  # noqa: S606 - what the user wants to debug
    except (OSError, ValueError) as error:
        sys.exit(f"{command[0]}: {getattr(error, 'strerror', None) or error}")


if __name__ == "__main__":
    main(sys.argv[1:])
