"""Readable paths to variables."""

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.dap.types import Variable
from dapeer.view.variables import find_child, parse_path


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("total", ["total"]),
        ("order.items[3].price", ["order", "items", "3", "price"]),
        ("matrix[1][2]", ["matrix", "1", "2"]),
        ("prices['a.b']", ["prices", "'a.b'"]),
        ('prices["kettle"].net', ["prices", '"kettle"', "net"]),
        ("items[ 3 ]", ["items", "3"]),
        ("$name", ["$name"]),
        ("żółw.größe", ["żółw", "größe"]),
        ("(return) add", ["(return) add"]),
    ],
)
def test_a_path_is_names_and_what_stands_in_brackets(path: str, segments: list[str]) -> None:
    assert parse_path(path) == segments


@pytest.mark.parametrize("path", ["", " ", "a.", "a..b", "a[", "a]", "a[]", "a[1", "a[b[0]]", "."])
def test_what_is_no_path_is_refused_and_an_example_is_given(path: str) -> None:
    with pytest.raises(ArgumentError, match=r"not a path to a variable.*order\.items\[3\]\.price"):
        parse_path(path)


def shown(*names: str) -> list[Variable]:
    return [Variable(name=name, value=name, variablesReference=0) for name in names]


@pytest.mark.parametrize(
    ("names", "segment"),
    [
        (("price",), "price"),
        (("0", "1", "2"), "2"),
        (("[0]", "[1]", "[2]"), "2"),
        (("000", "001", "002"), "2"),
        (("'kettle'",), "kettle"),
        (("kettle",), "'kettle'"),
        (("'kettle'",), '"kettle"'),
        (('"kettle"',), "kettle"),
    ],
)
def test_a_child_is_found_however_the_adapter_writes_its_name(
    names: tuple[str, ...], segment: str
) -> None:
    found = find_child(shown("len()", *names), segment)
    assert found is not None
    assert found["name"] == names[-1]


@pytest.mark.parametrize("segment", ["other", "3", "ettl", ""])
def test_what_is_not_there_is_not_found(segment: str) -> None:
    assert find_child(shown("'kettle'", "00", "01"), segment) is None


def test_an_exact_name_is_preferred_to_a_number_that_is_written_otherwise() -> None:
    found = find_child(shown("01", "1"), "1")
    assert found is not None
    assert found["name"] == "1"
