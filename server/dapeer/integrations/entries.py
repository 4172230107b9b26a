"""All integrations, as the command line knows them before anything of one is loaded."""

from __future__ import annotations

import argparse
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dapeer.integrations.opencode import commands
from dapeer.integrations.variables import OPENCODE_URL

if TYPE_CHECKING:
    from dapeer.mcp.server.integration import Integration


AddParser = Callable[..., argparse.ArgumentParser]
AddCommand = Callable[[AddParser, str, str], argparse.ArgumentParser]
"""Adds a command, by name and summary, with the options that all commands have."""


class IntegrationEntry(ABC):
    """One integration on the command line; what a subclass does not override does nothing."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add its options to those of `stdio` and `serve`."""

    def add_commands(self, add_parser: AddParser, add: AddCommand) -> None:
        """Add its own commands: `add_parser` and `add` create them, the latter with the common options."""

    def server_wide_options(self, arguments: argparse.Namespace) -> Mapping[str, object]:
        """Return the options and variables that hold for all clients of a server, by name, with their values.

        They are read from the parsed `arguments` and the environment; the default is none.
        """
        return {}

    @abstractmethod
    def integration(self, arguments: argparse.Namespace) -> Integration:
        """Return the integration of a server with these options.

        Raises:
            ArgumentError: One of them cannot be used.
        """


class OpenCodeEntry(IntegrationEntry):
    """OpenCode's words: `--opencode` and `dapeer opencode`. A server may be named; Neovims report others."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the option `--opencode URL`, which names an OpenCode server, to a parser.

        The value is the address as it was given. An empty one is an error of the command line; nothing else is checked
        yet. It is None without the option: then the variable `$DAPEER_OPENCODE_URL` counts.
        """
        parser.add_argument(
            "--opencode",
            type=_nonempty_url,
            metavar="URL",
            help="offer the sessions of this OpenCode server, too ($DAPEER_OPENCODE_URL; its password "
            "comes from $OPENCODE_SERVER_PASSWORD)",
        )

    def add_commands(self, add_parser: AddParser, add: AddCommand) -> None:
        """Add the command `opencode` with its subcommands `register`, `install` and `remove`.

        `add` is called with a function that adds a parser (first `add_parser`), the command's name and its
        summary, and returns the new parser. The parsed arguments have the subcommand's function as `command`;
        `install` and `remove` share one, and have `installs`, True for `install`.
        """
        parser = add(add_parser, "opencode", "work with an OpenCode server")
        subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
        registering = add(
            subcommands.add_parser,
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
            "--directory",
            type=Path,
            default=Path(),
            help="the directory of its sessions (this one)",
        )
        registering.set_defaults(command=commands.register)
        for name, installs, summary in (
            (
                "install",
                True,
                "let dapeer's clients call OpenCode's tools: puts a plugin into your OpenCode",
            ),
            ("remove", False, "take that plugin away"),
        ):
            add(subcommands.add_parser, name, summary).set_defaults(
                command=commands.plugin, installs=installs
            )

    def server_wide_options(self, arguments: argparse.Namespace) -> Mapping[str, object]:
        """Return the values of the option and the variable that name a server.

        A server that runs already cannot follow them. A value is None if none is given.
        """
        return {"--opencode": arguments.opencode, f"${OPENCODE_URL}": os.environ.get(OPENCODE_URL)}

    def integration(self, arguments: argparse.Namespace) -> Integration:
        """Return the integration, with the OpenCode server that the option or the environment names.

        `arguments` are parsed command-line arguments: `opencode` is the server's URL (empty or None:
        `$DAPEER_OPENCODE_URL` decides), `credentials` are those for that server. If neither names a server, the
        integration has none yet. Nothing is connected to.

        Raises:
            ArgumentError: The URL is no HTTP address, or has a user in it.
        """
        from dapeer.integrations.opencode.client import OpenCode, opencode_url
        from dapeer.integrations.opencode.integration import OpenCodeIntegration

        url = arguments.opencode or os.environ.get(OPENCODE_URL)
        named = OpenCode(opencode_url(url), arguments.credentials) if url else None
        return OpenCodeIntegration(named)


def _nonempty_url(text: str) -> str:
    """Return the value of the option `--opencode` as it is.

    Raises:
        ArgumentTypeError: It is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError(f"{text!r}: expected URL")
    return text


class ClaudeIdeEntry(IntegrationEntry):
    """Claude Code's IDE: it is part of every server, without a word, because Neovim asks for it."""

    def integration(self, arguments: argparse.Namespace) -> Integration:
        """Return a new integration with Claude Code; it has no options."""
        from dapeer.integrations.claude_ide import ClaudeIde

        return ClaudeIde()


ENTRIES: Final[tuple[IntegrationEntry, ...]] = (OpenCodeEntry(), ClaudeIdeEntry())
