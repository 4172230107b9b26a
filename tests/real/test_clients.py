"""Other people's clients of MCP, from npm, with the configuration that `dapeer install`, or docs/connecting.md, has for them."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import npm
from tests.install.person import DAPEER
from tests.json_types import Json
from tests.opencode.provider import Call, Say, provider
from tests.processes import LIMIT

CLIENTS = {"gemini": npm.GEMINI, "qwen": npm.QWEN, "copilot": npm.COPILOT}
MOVES = {"gemini": "GEMINI_CLI_HOME", "qwen": "QWEN_HOME", "copilot": "COPILOT_HOME"}
"""By client the variable that names the folder of its settings."""
Says = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with a home of their own."""
    path = f"{DAPEER.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "HOME": str(tmp_path), "PATH": path, "NO_COLOR": "1"}


@pytest.fixture
def says(environment: dict[str, str], project: Path) -> Says:
    """Runs a command in the project, and returns what it prints."""

    def run(*words: str | Path) -> str:
        done = subprocess.run(
            words, cwd=project, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=LIMIT, check=False,
        )  # fmt: skip
        return f"{done.stdout}{done.stderr}"

    return run


@pytest.mark.parametrize("moved", [False, True], ids=["at home", "moved"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_in_a_terminal_has_dapeer_after_one_command(
    client: str, moved: bool, tmp_path: Path, environment: dict[str, str], project: Path, says: Says
) -> None:
    command = npm.terminal_client(CLIENTS[client])
    home = tmp_path
    if moved:
        home = tmp_path / "elsewhere"
        home.mkdir()
        environment[MOVES[client]] = str(home)
    assert "Done." in says(DAPEER, "install", client, "--yes")
    if client == "gemini":
        assert "dapeer" in says(*command, "mcp", "list")
        assert "does not trust" in says(DAPEER, "doctor")
        trusted = {str(project): "TRUST_FOLDER"}
        (home / ".gemini/trustedFolders.json").write_text(json.dumps(trusted), encoding="utf-8")
    listed = says(*command, "mcp", "list")
    # Copilot lists what it is to start; the others start it.
    wanted = (
        "dapeer (local)" if client == "copilot" else f"dapeer: {DAPEER} stdio (stdio) - Connected"
    )
    assert wanted in listed


def test_codex_has_dapeer_s_tools_after_one_command(
    environment: dict[str, str], project: Path, says: Says
) -> None:
    command = npm.terminal_client(npm.CODEX)
    assert "Done." in says(DAPEER, "install", "codex", "--yes")
    asked: tuple[Json, ...] = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "mcpServerStatus/list", "params": {}},
    )
    with subprocess.Popen(
        [*command, "app-server"], cwd=project, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as codex:  # fmt: skip
        assert codex.stdin
        assert codex.stdout
        codex.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
        codex.stdin.flush()
        told = next(each for each in map(json.loads, codex.stdout) if each.get("id") == 2)
        codex.stdin.close()
    (server,) = told["result"]["data"]
    assert server["name"] == "dapeer"
    assert {"dap_run", "dap_collected", "dap_call"} <= set(server["tools"])


def test_amp_has_dapeer_s_tools_after_one_command(environment: dict[str, str], says: Says) -> None:
    amp = npm.amp()
    # It asks for a login where it has no key, and looks at servers of this machine with any; nothing answers at this address.
    environment |= {"AMP_API_KEY": "none", "AMP_URL": "http://127.0.0.1:9"}
    assert "Done." in says(DAPEER, "install", "amp", "--yes")
    told = says(amp, "mcp", "doctor")
    assert "dapeer (user settings): connected" in told
    assert {"dap_run", "dap_collected", "dap_call"} <= set(re.findall(r"\w+", told))


CONTINUE = """
name: project
version: 0.0.1
schema: v1
models:
  - { name: m, provider: openai, model: scripted, apiKey: none, apiBase: "URL", roles: [chat] }
mcpServers:
  - name: dapeer
    command: dapeer
    args: [stdio]
"""


def test_the_model_of_continue_calls_a_tool_of_dapeer_s(tmp_path: Path, says: Says) -> None:
    command = npm.terminal_client(npm.CONTINUE)
    with provider() as model:
        (tmp_path / "config.yaml").write_text(CONTINUE.replace("URL", model.url), "utf-8")
        model.plays("Look.", Call("dap_status"), Say("I have looked."))
        told = says(*command, "--auto", "--config", tmp_path / "config.yaml", "-p", "Look.")
        answers = [each["content"] for each in model.asked() if each["role"] == "tool"]
        assert "dap_run" in model.offered()
    assert "I have looked." in told
    assert "No debug sessions." in str(answers)


@pytest.mark.parametrize("variable", ["", "CLINE_DIR", "CLINE_DATA_DIR"])
def test_the_model_of_cline_calls_a_tool_of_dapeer_s_after_one_command(
    variable: str, environment: dict[str, str], tmp_path: Path, says: Says
) -> None:
    cline = npm.cline()
    environment |= {variable: str(tmp_path / "elsewhere")} if variable else {}
    assert "Done." in says(DAPEER, "install", "cline", "--yes")
    kind = "openai-compatible"
    with provider() as model:
        model.plays("Please look.", Call("dapeer__dap_status"), Say("I have looked."))
        says(cline, "auth", kind, "-k", "none", "-m", "scripted", "-b", model.url)
        try:
            told = says(cline, "--json", "-P", kind, "-m", "scripted", "Please look.")
        finally:
            says(cline, "hub", "stop")
        answers = [each["content"] for each in model.asked() if each["role"] == "tool"]
    assert "I have looked." in told
    assert "No debug sessions." in str(answers)
