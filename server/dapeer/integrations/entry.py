"""What the command line knows of an integration, before anything of it is loaded."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

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

    def of_whole_server(self, arguments: argparse.Namespace) -> Mapping[str, object]:
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
