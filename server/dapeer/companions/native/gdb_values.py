"""Sourced by GDB: its DAP shows in one line what each value contains.

GDB's DAP leaves the value of a structure empty, and shows only the address of a pointer. One unreadable
variable fails the request for its whole scope, and all elements of a container are read at each stop. These
patches use the text that GDB prints itself. In a GDB whose modules have another structure nothing is patched.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""
sys.path.extend(str(Path(__file__).absolute().parents[1] / each) for each in ("native", "python"))
text: Any = importlib.import_module("gdb_text") if gdb is not None else None
patching: Any = importlib.import_module("dapeer_debuggee.patching")

Json = dict[str, Any]

MAX_CHILDREN = 1000
"""Children of a container that are listed, unless more are asked for."""
SIZE = re.compile(r"std::[\w:<>]+ (?:of length|with) (\d+)\b|\w+\(size=(\d+)\)")
"""What the printers of C++ and Rust say of a container: `std::map with 3 elements`, `Vec(size=3)`."""


VARIABLE = "gdb.dap.varref:VariableReference"
OBJECT = f"{VARIABLE}.to_object"
CACHE = f"{VARIABLE}.cache_children"
FETCH = "gdb.dap.varref:BaseReference.fetch_children"
ONE_CHILD = "gdb.dap.scopes:_ScopeReference.fetch_one_child"
VALUES = patching.Row(
    "gdb-values",
    "GDB",
    "The value of a structure is empty, and one unreadable variable hides all others.",
    replaces={
        OBJECT: "self",
        CACHE: "self",
        FETCH: "self start count",
        ONE_CHILD: "self idx",
        VARIABLE: "name value result_name=",
    },
    uses=("gdb.dap.varref:BaseReference.to_object(self)",),
)
LOGGED = "gdb.dap.breakpoint:_PrintBreakpoint.stop"
LOG_POINTS = patching.Row(
    "gdb-log-points",
    "GDB",
    "What a log point prints, or a breakpoint collects, of a C++ reference is its address.",
    replaces={LOGGED: "self"},
    uses=("gdb.dap.breakpoint:send_event(event body=)",),
)
RUST = patching.Row(
    "gdb-rust",
    "GDB",
    "Values of Rust programs are shown in GDB's own way.",
    adds=True,
)


@VALUES
def teach_dap(patch: Any) -> None:
    """Patch GDB's DAP so that each value is one line, and one unreadable value does not hide the others.

    It replaces methods of `gdb.dap.varref` and `gdb.dap.scopes`. `patch` is this patch's `patching.Row`: it
    calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: A method of GDB's cannot be replaced; `Row.apply` reports that as a failure.
        ImportError: GDB has no such module; likewise.
    """
    varref: Any = importlib.import_module("gdb.dap.varref")
    base = varref.BaseReference
    patch.replace(OBJECT)(_make_to_object(base.to_object))
    patch.replace(CACHE)(_cache_children)
    patch.replace(FETCH)(_make_fetch_children(varref))
    patch.replace(ONE_CHILD)(_one_child)
    patch.replace(VARIABLE)(_make_variable(_make_unreadable_class(base)))


def _of(reference: Any, name: str) -> Any:
    """Return the attribute `name` of an object of GDB's DAP, `reference`.

    Since GDB 17 its name begins with `_`.
    """
    return (
        getattr(reference, f"_{name}")
        if hasattr(reference, f"_{name}")
        else getattr(reference, name)
    )


def _make_to_object(bare: Callable[[Any], Json]) -> Callable[..., Json]:
    """Return the replacement of `VariableReference.to_object`, which makes the DAP `Variable` of a value.

    The replacement is called with GDB's own method, the `VariableReference`, and the method's arguments. It puts
    into the object that GDB's method makes the value's text in one line, the short name of its type, and as
    `indexedVariables` its size, if that is known and the value can be unfolded. A scalar's object stays as it is,
    as does each part that cannot be made. `bare` is the base class's `to_object`, called with the
    `VariableReference` for an unreadable value (GDB's method raises one of `UNREADABLE`): that has the reason as
    its text and no children. Other errors of GDB's method leave.
    """
    types = text.TypeNames()

    def to_object(stock: Any, self: Any, *rest: Any, **named: Any) -> Json:
        """Return the DAP object of a variable or result, with its value in one line, its type and its size.

        `self` is a `VariableReference`. The key `result_name` (`value` or `result`) has the text; where making it fails, GDB's own text
        stays. An unreadable value has the reason as text and no children.
        """
        key = _of(self, "result_name")
        # GDB creates all children to count them.
        self.child_count = lambda: None
        try:
            result: Json = stock(self, *rest, **named)
        except UNREADABLE as error:
            return {**bare(self), "variablesReference": 0, key: text.why(error)}
        finally:
            del self.child_count
        value = _of(self, "value")
        if value.type.strip_typedefs().code in text.SCALAR:
            return result
        with contextlib.suppress(Exception):  # a printer may raise anything
            size = _count_children(value, _of(self, "printer"), str(result.get(key)))
            if size is not None and result["variablesReference"]:
                result["indexedVariables"] = size
        with contextlib.suppress(Exception):
            result["type"] = types.name(value.type)
        # The error of a printer must not appear as output of the program.
        with contextlib.suppress(Exception), gdb.with_parameter("python print-stack", "none"):
            result[key] = (
                text.line_of(
                    value, text.MAX_RESULT_CHARS if key == "result" else text.MAX_STRUCTURE_CHARS
                )
                or result[key]
            )
        return result

    return to_object


def _count_children(value: Any, printer: Any, printed: str) -> int | None:
    """Return how many children a container has, by its type or its printer's text; None: unknown.

    `value` is a `gdb.Value`, `printer` its pretty-printer or None, `printed` the text that this gives. A map has two children for each
    entry.
    """
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return max(int(last) - int(first) + 1, 0)
    found = SIZE.match(printed)
    if not found:
        return None
    # Keys and values of a map are children of their own.
    map_ = hasattr(printer, "display_hint") and printer.display_hint() == "map"
    return int(found[1] or found[2]) * (2 if map_ else 1)


def _cache_children(_stock: Any, self: Any, *_: Any, **__: Any) -> list[Any]:
    """Return a container's children, as pairs of name and value; only those asked for are created.

    It replaces `VariableReference.cache_children`, of which `self` is an object. The first `dapeer_most` children
    are created, as `fetch_children` has set it, else `MAX_CHILDREN` + 1. GDB's own function, `_stock`, is not
    called. They are kept in GDB's own cache, which is returned whole if it was made for as many or more; a call
    that wants more creates them anew. What the container's printer raises is raised, and nothing is kept then.
    """
    name = "_child_cache" if hasattr(self, "_child_cache") else "child_cache"
    most = getattr(self, "dapeer_most", MAX_CHILDREN + 1)
    known: list[Any] = getattr(self, name) or []
    if not known or getattr(self, "dapeer_created", 0) < most:
        known = list(itertools.islice(_of(self, "printer").children(), most))
        setattr(self, name, known)
        self.dapeer_created = most
    return known


def _make_fetch_children(varref: Any) -> Callable[..., Iterator[Any]]:
    """Return a function to replace GDB's `BaseReference.fetch_children` by `patch.replace`.

    That function gets the stock function as its first argument, and reads the children that are asked for
    before it returns an iterator over them. Where no page is asked for (a count of 0), these are at most
    `MAX_CHILDREN`, and a last one named `…` if there are more; a page is returned whole, and behind
    `MAX_CHILDREN` the children that GDB keeps of the object are made anew. `varref` is the module
    `gdb.dap.varref`, whose class makes that last child.
    """

    def fetch_children(
        stock: Any, self: Any, start: int, count: int, *rest: Any, **named: Any
    ) -> Iterator[Any]:
        """Return an iterator over the children from `start`, `count` of them, which are read at once.

        A count of 0 means all, but at most `MAX_CHILDREN`; if more exist, a last child named `…` says so. For a page behind `MAX_CHILDREN`,
        the children that GDB keeps are made anew.
        """
        if count and start + count > MAX_CHILDREN:
            self.dapeer_most = start + count
            self.reset_children()
            self.count = -1
        most = count or min(self.child_count(), MAX_CHILDREN)
        # Read here, where a failure counts as one of this row.
        children: list[Any] = list(stock(self, start, most, *rest, **named))
        if not count and self.child_count() > MAX_CHILDREN:
            cut = f"only the first {MAX_CHILDREN} children are listed: ask for one by its index, or for a page"
            children.append(varref.VariableReference("…", LookupError(cut)))
        return iter(children)

    return fetch_children


def _one_child(stock: Any, self: Any, idx: int, *rest: Any, **named: Any) -> Any:
    """Return name and value of a scope's child; of an unreadable one its name and the error.

    It replaces `_ScopeReference.fetch_one_child(idx)`, of which `self` is an object.
    """
    try:
        return stock(self, idx, *rest, **named)
    except UNREADABLE as error:
        return str(_of(self, "var_list")[idx].symbol().print_name), error


def _make_variable(unreadable: Any) -> Callable[..., Any]:
    """Return the function that stands for GDB's class `VariableReference`, to be given to `patch.replace`.

    The function takes that class (`stock`) before the class's own arguments, `name`, `value` and so on, and
    returns the new object. If `value` is an exception, or `stock` raises one of `UNREADABLE`, the object is
    `unreadable(name, exception)` instead.
    """

    def variable(stock: Any, name: str, value: Any, *rest: Any, **named: Any) -> Any:
        """Return GDB's object for a variable, or an `Unreadable` one.

        `value` is a `gdb.Value`, or the exception that came up in place of one.
        """
        if isinstance(value, Exception):
            return unreadable(name, value)
        try:
            return stock(name, value, *rest, **named)
        except UNREADABLE as error:
            return unreadable(name, error)

    return variable


def _make_unreadable_class(base: Any) -> Any:
    """Return a class for variables that cannot be read: they have the reason as value, and no children.

    `base` is GDB's `BaseReference`, from which it is derived. An object is made of a name and an exception.
    """

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


@LOG_POINTS
def log_values(patch: Any) -> None:
    """Patch GDB's DAP so that a log point prints each value as a stop shows it.

    It replaces a method of `gdb.dap.breakpoint`; other breakpoints work as before. In place of an expression
    without a value, its error is printed. `patch` is this patch's `patching.Row`: it calls this function when it is
    applied, and its `undo` puts back what was replaced by it.
    """
    module: Any = importlib.import_module("gdb.dap.breakpoint")

    @patch.replace(LOGGED)
    def stop(stock: Any, self: Any, *rest: Any, **named: Any) -> bool:
        """Send the log point's message with the values in it, and return False: the program goes on.

        For any other breakpoint it returns what GDB's method does. An expression without a value is replaced by its error.
        """
        message = getattr(self, "_message", None)
        if message is None:
            return bool(stock(self, *rest, **named))
        parts = [log_text(each) if at % 2 else each for at, each in enumerate(message)]
        module.send_event("output", {"category": "console", "output": "".join(parts)})
        return False


def log_text(expression: str) -> str:
    """Return the value of an expression as a stop shows it; it raises nothing.

    The text is one line, except where GDB's own text of the value is returned: a stop has no other, or making it
    failed. The expression is evaluated in GDB, which may call functions of the program. If it has no value, its
    error is returned, in `<…>`.
    """
    try:
        value = gdb.parse_and_eval(expression)
    except Exception as error:
        return f"<{error}>"
    # A printer may raise anything.
    with contextlib.suppress(Exception):
        shown: str | None = text.line_of(value)
        if shown:
            return shown
    try:
        return str(value)
    except Exception as error:
        return f"<{error}>"


def teach_rust(event: Any) -> None:
    """Load Rust's own pretty-printers if a Rust program, not a library of it, has been loaded.

    `event` is GDB's `NewObjFileEvent`; nothing happens for any other file. `rustc` is run to find the
    printers, for at most `SECONDS_FOR_RUSTC`, and their folder is put on `sys.path`. Where they are missing
    or fail, values are shown in GDB's own way.
    """
    loaded = event.new_objfile
    if loaded.filename != loaded.progspace.filename:
        return
    folder = importlib.import_module("rust_formatters").folder_for(loaded.filename)
    # Without them GDB shows Rust values in its own way.
    with contextlib.suppress(Exception):
        if folder is not None:
            sys.path.append(folder)
            importlib.import_module("gdb_lookup").register_printers(loaded)


class TraitObject:
    """Shows what is behind a `Box<dyn Trait>` or `&dyn Trait`, whose type GDB finds by the method table."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def to_string(self) -> str:
        """Return the trait, as `dyn Trait`; the name of the whole type if it cannot be found there."""
        found = re.search(r"\bdyn [\w:]+", str(self._value.type))
        return found[0] if found else str(self._value.type)

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield the object behind the trait object as `value`, or else the trait object's own fields.

        The fields, `pointer` and `vtable` by name, are yielded where GDB cannot read the object or does not find its
        type. GDB's variable `$dapeer_object` is set for a moment, and is void then.
        """
        gdb.set_convenience_variable("dapeer_object", self._value)
        try:
            with gdb.with_parameter("language", "rust"):
                whole = gdb.parse_and_eval("*$dapeer_object")
        except UNREADABLE:
            whole = None
        finally:
            gdb.set_convenience_variable("dapeer_object", None)
        if whole is not None and "dyn " not in str(whole.type):
            yield "value", whole
        else:
            yield from ((each.name, self._value[each.name]) for each in self._value.type.fields())


def trait_object(value: Any) -> TraitObject | None:
    """Return a pretty-printer for a trait object, a `gdb.Value`; None for all other values."""
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_STRUCT or "dyn " not in str(kind):
        return None
    names = {each.name for each in kind.fields()}
    return TraitObject(value) if names == {"pointer", "vtable"} else None


@RUST
def load_printers(patch: Any) -> None:
    """Register `trait_object` as a pretty-printer, and load Rust's own ones with each Rust program.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    show = patch.guard(trait_object, lambda _value: None)  # pyright: ignore[reportUnknownLambdaType]
    gdb.pretty_printers.append(show)
    patch.and_undo(lambda: gdb.pretty_printers.remove(show))
    load = patch.guard(teach_rust, lambda _event: None)  # pyright: ignore[reportUnknownLambdaType]
    gdb.events.new_objfile.connect(load)
    patch.and_undo(lambda: gdb.events.new_objfile.disconnect(load))


if gdb is not None:
    patching.reporters[:] = [patching.to_stderr]
    # GDB has read its environment already.
    gdb.execute(f"unset environment {patching.WORD}")
    RUST.apply()
    UNREADABLE: tuple[type[Exception], ...] = (gdb.error, RuntimeError)
    importlib.import_module("gdb_telling").report_by_dap()
    VALUES.apply()
    LOG_POINTS.apply()
