"""Which text of a changed file a program's code is of. Its text is evaluated by the debugger.

Codes are compared, which runs no code of the program: what has been imported again, or executed anew, is of the new text.
"""

import contextlib
import gc
import json
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

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


def code_and_inner(code: Any) -> Iterator[Any]:
    """Yield a code object and all that are constants in it, at any depth."""
    yield code
    for each in code.co_consts:
        if type(each) is types.CodeType:
            yield from code_and_inner(each)


def code_key(code: Any) -> Any:
    """Return what tells a code object from one of another text, also where only its lines have moved."""
    return code, getattr(code, "co_linetable", None) or getattr(code, "co_lnotab", None)


def code_keys(text: Any) -> Any:
    """Return the set of the keys of all code objects of a source text; empty if it is no Python."""
    found: set[Any] = set()
    with contextlib.suppress(SyntaxError, ValueError):
        found.update(map(code_key, code_and_inner(compile(text, "", "exec", dont_inherit=True))))
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
    """Return as JSON whether code of a file's new text is loaded, and what is left of the old one.

    `spec` is a JSON list: the path of the file, which has the new text by now, and the text from before; null: that is unknown. The answer
    has `new` (true or false), and of the old text `frames` (lists of name and line) and `functions` (names, sorted), `MAX_TOLD` of each at
    most.

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
