"""Terminals for programs: their output is read, and clients can type."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio

from dapeer.adapters.process.tail import OutputFilter, Tail
from dapeer.base.errors import AdapterFailed, ArgumentError, NotStopped, SystemUnsupported
from dapeer.base.system.environment import environment_for

_LAUNCHER = Path(__file__).parents[2] / "companions" / "process" / "terminal.py"

ROWS, COLUMNS = 40, 120
PLAIN, SCREEN = "dumb", "xterm-256color"
"""Kinds of terminals: what is printed is all; and what most people have."""
LONGEST_LINE = 4000
"""Bytes of a line. The kernel drops everything after the 4096th."""
SECONDS_TO_TYPE = 5.0
"""Seconds for a program to read earlier input, when the terminal is full."""


def _open_pseudo_terminal() -> tuple[int, int, str]:
    """Open a pseudo-terminal; return dapeer's end, the program's end, and the device of the latter.

    Both ends are descriptors that the caller closes.

    Raises:
        SystemUnsupported: The system has none to give.
    """
    ends: list[int] = []
    try:
        ends += os.openpty()
        return ends[0], ends[1], os.ttyname(ends[1])
    except OSError as error:
        for each in ends:
            os.close(each)
        raise SystemUnsupported(
            f"No terminal can be opened: {error.strerror}.",
            "Leave `terminal` out, or start dapeer where /dev/ptmx and /dev/pts are usable.",
        ) from error


def check_terminal() -> None:
    """Open a pseudo-terminal and close it again, to know whether an adapter could have one.

    Raises:
        SystemUnsupported: It could not.
    """
    for each in _open_pseudo_terminal()[:2]:
        os.close(each)


class Terminal:
    """A pseudo-terminal with a program in it, which leads a session of its own.

    What is typed is not echoed, and lines end with a line feed, so that all that comes out of it is
    what the program prints.
    """

    def __init__(self, hide: Sequence[str] = ()) -> None:
        """Open a pseudo-terminal, and begin to read it in the running event loop.

        Lines that begin with one of `hide` are left out of the output: the adapter prints them there.

        Raises:
            SystemUnsupported: The system has no pseudo-terminal to give.
        """
        self._filter = OutputFilter(hide)
        self.pid = 0
        """The program that was run in it."""
        self.tail = Tail(self._filter)
        """The last output of the programs in it."""
        self._master, slave, self.path = _open_pseudo_terminal()
        """Its end here, the other one, and the device that a program opens to be in it."""
        self.descriptor = slave
        """The terminal's own end, for a process that is started within it; -1 once it is closed."""
        self._end_event = anyio.Event()
        _set_plain_mode(slave)
        os.set_blocking(self._master, False)
        asyncio.get_running_loop().add_reader(self._master, self._read)

    def listen(self, printed: Callable[[str], None]) -> None:
        """Call `printed` with all output, from its beginning, and with what comes."""
        self._filter.listen(printed)

    def run(
        self,
        command: Sequence[str],
        cwd: str | None,
        env: Mapping[str, str | None],
        *,
        screen: bool = False,
    ) -> int:
        """Start a program in this terminal, and return its process id, which is kept in `pid`.

        dapeer's copy of the program's end of the terminal is closed, also after an error: from then on only the
        programs in the terminal keep it open. `command` is the program, which is looked for on PATH, and its arguments.
        `cwd` None or empty is the current folder. `env` is added to the environment of `environment_for`; None as a
        value removes a variable. TERM is what `env` says, else that of a plain terminal, or with `screen` (the program
        may draw) one that can. A thread waits for the program, so that it is no zombie. A program that is missing or
        may not be run raises nothing: a message in the terminal says so, and the process exits.

        Raises:
            AdapterFailed: The folder is not there, or no process can be started; the terminal is closed then.
        """
        around = environment_for(Path(cwd or "."))
        own = around.get("TERM", PLAIN)
        kind = PLAIN if not screen else SCREEN if own == PLAIN else own
        environment = {**around, "TERM": kind, **env}
        # An adapter may send numbers.
        kept = {name: f"{value}" for name, value in environment.items() if value is not None}
        slave = self.descriptor
        try:
            process = subprocess.Popen(
                command_in_terminal(command),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=cwd or None,
                env=kept,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or error
            raise AdapterFailed(
                f"{command[0]} could not be started in a terminal: {reason}.",
                "Check cwd and program.",
            ) from error
        finally:
            self.close_program_end()
        # The process must be waited for, or it stays a zombie.
        threading.Thread(target=process.wait, daemon=True).start()
        self.pid = process.pid
        return process.pid

    def close_program_end(self) -> None:
        """Close dapeer's copy of the program's end, so that the terminal is over when its programs have left."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    async def type(self, text: str) -> None:
        r"""Type a text into the terminal, and wait until the program's side has room for all of it.

        A line feed is the Enter key, and `\x04` at the start of a line the end of input. If it is not all taken
        in time, the beginning has been typed.

        Raises:
            ArgumentError: A line is longer than a terminal takes; nothing was typed.
            NotStopped: The program has left the terminal (also once all is typed), or has not read within
                `SECONDS_TO_TYPE`.
            OSError: The terminal cannot be written to.
        """
        data = text.encode(errors="replace")
        if any(len(line) > LONGEST_LINE for line in data.splitlines()):
            raise ArgumentError(
                f"`text`: a terminal takes lines of at most {LONGEST_LINE} bytes.",
                "Type shorter lines, or have the program read a file.",
            )
        try:
            with anyio.fail_after(SECONDS_TO_TYPE):
                while data and not self._end_event.is_set():
                    data = data[await self._write(data) :]
        except TimeoutError as error:
            raise NotStopped(
                f"The program has not read what was typed; {len(data)} bytes are left.",
                "Let it run on, then type the rest.",
            ) from error
        if self._end_event.is_set():
            raise NotStopped("The program has closed its terminal.", "dap_status shows its state.")

    async def _write(self, data: bytes) -> int:
        """Write to the program as much of `data` as fits, and return how many bytes that was.

        If there is no room, nothing is written: the call waits until there is some, without a limit of its own,
        and returns 0. The caller has to write the rest.

        Raises:
            OSError: The terminal cannot be written to.
        """
        loop = asyncio.get_running_loop()
        try:
            return os.write(self._master, data)
        except BlockingIOError:
            room = anyio.Event()
            loop.add_writer(self._master, room.set)
            try:
                await room.wait()
            finally:
                loop.remove_writer(self._master)
            return 0

    async def wait_until_drained(self, seconds: float) -> None:
        """Wait until every process has left the terminal and all output was read, at most `seconds`.

        Calls `close_program_end`, so no program can be started in it afterwards.
        """
        self.close_program_end()
        with anyio.move_on_after(seconds):
            await self._end_event.wait()

    def close(self) -> None:
        """Close the terminal; the system sends SIGHUP to the processes in it."""
        self.close_program_end()
        if not self._end_event.is_set():
            self._end_event.set()
            asyncio.get_running_loop().remove_reader(self._master)
            os.close(self._master)

    def _read(self) -> None:
        """Pass what the program has written to `tail`; close the terminal if every process has left it.

        At most 64 KiB are read at a call. It does not wait: nothing happens if there is nothing to read.
        """
        try:
            data = os.read(self._master, 65536)
        except BlockingIOError:
            return
        except OSError:  # how Linux says that every process has left
            data = b""
        if data:
            self.tail.data_received(data)
        else:
            self.tail.connection_lost(None)
            self.close()


def command_in_terminal(command: Sequence[str]) -> list[str]:
    """Return the command that starts a program in the terminal that the new process gets as its stdin."""
    return [sys.executable, "-I", "-S", str(_LAUNCHER), *command]


def _set_plain_mode(terminal: int) -> None:
    """Set a terminal, by its descriptor, to neither echo nor add carriage returns, and set its size.

    The size is `ROWS` by `COLUMNS`. Its other modes stay as they are.

    Raises:
        termios.error: The descriptor is no open terminal.
        ImportError: The system has no `termios`, as Windows.
    """
    import termios  # noqa: PLC0415 - not everywhere

    attributes = termios.tcgetattr(terminal)
    attributes[1] &= ~termios.ONLCR
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    termios.tcsetwinsize(terminal, (ROWS, COLUMNS))
