"""What each command does.

It imports its modules when it runs: the MCP library takes half a second to load, too long for `--version`,
`--help` or a mistyped option.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dapeer.base.system.stderr import say
from dapeer.integrations.entries import ENTRIES
from dapeer.mcp.rendezvous.reaching import ANY, AUTO, NONE

if TYPE_CHECKING:
    from dapeer.mcp.rendezvous.reaching import ReachedServer
    from dapeer.mcp.serving import ServerOptions


log = logging.getLogger(__name__)


def stdio(arguments: argparse.Namespace) -> int:
    """Serve the MCP client at stdin and stdout, and return 0 at its end, or a bridge's exit code.

    It blocks until the client leaves. A server that runs already is joined by a bridge, unless the options
    prevent it; else this process is the server. With `--detached` it serves commands and others at its
    socket, and nobody at stdin, until nobody needs the server. `arguments` are the parsed ones of the command
    line. A bridge's code is 0, or `SERVER_LEFT` if there is no server any more.

    Raises:
        DapeerError: The definition of an adapter is wrong, no tool belongs to one of the chosen groups, or an
            integration cannot use its options.
        MemoryError: A limit leaves too little memory.
    """
    if arguments.detached:
        return _serve_detached(arguments)
    nvim = arguments.nvim or _neovim_around()
    if not (arguments.no_bridge or arguments.successor or arguments.front):
        from dapeer.mcp.rendezvous import bridge, standing

        if reached := _connect_to_joinable(arguments, nvim):
            wish = standing.ClientWish(
                nvim, arguments.given, arguments.credentials, data=arguments.data
            )
            return bridge.carry_lines(reached, wish)
    nvim = AUTO if nvim == ANY else nvim
    import anyio

    with without_garbage_collection():
        from dapeer.mcp.serving import serve_stdio

        offer = _server_options(arguments, nvim)
    anyio.run(serve_stdio, offer, arguments.front)
    return 0


def _serve_detached(arguments: argparse.Namespace) -> int:
    """Serve commands and other clients at the project's socket until nobody needs the server; return 0.

    It blocks, in this process: whoever has started the process detaches it, and learns by the end of its stdin,
    which is replaced, that the server can be found. `arguments` are those of the command line, which choose the
    server's options. SIGTERM, SIGINT or a command may end the server, too. At the end all debug sessions are
    ended.

    Raises:
        DapeerError: The definition of an adapter is wrong, the options of an integration cannot be used, or no
            tool belongs to one of the chosen groups.
        ExceptionGroup: It wraps an OSError: the runtime folder cannot be written.
        MemoryError: A limit leaves too little memory.
    """
    import anyio

    with without_garbage_collection():
        from dapeer.mcp.serving import serve_detached

        offer = _server_options(arguments, AUTO)
    anyio.run(serve_detached, offer)
    return 0


def _connect_to_joinable(arguments: argparse.Namespace, nvim: str) -> ReachedServer | None:
    """Connect to a running server that fits the working directory and `nvim`, and return the connection.

    `nvim` is the address of a Neovim, for the server that is attached to it, or `any`, `auto` or `none`, as
    `connect_to_server` explains. It may wait for each server that greets late, and removes the announcements
    of servers that have ended. None: there is no such server, or options were given that a running server
    cannot follow; then the connection is closed, and a sentence on stderr names the options. Closing what is
    returned is left to the caller.
    """
    from dapeer.mcp.rendezvous import reaching

    reached = reaching.connect_to_server(str(Path.cwd()), nvim)
    if reached is None:
        return None
    server = f"the server of {reached.announcement.project} (process {reached.announcement.pid})"
    if of_a_server := _server_wide_options(arguments):
        reached.connection.close()
        say(
            f"{', '.join(of_a_server)}: a server that runs cannot change this for one client, so this client has "
            f"a server of its own. It does not share the sessions of {server}."
        )
        return None
    level = logging.WARNING if arguments.log_file else logging.INFO
    log.log(level, "joined %s, whose own log is elsewhere", server)
    return reached


def _server_wide_options(arguments: argparse.Namespace) -> list[str]:
    """Return the names of the options that were given and that apply to all clients of a server.

    These are `--read-only`, `--tools`, `--readable`, `--no-redact`, and options and variables of integrations.
    """
    options = {
        "--read-only": arguments.read_only,
        "--tools": arguments.tools,
        "--readable": arguments.readable,
        "--no-redact": arguments.no_redact,
    }
    for each in ENTRIES:
        options |= each.server_wide_options(arguments)
    return [name for name, value in options.items() if value]


def serve(arguments: argparse.Namespace) -> int:
    """Serve MCP clients over HTTP, as the parsed arguments say, until the process is ended; return 0.

    SIGTERM and SIGINT end the call; with `--with-stdin` so does the end of standard input. All debug
    sessions are ended then. The port is printed to stdout, the address for clients to stderr.

    Raises:
        ArgumentError: The port cannot be had, or the token, a group of tools, or an option of an
            integration cannot be used.
        DefinitionError: The definition of an adapter is wrong.
        ExceptionGroup: It contains `NoNeovim` if the Neovim to attach to is not there, or `SystemUnsupported` if
            standard output is closed.
        MemoryError: A limit leaves the process too little memory; nothing was started.
    """
    import anyio

    with without_garbage_collection():
        from dapeer.mcp.web import ServerAddress, serve_http

        offer = _server_options(arguments, arguments.nvim)
    address = ServerAddress(
        arguments.host, arguments.port, arguments.token_file, authenticate=not arguments.no_auth
    )
    anyio.run(lambda: serve_http(offer, address, with_stdin=arguments.with_stdin))
    return 0


def _server_options(arguments: argparse.Namespace, nvim: str) -> ServerOptions:
    """Return the options of a server, from the parsed arguments.

    `nvim` is the Neovim to attach to: an address, `auto` for those of the project, or `none`. `arguments` are those
    of a command that starts a server; `successor` and `door` may be missing in them.

    Raises:
        ArgumentError: The options of an integration cannot be used, such as a URL that is no HTTP address.
    """
    from dapeer.mcp.serving import ServerOptions

    return ServerOptions(
        arguments.read_only,
        arguments.tools,
        arguments.no_redact,
        arguments.data,
        nvim=None if nvim == NONE else nvim,
        may_await_neovim=getattr(arguments, "successor", False),
        readable=tuple(arguments.readable),
        credentials=arguments.credentials,
        neovim_socket=getattr(arguments, "door", None),
        integrations=[each.integration(arguments) for each in ENTRIES],
    )


def _neovim_around() -> str:
    """Return the address of the Neovim in whose terminal dapeer runs.

    It is `any` if there is none, or it has ended.
    """
    from dapeer.neovim import sockets

    address = sockets.terminal_neovim_address()
    return address if address is not None and sockets.is_listening(address) else ANY


def rtp(_arguments: argparse.Namespace) -> int:
    """Print the folder of the Neovim plugin, and return 0."""
    from dapeer.neovim.program import plugin_folder

    sys.stdout.write(f"{plugin_folder()}\n")
    return 0


def debug(arguments: argparse.Namespace) -> int:
    """Call a tool, or run a script, by the words from the command on; return the exit code.

    It is used where options of the log stand before the command.
    """
    from dapeer.cli.debugging import calls, table

    at = next(n for n, word in enumerate(arguments.given) if table.is_command(word))
    return calls.run(arguments.given[at:])


def demo(arguments: argparse.Namespace) -> int:
    """Play the demo that the parsed arguments choose, print its transcript, and return the exit code.

    With `--nvim` it starts a Neovim, and `--collect` is ignored; with `--collect` it collects values in place of
    stops. The code is 0, or 1 if the demo does not go as its story says, or for `--nvim` Neovim is missing or too
    old, or nvim-dap is missing; the reason is printed. Other errors, such as of a Neovim that ends, leave this
    function, perhaps in an exception group.
    """
    import anyio

    from dapeer.cli import demo, demo_nvim

    if arguments.nvim:
        return anyio.run(demo_nvim.run)
    return anyio.run(lambda: demo.run(collects=arguments.collect))


def doctor(arguments: argparse.Namespace) -> int:
    """Print the patches, a trial of one adapter, or a report on this installation; return the exit code.

    The options choose: `--patches` prints all that dapeer changes in other software, else the name of an
    adapter prints how it debugs a small program; without both it is the report on the installation, adapters
    and assistants. `--json` prints the trial or the report as JSON, and changes nothing for the patches.
    Adapters and other programs are started. The code is `NOTHING_READY` if the adapter is missing, has failed,
    or was too slow, or for the report if no adapter is ready; else 0.

    Raises:
        AdapterUnknown: There is no adapter of the name that is given.
        DefinitionError: The definition of an adapter is wrong.
    """
    from dapeer.cli import doctor

    if arguments.patches:
        return doctor.report_patches()
    if arguments.adapter:
        return doctor.print_trial(arguments.adapter, as_data=arguments.json)
    return doctor.report_as_data() if arguments.json else doctor.report()


def adapters(arguments: argparse.Namespace) -> int:
    """Print the known debug adapters, as text or data, and return 0."""
    from dapeer.cli import doctor

    return doctor.report_adapters_as_data() if arguments.json else doctor.report_adapters()


def install_or_uninstall_adapters(arguments: argparse.Namespace) -> int:
    """Install or remove the debug adapters that the arguments name, and return the exit code."""
    from dapeer.cli import adapters

    work = adapters.install if arguments.installs else adapters.uninstall
    return work(arguments.adapter, every=arguments.all)


NEEDED_BYTES = 70 << 20
"""Bytes of address space that loading takes: 67 million on Linux, with Python 3.11."""


@contextmanager
def without_garbage_collection() -> Generator[None]:
    """Turn the garbage collector off while the body imports a server; then exempt what is loaded from it.

    Loading takes a tenth less so. Loaded modules stay for good, so later collections need not look at them. Afterwards the collector is
    on, whatever it was before.

    Raises:
        MemoryError: A limit leaves too little memory; the body was not run.
    """
    import gc

    _check_memory()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _check_memory() -> None:
    """Raise `MemoryError` where a limit (`ulimit -v`) leaves less than `NEEDED_BYTES`.

    Without this check libraries would abort, or hide the reason.
    """
    import mmap
    import resource

    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    try:
        mmap.mmap(-1, NEEDED_BYTES).close()
    except OSError as error:
        raise MemoryError from error
