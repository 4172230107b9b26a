"""Which clients there are, where each keeps its MCP servers, and what an entry for dapeer is. Pure.

Sources, as of November 2026: the documentation of each client, which `docs/connecting.md` links to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from dapeer.base.json_types import Json

NAME: Final = "dapeer"
Scope = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that a client's files are in."""

    project: Path
    home: Path
    environment: Mapping[str, str]
    platform: str
    """As `sys.platform` says."""


@dataclass(frozen=True, slots=True)
class Client:
    """A program that connects an assistant to MCP servers."""

    id: str
    title: str
    project_file: str
    """Relative to the project."""
    user_file: str
    """Relative to the person's own folder."""
    key: str
    """Below it are the servers, by name."""
    entry: Literal["plain", "typed", "local"] = "plain"
    """How a server is described: command and arguments; with a type; or as OpenCode does."""
    moved_by: tuple[str, str] | None = None
    """A variable that names another folder, and the file in it."""
    alternatives: tuple[str, ...] = ()
    """Other names of the file, which count if such a file is there."""
    skills: str | None = None
    """Where its skills are, relative to the project and to the person's folder."""
    agents: str | None = None

    def file(self, scope: Scope, places: Places) -> Path:
        """Return the file that holds the servers."""
        if scope == "project":
            return self._present(places.project / self.project_file)
        variable, name = self.moved_by or ("", "")
        if folder := places.environment.get(variable):
            return self._present(Path(folder) / name)
        return self._present(places.home / _of_platform(self.user_file, places))

    def _present(self, path: Path) -> Path:
        others = (path.with_name(name) for name in self.alternatives)
        return path if path.exists() else next((each for each in others if each.exists()), path)

    def described(self, command: Sequence[str]) -> dict[str, object]:
        """Return the entry for a server with this command."""
        program, *arguments = command
        match self.entry:
            case "plain":
                return {"command": program, "args": arguments}
            case "typed":
                return {"type": "stdio", "command": program, "args": arguments}
            case "local":
                return {"type": "local", "command": [program, *arguments], "enabled": True}


def command_in(entry: Json) -> list[str]:
    """Return the command of an entry, or nothing if it has none: a server somewhere else.

    >>> command_in({"command": "dapeer", "args": ["stdio"]})
    ['dapeer', 'stdio']
    """
    command, arguments = (_listed(entry.get(key)) for key in ("command", "args"))
    return [*command, *arguments] if command else []


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(each) for each in cast("list[object]", value)] if isinstance(value, list) else []


def _of_platform(path: str, places: Places) -> str:
    """Return where a file of VS Code's is on this platform; other files are where they are everywhere."""
    if not path.startswith(".config/Code/"):
        return path
    folders = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}
    return path.replace(".config", folders.get(places.platform, ".config"), 1)


CLIENTS: Final[Mapping[str, Client]] = {
    client.id: client
    for client in (
        Client(
            "claude",
            "Claude Code",
            ".mcp.json",
            ".claude.json",
            "mcpServers",
            moved_by=("CLAUDE_CONFIG_DIR", ".claude.json"),
            skills=".claude/skills",
            agents=".claude/agents",
        ),
        Client("cursor", "Cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
        Client(
            "vscode",
            "VS Code",
            ".vscode/mcp.json",
            ".config/Code/User/mcp.json",
            "servers",
            entry="typed",
        ),
        Client(
            "opencode",
            "OpenCode",
            "opencode.json",
            ".config/opencode/opencode.json",
            "mcp",
            entry="local",
            moved_by=("XDG_CONFIG_HOME", "opencode/opencode.json"),
            alternatives=("opencode.jsonc",),
        ),
        Client(
            "gemini",
            "Gemini CLI",
            ".gemini/settings.json",
            ".gemini/settings.json",
            "mcpServers",
        ),
        Client(
            "codex",
            "Codex",
            ".codex/config.toml",
            ".codex/config.toml",
            "mcp_servers",
            moved_by=("CODEX_HOME", "config.toml"),
        ),
    )
}
