"""Paths of sources that are called otherwise on the other side of a transport."""

from dapeer.dap.mapped import PathFilter, PathMapping, PathNames
from dapeer.dap.messages import Request, Response
from dapeer.dap.transport import FilteredTransport
from tests.transports import transport_pair

HERE, THERE = "/home/me/shop/a.py", "/app/a.py"
MAPPINGS = [PathMapping("/home/me/shop", "/app")]


async def test_paths_are_translated_both_ways() -> None:
    left, right = transport_pair()
    ours = FilteredTransport(left, PathFilter(PathNames(MAPPINGS, lambda _: False)))
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


def test_a_file_beside_one_that_has_moved_is_here_if_it_exists_here_alone() -> None:
    here = {"/home/me/shop/src/a.c", "/home/me/shop/lib/b.c", "/usr/include/stdio.h"}
    names = PathNames([], here.__contains__)
    assert not names
    names.learn("/home/me/shop/src/a.c", "/build/src/a.c")
    assert names.remote("/home/me/shop/src/a.c") == "/build/src/a.c"
    # It is not known whether the program knows it so, too.
    assert names.remote("/home/me/shop/lib/b.c") == "/home/me/shop/lib/b.c"
    assert names.local("/build/lib/b.c") == "/home/me/shop/lib/b.c"
    assert names.local("/build/lib/gone.c") == "/build/lib/gone.c"
    assert names.local("/usr/include/stdio.h") == "/usr/include/stdio.h"
