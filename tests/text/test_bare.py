"""JSON is read as `json` reads it, by the module beneath it, and also where Python has none."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapeer.base import bare
from tests.json_types import Json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
ODD = (
    b"", b" \r\n", b"{", b'{"a"}', b"[1,]", b"[1 2]", b"1 2", b"\x00", b"\x0b1", b"\xff", b'"\xed\xa0\x80"', b"\xef\xbb\xbf1",
    b"nul", b'"\n"', b'"\\x"', b'"\\ud800"', b"01", b"-", b"1.", b"NaN", b"-Infinity", b"1e999", b'{"a":1,"a":2}', b"\t[ 1 ]\r\n",
    b"9" * 5000, b"[" * 100_000,
)  # fmt: skip


def by_json(data: bytes) -> object:
    return json.loads(data.decode())


def outcome(read: Callable[[bytes], object], data: bytes) -> str:
    """Return what reading gives, or that it fails."""
    try:
        return repr(read(data))
    except (ValueError, RecursionError) as error:
        return "RecursionError" if isinstance(error, RecursionError) else "ValueError"


@pytest.fixture(params=["beneath", "json itself"], autouse=True)
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "json itself":
        monkeypatch.setattr(bare, "_scan", None)


@pytest.mark.parametrize("data", ODD)
def test_what_json_refuses_is_refused_and_what_it_accepts_is_read(data: bytes) -> None:
    assert outcome(bare.loads, data) == outcome(by_json, data)


@pytest.mark.parametrize("indent", [None, 1])
def test_any_value_is_read_as_json_reads_it(indent: int | None) -> None:
    @given(value=VALUES)
    def same(value: Json) -> None:
        text = json.dumps(value, indent=indent)
        assert repr(bare.loads(text.encode())) == repr(json.loads(text))

    same()
