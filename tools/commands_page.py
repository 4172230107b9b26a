"""The table of the command line's page: each command that calls a tool, with its short names and what it takes."""

import argparse

from dapeer.cli.debugging import options, table
from dapeer.tools.base.known_tools import known_tools

EVERYWHERE = {
    "help", "json", "color", "session_id", "evaluate", "show", "wait_until_paused", "timeout_ms",
}  # fmt: skip
"""What so many commands take that the page says it once."""


def command_table() -> str:
    """Return the table of the commands by section, in the order of the tools."""
    rows, section = ["| command | short | takes | what it does |", "|---|---|---|---|"], ""
    for tool, known in known_tools().items():
        if not table.name_of(tool):
            continue
        if known["section"] != section:
            section = known["section"]
            rows.append(f"| **{section}** | | | |")
        rows.append(_row(tool, known["description"].splitlines()[0]))
    return "\n".join(rows)


def _row(tool: str, description: str) -> str:
    name = table.name_of(tool)
    parser = options.add_parser(options.single_parser, name, tool)
    short = ", ".join(f"`{each}`" for each in table.short_names(tool))
    return f"| `{name}` | {short} | {' '.join(_taken(parser))} | {description} |"


def _taken(parser: argparse.ArgumentParser) -> list[str]:
    """Return what a command takes, as its help writes it: places, then options."""
    shown = [each for each in parser._actions if each.dest not in EVERYWHERE]
    places = [f"`{_place(each)}`".replace("|", "\\|") for each in shown if not each.option_strings]
    return [*places, *(f"`{each.option_strings[0]}`" for each in shown if each.option_strings)]


def _place(action: argparse.Action) -> str:
    name = str(action.metavar)
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "*":
            return f"[{name} …]"
        case "+":
            return f"{name} …"
        case _:
            return name
