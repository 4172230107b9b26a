"""All integrations."""

from __future__ import annotations

from typing import Final

from dapeer.integrations.claude_ide.entry import ClaudeIdeEntry
from dapeer.integrations.entry import IntegrationEntry
from dapeer.integrations.opencode.entry import OpenCodeEntry

ENTRIES: Final[tuple[IntegrationEntry, ...]] = (OpenCodeEntry(), ClaudeIdeEntry())
