"""Sourced by GDB: its DAP shows in one line what each value contains.

GDB's DAP leaves the value of a structure empty, and shows only the address of a pointer. One unreadable
variable fails the request for its whole scope, and all elements of a container are read at each stop. These
patches use the text that GDB prints itself. In a GDB whose modules have another structure nothing is patched.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""
if gdb is not None:
    sys.path.append(str(Path(__file__).parent))
text: Any = importlib.import_module("gdb_text") if gdb is not None else None

Json = dict[str, Any]

CHILDREN = 1000
"""Children of a container that are listed, unless more are asked for."""


def teach_dap(varref: Any, scopes: Any) -> None:
    """Make GDB's DAP show each value in one line, and show the others where one is unreadable.

    Raises:
        AttributeError: GDB's modules have another structure; they stay unchanged.
    """
    stock: Any = varref.VariableReference
    scope: Any = scopes._ScopeReference
    changes = (
        (stock, "to_object", _described(stock.to_object, varref.BaseReference.to_object)),
        (stock, "cache_children", _cached),
        (varref.BaseReference, "fetch_children", _fetched(varref)),
        (scope, "fetch_one_child", _one_child(scope.fetch_one_child)),
        (varref, "VariableReference", _variable(stock, _unreadable(varref.BaseReference))),
    )
    for owner, name, changed in changes:
        setattr(owner, name, changed)


def _of(reference: Any, name: str) -> Any:
    """Return an attribute of a GDB object; since GDB 17 the names begin with `_`."""
    return (
        getattr(reference, f"_{name}")
        if hasattr(reference, f"_{name}")
        else getattr(reference, name)
    )


def _described(stock: Callable[[Any], Json], bare: Callable[[Any], Json]) -> Callable[[Any], Json]:
    types = text.Types()

    def to_object(self: Any) -> Json:
        told = _of(self, "result_name")
        # GDB creates all children to count them.
        self.child_count = lambda: None
        try:
            result = stock(self)
        except UNREADABLE as error:
            return {**bare(self), "variablesReference": 0, told: text.why(error)}
        finally:
            del self.child_count
        value = _of(self, "value")
        if value.type.strip_typedefs().code in text.SCALAR:
            return result
        with contextlib.suppress(Exception):  # a printer may raise anything
            result["type"] = types.name(value.type)
        # The error of a printer must not appear as output of the program.
        with contextlib.suppress(Exception), gdb.with_parameter("python print-stack", "none"):
            result[told] = (
                text.line_of(value, text.WIDE if told == "result" else text.ROOM) or result[told]
            )
        return result

    return to_object


def _cached(self: Any) -> list[Any]:
    """Create only the children that were asked for: a container may have millions."""
    name = "_child_cache" if hasattr(self, "_child_cache") else "child_cache"
    most = getattr(self, "dapeer_most", CHILDREN + 1)
    known: list[Any] = getattr(self, name) or []
    if len(known) < most:
        known = list(itertools.islice(_of(self, "printer").children(), most))
        setattr(self, name, known)
    return known


def _fetched(varref: Any) -> Callable[..., Iterator[Any]]:
    stock: Callable[..., Iterator[Any]] = varref.BaseReference.fetch_children

    def fetch_children(self: Any, start: int, count: int) -> Iterator[Any]:
        if count and start + count > CHILDREN:
            self.dapeer_most = start + count
            self.reset_children()
            self.count = -1
        yield from stock(self, start, count or min(self.child_count(), CHILDREN))
        if not count and self.child_count() > CHILDREN:
            cut = f"only the first {CHILDREN} children are listed: ask for one by its index, or for a page"
            yield varref.VariableReference("…", LookupError(cut))

    return fetch_children


def _one_child(stock: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    def fetch_one_child(self: Any, index: int) -> Any:
        try:
            return stock(self, index)
        except UNREADABLE as error:
            return str(_of(self, "var_list")[index].symbol().print_name), error

    return fetch_one_child


def _variable(stock: Any, unreadable: Any) -> Callable[..., Any]:
    def variable(name: str, value: Any, *rest: Any) -> Any:
        if isinstance(value, Exception):
            return unreadable(name, value)
        try:
            return stock(name, value, *rest)
        except UNREADABLE as error:
            return unreadable(name, error)

    return variable


def _unreadable(base: Any) -> Any:
    class Unreadable(base):
        """A variable whose value is unreadable."""

        def __init__(self, name: str, error: Exception) -> None:
            base.__init__(self, name)
            self._why = text.why(error)

        def has_children(self) -> bool:
            return False

        def fetch_one_child(self, index: int) -> Any:
            raise IndexError(index)

        def child_count(self) -> None:
            return None

        def to_object(self) -> Json:
            return {**base.to_object(self), "value": self._why}

    return Unreadable


def teach_rust(event: Any) -> None:
    """Load Rust's own printers with a Rust program."""
    loaded = event.new_objfile
    if loaded.filename != loaded.progspace.filename:
        return
    folder = importlib.import_module("rust_formatters").folder_for(loaded.filename)
    # Without them GDB shows Rust values in its own way.
    with contextlib.suppress(Exception):
        if folder is not None:
            sys.path.append(folder)
            importlib.import_module("gdb_lookup").register_printers(loaded)


if gdb is not None:
    gdb.events.new_objfile.connect(teach_rust)
    UNREADABLE: tuple[type[Exception], ...] = (gdb.error, RuntimeError)
    # A GDB with other modules keeps its own texts.
    # `gdb_lines` imports this module into a GDB that speaks MI: there GDB's DAP modules must not be loaded,
    # since they write to stdout.
    with contextlib.suppress(ImportError, AttributeError):
        if __name__ == "__main__":
            teach_dap(*map(importlib.import_module, ("gdb.dap.varref", "gdb.dap.scopes")))
