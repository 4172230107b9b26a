"""The tools of OpenCode; they are offered while one of its servers is known."""

from dapeer.integrations.opencode.tools import own_tools, sessions
from dapeer.tools.base.tool import Tool

TOOLS: tuple[Tool, ...] = (*sessions.TOOLS, *own_tools.TOOLS)
