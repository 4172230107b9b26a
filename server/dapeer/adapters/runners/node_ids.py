"""Tests as programs: what to launch for the node id of a Python test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.definition import own_values
from dapeer.adapters.definition.placeholders import fill, fill_table
from dapeer.adapters.definition.vocabulary import Tests


def node_id(program: str) -> tuple[str, str]:
    """Return the file of a test, and its name in the file, which is empty if it is no test.

    >>> node_id("tests/test_cart.py::CartTest::test_total[1-2]")
    ('tests/test_cart.py', '::CartTest::test_total[1-2]')
    >>> node_id("cart.py")
    ('cart.py', '')
    """
    file, mark, name = program.partition("::")
    return file, mark + name


def as_program(
    tests: Tests, inputs: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any], str]:
    """Return what to launch for a test or a test runner, further keys, and a name.

    Anything else is returned unchanged, without a name.
    """
    program, module = inputs.get("program"), inputs.get("module")
    if program is not None and node_id(str(program))[1]:
        # With nothing behind the mark it is the whole file.
        node = str(program).removesuffix("::")
        runner, asked, name = "auto", [node], Path(node).name
    elif (how := "program" if module is None else "module") and _runs_tests(tests, inputs, how):
        target = str(inputs[how])
        runner, asked, name = how, [target], Path(target).name
    else:
        return {**inputs}, config, ""
    rest = {key: value for key, value in inputs.items() if key != "module"}
    launcher = fill(tests.launcher, own_values())
    args = [runner, *asked, *inputs.get("args", ())]
    more = fill_table(tests.arguments, own_values())
    return {**rest, "program": launcher, "args": args}, {**more, **config}, name


def _runs_tests(tests: Tests, inputs: Mapping[str, Any], how: str) -> bool:
    """Whether the request is one of the runners, with its argument for tests."""
    name, args = Path(str(inputs.get(how) or "")).name, [*inputs.get("args", ())]
    known = [runner.split() for runner in tests.runners]
    return any(name == first and args[: len(rest)] == rest for first, *rest in known)
