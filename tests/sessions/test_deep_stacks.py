"""How much of a deep stack is fetched at a stop, and when the rest is."""

import pytest

from dapeer.dap.messages import Body, Request
from dapeer.sessions.core.views import snapshot
from tests.peer import Answer, Peer, wired


def deep(total: int, told: int = 0, name: str = "f{}") -> Answer:
    """Answer `stackTrace` by pages of a deep stack; until the end the total is true, or so many more than are sent."""

    def answer(asked: Request) -> Body:
        first, levels = asked.arguments["startFrame"], asked.arguments["levels"]
        frames: list[Body] = [
            {"id": n, "name": name.format(n), "line": 1, "column": 1, "source": {"path": "/p.py"}}
            for n in range(first, min(total, first + levels))
        ]
        known = first + len(frames)
        return {
            "stackFrames": frames,
            "totalFrames": known + told if told and known < total else total,
        }

    return answer


def pages(peer: Peer) -> list[tuple[int, int]]:
    asked = [request.arguments for request in peer.of("stackTrace")]
    return [(each["startFrame"], each["levels"]) for each in asked]


async def test_of_a_deep_stack_the_ends_are_fetched_and_the_rest_as_far_as_it_is_asked_for() -> (
    None
):
    async with wired({"stackTrace": deep(5000)}) as w:
        await w.stop()
        shown = (await snapshot(w.session)).get("stack", [])
        assert [line.split()[0] for line in shown] == [*(f"f{n}" for n in range(5)), "…", "f4999"]
        assert "4994 more" in shown[5]
        assert pages(w.peer) == [(0, 20), (4950, 51)]
        names = [each["name"] for each in await w.session.inspect.stack_trace(1, 1050, 3)]
        assert names == ["f1050", "f1051", "f1052"]
        assert pages(w.peer)[2:] == [(20, 1033)]
        stop = w.session.mirror.require_stop()
        assert stop.stack.outermost is stop.stack.frame(4999) is not None
        await w.session.inspect.stack_trace(1, 0, 1053)
        assert len(w.peer.of("stackTrace")) == 3


@pytest.mark.parametrize(
    ("stack", "asked"),
    [
        (deep(600, told=500), [(0, 20), (470, 51), (20, 980)]),
        (deep(600, name="again"), [(0, 20), (20, 580)]),
    ],
    ids=["a total that says that there is more", "one function that calls itself"],
)
async def test_a_deep_stack_is_fetched_whole_where_its_ends_do_not_tell_what_is_shown(
    stack: Answer, asked: list[tuple[int, int]]
) -> None:
    async with wired({"stackTrace": stack}) as w:
        await w.stop()
        shown = (await snapshot(w.session)).get("stack", [])
        assert len(w.session.mirror.require_stop().stack.frames[1]) == 600
        assert shown[-1].startswith(("f599 ", "again /p.py:1 (600 times)"))
        assert pages(w.peer) == asked


async def test_frames_beyond_the_last_are_not_asked_for() -> None:
    async with wired({"stackTrace": deep(3)}) as w:
        await w.stop()
        assert len(await w.session.inspect.stack_trace(1, 0, 100)) == 3
        assert await w.session.inspect.stack_trace(1, 50, 5) == []
        assert len(w.peer.of("stackTrace")) == 1


async def test_an_adapter_that_tells_all_frames_whatever_is_asked_tells_each_once() -> None:
    def whole(_: Request) -> Body:
        return {
            "stackFrames": [
                {"id": n, "name": f"f{n}", "line": 1, "column": 1, "source": {"path": "/p.py"}}
                for n in range(37)
            ]
        }

    async with wired({"stackTrace": whole}) as w:
        await w.stop()
        assert len(await w.session.inspect.whole_stack(1)) == 37
        assert len(await w.session.inspect.stack_trace(1, 30, 20)) == 7
