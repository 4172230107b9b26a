"""Shows dates, enums, paths, functions, and the data types of libraries in a form of their own.

A type counts only if it is exactly the one of its package. No module is imported to find that out.
"""

from __future__ import annotations

import datetime as dt
import dis
import enum
import functools
import gc
import itertools
import pathlib
import re
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import objects

# Shows what holds other values in Python's library and lxml, without a call.
#
# Such are references, views, mocks, tasks, elements of XML.

EMPTY: dict[Any, Any] = {}
VIEWS: tuple[Any, ...] = (type(EMPTY.keys()), type(EMPTY.values()), type(EMPTY.items()))
PROXIES: tuple[Any, ...] = (weakref.ProxyType, weakref.CallableProxyType)
REFERENCE: Any = weakref.ref
LIST: Any = list
TUPLE: Any = tuple
TARGET = re.compile(r" to (?:'.*?)?(\w+)'? at 0x")
"""Names a type in the `repr` of a proxy; since Python 3.13 with its module."""
MAX_LISTED_ITEMS = 1000
"""Items of a view that are not listed."""
SHOWN_CALLS = 3
"""Calls of a mock that are shown: the last ones."""

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def describe_library_value(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return the text of a reference, view, cell, mock, future or XML element; None for all other values.

    A reference is a weak one, a view one of a dictionary (also a `mappingproxy`), a cell that of a closure; a
    future is one of asyncio, such as a task. Of a dictionary's keys, values or items that are more than
    `MAX_LISTED_ITEMS`, only the number is told.

    `kind` is the type of `value`; `max_chars` is about how many characters the text may have; `show(VALUE, ROOM)`
    makes the text of a value inside of `value`, in about ROOM characters.
    """
    text = reference_text(value, kind)
    if text is not None:
        return text
    if kind is types.MappingProxyType:
        return f"mappingproxy({show(gc.get_referents(value)[0], max_chars)})"
    if kind is types.CellType:
        held = gc.get_referents(value)
        return f"<cell: {show(held[0], max_chars)}>" if held else "<cell: empty>"
    if objects.is_one_of(kind, VIEWS):
        items = (
            f"{len(value)} items" if len(value) > MAX_LISTED_ITEMS else show(list(value), max_chars)
        )
        return f"{objects.name_of(kind)}({items})"
    for path, describe in KNOWN:
        if issubclass(kind, known_class(path)):
            return describe(value, known_class(path), max_chars, show)
    return None


def reference_text(value: Any, kind: Any) -> str | None:
    """Return the text of a weak reference or proxy, with the type that it refers to; None for all else.

    The text is `<weakref to NAME>` or `<weakproxy to NAME>`; NAME is the name of the referred object's type,
    or `nothing` if that object is gone. `kind` is the type of `value`. No code of the object that is referred
    to runs.
    """
    if issubclass(kind, weakref.ref):
        target: Any = REFERENCE.__call__(value)
        return f"<weakref to {'nothing' if target is None else objects.name_of(type(target))}>"
    if not objects.is_one_of(kind, PROXIES):
        return None
    # Its `repr` names the type of the other object, without asking that.
    found = TARGET.search(repr(value))
    name = found[1] if found else "NoneType"
    return f"<weakproxy to {'nothing' if name == 'NoneType' else name}>"


def known_class(path: str) -> Any:
    """Return the class `MODULE.NAME` if that module is imported, else `()`.

    Nothing is a subclass of `()`.
    """
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, ())
    return found if isinstance(found, type) else ()


def mock(value: Any, of: Any, max_chars: int, show: Show) -> str:
    """Return the text of a mock: its class, its name, the class that it stands for, and its last calls.

    The text is `<CLASS: name='NAME', spec=CLASS, calls=[…, CALL, CALL]>`, without the parts that the mock does
    not have. Of the calls the last `SHOWN_CALLS` are shown, behind `…` if there were more. `of` is not used. An
    argument of a call has an eighth of `max_chars` as its room; `show(VALUE, ROOM)` is called to make the text
    of each argument in about ROOM characters.
    """
    name = objects.name_of(type(value))
    held = objects.attributes_of(value)
    parts: list[str] = []
    if type(held.get("_mock_name")) is str:
        parts.append(f"name={held['_mock_name']!r}")
    if held.get("_spec_class") is not None:
        parts.append(f"spec={objects.name_of(held['_spec_class'])}")
    calls: Any = held.get("_mock_mock_calls") or ()
    if LIST.__len__(calls) if calls else 0:
        last = [
            call(each, max_chars, show)
            for each in LIST.__getitem__(calls, slice(-SHOWN_CALLS, None))
        ]
        more = LIST.__len__(calls) - len(last)
        parts.append(f"calls=[{'…, ' * bool(more)}{', '.join(last)}]")
    return f"<{name}{': ' * bool(parts)}{', '.join(parts)}>"


def call(one: Any, max_chars: int, show: Show) -> str:
    """Return the text of one call of a mock; `one` is its tuple of name, arguments and named arguments.

    `show(VALUE, ROOM)` makes the text of an argument, in an eighth of the `max_chars`.
    """
    name, given, named = TUPLE.__iter__(one)
    parts = [show(each, max_chars // 8) for each in given]
    parts += [f"{each}={show(held, max_chars // 8)}" for each, held in named.items()]
    return f"{name}({', '.join(parts)})"


def future(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return the text of a future or task of asyncio with its state; a task also has name and coroutine.

    `kind` is the class `asyncio.Task` or `asyncio.Future`, from which the value's type derives. The state
    is `pending`, `cancelled`, `result=…`, or the exception. `show(VALUE, ROOM)` makes the text of a value
    inside; `max_chars` is ROOM for name and coroutine, half of it for the others. The result is never None,
    which only other functions of `KNOWN` may return.
    """
    asyncio: Any = sys.modules["asyncio"]
    is_task = issubclass(kind, asyncio.Task)
    of: Any = asyncio.Task if is_task else asyncio.Future
    parts = [objects.name_of(kind)]
    if is_task:
        named = (
            objects.of_class(value, "_name") if not hasattr(of, "get_name") else of.get_name(value)
        )
        parts += [show(named, max_chars)]
    if not of.done(value):
        parts.append("pending")
    elif of.cancelled(value):
        parts.append("cancelled")
    else:
        error = objects.of_class(value, "_exception")
        result = objects.of_class(value, "_result")
        parts.append(
            f"result={show(result, max_chars // 2)}"
            if error is None
            else show(error, max_chars // 2)
        )
    if is_task:
        parts.append(show(of.get_coro(value), max_chars))
    return f"<{' '.join(parts)}>"


def describe_element(value: Any, of: Any, max_chars: int, show: Show) -> str:
    """Return the text of an XML element: its tag, attributes, text, and how many elements are in it.

    The text is stripped, and left out if it is empty then; so is the number if it is 0, which counts the direct
    children. `of` is the element class of lxml or of Python's library, whose own methods read the element.
    `show(VALUE, ROOM)` is called for the tag, each attribute's value and the text, and returns the text of VALUE
    in about ROOM characters: a quarter of `max_chars`, for the element's text half. Nothing cuts the whole, which
    is longer where there are many attributes.
    """
    parts = [show(of.tag.__get__(value), max_chars // 4)]
    parts += [f"{name}={show(each, max_chars // 4)}" for name, each in of.items(value)]
    text = of.text.__get__(value)
    if type(text) is str and text.strip():
        parts.append(f"text={show(text.strip(), max_chars // 2)}")
    if count := of.__len__(value):
        parts.append(f"{count} element{'s' * (count > 1)} in it")
    return f"Element({', '.join(parts)})"


KNOWN = (
    ("unittest.mock.NonCallableMock", mock),
    ("asyncio.Task", future),
    ("asyncio.Future", future),
    ("lxml.etree._Element", describe_element),
    ("xml.etree.ElementTree.Element", describe_element),
)
"""Classes by their modules and names, and what tells values of theirs."""

# Shows SQL expressions of SQLAlchemy with their parameters filled in.
#
# Expressions with constructs or types of the program's own, and large ones, are not compiled: that would run code of the
# program, or take long.

MAX_PARTS = 300
"""Parts of the largest expression that is compiled, which takes some ten milliseconds."""
HOOKS = ("bind_expression", "column_expression", "_compiler_dispatcher")
"""Methods by which a type or construct takes part in compiling SQL."""
PARAMETER = re.compile(r"\(__\[POSTCOMPILE_(\w+)\]\)|(?<!:):([A-Za-z_]\w*)")


def describe_statement(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return an SQL expression of SQLAlchemy in one line, its parameters filled in; None for all else.

    A mapped attribute, such as `Order.id`, is written as its own `str`. An expression of more than `MAX_PARTS` parts, or one with
    constructs or types of the program, is not compiled: the text only names its class. `kind` is the type of `value`; `show` makes the text
    of a parameter in `max_chars`. The whole text may be longer. What SQLAlchemy raises while it compiles is raised: `describe_value`
    catches it.
    """
    attributes = sys.modules.get("sqlalchemy.orm.attributes")
    if attributes is not None and issubclass(kind, attributes.QueryableAttribute):
        return str(value)
    if not is_expression(value):
        return None
    if not is_small(value):
        return f"<{kind.__name__} of more than {MAX_PARTS} parts>"
    if not all(map(is_known_part, statement_parts(value))):
        return f"<{objects.name_of(kind)}, not compiled>"
    compiled = value.compile()
    held: dict[str, Any] = compiled.params

    def parameter(match: re.Match[str]) -> str:
        """Return the text of a matched parameter's value, or the match itself where it names no parameter."""
        name = match[1] or match[2]
        if name not in held:
            return match[0]
        if not match[1]:
            return show(held[name], max_chars)
        shown = show(tuple(held[name]), max_chars)
        return shown.replace(",)", ")")

    return PARAMETER.sub(parameter, " ".join(str(compiled).split()))


def is_expression(value: Any) -> bool:
    """Return whether an object is an SQL expression of SQLAlchemy; a table or column of a schema is not."""
    elements = sys.modules.get("sqlalchemy.sql.elements")
    if elements is None or not isinstance(value, elements.ClauseElement):
        return False
    return not isinstance(value, sys.modules["sqlalchemy.sql.schema"].SchemaItem)


def statement_parts(value: Any) -> Iterator[Any]:
    """Yield all parts of an SQL expression of SQLAlchemy, at any depth, itself among them."""
    yield from sys.modules["sqlalchemy.sql.visitors"].iterate(value)


def is_small(value: Any) -> bool:
    """Return whether an expression has `MAX_PARTS` parts and rows at most, so that it compiles fast."""
    rows = sum(map(len, getattr(value, "_multi_values", None) or ()))
    return (
        rows + sum(1 for _ in itertools.islice(statement_parts(value), MAX_PARTS + 1)) <= MAX_PARTS
    )


def is_known_part(part: Any) -> bool:
    """Return whether a part of an SQLAlchemy expression compiles to SQL without code of the program.

    False: for its class, or that of its type, `compiles_without_code` is False (such as a class of the
    program), or its mapped class is not configured yet. SQLAlchemy configures mapped classes when it first
    compiles one; if a related class is not defined yet, that fails, and the program fails with it later on.
    `part` may be any object.
    """
    mapper = getattr(getattr(part, "_annotations", {}).get("parententity"), "mapper", None)
    if mapper is not None and not mapper.configured:
        return False
    return compiles_without_code(type(part)) and compiles_without_code(
        type(getattr(part, "type", None))
    )


def compiles_without_code(kind: Any) -> bool:
    """Return whether compiling an object of the class `kind` to SQL runs no code of the program.

    True if the class is SQLAlchemy's or built in, or has the attribute `impl` (as SQLAlchemy's type decorators do),
    and every method of `HOOKS` that the class has is SQLAlchemy's. False for any class that has the last of `HOOKS`,
    the compiler of its own.
    """
    for name in HOOKS:
        hook: Any = objects.class_member(kind, name)
        module = getattr(hook, "__module__", None) or type(hook).__module__
        if hook is not None and (name == HOOKS[-1] or module.partition(".")[0] != "sqlalchemy"):
            return False
    package = kind.__module__.partition(".")[0]
    return package in ("sqlalchemy", "builtins") or hasattr(kind, "impl")


# Shows arrays and tensors: shape, type, the number of missing elements, and as many elements as fit.
#
# The time depends only on the characters that are shown, not on the array's size or the program's print options.

MAX_COUNTED_CELLS = 1_000_000
"""Size of the largest array in which missing elements are counted."""
MIN_ALONE_CHARS = 1000
"""With this many characters or more, a value is shown as if it were alone."""
ELEMENT_CHARS = 40
"""Characters of an element."""
MAX_ELEMENTS = 1000
"""Elements that are shown at most."""


def describe_array(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return the text of an array, tensor or NumPy number: shape, type, missing elements, elements.

    A NumPy number is only its value. Of many elements those at the ends are shown; those on another device are
    not fetched. None leaves the value to other functions: it has no `dtype` and `shape` of an array; it is an
    array without dimensions that holds no object, except for a tensor of PyTorch, which has a text; or it is a
    single value of NumPy of a class outside of NumPy, or one that is neither a number, a truth value nor a
    time, such as `numpy.str_`. `kind` is the type of `value`, `max_chars` about how many characters the text
    may have; `show(VALUE, ROOM)` makes the text of an element that is an object or a string.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.generic):
        plain = kind.__module__ == "numpy" and value.dtype.kind in "biufcMm"
        return str(value) if plain else None
    if not hasattr(value, "dtype") or not isinstance(getattr(value, "shape", None), tuple):
        return None
    if kind.__module__.partition(".")[0] == "torch":
        return tensor_text(value, max_chars)
    if not value.shape:
        objects = getattr(value.dtype, "hasobject", False) is True
        return f"() {value.dtype} {show(value.item(), max_chars)}" if objects else None
    at_hand = is_at_hand(value)
    if at_hand and numpy is not None and kind.__module__.startswith("jaxlib"):
        value, kind = numpy.asarray(value), numpy.ndarray
    lost = missing_elements(value, kind, numpy) if at_hand else ""
    body = elements_text(value, max_chars, show, numpy) if at_hand else "(not fetched)"
    return f"{tuple(value.shape)} {value.dtype} {lost}{body}"


def is_at_hand(value: Any) -> bool:
    """Return whether an array's elements are in this process's memory: not lazy, not on another device."""
    ready = getattr(value, "is_ready", None)
    devices = getattr(value, "devices", None)
    if ready is None or devices is None:
        return True
    return all(each.platform == "cpu" for each in devices()) and ready()


def edges(max_chars: int) -> tuple[int, int]:
    """Return up to how many elements an array is shown whole, and else the number of elements at each end.

    `max_chars` is how many characters the array may have.
    """
    return (max(max_chars // 8, 20), 3) if max_chars >= MIN_ALONE_CHARS else (10, 2)


def first_corner(value: Any, max_chars: int) -> tuple[Any, int]:
    """Return the part of an array at its first indices that is small enough to show, and its depth.

    Small enough is what `max_chars` characters can show whole, or what has at most `MAX_ELEMENTS`
    elements at the ends of its dimensions. The part is a view, or the array itself if that is small
    enough. The depth is how many leading dimensions were left out by taking their first index.
    """
    threshold, edge = edges(max_chars)
    deep, shape = 0, tuple(value.shape)
    while (
        shape and size(shape) > threshold and size(min(n, 2 * edge) for n in shape) > MAX_ELEMENTS
    ):
        value, shape, deep = value[0], shape[1:], deep + 1
    return value, deep


def size(shape: Any) -> int:
    """Return how many elements an array of this shape (a sequence of numbers) has."""
    product = 1
    for each in shape:
        product *= each
    return product


def elements_text(value: Any, max_chars: int, show: Show, numpy: Any) -> str:
    """Return the elements of an array as NumPy writes them, in a line; objects and strings as `show` does.

    `value` is an array, with at least one dimension, of NumPy or of another class whose `repr` NumPy's
    print options rule, such as a masked array; that `repr` is called. `max_chars` tells how many elements
    are shown: of many only those at the ends, and of many dimensions only the part at the first indices.
    `show(VALUE, ROOM)` makes a text of an element, with about `ROOM` characters; `numpy` is the module.
    """
    value, deep = first_corner(value, max_chars)
    threshold, edge = edges(max_chars)
    texts: list[str] = []

    def keep_text(each: Any) -> str:
        """Keep the text of an element, which stays as it is, and return its placeholder."""
        texts.append(element_text(each, show))
        return f"\0{len(texts) - 1}\0"

    formats = dict.fromkeys(("object", "numpystr"), keep_text)
    with numpy.printoptions(threshold=threshold, edgeitems=edge, formatter=formats):
        exact = type(value) is numpy.ndarray
        text = numpy.array2string(value, separator=", ") if exact else repr(value)
    text = " ".join(text.split()).replace("...,", "…,").replace("[ ", "[").replace(" ]", "]")
    text = text[text.find("[") : text.rfind("]") + 1]
    return nested(re.sub("\0([0-9]+)\0", lambda found: texts[int(found[1])], text), deep)


def element_text(each: Any, show: Show) -> str:
    """Return the text of an array's element that is an object or a string, by `show`.

    NumPy's own values, such as the one for a masked element, are written as they are.
    """
    if isinstance(each, (str, bytes)):
        return show(bytes(each) if isinstance(each, bytes) else str(each), ELEMENT_CHARS)
    # Such as what stands for an element that is masked.
    own = type(each).__module__.partition(".")[0] == "numpy"
    return str(each) if own and not hasattr(each, "shape") else show(each, ELEMENT_CHARS)


def nested(text: str, deep: int) -> str:
    """Return the text of an array's first part within `deep` more dimensions, each with `…` behind."""
    return "[" * deep + text + ", …]" * deep


def missing_elements(value: Any, kind: Any, numpy: Any) -> str:
    """Return how many elements of an array are NaN or NaT, as `(N missing) `; empty: none, or not counted.

    Only an exact `numpy.ndarray` of floats, complex numbers, dates or time spans is counted, with at most
    `MAX_COUNTED_CELLS` elements. `kind` is the type of `value`, `numpy` is the module, or None.
    """
    if numpy is None or kind is not numpy.ndarray or value.size > MAX_COUNTED_CELLS:
        return ""
    if value.dtype.kind not in "fcMm":
        return ""
    is_missing = numpy.isnat if value.dtype.kind in "Mm" else numpy.isnan
    count = int(is_missing(value).sum())
    return f"({count} missing) " if count else ""


# -- PyTorch's tensors


def tensor_text(value: Any, max_chars: int) -> str:
    """Return the text of a PyTorch tensor: shape, type and other traits, the number of NaN, the elements.

    The other traits are a device that is not the CPU, a layout that is not strided, and `requires_grad`. A
    tensor on another device, with another layout, or a quantized one is shown as `tensor(TRAITS)`, and its
    elements are not read. A tensor without dimensions has no shape in the text, one without NaN no number of
    them. `max_chars` is about how long the text may be, and decides how many elements are shown.
    """
    held = value.detach()
    at_hand = held.device.type == "cpu" and str(held.layout) == "torch.strided"
    facts = [str(tuple(value.shape)), str(value.dtype)] if value.ndim else [str(value.dtype)]
    if held.device.type != "cpu":
        facts.append(str(held.device))
    if str(held.layout) != "torch.strided":
        facts.append(str(held.layout))
    if value.requires_grad:
        facts.append("requires_grad")
    if not at_hand or held.is_quantized:
        return f"tensor({', '.join(facts)})"
    if count := count_nan(held):
        facts.append(f"({count} missing)")
    part, deep = first_corner(held, max_chars)
    threshold, edge = edges(max_chars)
    elements = "".join(array_parts(part, part.numel() <= threshold, edge))
    return f"{' '.join(facts)} {nested(elements, deep)}"


def count_nan(held: Any) -> int:
    """Return how many elements of a tensor (`held`) are NaN; 0 also if they are not counted.

    Not counted are tensors whose elements are no real floating-point numbers (but integers, bool or complex),
    tensors of more than `MAX_COUNTED_CELLS` elements, and those that PyTorch cannot test, as of some types.
    """
    if not held.is_floating_point() or held.numel() > MAX_COUNTED_CELLS:
        return 0
    try:
        return int(held.isnan().sum())
    except RuntimeError:
        # Not of every type; such as are 8 bits long.
        return 0


def array_parts(value: Any, whole: bool, edge: int) -> Iterator[str]:
    """Yield the pieces of the text of a tensor's elements; of a long dimension only those at its ends.

    `value` is a tensor on the CPU, whose own code for items is called. With `whole` all elements are shown;
    else of a dimension with more than 2 * `edge` items only the first and the last `edge`, with `…` between
    them. Each dimension is in square brackets, and its items are separated by commas; a tensor without
    dimensions is one number.
    """
    if not value.ndim:
        yield number(value.item())
        return
    length: int = value.shape[0]
    cut = not whole and length > 2 * edge
    chosen = [*range(edge), *range(length - edge, length)] if cut else range(length)
    yield "["
    for place, index in enumerate(chosen):
        if place:
            yield ", …, " if cut and place == edge else ", "
        yield from array_parts(value[index], whole, edge)
    yield "]"


def number(each: Any) -> str:
    """Return a number with four digits, as the elements of tensors are shown."""
    return f"{each:.4g}" if isinstance(each, (float, complex)) else str(each)


# Shows tables of pandas and Polars: shape, columns with types, missing cells, first and last rows.
#
# They are DataFrame, Series and Index.
#
# The number of inspected cells is bounded. Cells are shown as all other values.

FRAMES = ("DataFrame", "Series")
"""Names of the pandas types that are shown as tables."""
MAX_COLUMNS = 20
"""Columns that are shown."""
MAX_ROWS = 10
"""A table with at most this many rows is shown whole."""
HEAD, TAIL = 3, 2
"""Rows that are shown at each end of a longer one."""
CELL_CHARS = 40
"""Characters of a cell, or of a column's name."""
PLAIN = (str, int, float, bool, type(None), dt.date, dt.datetime, dt.time, dt.timedelta)


def describe_table(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return the text of a DataFrame, Series, Index or array of pandas; None for pandas' other types.

    `value` must be of one of pandas' types, `kind` is that type. `max_chars` is how many characters there are;
    the text may be longer. `show(VALUE, ROOM)` is called for the text of a cell of at most ROOM characters. Where
    the row labels of a table, or the values of a Series, Index or array, are of a class that is neither pandas'
    nor NumPy's, nothing is read, and the text only names that class.
    """
    pandas = sys.modules["pandas"]
    if kind.__name__ in FRAMES:
        foreign = foreign_array(value.index)
        if foreign:
            return f"<{kind.__name__} with labels of {foreign}, not read>"
        foreign = foreign_columns(value).get(0) if value.ndim == 1 else None
        if foreign:
            return f"<{kind.__name__} of {foreign}, not read>"
        return table_text(value, max_chars, show, pandas)
    if issubclass(kind, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        foreign = foreign_array(value)
        if foreign:
            return f"<{kind.__name__} of {foreign}, not read>"
        return sequence(value, kind, max_chars, show)
    return None


def foreign_array(value: Any) -> str | None:
    """Return the class name of an array in a pandas index that is neither pandas' nor NumPy's; else None.

    `value` is an index, or an array of one. None means that reading `value`, even its length or dtype, runs code of
    pandas and NumPy alone. The levels of an index with several, and the categories of a categorical array, are
    examined, too; the first foreign class counts.
    """
    levels = getattr(value, "levels", None)
    if levels is not None:
        return next(filter(None, map(foreign_array, levels)), None)
    array = getattr(value, "_data", value)
    if not is_known(array):
        return type(array).__name__
    if type(array).__name__ == "Categorical":
        return foreign_array(array.categories)
    return None


def foreign_columns(table: Any) -> dict[int, str]:
    """Return the class names of arrays that are not pandas' or NumPy's own, by their column's position.

    `table` is a pandas DataFrame, or a Series as one column. Its blocks are examined: asking for dtypes would run code of these arrays.
    """
    found: dict[int, str] = {}
    for block in table._mgr.blocks:
        name = foreign_array(block.values)
        if name:
            places = block.mgr_locs if table.ndim > 1 else (0,)
            found.update(dict.fromkeys(map(int, places), name))
    return found


def describe_polars(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return shape, typed columns and rows of a DataFrame or Series of Polars as a text; else None.

    `kind` is the type of `value`, of whose name alone that depends: it must be a class of Polars. Of more than
    `MAX_ROWS` rows only the first `HEAD` and the last `TAIL` are shown; of columns the first `MAX_COLUMNS`.
    `show` makes a line of a row, which is a tuple, and of the room for it. Rows are left out where `max_chars`,
    the characters of the text, is less than `MIN_ALONE_CHARS`, or where a column has objects.
    """
    name = objects.name_of(kind)
    if name not in FRAMES:
        return None
    table = value.to_frame() if name == "Series" else value
    shown_columns = [f"{column} {dtype}" for column, dtype in table.schema.items()]
    more = ["…"] if len(shown_columns) > MAX_COLUMNS else []
    head = f"{value.shape} {', '.join(shown_columns[:MAX_COLUMNS] + more)}"
    if max_chars < MIN_ALONE_CHARS or any(each.endswith(" Object") for each in shown_columns):
        return f"{name}({head})"
    ends = [table] if len(table) <= MAX_ROWS else [table.head(HEAD), table.tail(TAIL)]
    rows = [
        [show(row, max_chars // MAX_ROWS) for row in end[:, :MAX_COLUMNS].rows()] for end in ends
    ]
    return "\n".join([head, *"\n…\n".join("\n".join(each) for each in rows).split("\n")])


def table_text(value: Any, max_chars: int, show: Show, pandas: Any) -> str:
    """Return shape, columns with types and missing cells, and first and last rows of a pandas table.

    `value` is a DataFrame or Series, `pandas` is the module, and `show(VALUE, ROOM)` makes the text of an
    object in ROOM characters. `max_chars` is how many characters the caller has room for; the text is not
    cut to it. At most `MAX_COLUMNS` columns are shown, those with missing cells before others. With less
    than `MIN_ALONE_CHARS`, rows and missing cells are left out, and the text is `TYPE(SHAPE COLUMNS)`. Else
    the first line is `SHAPE COLUMNS`, and the rows follow on lines of their own: all of a table of up to
    `MAX_ROWS`, of others the first `HEAD` and the last `TAIL` with a line `…` between; an empty table has
    none. Cells of an array that is neither pandas' nor NumPy's are not read: they are `…`. Missing cells
    are not counted in a table that has such an array, or too many cells.
    """
    name = type(value).__name__
    shape = tuple(value.shape)
    named = value.ndim > 1 or value.name is not None
    whole = value.to_frame() if value.ndim == 1 else value
    foreign = foreign_columns(whole)
    table = (
        whole.iloc[:, [n for n in range(whole.shape[1]) if n not in foreign]] if foreign else whole
    )
    wide = max_chars >= MIN_ALONE_CHARS
    lost = missing_cells(table) if wide and not foreign else []
    types = list(table.dtypes)
    for number in sorted(foreign):
        types.insert(number, foreign[number])
    shown_columns = list(columns(whole.columns, types, lost, show, named=named))
    head = f"{shape} {', '.join(shown_columns)}"
    if not wide:
        return f"{name}({head})"
    ends = [table] if len(table) <= MAX_ROWS else [table.iloc[:HEAD], table.iloc[-TAIL:]]
    with pandas.option_context("display.float_format", None):
        rows = [
            copy_with_texts(part, whole.columns, foreign, show, pandas).to_string(
                max_cols=MAX_COLUMNS,
                max_colwidth=2 * CELL_CHARS,
                header=value.ndim > 1 and not number,
                index_names=not number,
            )
            for number, part in enumerate(ends)
        ]
    return "\n".join([head, *"\n…\n".join(rows).split("\n")]) if len(table) else head


def missing_cells(table: Any) -> list[int]:
    """Return how many cells of each column of a pandas DataFrame are missing.

    It is empty if they are not counted.
    """
    if table.size > MAX_COUNTED_CELLS:
        return []
    return [int(each) for each in table.isna().sum()]


def columns(names: Any, types: list[Any], lost: list[int], show: Show, *, named: bool) -> Any:
    """Yield the text of each column: name (if `named`), type and missing cells; `…` for some left out.

    `names` is a pandas index, `types` has a dtype or the name of an array's class for each column. `lost` has the
    number of missing cells of each column, or is empty if they were not counted. At most `MAX_COLUMNS` columns are
    shown, in their order: of more, those with missing cells, then the last one, then the first ones.
    `show(VALUE, ROOM)` makes the text of a name that is no text or other plain value.
    """
    count = len(types)
    chosen = list(range(count))
    if count > MAX_COLUMNS:
        gaps = [number for number, each in enumerate(lost) if each]
        chosen = sorted([*dict.fromkeys([*gaps, count - 1, *range(count)])][:MAX_COLUMNS])
    last = -1
    for number in chosen:
        if number > last + 1:
            yield "…"
        last = number
        label = f"{cell_text(names[number], show)} " if named else ""
        gone = f" ({lost[number]} missing)" if lost and lost[number] else ""
        yield f"{label}{types[number]}{gone}"
    if last < count - 1:
        yield "…"


def is_known(part: Any) -> bool:
    """Return whether the class of an array or dtype belongs to pandas or NumPy."""
    return type(part).__module__.partition(".")[0] in ("pandas", "numpy")


def copy_with_texts(part: Any, names: Any, foreign: dict[int, str], show: Show, pandas: Any) -> Any:
    """Return a copy of a few rows, each object replaced by its text: pandas runs no `repr` of it then.

    `part` is a DataFrame with these rows, without the columns of `foreign` (`foreign_columns`), which
    become columns of `…`; `names` is the index of all columns. `pandas` is the module. Replaced are labels
    of rows and columns that may be objects, and such cells in the columns at both ends that can be shown
    (`MAX_COLUMNS`); what has a dtype of numbers, dates or the like stays. `show(VALUE, ROOM)` makes the
    text of an object.
    """
    part = part.copy()
    count = part.shape[1]
    half = MAX_COLUMNS // 2
    for number in sorted({*range(min(half, count)), *range(max(count - half, 0), count)}):
        if str(part.dtypes.iloc[number]) in ("object", "category"):
            cells = [cell_text(each, show) for each in part.iloc[:, number]]
            part.isetitem(number, cells)
    for number in sorted(foreign):
        part.insert(number, names[number], "…", allow_duplicates=True)
    part.index = labels_as_texts(part.index, show, pandas)
    part.columns = labels_as_texts(part.columns, show, pandas)
    return part


def labels_as_texts(index: Any, show: Show, pandas: Any) -> Any:
    """Return the labels of rows or columns as a pandas index in which each label is a text.

    `index` is the table's own `Index`. Where it has the dtype `object` or `category`, or several levels, each
    label becomes what `cell_text` makes of it, long strings cut; else, and if an index of several levels is
    empty, `index` itself is returned. `show(VALUE, ROOM)` makes the text of an object in at most ROOM
    characters; `pandas` is the module.
    """
    if index.nlevels > 1:
        shown = [tuple(cell_text(each, show) for each in label) for label in index]
        return pandas.MultiIndex.from_tuples(shown, names=index.names) if shown else index
    if str(index.dtype) in ("object", "category"):
        return pandas.Index(
            [cell_text(each, show) for each in index], name=index.name, dtype=object
        )
    return index


def sequence(value: Any, kind: Any, max_chars: int, show: Show) -> str:
    """Return type, length, data type and elements of a pandas index or array; of many those at its ends.

    `max_chars` decides how many elements are shown, but the text may become longer. `kind` is the type of `value`, which has no
    `foreign_array`, and `show(VALUE, ROOM)` makes the text of an element.
    """
    threshold, edge = edges(max_chars)
    cut = len(value) > min(threshold, 10 * edge)
    ends = [value[:edge], value[-edge:]] if cut else [value]
    shown = ", …, ".join(
        ", ".join(
            show(each, CELL_CHARS) if isinstance(each, str) else cell_text(each, show)
            for each in end
        )
        for end in ends
    )
    return f"{kind.__name__} ({len(value)},) {value.dtype} [{shown}]"


def cell_text(each: Any, show: Show) -> str:
    """Return the text of a table's cell or label: strings without quotes, plain values by `str`.

    A string of more than `CELL_CHARS` characters is cut, with its length. Numbers, dates and None of Python
    are written by `str`, and so are values of pandas without a `shape`. `show(VALUE, ROOM)` makes the text of
    every other value; values of NumPy, whose numbers have a `shape`, are among them.
    """
    kind: Any = type(each)  # pyright: ignore[reportUnknownVariableType]
    own = objects.is_one_of(kind, PLAIN) or objects.module_of(kind).partition(".")[0] in (
        "pandas",
        "numpy",
    )
    if own and kind is not str and not hasattr(each, "shape"):
        return str(each)
    if kind is str:
        return each if len(each) <= CELL_CHARS else f"{each[:CELL_CHARS]}… ({len(each)} chars)"
    return show(each, CELL_CHARS)


ARRAYS = ("numpy", "torch", "jax", "jaxlib", "tensorflow", "cupy")
"""Packages whose arrays have a shape and a dtype."""
WIDE: int = MIN_ALONE_CHARS
MOMENTS = (dt.datetime, dt.date, dt.time, dt.timedelta)
PATHS = (pathlib.PosixPath, pathlib.WindowsPath)

QUALIFIED: Any = type.__dict__["__qualname__"]


def describe_value(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return the text of a value that has a form of its own, such as a date, enum or function; else None.

    `kind` is the value's type, `max_chars` about how many characters it may have, `show(VALUE, ROOM)` makes the
    text of a value inside. None also means that making the text has failed: no `Exception` leaves this function.
    Only what ends an evaluation, such as a `KeyboardInterrupt`, does.
    """
    try:
        package = objects.module_of(kind).partition(".")[0]
        if package in PACKAGES:
            return PACKAGES[package](value, kind, max_chars, show)
        if objects.is_one_of(kind, MOMENTS):
            return moment_text(value)
        if issubclass(kind, enum.Enum):
            return enum_text(value, kind, max_chars, show)
        if objects.is_one_of(kind, PATHS):
            return f"Path({str(value)!r})"
        if kind is memoryview:
            return memory(value, max_chars)
        return (
            named_object_text(value, kind)
            or suspended_text(value, kind)
            or describe_library_value(value, kind, max_chars, show)
        )
    except Exception:
        return None


def named_object_text(value: Any, kind: Any) -> str | None:
    """Return a text that names a function, method, class or module of Python; None for any other value.

    The text is `<function NAME(PARAMETERS) FILE:LINE>`, `<method NAME of OWNER>`, `<class MODULE.NAME>` or
    `<module NAME>`. NAME is the qualified one, in `<function …>` without a function around it; OWNER is `class`
    with a class's plain name, or that of an object's class in `<…>`. FILE, a name without a folder, and LINE say
    where a function is defined; PARAMETERS are names without `*args` and `**kwargs`. `kind` is the type of
    `value`; functions that are not written in Python give None.
    """
    if issubclass(kind, type):
        return f"<class {objects.module_of(value)}.{QUALIFIED.__get__(value)}>"
    if kind is types.ModuleType:
        return f"<module {objects.attributes_of(value).get('__name__')}>"
    if kind is types.MethodType:
        return f"<method {name_of(value.__func__)} of {owner_of(value.__self__)}>"
    if kind is types.FunctionType:
        code = value.__code__
        names = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        file = code.co_filename.replace("\\", "/").rpartition("/")[2]
        name = value.__qualname__.rpartition("<locals>.")[2]
        return f"<function {name}({names}) {file}:{code.co_firstlineno}>"
    return None


def name_of(function: Any) -> str:
    """Return the qualified name of a function that a method calls; of another callable the type in `<…>`."""
    known = type(function) is types.FunctionType
    return str(function.__qualname__) if known else f"<{objects.name_of(type(function))}>"


def owner_of(value: Any) -> str:
    """Return to what a method is bound: `class NAME`, or the type of an object as `<NAME>`."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    name = objects.name_of(value if issubclass(kind, type) else kind)
    return f"class {name}" if issubclass(kind, type) else f"<{name}>"


def moment_text(value: Any) -> str | None:
    """Return a date, time or duration as `str` writes it; None if that may run the program's code.

    `value` is a `date`, `time`, `datetime` or `timedelta`, and of no subclass: the caller sees to that. The
    result is None if its time zone is neither a `datetime.timezone` nor a `zoneinfo.ZoneInfo`.
    """
    zone = getattr(value, "tzinfo", None)
    known = zone is None or type(zone) is dt.timezone
    known = known or (objects.module_of(type(zone)), objects.name_of(type(zone))) == (
        "zoneinfo",
        "ZoneInfo",
    )
    return str(value) if known else None


def enum_text(value: Any, kind: Any, max_chars: int, show: Show) -> str | None:
    """Return name and value of an enum member, as `COLOR.RED (1)`; of several flags the names of all.

    The names of several flags are joined by `|`. From Python 3.11 on Python itself makes that text, with a number
    for bits without a name; before, the names of combined flags are among them, and such bits are not told. `0`
    stands for a number in which no named flag is. None: the member has no name, and its value is no integer. `kind`
    is the enum class; `show(VALUE, ROOM)` is called with the member's value and `max_chars`, and returns the
    value's text.

    Raises:
        KeyError: The object's own `__dict__` has no `_value_` or `_name_`.
    """
    held = objects.attributes_of(value)
    whole, name = held["_value_"], held["_name_"]
    if name is None:
        if type(whole) is not int:
            return None
        named = [each for each, one in members_of(kind) if one and whole & one == one]
        name = "|".join(named) or "0"
    return f"{objects.name_of(kind)}.{name} ({show(whole, max_chars)})"


def members_of(kind: Any) -> Iterator[tuple[str, int]]:
    """Yield name and number of each flag of an enum class."""
    for name, each in objects.class_member(kind, "_member_map_").items():
        number = objects.attributes_of(each).get("_value_")
        if type(number) is int:
            yield name, number


def suspended_text(value: Any, kind: Any) -> str | None:
    """Return a generator or coroutine as text with the line where it is suspended; None for all else.

    Asynchronous generators count, too. The text is `<KIND NAME at FILE:LINE>`, where KIND is `generator`, `coroutine`
    or `async generator`, NAME the qualified name behind the last `<locals>.`, and FILE a name without folders. One
    that has not begun has `not begun,` in place of `at`; one that is over ends with `that is over`, without a place.
    `kind` is `type(value)`; the objects of subclasses give None.
    """
    for known, word, frame in SUSPENDED:
        if kind is known:
            at = getattr(value, frame)
            where = "that is over"
            if at is not None:
                file = at.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
                begun = at.f_lasti > first_of(at.f_code)
                where = f"{'at' if begun else 'not begun,'} {file}:{at.f_lineno}"
            return f"<{word} {value.__qualname__.rpartition('<locals>.')[2]} {where}>"
    return None


@functools.lru_cache(maxsize=10000)
def first_of(code: Any) -> int:
    """Return the last place of an instruction at which a generator's or coroutine's frame has not begun."""
    resumes = [each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"]
    return resumes[0] if resumes else NOT_STARTED


def memory(value: Any, max_chars: int) -> str:
    """Return the first bytes of a memory view, and its size; its shape where it has several dimensions."""
    if value.ndim == 1 and value.contiguous:
        size = max(max_chars // 4, MIN_SHOWN_BYTES)
        more = f"… ({value.nbytes} bytes)" if value.nbytes > size else ""
        return f"<memory {bytes(value.cast('B')[:size])!r}{more}>"
    return f"<memory {value.shape} of format {value.format}>"


NOT_STARTED = -1
"""The place of a frame that has not begun, up to Python 3.10."""
MIN_SHOWN_BYTES = 4
"""Bytes of a memory view that are shown at least."""
SUSPENDED = (
    (types.GeneratorType, "generator", "gi_frame"),
    (types.CoroutineType, "coroutine", "cr_frame"),
    (types.AsyncGeneratorType, "async generator", "ag_frame"),
)


PACKAGES: dict[str, Callable[[Any, Any, int, Show], str | None]] = {
    "pandas": describe_table,
    "polars": describe_polars,
    "sqlalchemy": describe_statement,
    **dict.fromkeys(ARRAYS, describe_array),
}
