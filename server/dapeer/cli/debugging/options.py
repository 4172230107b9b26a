"""Parsers of the commands that debug, from their tools' schemas, and arguments from what was typed."""

from __future__ import annotations

import argparse
import json

from dapeer.base.json_types import is_array, is_object
from dapeer.cli.debugging import answers
from dapeer.cli.debugging.table import ATTACH, CALL, PLACE, by_place
from dapeer.tools.base.known_tools import known_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Final, NoReturn

    from dapeer.tools.base.known_tools import KnownTool


POINTS: Final = "breakpoints"
"""The argument that is a list of breakpoints: `-b`, with the options of each behind it."""
ALSO: Final[Mapping[str, Sequence[str]]] = {
    POINTS: ("-b",),
    "session_id": ("-s",),
    "condition": ("--if",),
}
"""Short options of arguments."""
PLACES: Final[Mapping[str, str]] = {
    "dap_goto": "[FILE:]LINE",
    "dap_run_to": "FILE:LINE",
    "dap_source": "FILE[:LINE]",
}
"""How a place is written; elsewhere it may be a function as well."""
FILE_OR_FUNCTION: Final = "FILE:LINE|FUNCTION"
MAX_LISTED_CHOICES: Final = 8
"""Of more choices only the nearest is named, and the command that lists them all."""
IN_A_POINT: Final = ("filename", "line", "function")
"""Of a breakpoint, what `-b` itself says."""
ON_A_LINE: Final = frozenset({"at", "column"})
"""What names a place of a line: given once more, it begins another breakpoint of the line."""


class Point(argparse.Action):
    """Adds a breakpoint; the options behind it belong to it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Append a breakpoint at the place `values` to the parsed arguments."""
        del parser, option_string
        points = [*getattr(namespace, POINTS, ()), _place(str(values))]
        setattr(namespace, POINTS, points)


class BreakpointOption(argparse.Action):
    """Sets something of the breakpoint before it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Set `values` in the last breakpoint of the parsed arguments, or append it where that is a list.

        A second place (`ON_A_LINE`) begins another breakpoint of the line. Without a breakpoint before it, argparse ends
        the process with an error.
        """
        points = getattr(namespace, POINTS, ())
        if not points:
            parser.error(f"{option_string} belongs to the -b before it: give -b FILE:LINE first")
        if self.dest in ON_A_LINE and ON_A_LINE & points[-1].keys():
            line = {name: points[-1][name] for name in IN_A_POINT if name in points[-1]}
            points.append(line)
        if isinstance(self.const, list):
            points[-1].setdefault(self.dest, []).append(values)
        else:
            points[-1][self.dest] = values


class Parser(argparse.ArgumentParser):
    """Reads the words of a command line as argparse does, and names the nearest choice to a mistyped one.

    Its sub-parsers are of this class, too.
    """

    def error(self, message: str) -> NoReturn:
        """Print the usage and an error to stderr, and end the process with code 2.

        Where a word is none of its choices, the nearest of them is named (argparse lists all of them).
        """
        super().error(self._with_nearest_choice(message))

    def _with_nearest_choice(self, message: str) -> str:
        """Return a message of argparse; if a word is none of its choices, with the nearest, if one is near.

        Few choices are listed, of many the command that lists them is named. Any other message comes back as it
        is.
        """
        # Both are imported for an error only: a command that is right does without them.
        import re

        from dapeer.base.text.likeness import did_you_mean

        wrong = re.fullmatch(
            r"(.*invalid choice: '(.*?)') \(choose from (.*)\)", message, re.DOTALL
        )
        if not wrong:
            return message
        choices = [each.strip("'") for each in wrong[3].split(", ")]
        few = len(choices) <= MAX_LISTED_CHOICES
        rest = f"Choose from {', '.join(choices)}." if few else f"`{self.prog} --help` lists them."
        return " ".join(filter(None, (f"{wrong[1]}.", did_you_mean(wrong[2], choices), rest)))


def single_parser(name: str, **how: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - those of argparse
    """Return the parser of one command without those of the others, which costs less.

    `how` are further arguments of `ArgumentParser`, and `help`, which is dropped.
    """
    del how["help"]
    return Parser(prog=f"dapeer {name}", formatter_class=Help, **how)


class Help(argparse.HelpFormatter):
    """Help as wide as the terminal; argparse would load `shutil` to find that out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=answers.columns() - 2)


def add_to(parser: argparse.ArgumentParser, tool: str, known_tool: KnownTool, command: str) -> None:
    """Add to the parser of a command all arguments of its tool, as words by place or as options.

    `tool` is the tool's name, `command` the name of the command. `known_tool` is what is known of the tool: its
    schema and traits. An argument that is a list of breakpoints becomes `-b`, with an option for each further
    property of a breakpoint. The file, the line and the function get no options where `FILE:LINE` is a word by
    place.
    """
    schemas = known_tool["arguments"].get("properties", {})
    places = by_place(tool, known_tool, command)
    for name in places:
        _add_place(parser, tool, name, known_tool)
    taken = {*places, *(IN_A_POINT if PLACE in places else ())}
    for name, schema in schemas.items():
        if name == POINTS:
            _add_points(parser, schema["items"]["properties"])
        elif name not in taken:
            _add_option(parser, name, schema)


def _add_place(
    parser: argparse.ArgumentParser, tool: str, name: str, known_tool: KnownTool
) -> None:
    """Add to a parser an argument of the tool that is a word by place, not an option.

    `name` is the tool's argument, or `PLACE` for `FILE:LINE`, which may be missing only for `dap_source`.
    Another argument may be missing if the schema does not require it; an array takes several words. If missing,
    an array gets no attribute in the parsed result, any other argument None. `known_tool` is what is known of
    the tool `tool`: its schema and traits.
    """
    if name == PLACE:
        metavar = PLACES.get(tool, FILE_OR_FUNCTION)
        parser.add_argument(PLACE, metavar=metavar, nargs="?" if tool == "dap_source" else None)
        return
    arguments = known_tool["arguments"]
    schema = arguments["properties"][name]
    required = name in arguments.get("required", ())
    many = schema.get("type") == "array"
    nargs = ("+" if required else "*") if many else (None if required else "?")
    how: dict[str, Any] = {**_value_arguments(schema["items"] if many else schema), "nargs": nargs}
    # argparse would read SUPPRESS as the number that is left out.
    default = None if nargs == "?" else argparse.SUPPRESS
    how |= {"metavar": _dashed(name).upper(), "default": default, "help": _help(schema)}
    parser.add_argument(name, **how)


def _add_option(parser: argparse.ArgumentParser, name: str, schema: Mapping[str, Any]) -> None:
    """Add to a parser the option of a tool's argument, such as `--session-id` of `session_id`.

    `schema` is the argument's JSON Schema. A flag that is on by default becomes `--no-NAME`; a list may be given
    several times. An object of texts is given as `NAME=VALUE`, several times, and parsed to a list of pairs;
    another object is given as JSON, and parsed to a dict. What is parsed has the value as its attribute `name`, and
    no such attribute, not even None, if the option is not given.
    """
    flags = [*ALSO.get(name, ()), f"--{_dashed(name)}"]
    common: dict[str, Any] = {
        "dest": name, "default": argparse.SUPPRESS, "help": _help(schema)
    }  # fmt: skip
    match schema.get("type"):
        case "boolean" if schema.get("default") is True:
            parser.add_argument(f"--no-{_dashed(name)}", action="store_false", **common)
        case "boolean":
            parser.add_argument(*flags, action="store_true", **common)
        case "array":
            parser.add_argument(
                *flags, action="append", **common, **_value_arguments(schema["items"])
            )
        case "object" if schema.get("additionalProperties") == {"type": "string"}:
            parser.add_argument(
                *flags, action="append", metavar="NAME=VALUE", type=_assignment, **common
            )
        case "object":
            parser.add_argument(*flags, metavar="JSON", type=json_object, **common)
        case _:
            parser.add_argument(*flags, **common, **_value_arguments(schema))


def _add_points(parser: argparse.ArgumentParser, schemas: Mapping[str, Mapping[str, Any]]) -> None:
    """Add to a parser `-b`, and an option for each further property of a breakpoint.

    `schemas` are the JSON Schemas of a breakpoint's properties, by name; those in `IN_A_POINT`, which `-b` itself
    gives, get no option. An option may also have the flags in `ALSO`; that of a property whose schema is a list may
    be given several times. Each belongs to the `-b` before it. What is not given is not in the parsed arguments.
    """
    group = parser.add_argument_group("breakpoints", "each option belongs to the -b before it")
    group.add_argument(
        "-b", "--breakpoint", action=Point, metavar=FILE_OR_FUNCTION, dest=POINTS,
        default=argparse.SUPPRESS, help="a breakpoint",
    )  # fmt: skip
    for name, schema in schemas.items():
        if name in IN_A_POINT:
            continue
        many = schema.get("type") == "array"
        how = _value_arguments(schema["items"] if many else schema)
        flags = [*ALSO.get(name, ()), f"--{_dashed(name)}"]
        group.add_argument(
            *flags, action=BreakpointOption, dest=name, const=[] if many else None,
            default=argparse.SUPPRESS, help=_help(schema), **how,
        )  # fmt: skip


def _value_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` that say how a value of this JSON Schema is read.

    They are `choices` for an `enum`, else `type` and `metavar` for an integer, number or object. The dict is empty
    for a text, and for any other type (boolean, array), which the caller handles itself.
    """
    if "enum" in schema:
        return {"choices": schema["enum"]}
    match schema.get("type"):
        case "integer":
            return {"type": int, "metavar": "N"}
        case "number":
            return {"type": float, "metavar": "N"}
        case "object":
            return {"type": json_object, "metavar": "JSON"}
        case _:
            return {}


def _help(schema: Mapping[str, Any]) -> str | None:
    """Return the help of an argument, from its schema's description and default; None without any."""
    text = str(schema.get("description", ""))
    default = schema.get("default")
    if default is not None and not isinstance(default, bool):
        text = f"{text} (default: {default})".strip()
    return text.replace("%", "%%") or None


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _assignment(text: str) -> tuple[str, str]:
    """Return name and value of `NAME=VALUE`.

    Raises:
        ArgumentTypeError: It is none.
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE")
    return name, value


def json_object(text: str) -> dict[str, Any]:
    """Return the object that a text of JSON holds.

    Raises:
        ArgumentTypeError: It is no JSON, or no object.
    """
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON: {error}") from error
    if not is_object(value):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a JSON object")
    return value


def _place(text: str) -> dict[str, Any]:
    """Return file and line of a place, or the function that it names.

    >>> _place("shop.py:27"), _place("27"), _place("shop.total")
    ({'filename': 'shop.py', 'line': 27}, {'line': 27}, {'function': 'shop.total'})
    """
    filename, _, line = text.rpartition(":")
    if not (line.isascii() and line.isdigit()):
        return {"function": text}
    return {**({"filename": filename} if filename else {}), "line": int(line)}


def arguments_of(typed: Mapping[str, Any], tool: str, known_tool: KnownTool) -> dict[str, Any]:
    """Return the arguments of a tool that were typed, without those left out and those the tool lacks.

    `typed` are argparse's results by name, among which pairs of `NAME=VALUE` are tuples already. A list of pairs
    becomes an object, a single empty text an empty list, and a place such as `FILE:LINE` the arguments that it
    stands for. Nothing is refused here: a place without a line number is a function's name, or a file's if the tool
    wants a file. `known_tool` is what is known of the tool: its schema and traits.
    """
    schemas = known_tool["arguments"].get("properties", {})
    arguments = {
        name: value for name, value in typed.items() if name in schemas and value is not None
    }
    for name, value in arguments.items():
        if schemas[name].get("type") == "object" and is_array(value):
            arguments[name] = dict(value)
        elif value == [""]:
            # An empty list, such as that of no exception filters.
            arguments[name] = []
    if (place := typed.get(PLACE)) is not None:
        arguments.update(_place_arguments(_place(place), tool))
    return arguments


def _place_arguments(place: Mapping[str, Any], tool: str) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each argument that a place stands for.

    Where the tool wants a file, a name without a line is the file's, not a function's.
    """
    for name, value in place.items():
        yield ("filename" if name == "function" and tool in PLACES else name), value


def add_parser(
    add: Callable[..., argparse.ArgumentParser], name: str, tool: str
) -> argparse.ArgumentParser:
    """Add the parser of a tool's command by `add`, and return it, with the options for output, too.

    `add` makes a parser of a name, `help`, `description` and `allow_abbrev`, as argparse's sub-parsers or
    `single_parser` do. `name` is the command's name, `tool` the tool that it calls, whose arguments become
    options. The command of `dap_disconnect` also gets `--all`, the one named `ATTACH` a usage of its own,
    and every other command of `dap_run` a usage and an epilog.

    Raises:
        KeyError: dapeer has no such tool.
    """
    known = known_tools()[tool]
    summary = known["description"].replace("%", "%%")
    parser = add(name, help=summary, description=summary, allow_abbrev=False)
    if name == ATTACH:
        parser.usage = f"{parser.prog} [OPTION …] [PID]"
    elif tool == "dap_run":
        parser.usage = f"{parser.prog} [OPTION …] [PROGRAM] [-- ARGUMENT …]"
        parser.epilog = (
            "What stands behind -- are the program's own arguments; without PROGRAM it is a command as one types it: "
            "dapeer run -- pytest tests -k cart. "
            "In one command, the values at each hit, without a stop: dapeer run shop.py -b shop.py:27 --collect total --if 'total < 0'"
        )
    add_to(parser, tool, known, name)
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

    `add` makes a parser of a name, `help` and `description`, as for `add_parser`. What is parsed has `tool`, the tool's
    name, `arguments`, a dict from one word of JSON (empty if that is left out), and what `add_output_options` adds.
    """
    summary = "call any tool by its whole name, such as those of Neovim"
    parser = add(CALL, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    parser.add_argument("tool", metavar="TOOL", help="such as nvim_targets")
    parser.add_argument(
        "arguments", metavar="JSON", nargs="?", type=json_object, default={},
        help="its arguments, as an object",
    )  # fmt: skip
    add_output_options(parser)
    return parser


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add to a parser the options `--json` (a flag) and `--color`: `auto` (default), `always` or `never`."""
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
    typed = add_any(single_parser).parse_args(words)
    return typed.tool, typed.arguments, answers.AnswerFormat(typed.color, is_data=typed.json)


def read_command(
    name: str, tool: str, words: Sequence[str]
) -> tuple[dict[str, Any], answers.AnswerFormat, bool]:
    """Return a tool's arguments, how the answer is written, and whether `--all` was given.

    `words` are the words behind the command `name` on the command line; `tool` is the tool that the command
    calls. With `dap_run`, the words behind `--` are the arguments of the program. The first of them is the
    program itself if the words before name no program, module, code or configuration. The arguments are
    returned by name; `--all` counts as not given where the command has no such option.

    Raises:
        SystemExit: The words are wrong (2), or ask for help, which has been written (0).
    """
    words, rest = [*words], list[str]()
    if tool == "dap_run" and "--" in words:
        at = words.index("--")
        words, rest = words[:at], words[at + 1 :]
    typed = add_parser(single_parser, name, tool).parse_intermixed_args(words)
    arguments = arguments_of(vars(typed), tool, known_tools()[tool])
    if rest and not arguments.keys() & {"program", "module", "code", "configuration"}:
        arguments["program"], *rest = rest
    if rest:
        arguments["args"] = [*arguments.get("args", ()), *rest]
    form = answers.AnswerFormat(typed.color, is_data=typed.json)
    return arguments, form, getattr(typed, "all", False)
