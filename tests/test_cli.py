"""The command line, as a person uses it."""

import asyncio
import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client

import dapeer
from dapeer.adapters.choice.detection import Detection
from dapeer.adapters.definition.definition import load, shipped
from dapeer.adapters.definition.table import RETIRED
from dapeer.adapters.runner import load_runners
from dapeer.base import credentials
from dapeer.cli.doctor import finding_of, neovim_finding, ptrace_finding, rows_of, rows_off
from dapeer.cli.main import main
from dapeer.integrations.variables import SECRETS
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.transports import http, http_access
from tests.harness import DATA, ask, has_all
from tests.mcp.small import LEGACY, MODERN, http_client, streamable
from tests.mcp.wire import call, request, serving, started
from tests.processes import LIMIT, command_line, descendants, processes_of
from tests.programs import ROOT, program


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of this test's tokens; the user's own servers are not found."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.delenv(credentials.TOKEN, raising=False)
    return tmp_path / "state" / "dapeer"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `dapeer` to its end, with nothing on stdin."""
    return process("-m", "dapeer", *arguments)


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python to its end, with nothing on stdin."""
    return subprocess.run(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=ROOT,
    )


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.exists() else []


# -- mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["instal"], "Did you mean `install`?"),
        (
            ["adapters", "instal", "js"],
            "Did you mean `install`? Choose from list, install, uninstall.",
        ),
        (["opencode", "regster"], "Did you mean `register`?"),
        (["completion", "bsah"], "Did you mean `bash`?"),
        (["--log-level", "eror", "status"], "Did you mean `error`?"),
        (["evla", "x"], "Did you mean `eval`?"),
        (["install", "cladue"], "Did you mean `claude`?"),
        (["fly"], "invalid choice: 'fly'"),
        (["serve", "--port", "70000"], "70000 is not a port from 0 to 65535"),
        (["serve", "--port", "http"], "http is not a port"),
        (["serve", "--no-auth", "--token-file", "f"], "not allowed with argument --no-auth"),
        (["stdio", "--log-level", "loud"], "invalid choice: 'loud'"),
        (["stdio", "--nvim", ""], "'': expected PATH, HOST:PORT, `auto` or `none`"),
        (["serve", "--nvim", "here:there"], "'here:there': expected PATH, HOST:PORT, `auto`"),
        (["stdio", "--tools", " ,"], "' ,': expected GROUP, or several with commas between"),
        (["stdio", "--readable", ""], "'': expected FOLDER"),
        (["stdio", "--opencode", ""], "'': expected URL"),
    ],
)
def test_a_wrong_option_is_explained_without_loading_anything(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


MISTAKES = (
    # First, for a process sets up its log once.
    (["stdio", "--log-file", "/"], "Cannot log to /: Is a directory. Name another"),
    (["serve", "--no-auth", "--tools", "lps"], "No tools belong to the group `lps`. Groups: "),
    (["stdio", "--tools", "dap,lps"], "No tools belong to the group `lps`. Groups: "),
    (["serve", "--host", "no-such-host.invalid"], "Cannot listen on no-such-host.invalid"),
    (["serve", "--token-file", "/"], "Cannot use the token file /: "),
    (
        ["serve", "--token-file", "/dev/null"],
        "Cannot use the token file /dev/null: it is not a regular file. Name",
    ),
    (
        ["stdio", "--nvim", "/no/where"],
        "No Neovim listens at /no/where ([Errno 2] No such file or directory). "
        "nvim_targets lists those that do.",
    ),
    (["serve", "--no-auth", "--nvim", "127.0.0.1:1"], "No Neovim listens at 127.0.0.1:1"),
)
ONE_BY_ONE = """
import json, sys
from dapeer.cli.main import main
for arguments in json.loads(sys.argv[1]):
    print(main(arguments), file=sys.stderr)
"""
"""Runs `dapeer` as often as is wanted; loading its libraries takes longer than all of that."""


def test_a_mistake_is_told_in_one_line() -> None:
    given = json.dumps([arguments for arguments, _ in MISTAKES])
    done = process("-c", ONE_BY_ONE, given)
    told = done.stderr.splitlines()
    assert (done.stdout, told[1::2]) == ("", ["2"] * len(MISTAKES)), done.stderr
    for line, (_, words) in zip(told[::2], MISTAKES, strict=True):
        assert line.startswith(f"dapeer: {words}")


def test_a_port_in_use_is_told_in_one_line() -> None:
    with http.bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", "--port", str(port))
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert has_all(line, "dapeer: ", "127.0.0.1", port, "Address already in use", "--port")


def test_a_wrong_definition_of_an_adapter_is_named(settings: Path) -> None:
    path = settings / "dapeer" / "adapters" / "mine.toml"
    path.parent.mkdir(parents=True)
    path.write_text("id = 7\n", encoding="utf-8")
    done = process("-c", ONE_BY_ONE, json.dumps([["stdio"], ["doctor"], ["adapters"]]))
    told = done.stderr.splitlines()
    assert told[1::2] == ["2"] * 3, done.stderr
    assert all(str(path) in line for line in told[::2])


# -- reports


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"dapeer {dapeer.__version__}\n"


def test_windows_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    for command in ("stdio", "serve", "doctor", "adapters", "demo"):
        assert main([command]) == 1
        told = capsys.readouterr()
        assert told.err.endswith("in WSL, the Windows Subsystem for Linux.\n")
        assert ("  failed   Windows  " in told.out) is (command == "doctor")
    with pytest.raises(SystemExit):
        main(["install", "--help"])
    assert "usage" in capsys.readouterr().out


def test_the_version_and_help_need_no_heavy_imports() -> None:
    script = (
        "import sys, dapeer.cli; print({'mcp', 'pydantic', 'anyio', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"set()\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doctor try each adapter for as long as a busy machine needs."""
    monkeypatch.setattr("dapeer.cli.doctor.SECONDS_FOR_ALL", LIMIT)


def test_doctor_tells_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"dapeer {dapeer.__version__}" in out
    assert sys.executable in out
    assert re.search(r"ready +debugpy +debugged a program in [\d.]+ s\n", out)


def test_doctor_starts_an_adapter_for_real(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "python"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"ready +debugpy\n +ok +starts +process \d+\n", out)
    assert re.search(r"answers `initialize` +\d+ capabilities\n +ok +a program +debugged", out)
    assert main(["doctor", "cobol"]) == 2
    assert "There is no adapter of type `cobol`. Give a type: bash-dap," in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("missing-program-of-nobody", r"missing +toy +.*was not found"),
        ("false", r"ready +toy\n +failed +toy +toy ended at once, with exit code 1"),
    ],
)
def test_doctor_tells_what_is_wrong_with_an_adapter(
    command: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    (folder / "toy.toml").write_text(f"""
        id = "toy"
        adapter_id = "toy"
        detect = {{ all = [{{ executable = "{command}" }}] }}
        transport = {{ command = ["${{executable}}"] }}
    """)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["doctor", "toy"]) == 1
    assert re.search(told, capsys.readouterr().out)


def test_doctor_tells_what_other_users_can_do_and_what_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    (folder / "toy.toml").write_text("""
        id = "toy"
        adapter_id = "toy"
        open_to_others = "Anybody can watch."
        detect = { all = [{ executable = "sh" }], patches = ["echo", "its speed"] }
        transport = { command = ["false"] }
    """)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["doctor"]) == 0
    told = r"failed +toy .*\n +note +toy +Anybody can watch\.\n +note +toy +not changed: its speed \(it does not fit\)\n"
    assert re.search(told, capsys.readouterr().out)


def test_a_key_that_dapeer_no_longer_reads_changes_nothing_and_doctor_names_it_once(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for key in ("attach.pid.polite", "frames.colour", "name.loud"):
        monkeypatch.setitem(RETIRED, key, "Nobody needs it.")
    (settings / "dapeer" / "adapters" / "tests").mkdir(parents=True)
    toy = settings / "dapeer" / "adapters" / "toy.toml"
    toy.write_text("""
        id = "toy"
        adapter_id = "toy"
        transport = { command = ["sh"] }
        attach = { pid = { polite = true, processId = "${pid}" } }
        frames = [{ of = "a", path = "a", colour = 1 }, { of = "b", path = "b", colour = 2 }]
    """)
    (settings / "dapeer" / "adapters" / "tests" / "toys.toml").write_text(
        'id = "toys"\ntype = "toy"\nname = { loud = true, join = "/" }\n'
    )
    assert load(toy).arguments("attach", {"pid": 1}, {}) == {"processId": 1}
    assert load_runners(toy.parent)[0].naming.join == "/"
    assert main(["doctor"]) == 0
    told = re.findall(r"note +(\w+) +`(\S+)` in \S+ is ignored: Nobody", capsys.readouterr().out)
    assert told == [("toys", "name.loud"), ("toy", "attach.pid.polite"), ("toy", "frames.colour")]


def test_doctor_tells_what_stays_slow_since_the_system_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node, there = load(shipped() / "js-debug.toml"), Detection(ready=True)
    told = "js-prompt-messages: Each stop and each answer of a JavaScript program takes 40 ms longer or more. (No)"
    for refusal, notes in (("No", [told]), ("", [])):
        monkeypatch.setattr("dapeer.cli.doctor.why_not_allowed", lambda said=refusal: said)
        found = [str(each) for each in rows_off("js-debug", rows_of(node, there))]
        assert [each.partition("not changed: ")[2] for each in found] == notes


def test_doctor_tells_how_to_get_what_is_missing() -> None:
    detection = Detection(ready=False, missing="gdb was not found", install="apt-get install gdb")
    line = str(finding_of("gdb", detection))
    assert line.split() == [
        "missing",
        "gdb",
        "gdb",
        "was",
        "not",
        "found.",
        "Get",
        "it:",
        "apt-get",
        "install",
        "gdb",
    ]


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (0, "works"),
        (1, "needs: sudo sysctl kernel.yama.ptrace_scope=0"),
        (2, "needs: sudo sysctl kernel.yama.ptrace_scope=0"),
        (3, "off until the next boot"),
    ],
)
def test_doctor_explains_what_linux_lets_a_debugger_attach_to(scope: int, words: str) -> None:
    assert words in str(ptrace_finding(scope))


def test_adapters_tells_each_with_its_languages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["adapters"]) == 0
    out = capsys.readouterr().out
    for row in (r"debugpy .* python", "bash-dap .* bash", "gdb .* c, c"):
        assert re.search(row, out)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("NVIM v0.12.0-dev+7", "ok Neovim 0.12.0-dev+7 {path}"),
        ("NVIM v0.9.5", "note Neovim 0.9.5 {path} is too old: 0.10 is needed"),
        ("Segmentation fault", "note Neovim {path} does not report its version"),
    ],
)
def test_doctor_tells_whether_a_neovim_will_do(tmp_path: Path, answer: str, told: str) -> None:
    path = tmp_path / "nvim"
    path.write_text(f"#!/bin/sh\necho '{answer}'\n", encoding="utf-8")
    path.chmod(0o700)
    assert " ".join(str(neovim_finding(str(path))).split()) == told.format(path=path)
    assert "note     Neovim" in str(neovim_finding(None))


def test_rtp_tells_where_the_plugin_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtp"]) == 0
    folder = Path(capsys.readouterr().out.removesuffix("\n"))
    assert (folder / "lua" / "dapeer" / "init.lua").is_file()


# -- serving


async def test_serve_tells_its_port_and_keeps_its_token_to_the_owner(state: Path) -> None:
    async with serving(stderr=True) as (wire, url):
        told = await wire.logged("token")
        (path,) = files_in(state)
        assert told == f"dapeer: clients must show the token in {path}\n"
        assert path.name == f"token-{url.rpartition(':')[2]}"
        told = await wire.logged("/live")
        assert told.startswith(f"dapeer: clients connect to {url}/mcp; {url}/live shows a person")
        assert (mode_of(path), mode_of(state)) == (0o600, 0o700)
        secret = path.read_text(encoding="utf-8").strip()
        async with http_client(None) as web:
            assert (await web.post(f"{url}/mcp")).status_code == 401
        async with Client(streamable(url, secret), mode=MODERN, extensions=DATA) as client:
            await client.list_tools()
        assert await wire.signal(signal.SIGTERM) == 0
        assert await wire.rest() == b""
    assert files_in(state) == []


@pytest.mark.parametrize("gone", [False, True])
async def test_serve_ends_with_its_stdin_and_is_complete(state: Path, gone: bool) -> None:
    async with serving("--with-stdin", stderr=True) as (wire, _):
        await wire.logged("token")
        assert len(files_in(state)) == 1
        if gone:
            assert await wire.end() == 0
        else:
            await wire.send(b"what comes on stdin means nothing")
            assert await wire.signal(signal.SIGTERM) == 0
    assert files_in(state) == []


async def test_a_token_is_in_no_log_and_no_command_line(tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "token"
    options = ("--token-file", str(file), "--log-level", "debug", "--log-file", str(log))
    async with serving(*options) as (wire, url):
        secret = file.read_text(encoding="utf-8").strip()
        async with Client(streamable(url, secret), mode=LEGACY, extensions=DATA) as client:
            await client.list_tools()
        async with http_client("a-wrong-token") as web:
            await web.post(f"{url}/mcp")
        command = command_line(wire.process.pid)
        assert await wire.signal(signal.SIGTERM) == 0
    assert command.endswith(str(log))
    assert secret not in command
    assert secret not in log.read_text(encoding="utf-8")
    assert "a-wrong-token" not in log.read_text(encoding="utf-8")


async def test_a_token_file_is_made_once_and_kept(tmp_path: Path, state: Path) -> None:
    file = tmp_path / "token"
    async with serving("--token-file", str(file), stderr=True) as (wire, _):
        assert str(file) in await wire.logged("new token")
        assert mode_of(file) == 0o600
        secret = file.read_text(encoding="utf-8").strip()
        await wire.signal(signal.SIGTERM)
    assert files_in(state) == []
    assert http_access.read_or_create_token(file) == secret


async def test_a_token_in_the_environment_is_used_and_not_handed_on(
    monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    monkeypatch.setenv(credentials.TOKEN, "from-the-environment")
    p = program("loop.py")
    async with (
        asyncio.timeout(LIMIT),
        serving() as (wire, url),
        Client(streamable(url, "from-the-environment"), mode=LEGACY, extensions=DATA) as client,
    ):
        await ask(client, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        question = f"__import__('os').environ.get('{credentials.TOKEN}')"
        assert (await ask(client, "dap_evaluate", expression=question))["result"] == "None"
        assert files_in(state) == []
        await client.call_tool("dap_terminate")
    assert wire.process.returncode is not None


async def test_no_process_of_a_session_has_our_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (credentials.TOKEN, *SECRETS):
        monkeypatch.setenv(name, "of-nobody-else")
    p = program("loop.py")
    async with started("dapeer", "stdio", "--no-bridge", "--nvim", "none") as wire:
        await wire.handshake()
        await wire.ask(call(1, "dap_run", program=str(p), breakpoints=[p.at("inner")]))
        # The adapter, the reaper, debugpy's launcher and the program itself.
        assert len(descendants(wire.process.pid)) >= 3
        for name in (credentials.TOKEN, *SECRETS):
            assert processes_of("of-nobody-else", name) in ([], [wire.process.pid])
        expression = "sorted(__import__('os').environ.values())"
        told = await wire.ask(call(2, "dap_evaluate", expression=expression))
        assert "of-nobody-else" not in str(told)
        assert await wire.end() == 0


@pytest.mark.parametrize("text", ["", "short", "two words", "mit-Ümläuten"])
def test_an_unusable_token_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(credentials.TOKEN, text)
    with pytest.raises(Exception, match=r"\$DAPEER_TOKEN contains no valid token"):
        http_access.token_from_environment(credentials.remove_credentials(()))
    assert credentials.TOKEN not in os.environ


async def test_a_log_goes_to_its_file_and_nowhere_else(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with started(
        "dapeer", "--log-level", "info", "stdio", "--log-file", str(log), stderr=True
    ) as wire:
        await wire.handshake()
        assert await wire.end() == 0
        assert wire.process.stderr
        assert await wire.process.stderr.read() == b""
    assert "serving" in log.read_text(encoding="utf-8")


def test_a_log_holds_no_secret(tmp_path: Path) -> None:
    code = "from dapeer.base.system import logs; import logging, pathlib, sys; logs.set_up('info', pathlib.Path(sys.argv[1]))"
    log = tmp_path / "log"
    process("-c", f"{code}; logging.info('env: %s', {{'DB_PASSWORD': 'hunter2'}})", str(log))
    assert "env: {'DB_PASSWORD': '<redacted: password>'}" in log.read_text(encoding="utf-8")


ALWAYS = [tool for tool in TOOLS if tool.needs is None]
"""The others need something of an adapter that is at work."""


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--read-only"], {tool.name for tool in ALWAYS if tool.read_only}),
        (["--tools", "dap"], {tool.name for tool in ALWAYS if "dap" in tool.groups}),
        (
            ["--tools", "dap", "--tools", "nvim"],
            {tool.name for tool in ALWAYS if {"dap", "nvim"} & {*tool.groups}},
        ),
    ],
)
async def test_only_the_wanted_tools_are_served(options: list[str], wanted: set[str]) -> None:
    async with started("dapeer", "stdio", *options) as wire:
        await wire.handshake()
        answer = await wire.ask(request("tools/list", 2))
        assert {tool["name"] for tool in answer["result"]["tools"]} == wanted
        missing = await wire.ask(call(3, "dap_run" if "--read-only" in options else "x"))
        assert missing["error"]["code"] == -32602


async def test_a_server_that_is_only_asked_what_it_can_does_nothing_else(
    tmp_path: Path, state: Path, settings: Path
) -> None:
    """Some clients start a second process just to see which protocol it speaks."""
    async with started("dapeer", "stdio", cwd=tmp_path) as wire:
        await wire.handshake()
        await wire.ask(request("tools/list", 2))
        await wire.ask(call(3, "dap_status"))
        assert wire.process.pid
        assert descendants(wire.process.pid) == []
        assert await wire.end() == 0
    assert files_in(state) == []
    assert files_in(settings) == []
