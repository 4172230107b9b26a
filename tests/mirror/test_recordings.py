"""Real sessions, recorded, and what they make of a mirror: over any road the same."""

import asyncio
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from dapeer.base.errors import RequestFailed
from dapeer.dap.channel import Channel
from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.messages import Body, Message, Request, Response
from dapeer.dap.transport import Transport
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.states import Phase
from dapeer.mirror.stops import Stop
from dapeer.view.activations import compare_locals
from tests.neovim.roads import road
from tests.processes import LIMIT
from tests.public import public
from tests.transports import transport_pair
from tools.record import Line, read

RECORDINGS = ("debugpy", "gdb", "bash-dap")


def replayed(name: str) -> Mirror:
    """Return a mirror that has taken in a whole recording."""
    mirror = Mirror()
    for line in read(name):
        mirror.apply(line.message, line.at)
    return mirror


def story(mirror: Mirror) -> list[tuple[str, str, Mapping[str, tuple[str | None, str]]]]:
    """Return each stop: why, where, and what had changed."""
    return [
        (stop.reason, place(stop), compare_locals(mirror.history, stop).changes)
        for stop in mirror.history
    ]


def place(stop: Stop) -> str:
    assert stop.default_frame is not None
    return f"{stop.default_frame['name']}:{stop.default_frame['line']}"


def values(stop: Stop | None) -> dict[str, str]:
    """Return the locals of the innermost frame."""
    assert stop is not None
    return {variable["name"]: variable["value"] for variable in stop.locals()}


def test_a_recording_of_debugpy_tells_its_whole_story() -> None:
    mirror = replayed("debugpy")
    assert (mirror.phase, mirror.epoch, mirror.exit_code) == (Phase.ENDED, 3, 0)
    assert story(mirror) == [
        ("breakpoint", "add:5", {}),
        ("step", "add:6", {"total": (None, "20")}),  # 21, and set to 20 while it was stopped
        ("breakpoint", "add:5", {}),  # called from another line
    ]
    assert mirror.output.read().text == "40\n"
    assert mirror.breakpoints.keys() == {"/project/fixtures/programs/steps.py"}
    assert mirror.exception_filters == {"raised": False, "uncaught": True, "userUnhandled": False}
    assert mirror.process["systemProcessId"] == 4242
    assert mirror.threads == {}


def test_a_recording_of_gdb_tells_its_whole_story() -> None:
    mirror = replayed("gdb")
    assert (mirror.phase, mirror.epoch, mirror.exit_code) == (Phase.ENDED, 3, 0)
    assert story(mirror) == [
        ("breakpoint", "inner:9", {}),
        ("step", "inner:10", {"doubled": ("0", "100")}),
        ("step", "middle:14", {}),
    ]
    assert mirror.output.read().text.endswith("round 4\ntotal 125, last tea\n")
    assert mirror.breakpoints == {"/project/fixtures/programs/loop.c": []}
    assert "/build/record/loop" in mirror.loaded_sources.modules


def test_a_recording_of_bash_tells_its_whole_story() -> None:
    mirror = replayed("bash-dap")
    assert (mirror.phase, mirror.epoch, mirror.exit_code) == (Phase.ENDED, 3, 3)
    assert [(reason, where) for reason, where, _ in story(mirror)] == [
        ("breakpoint", "greet:4"),
        ("step", "greet:5"),
        ("breakpoint", "greet:4"),
    ]
    assert story(mirror)[2][2] == {
        "BASH_REMATCH": (None, "()"),
        "count": ("0", "1"),
        "name": ("ada", "grace"),
    }
    assert mirror.output.read().text == "hello ada\nhello grace\nhello edsger\ngreeted 3\n"


def test_a_pending_breakpoint_of_gdb_is_verified_by_an_event() -> None:
    mirror, seen = Mirror(), list[bool]()
    for line in read("gdb"):
        mirror.apply(line.message, line.at)
        seen += [made["verified"] for pairs in mirror.breakpoints.values() for _, made in pairs]
    assert seen[0] is False
    assert seen[-1] is True


def test_each_stop_of_a_recording_remembers_the_output_since_the_one_before() -> None:
    mirror = replayed("bash-dap")
    starts = [stop.presentation.output_start for stop in mirror.history]
    ends = [mirror.history.output_end(stop) for stop in mirror.history]
    assert starts == [0, 0, 0]  # nobody was shown any of it
    assert ends == [0, 0, None]


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_starts_runs_stops_and_ends(name: str) -> None:
    mirror, phases = Mirror(), [Phase.STARTING]
    for line in read(name):
        mirror.apply(line.message, line.at)
        if mirror.phase != phases[-1]:
            phases.append(mirror.phase)
    stops = [Phase.STOPPED, Phase.RUNNING] * 3
    assert phases == [Phase.STARTING, Phase.RUNNING, *stops, Phase.ENDED]


# -- one recording, several roads


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_recording_leaves_equal_mirrors_whatever_road_it_takes(name: str) -> None:
    lines = read(name)
    left, right = socket.socketpair()
    async with (
        asyncio.timeout(LIMIT),
        await SocketStream.from_socket(left) as ours,
        await SocketStream.from_socket(right) as theirs,
    ):
        over_bytes = await travelled(
            lines, ContentLengthTransport(ours), ContentLengthTransport(theirs)
        )
        in_memory = await travelled(lines, *transport_pair())
    assert public(over_bytes) == public(in_memory) == public(replayed(name))


@pytest.mark.parametrize("tap", [True, False], ids=["tap", "listeners"])
@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_recording_leaves_an_equal_mirror_after_passing_nvim_dap(
    name: str, tap: bool, tmp_path: Path
) -> None:
    async with asyncio.timeout(LIMIT), road(tmp_path, tap=tap) as (ours, adapter):
        mirror = await travelled(until_disconnected(read(name)), ours, adapter)
    assert public(mirror) == public(replayed(name))


def until_disconnected(lines: Iterable[Line]) -> Iterable[Line]:
    """Leave out what comes after the end of a session: nvim-dap does not listen to it."""
    for line in lines:
        yield line
        if isinstance(line.message, Response) and line.message.command == "disconnect":
            return


async def travelled(lines: Iterable[Line], ours: Transport, adapter: Transport) -> Mirror:
    """Play both sides of a recording over a wire; return what a channel has shown to a mirror."""
    mirror, at, seen = Mirror(), 0.0, anyio.Event()

    def observe(message: Message) -> None:
        mirror.apply(message, at)
        seen.set()

    channel = Channel(ours, observe, refuse)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(channel.run())
        for line in lines:
            at, seen = line.at, anyio.Event()
            match line.message:
                case Request(command=command, arguments=arguments):
                    await channel.send(command, arguments)
                    assert await adapter.receive() == line.message
                case message:
                    await adapter.send(message)
            await seen.wait()
        await adapter.aclose()
        await running
    await ours.aclose()
    return mirror


async def refuse(request: Request) -> Body:
    raise RequestFailed(request.command, "no")


def test_the_comparison_sees_a_single_character_of_a_variable() -> None:
    mirror = replayed("bash-dap")
    before = public(mirror)
    next(iter(mirror.history)).locals()[0]["value"] += "!"
    assert public(mirror) != before
