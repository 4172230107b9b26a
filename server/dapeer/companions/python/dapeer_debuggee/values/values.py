"""Shows values whole if they fit, else with their length, and without running code of the program."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import forms, objects

# Texts, numbers, arrays, tables, and those in objects of subclasses, without code of the class.

BITS = 14_000
"""Bits of an integer that has fewer digits for certain than the 4,300 that Python writes."""
SHOWN_DIGITS = 20
"""Digits that are shown of a larger one."""
MAX_COUNTED_BITS = 1_000_000
"""Bits of the largest integer whose digits are counted; those of a larger one would take long."""


def string(value: Any, max_chars: int) -> str:
    """Return a string or bytes as Python writes it; a longer one than `max_chars` is cut, with its length."""
    if len(value) <= max_chars:
        return repr(value)
    text = repr(value[:max_chars])
    return f"{text[:-1]}…{text[-1]} ({len(value)} chars)"


def integer(value: int, most: int = BITS) -> str:
    """Return an integer in decimal digits, or shortened if it has more than `most` bits.

    A shortened one is its first digits and the number of all digits, as `1234… (2000 digits)`. One of more than
    `MAX_COUNTED_BITS` bits is its first 64 bits in hexadecimal and the number of all bits, as
    `0x8f00… (99999 bits)`. A negative number keeps its sign.
    """
    bits = value.bit_length()
    if bits <= most:
        return repr(value)
    if bits > MAX_COUNTED_BITS:
        return f"{value >> (bits - 64):#x}… ({bits} bits)"
    # log10(2) is a little more than this.
    power = bits * 30_102 // 100_000 - SHOWN_DIGITS
    first = str(abs(value) // 10**power)
    sign = "-" * (value < 0)
    return f"{sign}{first[:SHOWN_DIGITS]}… ({len(first) + power} digits)"


def plain_value(value: Any, kind: Any) -> Any:
    """Return a value of a subclass as one of exactly the built-in type, array or table; None: it is none.

    Built-in types are int (also for a bool), float, complex, str, bytes and bytearray; an array is NumPy's, a table
    a DataFrame of pandas. None comes also for a value that is exactly an array, and for a table whose class has its
    own `__getattribute__`. `kind` is the type of `value`. No code of that class is run. An array shares its
    elements with the value.
    """
    for known, convert in KNOWN:
        if issubclass(kind, known):
            return convert(value)
    array: Any = getattr(sys.modules.get("numpy"), "ndarray", None)
    of_array: Any = type(array)  # pyright: ignore[reportUnknownVariableType]
    if of_array is type and issubclass(kind, array) and kind is not array:
        return array.view(value, array)
    table: Any = getattr(sys.modules.get("pandas"), "DataFrame", None)
    reads = objects.class_member(kind, "__getattribute__")
    if type(table) is type and issubclass(kind, table) and reads is object.__getattribute__:
        return table(value)
    return None


WHOLE = slice(None)
KNOWN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (complex, lambda value: complex.__add__(value, 0j)),
    (str, lambda value: str.__getitem__(value, WHOLE)),
    (bytes, lambda value: bytes.__getitem__(value, WHOLE)),
    (bytearray, lambda value: bytearray.__getitem__(value, WHOLE)),
)
"""Types, and what makes an object of exactly that one."""

# Fields by which dataclasses and the like show an object: their `__repr__` would call the fields'.

GENERATED = "<attrs generated "
"""Begins the name of the file of what attrs has written."""
OF_PYDANTIC = ("__pydantic_fields__", "model_fields", "__fields__")
"""Where classes of pydantic keep their fields: in its versions from 2.10 on, from 2.0 on, and before."""


def repr_field_names(kind: Any, shows: Any) -> list[str] | None:
    """Return names of the fields that a class's generated `__repr__` may show; None: it is not generated.

    `kind` is the class, `shows` is that `__repr__`. Classes of dataclasses, attrs and pydantic have one. Fields
    that it is told not to show are left out.
    """
    fields: Any = objects.class_member(kind, "__dataclass_fields__")
    if fields is not None and objects.written_in(shows, "/dataclasses.py", "/reprlib.py"):
        return shown_fields(fields.items())
    fields = objects.class_member(kind, "__attrs_attrs__")
    if fields is not None and file_of(shows).startswith(GENERATED):
        return [each.name for each in fields if getattr(each, "repr", True)]
    for name in OF_PYDANTIC if is_of_pydantic(kind, shows) else ():
        fields = objects.class_member(kind, name)
        how: Any = type(fields)  # pyright: ignore[reportUnknownVariableType]
        if how is dict:
            return shown_fields(fields.items())
    return None


def shown_fields(fields: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the names of the fields (name and field) that are not declared with `repr=False`."""
    return [name for name, each in fields if getattr(each, "repr", True)]


def is_of_pydantic(kind: Any, shows: Any) -> bool:
    """Return whether the `__repr__` of a class, `shows`, is one that pydantic has defined."""
    for klass in objects.MRO.__get__(kind):
        if objects.NAMESPACE.__get__(klass).get("__repr__") is shows:
            return bool(objects.module_of(klass).partition(".")[0] == "pydantic")
    return False


def file_of(function: Any) -> str:
    """Return the name of the file of a function of Python; empty for anything else."""
    return str(function.__code__.co_filename) if type(function) is types.FunctionType else ""


# Says which values' `repr` may be called: it is C or of Python's library, as for all that they hold.

MAX_OBJECTS = 100
"""Objects that are looked at."""
MAX_TEXT_CHARS = 10_000
"""Characters of a text; of a longer one the `repr` would take more than is shown."""
PLAIN = (
    int, float, complex, bool, type(None), type(Ellipsis), type(NotImplemented), range, bytearray, type(re.compile("")),
    type(threading.Lock()), type(threading.RLock()), types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
    types.BuiltinFunctionType, types.FunctionType, types.ModuleType, types.CodeType, types.FrameType, weakref.ProxyType,
    weakref.CallableProxyType,
)  # fmt: skip
"""Types whose `repr` shows nothing of what they hold, or nothing but numbers."""
OURS = ("dapeer", "dapeer_debuggee.values.objects", "dapeer_debuggee.values.variables")
"""Modules whose classes are dapeer's."""
PACKAGES = ("numpy", "pandas")
"""Packages whose own values may be asked."""
LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
FOREIGN = tuple(os.path.join(LIBRARY, each, "") for each in ("site-packages", "dist-packages"))
OF_MODULES: Any = types.ModuleType
CONTENTS: Any = OF_MODULES.__dict__["__dict__"]


def is_safe(value: Any) -> bool:
    """Return whether the `repr` of a value, and of all that it holds, runs no code of the program."""
    return _is_safe(value, [MAX_OBJECTS])


def _is_safe(value: Any, left: list[int]) -> bool:
    """Return whether the `repr` of a value, and of all that it holds, runs no code of the program.

    `left` has one number: how many objects may still be looked at. It is counted down in place; an object that
    holds more than are left gives False. False also for a text or bytes longer than `MAX_TEXT_CHARS`, for weak
    references and libraries' proxies, and wherever it is not known. Nothing of the value is called.
    """
    left[0] -= 1
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bytes:
        return len(value) <= MAX_TEXT_CHARS
    if objects.is_one_of(kind, PLAIN) or objects.module_of(kind) in OURS:
        return True
    shows = objects.class_member(kind, "__repr__")
    if issubclass(kind, type):
        reads = (
            objects.class_member(kind, "__getattribute__"),
            objects.class_member(kind, "__getattr__"),
        )
        return shows is type.__repr__ and reads == (type.__getattribute__, None)
    if shows is object.__repr__:
        return True
    if issubclass(kind, weakref.ref) or objects.is_proxy(kind) or not is_known(shows, kind):
        return False
    if objects.module_of(kind).partition(".")[0] == "numpy" and holds_objects(value):
        return False
    inside = referents(value)
    return len(inside) <= left[0] and all(_is_safe(each, left) for each in inside)


def referents(value: Any) -> list[Any]:
    """Return the objects that a value refers to, but its type."""
    return [each for each in gc.get_referents(value) if each is not type(value)]


def proxied_objects(value: Any) -> list[Any]:
    """Return what a proxy refers to: what it stands for, or the dictionaries of what makes that.

    Empty: nothing.
    """
    others = referents(value)
    return [each for each in others if type(each) is not dict] or [each for each in others if each]


def is_known(shows: Any, kind: Any) -> bool:
    """Return whether a class's `__repr__` is known code: its own in C, or that of a known library.

    `shows` is that `__repr__`, `kind` the class. One in Python is known if the class and all its bases are of
    Python's library, NumPy or pandas. One in C may also be that of a base, if neither the class nor a base before
    that one has code in Python. It is False for anything else. What the values inside run is not asked.
    """
    if type(shows) is types.FunctionType:
        return all(map(is_of_library, objects.MRO.__get__(kind)))
    if type(shows) is not types.WrapperDescriptorType:
        return False
    for namespace in objects.namespaces(kind):
        if namespace.get("__repr__") is shows:
            return True
        if any(map(is_code, namespace.values())):
            return False
    return False


def holds_objects(value: Any) -> bool:
    """Whether an array of NumPy holds objects, of which the garbage collector knows nothing."""
    return getattr(getattr(value, "dtype", None), "hasobject", False) is True


def is_code(member: Any) -> bool:
    """Return whether a class's member is code that C code would run, so written in Python or a descriptor."""
    how: Any = type(member)  # pyright: ignore[reportUnknownVariableType]
    if how is types.FunctionType:
        return True
    in_c = objects.is_one_of(how, (*objects.READ, *objects.ROUTINES))
    return not in_c and objects.class_member(how, "__get__") is not None


def is_of_library(kind: Any) -> bool:
    """Return whether the class `kind` is the one of its name in Python's library, NumPy or pandas.

    A class of the program may only have such a module's name: it is not found in that module.
    """
    name = objects.module_of(kind)
    module: Any = sys.modules.get(name)
    if type(module) is not types.ModuleType:
        return False
    held = CONTENTS.__get__(module)
    if held.get(objects.name_of(kind)) is not kind:
        return False
    if name in sys.builtin_module_names or name.partition(".")[0] in PACKAGES:
        return True
    file = held.get("__file__")
    return type(file) is str and file.startswith(LIBRARY) and not file.startswith(FOREIGN)


MAX_VALUE_CHARS = 4000
"""Characters of a value; the core cuts it further."""
MAX_INNER_CHARS = 200
"""Characters of an object inside another one."""
MIN_CHARS = 12
"""Characters of room that an element needs at least."""
SHARING_ELEMENTS = 4
"""Elements that share the remaining room."""
LAST_ELEMENTS = 3
"""Elements that are shown at the end of a long container."""

BRACKETS: tuple[tuple[Any, str, str], ...] = (
    (tuple, "(", ")"),
    (list, "[", "]"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
    (deque, "deque([", "])"),
    (dict, "{", "}"),
    (OrderedDict, "OrderedDict({", "})"),
)
SEQUENCES: tuple[Any, ...] = (list, tuple, deque)
MAPPINGS: tuple[Any, ...] = (dict, OrderedDict)
SCALARS = frozenset(map(id, (float, bool, type(None))))
"""The ids of these types. The search for a type itself would call the `__hash__` of its metaclass."""
ARGUMENTS: Any = BaseException.__dict__["args"]
MAX_UNCUT_CHARS = 60
"""Characters of a `repr` that is never cut."""
WHERE = re.compile(r"(?: object)? at 0x[0-9a-f]+(?=>)")
"""An address in memory, as a `repr` shows it."""


class Inside:
    """The containers and objects around a value that is being shown."""

    def __init__(self, ids: tuple[int, ...] = (), objects: int = 0) -> None:
        self.ids = ids
        self.objects = objects
        """How many of them are objects."""

    def including(self, value: Any, *, opened: bool = False) -> Inside:
        """Return an `Inside` for the parts of a value: this one and the value; `opened`: it is an object."""
        return Inside((*self.ids, id(value)), self.objects + opened)


OUTSIDE = Inside()
"""A value by itself: it is shown with its address where its `repr` does that."""


def value_text(value: Any, max_chars: int = MAX_VALUE_CHARS, inside: Inside = OUTSIDE) -> str:
    """Return a value like its `repr` in about `max_chars`, without code of the program.

    An object with a `repr` that was not called is shown with its members, as `<Order: id=1, name='Ada'>`. A `str`
    or `bytes` of more than `max_chars` (at least `MIN_CHARS`), and an `int` of too many bits, are cut, with their
    length. The text of another value is cut only if it is longer than twice `max_chars` and than `MAX_UNCUT_CHARS`:
    its length follows, or among other values only type and length are shown, as `<Order (900 chars)>`. Tables of
    pandas and Polars have several lines. `inside` is what the value is in; leave it out for a value by itself.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bytes:
        return string(value, max(max_chars, MIN_CHARS))
    if kind is int:
        return integer(value, max(3 * max_chars, MIN_CHARS * MIN_CHARS))
    # Of these nothing else has to be found out.
    if id(kind) in SCALARS:
        return repr(value)
    text = container_or_error_text(value, kind, max_chars, inside)
    if text is None:
        text = recognized(value, kind, max_chars, inside)
    if len(text) <= max(2 * max_chars, MAX_UNCUT_CHARS):
        return text
    # Among other values a text that is cut anywhere could not be told from these.
    alone = not inside.ids and not inside.objects
    more = f"({len(text)} chars)"
    return f"{text[:max_chars]}… {more}" if alone else f"<{objects.name_of(kind)} {more}>"


def recognized(value: Any, kind: Any, max_chars: int, inside: Inside) -> str:
    """Return the text of a value that is no container: in its own form, with its members, or its `repr`.

    No code of the program runs: a `__repr__` written there is not called, and what the object holds, or `<TYPE>`,
    is shown instead. `kind` is the type of the value, `max_chars` about how many characters the text may have,
    `inside` the containers and objects that the value is in (`OUTSIDE`: none). Only an outermost object gets its
    address.
    """
    alone = max_chars if not inside.ids else min(max_chars, MAX_INNER_CHARS)
    within = functools.partial(value_text, inside=inside.including(value, opened=True))
    text: str | None = forms.describe_value(value, kind, alone, within)
    if text is not None:
        return text
    text = members_text(value, kind, max_chars, inside)
    if text is None:
        return repr_text(value, kind, max_chars, inside)
    # Only the outermost object shows its address, as its `repr` does.
    bare = inside is OUTSIDE and objects.class_member(kind, "__repr__") is object.__repr__
    return f"{text} at {id(value):#x}" if bare else text


def repr_text(value: Any, kind: Any, max_chars: int, inside: Inside) -> str:
    """Return the `repr` of a value if it is short and runs no code of the program, else contents or type.

    If the `repr` would run code of the program, or is just that of `object` inside another value, the contents are
    shown, or `<TYPE>` where there is nothing to show. If it is neither of these, but longer than both `max_chars`
    and `MAX_UNCUT_CHARS`, the contents are shown, or else the whole `repr`, uncut. `kind` is the value's type,
    `max_chars` about how many characters it may have, `inside` what it is in. Inside another value the address is
    left out. A `repr` that raises becomes `<no repr of TYPE>`.
    """
    bare = objects.class_member(kind, "__repr__") is object.__repr__ and inside is not OUTSIDE
    if not bare and is_safe(value):
        text = own_repr(value, kind)
        text = text if inside is OUTSIDE else WHERE.sub("", text)
        if len(text) <= max(max_chars, MAX_UNCUT_CHARS):
            return text
    else:
        text = f"<{objects.name_of(kind)}>"
    return contents_text(value, kind, max_chars, inside) or text


def container_or_error_text(value: Any, kind: Any, max_chars: int, inside: Inside) -> str | None:
    """Return the text of a container or a plain exception, by its built-in class's methods; else None.

    None is also the answer for a container or an exception whose class has a `repr` of its own. One that is in
    `inside` already is written with `...` between its brackets, such as `[...]` or `Error(...)`. `kind` is the
    type of the value, `max_chars` about how many characters there are, `inside` what the value is in.
    """
    if kind is defaultdict:
        if id(value) in inside.ids:
            return "{...}"
        factory = value_text(value.default_factory, max_chars, inside)
        held = container(value, dict, ("{", "}"), max_chars, inside.including(value))
        return f"defaultdict({factory}, {held})"
    shows_itself = objects.class_member(kind, "__repr__")
    if shows_itself is BaseException.__repr__:
        given, around = ARGUMENTS.__get__(value), (f"{objects.name_of(kind)}(", ")")
        if not given or id(value) in inside.ids:
            return ("..." * bool(given)).join(around)
        return container(given, tuple, around, max_chars, inside.including(value))
    for known, opening, closing in BRACKETS:
        if shows_itself is known.__repr__ and issubclass(kind, known):
            if id(value) in inside.ids:
                return f"{opening}...{closing}"
            return container(value, known, (opening, closing), max_chars, inside.including(value))
    return None


def container(
    value: Any, known: Any, around: tuple[str, str], max_chars: int, inside: Inside
) -> str:
    """Return a container as text: elements at its ends that fit, and its length if some are left out.

    `known` is the built-in class whose methods read `value`; `around` are the texts before and behind the
    elements; `inside` is what the elements are in, `value` itself included; `max_chars` is about how many
    characters the text has at most. The length of a `dict` or `OrderedDict` inside another value is left out,
    unless no element fits. For an empty container it is the `repr` of an empty `known`, without `around`.
    """
    opening, closing = around
    size = known.__len__(value)
    if not size:
        return repr(known())
    max_chars -= len(opening) + len(closing)
    parts = fitting_texts(elements(value, known, inside), size, max_chars)
    if len(parts) == size:
        comma = "," if size == 1 and opening == "(" else ""
        return f"{opening}{', '.join(parts)}{comma}{closing}"
    ending = fitting_texts(elements_from_end(value, known, inside), LAST_ELEMENTS, max_chars // 4)[
        ::-1
    ]
    parts = fitting_texts(elements(value, known, inside), size, max_chars - sum(map(len, ending)))
    if not parts:
        return f"{opening}… {size} items{closing}"
    left_out = ["…"] if len(parts) + len(ending) < size else []
    ending = ending[-max(size - len(parts), 0) :] if ending and size > len(parts) else []
    # The length of a record inside another value is of no interest.
    count = "" if known in MAPPINGS and len(inside.ids) > 1 else f" ({size} items)"
    return f"{opening}{', '.join([*parts, *left_out, *ending])}{closing}{count}"


def elements(value: Any, known: Any, inside: Inside) -> Iterator[tuple[Any, ...]]:
    """Yield each element of a container as `(inside, value)` or `(inside, key, value)`.

    The methods of the built-in class `known` are used, even if a subclass of the program redefines them.
    """
    if known in MAPPINGS:
        yield from ((inside, *item) for item in known.items(value))
    else:
        for each in known.__iter__(value):
            yield inside, each


def elements_from_end(value: Any, known: Any, inside: Inside) -> Iterator[tuple[Any, ...]]:
    """Yield the elements of a container from its end, the last one first.

    All elements of a dict are yielded, of a list, tuple or deque the last `LAST_ELEMENTS`. Each is
    `(inside, value)`, or `(inside, key, value)` for a dict. Nothing is yielded for any other class, such as a set,
    or for a dict in an old Python that cannot reverse it. `known` is the built-in class whose methods read the
    container, so that no code of the program runs; `inside` is passed on with each.
    """
    if known in MAPPINGS and hasattr(dict, "__reversed__"):
        yield from ((inside, *item) for item in reversed(known.items(value)))
    elif known in SEQUENCES:
        size: int = known.__len__(value)
        for index in range(size - 1, max(size - LAST_ELEMENTS, 0) - 1, -1):
            yield inside, known.__getitem__(value, index)


def fitting_texts(parts: Iterable[tuple[Any, ...]], size: int, max_chars: int) -> list[str]:
    """Return the texts of the first elements that fit into `max_chars`, `size` at most.

    `parts` are `(inside, value)` or, of a dict, `(inside, key, value)`, with `inside` for `value_text`; a
    key's text precedes the value's, with a colon. `size`, at least 1, is how many elements there are in
    all. The texts end before the first element that does not fit, or of which nothing could be seen in the
    room that is left. The list is empty if that is the first element; else the first text may be a little
    longer than the room.
    """
    texts: list[str] = []
    for inside, *part in parts:
        # Fewer elements, rather than elements of which nothing is visible.
        small = not texts or len(texts[-1]) <= 2 * MIN_CHARS
        if max_chars < (MIN_CHARS if small else 2 * SHARING_ELEMENTS * MIN_CHARS):
            break
        left = size - len(texts)
        share = max(max_chars // max(min(left, SHARING_ELEMENTS), 1), min(max_chars, MIN_CHARS))
        text = value_text(part[0], share, inside)
        if len(part) > 1:
            text = f"{text}: {value_text(part[1], max(share - len(text), MIN_CHARS), inside)}"
        if texts and len(text) > max_chars:
            break
        texts.append(text)
        max_chars -= len(text) + 2
        if len(texts) == size:
            break
    return texts


def members_text(value: Any, kind: Any, max_chars: int, inside: Inside) -> str | None:
    """Return an object as `TYPE(NAME=VALUE, …)` if its `repr` is generated or that of `object`; else None.

    Generated means by dataclasses, named tuples, attrs or pydantic. None also means that the object has no members. `kind` is its type,
    `max_chars` about how many characters there are, `inside` what the object is in.
    """
    held = members(value, kind)
    if not held:
        return None
    return attributes_text(value, held, max_chars, inside, (f"{objects.name_of(kind)}(", ")"))


def contents_text(value: Any, kind: Any, max_chars: int, inside: Inside) -> str | None:
    """Return the text of what an object holds whose own `repr` is not called; None: nothing to show.

    `kind` is its type, with which the text begins: `<Order: id=1>`, or `Order(id=1)` for a class whose `repr`
    is a library's. It shows the elements of a container, even of an empty one, the plain value of a subclass
    such as one of `int`, else attributes; of an exception also its `args`, of a proxy only what it holds. It is
    None without any of these. `max_chars` is about how many characters it may have. `inside` is what it is in:
    within two other objects or within itself elements and plain values are not shown, and attributes as
    `attributes_text` says.
    """
    name = objects.name_of(kind)
    within = inside.including(value, opened=True)
    if inside.objects <= 1 and id(value) not in inside.ids:
        for known, opening, closing in reversed(BRACKETS):
            if issubclass(kind, known):
                return f"<{name}: {container(value, known, (opening, closing), min(max_chars, MAX_INNER_CHARS), within)}>"
        plain = plain_value(value, kind)
        if plain is not None:
            return f"<{name}: {value_text(plain, min(max_chars, MAX_INNER_CHARS), within)}>"
    held = objects.own_attributes(value)
    if issubclass(kind, BaseException):
        held = {"args": ARGUMENTS.__get__(value), **held}
    elif objects.is_proxy(kind):
        others = proxied_objects(value)
        held = {"holds": others} if others else {}
    own = not is_known(objects.class_member(kind, "__repr__"), kind) or objects.is_proxy(kind)
    around = (f"<{name}: ", ">") if own else (f"{name}(", ")")
    return attributes_text(value, held, max_chars, inside, around) if held else None


def attributes_text(
    value: Any, held: dict[str, Any], max_chars: int, inside: Inside, around: tuple[str, str]
) -> str:
    """Return the names and values of `held` between the two texts `around`, in about `max_chars`.

    `held` has the attributes of the object `value` by name. Where they do not all fit, those that say most come
    first, and the number of all of them follows. `inside` is what `value` is in: within another object the text has
    at most about `MAX_INNER_CHARS`, within two it is only `<TYPE>`, and within itself `TYPE(...)`; the last two are
    without `around`.
    """
    name = objects.name_of(type(value))
    if id(value) in inside.ids:
        return f"{name}(...)"
    if inside.objects > 1:
        return f"<{name}>"
    max_chars = max_chars if not inside.objects else min(max_chars, MAX_INNER_CHARS)
    within = inside.including(value, opened=True)
    left = max_chars - sum(map(len, around))
    parts = attribute_texts(held, left, within)
    if len(parts) < len(held):
        parts = attribute_texts(dict(sorted(held.items(), key=sort_key)), left, within)
    more = [f"… ({len(held)} attributes)"] if len(parts) < len(held) else []
    return f"{around[0]}{', '.join(parts + more)}{around[1]}"


def attribute_texts(held: dict[str, Any], left: int, within: Inside) -> list[str]:
    """Return the first items of `held` as a list of `NAME=VALUE`, as many as fit into `left` characters.

    Values share the room, and are cut to about their share, but never below `MIN_CHARS`; two characters are counted for
    the separator behind each item. At least one item is returned if `held` has any, and the last one may exceed
    `left`. `within` is the `Inside` for the values: what they are in.
    """
    parts: list[str] = []
    for attribute, each in held.items():
        rest = len(held) - len(parts)
        share = max(left // min(rest, SHARING_ELEMENTS) - len(attribute), MIN_CHARS)
        parts.append(f"{attribute}={value_text(each, share, within)}")
        left -= len(parts[-1]) + 2
        if left < MIN_CHARS:
            break
    return parts


def sort_key(item: tuple[str, Any]) -> int:
    """Return a key to sort attributes by: 0 a plain value, 1 an object, 2 a container, 3 None.

    `item` is name and value. A plain value's class is exactly `str`, `int`, `float`, `bool` or `bytes`;
    a container's is one of `BRACKETS`, or derives from one.
    """
    kind: Any = type(item[1])  # pyright: ignore[reportUnknownVariableType]
    if objects.is_one_of(kind, (str, int, float, bool, bytes)):
        return 0
    if item[1] is None:
        return 3
    return 2 if any(issubclass(kind, known) for known, *_ in BRACKETS) else 1


def members(value: Any, kind: Any) -> dict[str, Any]:
    """Return the names and values by which a class's `repr` shows an object; empty: it shows it otherwise.

    `kind` is the class of `value`. There are such names for classes without a `repr` of their own, and for
    generated ones: named tuples, dataclasses, attrs, pydantic. What an object of pydantic keeps beside its
    fields is among them. The result is empty also for a class as `value`, and for an object that has none of
    these attributes. No code of the object runs.
    """
    shows = objects.class_member(kind, "__repr__")
    if shows is object.__repr__:
        return {} if issubclass(kind, type) else objects.own_attributes(value)
    names: Any = objects.class_member(kind, "_fields")
    if issubclass(kind, tuple) and objects.written_in(shows, "/collections/__init__.py"):
        return dict(zip(names, tuple.__iter__(value)))  # type: ignore[reportUnknownArgumentType]
    chosen = repr_field_names(kind, shows)
    if chosen is None:
        return {}
    held = objects.own_attributes(value)
    chosen += objects.slot_contents(value, objects.EXTRAS)
    return {name: held[name] for name in chosen if name in held}


def own_repr(value: Any, kind: Any) -> str:
    """Return a value's own `repr`, which may run code; if that raises, a text that says so."""
    try:
        return repr(value)
    except Exception:
        return f"<no repr of {objects.name_of(kind)}>"
