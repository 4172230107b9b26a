"""Tools that work on memory and machine code."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.sources import relative_to_project
from dapeer.base.text.lines import lines_of
from dapeer.dap.sent_requests import DisassembleArguments, ReadMemoryArguments, WriteMemoryArguments
from dapeer.dap.types import DisassembledInstruction, StackFrame
from dapeer.peers.consent_kinds import (
    EVALUATE,
    EXPRESSION,
    WRITE,
    ArgumentKinds,
    CallKinds,
    is_expression,
)
from dapeer.sessions.core.evaluating import ADDRESS, normalize_address
from dapeer.sessions.core.session import Session
from dapeer.tools.base.arguments import FrameId, SessionId, frame_of
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.evaluation import memory_reference
from dapeer.tools.base.tool import Section, tool
from dapeer.view.stacks import frame_path

ROW_BYTES = 16
"""Bytes in a row of a hex dump."""

Address = Annotated[str, Field(description="0x…, a pointer, or &variable")]


@tool("Read memory", section=Section.MEMORY, read_only=True, needs=["readMemory"])
async def dap_read_memory(
    call: Call,
    address: Address,
    count: Annotated[int, Field(ge=1, le=4096)] = 64,
    offset: int = 0,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Return `count` bytes of the program's memory as a hex dump.

    `address` is a number, a pointer or `&variable` in the frame `frame_id`; `offset` bytes are added to it. An
    address that is no number may be evaluated, which may run code of the program. The data has `address` (in
    hex, such as `0x1000`), `hex` (two digits a byte), and if not all could be read, `unreadable`: how many of
    the `count` bytes are missing at the end. The session becomes the client's default, unless it is of another
    program and no id is given.

    Raises:
        NoSession: There is no such session, or it is not clear which one is meant.
        ArgumentError: There is no such address or frame, or no byte there can be read.
        StaleReference: `frame_id` belongs to an earlier stop.
        ConsentNeeded: Only an evaluation finds the address, and nobody has consented to it.
        Unsupported: The adapter cannot read memory.
        NotStopped: The session is not stopped.
        DapeerError: The adapter rejects the request, or does not answer.
    """
    session = call.session(session_id)
    session.require("readMemory")
    place = await memory_reference(session, address, await frame_of(session, frame_id), call=call)
    start, content = await _read(session, place, offset, count)
    data: dict[str, Any] = {"address": f"{start:#x}", "hex": content.hex()}
    if len(content) == count:
        return Reply(dump(start, content), data)
    unread = count - len(content)
    if not content:
        raise ArgumentError(
            f"There is no readable memory at {start:#x}.", "Give another address or offset."
        )
    lines = f"{dump(start, content)}\n({unread} more bytes cannot be read)"
    return Reply(lines, {**data, "unreadable": unread})


async def _read(session: Session, place: str, offset: int, count: int) -> tuple[int, bytes]:
    """Send `readMemory` to the adapter; return the address from which it has read, and the bytes.

    `place` is the adapter's reference to memory; `offset` and `count` are bytes. There are fewer bytes where memory is not readable.
    """
    arguments = ReadMemoryArguments(memoryReference=place, offset=offset, count=count)
    body = await session.request("readMemory", arguments)
    content = base64.b64decode(str(body.get("data") or ""))
    return _number(str(body.get("address") or "0")), content


def _number(address: str) -> int:
    """Return an address as a number; 0 for one that only its adapter understands."""
    try:
        return int(address, 0)
    except ValueError:
        return 0


def dump(start: int, content: bytes) -> str:
    """Return bytes as a hex dump: rows of 16, each with its address and its text.

    `start` is the address of the first byte. A `*` stands for rows like the one before.

    >>> print(dump(0x1000, b"tea for two" + bytes(5)))
    0x1000: 74 65 61 20 66 6f 72 20 74 77 6f 00 00 00 00 00  tea for two.....
    """
    return "\n".join(_hex_lines(start, content))


def _hex_lines(start: int, content: bytes) -> Iterator[str]:
    """Yield the lines of a hex dump of bytes whose first address is `start`, `ROW_BYTES` bytes each.

    A line has the address in hexadecimal, the bytes, and their ASCII text, with `.` for what cannot be printed.
    Equal rows that follow each other are one line `*` after the first; the last row is always shown.
    """
    before, skipped = b"", False
    for at in range(0, len(content), ROW_BYTES):
        row = content[at : at + ROW_BYTES]
        if row == before and at + ROW_BYTES < len(content):
            if not skipped:
                yield "*"
            skipped = True
            continue
        before, skipped = row, False
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        # A last, shorter row is padded, so that the texts align.
        width = ROW_BYTES * 3 - 1 if at else 0
        yield f"{start + at:#x}: {row.hex(' '):<{width}}  {text}"


@tool(
    "Write memory",
    section=Section.MEMORY,
    kinds=CallKinds(WRITE, (ArgumentKinds("address", EVALUATE, EXPRESSION, is_expression),)),
    destructive=True,
    needs=["writeMemory"],
)
async def dap_write_memory(
    call: Call,
    address: Address,
    data: Annotated[str, Field(description="hex: 2a 00 ff")],
    offset: int = 0,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Write bytes into the program's memory.

    `data` has the bytes in hex, such as `2a 00 ff`. `address` is a number, a pointer or `&variable` in the
    frame `frame_id` (None: the frame shown first); what is no number may be evaluated, which may run an
    overloaded operator of the program. `offset` bytes are added to the address. `session_id` names the
    session (None: the default one). The data has `address`, where the bytes are now, and `written`, the number of
    bytes written: the adapter's, or all of them if the adapter does not say. If `address` leads to a reference
    that only the adapter understands, the data has that, and the `offset` beside it.

    Raises:
        ArgumentError: `data` is not hex or is empty, there is no such `frame_id`, or `address` names nothing
            that has an address.
        StaleReference: `frame_id` belongs to an earlier stop.
        Unsupported: The adapter cannot write memory, or the session is on a core dump.
        NotStopped: The session is not stopped.
        NoSession: There is no such session, or without an id it is not clear which one is meant.
        DapeerError: The adapter rejects the request, or does not answer.
    """
    session = call.session(session_id)
    session.require("writeMemory")
    content = _bytes(data)
    place = await memory_reference(session, address, await frame_of(session, frame_id))
    arguments: WriteMemoryArguments = {
        "memoryReference": place,
        "offset": offset,
        "data": base64.b64encode(content).decode(),
    }
    body = await session.request("writeMemory", arguments)
    written = body.get("bytesWritten")
    count = written if isinstance(written, int) else len(content)
    what = "1 byte" if count == 1 else f"{count} bytes"
    shown = f"{address} {'-' if offset < 0 else '+'} {abs(offset)}" if offset else address
    return Reply(f"Wrote {what} at {shown}.", {**_place(place, offset), "written": count})


def _place(reference: str, offset: int) -> dict[str, Any]:
    """Return where `offset` bytes behind an adapter's reference to memory are, as data.

    That is one `address` if the reference is a number, else the reference and the offset.

    >>> _place("0x001000", 16), _place("object-7", 16), _place("object-7", 0)
    ({'address': '0x1010'}, {'address': 'object-7', 'offset': 16}, {'address': 'object-7'})
    """
    if ADDRESS.fullmatch(reference):
        return {"address": f"{int(reference, 16) + offset:#x}"}
    return {"address": reference, **({"offset": offset} if offset else {})}


def _bytes(text: str) -> bytes:
    """Return the bytes that a text such as `2a 00 ff` writes in hex, two digits for each.

    White space between bytes may be left out. One `0x` may stand at the very beginning of the text.

    Raises:
        ArgumentError: The text is anything else, or has no byte.
    """
    try:
        content = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        content = b""
    if not content:
        raise ArgumentError(f"`data`: {text[:40]!r} is not hex.", "Write bytes as 2a 00 ff.")
    return content


@tool("Disassemble", section=Section.MEMORY, read_only=True, needs=["disassemble"])
async def dap_disassemble(
    call: Call,
    address: Annotated[str | None, Field(description="default: the frame's address")] = None,
    before: Annotated[int, Field(ge=0, le=100)] = 0,
    count: Annotated[int, Field(ge=1, le=200)] = 20,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Return machine instructions with their source lines, `before` of them before the address.

    `address` is a number, a pointer or `&variable` in the frame `frame_id`; by default it is where that frame
    is. `count` instructions are returned from there on. The data has `instructions`, each with `address` and
    `instruction`, and maybe `symbol`, `file`, `line` and `current`; `instructions` is empty if the adapter
    gives none. A line says if the instructions before the address cannot be had.

    Raises:
        ArgumentError: There is no such address or frame, or the adapter does not report the frame's address.
        ConsentNeeded: Only an evaluation finds the address.
        Unsupported: The adapter cannot disassemble.
        NotStopped: The session is not stopped.
        StaleReference: `frame_id` belongs to an earlier stop.
        DapeerError: There is no such session, or the adapter rejects a request or does not answer.
    """
    session = call.session(session_id)
    session.require("disassemble")
    frame = await frame_of(session, frame_id)
    known = _frame(session, frame)
    here = known and known.get("instructionPointerReference")
    place = here if address is None else await memory_reference(session, address, frame, call=call)
    if place is None:
        raise ArgumentError(
            "The adapter does not report the frame's address.", "Give an `address`."
        )
    instructions = await _disassemble(session, place, before, count)
    notes: list[str] = []
    if before and [
        normalize_address(each["address"]) for each in instructions[before : before + 1]
    ] != [normalize_address(place)]:
        # gdb 18 counts a negative offset from the end of the disassembled code.
        instructions = await _disassemble(session, place, 0, count)
        notes = ["(the adapter does not disassemble the code before)"]
    # CodeLLDB leaves out the file of the first.
    path = frame_path(known) if known and address is None else ""
    rows = _instructions(instructions, here, path)
    lines = [*_instruction_lines(rows, call.debugger.project), *notes]
    return Reply(lines_of(lines) or "No instructions.", {"instructions": rows})


async def _disassemble(
    session: Session, place: str, before: int, count: int
) -> Sequence[DisassembledInstruction]:
    """Send `disassemble` to the adapter; return the instructions around a place in memory.

    There are `before` ones ahead of the place and `count` from it; the list is as the adapter answers, empty if it has none. `place` is the
    adapter's reference to memory.

    Raises:
        DapeerError: The adapter rejects the request, or does not answer.
    """
    arguments: DisassembleArguments = {
        "memoryReference": place,
        "instructionOffset": -before,
        "instructionCount": count + before,
        "resolveSymbols": True,
    }
    body = await session.request("disassemble", arguments)
    return body.get("instructions") or []


def _frame(session: Session, frame: int | None) -> StackFrame | None:
    """Return the frame with this adapter's id at the present stop; None: `frame` is None, or not known."""
    return session.mirror.require_stop().stack.frame(frame)


def _instructions(
    disassembled: Sequence[DisassembledInstruction], here: str | None, path: str
) -> list[dict[str, Any]]:
    """Return instructions as data: `address`, `instruction`, and what else is known of each.

    That is `symbol`, `file`, `line` and `current`; what is empty is left out, and file and line appear only
    together. Addresses get one form (`normalize_address`), and white space in an instruction becomes single
    spaces. An instruction without a source line, or without a file, has that of the one before. `here` is the
    address of the frame's instruction, which alone is marked by `current`; None: there is none. `path` is the
    file of the first instructions if the adapter leaves it out. `disassembled` are the instructions as the
    adapter sends them.
    """
    rows: list[dict[str, Any]] = []
    line = None
    for each in disassembled:
        path = str(each.get("location", {}).get("path") or path)
        line = each.get("line", line)
        facts = {
            "address": normalize_address(each["address"]),
            "instruction": " ".join(each["instruction"].split()),
            "symbol": each.get("symbol"),
            "file": path if line else "",
            "line": line if path else None,
            "current": here is not None
            and normalize_address(each["address"]) == normalize_address(here),
        }
        rows.append({name: fact for name, fact in facts.items() if fact})
    return rows


def _instruction_lines(rows: Sequence[Mapping[str, Any]], project: Path) -> Iterator[str]:
    """Yield a line for each instruction, below headings with their functions and source lines.

    `rows` are data as `_instructions` makes them. A heading such as `At f a.c:3` comes where the function or the
    source line changes; what is not known is left out of it, but an instruction without a function counts to the
    function above. The current instruction begins with `→`. Paths are shown relative to `project`.
    """
    heading = ("", "")
    for row in rows:
        # gdb names a function at its start only, others with each instruction and its offset.
        function = _OFFSET.sub("", row.get("symbol", "")) or heading[0]
        place = (
            f"{relative_to_project(row['file'], project)}:{row['line']}" if "line" in row else ""
        )
        if heading != (function, place):
            heading = (function, place)
            yield " ".join(filter(None, ("At", function, place)))
        mark = "→" if "current" in row else " "
        yield f"{mark} {row['address']} {row['instruction']}"


_OFFSET = re.compile(r"\s*\+\s*\d+$")
