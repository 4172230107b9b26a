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
    """Replace this process by the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    try:
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        sys.exit(f"{command[0]}: {getattr(error, 'strerror', None) or error}")


if __name__ == "__main__":
    main(sys.argv[1:])
