"""Columns of numbers are told as the same numbers are that came as texts."""

from array import array
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dapeer.collecting.rows.table import NumberColumn, Table
from dapeer.collecting.text.column_lines import lines_on_columns, odd_row_lines, shown_columns
from dapeer.collecting.text.columns import value_kinds

FEW = st.integers(-2, 2)
WHOLE = st.one_of(
    st.lists(FEW, min_size=1, max_size=60),
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=60),
    st.tuples(st.integers(0, 40), FEW, FEW).map(lambda each: [*range(each[0]), *each[1:]]),
    st.tuples(st.integers(300, 400), FEW).map(lambda each: [*range(0, each[0] * 3, 3), each[1]]),
)
FRACTIONS = st.one_of(
    st.lists(FEW.map(float), min_size=1, max_size=60),
    st.lists(st.floats(), min_size=1, max_size=60),
    st.integers(300, 400).map(lambda count: [each / 7 for each in range(count)]),
)
COLUMNS = st.one_of(
    WHOLE.map(lambda values: NumberColumn(array("q", values))),
    FRACTIONS.map(lambda values: NumberColumn(array("d", values))),
)


def told(cells: list[str] | NumberColumn) -> list[str]:
    """Return what is told of two columns that are the same, and of the rows."""
    table = Table(2, NumberColumn(array("q", range(1, len(cells) + 1))), cells=[cells, [*cells]])
    table.threads = table.tasks = table.callers = [""] * len(cells)
    found = shown_columns(table, ["a", "b"])
    return [*lines_on_columns(found, few=False), *odd_row_lines(found)]


@settings(max_examples=50)
@given(COLUMNS)
def test_numbers_are_told_as_their_texts_are(column: NumberColumn) -> None:
    assert told(column) == told([*column])
    assert [column.count(each) for each in {*column}] == [[*column].count(e) for e in {*column}]


TENS = list(range(10, 210, 10))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([*TENS[:6], 140, *TENS[7:]], ["#7 out = 140 ← out +80"]),
        ([*TENS[:6], 0, *TENS[7:]], ["#7 out = 0 ← out -60"]),
        ([*TENS[:6], -3, *TENS[7:]], ["#7 out = -3 ← out the only negative whole"]),
        ([1, 2, 5, 6, 8, 90, 11, 12, 14, 15, 18, 21, 22, 26, 31, 32], ["#6 out = 90 ← out +82"]),
        ([1, 2, 5, 6, 8, 3, 11, 12, 14, 15, 18, 21, 22, 26, 31, 32], ["#6 out = 3 ← out -5"]),
        (
            [900, 2, 5, 6, 8, 9, 11, 12, 14, 15, 18, 21, 22, 26, 31, 32],
            ["#1 out = 900 ← out -898 to the next"],
        ),
        ([*TENS[:9], *(each + 5 for each in TENS[9:])], ["#10 out = 105 ← out +15"]),
        ([7, 3, 9, 4, 8, 1, 6, 2, 5, 11, 10, 12], []),
    ],
)
def test_the_row_that_breaks_a_sequence_is_odd_and_no_other(
    values: list[int], says: list[str]
) -> None:
    cells = [str(each) for each in values]
    table = Table(1, NumberColumn(array("q", range(1, len(cells) + 1))), cells=[cells])
    table.threads = table.tasks = table.callers = [""] * len(cells)
    rows = odd_row_lines(shown_columns(table, ["out"]))
    assert [" ".join(row.split()) for row in rows if "←" in row] == says


def test_a_number_that_mostly_stays_has_no_trend() -> None:
    cells = ["110"] * 59 + ["30"]
    table = Table(1, NumberColumn(array("q", range(1, len(cells) + 1))), cells=[cells])
    table.threads = table.tasks = table.callers = [""] * len(cells)
    assert "mostly" not in "\n".join(lines_on_columns(shown_columns(table, ["out"]), few=False))


def test_a_text_with_a_line_end_changes_the_kind_of_no_other() -> None:
    values = ["'a\nb'", "'9'", "'ab'"]
    assert value_kinds(values, Counter(values)) == ["text", "text like '9'", "text like 'a'"]
