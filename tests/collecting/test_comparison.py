"""Where two runs part that have collected the same."""

from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dapeer.collecting.divergence import ComparisonReport, compare_runs, pair_points, rows_of_run
from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.table import CollectedRow

PROJECT = Path("/p")
LOOP, END = 1, 2
"""Points: one that tells `i` and `total`, one that tells `total`."""

Steps = list[tuple[int, tuple[str, ...]]]


def collected(steps: Iterable[tuple[int, tuple[str, ...]]], threads: str = "") -> Collected:
    """Return a run with these rows; `threads` has a letter for each."""
    found = Collected()
    found.ensure_point(["i", "total"], path="/p/a.py", line=3)
    found.ensure_point(["total"], path="/p/a.py", line=5)
    for number, (point, cells) in enumerate(steps):
        thread = threads[number : number + 1]
        found.add(1, CollectedRow(point, 0, 0.0, thread, "", "", cells), "log points")
    return found


def parted(a: Collected, b: Collected) -> ComparisonReport:
    points = pair_points(a.points.values(), b.points.values())
    of_a = rows_of_run(a, {mine.number: place for place, (mine, _) in enumerate(points)})
    of_b = rows_of_run(b, {other.number: place for place, (_, other) in enumerate(points)})
    return ComparisonReport(compare_runs(of_a, of_b), points, PROJECT)


def text(a: Collected, b: Collected) -> str:
    return "\n".join(parted(a, b).lines())


def rounds(count: int, start: int = 0) -> Steps:
    """Return the rows of a loop, and the one behind it."""
    loop = [(LOOP, (str(i), str(i * 10))) for i in range(start, count)]
    return [*loop, (END, (str(count * 10),))]


def test_runs_that_do_the_same_do_not_part() -> None:
    assert text(collected(rounds(4)), collected(rounds(4))) == (
        "They do not part: 5 rows, the same in both."
    )


def test_a_value_is_told_with_the_rows_before_it() -> None:
    other = rounds(6)
    other[4] = (LOOP, ("4", "-1"))
    told = text(collected(rounds(6)), collected(other))
    assert told.splitlines() == [
        "Values part at a.py:3: `total` differs.",
        "Before:",
        *(f"  #{i + 1} a.py:3: i = {i}, total = {i * 10}" for i in range(4)),
        "a #5 a.py:3: i = 4, total = 40",
        "b #5 a.py:3: i = 4, total = -1",
        "In all: 6 rows alike, 1 differs (`total` at a.py:3 1).",
    ]


def test_a_branch_is_told_by_where_each_run_goes_on() -> None:
    steps: Steps = [(LOOP, ("0", "0")), (END, ("5",)), (LOOP, ("1", "5"))]
    told = text(collected(steps), collected([steps[0], steps[2]]))
    assert told.startswith(
        "Control flow parts: a goes on to a.py:5, b to a.py:3 (1 row only in a).\n"
    )
    assert "a #1 a.py:5: total = 5\nb #2 a.py:3: i = 1, total = 5" in told


def test_more_rounds_of_a_loop_leave_the_rest_alike() -> None:
    steps = rounds(5)
    shorter = [steps[0], *steps[3:]]
    told = text(collected(steps), collected(shorter))
    assert "one comes by a.py:3 more often (2 rows only in a)" in told
    assert told.endswith("In all: 4 rows alike, 2 only in a.")


def test_a_run_that_ends_early_is_said_to() -> None:
    told = text(collected(rounds(5)[:3]), collected(rounds(5)))
    assert told.startswith("Control flow parts: a collects no more, b goes on to a.py:3 (3 rows")
    assert "a no more rows\nb #4" in told


def test_what_differs_in_every_row_hides_nothing() -> None:
    """Such as a time: else each run would part from the other in its first row."""
    a: Steps = [(LOOP, (f"time {i}", "1")) for i in range(5)]
    b: Steps = [(LOOP, (f"clock {i}", "1" if i != 3 else "None")) for i in range(5)]
    told = text(collected(a), collected(b))
    assert told.startswith("Values part at a.py:3: `total` differs.")
    assert "In every row: `i` at a.py:3 time 0 | clock 0." in told


def test_addresses_are_not_compared() -> None:
    a, b = (
        collected([(END, (f"<Cart object at {address}>",))])
        for address in ("0x7f0011223344", "0x7faabbccddee")
    )
    assert "do not part" in text(a, b)


def test_threads_are_compared_one_by_one() -> None:
    """Which of them comes first is nobody's: it is told only where nothing else differs."""
    rows: Steps = [(END, ("1",)), (END, ("2",)), (END, ("1",)), (END, ("2",))]
    same = text(collected(rows, "xxyy"), collected([rows[0], rows[2], rows[1], rows[3]], "xyxy"))
    assert same.startswith("Each thread and task did the same in both (4 rows); they took turns")
    lost: Steps = [(END, ("1",)), (END, ("1",)), (END, ("2",)), (END, ("3",))]
    told = text(collected(rows, "xxyy"), collected(lost, "xyxy"))
    assert told.startswith("Values part in y at a.py:5: `total` differs.\nBefore, in a:\n")
    assert "a #4 a.py:5 [y]: total = 2\nb #4 a.py:5 [y]: total = 3" in told


def test_points_whose_lines_an_edit_has_moved_are_the_same_points() -> None:
    a, b = Collected(), Collected()
    for found, lines in ((a, (3, 9)), (b, (4, 12))):
        for line in lines:
            point = found.ensure_point(["x"], path="/p/a.py", line=line)
            found.add(
                1, CollectedRow(point.number, 0, 0.0, "", "", "", (str(lines.index(line)),)), ""
            )
    assert "do not part: 2 rows" in text(a, b)
    b.ensure_point(["x"], path="/p/a.py", line=30)
    assert pair_points(a.points.values(), b.points.values()) == []


CELLS = st.tuples(st.sampled_from("012"), st.sampled_from("abc"))
RUNS = st.lists(
    st.one_of(CELLS.map(lambda c: (LOOP, c)), st.sampled_from("ab").map(lambda c: (END, (c,)))),
    min_size=1,
    max_size=30,
)


@given(RUNS, RUNS)
def test_every_row_is_counted_once_and_the_first_difference_is_found(a: Steps, b: Steps) -> None:
    told = parted(collected(a), collected(b))
    found = told.comparison
    assert found.alike + found.rows_changed + found.only_a == len(a)
    assert found.alike + found.rows_changed + found.only_b == len(b)
    alike = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if not found.constant_differences and found.first is not None and alike is not None:
        assert (found.first.index_a, found.first.index_b) == (alike, alike)
    assert (found.first is None) == (a == b) or found.constant_differences
    assert told.lines()
    assert told.data()["rows"] == [len(a), len(b)]
