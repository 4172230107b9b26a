"""The tools of OpenCode; they are offered while one of its servers is known."""

from dapeer.integrations.opencode.tools import relayed, sessions
from dapeer.tools.base.tool import Tool, tools_of

TOOLS: tuple[Tool, ...] = tools_of(sessions, relayed)
