"""What is left of us when we are killed: nothing."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.adapters.launchers.reaper import Watch
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
    _, led = watch.watched[sleeper.pid]
    assert led
    watch.watched[sleeper.pid] = "an earlier time", led
    watch.kill_all()
    assert sleeper.poll() is None
    watch.obey(f"-{sleeper.pid}\n")
    watch.obey(f"+{sleeper.pid}\n")
    watch.kill_all()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL
