"""What is left of us when we are killed: nothing."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.adapters.launchers.reaper import Watch
from dapeer.adapters.owned import Processes
from dapeer.adapters.reaper import Reaper
from tests.adapters.toys import alive, scripted
from tests.processes import LIMIT, descendants, process_gone
from tests.programs import ROOT


@pytest.fixture
def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], start_new_session=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_an_adapter_and_its_debuggee_end_when_the_server_is_killed(
    number: signal.Signals, tmp_path: Path
) -> None:
    stubborn = [{"ignore": "eof"}, {"ignore": "terminate"}, {"debuggee": "sleep"}]
    definition = scripted(tmp_path, {"start": stubborn})
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.adapters.abandoned",
        str(definition.path),
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    async with asyncio.timeout(LIMIT):
        assert server.stdout
        pids = [int(word) for word in (await server.stdout.readline()).split()]
        assert len(pids) == 2
        assert all(map(alive, pids))
        server.send_signal(number)
        await server.wait()
        for pid in pids:
            await process_gone(pid)


async def test_nothing_is_started_until_there_is_something_to_watch() -> None:
    before = descendants(os.getpid())
    reaper = Reaper()
    reaper.forget(1)
    assert descendants(os.getpid()) == before
    await reaper.aclose()


async def test_what_iswatched_ends_with_the_reaper(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.watch(sleeper.pid)
    await reaper.aclose()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


async def test_what_is_forgotten_lives_on(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.watch(sleeper.pid)
    reaper.forget(sleeper.pid)
    await reaper.aclose()
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


async def test_a_reaper_that_was_killed_is_no_trouble(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    before = set(descendants(os.getpid()))
    reaper.watch(sleeper.pid)
    (child,) = set(descendants(os.getpid())) - before
    os.kill(child, signal.SIGKILL)
    await process_gone(child)
    reaper.watch(sleeper.pid)
    reaper.forget(sleeper.pid)
    await reaper.aclose()
    sleeper.kill()
    sleeper.wait()


async def test_no_polite_signal_ends_the_reaper(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    before = set(descendants(os.getpid()))
    reaper.watch(sleeper.pid)
    (child,) = set(descendants(os.getpid())) - before
    # More than its pipe holds: when all is written it reads, and so is ready for signals.
    for _ in range(20_000):
        reaper.forget(123_456_789)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(child, number)
    await reaper.aclose()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


def test_a_number_that_another_process_has_by_now_is_spared(
    sleeper: subprocess.Popen[bytes],
) -> None:
    watch = Watch()
    watch.obey(f"+{sleeper.pid}\n")
    _, led, whole = watch.watched[sleeper.pid]
    assert (led, whole) == (True, True)
    watch.watched[sleeper.pid] = "an earlier time", led, whole
    watch.kill_all()
    assert sleeper.poll() is None
    watch.obey(f"-{sleeper.pid}\n")
    watch.obey(f"+{sleeper.pid}\n")
    watch.kill_all()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


@pytest.fixture
def session() -> Iterator[tuple[int, int]]:
    """Return the leader of a session, and a process in it that has a group of its own."""
    code = (
        "import subprocess\nchild = subprocess.Popen(['sleep', '1000'], process_group=0)\n"
        "print(child.pid, flush=True)\nchild.wait()"
    )
    command = (sys.executable, "-c", code)
    leader = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
    assert leader.stdout
    member = int(leader.stdout.readline())
    assert os.getpgid(member) != leader.pid
    yield leader.pid, member
    leader.kill()
    leader.wait()
    leader.stdout.close()


@pytest.mark.parametrize("killed_first", [True, False])
async def test_a_process_in_a_group_of_its_own_ends_with_the_session(
    session: tuple[int, int], reaper: Reaper, *, killed_first: bool
) -> None:
    leader, member = session
    async with asyncio.timeout(LIMIT):
        processes = Processes(reaper)
        processes.add(leader)
        if killed_first:
            os.kill(leader, signal.SIGKILL)
            await process_gone(leader)
        await processes.aclose()
        await process_gone(member)


async def test_it_ends_with_the_server_too(session: tuple[int, int], reaper: Reaper) -> None:
    leader, member = session
    async with asyncio.timeout(LIMIT):
        reaper.watch(leader)
        await reaper.aclose()
        await process_gone(member)


async def test_who_is_released_lives_on(session: tuple[int, int], reaper: Reaper) -> None:
    leader, member = session
    async with asyncio.timeout(LIMIT):
        processes = Processes(reaper)
        processes.add(leader)
        processes.add(member)
        processes.release(member)
        await processes.aclose()
        await process_gone(leader)
    assert alive(member)
    os.kill(member, signal.SIGKILL)
