"""What a program does while rows are collected from it: values that want to be asked, floods, many processes."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from tests.e2e.collecting import collect, files, parsed
from tests.harness import ask, client, read
from tests.processes import LIMIT
from tests.programs import program
from tests.pythons import python_of, versions

P = program("withstands.py")
PROCESSES = program("processes.py")
LOOP = program("collecting_loop.py")
SECONDS_FOR_MILLIONS = 180
in_all = versions("3.8", "3.12", "3.13")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.rows"))


@in_all
async def test_no_code_of_a_value_runs_and_expressions_that_fail_or_come_back_fill_their_cells(
    version: str,
) -> None:
    points = [
        P.at("hostile", collect=["one", "number", "text", "items", "mapping", "error", "kind", "inside"]),
        P.at("again", collect=["again(number)", "'x' * 10**15", "1 << 10**5"]),
        P.at("down", collect=["depth"]),
    ]  # fmt: skip
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(P), breakpoints=points, python=python)
    rows = "\n".join(end["collected"])
    assert end["output"] == "ran []\nleft True\n"
    for shown in ("one = <Hostile>", "number = <Number: 3>", "kind = <class __main__.Hostile>"):
        assert shown in rows
    assert "inside = {'key': [<Hostile>, <Failed: args=(<Hostile>,)>]}" in rows
    line = P.source.read_text().splitlines().index("    again(i)") + 1
    # The call in the expression is no row.
    assert f":{P.line('again')} from <module> withstands.py:{line}: 3 rows, tracer" in rows
    assert "'x' * 10**15 = (MemoryError), 1 << 10**5 = 99900209301438450794… (30103 digits)" in rows
    assert "#3 again(number) = 3" in rows


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that replaces programs")
async def test_every_process_of_a_program_in_a_terminal_is_collected_from() -> None:
    points = [PROCESSES.at("called", collect=["doubled"])]
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=str(PROCESSES), breakpoints=points, terminal=True)
    assert end["output"].endswith("over\n")
    # Rows of several processes are one list in the order of time, with the pauses between them.
    told = [
        row[1] for line in end["collected"] if (row := re.match(r"  #.* doubled = (\d+)\b", line))
    ]
    assert sorted(told) == ["10", "2", "4", "6", "8"]
    # Before and after the program was replaced.
    assert told.index("2") < told.index("8") < told.index("10")


@pytest.mark.real
async def test_ten_million_hits_are_told_in_one_answer_with_the_first_the_last_and_what_was_dropped(
    tmp_path: Path,
) -> None:
    (tmp_path / "flood.py").write_text(
        "total = 0\nfor i in range(10_000_000):\n    total += i\nprint(total)\n"
    )
    points = [{"filename": "flood.py", "line": 3, "collect": ["i", "total"]}]
    async with asyncio.timeout(SECONDS_FOR_MILLIONS), client(tmp_path) as c:
        end = await read(
            c,
            "dap_run",
            program="flood.py",
            breakpoints=points,
            timeout_ms=SECONDS_FOR_MILLIONS * 1000,
        )
    told = re.search(r"flood.py:3: ([\d,]+) rows, 10,000,000 hits, ([\d,]+) rows dropped", end)
    assert told, end
    kept, dropped = (int(each.replace(",", "")) for each in told.groups())
    assert kept + dropped == 10_000_000
    assert "  #1 i = 0, total = 0\n" in end
    assert "  #10000000 i = 9999999, total = 49999985000001\n" in end
    assert end.endswith("49999995000000")


@in_all
async def test_a_flood_keeps_its_first_and_last_rows_in_bounded_room_and_counts_the_others(
    tmp_path: Path, version: str
) -> None:
    place: dict[str, object] = {"file": str(LOOP.source), "line": LOOP.line("tight")}
    python = python_of(version)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(
            c,
            "dap_run",
            program=str(LOOP),
            breakpoints=[LOOP.at("gate"), LOOP.at("took")],
            python=python,
        )
        await ask(c, "dap_evaluate", expression="globals().update(ROUNDS=400_000)", context="repl")
        await collect(c, tmp_path, {**place, "collect": ["i", "x"]}, chunks=10)
        await ask(c, "dap_continue")
        (written,) = files(tmp_path)
    assert size(tmp_path) < 11 << 20
    hits = [row.hit for row in parsed(written)]
    assert (hits[:1000], hits[-1000:]) == (list(range(1, 1001)), list(range(399_001, 400_001)))
    assert written.lost_rows == 0
    assert written.dropped == 400_000 - len(hits) > 50_000
