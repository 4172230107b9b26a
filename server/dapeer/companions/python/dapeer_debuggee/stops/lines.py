"""Remembers which lines of a file have code.

A breakpoint on a line without code moves to one that has some. To find that, pydevd reads and compiles the whole file
for each breakpoint, and a client sends all breakpoints of a file whenever it changes one. For each of them pydevd also
sorts all others of the file by line, and looks at every thread again; here it does both once for a request.
The lines of a template are not those of the Python code that is made of it.
"""

from __future__ import annotations

import os
from typing import Any

from .. import patching

MAX_KEPT_FILES = 50
"""Files whose lines are kept."""


class CodeLines:
    """Finds the lines of a file, or of a code object, that have code."""

    def __init__(self) -> None:
        self._cached_lines: dict[str, tuple[tuple[int, ...], list[int]]] = {}

    def lines_of(self, stock: Any, code: Any, *rest: Any, **named: Any) -> Any:
        """Return the lines that have code; those of a file are kept until the file changes.

        `stock` is pydevd's function that finds them, `code` the path of a file or a code object. `rest` and `named` are further arguments
        of that function. Of a file it is a sorted list, which callers do not change; what `stock` raises leaves it.
        """
        if not isinstance(code, str):
            return stock(code, *rest, **named)
        # Before the file is read: what is written meanwhile counts as a change.
        edition = edition_of(code)
        known = self._cached_lines.get(code)
        if known is None or known[0] != edition:
            if len(self._cached_lines) >= MAX_KEPT_FILES:
                self._cached_lines.clear()
            lines = sorted(set(stock(code, *rest, **named)))
            known = self._cached_lines[code] = (edition, lines)
        return known[1]


def edition_of(path: str) -> tuple[int, ...]:
    """Return what differs after a change of a file: inode, size and time.

    Raises:
        OSError: It cannot be read.
    """
    facts = os.stat(path)
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns)


CODE_LINES = "_pydevd_bundle.pydevd_api:_get_code_lines"
SET = "_pydevd_bundle.pydevd_process_net_command_json:PyDevJsonCommandProcessor.on_setbreakpoints_request"
KEPT = patching.Row(
    "lines-with-code",
    "debugpy",
    "Many breakpoints in a long file are set more slowly, since each reads the whole file.",
    replaces={CODE_LINES: "code"},
)
AT_ONCE = patching.Row(
    "breakpoints-at-once",
    "debugpy",
    "Many breakpoints in a file are set more slowly, since each looks at all threads.",
    replaces={SET: "self py_db request"},
    uses=(
        "pydevd:PyDB.on_breakpoints_changed(self removed=)",
        "pydevd:PyDB.consolidate_breakpoints"
        "(self canonical_normalized_filename id_to_breakpoint file_to_line_to_breakpoints)",
    ),
)


@KEPT
def keep_lines(patch: Any) -> None:
    """Patch pydevd so that it remembers which lines of a file have code.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    lines = CodeLines()
    patch.replace(CODE_LINES)(lines.lines_of)


@AT_ONCE
def change_once(patch: Any) -> None:
    """Patch pydevd so that what it does about changed breakpoints is done once for a request, at its end.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(SET)
    def handle(stock: Any, self: Any, py_db: Any, request: Any, *rest: Any, **named: Any) -> Any:
        """Handle `setBreakpoints` as pydevd does, then sort and announce the breakpoints once.

        Meanwhile two methods of `py_db`, the debugger, are replaced; also after an error they are as before, and what was set is announced.
        """
        changed: list[bool] = []
        sorts: dict[tuple[str, int], tuple[Any, ...]] = {}
        stock_sort = py_db.consolidate_breakpoints

        def sort_later(*given: Any, **named: Any) -> None:
            """Keep the arguments for a sort at the end; sort at once where a plugin of pydevd's uses the result."""
            # A plugin uses what is sorted; the first breakpoint in a template makes it.
            if named or getattr(py_db, "plugin", py_db) is not None:
                stock_sort(*given, **named)
            else:
                path, _by_id, by_path = given
                sorts[path, id(by_path)] = given

        def change_later(removed: bool = False) -> None:
            changed.append(removed)

        py_db.on_breakpoints_changed = change_later
        py_db.consolidate_breakpoints = sort_later
        try:
            return stock(self, py_db, request, *rest, **named)
        finally:
            py_db.__dict__.pop("consolidate_breakpoints", None)
            del py_db.on_breakpoints_changed
            for each in sorts.values():
                stock_sort(*each)
            if changed:
                py_db.on_breakpoints_changed(removed=all(changed))


ADD = "_pydevd_bundle.pydevd_api:PyDevdAPI.add_breakpoint"
TEMPLATES = patching.Row(
    "templates-of-jinja",
    "debugpy",
    "A breakpoint in a template of Jinja stops at the line of that number of the Python code that is made of it.",
    replaces={
        ADD: "self py_db original_filename breakpoint_type breakpoint_id line condition func_name expression suspend_policy"
        " hit_condition is_logpoint adjust_line= on_changed_breakpoint_state="
    },
)


@TEMPLATES
def know_templates(patch: Any) -> None:
    """Patch pydevd so that a breakpoint in a template of Jinja is one of its plugin.

    The user need not set the option `jinja` for that. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and
    its `undo` puts back what was replaced by it.
    """

    @patch.replace(ADD)
    def add(
        stock: Any,
        self: Any,
        py_db: Any,
        original_filename: Any,
        breakpoint_type: Any,
        *rest: Any,
        **named: Any,
    ) -> Any:
        kind, path = breakpoint_type, self.filename_to_server(original_filename)
        if kind == "python-line" and is_template(path):
            kind = "jinja2-line"
        return stock(self, py_db, original_filename, kind, *rest, **named)


def is_template(path: str) -> bool:
    """Return whether a file is no Python or Cython, and has the marks of a template: `{{` or `{%`.

    It is read and compiled, unless its name or kind tells that it is none: False for the extensions of Python and Cython, and for no
    regular file.

    Raises:
        OSError: It cannot be read.
    """
    if path.endswith((".py", ".pyw", ".pyx", ".pxi")) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        text = file.read()
    try:
        compile(text, path, "exec")
    except (SyntaxError, ValueError):
        return b"{{" in text or b"{%" in text
    return False
