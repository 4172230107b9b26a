"""Which clients there are, where each keeps its MCP servers, and what an entry for dapeer is. Pure.

Sources, as of November 2026: the documentation of each client, or what other MCP servers tell their users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Final, Literal

from dapeer.base.json_types import Json, is_array

NAME: Final = "dapeer"
LAST: Final = "stdio"
"""The last word of the command; what follows is a person's."""
_RUNNERS: Final = ("uvx", "uv", "pipx")
_SOURCES: Final = ("--from", "--spec", "--project", "--directory")
_OWN_WORDS: Final = (*_SOURCES, "tool", "run", "--quiet")
ConfigScope = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class ClientFolders:
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
    """Relative to the project; empty: it has none."""
    user_file: str
    """Relative to the person's own folder."""
    key: str
    """Below it are the servers, by name."""
    entry: Literal["plain", "typed", "local", "listed"] = "plain"
    """How a server is described: command and arguments; with a type; as OpenCode does; as Copilot does.

    Copilot lists its tools.
    """
    folder_variables: tuple[tuple[str, str], ...] = ()
    """Variables that name another folder, and the file in it; the first that is set counts."""
    alternatives: tuple[str, ...] = ()
    """Other names of the file, which count if such a file is there."""
    own_folder: str = ""
    """The folder of its skills and agents, in the project and in the person's own folder.

    The variable moves it, too.
    """
    extras: tuple[str, ...] = ()
    """Which of these it takes."""
    trusted: str = ""
    """The person's file of the folders in which it starts servers, in their own folder; empty: in all.

    The variable moves it, too.
    """

    local: str = ""
    """Below it the person's file has, by folder, their own servers, which come first; empty: it has none."""

    trust: str = ""
    """Below it the person's file has, by folder, whether a project's file is read; empty: all are."""

    def file(self, scope: ConfigScope, places: ClientFolders) -> Path:
        """Return the path of the file in which the client has its MCP servers; it need not exist."""
        if scope == "project":
            return self._present(places.project / self.project_file)
        if moved := self._moved_folder(places):
            return self._present(Path(*moved))
        return self._present(places.home / _of_platform(self.user_file, places))

    def root(self, scope: ConfigScope, places: ClientFolders) -> Path:
        """Return the folder that has the client's files, and is there without the client: it is never removed."""
        if scope == "project":
            return places.project
        moved = self._moved_folder(places)
        return Path(moved[0]) if moved else places.home

    def folder(self, scope: ConfigScope, places: ClientFolders) -> Path:
        """Return the folder of the client's skills and agents."""
        if scope == "project":
            return places.project / self.own_folder
        moved = self._moved_folder(places)
        return Path(moved[0]) if moved else places.home / self.own_folder

    def _moved_folder(self, places: ClientFolders) -> tuple[str, str] | None:
        """Return the folder that an environment variable names for the client, and the file in it.

        None: no such variable is set. Applications with windows read such variables on Linux only.
        """
        if self.user_file != _of_platform(self.user_file, places):
            return None
        named = ((places.environment.get(name), file) for name, file in self.folder_variables)
        return next(((folder, file) for folder, file in named if folder), None)

    def _present(self, path: Path) -> Path:
        """Return the path of the file under the one of its names that exists, or its usual name."""
        others = (path.with_name(name) for name in self.alternatives)
        return path if path.exists() else next((each for each in others if each.exists()), path)

    def entry_for(self, command: Sequence[str]) -> dict[str, object]:
        """Return the entry for a server that is started by this command, in the client's form.

        `command` has at least the program. The entry has `command` and `args`; also `type` if `self.entry` is `typed`
        or `listed`, and `tools` (all) if it is `listed`. For `local` it has `type`, `command` (the whole list) and
        `enabled`.
        """
        program, *arguments = command
        match self.entry:
            case "plain":
                return {"command": program, "args": arguments}
            case "typed":
                return {"type": "stdio", "command": program, "args": arguments}
            case "listed":
                return {"type": "local", "command": program, "args": arguments, "tools": ["*"]}
            case "local":
                return {"type": "local", "command": [program, *arguments], "enabled": True}

    def update_entry(self, entry: Json, command: Sequence[str]) -> dict[str, object]:
        """Return a new entry with this command, and with what a person has added to the old `entry`.

        An entry is what a client's file says of a server. Kept are the arguments behind the old command's `stdio`,
        but not a `stdio` that follows it directly, and all keys other than `command` and `args`, which win over the
        new entry's. `command` is the new one, as words. Nothing is written, and `entry` stays as it is.

        Raises:
            ForeignEntry: The entry starts nothing, or something else than dapeer's server on this machine.
        """
        given = command_in(entry)
        end = given.index(LAST, 1) if LAST in given[1:] else len(given)
        if not is_written_by_us(given[:end]):
            raise ForeignEntry
        # An entry in another client's words once made us repeat the last one.
        added = [*dropwhile(LAST.__eq__, given[end + 1 :])]
        fresh = self.entry_for([*command, *added])
        kept = {key: value for key, value in entry.items() if key not in ("command", "args")}
        return {**fresh, **kept}


class ForeignEntry(ValueError):
    """An entry that a person has written for something else, such as a server at a URL."""


def command_in(entry: Json) -> list[str]:
    """Return the command in an entry as a list of words; empty: it has none, as a server at a URL.

    >>> command_in({"command": "dapeer", "args": ["stdio"]})
    ['dapeer', 'stdio']
    """
    command, arguments = (_listed(entry.get(key)) for key in ("command", "args"))
    # Where the command is a list, the client knows no arguments beside it.
    return command if not command or is_array(entry.get("command")) else [*command, *arguments]


def switched_off(entry: Json) -> str:
    """Return the member by which an entry is switched off, as JSON has it; empty: it is not.

    >>> switched_off({"enabled": False}), switched_off({"disabled": True}), switched_off({"enabled": True})
    ('"enabled": false', '"disabled": true', '')
    """
    off = {"enabled": False, "disabled": True}
    found = [key for key, value in off.items() if entry.get(key) is value]
    return f'"{found[0]}": {str(off[found[0]]).lower()}' if found else ""


def is_written_by_us(words: Sequence[str]) -> bool:
    """Return whether a command without its `stdio` is as `dapeer install` or our pages have it.

    False: it is a person's own command, or has no words. `words` are the command's words, its program first.

    >>> [is_written_by_us(each.split()) for each in ("/a/dapeer", "python3 -m dapeer", "uvx --from . dapeer")]
    [True, True, True]
    >>> [is_written_by_us(each.split()) for each in ("ssh host dapeer", "/a/mine.sh", "uvx --with x dapeer")]
    [False, False, False]
    """
    program = Path(words[0]).name if words else ""
    if program == NAME:
        return len(words) == 1
    if program.startswith("python"):
        return [*words[1:]] == ["-m", NAME]
    if program not in _RUNNERS or words[-1].partition("==")[0] != NAME:
        return False
    rest = [part for each in words[1:-1] for part in each.split("=", 1)]
    return not [
        each
        for at, each in enumerate(rest)
        if each not in _OWN_WORDS and (at == 0 or rest[at - 1] not in _SOURCES)
    ]


def _listed(value: object) -> list[str]:
    """Return a text, or a list, as a list of texts; anything else as an empty one."""
    if isinstance(value, str):
        return [value]
    return [str(each) for each in value] if is_array(value) else []


def _of_platform(path: str, places: ClientFolders) -> str:
    """Return a client's path on this platform: that of an application with windows differs, others do not."""
    if not path.startswith((".config/Code/", ".config/Claude/")):
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
            folder_variables=(("CLAUDE_CONFIG_DIR", ".claude.json"),),
            own_folder=".claude",
            local="projects",
            extras=("skills", "agents"),
        ),
        Client("cursor", "Cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
        Client(
            "vscode",
            "VS Code",
            ".vscode/mcp.json",
            ".config/Code/User/mcp.json",
            "servers",
            entry="typed",
            folder_variables=(("XDG_CONFIG_HOME", "Code/User/mcp.json"),),
        ),
        Client(
            "opencode",
            "OpenCode",
            "opencode.json",
            ".config/opencode/opencode.json",
            "mcp",
            entry="local",
            folder_variables=(("XDG_CONFIG_HOME", "opencode/opencode.json"),),
            alternatives=("opencode.jsonc",),
        ),
        Client(
            "gemini",
            "Gemini CLI",
            ".gemini/settings.json",
            ".gemini/settings.json",
            "mcpServers",
            folder_variables=(("GEMINI_CLI_HOME", ".gemini/settings.json"),),
            trusted=".gemini/trustedFolders.json",
        ),
        Client(
            "qwen",
            "Qwen Code",
            ".qwen/settings.json",
            ".qwen/settings.json",
            "mcpServers",
            folder_variables=(("QWEN_HOME", "settings.json"),),
        ),
        Client(
            "copilot",
            "Copilot CLI",
            ".github/mcp.json",
            ".copilot/mcp-config.json",
            "mcpServers",
            entry="listed",
            folder_variables=(("COPILOT_HOME", "mcp-config.json"),),
        ),
        Client("kiro", "Kiro", ".kiro/settings/mcp.json", ".kiro/settings/mcp.json", "mcpServers"),
        Client("windsurf", "Windsurf", "", ".codeium/windsurf/mcp_config.json", "mcpServers"),
        Client(
            "zed",
            "Zed",
            ".zed/settings.json",
            ".config/zed/settings.json",
            "context_servers",
            folder_variables=(("XDG_CONFIG_HOME", "zed/settings.json"),),
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            "",
            ".config/Claude/claude_desktop_config.json",
            "mcpServers",
            folder_variables=(("XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),),
        ),
        Client(
            "cline",
            "Cline in a terminal",
            "",
            ".cline/data/settings/cline_mcp_settings.json",
            "mcpServers",
            folder_variables=(
                ("CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
                ("CLINE_DIR", "data/settings/cline_mcp_settings.json"),
            ),
        ),
        Client("lm-studio", "LM Studio", "", ".lmstudio/mcp.json", "mcpServers"),
        Client(
            "amp",
            "Amp",
            ".amp/settings.json",
            ".config/amp/settings.json",
            "amp.mcpServers",
            folder_variables=(("XDG_CONFIG_HOME", "amp/settings.json"),),
        ),
        Client(
            "codex",
            "Codex",
            ".codex/config.toml",
            ".codex/config.toml",
            "mcp_servers",
            folder_variables=(("CODEX_HOME", "config.toml"),),
            trust="projects",
        ),
    )
}
