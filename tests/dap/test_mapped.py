"""Paths of sources that are called otherwise on the other side of a transport."""

from dapeer.dap.mapped import PathMapping, mapped
from dapeer.dap.messages import Request, Response
from tests.transports import transport_pair

HERE, THERE = "/home/me/shop/a.py", "/app/a.py"
MAPPINGS = [PathMapping("/home/me/shop", "/app")]


async def test_paths_are_translated_both_ways() -> None:
    left, right = transport_pair()
    ours = mapped(left, MAPPINGS)
    await ours.send(Request(1, "setBreakpoints", {"source": {"path": HERE}}))
    sent = await right.receive()
    assert isinstance(sent, Request)
    assert sent.arguments == {"source": {"path": THERE}}
    body = {"stackFrames": [{"id": 1, "source": {"path": THERE}}]}
    await right.send(Response(1, "stackTrace", success=True, body=body))
    received = await ours.receive()
    assert isinstance(received, Response)
    assert received.body["stackFrames"][0]["source"] == {"path": HERE}
    await ours.aclose()
    await right.aclose()


async def test_a_transport_without_mappings_is_itself() -> None:
    one, other = transport_pair()
    assert mapped(one, []) is one
    assert mapped(one, MAPPINGS) is not one
    await one.aclose()
    await other.aclose()
