"""Recognizes programs by a file's first bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import MappingProxyType

from dapeer.adapters.definition.vocabulary import Variant

_ENOUGH = 256
_NOTHING: Mapping[str, object] = MappingProxyType({})

# ELF, and Mach-O: 32 and 64 bit of either byte order.
_BINARY = (
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
)
_UNIVERSAL = b"\xca\xfe\xba\xbe"
"""Of Mach-O, where the number of architectures follows; of Java, where a version of 45 or more does."""
_LEAST_JAVA = 45


def is_binary(path: str) -> bool:
    """Whether the file is a compiled program for Linux or macOS; False when it cannot be read."""
    first = _first_bytes(path)
    if first.startswith(_UNIVERSAL):
        return int.from_bytes(first[4:8], "big") < _LEAST_JAVA
    return first.startswith(_BINARY)


def has_section(path: str, names: Iterable[str]) -> bool:
    """Whether a compiled program has a section or symbol of one of these names, which identify compilers.

    Only names are looked for, not tables read: it is a guess, and a good one.
    """
    sought = [b"\0%s\0" % name.encode() for name in names]
    try:
        # Linux and macOS keep these names near the end.
        with Path(path).open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return any(content.rfind(name) >= 0 for name in sought)
    except (OSError, ValueError):  # it cannot be read, or is empty
        return False


def shebang(path: str) -> str | None:
    """Return the interpreter that a file's first line names, without folder and version.

    `#!/usr/bin/env -S python3.12 -u` is `python`. None when there is no such line, or no such file.
    """
    line = _first_bytes(path).partition(b"\n")[0].decode("utf-8", "replace")
    if not line.startswith("#!"):
        return None
    words = [word for word in line[2:].split() if not word.startswith("-")]
    names = [Path(word).name for word in words if "=" not in word]
    name = next((name for name in names if name != "env"), "")
    return re.sub(r"[\d.]+$", "", name) or None


def holds(folder: str, names: Iterable[str]) -> bool:
    """Whether a folder has a file that matches one of these patterns."""
    return any(next(Path(folder).glob(name), None) for name in names)


def fits(
    variant: Variant, inputs: Mapping[str, object], config: Mapping[str, object] = _NOTHING
) -> bool:
    """Whether all conditions of a variant hold for a launch."""
    program = inputs.get("program")
    asked = [any(inputs.get(name) is not None for name in variant.given)] * bool(variant.given)
    if variant.without:
        asked.append(config.keys().isdisjoint(variant.without))
    if variant.binary or variant.holds or variant.names or variant.outside or variant.inside:
        asked.append(program is not None and _is_of_kind(Path(str(program)), variant))
    return bool(asked) and all(asked)


def _is_of_kind(path: Path, variant: Variant) -> bool:
    """Whether a program meets the conditions of a variant."""
    return (
        (not variant.binary or is_binary(str(path)))
        and (not variant.holds or has_section(str(path), [variant.holds]))
        and (not variant.names or any(fnmatch(path.name, name) for name in variant.names))
        and (not variant.outside or above(path, variant.outside) is None)
        and (not variant.inside or above(path, variant.inside) is not None)
    )


def parts(program: object) -> dict[str, object]:
    """Return the values of the placeholders that are parts of a program's path."""
    if program is None:
        return {}
    path = Path(str(program))
    folder = path if path.is_dir() else path.parent
    return {"program_dir": str(folder), "program_stem": path.stem}


PARTS = ("program_dir", "program_stem")


def above(path: Path, names: Iterable[str]) -> Path | None:
    """Return the first of these files that a folder above a path, or the path itself, has: of the nearest folder."""
    folders = (path, *path.parents)
    files = (folder / name for folder in folders for name in names)
    return next((file for file in files if file.is_file()), None)


def _first_bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_ENOUGH)
    except OSError:
        return b""


def inside(inputs: Mapping[str, object], variants: Sequence[Variant]) -> dict[str, object]:
    """Return the file that the fitting variants have looked for, the last one's first."""
    program = Path(str(inputs.get("program")))
    found = (above(program, each.inside) for each in reversed(variants) if each.inside)
    return dict([("inside", str(file)) for file in found if file is not None][:1])
