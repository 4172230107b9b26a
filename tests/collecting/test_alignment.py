"""Rows of two runs are aligned: what is between the gaps is alike."""

from itertools import pairwise
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from dapeer.collecting import divergence
from dapeer.collecting.divergence import gaps

ROWS = st.lists(st.integers(0, 4), max_size=40)


@given(ROWS, ROWS, st.integers(1, 50))
def test_what_is_between_gaps_is_alike(a: list[int], b: list[int], window: int) -> None:
    left, right = list(a), list(b)
    found = list(gaps(a, b, window))
    for gap in reversed(found):
        del left[gap.start_a : gap.end_a], right[gap.start_b : gap.end_b]
    assert left == right
    for one, other in pairwise(found):
        assert one.end_a < other.start_a
        assert one.end_b < other.start_b


@given(ROWS, ROWS, st.integers(1, 200))
def test_as_few_rows_as_possible_are_left_over(a: list[int], b: list[int], cells: int) -> None:
    """Also where there are so many that they are halved before they are aligned."""
    with patch.object(divergence, "MAX_PAIRS", cells):
        found = list(gaps(a, b))
    edits = sum(max(gap.end_a - gap.start_a, gap.end_b - gap.start_b) for gap in found)
    distances = list(range(len(b) + 1))
    for row in a:
        above, distances[0] = distances[0], distances[0] + 1
        for n, other in enumerate(b):
            added = min(distances[n], distances[n + 1]) + 1
            above, distances[n + 1] = distances[n + 1], min(added, above + (row != other))
    assert edits == distances[-1]


@given(ROWS, ROWS, st.integers(1, 50))
def test_the_first_gap_is_the_first_difference(a: list[int], b: list[int], window: int) -> None:
    found = next(gaps(a, b, window), None)
    alike = 0
    while a[alike : alike + 1] == b[alike : alike + 1] != []:
        alike += 1
    if found is None:
        assert a == b
    else:
        assert (found.start_a, found.start_b) == (alike, alike)


@given(st.integers(0, 90), st.integers(1, 9))
def test_more_rounds_of_a_loop_are_one_gap(at: int, more: int) -> None:
    rows = list(range(100))
    extra = [*rows[:at], *range(1000, 1000 + more), *rows[at:]]
    assert [tuple(gap) for gap in gaps(rows, extra, 50)] == [(at, at, at, at + more)]
