"""The parsers of the commands that debug, and what was typed, read by them."""

from __future__ import annotations

import argparse

from dapeer.cli.debugging import answers, options, table
from dapeer.tools.base.known_tools import known_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def add_parser(
    add: Callable[..., argparse.ArgumentParser], name: str, tool: str
) -> argparse.ArgumentParser:
    """Add the parser of a tool's command by `add`, and return it with all its options.

    `add` makes a parser of a name, `help` and `description`, as argparse's sub-parsers or `options.alone` do. `name` is the command's
    name, `tool` the tool that it calls.
    """
    known = known_tools()[tool]
    summary = known["description"].replace("%", "%%")
    parser = add(name, help=summary, description=summary, allow_abbrev=False)
    if tool == "dap_run":
        parser.usage = f"{parser.prog} [OPTION …] [PROGRAM] [-- ARGUMENT …]"
        parser.epilog = (
            "What stands behind -- are the program's own arguments; without PROGRAM it is a command as one types it: "
            "dapeer run -- pytest tests -k cart"
        )
    options.add_to(parser, tool, known)
    add_output_options(parser)
    if tool == "dap_disconnect":
        parser.add_argument(
            "--all",
            action="store_true",
            help="end what commands have started, and their server",
        )
    return parser


def add_any(add: Callable[..., argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the parser of the command `call`, which calls any tool, by `add`, and return it.

    `add` makes a parser of a name, `help` and `description`.
    """
    summary = "call any tool by its whole name, such as those of Neovim"
    parser = add(table.CALL, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    parser.add_argument("tool", metavar="TOOL", help="such as nvim_targets")
    parser.add_argument(
        "arguments", metavar="JSON", nargs="?", type=options.json_object, default={},
        help="its arguments, as an object",
    )  # fmt: skip
    add_output_options(parser)
    return parser


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add to a parser the options `--json` and `--color`."""
    parser.add_argument("--json", action="store_true", help="print the answer as data")
    parser.add_argument(
        "--color",
        choices=(answers.AUTO, answers.ALWAYS, answers.NEVER),
        default=answers.AUTO,
        help="colours ($NO_COLOR, $FORCE_COLOR)",
    )


def read_any(words: Sequence[str]) -> tuple[str, dict[str, Any], answers.AnswerFormat]:
    """Return the tool, its arguments, and how the answer is written, from the words behind `call`.

    `words` are those behind `call`.

    Raises:
        SystemExit: The words are wrong (2), or ask for help, which has been written (0).
    """
    typed = add_any(options.alone).parse_args(words)
    return typed.tool, typed.arguments, answers.AnswerFormat(typed.color, is_data=typed.json)


def read_command(
    name: str, tool: str, words: Sequence[str]
) -> tuple[dict[str, Any], answers.AnswerFormat, bool]:
    """Return a tool's arguments, how the answer is written, and whether `--all` was given.

    `words` are those behind the command `name`; of `dap_run` those behind `--` are the program, if none is named, and its arguments.
    `tool` is the tool that the command calls.

    Raises:
        SystemExit: The words are wrong (2), or ask for help, which has been written (0).
    """
    words, rest = [*words], list[str]()
    if tool == "dap_run" and "--" in words:
        at = words.index("--")
        words, rest = words[:at], words[at + 1 :]
    typed = add_parser(options.alone, name, tool).parse_intermixed_args(words)
    arguments = options.arguments_of(vars(typed), tool, known_tools()[tool])
    if rest and not arguments.keys() & {"program", "module", "code", "configuration"}:
        arguments["program"], *rest = rest
    if rest:
        arguments["args"] = [*arguments.get("args", ()), *rest]
    form = answers.AnswerFormat(typed.color, is_data=typed.json)
    return arguments, form, getattr(typed, "all", False)
