"""`dapeer script FILE`: runs what `dap_script` runs, in the foreground, with a server of its own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dapeer.base.system.stderr import say
from dapeer.cli.debugging.answers import FAILED, INTERRUPTED
from dapeer.cli.debugging.options import single_parser
from dapeer.scripting.debugger import Debugger, execute
from dapeer.scripting.wire import ServerGone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WRONG_USE: Final = 2
STDIN: Final = "-"
SUMMARY: Final = "run Python that has the tools as methods of `d`, here and now"


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the parser of the command `script` by `add`, and return it.

    `add` is called once with the name, and with `help`, `description` and `epilog`; it returns the new parser.
    """
    parser = add(
        "script",
        help=SUMMARY,
        description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}; what it has started ends with it.",
        epilog='For example: with d.run("shop.py", breakpoints=["shop.py:27"]) as s: print(s.place, s.value("total"))',
    )
    parser.add_argument("file", metavar="FILE", help="the script; - reads it from standard input")
    parser.add_argument("args", metavar="ARGUMENT", nargs="*", help="the script's own arguments")
    return parser


def run(argv: Sequence[str]) -> int:
    """Run a script with a debugger and a server of its own, and return its exit code.

    `argv` is the command line, from the word `script` on; the script comes from a file, or for `-` from stdin.
    `sys.argv` is set to the script's name and arguments. The server ends with the script. The code is 0, or 1 if
    the script raises an error (its traceback is printed) or the server ends or does not start, `WRONG_USE` if the
    script cannot be read (a line on stderr says why), `INTERRUPTED` after Ctrl-C once the script is read.

    Raises:
        SystemExit: The words are wrong (2), or ask for help (0), or the script itself has raised this.
        KeyboardInterrupt: Ctrl-C came while the script was still read.
    """
    typed = add_parser(single_parser).parse_args(argv[1:])
    try:
        code = sys.stdin.read() if typed.file == STDIN else Path(typed.file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        say(f"{typed.file} cannot be read: {getattr(error, 'strerror', None) or error}.")
        return WRONG_USE
    sys.argv = [typed.file, *typed.args]
    try:
        with Debugger() as debugger:
            return execute(code, "<stdin>" if typed.file == STDIN else typed.file, debugger)
    except ServerGone as error:
        say(str(error))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
