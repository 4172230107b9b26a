"""Small and plausible changes of debugpy, each of one name, drawn by seed."""

import ast
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.mutation.targets import FOLDER, Target, targets

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

OTHER = """

def _another_type(value):
    kinds = {list: tuple, tuple: list, set: frozenset, frozenset: set, bool: int}
    if type(value) in kinds:
        return kinds[type(value)](value)
    if type(value) in (str, dict, int, bytes):
        return type("Other", (type(value),), {})(value)
    if value is None:
        return value
    return _Stands(value)


class _Stands:
    def __init__(self, it):
        self.__dict__["_it"] = it

    def __getattr__(self, name):
        return getattr(self._it, name)

    def __setattr__(self, name, value):
        setattr(self._it, name, value)

    def __call__(self, *given, **named):
        return self._it(*given, **named)
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one name."""

    kind: str
    target: Target

    def __str__(self) -> str:
        owner = f"{self.target.owner}." * bool(self.target.owner)
        return f"{self.target.file}:{owner}{self.target.name}: {self.kind}"

    def make(self, folder: Path) -> bool:
        """Make a copy of debugpy in a folder with this change; return whether it changes anything."""
        copy = folder / "debugpy"
        shutil.copytree(
            FOLDER,
            copy,
            copy_function=os.link,
            ignore=shutil.ignore_patterns("*cython*.so", "*evaluator*.so", "*.pyc"),
        )
        changed = False
        for path, text in KINDS[self.kind](copy, self.target):
            changed = True
            # The file is the installed one, too.
            path.unlink()
            path.write_text(text, encoding="utf-8")
        return changed


Changed: TypeAlias = Iterator[tuple[Path, str]]


def drawn(seed: int) -> Iterator[Mutant]:
    """Yield all mutants in an order that a seed makes."""
    every = [Mutant(kind, target) for kind in KINDS for target in targets()]
    random.Random(seed).shuffle(every)
    yield from every


def renamed(copy: Path, target: Target) -> Changed:
    """Rename it everywhere."""
    if target.name.startswith("__"):
        return
    name = re.compile(rf"\b{target.name}\b")
    for path in sorted(copy.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if name.search(text):
            yield path, name.sub(f"{target.name}_2", text)


def one_more_first(copy: Path, target: Target) -> Changed:
    """Give it one more parameter before the others, and each call one more argument."""

    def parameters(text: str, function: Function) -> Iterator[tuple[int, int, str]]:
        arguments = function.args.posonlyargs + function.args.args
        first = arguments[1:] if is_method(target, arguments) else arguments
        where = place(text, first[0].lineno, first[0].col_offset) if first else None
        if where is None:
            end = text.index(")", place(text, function.lineno, function.col_offset))
            yield end, end, ", more" if arguments else "more"
        else:
            yield where, where, "more, "

    yield from with_calls(copy, target, parameters, before_first)


def end_of_parameters(text: str, function: Function) -> int | None:
    """Return where one more parameter can stand behind the others; None where it cannot."""
    if function.args.vararg or function.args.kwonlyargs or function.args.kwarg:
        return None
    body = function.body[0]
    colon = text.rindex(":", 0, place(text, body.lineno, body.col_offset))
    return text.rindex(")", 0, colon)


def one_more_by_keyword(copy: Path, target: Target) -> Changed:
    """Give it one more parameter that only its name can give, and have each call do so."""

    def parameters(text: str, function: Function) -> Iterator[tuple[int, int, str]]:
        end = end_of_parameters(text, function)
        if end is None:
            return
        bare = not (function.args.args or function.args.posonlyargs)
        yield end, end, f"{'' if bare else ', '}*, more"

    def argument(text: str, call: ast.Call) -> Iterator[tuple[int, int, str]]:
        end = place(text, call.end_lineno or 0, call.end_col_offset or 0) - 1
        given = text[:end].rstrip()
        yield end, end, "more=0" if given.endswith(("(", ",")) else ", more=0"

    yield from with_calls(copy, target, parameters, argument)


def one_more_optional(copy: Path, target: Target) -> Changed:
    """Give it one more parameter that nobody needs to give."""

    def parameters(text: str, function: Function) -> Iterator[tuple[int, int, str]]:
        end = end_of_parameters(text, function)
        if end is None:
            return
        yield end, end, ", more=None" if function.args.args else "more=None"

    def nothing(_: str, __: ast.Call) -> Iterator[tuple[int, int, str]]:
        yield from ()

    yield from with_calls(copy, target, parameters, nothing)


def by_keyword(copy: Path, target: Target) -> Changed:
    """Give its arguments by keyword wherever it is called."""
    names: list[str] = []

    def parameters(_: str, function: Function) -> Iterator[tuple[int, int, str]]:
        arguments = [each.arg for each in function.args.args]
        names[:] = arguments[1:] if is_method(target, function.args.args) else arguments
        yield from ()

    def argument(text: str, call: ast.Call) -> Iterator[tuple[int, int, str]]:
        if len(call.args) > len(names) or any(isinstance(a, ast.Starred) for a in call.args):
            return
        for each, name in zip(call.args, names, strict=False):
            where = place(text, each.lineno, each.col_offset)
            yield where, where, f"{name}="

    yield from with_calls(copy, target, parameters, argument)


def another_type(copy: Path, target: Target) -> Changed:
    """Have it return another type that can do the same."""
    path = copy / target.file
    text = path.read_text(encoding="utf-8")
    function = defined(ast.parse(text), target)
    if function is None:
        return
    edits: list[tuple[int, int, str]] = []
    for each in ast.walk(function):
        if isinstance(each, ast.Return) and each.value is not None:
            start = place(text, each.value.lineno, each.value.col_offset)
            end = place(text, each.value.end_lineno or 0, each.value.end_col_offset or 0)
            edits += [(start, start, "_another_type("), (end, end, ")")]
    if edits:
        yield path, edited(text, edits) + OTHER


def raises(copy: Path, target: Target) -> Changed:
    """Have it raise."""
    yield from at_its_start(copy, target, "raise RuntimeError('mutated')")


def raises_once(copy: Path, target: Target) -> Changed:
    """Have it raise when it is called for the first time."""
    once = "globals().setdefault('_calls', []).append(1)"
    yield from at_its_start(copy, target, f"{once} or len(_calls) > 1 or 1 / 0")


def removed(copy: Path, target: Target) -> Changed:
    """Have it under another name, where it is defined only."""
    path = copy / target.file
    text = path.read_text(encoding="utf-8")
    function = defined(ast.parse(text), target)
    if function is not None:
        start = text.index(target.name, place(text, function.lineno, function.col_offset))
        yield path, f"{text[:start]}{target.name}_2{text[start + len(target.name) :]}"
        return
    assigned = re.compile(rf"^(\s*(?:self\.)?){target.name}(\s*=[^=])", re.MULTILINE)
    if assigned.search(text):
        yield path, assigned.sub(rf"\g<1>{target.name}_2\g<2>", text)


KINDS: dict[str, Callable[[Path, Target], Changed]] = {
    "renamed everywhere": renamed,
    "one more parameter, first": one_more_first,
    "one more parameter, by keyword": one_more_by_keyword,
    "one more parameter, optional": one_more_optional,
    "arguments given by keyword": by_keyword,
    "another type returned": another_type,
    "raises": raises,
    "raises once": raises_once,
    "removed": removed,
}

Edits: TypeAlias = Iterator[tuple[int, int, str]]


def with_calls(
    copy: Path,
    target: Target,
    parameters: Callable[[str, Function], Edits],
    arguments: Callable[[str, ast.Call], Edits],
) -> Changed:
    """Change the parameters of a function, and all that looks like a call of it."""
    named = target.owner.rpartition(".")[2] if target.name == "__init__" else target.name
    home = copy / target.file
    function = defined(ast.parse(home.read_text(encoding="utf-8")), target)
    if function is None or named.startswith("__"):
        return
    for path in [home, *(each for each in sorted(copy.rglob("*.py")) if each != home)]:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if named not in text:
            continue
        try:
            tree = ast.parse(text)
        except SyntaxError:  # of Python 2
            continue
        edits = list(parameters(text, function)) if path == home else []
        for each in ast.walk(tree):
            if isinstance(each, ast.Call) and called(each) == named:
                edits += arguments(text, each)
        if edits:
            yield path, edited(text, edits)


def at_its_start(copy: Path, target: Target, statement: str) -> Changed:
    """Put a statement at the start of a function."""
    path = copy / target.file
    text = path.read_text(encoding="utf-8")
    function = defined(ast.parse(text), target)
    if function is not None:
        body = function.body[0]
        start = text.rindex("\n", 0, place(text, body.lineno, body.col_offset)) + 1
        yield path, f"{text[:start]}{' ' * body.col_offset}{statement}\n{text[start:]}"


def defined(tree: ast.Module, target: Target) -> Function | None:
    """Return the function of a target; None if it is none."""
    body: list[ast.stmt] = tree.body
    for owner in filter(None, target.owner.split(".")):
        classes = [each for each in body if isinstance(each, ast.ClassDef) and each.name == owner]
        body = classes[0].body if classes else []
    functions = [
        each
        for each in body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == target.name
    ]
    return functions[-1] if functions else None


def is_method(target: Target, arguments: list[ast.arg]) -> bool:
    """Whether the first argument is the object or the class."""
    return bool(target.owner) and bool(arguments) and arguments[0].arg in {"self", "cls"}


def called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def before_first(text: str, call: ast.Call) -> Edits:
    """Yield one more argument in front of the others."""
    function = place(text, call.func.end_lineno or 0, call.func.end_col_offset or 0)
    start = text.index("(", function) + 1
    yield start, start, "None, " if call.args or call.keywords else "None"


def place(text: str, line: int, column: int) -> int:
    """Return where a line and a column, in bytes of UTF-8, are in a text."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    end = text.find("\n", start)
    whole = text[start : end if end >= 0 else None].encode("utf-8", "surrogateescape")
    return start + len(whole[:column].decode("utf-8", "surrogateescape"))


def edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Return a text with parts replaced."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
