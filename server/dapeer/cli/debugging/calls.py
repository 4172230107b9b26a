"""`dapeer run`, `dapeer status` and the others: a command calls a tool, and writes what it answers.

Only the standard library, and little of it: each command waits for this.
"""

from __future__ import annotations

import os

from dapeer.base.system.stderr import say
from dapeer.cli.debugging import answers, core, table, wording
from dapeer.scripting.wire import ServerGone, ToolError
from dapeer.tools.base.known_tools import known_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

    from dapeer.cli.debugging.answers import AnswerFormat
    from dapeer.cli.debugging.core import Core
    from dapeer.scripting.wire import Answer, Connection

GONE: Final = (
    "the dapeer server has ended before it answered, and what it had started with it. The next command starts another one; if whatever "
    "runs these commands ends all that a command leaves, use `dapeer script FILE`."
)


def run(given: Sequence[str]) -> int:
    """Run a debugging command: call its tool and write the answer; return the exit code.

    `given` is the command line, from the command on. `script` and `call` are handled by modules of their own. The exit code is 0 after an
    answer; for a command that waits for a program, `answers.exit_code` gives it (3: ended with an error, 124: still runs). It is 1 for an
    error, and 130 after Ctrl-C. `script` has codes of its own.

    Raises:
        SystemExit: The words are wrong (2), or ask for help, which has been written (0).
    """
    name, *words = given
    if name == table.SCRIPT:
        from dapeer.cli.debugging import script

        return script.run(given)
    if name == table.CALL:
        from dapeer.cli.debugging import parsers

        tool, arguments, form = parsers.read_any(words)
        return call(tool, arguments, form, starts=True, waits=False)
    tool = table.tools_by_command()[name]
    known = known_tools()[tool]
    arguments: dict[str, Any] = {}
    form, is_about_all = answers.AnswerFormat(), False
    if words or table.by_place(tool, known):
        # A command without a word does without `argparse`, which takes as long as all else here.
        from dapeer.cli.debugging import parsers

        arguments, form, is_about_all = parsers.read_command(name, tool, words)
    if is_about_all:
        from dapeer.cli.debugging import ending

        return ending.end_all()
    waiting = table.waits(tool, known) and arguments.get("wait_until_paused", True)
    return call(tool, arguments, form, starts=known["starts"], waits=waiting)


def call(
    tool: str,
    arguments: Mapping[str, Any],
    form: AnswerFormat,
    *,
    starts: bool,
    waits: bool,
) -> int:
    """Call a tool of the project's server, write its answer or error, and return the exit code.

    The server is started if none runs. dapeer's credentials are removed from the environment. The exit code is 1 for an error, 130 after
    Ctrl-C, else 0, or with `waits` that of `answers.exit_code`.

    Args:
        tool: The tool's whole name, such as `dap_run`.
        arguments: The tool's arguments, with files as they are called in this folder.
        form: How the answer is written.
        starts: Whether the tool may start a program, which gets the environment of this process.
        waits: Whether the tool waits for a program, whose state is the exit code; Ctrl-C then pauses it.
    """
    from dapeer.base import credentials
    from dapeer.base.errors import DapeerError
    from dapeer.integrations.variables import SECRETS

    secrets = credentials.remove_credentials(SECRETS)
    try:
        server = core.joined_or_started(os.environ if starts else None, secrets)
        answer = _answer(server, tool, arguments, starts=starts, waits=waits)
    except ToolError as error:
        answers.write_error(wording.as_commands(str(error)), form.color)
        return answers.FAILED
    except (DapeerError, ServerGone) as error:
        say(GONE if isinstance(error, ServerGone) else str(error))
        return answers.FAILED
    except KeyboardInterrupt:
        return answers.INTERRUPTED
    if form.is_data:
        answers.write_data(answer)
    else:
        answers.write_text(wording.as_commands(answer, tool), form.color)
    return answers.exit_code(answer) if waits else 0


def _answer(
    server: Core, tool: str, arguments: Mapping[str, Any], *, starts: bool, waits: bool
) -> Answer:
    """Call a tool of the connected server, and return its answer; its notices are printed to stderr.

    `starts`: the tool may start a program, and the person is told if its sessions end with the server. `waits`: the tool waits for a
    program, which Ctrl-C then pauses; for that the handler of SIGINT is set. Files in `arguments` are as they are called in this folder.

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
        for sentence in connection.news:
            say(wording.as_commands(sentence))


def _pause_at_interrupt(connection: Connection, session_id: int | None) -> None:
    """Have the first Ctrl-C pause the program that a call waits for, and the second one end the command.

    It sets the handler of SIGINT. The answer of the waiting call then says where the program is. `session_id` None stands for the
    session that the client used last.
    """
    import signal

    arguments = {} if session_id is None else {"session_id": session_id}

    def pause(_number: int, _frame: object) -> None:
        """Restore the usual handler of SIGINT, and call `dap_pause` on the same connection."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        connection.call_beside("dap_pause", arguments)

    signal.signal(signal.SIGINT, pause)
