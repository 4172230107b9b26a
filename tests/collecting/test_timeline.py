"""Rows of several places, processes and threads as one list, and what did not hold as expected."""

from pathlib import Path

import pytest

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.text.row_listing import RowSelection, listing
from dapeer.collecting.text.timeline import news_lines, timeline
from tests.collecting.conftest import every

PROJECT = Path("/p")
LONG = "order.customer.address.lines[0].number"


def collected(*rows: tuple[int, int, float, str, str, str]) -> Collected:
    """Return rows: process, point, seconds, thread, task, cell."""
    made = Collected()
    made.ensure_point(["paid"], path="/p/shop.py", line=12)
    made.ensure_point([LONG], path="/p/shop.py", line=20)
    for number, (process, point, seconds, thread, task, cell) in enumerate(rows):
        line = f"{point}\t{number + 1}\t{seconds}\t{thread}\t{task}\tmain shop.py:9\t{cell}\n"
        made.add_part(process, BlockPart.of_text(line), "tracer", started=100.0 * process)
    return made


def told(made: Collected, chosen: slice = slice(None)) -> list[str]:
    rows = [(each, range(len(each.table))) for each in made.collections.values()]
    return timeline(rows, PROJECT, chosen)


def test_rows_of_several_places_are_one_list_with_place_and_thread_or_task() -> None:
    made = collected(
        (1, 1, 0.1, "a", "", "1"), (1, 2, 0.4, "b", "", "2"), (1, 1, 0.2, "main", "Task-1", "3"),
    )  # fmt: skip
    assert told(made) == [
        "3 rows in order",
        "#1 [a] shop.py:12 paid = 1",
        "#2 [Task-1] shop.py:12 paid = 3 (0.1 s later)",
        f"#3 [b] shop.py:20 {LONG} = 2 (0.2 s later)",
    ]
    assert told(made, slice(1, 2)) == [
        "3 rows in order", "#2 [Task-1] shop.py:12 paid = 3",
    ]  # fmt: skip


def test_a_few_new_rows_of_several_places_are_told_in_one_order_and_many_by_place() -> None:
    made = collected(*((1, 1 + n % 2, n / 1e6, "m", "", str(n)) for n in range(4)))
    every = made.collections.values()
    assert [line.partition(",")[0] for line in news_lines(every, PROJECT)] == [
        "shop.py:12: 2 rows",
        "shop.py:20: 2 rows",
        f"shop.py:20: c1 is {LONG}",
        "  #1 shop.py:12 paid = 0",
        "  #2 shop.py:20 c1 = 1",
        "  #3 shop.py:12 paid = 2",
        "  #4 shop.py:20 c1 = 3",
    ]
    for each in every:
        each.mark_reported("me")
    for number in (1, 2, 1):
        row = f"{number}\t9\t0.5\tm\t\tmain shop.py:9\t7\n"
        made.add_part(1, BlockPart.of_text(row), "tracer", started=100.0)
    assert news_lines(every, PROJECT, "me")[-3:] == [
        "  #5 shop.py:12 paid = 7", "  #6 shop.py:20 c1 = 7", "  #7 shop.py:12 paid = 7",
    ]  # fmt: skip
    many = collected(*((1, 1 + n % 2, n / 1e6, "m", "", "7") for n in range(200)))
    lines = news_lines(many.collections.values(), PROJECT)
    assert lines[-1] == "all in one order: dap_collected(timeline=true)"


def test_rows_of_several_processes_are_in_the_order_of_the_clock() -> None:
    made = collected((2, 1, 0.1, "m", "", "1"), (1, 1, 100.05, "m", "", "2"))
    assert [line.partition(" (")[0] for line in told(made)[1:]] == [
        "#1 [process 1] shop.py:12 paid = 2", "#2 [process 2] shop.py:12 paid = 1",
    ]  # fmt: skip


def test_of_many_rows_the_ends_and_those_around_the_odd_one_are_shown() -> None:
    rows = [(1, 1 + n % 2, n / 1e6, "m", "", "None" if n == 81 else "7") for n in range(200)]
    lines = told(collected(*rows))
    assert f"shop.py:20: c1 is {LONG}" in lines
    assert "#82 shop.py:20 c1 = None  ← c1 the only None" in lines
    assert "… #6-79" in lines
    assert len(lines) < 24


def test_what_did_not_hold_is_told_with_the_row_before_it() -> None:
    made = Collected()
    made.ensure_point(["paid", "not not (paid > 0)"], path="/p/shop.py", line=12, expect="paid > 0")
    for hit, paid in enumerate((3, 2, 0), 1):
        row = f"1\t{hit}\t{hit}\tMainThread\t\t\t{paid}\t{paid > 0}\n"
        made.add_part(1, BlockPart.of_text(row), "tracer")
    assert news_lines(made.collections.values(), PROJECT)[1:] == [
        "  #2 paid = 2",
        "  #3 paid = 0  ← not (paid > 0)",
    ]
    (of,) = made.collections.values()
    of.mark_reported("")
    made.add_part(1, BlockPart.of_text("1\t4\t4\tMainThread\t\t\t1\tTrue\n"), "tracer")
    assert news_lines(made.collections.values(), PROJECT)[1:] == ["  `paid > 0` held each time"]


@pytest.mark.parametrize(("rows", "whole"), [("1", True), ("1-2", False)])
def test_a_value_is_whole_where_one_row_is_asked_for(rows: str, *, whole: bool) -> None:
    text = f"[{', '.join(map(str, range(100)))}]"
    made = collected((1, 1, 0.1, "m", "", text), (1, 1, 0.2, "m", "", "[]"))
    (of,) = made.collections.values()
    lines = listing(of.table, of.point.columns, RowSelection(rows), search=every)
    assert any(text in line for line in lines) == whole
