"""What is left of us when we are killed: nothing."""

import asyncio
import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.adapters.process.owned_process import Processes, Reaper
from dapeer.companions.process.reaper import Cleanup, attached_line_of, line_of
from tests.adapters.toys import alive, scripted
from tests.processes import LIMIT, command_line, descendants, process_gone
from tests.programs import ROOT


@pytest.fixture
def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], start_new_session=True)


@pytest.mark.parametrize(
    ("number", "with_it"),
    [(signal.SIGKILL, None), (signal.SIGKILL, 0), (signal.SIGKILL, 1), (signal.SIGTERM, None)],
)
async def test_all_that_was_started_ends_with_the_server_whoever_is_killed_with_it(
    number: signal.Signals, with_it: int | None, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    async with asyncio.timeout(LIMIT):
        server = await abandoned(tmp_path, temporary)
        assert server.stdout
        pids = [int(word) for word in (await server.stdout.readline()).split()]
        assert len(pids) == 2
        assert all(map(alive, pids))
        assert len(list(temporary.iterdir())) == 1
        guards = reapers(server.pid)
        assert len(guards) == 2
        if with_it is not None:
            os.kill(guards[with_it], number)
        server.send_signal(number)
        await server.wait()
        for pid in (*pids, *guards):
            await process_gone(pid)
    # Nor is the folder of the session there any more.
    assert list(temporary.iterdir()) == []


async def abandoned(folder: Path, temporary: Path) -> asyncio.subprocess.Process:
    stubborn = [{"ignore": "eof"}, {"ignore": "terminate"}, {"debuggee": "sleep"}]
    definition = scripted(folder, {"start": stubborn})
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.adapters.abandoned",
        str(definition.path),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )


def reapers(pid: int) -> list[int]:
    """Return the reapers that a process has started."""
    return [each for each in descendants(pid) if "reaper.py" in command_line(each)]


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


async def test_reapers_that_were_killed_are_replaced(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.watch(sleeper.pid)
    killed = reapers(os.getpid())
    for child in killed:
        os.kill(child, signal.SIGKILL)
        await process_gone(child)
    # Told by the system to whoever lets it.
    await asyncio.sleep(0)
    assert not set(reapers(os.getpid())) & set(killed)
    assert sleeper.poll() is None
    await reaper.aclose()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


async def test_reapers_that_cannot_be_replaced_are_started_by_the_next_watch(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*_: object, **__: object) -> None:
        raise BlockingIOError

    reaper = Reaper()
    reaper.watch_folder("/nothing/of/this/name")
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", no_more)
        for child in reapers(os.getpid()):
            os.kill(child, signal.SIGKILL)
            await process_gone(child)
        await asyncio.sleep(0)
        reaper.forget_folder("/nothing/of/this/name")
    reaper.watch(sleeper.pid)
    await reaper.aclose()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


async def test_reapers_that_are_frozen_keep_nobody_from_ending() -> None:
    reaper = Reaper()
    reaper.watch_folder("/nothing/of/this/name")
    frozen = reapers(os.getpid())
    for child in frozen:
        os.kill(child, signal.SIGSTOP)
    async with asyncio.timeout(LIMIT):
        await reaper.aclose()
        for child in frozen:
            await process_gone(child)


async def test_no_polite_signal_ends_the_reaper(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.watch(sleeper.pid)
    # More than its pipe holds: when all is written it reads, and so is ready for signals.
    for _ in range(2_000):
        reaper.watch_folder("/nothing/of/this/name")
        reaper.forget_folder("/nothing/of/this/name")
    for child in reapers(os.getpid()):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(child, number)
    await reaper.aclose()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


def test_a_number_that_another_process_has_by_now_is_spared(
    sleeper: subprocess.Popen[bytes],
) -> None:
    watch = Cleanup()
    line = line_of(sleeper.pid)
    word, pid, since, *leads = line.split()
    watch.obey(" ".join((word, pid, str(int(since) - 1), *leads)))
    watch.clean_up()
    assert sleeper.poll() is None
    watch.obey(f"forget {sleeper.pid}\n")
    watch.obey(line)
    watch.clean_up()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL


def test_where_no_process_can_be_forked_an_attached_debugger_is_spared_and_all_else_cleaned_up(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fork() -> int:
        raise BlockingIOError

    watch = Cleanup()
    with subprocess.Popen(["sleep", "1000"]) as debugger:
        try:
            watch.obey(attached_line_of(debugger.pid, 0))
            watch.obey(line_of(sleeper.pid))
            monkeypatch.setattr(os, "fork", fork)
            watch.obey(f"detach {debugger.pid}\n")
            watch.clean_up()
            assert sleeper.wait(LIMIT) == -signal.SIGKILL
            assert debugger.poll() is None
        finally:
            debugger.kill()


@pytest.mark.parametrize(
    "line",
    [
        "process x 1 True True",
        "attached x 1 True True 2",
        "attached {pid} 1 True True x",
        "detach x",
        "forget x",
        "folder x",
    ],
)
def test_a_line_without_a_number_or_name_keeps_nothing_else_from_being_cleaned_up(
    line: str, sleeper: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    watch = Cleanup()
    watch.obey(line_of(sleeper.pid))
    watch.obey(f"folder {os.fsencode(folder).hex()}\n")
    watch.obey(f"{line.format(pid=sleeper.pid)}\n")
    watch.clean_up()
    assert sleeper.wait(LIMIT) == -signal.SIGKILL
    assert not folder.exists()


def test_half_a_line_at_the_end_removes_no_folder_above_the_one_that_is_meant(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    lines = f"folder {os.fsencode(folder).hex()}\nfolder {os.fsencode(tmp_path).hex()}"
    command = (sys.executable, "-I", "-S", inspect.getfile(Cleanup), "0")
    subprocess.run(command, input=lines.encode(), timeout=LIMIT, check=True)
    assert not folder.exists()
    assert tmp_path.exists()


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


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs descriptors of processes: Linux")
async def test_who_does_not_wait_for_the_end_keeps_no_descriptor_of_the_killed(
    session: tuple[int, int], reaper: Reaper
) -> None:
    before = descriptors_of_processes()
    processes = Processes(reaper)
    processes.add(session[0])
    for end in (processes.kill, processes.aclose):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await end()
    assert descriptors_of_processes() == before


def descriptors_of_processes() -> int:
    """Return how many of our files are descriptors that stand for a process."""
    names = [file.readlink().name for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    return names.count("anon_inode:[pidfd]")
