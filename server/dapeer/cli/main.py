"""The command `dapeer`: `dapeer stdio`, for which a client waits, and everything else."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_IN_WINDOWS = {"install", "--help", "-h", "--version"}
"""What changes files or prints only; everything else needs what POSIX has."""


_NEEDS_WSL = "dapeer does not run on Windows yet. Install and start it in WSL, the Windows Subsystem for Linux."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of the command line, and return its exit code.

    `argv` are the words without the program's name; None: those of this process. On Windows only help, the
    version and `install` run; any other command prints to stderr that it needs WSL, and the code is 1 (`doctor` also
    prints what it can tell there). If memory or threads are lacking, or the current folder is gone, the error is
    printed to stderr, with the code 2; another `ImportError`, `RuntimeError` or `FileNotFoundError` leaves as it is.

    Raises:
        SystemExit: The words are wrong, or ask for help or the version.
    """
    given = sys.argv[1:] if argv is None else argv
    if sys.platform == "win32" and not _IN_WINDOWS.intersection(given):
        if "doctor" in given:
            sys.stdout.write(_doctor_in_windows())
        sys.stderr.write(f"{_NEEDS_WSL}\n")
        return 1
    try:
        return _run(given)
    except (ImportError, MemoryError, RuntimeError) as error:
        from dapeer.base.errors import system_error

        if (lacks := system_error(error)) is None:
            raise
        sys.stderr.write(f"dapeer: {lacks}\n")
        return 2
    except FileNotFoundError:
        from dapeer.base.errors import ArgumentError
        from dapeer.cli.command_line import check_folder

        try:
            check_folder()
        except ArgumentError as error:
            sys.stderr.write(f"dapeer: {error}\n")
            return 2
        raise


def _run(argv: Sequence[str]) -> int:
    """Run one command by the module that loads least, and return its exit code.

    `stdio` and the debugging commands have such modules; `command_line` runs the others, no command at all,
    and a `stdio` whose options or environment are unusual. `argv` is the command line without the program's
    name.

    Raises:
        SystemExit: The words are wrong, or ask for help or the version.
    """
    if argv and argv[0] == "stdio":
        from dapeer.cli import stdio

        if (code := stdio.run(argv)) is not None:
            return code
    if argv and _debugs(argv[0]):
        from dapeer.cli.debugging import calls

        return calls.run(argv)
    from dapeer.cli import command_line

    return command_line.run(argv)


def _debugs(word: str) -> bool:
    """Whether a word is a command that debugs."""
    from dapeer.cli.debugging.table import is_command

    return not word.startswith("-") and is_command(word)


def _doctor_in_windows() -> str:
    """Return the text of `dapeer doctor` on Windows, where nothing can be debugged."""
    import dapeer

    python = sys.version.split()[0]
    return (
        f"dapeer {dapeer.__version__}\n"
        f"  {'ok':8} {f'Python {python}':22} {sys.executable}\n"
        f"  {'failed':8} {'Windows':22} no debug adapter can be used here\n"
    )
