"""The adapter that the benchmark drives: as dapeer starts it, and as it comes."""

import os
import sys
from functools import cache

from dapeer.adapters.definition.definition import Definition, load, shipped
from dapeer.adapters.definition.placeholders import fill
from tests.programs import ROOT, Program

STOCK = (sys.executable, "-m", "debugpy.adapter")


def environment() -> dict[str, str]:
    """Return the environment of every process that is measured, without settings of the user.

    Where Python may not write bytecode, each start would compile everything anew.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "XDG_CONFIG_HOME": os.devnull}


def quick() -> tuple[str, ...]:
    """Return the command that dapeer starts debugpy with."""
    definition = _definition()
    values = definition.values({})
    return tuple(str(fill(part, values)) for part in definition.transport.command)


def launch(program: Program, **inputs: object) -> dict[str, object]:
    """Return the arguments that dapeer launches a program with."""
    known: dict[str, object] = {
        "program": str(program),
        "cwd": str(ROOT),
        "python": sys.executable,
        "args": (),
    }
    return _definition().arguments("launch", {**known, **inputs}, {})


@cache
def _definition() -> Definition:
    return load(shipped() / "debugpy.toml")
