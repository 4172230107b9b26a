"""Claude Code's IDE on the command line, where it has no word: Neovim asks for it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dapeer.integrations.entry import IntegrationEntry

if TYPE_CHECKING:
    from dapeer.mcp.server.integration import Integration


class ClaudeIdeEntry(IntegrationEntry):
    """It is part of every server."""

    def integration(self, arguments: argparse.Namespace) -> Integration:
        """Return a new integration with Claude Code; it has no options."""
        from dapeer.integrations.claude_ide.integration import ClaudeIde

        return ClaudeIde()
