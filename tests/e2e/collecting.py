"""What the collector in a Python program is told, and what it has written."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client

from dapeer.base.json_types import Json
from dapeer.collecting.rows.row_blocks import BlockPart, RowFileContents, read_row_file
from dapeer.collecting.rows.table import CollectedRow
from tests.harness import ask

COLLECT = "__import__('dapeer_debuggee.collecting.collecting', fromlist=['_']).collect({!r})"


async def collect(c: Client, folder: Path, *points: dict[str, object], **more: object) -> Json:
    """Have a stopped program collect at some points, numbered from 1; return what it answers."""
    numbered = [{"id": number, **point} for number, point in enumerate(points, 1)]
    spec = json.dumps({"folder": str(folder), "points": numbered, **more})
    result = (await ask(c, "dap_evaluate", expression=COLLECT.format(spec), context="repl"))[
        "result"
    ]
    told: Any = json.loads(ast.literal_eval(result))
    return told


def files(folder: Path) -> list[RowFileContents]:
    """Return what each process has written."""
    return [read_row_file(path.read_bytes()) for path in sorted(folder.glob("*.rows"))]


def rows(folder: Path) -> list[CollectedRow]:
    """Return the rows of the only process."""
    (written,) = files(folder)
    return parsed(written)


def parsed(written: RowFileContents) -> list[CollectedRow]:
    """Return the rows of a file, oldest first."""
    return [row for part in written.parts for _, row in sorted(numbered(part))]


def numbered(part: BlockPart) -> Iterator[tuple[int, CollectedRow]]:
    """Yield rows with their numbers."""
    for number, line in zip(part.order, part.text.splitlines(), strict=True):
        point, hit, seconds, thread, task, caller, *cells = line.split("\t")
        head = int(point), int(hit), float(seconds), thread, task, caller
        yield number, CollectedRow(*head, tuple(cells))
    for point, table in part.tables:
        rows = (table.row(index, point) for index in range(len(table)))
        yield from zip(table.order, rows, strict=True)


def cells(folder: Path, point: int = 1) -> list[tuple[str, ...]]:
    """Return the cells of a point's rows."""
    return [row.cells for row in rows(folder) if row.point == point]
