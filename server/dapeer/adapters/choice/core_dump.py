"""What a core dump says about its program: which one, and which signal ended it. Only files are read."""

from __future__ import annotations

import signal
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dapeer.base.errors import ArgumentError
from dapeer.base.system import foreign_files
from dapeer.base.system.program_files import is_binary

# ELF, 64 bit, little-endian: see elf(5) and core(5).
_HEADER = struct.Struct("<4s12xHHIQQQIHHH6x")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_NOTE = struct.Struct("<III")
_CORE, _NOTES = 4, 4
_PRSTATUS, _PRPSINFO, _SIGINFO, _FILE = 1, 3, 0x53494749, 0x46494C45
_NAME = slice(40, 56)
"""Where NT_PRPSINFO has the program's name, cut to 15 bytes."""
_WITH_ADDRESS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
_MOST_NOTES = 1 << 26
"""Bytes of notes that are read; each thread has about 4,000."""


@dataclass(frozen=True, slots=True)
class CoreDump:
    """A core dump."""

    path: str
    program: str = ""
    """The executable, if the dump names it."""
    cause: str = ""
    """The signal, with the address that it is about: `SIGSEGV at address 0x0`."""


def read_core(path: str) -> CoreDump:
    """Return what a core dump says: of 64-bit Linux its program and signal, of others only that it is one.

    `path` is the file's, which is read. What the dump does not say is an empty text, and so is the program if
    its file is there no more. Only little-endian ELF files count as core dumps.

    Raises:
        ArgumentError: The file cannot be read, or is no such core dump.
    """
    try:
        with foreign_files.open_file(path) as file:
            notes = list(_notes(file))
    except (OSError, struct.error, ValueError) as error:
        reason = foreign_files.why_no_file(path) or f"cannot be read: {error}"
        raise ArgumentError(f"`core`: {path} {reason}.", _HINT) from error
    if notes and notes[0] is None:
        raise ArgumentError(f"`core`: {path} is not a core dump.", _HINT)
    known = [note for note in notes if note is not None]
    return CoreDump(path, _program(known), _deadly_signal(known))


_HINT = "Give the file that the system has written; `coredumpctl dump -o FILE PID` gets one from systemd."


def _notes(file: BinaryIO) -> Iterator[tuple[int, bytes] | None]:
    """Yield type and content of each note of an ELF core dump; only None if the file is no core dump.

    `file` is read from its present position, which must be its beginning. Nothing is yielded of a little-endian core
    dump of 32 bits; a big-endian one is taken for none, which yields None. Of each segment of notes the first
    `_MOST_NOTES` bytes count.

    Raises:
        struct.error: The file ends within its table of segments.
        ValueError: A place in the table of segments is beyond any file.
        OSError: The file cannot be read.
    """
    first = file.read(_HEADER.size)
    is_elf = first.startswith(b"\x7fELF") and len(first) == _HEADER.size
    if not is_elf or struct.unpack_from("<H", first, 16)[0] != _CORE:
        yield None
        return
    if first[4:6] != b"\x02\x01":
        return
    *_, offset, _, _, _, size, count = _HEADER.unpack(first)
    for number in range(count):
        file.seek(offset + number * size)
        kind, _, start, _, _, length, *_ = _SEGMENT.unpack(file.read(_SEGMENT.size))
        if kind == _NOTES:
            file.seek(start)
            yield from _notes_in_segment(file.read(min(length, _MOST_NOTES)))


def _notes_in_segment(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of each note in a segment's data; the names of notes are skipped.

    Of a content that is cut at the end of `data`, what is there is yielded, maybe nothing (`b""`). A note
    whose header is cut is left out.
    """
    at = 0
    while at + _NOTE.size <= len(data):
        name, length, kind = _NOTE.unpack_from(data, at)
        at += _NOTE.size + _aligned(name)
        yield kind, data[at : at + length]
        at += _aligned(length)


def _aligned(size: int) -> int:
    return -(-size // 4) * 4


def _program(notes: list[tuple[int, bytes]]) -> str:
    """Return the mapped file that has the program's name, or else the first of all.

    The first one lies at the lowest address, as a program does. The result is empty if the file is there no more, or is
    no executable.
    """
    name = next((_text(each[_NAME]) for kind, each in notes if kind == _PRPSINFO), "")
    mapped = next((_files(each) for kind, each in notes if kind == _FILE), list[str]())
    named = [path for path in mapped if name and Path(path).name[:15] == name]
    return next((path for path in named or mapped[:1] if is_binary(path)), "")


def _files(content: bytes) -> list[str]:
    """Return the paths in the content of an NT_FILE note."""
    count = int.from_bytes(content[:8], "little")
    return [_text(name) for name in content[16 + 24 * count :].split(b"\0")]


def _deadly_signal(notes: list[tuple[int, bytes]]) -> str:
    """Return the signal that killed the program, maybe with an address; empty if it is not known.

    The text is the signal's name (`SIGABRT`); for an error at an address it is `SIGSEGV at address 0x10`. The first
    thread's signal counts: that thread was hit. Where it has none, the note `_SIGINFO` tells the signal; from that
    note is the address, too. `notes` are the core dump's, in its order, as pairs of type and content.
    """
    number = next((_integer(each, 0) for kind, each in notes if kind == _PRSTATUS), 0)
    about = next((each for kind, each in notes if kind == _SIGINFO), b"")
    number = number or _integer(about, 0)
    try:
        name = signal.Signals(number).name
    except ValueError:
        return ""
    address = int.from_bytes(about[16:24], "little")
    return f"{name} at address {address:#x}" if about and number in _WITH_ADDRESS else name


def _integer(content: bytes, index: int) -> int:
    return int.from_bytes(content[index : index + 4], "little")


def _text(content: bytes) -> str:
    return content.partition(b"\0")[0].decode("utf-8", "surrogateescape")
