"""What a program's file is, by its first bytes and the names in it, and which files lie around it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from mmap import ACCESS_READ, mmap
from pathlib import Path

from dapeer.base.system import foreign_files

_HEADER_BYTES = 256

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
    """Return whether a file is a compiled program for Linux or macOS, by its first bytes.

    False if it cannot be read.
    """
    first = _first_bytes(path)
    if first.startswith(_UNIVERSAL):
        return int.from_bytes(first[4:8], "big") < _LEAST_JAVA
    return first.startswith(_BINARY)


def has_section(path: str, names: Iterable[str]) -> bool:
    """Return whether a compiled program has a section or symbol of one of these names, as compilers leave.

    It is a guess, and a good one: each name is looked for among the file's bytes as a whole, between two null
    bytes, and no tables are read. False if there are no names, or `path` cannot be read, is empty, or is no
    regular file.
    """
    sought = [b"\0%s\0" % name.encode() for name in names]
    if not sought:
        return False
    try:
        # Linux and macOS keep these names near the end.
        with (
            foreign_files.open_file(path) as file,
            mmap(file.fileno(), 0, access=ACCESS_READ) as content,
        ):
            return any(content.rfind(name) >= 0 for name in sought)
    except (OSError, ValueError):  # it cannot be read, or is empty
        return False


_MOST_SOURCES = 50
C_LIBRARY = re.compile(r"/(?:libc|ld-linux|ld-musl|libpthread|libsystem)\b[^/]*$")
"""Has the functions that start processes; who calls them imports them."""


_LIBRARY = re.compile(rb"\0([\w./+-]+\.so[.\d]*)(?=\0)")
_MOST_OF_NAMES = 1 << 26
"""Bytes of a program that are searched for its libraries' names, which ELF has near its beginning."""
_LIBRARIES = ("/lib", "/usr/lib", "/usr/local/lib", "/lib64", "/lib/*-linux-*")


def named_libraries(program: str) -> Iterator[str]:
    """Yield the paths of the shared libraries (`.so`) that a compiled program names, as far as found.

    Names that end in `.so` or `.so.VERSION` are looked for in the first `_MOST_OF_NAMES` bytes of the program, and
    the files beside the program and in the system's usual folders; one path for each name. Nothing is yielded for
    an empty path, or a file that is no ELF or Mach-O program, or cannot be read.
    """
    if not program or not is_binary(program):
        return
    try:
        names = _LIBRARY.findall(foreign_files.read_bytes(program, _MOST_OF_NAMES))
    except OSError:
        return
    here = Path(program).parent
    for name in dict.fromkeys(each.decode() for each in names):
        found = (path for folder in (here, *_LIBRARIES) for path in _library_files(folder, name))
        if (path := next(found, None)) is not None:
            yield str(path)


def _library_files(folder: Path | str, name: str) -> Iterator[Path]:
    """Yield the files that a library of this name may be, in one folder.

    `folder` is a path, or for a library without a folder a glob pattern from the root.
    """
    if isinstance(folder, Path) or name.startswith("/"):
        yield from filter(foreign_files.is_file, [Path(folder, name)])
    else:
        yield from foreign_files.matching("/", f"{folder[1:]}/{Path(name).name}")


def starts_others(program: str, extensions: Sequence[str], pattern: str) -> bool:
    """Return whether the source of a program matches a pattern, which says that it starts other processes.

    `program` is the path of a source file, or of a folder, whose direct files are searched. Only files with one of
    the suffixes in `extensions` (such as `.go`) are read, also where `program` is a file; of a folder's the first
    `_MOST_SOURCES` by name, up to one that matches. `pattern` is a regular expression, in which `^` fits each line.
    False, too: `program` or `pattern` is empty, or there is no such file.

    Raises:
        OSError: One of the files cannot be read.
    """
    if not pattern or not program:
        return False
    path = Path(program)
    files = sorted(foreign_files.matching(path, "*")) if foreign_files.is_folder(path) else [path]
    sources = [each for each in files if each.suffix in extensions and foreign_files.is_file(each)]
    return any(
        re.search(pattern, foreign_files.read_text(each), re.MULTILINE)
        for each in sources[:_MOST_SOURCES]
    )


def shebang(path: str) -> str | None:
    """Return the interpreter that a file's first line names, without folder and version; None without one.

    `#!/usr/bin/env -S python3.12 -u` is `python`. None as well if the file cannot be read.
    """
    named = next((each for each in _shebang_words(path) if Path(each).name != "env"), "")
    return re.sub(r"[\d.]+$", "", Path(named).name) or None


def interpreter_path(path: str, environment: Mapping[str, str]) -> str:
    """Return the path of the interpreter that runs a script, or `path` itself where that is no script.

    It is the first word of `interpreter_command`.
    """
    return next(iter(interpreter_command(path, environment)), path)


def interpreter_command(path: str, environment: Mapping[str, str]) -> list[str]:
    """Return the command of a script's `#!` line: the interpreter, then its options.

    `env` is left out of that line, with its own options and the variables that it sets. An interpreter without a
    slash becomes its path if it is on the `PATH` of `environment`, and otherwise stays a name. The list is empty
    if the file `path` has no such line, names nothing in it but `env`, or cannot be read.
    """
    words = _first_line_words(path)
    if words and Path(words[0]).name == "env":
        # Its own options, and the variables that it sets.
        words = [*dropwhile(lambda each: each.startswith("-") or "=" in each, words[1:])]
    if words and "/" not in words[0]:
        words[0] = shutil.which(words[0], path=environment.get("PATH", os.defpath)) or words[0]
    return words


def _shebang_words(path: str) -> list[str]:
    """Return the words of a script's first line, without options and variables; empty: it is none."""
    return [
        each for each in _first_line_words(path) if not each.startswith("-") and "=" not in each
    ]


def _first_line_words(path: str) -> list[str]:
    """Return the words behind `#!` in a script's first line; empty: it is none."""
    line = _first_bytes(path).partition(b"\n")[0].decode("utf-8", "replace")
    return line[2:].split() if line.startswith("#!") else []


def holds(folder: str, names: Iterable[str]) -> bool:
    """Return whether a folder has anything that matches one of these glob patterns."""
    return any(next(foreign_files.matching(folder, name), None) for name in names)


def is_root() -> bool:
    """Return whether dapeer runs as root on Linux, where some programs behave otherwise then."""
    return sys.platform == "linux" and os.geteuid() == 0


def nearest_file(path: Path, names: Iterable[str]) -> Path | None:
    """Return the nearest file with one of these names, in a folder or those around it; None without one.

    `path` is the folder to begin with; in the same folder the first of `names` comes first.
    """
    folders = (path, *path.parents)
    files = (folder / name for folder in folders for name in names)
    return next((file for file in files if foreign_files.is_file(file)), None)


def _first_bytes(path: str) -> bytes:
    """Return the first `_HEADER_BYTES` of a file; empty if it cannot be read."""
    try:
        return foreign_files.read_bytes(path, _HEADER_BYTES)
    except OSError:
        return b""
