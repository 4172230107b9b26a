"""The command line: arguments in, a running server or a report out.

Each command imports its modules when it runs. The MCP library takes half a second to load, too long for
`--version`, `--help` or a mistyped option.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import dapeer
from dapeer.errors import ArgumentError, DapeerError
from dapeer.install import arguments as installing
from dapeer.system import credentials, logs, preconditions

if TYPE_CHECKING:
    from dapeer.mcp.serving import ServerOptions

LEVELS: Final = ("debug", "info", "warning", "error")
WRONG_USE: Final = 2
"""Exit code for a mistake of the user, as argparse has it."""
INTERRUPTED: Final = 130
AUTO: Final = "auto"
NONE: Final = "none"

AddParser = Callable[..., argparse.ArgumentParser]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    preconditions.open_standard_streams()
    # First of all, so that no child process inherits them.
    secrets = credentials.taken()
    arguments = _parser().parse_args(argv)
    arguments.credentials = secrets
    arguments.given = sys.argv[1:] if argv is None else argv
    try:
        preconditions.check_folder()
        logs.set_up(arguments.log_level, arguments.log_file)
        return arguments.command(arguments)
    except (DapeerError, ExceptionGroup, OSError, MemoryError) as error:
        logs.say(str(preconditions.told(error)))
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _stdio(arguments: argparse.Namespace) -> int:
    nvim = arguments.nvim or _neovim_around()
    # These options apply to the whole server, so the client gets a server of its own.
    alone = arguments.no_bridge or arguments.successor
    if not (alone or arguments.read_only or arguments.tools or arguments.no_redact):
        from dapeer.mcp.rendezvous import announcement, bridge, standing

        if reached := announcement.reach(Path.cwd(), nvim):
            wish = standing.ClientWish(
                nvim, arguments.given, arguments.credentials, data=arguments.data
            )
            return bridge.carry(reached, wish)
    import asyncio

    with _nothing_collected():
        from dapeer.mcp.serving import serve_stdio

    asyncio.run(serve_stdio(_offer(arguments, nvim)))
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    import asyncio

    with _nothing_collected():
        from dapeer.mcp.web import Address, serve_http

    address = Address(
        arguments.host, arguments.port, arguments.token_file, authenticate=not arguments.no_auth
    )
    offer = _offer(arguments, arguments.nvim)
    asyncio.run(serve_http(offer, address, with_stdin=arguments.with_stdin))
    return 0


@contextmanager
def _nothing_collected() -> Generator[None]:
    """Import a server with the garbage collector off, which saves a tenth of the start.

    Loaded modules stay for good, so later collections skip them as well.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _offer(arguments: argparse.Namespace, nvim: str) -> ServerOptions:
    from dapeer.mcp.serving import ServerOptions
    from dapeer.opencode.client import URL, address

    url = arguments.opencode or os.environ.get(URL)
    return ServerOptions(
        arguments.read_only,
        arguments.tools,
        arguments.no_redact,
        arguments.data,
        nvim=None if nvim == NONE else nvim,
        patient=getattr(arguments, "successor", False),
        opencode=address(url) if url else None,
        readable=tuple(arguments.readable),
        credentials=arguments.credentials,
    )


def _neovim_around() -> str:
    """Return the Neovim in whose terminal dapeer runs; without it, or after its end: those of the project."""
    from dapeer.neovim.discovery import sockets

    address = sockets.terminal_of()
    return address if address is not None and sockets.is_listening(address) else AUTO


def _rtp(_arguments: argparse.Namespace) -> int:
    from dapeer.neovim.discovery.discovery import plugin_folder

    sys.stdout.write(f"{plugin_folder()}\n")
    return 0


def _demo(arguments: argparse.Namespace) -> int:
    import asyncio

    from dapeer.demo import story, story_collect, story_nvim

    told = story_nvim if arguments.nvim else story_collect if arguments.collect else story
    return asyncio.run(told.run())


def _doctor(arguments: argparse.Namespace) -> int:
    from dapeer import doctor

    return doctor.check(arguments.adapter) if arguments.adapter else doctor.report()


def _register(arguments: argparse.Namespace) -> int:
    import asyncio

    from dapeer.mcp.rendezvous import announcement
    from dapeer.opencode.client import OpenCode, address
    from dapeer.opencode.registration import Core, register

    directory = arguments.directory.resolve()
    found = announcement.serving_http(directory)
    if found is None:
        raise ArgumentError(
            f"No dapeer server serves HTTP for {directory}.",
            "Start one there with `dapeer serve`, or name its project with --directory.",
        )

    async def run() -> str:
        async with OpenCode(address(arguments.url), arguments.credentials) as opencode:
            core = Core(found.url, found.token)
            return await register(opencode, core, directory, name=arguments.name)

    sys.stdout.write(f"{asyncio.run(run())}\n")
    return 0


def _plugin(arguments: argparse.Namespace) -> int:
    from dapeer.opencode import plugin

    done = plugin.install() if arguments.installs else plugin.remove()
    sys.stdout.write(f"{done}\n")
    return 0


def _adapters(_arguments: argparse.Namespace) -> int:
    from dapeer import doctor

    return doctor.report_adapters()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dapeer",
        description="A debugger that you and your AI share: an MCP server that speaks the Debug "
        "Adapter Protocol.",
        epilog="`dapeer COMMAND --help` explains one command.",
    )
    parser.add_argument("--version", action="version", version=f"dapeer {dapeer.__version__}")
    _add_log_options(parser, level="warning", file=None)
    add_parser = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True
    ).add_parser
    _add_stdio(add_parser)
    _add_serve(add_parser)
    _add_demo(add_parser)
    _add_opencode(add_parser)
    installing.add_to(_add(add_parser, "install", installing.SUMMARY))
    _add_doctor(add_parser)
    for name, command, summary in (
        ("adapters", _adapters, "list the known debug adapters, and whether each is ready"),
        ("rtp", _rtp, "print the folder of the Neovim plugin, for Neovim's 'runtimepath'"),
    ):
        _add(add_parser, name, summary).set_defaults(command=command)
    return parser


def _add_stdio(add_parser: AddParser) -> None:
    parser = _add(add_parser, "stdio", "serve the MCP client that has started this process")
    parser.add_argument(
        "--no-bridge",
        action="store_true",
        help="start a separate server, even if one runs for this project",
    )
    # The options with which a bridge starts a new server when the joined one has ended.
    parser.add_argument("--successor", action="store_true", help=argparse.SUPPRESS)
    _add_neovim(parser, default=None, said="that of this terminal, else auto")
    _add_selection(parser)
    parser.set_defaults(command=_stdio)


def _add_serve(add_parser: AddParser) -> None:
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
    _add_neovim(parser, default=NONE, said=NONE)
    _add_selection(parser)
    parser.set_defaults(command=_serve)


def _add_demo(add_parser: AddParser) -> None:
    parser = _add(add_parser, "demo", "watch an assistant find a bug, with a real debugger")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--nvim", action="store_true", help="together with a person, in a Neovim with nvim-dap"
    )
    which.add_argument("--collect", action="store_true", help="in one call, without a stop")
    parser.set_defaults(command=_demo)


def _add_doctor(add_parser: AddParser) -> None:
    parser = _add(add_parser, "doctor", "what is installed, what is missing, and how to get it")
    parser.add_argument(
        "adapter",
        nargs="?",
        metavar="ADAPTER",
        help="a debug adapter to test: it is started, initialized and ended",
    )
    parser.set_defaults(command=_doctor)


def _add_opencode(add_parser: AddParser) -> None:
    parser = _add(add_parser, "opencode", "work with an OpenCode server")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    registering = _add(
        commands.add_parser,
        "register",
        "give the tools of this project's `dapeer serve` to a running OpenCode server",
    )
    registering.add_argument(
        "--url",
        help="where OpenCode listens ($DAPEER_OPENCODE_URL, else http://127.0.0.1:4096); its "
        "password comes from $OPENCODE_SERVER_PASSWORD",
    )
    registering.add_argument("--name", default="dapeer", help="the tools' prefix (%(default)s)")
    registering.add_argument(
        "--directory", type=Path, default=Path(), help="the directory of its sessions (this one)"
    )
    registering.set_defaults(command=_register)
    for name, installs, summary in (
        (
            "install",
            True,
            "let dapeer's clients call OpenCode's tools: puts a plugin into your OpenCode",
        ),
        ("remove", False, "take that plugin away"),
    ):
        _add(commands.add_parser, name, summary).set_defaults(command=_plugin, installs=installs)


def _add(add_parser: AddParser, name: str, summary: str) -> argparse.ArgumentParser:
    parser = add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    # An option may be given before or after the command; the later one wins.
    _add_log_options(parser, level=argparse.SUPPRESS, file=argparse.SUPPRESS)
    return parser


def _add_neovim(parser: argparse.ArgumentParser, *, default: str | None, said: str) -> None:
    parser.add_argument(
        "--nvim",
        type=_target,
        default=default,
        metavar="TARGET",
        help="the Neovim to attach to: the path of its socket, host:port, auto (all those that work "
        f"on this project) or none (default: {said})",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    parser.add_argument(
        "--tools", type=_groups, metavar="GROUP,…", help="only these groups of tools, such as dap"
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
    parser.add_argument(
        "--opencode",
        metavar="URL",
        help="offer the sessions of this OpenCode server, too ($DAPEER_OPENCODE_URL; its password "
        "comes from $OPENCODE_SERVER_PASSWORD)",
    )


def _add_log_options(parser: argparse.ArgumentParser, *, level: str, file: str | None) -> None:
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
    if not Path(text).expanduser().is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text).expanduser()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port from 0 to 65535")
    return int(text)


def _target(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not text or (host and "/" not in text and not port.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: expected PATH, HOST:PORT, `auto` or `none`")
    if text in (AUTO, NONE):
        return text
    from dapeer.neovim.discovery import sockets

    return sockets.normal(text)


def _groups(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
