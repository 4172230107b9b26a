"""What a script hears of a server that ends."""

import io

import pytest

from dapeer.scripting.wire import Connection, ServerGone


@pytest.mark.parametrize("received", [b"", b'{"jsonrpc": "2.0", "id"'])
def test_a_server_whose_end_cuts_its_answer_off_is_gone(received: bytes) -> None:
    with pytest.raises(ServerGone):
        Connection(io.BytesIO(received), io.BytesIO(), "test")
