"""Linux's tables of TCP sockets, as they were seen."""

import sys

import pytest

from dapeer.base.system.tcp_table import (
    Holder,
    connected_inodes,
    connected_ports,
    holder_in_tables,
    listener_at,
    listening_ports,
)

pytestmark = pytest.mark.skipif(
    sys.byteorder == "big", reason="the examples are of a little-endian machine"
)

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
HERE, THERE = ("127.0.0.1", 0xE892), ("127.0.0.1", 0x92CF)


def table(*lines: str) -> str:
    """Make a table of lines that say: near, far, state, uid, inode."""
    texts = (
        f"0: {near} {far} {state} 0:0 00:0 0 {uid} 0 {inode} 1 0\n"
        for near, far, state, uid, inode in map(str.split, lines)
    )
    return HEAD + "".join(texts)


LISTENS = "0100007F:92CF 00000000:0000 0A 1000 41"
OURS = "0100007F:E892 0100007F:92CF 01 1001 42"
WAITS = "0100007F:92CF 0100007F:E892 01 1000 0"
ACCEPTED = "0100007F:92CF 0100007F:E892 01 1000 44"
MAPPED = "0000000000000000FFFF00000100007F:92CF 0000000000000000FFFF00000100007F:E892 01 1000 44"


def test_the_other_end_of_a_connection_is_told_from_ours() -> None:
    assert holder_in_tables([table(LISTENS, OURS, ACCEPTED)], THERE, HERE) == Holder(1000, 44)


def test_an_end_among_those_of_version_6_is_found() -> None:
    assert holder_in_tables([table(OURS), table(MAPPED)], THERE, HERE) == Holder(1000, 44)


def test_a_connection_that_waits_is_nobody_s_yet() -> None:
    assert holder_in_tables([table(LISTENS, OURS, WAITS)], THERE, HERE) == Holder(1000, 0)


def test_an_end_of_another_machine_is_in_no_table() -> None:
    assert holder_in_tables([table(LISTENS, OURS)], THERE, HERE) is None


@pytest.mark.parametrize("state", ["04", "05", "06"])
def test_an_end_that_was_closed_is_told(state: str) -> None:
    closed = f"0100007F:92CF 0100007F:E892 {state} 0 0"
    with pytest.raises(ConnectionResetError):
        holder_in_tables([table(OURS, closed)], THERE, HERE)


@pytest.mark.parametrize(
    ("lines", "host", "uid"),
    [
        ([LISTENS], "127.0.0.1", 1000),
        ([LISTENS], "127.0.0.2", None),
        (["00000000:92CF 00000000:0000 0A 1002 1"], "127.0.0.2", 1002),
        ([f"{'0' * 32}:92CF {'0' * 32}:0000 0A 1003 1"], "127.0.0.1", 1003),
        ([f"{'0' * 32}:92CF {'0' * 32}:0000 0A 1003 1"], "::1", 1003),
        (["00000000:92CF 00000000:0000 0A 1002 1"], "::1", None),
        ([f"{'0' * 24}01000000:92CF {'0' * 32}:0000 0A 1004 1"], "::1", 1004),
        ([f"{'0' * 24}01000000:92CF {'0' * 32}:0000 0A 1004 1", LISTENS], "127.0.0.1", 1000),
        # One takes the connections of version 4 only, and the other the rest.
        (
            ["00000000:92CF 00000000:0000 0A 5 1", f"{'0' * 32}:92CF {'0' * 32}:0000 0A 6 1"],
            "127.0.0.1",
            5,
        ),
        # A connection is no listener.
        ([OURS], "127.0.0.1", None),
    ],
)
def test_who_listens_is_told_as_a_connection_would_find_it(
    lines: list[str], host: str, uid: int | None
) -> None:
    found = listener_at([table(*lines)], (host, 0x92CF))
    assert (found and found.uid) == uid


@pytest.mark.parametrize(
    "odd", ["", "   ", "3: 0100007F:92CF", "3: 0100007F:92CF 00000000:0000 0A"]
)
def test_a_line_that_is_empty_or_cut_is_skipped(odd: str) -> None:
    tables = [table(LISTENS, OURS, ACCEPTED) + odd + "\n"]
    assert listening_ports(tables, {41, 42}) == {0x92CF}
    assert connected_ports(tables, {41, 42}) == {0x92CF}
    assert connected_inodes(tables) == {42: 44, 44: 42}
    assert listener_at(tables, THERE) == Holder(1000, 41)
