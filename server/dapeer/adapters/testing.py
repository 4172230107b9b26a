"""Tests as programs: what is launched when a test is asked for by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dapeer.adapters.definition import own_values

RUNNERS: Final = ("pytest", "unittest")
"""Modules that run tests; where their tests fail, the launcher stops."""

_LAUNCHER = "python_tests.py"


def node_id(program: str) -> tuple[str, str]:
    """Return the file of a test, and what names the test in it; empty when it is no test.

    >>> node_id("tests/test_cart.py::CartTest::test_total[1-2]")
    ('tests/test_cart.py', '::CartTest::test_total[1-2]')
    >>> node_id("cart.py")
    ('cart.py', '')
    """
    file, mark, name = program.partition("::")
    return (file, mark + name) if file.endswith(".py") and name else (program, "")


def as_program(inputs: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[Any, Any, str]:
    """Return what to launch for a test or a test runner, more keys for it, and its name.

    What is neither comes back as it is, without a name.
    """
    program, module = inputs.get("program"), inputs.get("module")
    if program is not None and node_id(str(program))[1]:
        runner, asked, name = "auto", [program], Path(str(program)).name
    elif program is None and module in RUNNERS:
        runner, asked, name = str(module), [], str(module)
    else:
        return inputs, config, ""
    launcher = f"{own_values()['launchers']}/{_LAUNCHER}"
    rest = {key: value for key, value in inputs.items() if key != "module"}
    launched = {**rest, "program": launcher, "args": [runner, *asked, *inputs.get("args", ())]}
    # No frame of the launcher is the user's own: nobody wants to stop there.
    return launched, {"rules": [{"path": launcher, "include": False}], **config}, name
