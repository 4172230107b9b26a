"""A filter over collected rows compares and reckons, and does nothing else."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapeer.base.errors import ArgumentError
from dapeer.collecting.rows.table import FAILED, Table
from dapeer.collecting.text.row_listing import Search, filtered_indices, matching_indices, value_of
from tests.collecting.conftest import every

CELLS = ["1", "2.5", "None", "'a'", f"{FAILED}KeyError: 'x'", "-3", "[1, 2]"]
COLUMNS = {"order.total": list(map(value_of, CELLS)), "hit": list(range(1, 8))}
COLUMNS["c1"] = COLUMNS["order.total"]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("order.total > 1", [1]),
        ("order . total is None", [2]),
        ("c1 == 'a' or c1 < 0", [3, 5]),
        ("not order.total == 1 and hit <= 2", [1]),
        ("'KeyError' in c1", [4]),
        ("c1 * 2 + 1 == hit * 3", [0, 1]),
        ("-hit % 3 == 0", [2, 5]),
        ("1 < hit < 4", [1, 2]),
        ("c1 == '[1, 2]'", [6]),
        ("hit / 0 == 1", []),
        ("not (hit < 3 or (hit > 4 and not hit == 6))", [2, 3, 5]),
        ("hit in (1, 7) or c1 in ['a']", [0, 3, 6]),
        ("hit not in (1, 2, 3, 4, 5, 6)", [6]),
        ("c1.startswith('[')", [6]),
        ("startswith(c1, ('[', 'a'))", [3, 6]),
        ("c1.endswith(']') and not endswith(c1, '3]')", [6]),
        ("c1.matches('^Key') or matches(c1, '^[.0-9]+$')", [0, 1, 4]),
    ],
)
def test_rows_are_found_by_what_their_columns_are(
    where: str, found: list[int], search: Search
) -> None:
    assert matching_indices(where, COLUMNS, len(CELLS), search) == found


@pytest.mark.parametrize(
    "where",
    [
        "__import__('os').system('false')", "hit.__class__", "[x for x in hit]", "lambda: 1", "hit ** 9",
        "open", "hit if hit else 1", "f'{hit}'", "hit +", "", "hit == 1; hit", "(" * 400, "not " * 400 + "hit",
        "hit == 1" * 400, "~hit", "hit.upper('')", "c1.startswith()", "c1.startswith('a', *[])", "c1.matches(c1)",
    ],
)  # fmt: skip
def test_whatever_else_is_written_is_refused(where: str) -> None:
    with pytest.raises(ArgumentError, match=r"The filter|nested|`matches` takes"):
        matching_indices(where, COLUMNS, len(CELLS), every)


@given(st.text(max_size=60))
def test_any_text_is_refused_or_finds_rows(where: str) -> None:
    with contextlib.suppress(ArgumentError):
        assert set(matching_indices(where, COLUMNS, len(CELLS), every)) <= set(range(len(CELLS)))


def test_an_expression_that_is_named_like_a_column_takes_its_place(search: Search) -> None:
    table = Table(2, hits=["1", "2"], cells=[["3", "4"], ["5", "6"]])
    for where in ("c2 == 4", "c1 == 4", "other == 6"):
        assert list(filtered_indices(table, ["c2", "other"], where, search, calls=False)) == [1]


def test_a_pattern_that_takes_too_long_is_ended(search: Search) -> None:
    column: dict[str, list[object]] = {"name": ["a" * 40 + "!"]}
    with pytest.raises(ArgumentError, match="takes more than 1 s for all values"):
        matching_indices("name.matches('(a+)+$')", column, 1, search)
    with pytest.raises(ArgumentError, match="The pattern of `matches` is none"):
        matching_indices("name.matches('(')", column, 1, search)
