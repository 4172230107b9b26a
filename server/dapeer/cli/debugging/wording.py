"""Has an answer name commands where a tool's text names tools.

Only the standard library, and little of it: each command waits for this.
"""

from __future__ import annotations

import re

from dapeer.cli.debugging import table
from dapeer.tools.base.known_tools import known_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from dapeer.tools.base.known_tools import KnownTool

_NAMED: Final = re.compile(r"(?<![\w./'\"=])(dap_[a-z_]+)\b(?:\(([^()]*)\))?(?!['\"])")
_ARGUMENT: Final = re.compile(r", (?=\w+=)")
_PROGRAMS_TEXT: Final = ("dap_program_output", "dap_source", "dap_disassemble")
"""Tools whose answer is text of the program, but for notes in parentheses."""
_SOURCE: Final = re.compile(r"\s*(→ )?\s*\d+ ")


def as_commands(text: str, tool: str = "") -> str:
    """Return a text of dapeer's in which known tools are named as the commands that call them.

    Output, source and quoted text of the program stay as they are. `tool` has answered; empty: the text is an error.

    >>> as_commands("There is no debug session. Start one with dap_run.")
    'There is no debug session. Start one with dapeer run.'
    >>> as_commands("(2 more: dap_variables(path='a b', start=3))")
    "(2 more: dapeer vars 'a b' --start 3)"
    """
    lines: list[str] = []
    is_output = False
    for line in text.split("\n"):
        is_output = line.startswith("Output") or (is_output and line.startswith(" "))
        is_note = line.lstrip().startswith("(")
        is_programs = is_output or tool in _PROGRAMS_TEXT or _SOURCE.match(line)
        lines.append(line if is_programs and not is_note else _NAMED.sub(_command, line))
    return "\n".join(lines)


def _command(found: re.Match[str]) -> str:
    """Return the command of a tool that is named in a text; what stands in parentheses are its options."""
    name, given = found.group(1), found.group(2)
    if name not in known_tools():
        return found.group(0)
    short = table.short_names(name)
    command = short[0] if short else table.name_of(name) or name.removeprefix(table.PREFIX)
    words = ["dapeer", command.replace("_", "-")]
    if given:
        words += _command_words(name, given)
    return " ".join(words)


def _command_words(tool: str, given: str) -> list[str]:
    """Return the words of a command for the arguments of a call in a text, such as `path='a', start=3`."""
    known = known_tools()[tool]
    parts = [each.partition("=") for each in _ARGUMENT.split(given)]
    values: dict[str, str] = {name: value for name, equals, value in parts if equals}
    if not values:
        return [given]
    places = [*_places(tool, known, values)]
    options = [each for name, value in values.items() for each in _option(name, value, known)]
    return [*places, *options]


def _places(tool: str, known: KnownTool, values: dict[str, str]) -> Iterator[str]:
    """Yield the words by place of a tool's command, and remove what they stand for from `values`."""
    for place in table.by_place(tool, known):
        if place == table.PLACE:
            parts = [values.pop(name) for name in ("filename", "line") if name in values]
            parts = parts or [values.pop(name) for name in ("function",) if name in values]
            yield from [":".join(map(_plain, parts))] * bool(parts)
        elif place in values:
            yield _quoted(values.pop(place))


def _option(name: str, value: str, known: KnownTool) -> Iterator[str]:
    """Yield the words of an option for an argument's `value`, as the text has it."""
    dashed = name.replace("_", "-")
    schema = known["arguments"].get("properties", {}).get(name, {})
    if schema.get("type") == "boolean":
        yield f"--{dashed}" if value.lower() == "true" else f"--no-{dashed}"
        return
    yield {"session_id": "-s", "breakpoints": "-b"}.get(name, f"--{dashed}")
    yield _quoted(value)


def _plain(value: str) -> str:
    """Return a value without the quotes around it, or the brackets of a list."""
    if value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    is_quoted = len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]
    return value[1:-1] if is_quoted else value


def _quoted(value: str) -> str:
    """Return a value as a word of a shell's command line."""
    plain = _plain(value)
    if re.fullmatch(r"[\w@%+=:,./…-]+", plain):
        return plain
    return "'" + plain.replace("'", "'\"'\"'") + "'"
