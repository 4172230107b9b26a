"""What a file's first bytes tell about the program in it."""

from __future__ import annotations

import re
from pathlib import Path

_ENOUGH = 256

# ELF, and Mach-O: 32 and 64 bit of either byte order, and universal.
_BINARY = (
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
)


def is_binary(path: str) -> bool:
    """Whether the file is a compiled program for Linux or macOS; False when it cannot be read."""
    return _first_bytes(path).startswith(_BINARY)


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


def _first_bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_ENOUGH)
    except OSError:
        return b""
