"""Values as GDB prints them, each in one line. Runs inside of GDB."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import re
import sys
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

MAX_STRUCTURE_CHARS = 300
"""Characters of a structure in one line; it is shown as many levels deep as fit."""
MAX_RESULT_CHARS = 2000
"""The same for the result of an expression."""
MAX_LEVELS = 4
"""Levels of nested structures, at most."""
MAX_ELEMENTS = 20
"""Elements of a container that are shown."""
STRING_CHARS = 200
"""Characters of a string within a structure."""
PADDED = re.compile(r'"((?:[^"\\]|\\["\\ntr])+)(?:(?:\\000)+"|", \'\\000\' <repeats \d+ times>)')
"""A text without control characters, and the NULs behind it."""
MAX_ARRAY_BYTES = 60_000
"""Bytes of the largest array that is read as a whole; GDB reads at most 65,536."""

STYLE: dict[str, Any] = {"static_members": False, "symbols": False, "max_elements": MAX_ELEMENTS}
"""How GDB prints a value. GDB 14 and later also have `max_characters`, the limit for strings."""


def line_of(value: Any, max_chars: int = MAX_STRUCTURE_CHARS) -> str | None:
    """Return a value's text in one line, in about `max_chars`; None: GDB's own text will do.

    None is returned for numbers, pointers to `void` or a function, and the like, and where a pretty-printer has
    neither `children` nor the hint `string`. `value` is a `gdb.Value`. A structure or container has as many
    levels as fit, at least one; a pointer its address and target, which may be `<cannot be read>`; a null
    pointer is `0x0`, one to characters only their text, which is empty for a null one; a large array its first
    elements. A string is cut at `MAX_RESULT_CHARS`, whatever `max_chars` is, and then has its length. A
    reference is shown as what it refers to. A value that was optimized out is `<optimized out>`.
    Pretty-printers run, which are code of others.

    Raises:
        gdb.error: The value cannot be read. A pretty-printer may raise anything.
    """
    if value.is_optimized_out:
        return why(gdb.error("optimized out"))
    code = value.type.strip_typedefs().code
    if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return _object_text(value.referenced_value(), max_chars)
    printer = gdb.default_visualizer(value)
    if printer is not None:
        return _printer_text(value, printer, max_chars)
    if code == gdb.TYPE_CODE_PTR:
        return _pointer_text(value, max_chars)
    if code == gdb.TYPE_CODE_ARRAY and value.type.sizeof > MAX_ARRAY_BYTES:
        return _array_beginning(value)
    return _structure_text(value, max_chars) if code in OPENED else None


def _printer_text(value: Any, printer: Any, max_chars: int) -> str | None:
    """Return the text of a `gdb.Value` that has a pretty-printer; None: use GDB's own text.

    `printer` is GDB's pretty-printer for the value; what its methods raise is raised here. With the display
    hint `string` the value is shown in quotes up to `MAX_RESULT_CHARS`, whatever `max_chars` is, with its
    length, if known, where it is cut. Otherwise a smart pointer is shown as its object, behind the printer's
    `to_string`, and everything else that can have children as a structure, both in about `max_chars`
    characters. None: the printer has neither that hint nor `children`, even if its `to_string` gives a
    text; or the smart pointer points to `void` or a function, or its text is empty, as of a null pointer to
    characters.
    """
    hint = printer.display_hint() if hasattr(printer, "display_hint") else None
    if hint == "string":
        shown = printer.to_string()
        return _string_text(value, getattr(shown, "length", -1))
    if not hasattr(printer, "children"):
        return None
    held: list[Any] = list(itertools.islice(printer.children(), 2))
    # A smart pointer is shown as the object that it owns.
    if len(held) == 1 and held[0][0] == "get()":
        inside = _pointer_text(gdb.Value(held[0][1]), max_chars)
        return f"{printer.to_string()} {inside}" if inside else None
    return _structure_text(value, max_chars)


def _structure_text(value: Any, max_chars: int) -> str:
    """Return a structure's or container's `gdb.Value` as text with as many levels as fit into `max_chars`.

    One level is always shown, even where that is longer, and `MAX_LEVELS` at most. The text is one line;
    levels that are left out are `{...}`. GDB cuts arrays behind `MAX_ELEMENTS` elements, or behind a
    twentieth of `max_chars` if that is more.
    """
    best = ""
    style = {**STYLE, "max_elements": max(MAX_ELEMENTS, max_chars // 20)}
    for depth in range(1, MAX_LEVELS + 1):
        shown = " ".join(_formatted(value, max_depth=depth, **style).split())
        if best and len(shown) > max_chars:
            break
        best = shown
        if "{...}" not in shown:
            break
    return best


def _formatted(value: Any, **style: Any) -> str:
    """Return a `gdb.Value` as GDB formats it, a text in an array without the NULs that fill its room up.

    `style` are options of `gdb.Value.format_string`. Of bytes, all are shown: one behind a NUL is as much a part of them as those before
    it.
    """
    return PADDED.sub(r'"\1"', value.format_string(**style))


def _array_beginning(value: Any) -> str:
    """Return the first `MAX_ELEMENTS` elements of an array that is too large to be read as a whole.

    `value` is a `gdb.Value`.
    """
    first, last = value.type.strip_typedefs().range()
    shown = range(first, min(last + 1, first + MAX_ELEMENTS))
    inside = ", ".join(_formatted(value[index], max_depth=1, **STYLE) for index in shown)
    return f"{{{inside}{'...' * (last + 1 > shown.stop)}}}"


def _pointer_text(value: Any, max_chars: int) -> str | None:
    """Return a pointer's address, an arrow and its target, or the text behind a pointer to characters.

    `value` is a `gdb.Value`; any one-byte integer counts as a character. None: it points to `void` or a
    function, so GDB's own text is used. A null pointer is `0x0`, and a target that cannot be read `<cannot be
    read>`; but a pointer to characters is shown as GDB does: an unreadable one is `<error: …>`, and a null one
    may be an empty text, for which GDB's own text is used as for None. The target's text has about `max_chars`;
    the text behind a character pointer is cut at `MAX_RESULT_CHARS` instead, and then names its length.
    """
    target = value.type.strip_typedefs().target().strip_typedefs()
    if target.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC):
        return None
    if target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and target.sizeof == 1:
        return _string_text(value, -1)
    address = hex(int(value))
    if address == "0x0":
        return address
    try:
        return f"{address} → {_object_text(value.dereference(), max_chars)}"
    except gdb.MemoryError:
        return f"{address} → <cannot be read>"


def _object_text(value: Any, max_chars: int) -> str:
    """Return an object's text, behind its real class where that is derived from the declared one.

    `value` is a `gdb.Value`.
    """
    real = value.dynamic_type
    kind = "" if real == value.type else f"({real}) "
    whole = value.cast(real) if kind else value
    return f"{kind}{line_of(whole, max_chars) or _formatted(whole, **STYLE)}"


def _string_text(value: Any, length: int) -> str | None:
    """Return a string's `gdb.Value` in quotes; one that GDB cuts ends with its length in characters.

    GDB cuts at `MAX_RESULT_CHARS`. `length` is the string's whole length, in characters; negative: it is unknown, and
    counted here, for which the whole string is read. Where that fails, the text ends in `...`, as GDB has cut it.
    """
    shown = _formatted(value, **{**STYLE, **_characters(MAX_RESULT_CHARS)}, address=False)
    if not shown.endswith("..."):
        return shown
    if length < 0:
        try:
            length = len(value.string(errors="replace"))
        except (gdb.error, UnicodeError, TypeError):
            return shown
    return f"{shown.removesuffix('...')}… ({length} chars)"


def _characters(max_chars: int) -> dict[str, int]:
    """Return the option of `format_string` that limits a string to `max_chars`.

    Before GDB 14 that is the limit of elements.
    """
    return (
        {"max_characters": max_chars} if "max_characters" in STYLE else {"max_elements": max_chars}
    )


class TypeNames:
    """Names of types as a person writes them: `std::string`, not the template that it abbreviates."""

    def __init__(self) -> None:
        self._short_names: dict[str, str] = {}
        self._gdb_types: Any = importlib.import_module("gdb.types")

    def name(self, kind: Any) -> str:
        """Return the name of `kind`, a `gdb.Type`, as GDB's recognizers abbreviate it; results are remembered.

        A name without `<` and `::` is returned as it is, and is not remembered. A type for which the recognizers
        know no shorter name has its own.
        """
        long = str(kind)
        if "<" not in long and "::" not in long:
            return long
        if long not in self._short_names:
            self._short_names[long] = self._abbreviated_name(kind) or long
        return self._short_names[long]

    def _abbreviated_name(self, kind: Any) -> str | None:
        """Return a type's name as GDB's type recognizers abbreviate it; None: they know no shorter one.

        `kind` is a `gdb.Type`. Of a pointer or reference the type that it leads to is abbreviated, and its sign
        follows, as in `string *`; of the qualifiers only a `const ` at the beginning stays. The result is not
        remembered.
        """
        ends = {gdb.TYPE_CODE_PTR: " *", gdb.TYPE_CODE_REF: " &", gdb.TYPE_CODE_RVALUE_REF: " &&"}
        if kind.code in ends:
            target = kind.target()
            inside = self._abbreviated_name(target)
            return f"{inside}{ends[kind.code]}" if inside else None
        plain = kind.unqualified()
        found = self._gdb_types.apply_type_recognizers(
            self._gdb_types.get_type_recognizers(), plain
        )
        const = "const " if str(kind).startswith("const ") else ""
        return f"{const}{found}" if found else None


def why(error: BaseException) -> str:
    """Return the text in `<…>` that is shown in place of a value which GDB cannot read.

    `error` is what GDB has raised.
    """
    message = str(error)
    return "<optimized out>" if "optimized out" in message else f"<{message}>"


if gdb is not None:
    SCALAR = (
        gdb.TYPE_CODE_INT,
        gdb.TYPE_CODE_CHAR,
        gdb.TYPE_CODE_BOOL,
        gdb.TYPE_CODE_FLT,
        gdb.TYPE_CODE_ENUM,
    )
    OPENED = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY)
    with contextlib.suppress(TypeError):
        gdb.Value(1).format_string(max_characters=STRING_CHARS)
        STYLE["max_characters"] = STRING_CHARS
