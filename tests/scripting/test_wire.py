"""What a script sends to a server, and hears of one that ends."""

import io
import json
from typing import Any

import pytest

from dapeer.scripting.debugger import Session
from dapeer.scripting.wire import Answer, Connection, ServerGone


@pytest.mark.parametrize("received", [b"", b'{"jsonrpc": "2.0", "id"'])
def test_a_server_whose_end_cuts_its_answer_off_is_gone(received: bytes) -> None:
    with pytest.raises(ServerGone):
        Connection(io.BytesIO(received), io.BytesIO(), "test")


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({}, {"session_id": 3}),
        ({"session_id": 4}, {"session_id": 4}),
        ({"group": "workers"}, {"group": "workers"}),
    ],
)
def test_a_session_means_itself_unless_another_or_a_group_is_named(
    given: dict[str, object], sent: dict[str, object]
) -> None:
    answers: list[Any] = [{"id": 1, "result": {}}, {"id": 2, "result": {"content": []}}]
    requests = io.BytesIO()
    received = io.BytesIO(b"".join(json.dumps(each).encode() + b"\n" for each in answers))
    session = Session(Connection(received, requests, "test"), 3, Answer(""))
    session.call_tool("dap_pause", **given)
    assert json.loads(requests.getvalue().splitlines()[-1])["params"]["arguments"] == sent
