"""`dapeer run`, `dapeer status` and the others: a command calls a tool, and writes what it answers.

Only the standard library, and little of it: each command waits for this.
"""

from __future__ import annotations

import os
import re

from dapeer.base.system.stderr import say
from dapeer.cli.debugging import answers, core, table
from dapeer.scripting.wire import ServerGone, ToolError
from dapeer.tools.base.known_tools import known_tools

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Final

    from dapeer.cli.debugging.answers import AnswerFormat
    from dapeer.cli.debugging.core import Core
    from dapeer.scripting.wire import Answer, Connection
    from dapeer.tools.base.known_tools import KnownTool

# Has an answer name commands where a tool's text names tools.
#
# Only the standard library, and little of it: each command waits for this.

_NAMED: Final = re.compile(
    r"(?<![\w./'\"=])(dap_[a-z_]+)\b(?:\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))?(?!['\"])"
)
_ARGUMENT: Final = re.compile(r", (?=\w+=)")
POINTS: Final = "breakpoints"
EXPRESSIONS: Final = (
    "expressions",
    "expression",
    "collect",
    "condition",
    "expect",
    "evaluate",
    "path",
)
"""Arguments that are expressions, or lists of them."""
IN_A_PLACE: Final = ("filename", "line", "function")
_PROGRAMS_TEXT: Final = ("dap_program_output", "dap_source", "dap_disassemble")
"""Tools whose answer is text of the program, but for notes in parentheses."""
_SOURCE: Final = re.compile(r"\s*(→ )?\s*\d+ ")
_GIVEN: Final = re.compile(
    r"""(?<![\w./'"=-])([a-z]+(?:_[a-z]+)*)=(true|false|\d+|"[^"]*"|'[^']*')(?![\w=])"""
)
"""An argument with its value, outside of a call."""
_NAMED_ARGUMENT: Final = re.compile(r"`([a-z]+(?:_[a-z]+)*)`")
_ENDS_WITH_ARGUMENT: Final = re.compile(r": [a-z_]+=\d+\)?$")


def as_commands(text: str, tool: str = "") -> str:
    """Return a text of dapeer's in which known tools are named as the commands that call them.

    Arguments become options in lines that name a tool, begin with `(` or end with `: NAME=NUMBER`. Names of
    tools in quotes stay; so do output of the program, lines of source, and answers of `dap_program_output`,
    `dap_source` and `dap_disassemble`, but for lines that begin with `(`. `tool` is the tool whose answer
    the text is; empty: it is an error or a notice.

    >>> as_commands("There is no debug session. Start one with dap_run.")
    'There is no debug session. Start one with dapeer run.'
    >>> as_commands("(2 more: dap_variables(path='a b', start=3))")
    "(2 more: dapeer vars 'a b' --start 3)"
    >>> as_commands('dap_run(program="a", args=["-v"], breakpoints=[{"filename": "a.c", "line": 3, "condition": "f(n) > 2"}])')
    "dapeer run a -b a.c:3 --if 'f(n) > 2' -- -v"
    >>> as_commands("(from before: breakpoints a.py:3; fresh=true starts without)", "dap_run")
    '(from before: breakpoints a.py:3; --fresh starts without)'
    """
    lines: list[str] = []
    is_output = False
    for line in text.split("\n"):
        is_output = line.startswith("Output") or (is_output and line.startswith(" "))
        is_note = line.lstrip().startswith("(")
        is_programs = is_output or tool in _PROGRAMS_TEXT or _SOURCE.match(line)
        is_ours = is_note or not is_programs
        lines.append(_with_options(_NAMED.sub(_command, line), line, tool) if is_ours else line)
    return "\n".join(lines)


def error_as_commands(text: str, tool: str) -> str:
    """Return a call's error text with tools named as commands, and arguments of `tool` as options.

    `tool` is the whole name of the called tool; arguments that its command takes by their place stay, as do
    all of an unknown tool. An argument in backticks is changed if its name has a `_` or begins the text:
    other words may be names of the program's. Arguments with a value, such as `fresh=true`, become options
    as well.

    >>> error_as_commands("`hit_condition`: gdb does not understand `x`.", "dap_set_breakpoint")
    '`--hit-condition`: gdb does not understand `x`.'
    """

    def option(found: re.Match[str]) -> str:
        """Return the option of an argument in backticks, if it cannot be a name of the program's."""
        sure = "_" in found.group(1) or not found.start()
        known = _arguments_of(tool).get(found.group(1)) if sure else None
        words = [] if known is None else [*_option_words(found.group(1), "true", known)]
        return f"`{words[0]}`" if words else found.group(0)

    said = _NAMED_ARGUMENT.sub(option, as_commands(text))
    return "\n".join(_options(line, [tool]) for line in said.split("\n"))


def _with_options(shown: str, line: str, tool: str) -> str:
    """Return a line of an answer with arguments as options, if it is a note or names a tool.

    `shown` is the line as commands have it, `line` as tools have it.
    """
    named = [found[1] for found in _NAMED.finditer(line)]
    is_note = line.lstrip().startswith("(") or _ENDS_WITH_ARGUMENT.search(line)
    return _options(shown, [*named, tool]) if named or is_note else shown


def _options(line: str, tools: Sequence[str]) -> str:
    """Return a line in which arguments of the `tools`, such as `fresh=true`, are options.

    `tools` are names of tools. An argument whose value is `true`, `false`, a number or a text in quotes
    becomes the option (`--fresh`, or `--no-fresh` if it is false) that it is in the command of the first of
    them that has it. Other arguments, and those that the command takes by their place, stay as they are.
    """

    def option(found: re.Match[str]) -> str:
        """Return the option of an argument that one of the tools has."""
        name, value = found.group(1), found.group(2)
        known = next((known for each in tools if (known := _arguments_of(each).get(name))), None)
        return found.group(0) if known is None else " ".join(_option_words(name, value, known))

    return _GIVEN.sub(option, line)


def _arguments_of(tool: str) -> dict[str, KnownTool]:
    """Return, by each argument that is an option of a tool's command, what is known of the tool.

    All values are the same `KnownTool`. Arguments that the command takes by their place are left out; those
    of each of the tool's `breakpoints` are included. Empty: no tool has the name `tool`.
    """
    known = known_tools().get(tool)
    if known is None:
        return {}
    points = known["arguments"].get("properties", {}).get(POINTS, {}).get("items", {})
    by_place = {*table.by_place(tool, known), *IN_A_PLACE}
    names = {*known["arguments"].get("properties", {}), *points.get("properties", {})}
    return dict.fromkeys(names - by_place, known)


def _command(found: re.Match[str]) -> str:
    """Return the command line, such as `dapeer run`, that stands for a tool named in a text.

    `found` is the match of the tool's name (group 1), and of what stands in parentheses behind it, if
    anything (group 2), which becomes the command's arguments and options. Where none of these has a name,
    group 2 is put behind the command as it is. The whole match comes back unchanged if the name is no tool's.
    """
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
    """Return the words of a command for the arguments of a call in a text, such as `path='a', start=3`.

    The words are quoted for a shell where needed, to be joined by spaces. `tool` is a known tool's whole name,
    `given` what stands in the parentheses of the call. Arguments that have a place in the command come first,
    then the options, and the program's own behind `--`. Where no argument has a name, `given` comes back as the
    only word, as it is; beside named arguments one without a name is dropped.

    Raises:
        KeyError: There is no such tool.
    """
    known = known_tools()[tool]
    parts = [each.partition("=") for each in _ARGUMENT.split(given)]
    values: dict[str, str] = {name: value for name, equals, value in parts if equals}
    if not values:
        return [given]
    places = [*_take_place_words(tool, known, values)]
    own = [_quoted(_word(each)) for each in _list_in(values.get("args", ""))]
    if own:
        del values["args"]
    options = [each for name, value in values.items() for each in _option_words(name, value, known)]
    return [*places, *options, *(["--", *own] if own else [])]


def _take_place_words(tool: str, known_tool: KnownTool, values: dict[str, str]) -> Iterator[str]:
    """Yield the words by place of a tool's command, and remove what they stand for from `values`.

    `values` are the arguments as the text has them, by name; an argument that is not among them yields
    nothing. A file with its line (`FILE:LINE`, or what there is of both), or else a function, is one word.
    Words are quoted for a shell where they need quotes.
    """
    for place in table.by_place(tool, known_tool):
        if place == table.PLACE:
            parts = [values.pop(name) for name in ("filename", "line") if name in values]
            parts = parts or [values.pop(name) for name in ("function",) if name in values]
            yield from [_quoted(":".join(map(_plain, parts)))] * bool(parts)
        elif place in values:
            yield _quoted(values.pop(place))


def _option_words(name: str, value: str, known_tool: KnownTool) -> Iterator[str]:
    """Yield the words of the option for an argument `name` and its `value`, as the text has it.

    An argument whose schema says `boolean` is a flag of one word: `--NAME` for `true`, `--no-NAME` for any
    other value. Another option has its value, quoted for a shell, as a second word; if `value` is a JSON list
    with elements, the option is repeated for each of them. Breakpoints in a list become `-b PLACE` with options
    of their own, and `session_id` is `-s`. `known_tool` is what is known of the tool: its schema and traits; an
    argument that the schema lacks is no flag.
    """
    dashed = name.replace("_", "-")
    schema = known_tool["arguments"].get("properties", {}).get(name, {})
    if schema.get("type") == "boolean":
        yield f"--{dashed}" if value.lower() == "true" else f"--no-{dashed}"
        return
    listed = _list_in(value)
    if name == "breakpoints" and listed:
        for each in listed:
            yield from _words_of_breakpoint(each)
        return
    short = {"session_id": "-s", "breakpoints": "-b"}.get(name, f"--{dashed}")
    for each in listed or [value]:
        yield short
        yield _quoted(_word(each))


def _word(item: object) -> str:
    """Return an item of a JSON list as a word: a text as it is, anything else as JSON."""
    import json

    return item if isinstance(item, str) else json.dumps(item)


def _list_in(value: str) -> list[Any]:
    """Return the items of the JSON list that a text consists of; empty if the text is anything else.

    `value` must begin with `[`; a text that is no valid JSON gives an empty list, too.
    """
    import json

    from dapeer.base.json_types import is_array

    try:
        found: object = json.loads(value) if value.startswith("[") else []
    except ValueError:
        return []
    return [*found] if is_array(found) else []


def _words_of_breakpoint(point: object) -> Iterator[str]:
    """Yield the words `-b PLACE` of a breakpoint as a call has it, and its options.

    `point` is a text that is the place, or an object with a place. Of its properties a list gives an option
    for each item, a bool `--NAME` or `--no-NAME`, and null the value `None`.

    >>> " ".join(_words_of_breakpoint({"filename": "a.c", "line": 3, "condition": "n > 3"}))
    "-b a.c:3 --if 'n > 3'"
    >>> " ".join(_words_of_breakpoint({"function": "area", "collect": ["w", "h"]}))
    '-b area --collect w --collect h'
    >>> " ".join(_words_of_breakpoint("a.c:3"))
    '-b a.c:3'
    """
    from dapeer.base.json_types import is_array, is_object

    yield "-b"
    if not is_object(point):
        yield _quoted(str(point))
        return
    place = [name for name in ("filename", "line", "function") if name in point]
    yield _quoted(":".join(str(point[name]) for name in place))
    for name, value in point.items():
        dashed = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{dashed}" if value else f"--no-{dashed}"
        elif name not in place:
            for each in value if is_array(value) else [value]:
                yield {"condition": "--if"}.get(name, f"--{dashed}")
                yield _quoted(str(each))


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


GONE: Final = (
    "the dapeer server has ended before it answered, and what it had started with it. The next command starts another one; if whatever "
    "runs these commands ends all that a command leaves, use `dapeer script FILE`."
)


def run(argv: Sequence[str]) -> int:
    """Run a debugging command: call its tool and write the answer; return the exit code.

    `argv` is the command line, from the command on. `script` is handled by a module of its own. The exit code
    is 0 after an answer; for a command that waits for a program, `answers.exit_code` gives it (3: ended with an
    error, 124: still runs). It is 1 for an error, and 130 if Ctrl-C ends the command: where it waits for a
    program, the first Ctrl-C pauses that. `script` has codes of its own.

    Raises:
        KeyError: The first word is no command.
        SystemExit: The words are wrong (2), or ask for help, which has been written (0).
    """
    name, *words = argv
    if name == table.SCRIPT:
        from dapeer.cli.debugging import script

        return script.run(argv)
    if name == table.CALL:
        from dapeer.cli.debugging import options

        tool, arguments, form = options.read_any(words)
        return call(tool, arguments, form, starts=True, waits=False)
    tool = table.tools_by_command()[name]
    known = known_tools()[tool]
    arguments: dict[str, Any] = {}
    form, is_about_all = answers.AnswerFormat(), False
    if words or table.by_place(tool, known):
        # A command without a word does without `argparse`, which takes as long as all else here.
        from dapeer.cli.debugging import options

        arguments, form, is_about_all = options.read_command(name, tool, words)
    if is_about_all:
        from dapeer.cli.debugging import core

        return core.end_all()
    waiting = table.waits(tool, known) and arguments.get("wait_until_paused", True)
    return call(tool, arguments, form, starts=known["starts"], waits=waiting)


def call(
    tool: str,
    arguments: Mapping[str, Any],
    answer_format: AnswerFormat,
    *,
    starts: bool,
    waits: bool,
) -> int:
    """Call a tool of the project's server, write its answer or error, and return the exit code.

    The server is started if none runs, and dapeer's credentials are removed from the environment. The answer
    goes to stdout, errors and notices go to stderr; none of these errors is raised. The exit code is 1 for an
    error, 130 after a Ctrl-C that pauses nothing, else 0, or with `waits` that of `answers.exit_code`. If an
    expression in `arguments` ends with a single `-`, as a shell leaves it of `a->b`, nothing is called: that is an
    error, too.

    Args:
        tool: The tool's whole name, such as `dap_run`.
        arguments: The tool's arguments, with files as they are called in this folder.
        answer_format: How the answer is written: as data or text, and in which colours.
        starts: Whether the tool may start a program, which gets the environment of this process.
        waits: Whether the tool waits for a program, whose state is the exit code; Ctrl-C then pauses it.
    """
    from dapeer.base import credentials
    from dapeer.base.errors import DapeerError
    from dapeer.integrations.variables import SECRETS

    if cut := next(_expressions_cut_by_shell(arguments), ""):
        say(f"`{cut}` is not complete: a shell reads `>` as a redirect. Quote it: '{cut}>…'.")
        return answers.FAILED
    secrets = credentials.remove_credentials(SECRETS)
    try:
        server = core.connect_or_start(os.environ if starts else None, secrets)
        answer = _call_tool(server, tool, arguments, starts=starts, waits=waits)
    except ToolError as error:
        answers.write_error(error_as_commands(str(error), tool), answer_format.color)
        return answers.FAILED
    except (DapeerError, ServerGone) as error:
        say(GONE if isinstance(error, ServerGone) else str(error))
        return answers.FAILED
    except KeyboardInterrupt:
        return answers.INTERRUPTED
    if answer_format.is_data:
        answers.write_data(answer)
    else:
        answers.write_text(as_commands(answer, tool), answer_format.color)
    return answers.exit_code(answer) if waits else 0


def _expressions_cut_by_shell(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the expressions that end with one `-`, as a shell leaves them of `a->b`.

    `arguments` are a tool's, by name: only those in `EXPRESSIONS` are looked at, also in each of its
    `breakpoints`.
    """
    for name, value in arguments.items():
        if name == POINTS:
            for each in value:
                yield from _expressions_cut_by_shell(each)
        elif name in EXPRESSIONS:
            texts: list[str] = [value] if isinstance(value, str) else value
            yield from (each for each in texts if re.search(r"[^-]-\s*$", each))


def _call_tool(
    server: Core, tool: str, arguments: Mapping[str, Any], *, starts: bool, waits: bool
) -> Answer:
    """Call a tool of the connected server, and return its answer; its notices are printed to stderr.

    `starts`: the tool may start a program, and the person is told if its sessions end with the server. `waits`: the
    tool waits for a program, which the first Ctrl-C then pauses; for that a handler of SIGINT is set, which is not
    taken back after the call. Files in `arguments` are as they are called in this folder.

    Raises:
        ToolError: The tool answers with an error.
        ServerGone: The server has ended.
    """
    connection, announcement = server.connection, server.announcement
    arguments = core.arguments_from_here({**arguments}, tool, announcement.project)
    if starts and (whose := core.whose_sessions_end(announcement)):
        say(whose)
    if waits:
        _pause_at_interrupt(connection, arguments.get("session_id"))
    try:
        return connection.call(tool, arguments)
    finally:
        for sentence in connection.news_lines:
            say(as_commands(sentence))


def _pause_at_interrupt(connection: Connection, session_id: int | None) -> None:
    """Have the first Ctrl-C pause the program that a call waits for, and the second one end the command.

    It sets the handler of SIGINT, and does not restore it; the first Ctrl-C sets Python's default one. The answer
    of the waiting call then says where the program is. `session_id` None stands for the session that the client
    used last. The first Ctrl-C raises `ServerGone` if the server has ended.
    """
    import signal

    arguments = {} if session_id is None else {"session_id": session_id}

    def pause(_number: int, _frame: object) -> None:
        """Restore the usual handler of SIGINT, and call `dap_pause` on the same connection."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        connection.call_beside("dap_pause", arguments)

    signal.signal(signal.SIGINT, pause)
