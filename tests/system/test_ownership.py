"""Whose the other end of a socket is, by real sockets of two users."""

import os
import socket
from pathlib import Path

import pytest

from dapeer.base.errors import ForeignListener
from dapeer.base.system import ownership, unix_peer
from tests import second_user
from tests.sockets import needs_tables

LISTENS = """
s = socket.create_server((sys.argv[1], 0), family=int(sys.argv[2]), dualstack_ipv6=sys.argv[1] == "::")
print(s.getsockname()[1], flush=True)
sys.stdin.readline()
c, _ = s.accept()
s.close()
print("accepted", flush=True)
sys.stdin.readline()
c.close()
print("closed", flush=True)
sys.stdin.readline()
"""
STRANGER = r"Another user of this machine \(nobody\) listens at here\. Nothing was sent\."


@pytest.fixture(params=["asked", "in tables"])
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a system tell of a connection in either way."""
    if request.param == "in tables":
        monkeypatch.setattr(socket, "AF_NETLINK", 99, raising=False)


@needs_tables
@pytest.mark.usefixtures("road")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::"])
def test_what_we_listen_at_is_ours_before_and_after_it_was_accepted(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reached = "127.0.0.1" if host == "::" else host
    with socket.create_server((host, 0), family=family, dualstack_ipv6=host == "::") as server:
        port = server.getsockname()[1]
        assert ownership.listening_users(reached, port) == {os.geteuid()}
        with socket.create_connection((reached, port)) as connection:
            assert ownership.peer_uid(connection) == os.geteuid()
            accepted, _ = server.accept()
            with accepted:
                assert ownership.peer_uid(connection) == os.geteuid()
                assert ownership.peer_uid(accepted) == os.geteuid()
                ownership.check_peer(connection, "here")


@needs_tables
@second_user.needed
@pytest.mark.usefixtures("road")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::"])
def test_another_user_is_refused_before_they_accept_and_after_they_have_left_the_port(
    host: str,
) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reached = "127.0.0.1" if host == "::" else host
    with second_user.runs(LISTENS, host, int(family)) as thief:
        port = int(second_user.says(thief))
        assert ownership.listening_users(reached, port) == {second_user.UID}
        with socket.create_connection((reached, port)) as connection:
            with pytest.raises(ForeignListener, match=STRANGER):
                ownership.check_peer(connection, "here")
            second_user.go_on(thief)
            second_user.says(thief)
            # The port is free again, and the one that was expected has come.
            with socket.create_server((host, port), family=family, dualstack_ipv6=host == "::"):
                assert ownership.listening_users(reached, port) == {os.geteuid()}
                with pytest.raises(ForeignListener, match=STRANGER):
                    ownership.check_peer(connection, "here")
                second_user.go_on(thief)
                second_user.says(thief)
                with pytest.raises(ConnectionResetError):
                    ownership.check_peer(connection, "here")


@pytest.mark.skipif(not hasattr(socket, "AF_NETLINK"), reason="only Linux is asked so")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::"])
def test_the_owner_of_a_connection_is_told_without_the_tables_of_all(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    monkeypatch.setattr(ownership, "TABLES", ())
    with socket.create_server((host, 0), family=family, dualstack_ipv6=host == "::") as server:
        reached = "127.0.0.1" if host == "::" else host
        with socket.create_connection((reached, server.getsockname()[1])) as connection:
            accepted, _ = server.accept()
            with accepted:
                assert ownership.peer_uid(connection) == os.geteuid()
                assert ownership.peer_uid(accepted) == os.geteuid()
                assert os.getpid() in ownership.peer_processes(accepted)


@needs_tables
@second_user.needed
def test_a_port_of_another_user_is_refused_by_the_name_of_this_machine_too() -> None:
    with second_user.runs(LISTENS, "127.0.0.1", int(socket.AF_INET)) as thief:
        port = int(second_user.says(thief))
        with pytest.raises(ForeignListener, match=r"Another user .* listens at localhost:"):
            ownership.check_listeners("localhost", port)


def test_where_nobody_listens_there_is_nobody_to_refuse() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        ownership.check_listeners("127.0.0.1", bound.getsockname()[1])


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "no.such.host.invalid"])
def test_another_machine_is_none_of_our_concern(host: str) -> None:
    ownership.check_listeners(host, 22)


def test_the_administrator_is_no_stranger() -> None:
    unix_peer.check_user(0, "here")


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="Linux tells so of a Unix socket")
def test_a_unix_socket_of_ours_is_ours(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as connection:
        server.bind(str(tmp_path / "s"))
        server.listen()
        connection.connect(str(tmp_path / "s"))
        assert ownership.peer_uid(connection) == os.geteuid()
        ownership.check_peer(connection, "here")


@second_user.needed
def test_a_unix_socket_at_which_another_user_listens_is_refused() -> None:
    code = "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(1, flush=True); sys.stdin.readline()"
    with (
        second_user.folder_for_all() as folder,
        second_user.runs(code, folder / "s") as thief,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        second_user.says(thief)
        connection.connect(str(folder / "s"))
        with pytest.raises(ForeignListener, match=STRANGER):
            ownership.check_peer(connection, "here")


@needs_tables
def test_an_address_that_is_not_of_this_machine_has_no_listener() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = [ownership.has_listener(each, port) for each in ("127.0.0.1", "192.0.2.1")]
    assert found == [True, False]
    assert not ownership.has_listener("127.0.0.1", port)
