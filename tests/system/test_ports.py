"""Ports for servers that listen only after a while."""

import socket
from pathlib import Path

import pytest

from dapeer.adapters.process import streams
from dapeer.base.system.tcp_table import LOOPBACK


def test_a_free_port_is_none_that_the_system_gives_to_who_asks_for_any() -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        given = other.getsockname()[1]
        found = streams.free_port(LOOPBACK)
    assert streams.LOWEST_PORT <= found < streams.first_given() <= given
    socket.create_server((LOOPBACK, found)).close()


def test_where_the_system_gives_all_ports_a_free_one_is_still_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "first_given", lambda: 1024)
    socket.create_server((LOOPBACK, streams.free_port(LOOPBACK))).close()


def test_where_the_system_does_not_tell_its_ports_those_of_the_standard_count(
    tmp_path: Path,
) -> None:
    assert streams.first_given(tmp_path / "none") == streams.FIRST_GIVEN
