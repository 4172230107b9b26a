"""`dapeer serve`: the server over HTTP, and the token that its clients must show."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from dapeer.base.errors import SystemUnsupported
from dapeer.base.system.stderr import say
from dapeer.base.system.threads import Clients
from dapeer.mcp.server.clients import asks_for_data, comes_by_http_or_asks
from dapeer.mcp.server.integration import Core
from dapeer.mcp.server.server import DapeerServer
from dapeer.mcp.serving import ServerOptions, running_server
from dapeer.mcp.transports import http, http_access, unix_socket
from dapeer.mcp.transports.http_access import is_loopback, rules_for


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address for clients, and its token."""

    host: str
    port: int
    """0: any free one."""
    token_file: Path | None = None
    authenticate: bool = True


async def serve_http(
    offer: ServerOptions, address: ServerAddress, *, with_stdin: bool = False
) -> None:
    """Serve HTTP clients until SIGTERM or SIGINT arrives; then end all debug sessions.

    The port is printed to stdout, and the address for clients to stderr. Other clients of the project are served at
    a socket if all tools are. At the signal open calls get a moment to be answered first.

    Args:
        offer: Which tools are served, and which Neovim is attached.
        address: Where to listen, and which token clients must send.
        with_stdin: End also when standard input ends, because the process that started this one has ended.

    Raises:
        ArgumentError: The port cannot be had, or the token or a group of tools cannot be used.
        DefinitionError: The definition of an adapter is wrong.
        OSError: No socket can be made, such as one of IPv6.
        ExceptionGroup: It contains `NoNeovim` if the Neovim to attach to is not there, or `SystemUnsupported` if
            standard output is closed.
    """
    with http.bind(address.host, address.port) as bound:
        port: int = bound.getsockname()[1]
        with _client_token(
            address, port, http_access.token_from_environment(offer.credentials)
        ) as secret:
            rules = rules_for(address.host, secret)
            url = _url(address.host, port)
            offer = replace(offer, core=Core(url, secret or ""))
            data = comes_by_http_or_asks if offer.data else asks_for_data
            async with (
                running_server(offer, data) as (server, stop),
                _serve_bridges(offer, server, url, secret),
                http.serve(server, bound, rules),
            ):
                if not address.authenticate:
                    _warn(address.host)
                if with_stdin:
                    _stop_with_stdin(stop)
                    Clients().watch(os.dup(0))
                _print_port(port)
                here = _url(address.host, port)
                page = f"{here.removesuffix('/mcp')}/live"
                say(f"clients connect to {here}; {page} shows a person what programs collect")
                await stop.wait()
                await server.end_calls()


def _warn(host: str) -> None:
    """Warn on stderr that every client is accepted without a token; `host` is where the server listens."""
    loopback = is_loopback(host)
    who = "every user of this machine" if loopback else f"everyone who reaches {host}"
    say(f"without a token, {who} can run programs here, as you.")


def _print_port(port: int) -> None:
    """Print the port to stdout, for the process that has started this one.

    Raises:
        SystemUnsupported: Standard output is closed.
    """
    try:
        sys.stdout.write(f"MCP server listening on port {port}\n")
        sys.stdout.flush()
    except OSError as error:
        raise SystemUnsupported(f"Cannot write to standard output: {error.strerror}.") from error


def _stop_with_stdin(stop: anyio.Event) -> None:
    """Start a daemon thread that sets the event when standard input ends or fails; return at once.

    Standard input may be a pipe, a terminal or a file. The thread drops what it reads, so that nobody else can read
    it; a server that ends first need not wait for the thread. The function must be called in the running asyncio
    event loop, in which the event is set.
    """
    loop = asyncio.get_running_loop()

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 1 << 16):
                pass
        with contextlib.suppress(RuntimeError):  # the server has ended already
            loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait, name="stdin", daemon=True).start()


def _serve_bridges(
    offer: ServerOptions, server: DapeerServer, url: str, secret: str | None
) -> AbstractAsyncContextManager[object]:
    """Return a context manager that serves the project's other clients at a socket.

    If `offer` has not all tools, it serves nothing. `url` is where HTTP clients find the server, and `secret` their token, or None; both
    are announced with the socket.
    """
    if not offer.complete:
        return nullcontext()
    return unix_socket.serve(server, offer.nvim, url=url, token=secret or "")


def _url(host: str, port: int) -> str:
    """Return the URL for clients on this machine of a server that listens at a host and port."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104 - no binding
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}/mcp"


@contextmanager
def _client_token(
    address: ServerAddress, port: int, environment_token: str | None
) -> Generator[str | None]:
    """Yield the token that clients must send; None: they need none, as `address.authenticate` is False.

    It is that of `address.token_file`, in which a new one is put if the file does not exist; else `environment_token`, that of the
    environment; else a new one in a file that is removed afterwards. Where there is a new token, stderr says in which file. `port` is
    where the server listens, and names the file of the last kind.

    Raises:
        ArgumentError: The file is not usable, or no token can be kept.
    """
    if not address.authenticate:
        yield None
    elif address.token_file is not None:
        made = not address.token_file.exists()
        secret = http_access.read_or_create_token(address.token_file)
        if made:
            say(f"a new token is in {address.token_file}")
        yield secret
    elif environment_token is not None:
        yield environment_token
    else:
        with http_access.temporary_token(port) as (secret, path):
            say(f"clients must show the token in {path}")
            yield secret
