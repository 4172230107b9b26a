"""The arguments of `dapeer install`."""

from __future__ import annotations

import argparse
from typing import Final

import dapeer
from dapeer.base.text.likeness import did_you_mean

TARGETS: Final = (
    "claude", "cursor", "vscode", "opencode", "gemini", "codex", "qwen", "copilot", "kiro", "windsurf", "zed",
    "claude-desktop", "lm-studio", "amp", "cline", "nvim",
)  # fmt: skip
OTHER_NAMES: Final = {
    "claudecode": "claude", "code": "vscode", "visualstudiocode": "vscode", "neovim": "nvim", "vim": "nvim",
    "geminicli": "gemini", "codexcli": "codex", "openaicodex": "codex", "qwencode": "qwen", "copilotcli": "copilot",
    "githubcopilot": "copilot", "cursorai": "cursor", "ampcode": "amp", "zededitor": "zed",
}  # fmt: skip
"""What people call clients as well, without blanks and hyphens."""
SUMMARY: Final = "let a client, or Neovim, use dapeer"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Give the parser of `dapeer install` its arguments, and the function that runs the command.

    They are one or more clients (`target`), `--user` or `--project` (`scope`: `user`, the default, or `project`),
    `--remove`, `--skill-only`, and `--yes` or `--dry-run`. What is parsed has the function as `command`.
    """
    parser.add_argument(
        "target", type=target_of, nargs="+", metavar="CLIENT", help=", ".join(TARGETS)
    )
    scope = parser.add_mutually_exclusive_group()
    for name, description in (
        ("user", "for you, in all projects (default)"),
        ("project", "for everybody in this project"),
    ):
        scope.add_argument(
            f"--{name}", dest="scope", action="store_const", const=name, help=description
        )
    parser.add_argument("--remove", action="store_true", help="take it away again")
    parser.add_argument(
        "--skill-only",
        action="store_true",
        help="no MCP: a skill that names dapeer's commands, also in ~/.agents/skills",
    )
    agreement = parser.add_mutually_exclusive_group()
    agreement.add_argument("--yes", action="store_true", help="change the files without asking")
    agreement.add_argument(
        "--dry-run", action="store_true", help="show what would change, and change nothing"
    )
    parser.set_defaults(command=_install, scope="user")


def target_of(word: str) -> str:
    """Return the id of the client that is called so, whatever its capitals, blanks and hyphens.

    >>> target_of("Claude"), target_of("claude-code"), target_of("VS Code")
    ('claude', 'claude', 'vscode')

    Raises:
        ArgumentTypeError: No client is called so; the message names the most similar one, if there is one, and all.
    """
    plain = _plain(word)
    known = {**{_plain(each): each for each in TARGETS}, **OTHER_NAMES}
    if plain in known:
        return known[plain]
    question = did_you_mean(word, TARGETS)
    raise argparse.ArgumentTypeError(
        f"there is no client {word!r}. {question} They are: {', '.join(TARGETS)}".replace("  ", " ")
    )


def _plain(word: str) -> str:
    """Return a word in lower case, with its letters and digits only."""
    return "".join(each for each in word.casefold() if each.isalnum())


def _install(arguments: argparse.Namespace) -> int:
    """Install or remove dapeer for each client that is named, each once; return the highest exit code.

    `arguments` are the parsed ones of `dapeer install`: `target` (at least one client, or `nvim`), `scope`,
    `remove`, `skill_only`, `dry_run` and `yes`. What is changed is printed, and the person is asked first;
    with `yes` nobody is asked, with `dry_run` nothing is changed. A client's code is 0, also if nothing is to
    be changed, or another one if the person declines or has to make the change by hand; the next clients
    follow in either case. An error ends the command, and what was done before stays.

    Raises:
        ArgumentError: A file cannot be read or written, a target has no such scope or no skills, or Neovim
            is missing, too old or does not answer.
    """
    from dapeer.cli.install import command

    codes = [
        command.run(
            target,
            arguments.scope,
            remove=arguments.remove,
            skill_only=arguments.skill_only,
            agreement="no" if arguments.dry_run else "yes" if arguments.yes else "ask",
        )
        for target in dict.fromkeys(arguments.target)
    ]
    return max(codes)


# What bare `dapeer` prints, and `dapeer stdio` at a terminal: where to begin.

BARE: Final = f"""\
dapeer {dapeer.__version__}: a debugger that you and your AI share.

  dapeer demo                     watch it find a bug
  dapeer install claude           let your assistant use it, or cursor, codex, …
  dapeer run app.py -b app.py:27  debug from this terminal
  dapeer doctor                   what is installed, missing, and how to get it

`dapeer --help` lists all commands, `dapeer COMMAND --help` explains one.
"""
STDIO_AT_A_TERMINAL: Final = (
    "`dapeer stdio` is what an MCP client starts: it speaks JSON-RPC, and waits for it now. `dapeer install CLIENT` lets a client "
    "start it; Ctrl-C ends it."
)
