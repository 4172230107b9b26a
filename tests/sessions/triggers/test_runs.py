"""How a request is sent, and what becomes of one that nobody answers."""

import pytest

from dapeer.sessions.triggers.readiness import NotListening, Processes, require_address
from dapeer.sessions.triggers.runs import Sender, TriggerFailed
from dapeer.sessions.triggers.trigger import HttpRequest
from tests.e2e.running import free_port


async def test_a_refused_connection_is_told_as_that() -> None:
    async def here(_host: str, _port: int) -> str:
        return "127.0.0.1"

    with pytest.raises(TriggerFailed, match="it did not connect"):
        await Sender(here).send(HttpRequest("GET", f"http://localhost:{free_port()}/"))


def test_a_program_that_listens_nowhere_is_named_with_its_port() -> None:
    nobody = Processes(frozenset({1 << 22}), frozenset(), is_known=True)
    port = free_port()
    with pytest.raises(NotListening, match=f"nothing listens at port {port}"):
        require_address(nobody, "shop.localhost", port)
