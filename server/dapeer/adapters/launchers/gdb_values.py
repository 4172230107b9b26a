"""Sourced by GDB: each value that it tells says in one line what is in it.

GDB's DAP leaves the value of a structure empty, and tells only the address of what is pointed to; one
variable that cannot be read costs all the others of its scope, and a container of a million is walked
through at each stop. Its machine interface says `{...}`. GDB itself prints all of it well, so it is
asked to. Where GDB's inside is not what this knows, GDB says what it has always said.
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

Json = dict[str, Any]

ROOM = 300
"""Characters that a structure may fill: it is opened as deep as fits."""
WIDE = 2000
"""The same for what somebody has asked for by an expression."""
DEPTH = 4
ELEMENTS = 20
"""Elements of a container that are shown."""
TEXT = 200
"""Characters of a text within a structure."""
LARGE = 60_000
"""Bytes of an array that is read as a whole; GDB refuses to read more than 65,536."""
CHILDREN = 1000
"""Children that a container is opened to."""

STYLE: dict[str, Any] = {"static_members": False, "symbols": False, "max_elements": ELEMENTS}
"""How GDB prints a value; `max_characters`, which is of texts, is known since GDB 14."""


def line_of(value: Any, room: int = ROOM) -> str | None:
    """Return what is in a structure, container, reference, pointer or text; None: GDB's own words are as good.

    Raises:
        gdb.error: It cannot be read.
    """
    if value.is_optimized_out:
        return why(gdb.error("optimized out"))
    code = value.type.strip_typedefs().code
    if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return _object(value.referenced_value(), room)
    printer = gdb.default_visualizer(value)
    if printer is not None:
        return _printed(value, printer, room)
    if code == gdb.TYPE_CODE_PTR:
        return _pointed(value, room)
    if code == gdb.TYPE_CODE_ARRAY and value.type.sizeof > LARGE:
        return _beginning(value)
    return _opened(value, room) if code in OPENED else None


def _printed(value: Any, printer: Any, room: int) -> str | None:
    """Return what a pretty-printer makes of a value."""
    hint = printer.display_hint() if hasattr(printer, "display_hint") else None
    if hint == "string":
        said = printer.to_string()
        return _text(value, getattr(said, "length", -1))
    if not hasattr(printer, "children"):
        return None
    held: list[Any] = list(itertools.islice(printer.children(), 2))
    # What owns one thing is shown as what it owns.
    if len(held) == 1 and held[0][0] == "get()":
        inside = _pointed(gdb.Value(held[0][1]), room)
        return f"{printer.to_string()} {inside}" if inside else None
    return _opened(value, room)


def _opened(value: Any, room: int) -> str:
    """Return a structure as deep as there is room for."""
    best = ""
    style = {**STYLE, "max_elements": max(ELEMENTS, room // 20)}
    for depth in range(1, DEPTH + 1):
        shown = " ".join(value.format_string(max_depth=depth, **style).split())
        if best and len(shown) > room:
            break
        best = shown
        if "{...}" not in shown:
            break
    return best


def _beginning(value: Any) -> str:
    """Return the first elements of an array that GDB does not read as a whole."""
    first, last = value.type.strip_typedefs().range()
    shown = range(first, min(last + 1, first + ELEMENTS))
    inside = ", ".join(value[index].format_string(max_depth=1, **STYLE) for index in shown)
    return f"{{{inside}{'...' * (last + 1 > shown.stop)}}}"


def _pointed(value: Any, room: int) -> str | None:
    """Return a pointer's address, and what is there."""
    target = value.type.strip_typedefs().target().strip_typedefs()
    if target.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC):
        return None
    if target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and target.sizeof == 1:
        return _text(value, -1)
    address = hex(int(value))
    if address == "0x0":
        return address
    try:
        return f"{address} → {_object(value.dereference(), room)}"
    except gdb.MemoryError:
        return f"{address} → <cannot be read>"


def _object(value: Any, room: int) -> str:
    """Return what is referred to: as the object that it is, where its class is derived from the one that is named."""
    real = value.dynamic_type
    kind = "" if real == value.type else f"({real}) "
    whole = value.cast(real) if kind else value
    return f"{kind}{line_of(whole, room) or whole.format_string(**STYLE)}"


def _text(value: Any, length: int) -> str | None:
    """Return a text, and its length where it is cut."""
    shown = value.format_string(**{**STYLE, **_characters(WIDE)}, address=False)
    if not shown.endswith("..."):
        return shown
    if length < 0:
        try:
            length = len(value.string(errors="replace"))
        except (gdb.error, UnicodeError, TypeError):
            return shown
    return f"{shown.removesuffix('...')}… ({length} chars)"


def _characters(most: int) -> dict[str, int]:
    """Return the option that says how many characters of a text are printed; before GDB 14 it is that of elements."""
    return {"max_characters": most} if "max_characters" in STYLE else {"max_elements": most}


class Types:
    """Types as a person writes them: `std::string` rather than what it is short for."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._printing: Any = importlib.import_module("gdb.types")

    def name(self, kind: Any) -> str:
        """Return the name of a type."""
        long = str(kind)
        if "<" not in long and "::" not in long:
            return long
        if long not in self._known:
            self._known[long] = self._written(kind) or long
        return self._known[long]

    def _written(self, kind: Any) -> str | None:
        ends = {gdb.TYPE_CODE_PTR: " *", gdb.TYPE_CODE_REF: " &", gdb.TYPE_CODE_RVALUE_REF: " &&"}
        if kind.code in ends:
            target = kind.target()
            inside = self._written(target)
            return f"{inside}{ends[kind.code]}" if inside else None
        plain = kind.unqualified()
        found = self._printing.apply_type_recognizers(self._printing.get_type_recognizers(), plain)
        const = "const " if str(kind).startswith("const ") else ""
        return f"{const}{found}" if found else None


def why(error: BaseException) -> str:
    """Return what is shown in the place of a value that cannot be had."""
    said = str(error)
    return "<optimized out>" if "optimized out" in said else f"<{said}>"


def teach_dap(varref: Any, scopes: Any) -> None:
    """Make GDB's DAP tell values in one line, each whatever becomes of the others.

    Raises:
        AttributeError: The modules are not what we know, and are left as they were.
    """
    stock: Any = varref.VariableReference
    scope: Any = scopes._ScopeReference  # noqa: SLF001
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
    """Return an attribute of GDB's own; since GDB 17 their names begin with `_`."""
    return (
        getattr(reference, f"_{name}")
        if hasattr(reference, f"_{name}")
        else getattr(reference, name)
    )


def _described(stock: Callable[[Any], Json], bare: Callable[[Any], Json]) -> Callable[[Any], Json]:
    types = Types()

    def to_object(self: Any) -> Json:
        told = _of(self, "result_name")
        # Who asks for the number of children has all of them made.
        self.child_count = lambda: None
        try:
            result = stock(self)
        except UNREADABLE as error:
            return {**bare(self), "variablesReference": 0, told: why(error)}
        finally:
            del self.child_count
        value = _of(self, "value")
        if value.type.strip_typedefs().code in SCALAR:
            return result
        with contextlib.suppress(Exception):  # printers are anybody's
            result["type"] = types.name(value.type)
        # A printer that fails is no news of the program's.
        with contextlib.suppress(Exception), gdb.with_parameter("python print-stack", "none"):
            result[told] = line_of(value, WIDE if told == "result" else ROOM) or result[told]
        return result

    return to_object


def _cached(self: Any) -> list[Any]:
    """Make the children that are wanted, and not a million of them."""
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
            cut = f"the children from {CHILDREN} on are left out: ask for one by its index, or for a page"
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
        """A variable whose value cannot be had."""

        def __init__(self, name: str, error: Exception) -> None:
            base.__init__(self, name)
            self._why = why(error)

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
    # Where they do not load, Rust is shown as GDB shows it.
    with contextlib.suppress(Exception):
        if folder is not None:
            sys.path.append(folder)
            importlib.import_module("gdb_lookup").register_printers(loaded)


if gdb is not None:
    sys.path.append(str(Path(__file__).parent))
    gdb.events.new_objfile.connect(teach_rust)
    SCALAR = (
        gdb.TYPE_CODE_INT,
        gdb.TYPE_CODE_CHAR,
        gdb.TYPE_CODE_BOOL,
        gdb.TYPE_CODE_FLT,
        gdb.TYPE_CODE_ENUM,
    )
    OPENED = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY)
    UNREADABLE: tuple[type[Exception], ...] = (gdb.error, RuntimeError)
    with contextlib.suppress(TypeError):
        gdb.Value(1).format_string(max_characters=TEXT)
        STYLE["max_characters"] = TEXT
    # Where GDB's inside is another, it says what it has always said.
    # Not in a GDB that is asked by its machine interface (see `gdb_lines`): its DAP would want to send there.
    with contextlib.suppress(ImportError, AttributeError):
        if __name__ == "__main__":
            teach_dap(*map(importlib.import_module, ("gdb.dap.varref", "gdb.dap.scopes")))
