"""The program's sources: files under one name each, their lines with code, and code without a file."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
"""Codes within another one; before Python 3.12 all of them."""
ENTRY = 4
"""Size, time, lines and name: an entry of `linecache`."""


def compiled(file: str) -> CodeType:
    """Return a file's code.

    Raises:
        OSError, SyntaxError, ValueError: It cannot be read, or is no Python.
    """
    with open(file, "rb") as stream:
        return compile(stream.read(), file, "exec", dont_inherit=True)


@functools.lru_cache(maxsize=20)
def lines_of(file: str, _changed: int) -> list[int]:
    """Return the lines of a file that have code, ascending.

    `_changed` is the time of the file's last change: results are kept by both.

    Raises:
        OSError, SyntaxError, ValueError: The file cannot be read, or is no Python.
    """
    return sorted({line for each in nested_codes(compiled(file)) for line in lines(each)})


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all that are constants in it, at any depth, the outer ones first."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from nested_codes(each)


def lines(code: CodeType) -> set[int]:
    """Return the lines at which Python's tracing reports a line event in a code object."""
    dis: Any = importlib.import_module("dis")
    return {line for _place, line in dis.findlinestarts(code) if line}


def inner_lines(code: CodeType) -> set[int]:
    """Return the lines at which a point is in this code object, not in that around a comprehension."""
    found = lines(code)
    return found - {code.co_firstlineno} if code.co_name in COMPREHENSIONS else found


def text_of(code: CodeType) -> str:
    """Return the source of code that has no file: from `linecache`, or of `python -c`; empty: unknown.

    `code` is a code object. The text is that of its whole module. For `python -c` it is compiled to compare, and none of it runs.
    """
    linecache: Any = importlib.import_module("linecache")
    # An entry of another form is a loader of the program's that has not run yet.
    entry = linecache.cache.get(code.co_filename, ())
    known = "".join(entry[2]) if len(entry) == ENTRY else ""
    options: Any = getattr(sys.modules.get("debugpy.server.cli"), "options", None)
    if known or code.co_filename != "<string>" or getattr(options, "target_kind", "") != "code":
        return known
    # What `exec` makes of a text has this name, too.
    module_code = compile(str(options.target), code.co_filename, "exec", dont_inherit=True)
    return str(options.target) if any(each == code for each in nested_codes(module_code)) else ""


def mapped(file: str) -> str:
    """Return the path on this machine of a file that the client names, by pydevd's path mappings."""
    files: Any = importlib.import_module("pydevd_file_utils")
    return str(files.map_file_to_server(file))


@functools.lru_cache(maxsize=10000)
def same_file(file: str) -> str:
    """Return one normalized path for a file, by whatever path it is known; links are resolved."""
    return os.path.normcase(os.path.realpath(file))
