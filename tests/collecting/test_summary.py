"""What collected rows look like: the odd one shows, whatever lies around it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.text.timeline import news_lines

PROJECT = Path("/p")


def told(
    expressions: list[str], cells: list[tuple[object, ...]], *, callers: str = ""
) -> list[str]:
    """Return the section of rows that one process has collected."""
    collected = Collected()
    collected.ensure_point(expressions, path="/p/shop.py", line=12)
    rows = [
        "\t".join(map(str, (1, hit, hit / 1e6, "MainThread", "", callers, *each)))
        for hit, each in enumerate(cells, 1)
    ]
    collected.add_part(1, BlockPart.of_text("".join(f"{row}\n" for row in rows)), "tracer")
    return news_lines(collected.collections.values(), PROJECT)


def test_of_a_flood_it_is_told_how_fast_it_came_and_where_rows_were_dropped() -> None:
    collected = Collected()
    collected.ensure_point(["i", "x"], path="/p/shop.py", line=12)
    for hit in (*range(1, 601), *range(99_401, 100_001)):
        row = f"1\t{hit}\t{hit}000e-9\tMainThread\t\t\t{hit}\t{hit * 2 + 9}\n"
        collected.add_part(1, BlockPart.of_text(row), "tracer")
    assert news_lines(collected.collections.values(), PROJECT) == [
        "shop.py:12: 1,200 rows, 100,000 hits, 98,800 rows dropped, tracer 1,000,000 a second",
        "  i: 1…100,000; mostly each +1",
        "  x: 11…200,009; mostly each +2",
        "  #1 i = 1, x = 11",
        "  #2…99999 alike, 98,800 of them dropped",
        "  #100000 i = 100000, x = 200009",
    ]


def test_of_several_processes_each_is_named() -> None:
    collected = Collected()
    collected.ensure_point(["x"], path="/p/shop.py", line=12)
    for process in (1, 4):
        row = f"1\t1\t1\tMainThread\t\t\t{process}\n"
        collected.add_part(process, BlockPart.of_text(row), "tracer")
    assert news_lines(collected.collections.values(), PROJECT) == [
        "shop.py:12 in process 1: 1 row, tracer",
        "shop.py:12 in process 4: 1 row, tracer",
        "  #1 [process 1] shop.py:12 x = 1",
        "  #2 [process 4] shop.py:12 x = 4",
    ]


def test_alike_rows_are_folded_and_what_never_changes_is_told_once() -> None:
    lines = told(["total", "qty", "sum"], [(i * 10, 2, i * 10) for i in range(300)])
    assert lines == [
        "shop.py:12: 300 rows, tracer",
        "  always qty = 2",
        "  sum same as total",
        "  total: 0…2,990; each +10",
        "  #1 total = 0",
        "  #2…299 alike",
        "  #300 total = 2990",
    ]


CASES: list[tuple[Callable[[int], object], str, str]] = [
    (lambda i: i, "None", "the only None"),
    (lambda i: i * 0.5 + 1, "nan", "the only nan"),
    (lambda i: i % 7 + 1, "-3", "the only negative whole"),
    (lambda i: i % 7 + 1, "2.5", "the only fraction"),
    (lambda i: i * 37 % 101 + 1, "1000000", "far from the others"),
    (lambda i: f"'order-{i}'", "'order_x'", "the only text like 'a_a'"),
    (lambda i: f"'{i}'", "''", "the only empty text"),
    (lambda i: f"Cart(total={i})", "<Basket object>", "the only Basket"),
    (lambda i: f"[{i}]", "[]", "the only empty list"),
    (lambda i: "'paid'" if i % 3 else "'sent'", "'lost'", "the only 'lost'"),
    (lambda i: i, "\x15KeyError: 'a'", "the only error KeyError"),
]


@pytest.mark.parametrize(("usual", "odd", "why"), CASES)
def test_the_odd_one_shows(usual: Callable[[int], object], odd: str, why: str) -> None:
    cells: list[tuple[object, ...]] = [(usual(i),) for i in range(300)]
    cells[211] = (odd,)
    lines = told(["value"], cells)
    shown = [each for each in lines if each.startswith("  #212 ")]
    assert len(shown) == 1, lines
    assert f"← value {why}" in shown[0], lines
    assert len(lines) < 16, lines


def test_a_sequence_that_breaks_shows_where() -> None:
    lines = told(["n"], [(i if i < 90 else i - 50,) for i in range(100)])
    assert "  #91 n = 40  ← n -49" in lines
    assert "  n: 0…89; mostly each +1" in lines


def test_a_few_rows_are_shown_as_they_are() -> None:
    lines = told(["a", "b"], [(1, "\x15NameError: b"), (2, "3")], callers="main shop.py:30")
    assert lines == [
        "shop.py:12 from main shop.py:30: 2 rows, tracer",
        "  #1 a = 1, b = (NameError: b)",
        "  #2 a = 2, b = 3",
    ]


def test_a_long_value_takes_the_room_that_short_ones_leave() -> None:
    ledger = "{'tea': Decimal('2'), 'cup': Decimal('5.5'), 'pot': Decimal('19.95')}"
    lines = told(["item", "ledger", "total"], [("'pot'", ledger, "9.5"), ("'mug'", "{}", "0")])
    assert lines[1] == f"  #1 item = 'pot', ledger = {ledger}, total = 9.5"


@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.integers().map(str),
                st.floats().map(str),
                st.sampled_from(["None", "True", "''", "[]", "\x15oops", "9" * 400, "1e999", "²"]),
                st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])),
            ),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=60,
    )
)
def test_whatever_is_collected_is_told_within_bounds(cells: list[tuple[str, int]]) -> None:
    lines = told(["a", "b"], [*cells])
    assert len(lines) < 32
    assert all(len(line) < 500 for line in lines)
    assert any(line.startswith("  #1") for line in lines)
