"""The arguments of `dapeer install`."""

from __future__ import annotations

import argparse
from typing import Final

TARGETS: Final = (
    "claude", "cursor", "vscode", "opencode", "gemini", "codex", "qwen", "copilot", "kiro", "windsurf", "zed",
    "claude-desktop", "lm-studio", "amp", "cline", "nvim",
)  # fmt: skip
SUMMARY: Final = "let a client, or Neovim, use dapeer"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Give the command its arguments."""
    parser.add_argument("target", choices=TARGETS, metavar="CLIENT", help="%(choices)s")
    scope = parser.add_mutually_exclusive_group()
    for name, description in (
        ("user", "for you, in all projects (default)"),
        ("project", "for everybody in this project"),
    ):
        scope.add_argument(
            f"--{name}", dest="scope", action="store_const", const=name, help=description
        )
    parser.add_argument("--remove", action="store_true", help="take it away again")
    parser.add_argument("--yes", action="store_true", help="change the files without asking")
    parser.set_defaults(command=_install, scope="user")


def _install(arguments: argparse.Namespace) -> int:
    from dapeer.cli.install import command

    return command.run(
        arguments.target, arguments.scope, remove=arguments.remove, agreed=arguments.yes
    )
