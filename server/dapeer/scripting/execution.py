"""Runs the text of a script with `d`, the debugger, and the names of the library."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from dapeer.scripting.debugger import Debugger, Session
from dapeer.scripting.wire import Answer, ServerGone, ToolError


def execute(code: str, name: str, debugger: Debugger) -> int:
    """Run a script; return 0, or 1 if it has raised an error, whose traceback is printed to stderr.

    The current folder is appended to `sys.path`. `SystemExit` and other exceptions that are no errors pass through.

    Args:
        code: Its text.
        name: Its file's name, in tracebacks.
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

    `name` and `code` are the script's file name and text, from which its lines are shown.
    """
    ours, lines = str(Path(__file__).parent), code.splitlines()
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
