"""All names of debugpy that our rows touch."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.table import installation_values

_FOUND = importlib.util.find_spec("debugpy")
assert _FOUND is not None
assert _FOUND.origin is not None
FOLDER = Path(_FOUND.origin).parent
FITS = f"{installation_values()['launchers']}/python/debugpy_fits.py"


@dataclass(frozen=True, slots=True)
class Target:
    """A name that a row replaces or uses."""

    file: str
    """The module's file in the folder of debugpy."""
    owner: str
    """The class that has it; empty: the module."""
    name: str


@cache
def targets() -> tuple[Target, ...]:
    """Return them, sorted."""
    listed = subprocess.run(
        [sys.executable, "-P", FITS], capture_output=True, text=True, check=True
    )
    rows: list[dict[str, Any]] = json.loads(listed.stdout)
    names = {each for row in rows if row["whose"] == "debugpy" for each in row["touches"]}
    found = {target for name in names for target in read(name)}
    return tuple(sorted(found, key=lambda each: (each.file, each.owner, each.name)))


def read(name: str) -> list[Target]:
    """Return what `module:Class.name`, or `module:Class#name`, stands for; nothing where no file of debugpy has it."""
    module, _, path = name.partition("(")[0].partition(":")
    path, _, own = path.partition("#")
    *owner, last = path.split(".")
    file = file_of(module)
    if file is None:
        return []
    if own:
        return [Target(file, last, own), Target(file, last, "__init__")]
    return [Target(file, ".".join(owner), last)]


def file_of(module: str) -> str | None:
    """Return the file of a module, as a path in debugpy's folder."""
    vendored = Path("_vendored", "pydevd", *module.split("."))
    own = Path(*module.split(".")[1:]) if module.startswith("debugpy.") else vendored
    for path in (own.with_suffix(".py"), own / "__init__.py"):
        if (FOLDER / path).is_file():
            return str(path)
    return None
