import asyncio
from collections.abc import Mapping

import pytest

from tests.neovim.editor import NVIM_DAP
from tests.processes import LIMIT
from tools.bench.__main__ import run
from tools.bench.contestants import CONTESTANTS, Dapeer
from tools.bench.peers import ROWS, Contest, table
from tools.bench.rows import Aim, Row
from tools.bench.statistics import Samples
from tools.bench.subjects import ALONE, NOOP, OURS, QUICK, RAW, RELAY, STOCK
from tools.bench.table import markdown, plain

EVERYBODY = {OURS, RAW, STOCK, NOOP}
READ = (
    "tool list, as a model reads it",
    "server instructions",
    "first stop, text",
    "first stop, structured",
    "stop after a step, text",
    "stop after a step, structured",
    "calls from nothing to stack and locals",
    "DAP requests of the four looks",
)
"""What does not depend on the machine: a model has to read it, or to ask for it."""
MEASURED: Mapping[str, set[str]] = {
    "look: dap_stacktrace": EVERYBODY | {RELAY},
    "look: dap_variables": EVERYBODY | {RELAY},
    "look: dap_snapshot": EVERYBODY | {RELAY},
    "look: dap_current_location": EVERYBODY | {RELAY},
    "dap_evaluate": EVERYBODY | {RELAY},
    "dap_evaluate, 250 ms idle": EVERYBODY | {RELAY},
    "step to stop; ours with stack, locals": EVERYBODY,
    "step + stack + locals": EVERYBODY | {RELAY},
    "step + stack + locals, 250 ms idle": EVERYBODY | {RELAY},
    "start to first stop": {OURS, RAW, STOCK},
    "print 1,000 lines and end": {OURS, RAW},
    "server start to tools listed": {OURS, NOOP},
    "the same, by MCP 2026-07-28": {OURS},
    "the same, joining a server": {OURS},
    "first call, which loads the server": {OURS},
    "server's peak memory, idle": {OURS, NOOP},
    "server's peak memory, after a story": {OURS},
    "server's peak memory, after 1,000 lines": {OURS},
    **{name: {OURS} for name in READ},
}
MIRRORED = ("dap_variables", "dap_snapshot", "dap_evaluate", "step + stack + locals")
MEASURED_IN_NEOVIM: Mapping[str, set[str]] = {
    **{f"mirrored: {what}": {OURS, RAW, NOOP} for what in MIRRORED},
    **{f"by listeners: {what}": {OURS, RAW, NOOP} for what in MIRRORED},
    **{
        f"{how}: {what}": {OURS, RAW, NOOP, RELAY, ALONE}
        for how in ("mirrored", "by listeners")
        for what in MIRRORED[2:]
    },
    **{f"waits for a key: {what}": {OURS, RAW, NOOP} for what in MIRRORED},
    "stock debugpy: step + stack + locals": {OURS, ALONE},
    "main thread: the person steps": {OURS, ALONE},
    "main thread: the person steps, by listeners": {OURS, ALONE},
    "main thread: dap_step_over": {OURS, ALONE},
    "main thread: dap_evaluate": {OURS, ALONE},
    "main thread: dap_snapshot": {OURS, ALONE},
    "a key's effect": {OURS, ALONE},
    "a key's effect, tools called in a loop": {OURS, ALONE},
}


@pytest.mark.real
async def test_a_quick_benchmark_fills_every_row_and_what_a_model_reads_is_short() -> None:
    """Pitfall 1: the row "DAP requests of the four looks" is 0."""
    async with asyncio.timeout(2 * LIMIT):
        found = await run(QUICK)
    rows = [*found.general, *found.neovim]
    measured = {**MEASURED, **(MEASURED_IN_NEOVIM if NVIM_DAP else {})}
    assert {row.name: set(row.values) for row in rows} == measured
    assert [row.name for row in rows if row.ours <= 0] == ["DAP requests of the four looks"]
    read = [row for row in rows if row.name in READ]
    assert [(row.name, row.ours) for row in read if not all(map(row.met, row.aims))] == []
    for text in (plain(rows), markdown(rows)):
        assert [name for name in measured if name not in text] == []


def test_who_takes_part_in_no_row_has_no_column() -> None:
    alone = Row("a key's effect", "ms", {OURS: Samples([2]), ALONE: Samples([1])})
    head, _, line = markdown([alone]).splitlines()
    assert head == "|  | unit | dapeer | Neovim alone | aim |"
    assert line == "| a key's effect | ms | 2 | 1 |  |"


def test_an_aim_is_met_up_to_its_limit() -> None:
    row = Row("speed", "ms", {OURS: Samples([1, 2, 3])}, (Aim("≤ 2", 2), Aim("≤ 1", 1)))
    assert [row.met(aim) for aim in row.aims] == [True, False]
    assert plain([row]).endswith("≤ 2: met, ≤ 1: NOT MET, 2.00 of it")


def test_a_peer_that_cannot_be_installed_is_named_with_the_reason_below_the_table() -> None:
    found = Contest(missing={kind.name: "needs npm" for kind in CONTESTANTS if kind is not Dapeer})
    for row in ROWS:
        found.measured.add(row, Dapeer.name, 2)
    head, *_, last = table(found).splitlines()
    assert head == "|  | dapeer |"
    assert last == f"{CONTESTANTS[-1].name} did not take part: needs npm."
