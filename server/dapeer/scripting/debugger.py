"""`Debugger` and `Session`: the tools of dapeer as methods, and a few helpers for values."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from dapeer.base.text.source_lines import split_lines
from dapeer.mcp.data_extension import KEEP
from dapeer.scripting.methods import OF_SESSION, Methods
from dapeer.scripting.wire import Answer, Connection, ServerGone, ToolError

MAX_LEVELS = 100
"""Frames that dap_stacktrace lists at most."""
MAX_VALUE_CHARS = 100_000
"""Characters of a value that a script gets."""


class Session(Methods):
    """A debug session: the tools, which act on it, and what it shows.

    As a context manager it ends its session at the end of the block: a launched program is ended, an attached one goes on.
    """

    def __init__(
        self,
        connection: Connection,
        session_id: int,
        answer: Answer,
        *,
        attached: bool = False,
        kept: bool = False,
    ) -> None:
        """Keep the session with this number, of the server at `connection`.

        `answer` is that of the tool that has started it. `attached`: its end detaches from the program; `kept`: it does not end
        with its block.
        """
        self._connection = connection
        self.session_id = session_id
        self.answer = answer
        """What the last tool that was called on the session has answered."""
        self._is_attached = attached
        self._is_kept = kept

    def call_tool(self, tool: str, **arguments: Any) -> Answer:  # noqa: ANN401 - any argument of a tool
        """Call a tool by its whole name, keep its answer in `answer`, and return that.

        A tool that acts on a session acts on this one, unless the arguments have another `session_id`, or a `group`.

        Raises:
            ToolError: The tool has failed.
            ServerGone: The server has ended.
        """
        names_none = all(arguments.get(each) is None for each in ("session_id", "group"))
        if tool in OF_SESSION and names_none:
            arguments["session_id"] = self.session_id
        self.answer = self._connection.call(tool, arguments)
        return self.answer

    @property
    def stopped(self) -> bool:
        """Whether the program is stopped now; the server is asked."""
        return self._status().get("state") == "stopped"

    @property
    def ended(self) -> bool:
        """Whether the session has ended, or is not listed any more; the server is asked."""
        return self._status().get("state") in {None, "ended"}

    @property
    def exit_code(self) -> int | None:
        """The exit code of the program; None while it lives, or where it is not known."""
        return self._status().get("exit_code")

    @property
    def pid(self) -> int | None:
        """The process id of the program; None where the adapter does not tell it."""
        return self._status().get("pid")

    @property
    def place(self) -> str:
        """Where the program is stopped, as `shop.py:27 in total`; the server is asked.

        It is empty while the program runs, or if no source line is known.
        """
        row = self._status()
        if row.get("state") != "stopped" or "line" not in row:
            return ""
        return f"{_place(row)} in {row.get('function', '')}".removesuffix(" in ")

    def value(self, expression: str) -> Any:  # noqa: ANN401 - any value
        """Evaluate an expression in the frame that is shown, and return its value.

        Numbers, texts, lists, dicts, True, False and None come as Python's, if they are shown whole, in at most
        `MAX_VALUE_CHARS` characters; so does any other value whose text is a Python literal or JSON, such as a
        tuple. Anything else is the text that dapeer shows for it. The evaluation may run code of the program.

        Raises:
            ToolError: The expression cannot be evaluated, or the program is not stopped.
            ServerGone: The server has ended.
        """
        answer = self._connection.call(
            "dap_evaluate",
            {
                "expressions": [expression],
                "session_id": self.session_id,
                "max_chars": MAX_VALUE_CHARS,
            },
        )
        shown = str(answer.data.get("result", answer))
        # js-debug gives a whole text without quotes.
        bare = answer.data.get("type") == "string" and shown[:1] not in {"'", '"', "`"}
        return shown if bare else python_value(shown)

    def stack(self, levels: int = MAX_LEVELS) -> list[str]:
        """Return the innermost frames of the thread that stopped, each as `total shop.py:27`.

        There are at most `levels`; frames that dap_stacktrace folds are one line.

        Raises:
            ToolError: The program is not stopped.
        """
        arguments = {"session_id": self.session_id, "levels": min(levels, MAX_LEVELS)}
        answer = self._connection.call("dap_stacktrace", arguments)
        if "frames" not in answer.data:
            raise ToolError(f"The program runs. {answer}")
        return [_frame(each) for each in answer.data["frames"]][:levels]

    def keep(self) -> None:
        """Have the session outlive this script, or this block; whoever uses the server next finds it.

        It sends a notification to the server.
        """
        self._is_kept = True
        self._connection.notify(KEEP, {"sessionId": self.session_id})

    def end(self) -> None:
        """Terminate a launched program, or detach from an attached one; a session that has ended stays so.

        Raises:
            ToolError: The tool has failed.
        """
        if not self.ended:
            self.call_tool("dap_disconnect" if self._is_attached else "dap_terminate")

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the session, unless it is kept; an exception of the block is not suppressed."""
        if not self._is_kept:
            self.end()

    def _status(self) -> Mapping[str, Any]:
        """Return the row of this session in dap_status; an empty one if it is not listed any more."""
        answer = self._connection.call("dap_status", {"session_id": self.session_id})
        rows: list[dict[str, Any]] = answer.data["sessions"]
        return next(iter(rows), dict[str, Any]())

    def __repr__(self) -> str:
        """Return the number of the session."""
        return f"<Session {self.session_id}>"


class Debugger(Methods):
    """A dapeer server as an object.

    Made by a script or a test, it starts a server of its own, which ends with the block.

    with Debugger() as d, d.run("shop.py", breakpoints=["shop.py:27"]) as s:
        print(s.place, s.value("order.total"))
    """

    def __init__(self, connection: Connection | None = None) -> None:
        """Use a connection; None: start a server of one's own in this folder, which joins no other server.

        Raises:
            ServerGone: The server that was started does not answer.
        """
        self._server: subprocess.Popen[bytes] | None = None
        if connection is None:
            command = [sys.executable, "-m", "dapeer", "stdio", "--no-bridge", "--nvim", "none"]
            self._server = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            connection = Connection(*_pipes(self._server), "dapeer library")
        self._connection = connection

    def call_tool(self, tool: str, **arguments: Any) -> Answer:  # noqa: ANN401 - any argument of a tool
        """Call a tool by its whole name, such as `nvim_targets`.

        Raises:
            ToolError: The tool has failed.
        """
        return self._connection.call(tool, arguments)

    def run(self, program: str | None = None, **arguments: Any) -> Session:  # noqa: ANN401 - those of dap_run
        """Start a program with the arguments of dap_run, and return its session at its first stop or its end.

        With `request="attach"`, the session's end detaches from the program.

        Raises:
            ToolError: It could not be started.
        """
        answer = self.call_tool("dap_run", program=program, **arguments)
        return self._session(answer, attached=arguments.get("request") == "attach")

    def attach(self, pid: int | None = None, **arguments: Any) -> list[Session]:  # noqa: ANN401 - those of dap_run
        """Attach to a process, and return its session in a list.

        With `tree=True` those of its descendants too. `pid` is the process; other arguments are those of dap_run, such as
        the port of an adapter.

        Raises:
            ToolError: It could not be attached to.
        """
        answer = self.call_tool("dap_run", request="attach", pid=pid, **arguments)
        members = answer.data.get("members", [answer.data])
        return [self._session(Answer(answer, each), attached=True) for each in members]

    def session(self, session_id: int) -> Session:
        """Return the session of the server with this number; it is not ended with the script or its block.

        Nothing is asked: whether there is such a session shows at its first use.
        """
        return Session(self._connection, session_id, Answer(""), kept=True)

    def sessions(self) -> Iterator[Session]:
        """Yield all sessions of the server, those of other clients and of a Neovim too.

        None of them is ended with the script or its block.
        """
        for row in self.call_tool("dap_status").data.get("sessions", []):
            yield self.session(row["session_id"])

    def close(self) -> None:
        """End the server that this object has started, with all of its sessions, and wait for its end.

        A server that was there before is left as it is.
        """
        if self._server is not None:
            stdout, stdin = _pipes(self._server)
            stdin.close()
            self._server.wait()
            stdout.close()

    def __enter__(self) -> Self:
        """Return the debugger."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the server that this object has started."""
        self.close()

    def _session(self, answer: Answer, *, attached: bool) -> Session:
        """Return the session that an answer of dap_run describes."""
        return Session(self._connection, answer.data["session_id"], answer, attached=attached)


def _pipes(server: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Return standard output and standard input of a server's process, in this order.

    Raises:
        ServerGone: They are no pipes.
    """
    if server.stdout is None or server.stdin is None:
        raise ServerGone("The dapeer server has no pipes.")
    return server.stdout, server.stdin


def _place(row: Mapping[str, Any]) -> str:
    """Return `file:line` of a row of dap_status or a frame; a file below this folder is relative to it."""
    path, here = Path(row["file"]), Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"{shown}:{row['line']}"


def _frame(frame: Mapping[str, Any]) -> str:
    """Return a frame of dap_stacktrace as a line, such as `total shop.py:27`.

    Frames that it has folded are one line, in parentheses: a description, or the repeated frame and how many times.
    """
    if "folded" in frame:
        of, times = frame["of"], frame["folded"]
        return f"({of})" if isinstance(of, str) else f"({_frame(of)}, {times} times)"
    return f"{frame['function']} {_place(frame)}" if frame["file"] else frame["function"]


def python_value(text: str) -> Any:  # noqa: ANN401 - any value
    """Return the Python value that a text of a debugger stands for; the text itself if it stands for none.

    The text is read as a Python literal, or else as JSON, with its `true`, `false` and `null`, also inside of
    lists and objects; `NaN` and `Infinity` are floats. Other words, such as `nil`, stay texts. No code runs, and
    nothing is raised.

    >>> python_value("[1, 'a', None]"), python_value("true"), python_value("<Order 7>")
    ([1, 'a', None], True, '<Order 7>')
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def execute(code: str, name: str, debugger: Debugger) -> int:
    """Run a script; return 0, or 1 if it has raised an error, whose traceback is printed to stderr.

    An error of its syntax counts, too. The current folder is appended to `sys.path`, and stays there.
    `SystemExit` and other exceptions that are no errors pass through. The script runs as `__main__`, in this
    thread and without a limit; it finds `d`, and the classes `Session`, `Answer`, `ToolError` and
    `ServerGone`.

    Args:
        code: The script's text.
        name: The name of its file, in tracebacks.
        debugger: What it finds as `d`.
    """
    # What the script imports of the project comes after the library that it uses.
    sys.path.append(os.getcwd())  # noqa: PTH109 - a text, as the others there
    names = {
        "__name__": "__main__", "__file__": name, "d": debugger, "Session": Session, "Answer": Answer,
        "ToolError": ToolError, "ServerGone": ServerGone,
    }  # fmt: skip
    try:
        exec(compile(code, name, "exec"), names)  # noqa: S102 - that is what it is for
    except Exception as error:  # noqa: BLE001 - the script's own, whatever it is
        _print_traceback(error, name, code)
        return 1
    return 0


def _print_traceback(error: Exception, name: str, code: str) -> None:
    """Print the traceback of a script's error to stderr, without the frames of dapeer's scripting modules.

    Exceptions that have led to it (`__cause__`, `__context__`) are not shown. `name` and `code` are the script's
    file name, as its frames have it, and text, from which its lines are shown, whatever its file has.
    """
    ours, lines = str(Path(__file__).parent), split_lines(code)
    frames = traceback.extract_tb(error.__traceback__)
    shown = [
        traceback.FrameSummary(each.filename, each.lineno, each.name, line=lines[each.lineno - 1])
        if each.filename == name and each.lineno is not None
        else each
        for each in frames
        if not Path(each.filename).is_relative_to(ours)
    ]
    text = [
        "Traceback (most recent call last):\n",
        *traceback.format_list(shown),
        *traceback.format_exception_only(error),
    ]
    sys.stderr.write("".join(text))
