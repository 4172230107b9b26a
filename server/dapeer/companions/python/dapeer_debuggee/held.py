"""What variables hold in a program with unpatched debugpy. Its text is evaluated at a stop.

It runs no code of the program, loads nothing there and leaves nothing. What it tells is short: `values` would be
ten times as much text at every stop.
"""

import contextlib
import itertools
import json
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any

MAX_CHARS = 600
"""Characters of a variable, about: debugpy cuts what is told of all of them at 65,536."""
MAX_STRING_CHARS = 100
"""Characters of a string among other values."""
MAX_MEMBERS = 10
"""Members of one container or object."""
MAX_LEVELS = 4
"""Containers and objects in each other."""
MAX_BITS = 1000
"""Bits of an integer that is written whole."""

READ: Any = (types.MemberDescriptorType, types.GetSetDescriptorType)
PLAIN = ("Decimal", "date", "datetime", "timedelta")
"""Classes of Python's library, written in C, whose `repr` runs no other code."""
MRO: Any = type.__dict__["__mro__"]
NAMESPACE: Any = type.__dict__["__dict__"]
NAME: Any = type.__dict__["__name__"]
"""Read these attributes of a class, even if its metaclass redefines them."""
AROUND: Any = (
    (OrderedDict, "OrderedDict({", "})"), (defaultdict, "defaultdict({", "})"), (dict, "{", "}"), (list, "[", "]"),
    (tuple, "(", ")"), (set, "{", "}"), (frozenset, "frozenset({", "})"), (deque, "deque([", "])"),
)  # fmt: skip


class MembersAnswer:
    """A string that is shown without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def members_of(names: "list[str]", variables: "dict[str, Any]") -> MembersAnswer:
    """Return, as JSON, the texts of the named `variables` of a frame, by name; one that fails is left out."""
    shown: Any = {}
    for name in names:
        with contextlib.suppress(Exception):  # another thread changes it meanwhile
            shown[name] = value_text(variables[name], MAX_CHARS, ())
    return MembersAnswer(json.dumps(shown))


def class_member(kind: Any, name: str, missing: Any = None) -> Any:
    """Return the member of a class or of its bases with a name, or `missing` if there is none."""
    spaces = map(NAMESPACE.__get__, MRO.__get__(kind))
    return next((each[name] for each in spaces if name in each), missing)


def value_text(value: Any, max_chars: int, around: "tuple[int, ...]") -> str:
    """Return a value as text, in about `max_chars`, without running code of the program.

    Values of built-in types are as Python writes them. A string or bytes that is too long is cut, and
    its length added; inside another value it has at most `MAX_STRING_CHARS`. Of an integer of more than
    `MAX_BITS` bits the highest 64 are shown, in hexadecimal; other numbers are never cut. Containers
    are cut as `container` says, those of a subclass have its name, and other objects are shown by
    `object_text`. `around` are the ids of the objects that the value is in, the outermost first; empty
    for a value by itself.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bytes:
        most = min(max_chars, MAX_STRING_CHARS) if around else max_chars
        cut = repr(value[:most])
        return cut if len(value) <= most else f"{cut[:-1]}…{cut[-1]} ({len(value)} chars)"
    if kind is int and value.bit_length() > MAX_BITS:
        return f"{value >> (value.bit_length() - 64):#x}… ({value.bit_length()} bits)"
    if any(kind is each for each in (int, float, complex, bool, type(None))):
        return repr(value)
    for known, opening, closing in AROUND:
        if kind is known:
            return container(value, known, (opening, closing), max_chars, around)
        if issubclass(kind, known):
            brackets = (f"<{NAME.__get__(kind)}: {opening}", f"{closing}>")
            return container(value, known, brackets, max_chars, around)
    return object_text(value, kind, max_chars, around)


def container(
    value: Any, known: Any, brackets: "tuple[str, str]", max_chars: int, around: "tuple[int, ...]"
) -> str:
    """Return the text of a container with its first elements, which the methods of the class `known` read.

    `known` is the built-in class that the container is of, or a base of its class. `brackets` are what is before
    and behind its elements, `max_chars` is about how many characters there are, `around` are the ids of the objects
    that the container is in, the outermost first. As many elements are shown as fit, at most `MAX_MEMBERS`; if some
    are left out, `…` and the number of all follow. A container inside of itself is `...` in its brackets, and
    within `MAX_LEVELS` others only its size is shown. An empty container that is exactly a `known` has the text of
    `known()`, without `brackets`.
    """
    (opening, closing), size = brackets, known.__len__(value)
    if not size and type(value) is known:
        return repr(known())
    if id(value) in around:
        return f"{opening}...{closing}"
    if len(around) >= MAX_LEVELS:
        return f"{opening}… {size} items{closing}"
    inner, keyed = (*around, id(value)), issubclass(known, dict)
    parts: Any = []
    for each in itertools.islice(
        known.items(value) if keyed else known.__iter__(value), MAX_MEMBERS
    ):
        share = max(max_chars // min(size - len(parts), 4), 12)
        parts.append(
            ": ".join(value_text(one, share, inner) for one in (each if keyed else (each,)))
        )
        max_chars -= len(parts[-1]) + 2
        if max_chars < 0:
            break
    comma = "," if known is tuple and size == 1 else ""
    ends = f", … ({size} items)" if len(parts) < size else comma
    return f"{opening}{', '.join(parts)}{ends}{closing}"


def object_text(value: Any, kind: Any, max_chars: int, around: "tuple[int, ...]") -> str:
    """Return the text of an object of the class `kind` with its attributes, in about `max_chars`.

    It is `TYPE(NAME=VALUE, …)`, or `<TYPE: NAME=VALUE, …>` for a class with a `repr` of its own, which is not
    called; `<TYPE>` if it has no attributes. At most `MAX_MEMBERS` are shown, and fewer where `max_chars` is
    used up; if some are left out, the number of all follows. A class, function or module is shown by its
    name, and one of the `PLAIN` classes by its `repr`, unless it has a time zone. `around` are the ids of the
    objects that `value` is in, the outermost first; inside of itself, or of `MAX_LEVELS` others, it is
    `<TYPE>`, too. No code of the program runs.
    """
    name = str(NAME.__get__(kind))
    if issubclass(kind, type):
        return f"<class {NAME.__get__(value)}>"
    if kind is types.FunctionType:
        return f"<{name} {value.__name__}>"
    if kind is types.ModuleType:
        return f"<{name} {object.__getattribute__(value, '__dict__').get('__name__', '')}>"
    shows = class_member(kind, "__repr__")
    in_c = type(shows) is types.WrapperDescriptorType and shows.__objclass__ is kind
    if in_c and name in PLAIN and getattr(value, "tzinfo", None) is None:
        return repr(value)
    held = {} if id(value) in around or len(around) >= MAX_LEVELS else attributes(value, kind)
    own = shows is not object.__repr__
    opening, closing = (f"<{name}: ", ">") if own else (f"{name}(", ")")
    parts: Any = []
    for key, each in list(held.items())[:MAX_MEMBERS]:
        share = max(max_chars // min(len(held) - len(parts), 4), 12)
        parts.append(f"{key}={value_text(each, share, (*around, id(value)))}")
        max_chars -= len(parts[-1]) + 2
        if max_chars < 0:
            break
    more = [f"… ({len(held)} attributes)"] if len(held) > len(parts) else []
    return f"{opening}{', '.join(parts + more)}{closing}" if parts else f"<{name}>"


def attributes(value: Any, kind: Any) -> "dict[str, Any]":
    """Return an object's own attributes and slots by name, public ones first; no code of its class runs.

    `kind` is the object's class. Names that begin with two underscores, or are no texts, are left out, and
    so are slots without a value, and a `__dict__` that is no plain dict (as that of a class). The dict is
    empty if the class has a slot or property `__wrapped__`, since such an object stands for another one.
    """
    held: Any = {}
    wrapped: Any = class_member(kind, "__wrapped__")
    if any(type(wrapped) is each for each in (*READ, property)):
        return held  # it stands for another object, and even C code of it may run the program's
    for space in map(NAMESPACE.__get__, MRO.__get__(kind)):
        for name, member in space.items():
            if type(member) is types.MemberDescriptorType and name not in held:
                try:
                    held[name] = member.__get__(value)
                except AttributeError:  # it has no value
                    continue
    descriptor = class_member(kind, "__dict__")
    if any(type(descriptor) is each for each in READ):
        mine = descriptor.__get__(value)
        held.update(mine if type(mine) is dict else {})
    names = [name for name in held if type(name) is str and not name.startswith("__")]
    return {name: held[name] for name in sorted(names, key=lambda each: each.startswith("_"))}
