"""Sourced by GDB: the command `dapeer_thrown` names the C++ exception that is being thrown."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
thrown: Any = importlib.import_module("thrown")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

ARGUMENTS = (("$_probe_arg0", "$_probe_arg1"), ("$rdi", "$rsi"), ("$x0", "$x1"))
"""The thrown object and its type: of the library's probe, or in the registers of a call."""
MAX_CHARS = 2000

THROWN = patching.Row(
    "gdb-thrown",
    "GDB",
    "A C++ exception that is thrown has neither a type nor a text.",
    adds=True,
)


def symbol(address: int) -> str:
    """Return the name of the function or table at an address, with an offset and a section removed."""
    said: str = gdb.execute(f"info symbol {address}", to_string=True)
    return re.split(r"(?: \+ \d+)? in section |\n", said)[0]


def read_text(address: int) -> str:
    """Return the zero-terminated text at an address of the program, at most `MAX_CHARS` characters of it."""
    kind = gdb.lookup_type("char").pointer()
    found: str = gdb.Value(address).cast(kind).string("utf-8", "replace", length=-1)
    return found[:MAX_CHARS]


def read_pointer(address: int) -> int:
    """Return the pointer that the program has at an address."""
    read = gdb.selected_inferior().read_memory(address, thrown.WORD)
    return int.from_bytes(bytes(read), "little")


def demangled(name: str) -> str:
    """Return the symbol `name` as C++ writes it, by GDB's command `demangle`."""
    said: str = gdb.execute(f"demangle -- {name}", to_string=True)
    return said.strip()


def describe() -> str:
    """Return type and text of the C++ exception that is being thrown at this stop, as `TYPE: TEXT`.

    The stop must be the one at a throw. Only `TYPE` is returned where the class does not derive from
    `std::runtime_error` or `std::logic_error`, or has a `what()` of its own. The object and its type are read from the
    library's probe, or from the registers of x86-64 or AArch64; no code of the program runs. Empty: none of these can
    be read.
    """
    memory = thrown.Memory(read_pointer, read_text, symbol, demangled)
    for names in ARGUMENTS:
        try:
            object_, kind = (int(gdb.parse_and_eval(f"(long) {name}")) for name in names)
            return str(thrown.describe(memory, object_, kind))
        except (gdb.error, ValueError, OverflowError):
            continue
    return ""


@THROWN
def add_command(patch: Any) -> None:
    """Define GDB's command `dapeer_thrown`, which prints `describe()` as JSON: a text, empty if unknown.

    `patch` is this patch's `patching.Row`, which calls this function when it is applied; the command stays when it is undone, and prints an
    empty text then.
    """
    tell = patch.guard(describe, str)

    class Thrown(gdb.Command):  # type: ignore[misc]
        """Print the C++ exception that is being thrown, as JSON."""

        def invoke(self, _argument: str, _from_tty: object) -> None:
            gdb.write(json.dumps(tell()) + "\n")

    Thrown("dapeer_thrown", gdb.COMMAND_DATA)


if gdb is not None:
    importlib.import_module("gdb_telling").report_by_dap()
    THROWN.apply()
