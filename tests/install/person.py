"""Somebody with a home and a project of their own, who runs `dapeer install`."""

import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from dapeer.cli.install.clients import CLIENTS
from dapeer.cli.main import main

DAPEER = Path(sys.executable).with_name("dapeer")
FILES = {
    "claude": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "opencode": ".config/opencode/opencode.json",
    "gemini": ".gemini/settings.json",
    "codex": ".codex/config.toml",
    "qwen": ".qwen/settings.json",
    "copilot": ".copilot/mcp-config.json",
    "kiro": ".kiro/settings/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
    "lm-studio": ".lmstudio/mcp.json",
    "amp": ".config/amp/settings.json",
}
"""Where each client's servers are, relative to a home."""


class Person:
    """Somebody with a home and a project of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        moving = {name for each in CLIENTS.values() for name, _ in each.folder_variables}
        for variable in (*moving, "XDG_DATA_HOME"):
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
