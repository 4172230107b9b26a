"""`dapeer install` as a person runs it: what it writes, what it keeps, and what it takes back."""

import json
import os
import pty
import sys
import tomllib
from pathlib import Path

import anyio
import pytest

from dapeer.cli.install.arguments import TARGETS
from dapeer.cli.install.clients import CLIENTS, ClientFolders, command_in
from dapeer.cli.install.command import places_of_process
from dapeer.cli.install.reach import trusts_project, try_clients
from tests.install.person import DAPEER, FILES, Person
from tests.neovim.editor import NEEDS_NVIM
from tests.programs import ROOT

each_client = pytest.mark.parametrize("client", FILES)


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
    if not CLIENTS[client].project_file:
        said = person.installs(client, "--project", "--yes", code=2)
        assert "has no configuration of a project. Leave --project out." in said
        return
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
    assert path.read_bytes().decode() == KEPT[client]


def test_a_project_is_left_as_it_was(person: Person) -> None:
    (person.project / ".cursor" / "rules").mkdir(parents=True)
    for client in (each.id for each in CLIENTS.values() if each.project_file):
        person.installs(client, "--project", "--yes")
        person.installs(client, "--project", "--yes", "--remove")
    assert [*person.project.rglob("*")] == [
        person.project / ".cursor",
        person.project / ".cursor/rules",
    ]


def test_policies_behind_dotted_keys_stay_policies(person: Person) -> None:
    text = (
        'mcp_servers.a.command = "x"\nsandbox_mode = "read-only"\napproval_policy = "untrusted"\n'
    )
    path = person.home / FILES["codex"]
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    for _ in range(2):
        person.installs("codex", "--yes")
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
        assert (whole["sandbox_mode"], whole["approval_policy"]) == ("read-only", "untrusted")
        assert [*whole["mcp_servers"]] == ["a", "dapeer"]
    person.installs("codex", "--yes", "--remove")
    assert path.read_text(encoding="utf-8") == text


MIXED = """\
mcp_servers.dapeer = { command = "/old/dapeer", args = ["stdio", "--read-only"], enabled = false }
sandbox_mode = "read-only"
[mcp_servers.other]
command = 'x'
[[hooks]]
on = 1
[[hooks]]
on = 2
["mcp_servers"."a 'b"]
args = ["#"] # why
"""


def test_an_entry_in_one_line_is_updated_where_other_servers_have_tables(person: Person) -> None:
    path = person.home / FILES["codex"]
    path.parent.mkdir()
    path.write_text(MIXED, encoding="utf-8")
    person.installs("codex", "--yes")
    assert path.read_text(encoding="utf-8") == MIXED.replace("/old/dapeer", str(DAPEER))
    person.installs("codex", "--yes", "--remove")
    assert path.read_text(encoding="utf-8") == MIXED.partition("\n")[2]


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", '{"mcpServers": {"dapeer": {"url": "http://127.0.0.1:8000/mcp"}}}'),
        ("cursor", '{"mcpServers": {"dapeer": {"command": "docker", "args": ["run", "x"]}}}'),
        (
            "cursor",
            '{"mcpServers": {"dapeer": {"command": "ssh", "args": ["a", "dapeer", "stdio"]}}}',
        ),
        ("cursor", '{"mcpServers": {"dapeer": {"command": "/home/me/bin/mine.sh"}}}'),
        (
            "cursor",
            '{"mcpServers": {"dapeer": {"command": "uvx", "args": ["--with", "x", "dapeer", "stdio"]}}}',
        ),
        ("codex", "mcp_servers = [\n  1,\n]\n"),
    ],
)
def test_what_cannot_be_changed_without_a_loss_is_left_and_the_person_learns_what_to_write(
    person: Person, client: str, text: str
) -> None:
    path = person.home / FILES[client]
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    said = person.installs(client, "--yes", code=2)
    assert "othing was changed" in said
    assert client == "codex" or json.dumps([str(DAPEER), "stdio"][1:]) in said
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_its_owner_has_made_read_only_is_left(person: Person) -> None:
    path = person.home / FILES["cursor"]
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o444)
    assert "it is read-only" in person.installs("cursor", "--yes", code=2)
    assert path.read_text(encoding="utf-8") == "{}"


def test_nothing_changes_until_somebody_agrees(person: Person) -> None:
    said = person.installs("cursor", code=1)
    assert '+    "dapeer": {' in said
    assert "`--yes`" in said
    assert list(person.files()) == []


@pytest.mark.parametrize("client", ["cursor", "codex"])
def test_a_file_in_another_encoding_is_left(person: Person, client: str) -> None:
    path = person.home / FILES[client]
    path.parent.mkdir()
    path.write_bytes("{}".encode("utf-16"))
    said = person.installs(client, "--yes", code=2)
    assert said.endswith(
        "cannot be read: it is not in UTF-8. Mend the file first; nothing was changed.\n"
    )


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
    assert f"left: {agent}" in person.installs("claude", "--yes", "--remove")
    assert list(person.files()) == ["home/.claude/agents/dapeer-debugger.md"]
    assert not skill.parent.exists()


def test_neovim_gets_a_link_to_the_plugin(person: Person) -> None:
    nvim = Path(sys.executable).with_name("nvim")
    if not nvim.exists():
        pytest.skip(NEEDS_NVIM)
    link = person.home / ".local/share/nvim/site/pack/dapeer/start/dapeer"
    assert f"new: {link} → " in person.installs("nvim", code=1)
    assert not link.is_symlink()
    assert "require('dapeer').setup({})" in person.installs("nvim", "--yes")
    assert (link / "lua/dapeer/init.lua").exists()
    assert "already" in person.installs("nvim")
    assert f"removed: {link}" in person.installs("nvim", "--remove", "--yes")
    assert not link.is_symlink()
    link.mkdir()
    assert "Move it away first" in person.installs("nvim", code=2)


@pytest.mark.parametrize(
    ("keys", "agrees"),
    [("\n", True), ("y\n", True), ("Yes\n", True), ("n\n", False), ("x\n", False), ("\x04", False)],
)
def test_who_installs_at_a_terminal_is_asked_before_anything_is_written(
    person: Person, monkeypatch: pytest.MonkeyPatch, keys: str, agrees: bool
) -> None:
    if not Path(sys.executable).with_name("nvim").exists():
        pytest.skip(NEEDS_NVIM)
    keyboard, terminal = pty.openpty()
    try:
        with open(terminal, encoding="utf-8") as stdin:  # noqa: PTH123 - it has no path
            monkeypatch.setattr(sys, "stdin", stdin)
            os.write(keyboard, keys.encode())
            said = person.installs("nvim", code=0 if agrees else 1)
    finally:
        os.close(keyboard)
    link = person.home / ".local/share/nvim/site/pack/dapeer/start/dapeer"
    before, _, after = said.partition("Change this? [Y/n] ")
    assert f"new: {link} → " in before
    assert ("require('dapeer').setup({})" in after) == agrees
    assert ("Nothing was changed. `--yes` agrees without asking." in after) != agrees
    assert link.is_symlink() == agrees


def test_beside_lazy_nvim_neovim_gets_no_link_but_its_person_a_spec(person: Person) -> None:
    if not Path(sys.executable).with_name("nvim").exists():
        pytest.skip(NEEDS_NVIM)
    (person.home / ".local/share/nvim/lazy/lazy.nvim").mkdir(parents=True)
    said = person.installs("nvim", code=1)
    assert (
        f"  {{ dir = '{ROOT}', name = 'dapeer', dependencies = {{ 'mfussenegger/nvim-dap' }}"
        in said
    )
    assert said.endswith("Nothing was changed.\n")
    assert list(person.files()) == []


def test_the_doctor_says_which_clients_reach_dapeer(person: Person) -> None:
    person.installs("cursor", "--yes")
    broken = person.home / ".codex/config.toml"
    broken.parent.mkdir()
    broken.write_text('[mcp_servers.dapeer]\ncommand = "/no/dapeer"\n', encoding="utf-8")
    told = person.installs(command="doctor").partition("Assistants")[2]
    path = person.home / ".cursor/mcp.json"
    assert f"ok       Cursor (user)          {path}: the server answers" in told
    gone = "`/no/dapeer` names a program that is not there; `dapeer install codex` mends it"
    assert f"failed   Codex (user)           {broken}: {gone}" in told


def test_the_doctor_names_what_claude_has_for_one_project_alone(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person.project / ".git").mkdir()
    (person.project / "sub").mkdir()
    path = person.home / ".claude.json"
    entry = {"type": "stdio", "command": "uvx", "args": ["dapeer", "stdio"]}
    servers = {"mcpServers": {"dapeer": entry}}
    path.write_text(json.dumps({"projects": {str(person.project): servers}}), encoding="utf-8")
    monkeypatch.chdir(person.project / "sub")
    (told,) = anyio.run(try_clients, places_of_process())
    assert (told.scope, told.state) == ("local", "failed")
    assert "dapeer is on none; `claude mcp remove --scope local dapeer`" in told.detail
    entry |= {"command": str(DAPEER), "args": ["stdio"]}
    path.write_text(json.dumps({"projects": {str(person.project): servers}}), encoding="utf-8")
    (told,) = anyio.run(try_clients, places_of_process())
    assert told.detail == f"{path}: the server answers"


def test_the_doctor_does_not_try_a_server_at_an_address(person: Person) -> None:
    path = person.home / FILES["cursor"]
    path.parent.mkdir()
    entry = {"url": "http://127.0.0.1:8765/mcp"}
    path.write_text(json.dumps({"mcpServers": {"dapeer": entry}}), encoding="utf-8")
    (told,) = anyio.run(try_clients, places_of_process())
    assert told.state == "note"
    assert told.detail == f"{path}: a server at an address, which was not tried"


def test_the_doctor_starts_nothing_that_a_stranger_may_have_written(person: Person) -> None:
    started = person.home / "started"
    uvx = person.home / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text(f"#!/bin/sh\ntouch {started}\n", encoding="utf-8")
    uvx.chmod(0o700)
    for folder, command, arguments in (
        (person.home, str(uvx), ["dapeer", "stdio", "--read-only"]),
        (person.project, str(uvx), ["--from", ".", "dapeer", "stdio"]),
    ):
        path = folder / ".cursor/mcp.json"
        path.parent.mkdir()
        entry = {"command": command, "args": arguments}
        path.write_text(json.dumps({"mcpServers": {"dapeer": entry}}), encoding="utf-8")
    told = {
        each.scope: (each.state, each.detail)
        for each in anyio.run(try_clients, places_of_process())
    }
    assert told["user"][0] == "failed"
    assert told["user"][1].endswith("dapeer is on none; `dapeer install cursor` mends it")
    assert told["project"][0] == "note"
    assert told["project"][1].endswith("was not started, since the project says what it runs")
    assert not started.exists()
    person.installs("cursor", "--yes")
    user = {each.scope: each.state for each in anyio.run(try_clients, places_of_process())}["user"]
    assert user == "ok"
    assert "--read-only" in (person.home / ".cursor/mcp.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("platform", "file"),
    [
        ("linux", ".config/Code/User/mcp.json"),
        ("darwin", "Library/Application Support/Code/User/mcp.json"),
        ("win32", "AppData/Roaming/Code/User/mcp.json"),
    ],
)
def test_vs_code_has_its_file_where_the_platform_keeps_such(platform: str, file: str) -> None:
    places = ClientFolders(Path("/p"), Path("/home"), {}, platform)
    assert CLIENTS["vscode"].file("user", places) == Path("/home") / file


@pytest.mark.parametrize(
    ("client", "variable", "files"),
    [
        (
            "claude",
            "CLAUDE_CONFIG_DIR",
            [
                ".claude.json",
                "agents/dapeer-debugger.md",
                "skills/debug-with-dapeer/SKILL.md",
            ],
        ),
        ("codex", "CODEX_HOME", ["config.toml"]),
        ("opencode", "XDG_CONFIG_HOME", ["opencode/opencode.json"]),
        ("vscode", "XDG_CONFIG_HOME", ["Code/User/mcp.json"]),
        ("amp", "XDG_CONFIG_HOME", ["amp/settings.json"]),
        ("gemini", "GEMINI_CLI_HOME", [".gemini/settings.json"]),
        ("qwen", "QWEN_HOME", ["settings.json"]),
        ("copilot", "COPILOT_HOME", ["mcp-config.json"]),
        ("cline", "CLINE_DIR", ["data/settings/cline_mcp_settings.json"]),
        ("cline", "CLINE_DATA_DIR", ["settings/cline_mcp_settings.json"]),
    ],
)
def test_a_variable_moves_every_file_of_a_client(
    person: Person, monkeypatch: pytest.MonkeyPatch, client: str, variable: str, files: list[str]
) -> None:
    if client == "vscode" and sys.platform != "linux":
        pytest.skip("VS Code heeds this variable on Linux only")
    elsewhere = person.home / "elsewhere"
    monkeypatch.setenv(variable, str(elsewhere))
    person.installs(client, "--yes")
    assert sorted(person.files()) == [f"home/elsewhere/{name}" for name in files]
    person.installs(client, "--yes", "--remove")
    assert list(person.files()) == []
    assert [*elsewhere.rglob("*")] == []


def test_an_old_neovim_is_named_and_nothing_is_changed(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = person.home / "bin" / "nvim"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'NVIM v0.7.2'\n", encoding="utf-8")
    old.chmod(0o700)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    said = f"{old} is Neovim 0.7.2, and 0.10 is needed"
    assert f"{said}. Install a newer one" in person.installs("nvim", "--yes", code=2)
    # In a clone the demo takes the Neovim beside its Python.
    monkeypatch.setattr(sys, "executable", str(person.home / "bin" / "python"))
    told = " ".join(person.installs("--nvim", command="demo", code=1).split())
    assert told == f"{said}: install a newer one from https://neovim.io, or put its folder on PATH."
    old.write_text("#!/bin/sh\necho garbage\n", encoding="utf-8")
    assert "does not say where its data is" in person.installs("nvim", "--yes", code=2)
    assert list(person.files()) == ["home/bin/nvim"]


@pytest.mark.parametrize(
    ("folders", "trusted"),
    [
        ({}, False),
        ({"/home/me": "TRUST_FOLDER"}, True),
        ({"/home/me/shop/src": "TRUST_PARENT"}, True),
        ({"/home/me": "TRUST_FOLDER", "/home/me/shop": "DO_NOT_TRUST"}, False),
        ({"/home/me/other": "TRUST_FOLDER"}, False),
    ],
)
def test_doctor_knows_in_which_folders_gemini_starts_no_server(
    tmp_path: Path, folders: dict[str, str], trusted: bool
) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/trustedFolders.json").write_text(json.dumps(folders), encoding="utf-8")
    places = ClientFolders(Path("/home/me/shop"), tmp_path, {}, "linux")
    assert trusts_project(CLIENTS["gemini"], places) is trusted
    assert trusts_project(CLIENTS["claude"], places)
    settings = {"security": {"folderTrust": {"enabled": False}}}
    (tmp_path / ".gemini/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    assert trusts_project(CLIENTS["gemini"], places)


def test_doctor_knows_in_which_projects_codex_reads_no_file(person: Person) -> None:
    person.installs("codex", "--project", "--yes")
    (told,) = anyio.run(try_clients, places_of_process())
    assert told.state == "failed"
    assert (
        "configured, but Codex starts no server in a folder that it does not trust" in told.detail
    )
    trusted = f'[projects."{person.project}"]\ntrust_level = "trusted"\n'
    path = person.home / FILES["codex"]
    path.parent.mkdir()
    path.write_text(trusted, encoding="utf-8")
    (told,) = anyio.run(try_clients, places_of_process())
    assert told.state == "ok"


def test_every_client_that_can_be_installed_is_offered() -> None:
    assert {*CLIENTS, "nvim"} == {*TARGETS}


def test_an_entry_pasted_in_the_words_of_other_clients_becomes_opencode_s_once(
    person: Person,
) -> None:
    path = person.home / FILES["opencode"]
    path.parent.mkdir(parents=True)
    pasted = {"mcp": {"dapeer": {"command": "dapeer", "args": ["stdio", "--read-only"]}}}
    path.write_text(json.dumps(pasted, indent=2), encoding="utf-8")
    person.installs("opencode", "--yes")
    entry = json.loads(path.read_text(encoding="utf-8"))["mcp"]["dapeer"]
    assert entry == {
        "type": "local",
        "command": [str(DAPEER), "stdio", "--read-only"],
        "enabled": True,
    }
    assert "nothing to change" in person.installs("opencode", "--yes")
    # What an earlier version has repeated goes.
    entry["command"] = [str(DAPEER), "stdio", "stdio", "stdio"]
    path.write_text(json.dumps({"mcp": {"dapeer": entry}}), encoding="utf-8")
    person.installs("opencode", "--yes")
    assert commands(path, "mcp") == [str(DAPEER), "stdio"]


@each_client
def test_an_entry_of_a_person_s_own_is_neither_changed_nor_removed(
    person: Person, client: str
) -> None:
    person.installs(client, "--yes")
    path = person.home / FILES[client]
    own = path.read_text(encoding="utf-8").replace(str(DAPEER), "/opt/mine/run-dapeer.sh")
    path.write_text(own, encoding="utf-8")
    for remove in ((), ("--remove",)):
        said = person.installs(client, "--yes", *remove, code=2)
        assert "for something else, or with a command of a person's own" in said
        assert path.read_text(encoding="utf-8") == own


@pytest.mark.parametrize(
    ("client", "member"),
    [("opencode", '"enabled": false'), ("codex", '"enabled": false'), ("kiro", '"disabled": true')],
)
def test_who_has_dapeer_switched_off_in_a_client_learns_which_key_says_so(
    person: Person, client: str, member: str
) -> None:
    key, value = member.replace('"', "").split(": ")
    path = person.home / FILES[client]
    person.installs(client, "--yes")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        text = f"{text.rstrip()}\n{key} = {value}\n"
    else:
        whole = json.loads(text)
        whole[CLIENTS[client].key]["dapeer"][key] = json.loads(value)
        text = json.dumps(whole)
    path.write_text(text, encoding="utf-8")
    assert f"take `{member}` out" in person.installs(client, "--yes")
    (found,) = anyio.run(try_clients, places_of_process())
    assert found.state == "note"
    assert f"has it switched off; take `{member}` out" in found.detail


def test_a_dry_run_shows_what_would_change_for_several_clients(person: Person) -> None:
    told = person.installs("Claude", "cursor", "--dry-run")
    assert told.count("Nothing was changed: this is what would.") == 2
    assert ".cursor/mcp.json" in told
    assert not [*person.files()]


def test_the_skill_alone_names_commands_and_configures_no_server(person: Person) -> None:
    person.installs("claude", "--skill-only", "--yes")
    written = {".agents/skills", ".claude/skills"}
    paths = [person.home / each / "debug-with-dapeer" / "SKILL.md" for each in written]
    assert sorted(person.files()) == sorted(
        str(each.relative_to(person.home.parent)) for each in paths
    )
    for path in paths:
        assert "dapeer run shop.py -b shop.py:27" in path.read_text("utf-8")
    person.installs("claude", "--skill-only", "--remove", "--yes")
    assert not [*person.files()]
