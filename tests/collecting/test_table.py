"""Rows that a process has written: what is no row costs nothing but itself."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.rows.table import CollectedRow, Table, lines_by_point

CELL = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), max_size=8)


def rows(width: int) -> st.SearchStrategy[CollectedRow]:
    cells = st.tuples(*[CELL] * width)
    seconds = st.integers(0, 10**9).map(lambda micro: micro / 1e6)
    return st.builds(
        CollectedRow, st.just(1), st.integers(1, 10**9), seconds, CELL, CELL, CELL, cells
    )


def line(row: CollectedRow) -> str:
    head = (row.point, row.hit, f"{row.seconds:.6f}", row.thread, row.task, row.caller)
    return "\t".join(map(str, (*head, *row.cells)))


WIDTHS = st.integers(1, 4)


@given(WIDTHS.flatmap(lambda width: st.tuples(st.just(width), st.lists(rows(width), max_size=9))))
def test_what_was_written_is_read(written: tuple[int, list[CollectedRow]]) -> None:
    width, every = written
    table = Table(width)
    lines = "".join(f"{line(each)}\n" for each in every)
    for text, order in lines_by_point(lines, range(len(every))).values():
        assert table.extend(text, order) == 0
    assert [table.row(index, 1) for index in range(len(table))] == every
    assert table.order == list(range(len(every)))


@given(st.lists(rows(2), max_size=9), st.lists(st.text(max_size=20), max_size=9), st.randoms())
def test_lines_that_are_no_rows_cost_no_other(
    good: list[CollectedRow], bad: list[str], chance: Random
) -> None:
    lines = [line(each) for each in good]
    for each in bad:
        # A line of another number of cells, or of anything.
        lines.insert(chance.randint(0, len(lines)), "1\t" + each.replace("\n", ""))
    collected = Collected()
    collected.ensure_point(["a", "b"], path="/p/a.py", line=1)
    collected.add_part(7, BlockPart.of_text("".join(f"{each}\n" for each in lines)), "tracer")
    read = list(collected.rows(7))
    assert [each for each in read if each in good] == good or len(good) > len(set(good))
    table = collected.collection_of(7, 1)
    assert table is not None
    assert len(read) + table.unreadable == len(lines)


@given(st.text())
def test_any_text_is_read_without_failing(text: str) -> None:
    collected = Collected()
    collected.ensure_point(["a"], path="/p/a.py", line=1)
    collected.add_part(1, BlockPart.of_text(text), "tracer")
    assert all(row.point == 1 for row in collected.rows(1))


def test_rows_of_several_points_are_told_in_the_order_in_which_they_came() -> None:
    collected = Collected()
    for number in (1, 2):
        collected.ensure_point(["a"], path="/p/a.py", line=number)
    text = "".join(
        f"{point}\t{hit}\t0.1\tMain\t\t\t{hit}\n" for hit in range(5) for point in (2, 1)
    )
    collected.add_part(1, BlockPart.of_text(text), "tracer")
    collected.add_part(
        1, BlockPart.of_text("2\t6\t0.2\tMain\t\t\tlast\n9\t1\t0\t\t\t\tof no point\n"), "tracer"
    )
    assert [row.point for row in collected.rows(1)] == [2, 1] * 5 + [2]
    assert [row.cells for row in collected.rows(1)][-2:] == [("4",), ("last",)]
