"""Columns of numbers are told as the same numbers are that came as texts."""

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from dapeer.mirror.row_columns import Numbers
from dapeer.mirror.rows import Table
from dapeer.view.collected import columns_of, odd_rows, shown

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
    WHOLE.map(lambda values: Numbers(array("q", values))),
    FRACTIONS.map(lambda values: Numbers(array("d", values))),
)


def told(cells: list[str] | Numbers) -> list[str]:
    """Return what is told of two columns that are the same, and of the rows."""
    table = Table(2, Numbers(array("q", range(1, len(cells) + 1))), cells=[cells, [*cells]])
    table.threads = table.tasks = table.callers = [""] * len(cells)
    found = shown(table, ["a", "b"])
    return [*columns_of(found, few=False), *odd_rows(found)]


@settings(max_examples=50)
@given(COLUMNS)
def test_numbers_are_told_as_their_texts_are(column: Numbers) -> None:
    assert told(column) == told([*column])
    assert [column.count(each) for each in {*column}] == [[*column].count(e) for e in {*column}]
