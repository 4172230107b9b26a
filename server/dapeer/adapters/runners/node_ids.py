"""Tests as programs: what to launch for the node id of a Python test."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dapeer.adapters.definition.placeholders import fill, fill_table
from dapeer.adapters.definition.table import own_values
from dapeer.adapters.definition.vocabulary import Tests
from dapeer.base.errors import ArgumentError
from dapeer.base.system import foreign_files

MOST_PARTS: Final = 12
"""Parts between `::` of which a path may consist."""


def node_id(program: str, *bases: Path) -> tuple[str, str]:
    """Return the file of a test, and its name in the file, which is empty if it is no test.

    A file, or a folder above it, may have `::` in its name: the longest path that is a file is taken, seen from one of `bases`.

    >>> node_id("tests/test_cart.py::CartTest::test_total[1-2]")
    ('tests/test_cart.py', '::CartTest::test_total[1-2]')
    >>> node_id("cart.py")
    ('cart.py', '')
    """
    parts = program.split("::", MOST_PARTS)
    paths = ["::".join(parts[:count]) for count in range(len(parts), 1, -1)]
    seen_from = [*map(str, bases), ""][: len(bases) or 1]
    found = (
        path
        for path in paths
        for base in seen_from
        if foreign_files.is_file(os.path.join(base, os.path.expanduser(path)))  # noqa: PTH111, PTH118
    )
    file = next(found, parts[0])
    return file, program[len(file) :]


def with_class(file: str, name: str) -> str:
    """Return a test's name in its file with the class that has it, where only the method was named.

    `name` begins with `::`, and comes back as it is if it is of a function, or the file cannot be read.

    Raises:
        ArgumentError: Several classes have such a method.
    """
    method = name.removeprefix("::").partition("[")[0]
    if not method or "::" in method:
        return name
    try:
        found = [*_owners(ast.parse(foreign_files.read_text(Path(file))), method)]
    except (OSError, SyntaxError, ValueError):  # the runner says what is wrong
        return name
    if not found or "" in found:
        return name
    if len(found) > 1:
        raise ArgumentError(
            f"`program`: several classes of {Path(file).name} have a test `{method}`.",
            "Name one: " + ", ".join(f"{file}::{each}::{method}" for each in found) + ".",
        )
    return f"::{found[0]}{name}"


def _owners(tree: ast.Module | ast.ClassDef, method: str, within: str = "") -> Iterator[str]:
    """Yield the classes that define a method; empty: the module defines a function of that name.

    The names of nested classes are joined by `::`; `within` is the name of the class that `tree` is.
    """
    for each in tree.body:
        match each:
            case ast.FunctionDef(name=str(found)) | ast.AsyncFunctionDef(name=str(found)):
                if found == method:
                    yield within
            case ast.ClassDef(name=str(found)):
                yield from _owners(each, method, f"{within}::{found}".removeprefix("::"))
            case _:
                pass


def as_program(
    tests: Tests, inputs: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any], str]:
    """Return what to launch for a Python test or test runner: inputs, keys of the adapter's, and a name.

    `inputs` and `config` are the caller's. Anything else is returned unchanged, with an empty name.

    Raises:
        ArgumentError: Several classes have the test.
    """
    program, module = inputs.get("program"), inputs.get("module")
    file, test = node_id(str(program)) if program is not None else ("", "")
    if test:
        # With nothing behind the mark it is the whole file.
        node = f"{file}{with_class(file, test)}".removesuffix("::")
        runner, selected, name = "auto", [node], Path(node).name
    elif (how := "program" if module is None else "module") and _runs_tests(tests, inputs, how):
        target = str(inputs[how])
        runner, selected, name = how, [target], Path(target).name
    else:
        return {**inputs}, config, ""
    rest = {key: value for key, value in inputs.items() if key != "module"}
    launcher = fill(tests.launcher, own_values())
    args = [runner, *selected, *inputs.get("args", ())]
    more = fill_table(tests.arguments, own_values())
    return {**rest, "program": launcher, "args": args}, {**more, **config}, name


def _runs_tests(tests: Tests, inputs: Mapping[str, Any], how: str) -> bool:
    """Return whether the input `how` (`program` or `module`) is a test runner with its test argument."""
    name, args = Path(str(inputs.get(how) or "")).name, [*inputs.get("args", ())]
    known = [runner.split() for runner in tests.runners]
    return any(name == first and args[: len(rest)] == rest for first, *rest in known)
