"""The program's sources: files under one name each, their lines with code, code without a file.

Also which text of a changed file its code is of: the debugger evaluates the text of this module for that.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import sys
import types
from collections.abc import Iterator
from types import CodeType
from typing import Any

COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
"""Codes within another one; before Python 3.12 all of them."""
ENTRY = 4
"""Size, time, lines and name: an entry of `linecache`."""


def compile_file(file: str) -> CodeType:
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
    return sorted({line for each in nested_codes(compile_file(file)) for line in lines(each)})


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
    """Return the source of code that has no file: from `linecache`, or of debugpy's `-c`; empty: unknown.

    `code` is a code object. The text is that of its whole module. The text of `-c` is compiled, since code
    of `exec` has the same file name: the result is empty if `code` is not in it. Nothing runs.
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


def debuggee_path(file: str) -> str:
    """Return the path on this machine of a file that the client names, by pydevd's path mappings."""
    files: Any = importlib.import_module("pydevd_file_utils")
    return str(files.map_file_to_server(file))


@functools.lru_cache(maxsize=10000)
def normalized_path(file: str) -> str:
    """Return one normalized path for a file, by whatever path it is known; links are resolved."""
    return os.path.normcase(os.path.realpath(file))


# Which text of a changed file the program's code is of.
#
# Codes are compared, which runs no code of the program: what has been imported again, or executed anew, is of the new text.

MAX_TOLD = 20
"""Functions of the old text that are named."""
SUSPENDED: Any = (
    (types.GeneratorType, "gi_frame"),
    (types.CoroutineType, "cr_frame"),
    (types.AsyncGeneratorType, "ag_frame"),
)


class TextsAnswer:
    """A string that is shown without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def code_key(code: Any) -> Any:
    """Return what tells a code object from one of another text, also where only its lines have moved."""
    return code, getattr(code, "co_linetable", None) or getattr(code, "co_lnotab", None)


def code_keys(text: Any) -> Any:
    """Return the set of the keys of all code objects of a source text; empty if it is no Python."""
    found: set[Any] = set()
    with contextlib.suppress(SyntaxError, ValueError):
        found.update(map(code_key, nested_codes(compile(text, "", "exec", dont_inherit=True))))
    return found


def frames() -> Iterator[Any]:
    """Yield the frames of all threads with their callers, and of suspended generators and coroutines.

    A frame may come twice. All objects that the garbage collector knows are looked at.
    """
    of_python: Any = sys
    running = list(of_python._current_frames().values())
    waiting = [
        getattr(o, at) for o in gc.get_objects() for kind, at in SUSPENDED if type(o) is kind
    ]
    for frame in (*running, *waiting):
        each = frame
        while each is not None:
            yield each
            each = each.f_back


def texts_of(spec: str) -> TextsAnswer:
    """Return as a JSON text whether a file's new code is loaded, and what is left of its old code.

    `spec` is a JSON list: the path of the file, which has the new text by now, and the text from before (null: it
    is unknown). The answer is an object with `new`: whether some loaded code is only in the new text; `frames`,
    the running or suspended frames of code that is only in the old text, as lists of name and line; and
    `functions`, the sorted names of loaded functions with such old code; `MAX_TOLD` of each at most. Where the
    old text is unknown, both lists are empty, and `new` is true only if the file has loaded code, and all of it
    is in the new text. A text that is no valid Python counts as one without code.

    Raises:
        OSError: The file cannot be read.
    """
    path, then = json.loads(spec)
    with open(path, "rb") as stream:
        now, before = code_keys(stream.read()), code_keys(then or "")
    names = {path, os.path.realpath(path)}
    functions = [
        each.__code__
        for each in gc.get_objects()
        if type(each) is types.FunctionType and each.__code__.co_filename in names
    ]
    here = {id(each): each for each in frames() if each.f_code.co_filename in names}.values()
    live = [*functions, *(each.f_code for each in here)]
    old = [each for each in here if code_key(each.f_code) in before - now]
    # Where the text from before is unknown, all of it must be of the new one.
    is_new = any(code_key(each) in now - before for each in live)
    answer = {
        "new": is_new and (then is not None or all(code_key(each) in now for each in live)),
        "frames": [[each.f_code.co_name, each.f_lineno] for each in old][:MAX_TOLD],
        "functions": sorted({c.co_name for c in functions if code_key(c) in before - now})[
            :MAX_TOLD
        ],
    }
    return TextsAnswer(json.dumps(answer))
