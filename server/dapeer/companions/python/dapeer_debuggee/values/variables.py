"""Patches how pydevd shows variables.

pydevd cuts nested data at the second level, however short it is. It cuts a string in its middle without its length,
runs every property of an expanded object, and leaves functions and classes out of a frame.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import itertools
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from types import CodeType, WrapperDescriptorType
from typing import Any

from .. import patching
from . import forms, objects, values

# Lists a value's contents: a container's elements, then attributes. Runs no code of the program.

FIRST_ELEMENTS = 100
"""Elements that are listed; the others are below a child `more`."""
PART_ELEMENTS = 1000
"""Elements below each child of that."""
LEAVES = (type(None), int, float, complex, str)
"""Types whose values hold nothing."""
LITERALS = (type(None), bool, int, float, complex, str, bytes)
"""Types of keys that can be written in an expression."""
THEIRS = ("_pydevd_bundle", "_pydev_bundle", "numpy", "pandas")
"""Packages whose values pydevd lists: its own, and those that it has a resolver for."""
SIZE = "len()"
"""The name of the child that tells how many elements there are."""

NamedChild = Any
"""A tuple: a child's name, its value, and what follows the container's expression for it; None: none."""


class MoreItemsRange:
    """Stands for some elements of a container, under the name that pydevd has for it."""

    def __init__(self, value: Any, known: Any, first: int, last: int) -> None:
        self._of, self._known, self._first, self._last = value, known, first, last

    def __repr__(self) -> str:
        return f"[{self._first}:{self._last}]"

    def entries(self) -> list[NamedChild]:
        """Return the elements that it stands for, as `elements` yields them."""
        return [*elements(self._of, self._known, self._first, self._last)]


class MoreItems:
    """Stands for the elements of a container but the first, under the name that pydevd has for it."""

    def __init__(self, value: Any, known: Any) -> None:
        self._of, self._known = value, known

    def __repr__(self) -> str:
        return "..."

    def entries(self) -> list[NamedChild]:
        """Return a child for each part of `PART_ELEMENTS` elements behind the first `FIRST_ELEMENTS`.

        Each is a tuple of name (`[100:1100]`), `MoreItemsRange` and None, as a part has no expression. No element is read.
        """
        size = self._known.__len__(self._of)
        parts = (
            MoreItemsRange(self._of, self._known, first, min(first + PART_ELEMENTS, size))
            for first in range(FIRST_ELEMENTS, size, PART_ELEMENTS)
        )
        return [(repr(each), each, None) for each in parts]


def is_listed_by_pydevd(value: Any) -> bool:
    """Return whether pydevd lists the contents of a value itself, as of NumPy's and pandas' types."""
    return objects.module_of(type(value)).partition(".")[0] in THEIRS


def is_leaf(value: Any) -> bool:
    """Return whether a value is a number, a string, None or a property, so that it has no children."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    return kind is objects.Property or any(issubclass(kind, each) for each in LEAVES)


def named_children(value: Any) -> list[NamedChild]:
    """Return the children of a value: attributes, elements, and last the size of a container.

    Each child is a tuple of name, value and what follows the container's expression (a text, a function of that
    expression, or None: it has no expression). `value` may be of any type; no code of the program runs. Attributes
    that a library keeps for itself are left out. Behind the first `FIRST_ELEMENTS` elements, the others are below
    one child `more`: its value, given to this function, gives them or parts of them, without a size. A named tuple
    has its fields in place of elements, all of them.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is MoreItems or kind is MoreItemsRange:
        return list(value.entries())
    held: list[NamedChild] = [
        (name, each, f".{name}")
        for name, each in objects.attributes(value, objects.names_of(value))
        if not objects.is_bookkeeping(name, each)
    ]
    known = container_of(kind)
    if known is None:
        return held
    size: int = known.__len__(value)
    named = fields_of(kind, size)
    if named:
        # Each stands there as a property, too.
        held = [each for each in held if each[0] not in named]
        of_fields = zip(named, elements(value, known, 0, size))
        held += [(name, each, f".{name}") for name, (_, each, _) in of_fields]
        return [*held, (SIZE, size, length)]
    held += elements(value, known, 0, FIRST_ELEMENTS)
    if size > FIRST_ELEMENTS:
        rest: Any = MoreItemsRange(value, known, FIRST_ELEMENTS, size)
        held.append(
            (
                "more",
                rest if size <= FIRST_ELEMENTS + PART_ELEMENTS else MoreItems(value, known),
                None,
            )
        )
    return [*held, (SIZE, size, length)]


def fields_of(kind: Any, size: int) -> tuple[str, ...]:
    """Return the names of the elements of a named tuple of `size` elements.

    It is empty if the class `kind` is none.
    """
    names: Any = objects.class_member(kind, "_fields") if issubclass(kind, tuple) else None
    if type(names) is not tuple or len(names) != size or size > FIRST_ELEMENTS:  # pyright: ignore[reportUnknownArgumentType]
        return ()
    listed: list[Any] = [*names]
    return tuple(listed) if all(type(each) is str for each in listed) else ()


def length(parent: str) -> str:
    """Return the expression of a container's size."""
    return f"len({parent})"


def container_of(kind: Any) -> Any:
    """Return the built-in container class from which the class `kind` derives; None: it is no container.

    Such are dicts, lists, tuples, deques, sets, and arrays of the modules `array` and `ctypes`; strings and bytes are none. No code of the
    program runs.
    """
    arrays: Any = getattr(sys.modules.get("ctypes"), "Array", None)
    of_ctypes = (arrays,) if type(arrays).__module__ == "_ctypes" else ()
    numbers: Any = getattr(sys.modules.get("array"), "array", None)
    # A file of the program may have that module's name.
    in_c = isinstance(getattr(numbers, "__len__", None), WrapperDescriptorType)
    of_numbers = (numbers,) if in_c else ()
    every: tuple[Any, ...] = (
        OrderedDict, dict, list, tuple, deque, set, frozenset, *of_numbers, *of_ctypes,
    )  # fmt: skip
    return next((each for each in every if issubclass(kind, each)), None)


def elements(value: Any, known: Any, first: int, last: int) -> Iterator[NamedChild]:
    """Yield name, value and expression of a container's elements from index `first` up to `last`.

    The element at `last` is left out; `last` may be behind the end. `known` is the built-in class whose methods read it. The expression
    is what follows the container's, such as `[0]`, which is also the name. A set's elements have their ids as names and None as
    expression; for a dict, `pairs` makes both from the keys.
    """
    if objects.is_one_of(known, (dict, OrderedDict)):
        yield from pairs(itertools.islice(known.items(value), first, last))
    elif objects.is_one_of(known, (set, frozenset)):
        for each in itertools.islice(known.__iter__(value), first, last):
            yield str(id(each)), each, None
    else:
        size: int = known.__len__(value)
        for index in range(first, min(last, size)):
            yield f"[{index}]", known.__getitem__(value, index), f"[{index}]"


def pairs(items: Iterator[tuple[Any, Any]]) -> Iterator[NamedChild]:
    """Yield name, value and expression of the values of a dictionary, named by their keys.

    `items` are pairs of key and value. Names are the keys' texts; of keys that look alike, all but the first have their id in the name. The
    expression is what follows the dictionary's, such as `['a']`; None if the key cannot be written.
    """
    seen: set[str] = set()
    for key, each in items:
        name = str(values.value_text(key))
        if name in seen:
            name = f"{name} (id: {id(key)})"
        seen.add(name)
        yield name, each, f"[{key!r}]" if is_literal(key) else None


def is_literal(key: Any) -> bool:
    """Return whether the `repr` of a dictionary's key can be written in an expression."""
    kind: Any = type(key)  # pyright: ignore[reportUnknownVariableType]
    if kind is tuple:
        return all(map(is_literal, key))
    return bool(objects.is_one_of(kind, LITERALS))


# Variables of a frame that are shown without pydevd: one that pydevd cannot show hides no other.


class PlainVariable:
    """A variable in place of pydevd's own, with a text and a type, and no children."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def get_var_data(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Return the DAP `Variable`: `name`, `value`, `type` and no reference (`variablesReference` 0).

        Arguments of pydevd's method are ignored. No code of the program runs.
        """
        kind = objects.name_of(type(self.value))
        return {
            "name": self.name,
            "value": text_of(self.value),
            "type": kind,
            "variablesReference": 0,
        }


class FrameStandIn:
    """Stands for a frame, with other variables."""

    def __init__(self, frame: Any, held: dict[str, Any]) -> None:
        self.f_code, self.f_locals, self.f_globals = frame.f_code, held, held


def list_plainly(stock: Any, variable: Any, *rest: Any, **named: Any) -> list[Any]:
    """Return pydevd's variables of a frame, and a `PlainVariable` for each that it cannot list.

    What a namespace holds by a key that is no name, as `locals()[3] = 4` makes it, comes last: pydevd compares the keys as texts. If
    pydevd's function raises, all variables are plain ones, without those whose names begin with `__`.

    Args:
        stock: Pydevd's function.
        variable: Pydevd's variable for the frame; it is not changed.
        rest: The function's other positional arguments: DAP's `ValueFormat`, and the scope whose variables are wanted.
        named: The same two as keyword arguments, `fmt` and `scope`.
    """
    items = list(namespace(variable.frame, *rest, **named).items())
    held: dict[str, Any] = {key: each for key, each in items if type(key) is str}
    others = [PlainVariable(text_of(key), each) for key, each in items if type(key) is not str]
    shown = variable
    if others:
        shown = copy.copy(variable)
        shown.frame = FrameStandIn(variable.frame, held)
    try:
        found: list[Any] = list(stock(shown, *rest, **named))
    except Exception:
        # Pydevd would show one variable then: `<error>`.
        found = [
            PlainVariable(name, held[name]) for name in sorted(held) if not name.startswith("__")
        ]
    for each in found:
        each.frame = variable.frame
    return found + others


def namespace(frame: Any, fmt: Any = None, scope: Any = None, *_: Any, **__: Any) -> Any:
    """Return the variables of a frame as a dict: the global ones if `scope` is that, else the local ones."""
    return frame.f_globals if getattr(scope, "scope", None) == "globals" else frame.f_locals


MAX_WHOLE_CHARS = 100_000
"""Characters of a value that is asked for whole; a text that is asked for so has no limit."""


def text_of(value: Any, max_chars: int = values.MAX_VALUE_CHARS) -> str:
    """Return the text of a value in about `max_chars`; if that fails, the name of its type in `<…>`."""
    try:
        return str(values.value_text(value, max_chars))
    except Exception:
        return f"<{objects.name_of(type(value))}>"


SHOWN = "_pydevd_bundle.pydevd_safe_repr:SafeRepr.__call__"
PROVIDED = "_pydevd_bundle.pydevd_xml:_str_from_providers"
ATTRIBUTES = "_pydevd_bundle.pydevd_resolver:DefaultResolver._get_py_dictionary"
FRAMES = "_pydevd_bundle.pydevd_suspended_frames"
GROUP = f"{FRAMES}:_FrameVariable._group_entries"
CHILDREN = f"{FRAMES}:_FrameVariable.get_children_variables"
DATA = f"{FRAMES}:_ObjectVariable.get_var_data"

RENDERED = patching.Row(
    "values",
    "debugpy",
    "Nested data is cut at its second level, and long strings in their middle.",
    replaces={SHOWN: "self obj"},
)
TABLES = patching.Row(
    "tables-of-pandas",
    "debugpy",
    "Tables of pandas are shown by debugpy's own texts.",
    replaces={PROVIDED: "o type_object type_name context="},
)
OPENED = patching.Row(
    "attributes",
    "debugpy",
    "Looking into an object runs its properties, which may change the program.",
    replaces={ATTRIBUTES: "self var names= used___dict__="},
)
MEMBERS = f"{FRAMES}:_ObjectVariable.get_children_variables"
LISTED = patching.Row(
    "contents",
    "debugpy",
    "Looking at a value asks it for its class, and runs the `repr` of each key; one odd value hides all others.",
    replaces={MEMBERS: "self fmt= scope=", DATA: "self fmt= context= **safe_repr_custom_attrs"},
    uses=(f"{FRAMES}:_AbstractVariable._group_entries(self lst handle_return_values)",),
)
KINDS = patching.Row(
    "kinds-of-variables",
    "debugpy",
    "Functions and classes are left out of a frame's variables, and arguments are not marked.",
    replaces={
        GROUP: "self lst handle_return_values",
        CHILDREN: "self fmt= scope=",
        DATA: "self fmt= context= **safe_repr_custom_attrs",
    },
)


@RENDERED
def show_values(patch: Any) -> None:
    """Patch pydevd so that it shows values by `values.value_text`.

    If the client wants a raw, whole or hexadecimal value, or `values.value_text` fails, pydevd's own function
    makes the text. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its
    `undo` puts back what was replaced by it.

    Raises:
        Misfit: What is to be replaced in pydevd is not as the row states.
    """
    kind: Any = importlib.import_module("_pydevd_bundle.pydevd_safe_repr").SafeRepr
    whole: Any = getattr(kind, "maxother_outer", None)

    @patch.replace(SHOWN)
    def call(stock: Any, self: Any, obj: Any, *rest: Any, **named: Any) -> str:
        """Return the text of `obj`; `self` is pydevd's `SafeRepr`, whose settings tell what the client wants.

        pydevd's own function, `stock`, makes the text if these settings ask for a raw, hexadecimal or longer text, or if ours fails.
        """
        if self.raw_value or self.convert_to_hex or whole != getattr(self, "maxother_outer", None):
            return stock(self, obj, *rest, **named)
        try:
            text: str = values.value_text(obj)
        except Exception:  # a class of the program
            return stock(self, obj, *rest, **named)
        return text


@TABLES
def show_tables(patch: Any) -> None:
    """Patch pydevd so that pandas tables are shown by this package, not by its own plug-in.

    For the clipboard they are still shown by pydevd. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, after it has checked pydevd's function, and its `undo` puts back what was
    replaced here.

    Raises:
        ImportError: pydevd lacks the module of the function; `Row.apply` catches this.
        AttributeError: pydevd lacks the function; `Row.apply` catches this, too.
    """

    @patch.replace(PROVIDED)
    def from_providers(
        stock: Any,
        o: Any,
        type_object: Any,
        type_name: str,
        context: Any = None,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Return None for a pandas table, so that no plug-in of pydevd's shows it; else what pydevd returns.

        `o` is the value, `type_object` its type and `type_name` that type's name. pydevd's own function, `stock`, also answers for the
        clipboard (`context`).
        """
        ours = (
            context != "clipboard"
            and type_name in forms.FRAMES
            and type_object.__module__.startswith("pandas")
        )
        if ours:
            return None
        return stock(o, type_object, type_name, context, *rest, **named)


@OPENED
def open_objects(patch: Any) -> None:
    """Patch pydevd so that it reads the attributes of objects without running code.

    Where pydevd asks for the attributes in the object's own `__dict__`, its own function still reads them. `patch` is
    this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced
    by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(ATTRIBUTES)
    def get_dictionary(
        stock: Any,
        self: Any,
        var: Any,
        names: Any = None,
        used___dict__: bool = False,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Return the attributes of `var` by name, and False, since its `__dict__` was not used.

        `names` are those that are wanted; None or empty: all. With `used___dict__` pydevd's function (`stock`) does it.
        """
        if used___dict__:
            return stock(self, var, names, used___dict__, *rest, **named)
        return dict(objects.attributes(var, names or objects.names_of(var))), False


@LISTED
def list_contents(patch: Any) -> None:
    """Patch pydevd so that values are described, and their contents listed, by this package.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    frames: Any = importlib.import_module(FRAMES)
    group: Any = frames._AbstractVariable._group_entries

    @patch.replace(MEMBERS)
    def children(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's variables for the contents of a value; `self` is pydevd's `_ObjectVariable`.

        pydevd's own function, `stock`, lists values of NumPy, pandas and pydevd itself, and those that a client wants in hexadecimal or
        raw.
        """
        if is_listed_by_pydevd(self.value) or wants_hexadecimal(*rest, **named):
            return stock(self, *rest, **named)
        hidden = objects.inherited_names(self.value)
        listed, groups = group_entries(group, self.py_db, named_children(self.value), hidden)
        return [
            frames._ObjectVariable(
                self.py_db,
                name,
                each,
                self._register_variable,
                evaluate_name=expression(self.evaluate_name, behind),
                frame=self.frame,
            )
            for name, each, behind in [*groups, *listed]
        ]

    @patch.replace(DATA)
    def get_var_data(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Return the DAP `Variable` of a value; `self` is pydevd's `_ObjectVariable`.

        pydevd's own function, `stock`, describes values of NumPy, pandas and pydevd itself, and those that a client wants in hexadecimal,
        raw, or uncut (for the clipboard).
        """
        # An evaluation for the clipboard asks for whole texts.
        whole = any(each.startswith("max") for each in named)
        if is_listed_by_pydevd(self.value) or wants_hexadecimal(*rest, **named) or whole:
            return stock(self, *rest, **named)
        return variable_data(self, MAX_WHOLE_CHARS if wants_whole(*rest, **named) else None)


def wants_hexadecimal(fmt: Any = None, *_: Any, **__: Any) -> bool:
    """Return whether a client's DAP `ValueFormat` asks for hexadecimal numbers or raw strings.

    None: it does not.
    """
    return bool(fmt) and bool(fmt.get("hex") or fmt.get("rawString"))


WHOLE = "dapeerWhole"
"""The key of a `ValueFormat` by which dapeer asks for a value of `MAX_WHOLE_CHARS`."""


def wants_whole(fmt: Any = None, *_: Any, **__: Any) -> bool:
    """Return whether dapeer's `ValueFormat` asks for a whole value; None: it does not."""
    return bool(fmt) and bool(fmt.get(WHOLE))


def variable_data(variable: Any, max_chars: int | None = None) -> dict[str, Any]:
    """Return the DAP `Variable` for a variable of pydevd's; making it runs no code of the program.

    Its keys are `name` (for what a function has returned, with `(return) ` before it), `value` (a text of
    about `max_chars` characters; None or 0: as many as usual), `type` (the class's name),
    `variablesReference` (the value's `id()`; 0: it has no children), and perhaps `evaluateName` and
    `presentationHint`, whose `attributes` are `rawString` and `readOnly`. The reference is not registered
    here.
    """
    value: Any = variable.value
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    data: dict[str, Any] = {
        "name": f"(return) {variable.name}" if variable._is_return_value else variable.name,
        "value": text_of(value, max_chars or values.MAX_VALUE_CHARS),
        "type": objects.name_of(kind),
        "variablesReference": 0 if is_leaf(value) else id(value),
    }
    if variable.evaluate_name is not None:
        data["evaluateName"] = variable.evaluate_name
    hints = ["rawString"] if kind is str or kind is bytes or kind is bytearray else []
    if variable._is_return_value or variable.name == SIZE:
        hints.append("readOnly")
    if hints:
        data["presentationHint"] = {"attributes": hints}
    return data


def expression(parent: str | None, behind: Any) -> str | None:
    """Return the expression of a child of a container whose expression is `parent`; None if it has none.

    `behind` is the text that follows the parent's, a function that makes the expression from that, or None.
    """
    if not parent or behind is None:
        return None
    return str(behind(parent)) if callable(behind) else f"{parent}{behind}"


PLACEHOLDERS = {"function": len, "class": int}
"""What pydevd groups in place of a value of a kind: it would ask the value itself for its class."""


class GroupStandIn:
    """Stands for a variable whose entries pydevd groups."""

    def __init__(self, debugger: Any) -> None:
        self.py_db, self.value = debugger, None


def group_entries(group: Any, debugger: Any, lst: Any, inherited: Any = ()) -> Any:
    """Return entries as pydevd groups them by names: those outside of groups, and the groups.

    `group` is pydevd's function, `debugger` its `PyDB`, `lst` tuples of name, value and expression. Both
    results are lists of such tuples; the value of a group holds its entries in the list
    `contents_debug_adapter_protocol`. Names in `inherited`, as of `objects.inherited_names`, go to the
    groups of functions and classes, except those that begin with `__`, which pydevd groups.

    Raises:
        KeyError: Another name in `inherited` is that of a value that is no function or class.
    """
    held: dict[str, Any] = {}
    entries: list[Any] = []
    for number, each in enumerate(lst):
        # Otherwise pydevd puts a name with an underscore among the attributes that are shown.
        hidden = each[0] in inherited and not each[0].startswith("__")
        name = f"inherited {number}" if hidden else each[0]
        held[name] = each
        entries.append((name, PLACEHOLDERS[objects.kind_of(each[1])] if hidden else None, None))
    listed, groups = group(GroupStandIn(debugger), entries, handle_return_values=True)
    for _, each, _ in groups:
        inside = each.contents_debug_adapter_protocol
        inside[:] = [held[name] for name, *_ in inside]
    return [held[name] for name, *_ in listed], groups


def mark_kinds(found: Any, code: Any) -> None:
    """Set `kind` of a frame's variables: `function`, `class`, `module`, `argument`; empty for data.

    `found` are these variables of pydevd, whose attribute `kind` is set; `code` is the code of the frame. Functions and classes are marked
    in a module's frame only. An argument is marked as that, whatever its value.
    """
    of_module = code.co_name == "<module>"
    arguments: tuple[str, ...] = ()
    # The frame of a template has a code of pydevd's own.
    if isinstance(code, CodeType):
        starred = (
            bool(code.co_flags & inspect.CO_VARARGS),
            bool(code.co_flags & inspect.CO_VARKEYWORDS),
        )
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + sum(starred)]
    for each in found:
        kind = objects.kind_of(each.value)
        each.kind = kind if of_module or kind == "module" else ""
        if each.name in arguments:
            each.kind = "argument"


@KINDS
def list_frames(patch: Any) -> None:
    """Patch pydevd so that functions and classes stay among a frame's variables, and kinds are told.

    pydevd else puts functions and classes into groups. `presentationHint` gets the kind of modules and
    arguments, and in a module's frame that of functions and classes. Variables that pydevd fails to list are
    listed plainly, and a property's value is left to be asked for. `patch` is this patch's `patching.Row`: it
    calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(GROUP)
    def group(
        stock: Any, self: Any, lst: Any, handle_return_values: Any, *rest: Any, **named: Any
    ) -> Any:
        return group_entries(stock, self.py_db, lst)

    @patch.replace(CHILDREN)
    def children(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        found = list_plainly(stock, self, *rest, **named)
        mark_kinds(found, self.frame.f_code)
        return found

    @patch.replace(DATA)
    def get_var_data(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Return the DAP `Variable` of a value, with its kind in `presentationHint`.

        `self` is pydevd's `_ObjectVariable`, with the attribute `kind` that `mark_kinds` has set; `stock` is the function that is replaced:
        if that raises, only name, text and type are returned. A property has the hint `lazy` and no reference, and its value is not
        computed.
        """
        try:
            data = stock(self, *rest, **named)
        except Exception:
            return PlainVariable(self.name, self.value).get_var_data()
        if type(self.value) is objects.Property:
            data.update(variablesReference=0, type="property", presentationHint={"lazy": True})
        elif getattr(self, "kind", ""):
            data["presentationHint"] = {"kind": self.kind}
        return data
