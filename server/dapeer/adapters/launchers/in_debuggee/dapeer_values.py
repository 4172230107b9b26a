"""Values in the debuggee: whole where there is room, with their true length where there is not; nothing is run to show them.

pydevd shows nested data to the second level, however short it is, cuts a string in its middle without telling its length,
runs every property of an object that is opened, and leaves functions and classes out of a frame.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

ROOM = 4000
"""Characters of a value; who shows it cuts it further."""
LEAST = 12
"""Characters that an element must have room for to be begun."""
CELLS = 1_000_000
"""Elements of a frame up to which those that are missing are counted."""
ARRAYS = ("numpy", "torch", "jax", "jaxlib", "tensorflow", "cupy")
"""Packages whose arrays have a shape and a dtype."""
FRAMES = ("DataFrame", "Series")
"""Names of pandas' types that are shown as frames."""

BRACKETS: tuple[tuple[Any, str, str], ...] = (
    (tuple, "(", ")"),
    (list, "[", "]"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
    (deque, "deque([", "])"),
    (dict, "{", "}"),
    (OrderedDict, "OrderedDict({", "})"),
)
DESCRIPTORS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MemberDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType,
    staticmethod, classmethod, type,
)  # fmt: skip
"""What is found in a class and runs no code of the program when it is read from an object."""


def shown(value: Any, room: int = ROOM, inside: tuple[int, ...] = ()) -> str:  # noqa: ANN401
    """Return a value as its `repr` would be, in about that many characters; `inside` are the containers around it."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind in (str, bytes):
        return string(value, room)
    for known, opening, closing in BRACKETS:
        if kind.__repr__ is known.__repr__ and isinstance(value, known):
            if id(value) in inside:
                return f"{opening}...{closing}"
            return container(value, opening, closing, room, inside)
    if kind is defaultdict:
        return f"defaultdict({named(value.default_factory)}, {shown(dict(value), room, inside)})"
    special = described(value, kind)
    text = special if special is not None else represented(value)
    return text if len(text) <= room else f"{text[:room]}… ({len(text)} chars)"


def string(value: Any, room: int) -> str:  # noqa: ANN401 - str or bytes
    """Return a string as Python writes it; of a long one the beginning, and how long it is."""
    if len(value) <= room:
        return repr(value)
    text = repr(value[:room])
    return f"{text[:-1]}…{text[-1]} ({len(value)} chars)"


def container(value: Any, opening: str, closing: str, room: int, inside: tuple[int, ...]) -> str:  # noqa: ANN401
    """Return a container with as many elements as there is room for, and how many there are if those are not all."""
    size = len(value)
    if not size:
        return repr(value)
    parts: list[str] = []
    left = Left(room - len(opening) - len(closing))
    for part in elements(value, (*inside, id(value)), left):
        if parts and len(part) > left.room:
            break
        parts.append(part)
        left.room -= len(part) + 2
        if left.room < LEAST:
            break
    if len(parts) < size:
        return f"{opening}{', '.join(parts)}, …{closing} ({size} items)"
    comma = "," if size == 1 and opening == "(" else ""
    return f"{opening}{', '.join(parts)}{comma}{closing}"


class Left:
    """The room that is left for the elements of a container."""

    def __init__(self, room: int) -> None:
        self.room = room

    def half(self) -> int:
        """Return what the next element may have of it."""
        return max(self.room // 2, LEAST)


def elements(value: Any, inside: tuple[int, ...], left: Left) -> Iterator[str]:  # noqa: ANN401
    """Yield the elements of a container as text."""
    if isinstance(value, dict):
        for key, each in dict.items(value):  # type: ignore[reportUnknownVariableType]
            begun = shown(key, left.half(), inside)
            yield f"{begun}: {shown(each, max(left.half() - len(begun), LEAST), inside)}"
    else:
        for each in value:
            yield shown(each, left.half(), inside)


def represented(value: Any) -> str:  # noqa: ANN401
    """Return a value's own `repr`, or what can be told without it."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - the program's own code
        try:
            return object.__repr__(value)
        except Exception:  # noqa: BLE001
            return f"<no repr of {type(value).__name__}>"


# -- what has a form of its own


def described(value: Any, kind: Any) -> str | None:  # noqa: ANN401
    """Return how a value of a special kind is shown; None: as it shows itself."""
    try:
        package = str(kind.__module__).partition(".")[0]
        if package == "pandas" and kind.__name__ in FRAMES:
            return frame(value)
        if package in ARRAYS and hasattr(value, "dtype") and getattr(value, "shape", ()):
            text = " ".join(repr(value).split())
            body = text[text.find("[") : text.rfind("]") + 1]
            return f"{tuple(value.shape)} {value.dtype} {body}"
        if kind in (types.FunctionType, types.ModuleType) or isinstance(value, type):
            return named(value)
    except Exception:  # noqa: BLE001 - a library's own code
        return None
    return None


def named(value: Any) -> str:  # noqa: ANN401
    """Return a function with its parameters and place, a class or a module by its name; anything else as its `repr`."""
    if isinstance(value, types.ModuleType):
        return f"<module {value.__name__}>"
    if isinstance(value, type):
        return f"<class {value.__module__}.{value.__qualname__}>"
    if isinstance(value, types.FunctionType):
        code = value.__code__
        names = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        file = code.co_filename.replace("\\", "/").rpartition("/")[2]
        return f"<function {value.__qualname__}({names}) {file}:{code.co_firstlineno}>"
    return repr(value)


def frame(value: Any) -> str:  # noqa: ANN401 - a DataFrame or Series
    """Return shape, columns with their types and what is missing in them, and the first rows."""
    columns = [value.name] if value.ndim == 1 else list(value.columns)
    dtypes = [value.dtype] if value.ndim == 1 else list(value.dtypes)
    missing: list[int] = []
    if value.size <= CELLS:
        counted = value.isna().sum()
        missing = [int(counted)] if value.ndim == 1 else [int(each) for each in counted]
    told = [
        f"{column if value.ndim > 1 else column or ''} {dtype}".strip()
        + (f" ({missing[i]} missing)" if i < len(missing) and missing[i] else "")
        for i, (column, dtype) in enumerate(zip(columns, dtypes))  # noqa: B905 - Python 3.8
    ]
    head = value.head()
    rows = head.to_string() if value.ndim == 1 else head.to_string(max_cols=20)
    return f"{tuple(value.shape)} {', '.join(told)}\n{rows}"


# -- what an object consists of


class Property:
    """Stands for the value of a property that nobody has asked for."""

    def __repr__(self) -> str:
        return "(property: ask for it by its path)"


def names_of(value: Any) -> list[str]:  # noqa: ANN401
    """Return the names of an object's attributes, as `dir` does where the program has no `__dir__` of its own."""
    parts: list[Iterable[Any]] = []
    if not isinstance(value, type):
        with contextlib.suppress(Exception):  # no attributes, or they are hidden
            parts.append(object.__getattribute__(value, "__dict__"))
    # What a module has is its own; of the others their classes have the rest.
    if not isinstance(value, types.ModuleType):
        klass: type[Any] = value if isinstance(value, type) else type(value)
        parts += (each.__dict__ for each in klass.__mro__)
    return sorted({name for part in parts for name in part if isinstance(name, str)})


def attributes(value: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the attributes of an object, without running any code to get them.

    What an object holds itself is what it is, even where its class would compute it.
    """
    try:
        own = object.__getattribute__(value, "__dict__")
    except Exception:  # noqa: BLE001 - no attributes, or they are hidden
        own = {}
    for name in names:
        if isinstance(own, dict) and name in own:
            yield name, own[name]  # type: ignore[reportUnknownVariableType]
        elif runs(value, name):
            yield name, Property()
        else:
            try:
                yield name, getattr(value, name)
            except AttributeError:
                continue
            except Exception as error:  # noqa: BLE001
                yield name, error


def runs(value: Any, name: str) -> bool:  # noqa: ANN401
    """Whether an attribute is computed by code of the program or a library."""
    for klass in type(value).__mro__ + (value.__mro__ if isinstance(value, type) else ()):
        if name in klass.__dict__:
            found: Any = klass.__dict__[name]
            return hasattr(found, "__get__") and not isinstance(found, DESCRIPTORS)
    return not isinstance(value, types.ModuleType)


def kind_of(value: Any) -> str:  # noqa: ANN401
    """Return what a name of a module stands for that is no data; empty: it is data."""
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    return "function" if inspect.isroutine(value) else ""


# -- pydevd


def improve(*, prints: bool) -> None:  # noqa: ARG001 - every part is called alike
    """Show values so.

    Raises:
        AttributeError: pydevd is not the one we know.
    """
    render(importlib.import_module("_pydevd_bundle.pydevd_safe_repr").SafeRepr)
    present(importlib.import_module("_pydevd_bundle.pydevd_xml"))
    open_objects(importlib.import_module("_pydevd_bundle.pydevd_resolver").DefaultResolver)
    list_frames(importlib.import_module("_pydevd_bundle.pydevd_suspended_frames"))


def render(safe_repr: Any) -> None:  # noqa: ANN401 - pydevd's class
    """Have all values shown by `shown`, unless all of them is asked for, or their numbers in hexadecimal."""
    stock = safe_repr.__call__
    whole = safe_repr.maxother_outer

    def call(self: Any, value: Any) -> str:  # noqa: ANN401
        if self.raw_value or self.convert_to_hex or self.maxother_outer != whole:
            return stock(self, value)
        try:
            return shown(value)
        except Exception:  # noqa: BLE001 - a container of the program's own may do anything
            return stock(self, value)

    safe_repr.__call__ = call


def present(presentation: Any) -> None:  # noqa: ANN401 - pydevd's module
    """Have frames shown by us, not by pydevd's own plug-in for pandas."""
    stock = presentation._str_from_providers  # noqa: SLF001

    def from_providers(value: Any, kind: Any, name: str, context: Any = None) -> Any:  # noqa: ANN401
        ours = context != "clipboard" and name in FRAMES and kind.__module__.startswith("pandas")
        return None if ours else stock(value, kind, name, context)

    presentation._str_from_providers = from_providers  # noqa: SLF001


def open_objects(resolver: Any) -> None:  # noqa: ANN401 - pydevd's class
    """Have attributes read without running any code."""
    stock = resolver._get_py_dictionary  # noqa: SLF001

    def get_dictionary(
        self: Any,  # noqa: ANN401
        value: Any,  # noqa: ANN401
        names: Any = None,  # noqa: ANN401
        used___dict__: bool = False,
    ) -> Any:  # noqa: ANN401
        if used___dict__:
            return stock(self, value, names, used___dict__)
        return dict(attributes(value, names or names_of(value))), False

    resolver._get_py_dictionary = get_dictionary  # noqa: SLF001


def list_frames(suspended: Any) -> None:  # noqa: ANN401 - pydevd's module
    """Have functions and classes among a frame's variables, and say what is none that holds data."""
    variable, of_frame = suspended._ObjectVariable, suspended._FrameVariable  # noqa: SLF001
    stock_group = of_frame._group_entries  # noqa: SLF001
    stock_children = of_frame.get_children_variables
    stock_data = variable.get_var_data

    def group(self: Any, entries: Any, handle_return_values: bool) -> Any:  # noqa: ANN401
        plain = [each for each in entries if kind_of(each[1])]
        named_so = {each[0] for each in plain}
        others = [each for each in entries if each[0] not in named_so]
        listed, grouped = stock_group(self, others, handle_return_values)
        return listed + [each for each in plain if not each[0].startswith("__")], grouped

    def children(self: Any, *arguments: Any, **named_: Any) -> Any:  # noqa: ANN401
        found = stock_children(self, *arguments, **named_)
        code = self.frame.f_code
        of_module = code.co_name == "<module>"
        flags = bool(code.co_flags & inspect.CO_VARARGS) + bool(
            code.co_flags & inspect.CO_VARKEYWORDS
        )
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags]
        for each in found:
            kind = kind_of(each.value)
            each.kind = kind if of_module or kind == "module" else ""
            if each.name in arguments:
                each.kind = "argument"
        return found

    def get_var_data(self: Any, *arguments: Any, **named_: Any) -> Any:  # noqa: ANN401
        data = stock_data(self, *arguments, **named_)
        if type(self.value) is Property:
            data.update(variablesReference=0, type="property", presentationHint={"lazy": True})
        elif getattr(self, "kind", ""):
            data["presentationHint"] = {"kind": self.kind}
        return data

    of_frame._group_entries = group  # noqa: SLF001
    of_frame.get_children_variables = children
    variable.get_var_data = get_var_data
