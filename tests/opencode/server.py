"""A real OpenCode server that knows no model but a scripted one, and nothing of the person's own.

Starting it takes 3 s and 600 MB: share it, by the fixture `shared`, and give each test a folder of its own.
It is no child of a test, so it may outlive one.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from dapeer.adapters.process import streams
from tests import npm
from tests.opencode.provider import Provider, provider
from tests.processes import LIMIT

READY = re.compile(r"opencode server listening on (\S+)")


@dataclass(frozen=True)
class OpenCode:
    """A server that runs."""

    url: str
    project: Path
    """Its working directory."""
    provider: Provider
    process: subprocess.Popen[str]
    password: str = ""

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        directory: Path | None = None,
    ) -> Any:  # noqa: ANN401 - any JSON value
        """Ask it directly, without any code of ours."""
        answer = httpx2.request(
            method,
            self.url + path,
            json=body,
            params={"directory": str(directory or self.project)},
            auth=("opencode", self.password) if self.password else None,
            timeout=LIMIT,
            trust_env=False,
        )
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


def free_port() -> int:
    """Return a port that nobody uses; with `--port 0` OpenCode takes 4096 if it can."""
    return streams.free_port("127.0.0.1")


def environment(folder: Path, model: Provider, **more: str) -> dict[str, str]:
    """Return the variables of an OpenCode that is at home in a folder: for a server, or for Neovim.

    Nothing is fetched from anywhere; what it tries to install fails at once.
    """
    home = folder / "home"
    for name in ("home", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    models = folder / "models.json"
    models.write_text("{}")
    switches = (
        "AUTOUPDATE", "MODELS_FETCH", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE",
        "EXTERNAL_SKILLS", "EMBEDDED_WEB_UI",
    )  # fmt: skip
    return {
        "PATH": npm.path_of_opencode(),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(folder / "tmp"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "NPM_CONFIG_REGISTRY": "http://127.0.0.1:9/",
        "npm_config_fetch_retries": "0",
        "OPENCODE_CONFIG_CONTENT": json.dumps(_config(model.url)),
        # All that it knows of the models of this world costs seconds in each folder.
        "OPENCODE_MODELS_PATH": str(models),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in switches},
        **more,
    }


def _config(url: str) -> Mapping[str, object]:
    scripted = {"name": "Scripted", "tool_call": True, "limit": {"context": 200000, "output": 8192}}
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "enabled_providers": ["scripted"],
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": {"baseURL": url, "apiKey": "none"},
                "models": {"scripted": scripted},
            }
        },
    }


def install_relay(folder: Path) -> None:
    """Give the server that will be at home in a folder the relay plugin, as a person does."""
    subprocess.run(
        [sys.executable, "-m", "dapeer", "opencode", "install"],
        env=os.environ | {"XDG_CONFIG_HOME": str(folder / "home" / ".config")},
        stdout=subprocess.DEVNULL,
        check=True,
    )


@contextmanager
def opencode(
    folder: Path,
    *,
    password: str = "",
    port: int | None = None,
    model: Provider | None = None,
    **more: str,
) -> Generator[OpenCode]:
    """Run a server while the body runs; the test is skipped where OpenCode cannot be had.

    `more` are variables that it has besides.
    """
    program = npm.opencode()
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    if model is None:
        with (
            provider() as scripted,
            opencode(folder, password=password, port=port, model=scripted, **more) as server,
        ):
            yield server
        return
    if password:
        more["OPENCODE_SERVER_PASSWORD"] = password
    with _running(program, folder, model, password, port, more) as server:
        yield server


@contextmanager
def _running(
    program: Path,
    folder: Path,
    model: Provider,
    password: str,
    port: int | None,
    more: Mapping[str, str],
) -> Generator[OpenCode]:
    log = folder / "opencode.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [program, "serve", "--hostname", "127.0.0.1", "--port", str(port or free_port()),
             "--print-logs", "--log-level", "INFO"],
            cwd=folder / "project",
            env=environment(folder, model, **more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )  # fmt: skip
    assert process.stdout
    try:
        url = _url(process.stdout, process, log)
        # What it says afterwards is read, and dropped.
        rest = threading.Thread(target=process.stdout.read, daemon=True)
        rest.start()
        yield OpenCode(url, folder / "project", model, process, password)
        process.terminate()
        rest.join(LIMIT)
    finally:
        process.terminate()
        process.wait(LIMIT)
        process.stdout.close()


def _url(lines: Iterable[str], process: subprocess.Popen[str], log: Path) -> str:
    for line in lines:
        if found := READY.search(line):
            return found[1]
    raise AssertionError(f"OpenCode ended with {process.wait(LIMIT)}: {log.read_text()[-2000:]}")
