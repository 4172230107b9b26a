"""Adapters that are kept ready: who gets one, who does not, and how they end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.reaper import Reaper
from dapeer.adapters.process.spares import MOST, Spares
from dapeer.base.errors import DefinitionError
from tests.adapters.toys import FAKE, alive, initialize, toy
from tests.kept import SPARES, Kept, kept_at_once
from tests.processes import LIMIT, process_gone


@pytest.fixture
def log() -> Iterator[Kept]:
    with kept_at_once() as told:
        yield told


@asynccontextmanager
async def keeping(reaper: Reaper) -> AsyncGenerator[Spares]:
    async with asyncio.timeout(LIMIT), anyio.create_task_group() as tasks:
        yield Spares(tasks, reaper)
        tasks.cancel_scope.cancel()


def kept(folder: Path, number: int = 0, **script_of: str) -> Definition:
    """Define an adapter that is kept ready, whose script is a file."""
    script = folder / f"script {number}.json"
    script.write_text(json.dumps(script_of))
    return toy(folder, [sys.executable, FAKE, str(script)], more="kept_ready = true")


async def served(definition: Definition, reaper: Reaper, spares: Spares) -> int:
    """Have a session, which wants another adapter at its end; return the process of its own."""
    async with open_adapter(definition, "launch", {}, reaper, spares) as adapter:
        assert (await initialize(adapter.transport))[0]
        assert adapter.pid is not None
        assert adapter.command is not None
        spares.want(definition, adapter.command)
        return adapter.pid


async def test_the_next_session_has_the_adapter_that_was_kept_ready_and_it_ends_with_it(
    tmp_path: Path, reaper: Reaper, log: Kept
) -> None:
    requests = tmp_path / "requests"
    definition = kept(tmp_path, log=str(requests))
    async with keeping(reaper) as spares:
        first = await served(definition, reaper, spares)
        second = await log.next()
        assert await served(definition, reaper, spares) == second != first
        third = await log.next()
        assert alive(third)
        assert not alive(second)
    assert not alive(third)
    # Each was asked once; the one that was kept ready, ahead.
    assert requests.read_text().count("initialize") == 3


ANSWERS_EVERY_OTHER_TIME = """
if mkdir "$0/first"; then exec "$@"; fi
if mkdir "$0/second"; then echo $$ > "$0/silent"; exec sleep 1000; fi
exec "$@"
"""


async def test_a_session_puts_off_the_start_of_the_next_adapter(
    tmp_path: Path, reaper: Reaper, log: Kept
) -> None:
    definition = kept(tmp_path)
    async with keeping(reaper) as spares:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"{SPARES}.SECONDS_OF_CALM", 10 * LIMIT)
            await served(definition, reaper, spares)
        # The one that waits for calm gives way; what this session wants does not wait.
        await served(definition, reaper, spares)
        assert alive(await log.next())


async def test_an_adapter_that_does_not_answer_is_not_kept(
    tmp_path: Path, reaper: Reaper, log: Kept
) -> None:
    adapter = [sys.executable, FAKE, str(tmp_path / "script.json")]
    (tmp_path / "script.json").write_text("{}")
    command = ["sh", "-c", ANSWERS_EVERY_OTHER_TIME, str(tmp_path), *adapter]
    more = "kept_ready = true\n[timeouts]\nstart = 0.5"
    definition = toy(tmp_path, command, more=more)
    async with keeping(reaper) as spares:
        first = await served(definition, reaper, spares)
        assert "not answered `initialize`" in await log.refused.get()
        assert await served(definition, reaper, spares) != first
        await process_gone(int((tmp_path / "silent").read_text()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_an_adapter_that_cannot_answer_any_more_is_replaced(
    number: int, tmp_path: Path, reaper: Reaper, log: Kept
) -> None:
    definition = kept(tmp_path)
    async with keeping(reaper) as spares:
        await served(definition, reaper, spares)
        spare = await log.next()
        os.kill(spare, number)
        if number == signal.SIGSTOP:
            await asyncio.to_thread(os.waitid, os.P_PID, spare, os.WSTOPPED | os.WNOWAIT)
        else:
            await process_gone(spare)
        assert await served(definition, reaper, spares) != spare
        await process_gone(spare)


def variable(folder: Path, patch: pytest.MonkeyPatch) -> None:
    del folder
    patch.setenv("SOMETHING", "else")


def rewritten(folder: Path, patch: pytest.MonkeyPatch) -> None:
    del patch
    (folder / "script 0.json").write_text('{"on": {}}')


@pytest.mark.parametrize("change", [variable, rewritten])
async def test_no_session_has_an_adapter_of_another_environment_or_of_files_that_have_changed(
    change: Callable[[Path, pytest.MonkeyPatch], None],
    tmp_path: Path,
    reaper: Reaper,
    log: Kept,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    definition = kept(tmp_path)
    async with keeping(reaper) as spares:
        await served(definition, reaper, spares)
        spare = await log.next()
        change(tmp_path, monkeypatch)
        assert await served(definition, reaper, spares) != spare


async def test_few_are_kept_the_last_ones_that_were_wanted(
    tmp_path: Path, reaper: Reaper, log: Kept
) -> None:
    definitions = [kept(tmp_path, number) for number in range(MOST + 1)]
    async with keeping(reaper) as spares:
        pids: list[int] = []
        for definition in definitions:
            await served(definition, reaper, spares)
            pids.append(await log.next())
        await process_gone(pids[0])
        assert all(map(alive, pids[1:]))
        assert await served(definitions[-1], reaper, spares) == pids[-1]


async def test_one_that_no_session_has_wanted_for_long_is_given_up(
    tmp_path: Path, reaper: Reaper, log: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SPARES}.SECONDS_KEPT", 0.5)
    definition = kept(tmp_path)
    async with keeping(reaper) as spares:
        await served(definition, reaper, spares)
        await process_gone(await log.next())
        assert await served(definition, reaper, spares)


def test_only_an_adapter_over_stdio_can_be_kept_ready(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="kept_ready"):
        toy(tmp_path, ["true"], "tcp", "kept_ready = true")
