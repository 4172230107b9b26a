"""What tells when the output of a program has been sent, by real pipes."""

import os
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from dapeer.companions.python.debugpy_output import PipeCounts
from tests.processes import LIMIT


class Launcher:
    """Reads a pipe as debugpy's launcher does, and sends what it has read when the test lets it."""

    def __init__(self, pipes: PipeCounts, pipe: int) -> None:
        self.sent = b""
        self.may_send, self.has_read = threading.Semaphore(0), threading.Event()
        self._pipes, self._pipe = pipes, pipe

    def work(self) -> None:
        while data := self._pipes.read(self._pipe, 10):
            self.has_read.set()
            self.may_send.acquire()
            self.sent += data


@contextmanager
def reading(pipes: PipeCounts) -> Generator[tuple[int, int, Launcher, ThreadPoolExecutor]]:
    there, here = os.pipe()
    launcher = Launcher(pipes, there)
    with ThreadPoolExecutor() as threads:
        threads.submit(launcher.work)
        try:
            yield there, here, launcher, threads
        finally:
            os.close(here)
            launcher.may_send.release(1000)
    os.close(there)


def test_it_is_told_behind_what_was_read_and_what_was_in_the_pipe() -> None:
    pipes = PipeCounts()
    with reading(pipes) as (there, here, launcher, threads):
        os.write(here, b"read, ")
        assert launcher.has_read.wait(LIMIT)
        os.write(here, b"held")
        seen = threads.submit(lambda: pipes.wait([there], LIMIT) and launcher.sent)
        launcher.may_send.release(2)
        assert seen.result(LIMIT) == b"read, held"


def test_output_that_comes_later_is_not_waited_for() -> None:
    pipes = PipeCounts()
    with reading(pipes) as (there, here, launcher, _):
        os.write(here, b"before")
        assert launcher.has_read.wait(LIMIT)
        launcher.may_send.release()
        assert pipes.wait([there], LIMIT)
        launcher.has_read.clear()
        os.write(here, b"after")
        assert launcher.has_read.wait(LIMIT)
        assert launcher.sent == b"before"


def test_what_cannot_be_sent_is_not_waited_for_for_ever() -> None:
    pipes = PipeCounts()
    with reading(pipes) as (there, here, launcher, _):
        os.write(here, b"never sent")
        assert launcher.has_read.wait(LIMIT)
        assert not pipes.wait([there], 0)
