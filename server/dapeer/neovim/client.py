"""A connection to one Neovim: the only module that knows pynvim.

pynvim has its own event loop, so each connection lives in a worker thread. Only plain values pass between the
threads, in order: calls in, results and notifications out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import anyio

from dapeer.base.errors import ForeignListener, NeovimBusy, NeovimFailed, NeovimGone, NoNeovim
from dapeer.base.system.ownership import check_peer
from dapeer.neovim.sockets import HOST_AND_PORT

if TYPE_CHECKING:
    import pynvim
    from pynvim.msgpack_rpc.session import Session

# The byte stream to a Neovim, with a check of the other end's owner.

DataCallback = Callable[[bytes], None]


class Connection(asyncio.Protocol):
    """A connection with its own event loop, which runs in the thread that created it.

    It has the public methods of pynvim's event loops, and can stand for one. Another user of the machine hears nothing
    from it.

    Args:
        target: A socket's path, or `host:port`.

    Raises:
        OSError: No process listens there.
        ForeignListener: Another user of this machine does.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._data_callback: DataCallback | None = None
        self._early_data: deque[bytes] = deque()
        """Data that arrived before `start`."""
        self._end_error: Exception | None = None
        self._transport: asyncio.Transport
        self._loop = asyncio.new_event_loop()
        try:
            self._transport = self._loop.run_until_complete(self._connect())
        except BaseException:
            self._loop.close()
            raise

    def run(self, data_cb: DataCallback) -> None:
        """Run the connection's event loop, and pass incoming data to `data_cb`, until `stop`.

        It blocks, and may be called again. `data_cb` is called in this thread with each piece of bytes. Data that
        arrived before the call is passed first; if the connection's end was noticed before the call, the error is
        raised right after that.

        Raises:
            EOFError: The other end has hung up, now or before.
            OSError: The connection broke.
        """
        self._data_callback = data_cb
        while self._early_data:
            data_cb(self._early_data.popleft())
        if self._end_error is None:
            self._loop.run_forever()
        self._data_callback = None
        if self._end_error is not None:
            raise self._end_error

    def send(self, data: bytes) -> None:
        """Queue bytes to be sent to Neovim."""
        self._transport.write(data)

    def stop(self) -> None:
        """Let `run` return soon."""
        self._loop.stop()

    def threadsafe_call(self, fn: Callable[[], object]) -> None:
        """Have the connection's event loop call a function; callable from any thread.

        Raises:
            RuntimeError: It is closed.
        """
        self._loop.call_soon_threadsafe(fn)

    def close(self) -> None:
        """Close the connection and its event loop; a second call does nothing."""
        if not self._loop.is_closed():
            self._transport.close()
            self._turn()
            self._loop.close()

    # -- of the protocol of asyncio

    def data_received(self, data: bytes) -> None:
        """Pass incoming data to the callback of `run`, or keep it until there is one."""
        if self._data_callback is None:
            self._early_data.append(data)
        else:
            self._data_callback(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep the reason of the connection's end for `run`, which returns then."""
        self._end_error = exc or EOFError("the other end has hung up")
        if self._data_callback is not None:
            self.stop()

    async def _connect(self) -> asyncio.Transport:
        """Connect to the target, check that no other user listens there, and return the transport.

        Nothing is sent. The transport has this object as its protocol; if the check fails, the connection is cut. There
        is no timeout.

        Raises:
            OSError: Nothing listens there, or the connection was closed at once.
            ForeignListener: Another user of this machine listens there.
        """
        match = HOST_AND_PORT.fullmatch(self._target)
        if match is None:
            made = self._loop.create_unix_connection(lambda: self, self._target)
        else:
            host = match["host"].strip("[]")
            made = self._loop.create_connection(lambda: self, host, int(match["port"]))
        transport, _ = await made
        try:
            check_peer(transport.get_extra_info("socket"), self._target)
        except (OSError, ForeignListener):
            transport.abort()
            # It closes its socket in the next round.
            await asyncio.sleep(0)
            raise
        return transport

    def _turn(self) -> None:
        """Run the event loop for one round, in which a closed transport closes its socket."""
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()


log = logging.getLogger(__name__)

SECONDS_TO_CONNECT = 2.0
SECONDS_TO_ANSWER = 2.0
"""A Neovim that nothing holds up answers within a few milliseconds."""
SECONDS_FOR_MODE = 0.25
"""It answers this even while it waits for a key, but not while it runs a command of the system."""

Notified = Callable[[str, list[Any]], None]

MODES = {"r": "hit-enter", "rm": "more-prompt", "r?": "a question"}


@dataclass(frozen=True, slots=True)
class Mode:
    """Neovim's mode, from `nvim_get_mode`."""

    mode: str
    blocking: bool
    """It waits for a key, and runs nothing until one comes."""

    def __str__(self) -> str:
        waits = MODES.get(self.mode, f"mode {self.mode}")
        return f"waits for a key ({waits})" if self.blocking else "is busy"


class Neovim:
    """One Neovim, over its socket. Made by `connect`.

    Every call has a deadline of its own; when it passes, `mode` says why, and a late answer is
    dropped.
    """

    def __init__(self, target: str, notified: Notified) -> None:
        self.target = target
        self.channel = 0
        self.closed_event = anyio.Event()
        """It has ended, or the connection has."""
        self._on_notification = notified
        self._loop = asyncio.get_running_loop()
        self._connected: asyncio.Future[pynvim.Nvim] = self._loop.create_future()
        self._pending_futures: set[asyncio.Future[Any]] = set()
        self._nvim: pynvim.Nvim
        self._run_in_worker: Callable[[Callable[[], object]], None]
        """Runs a function in the worker thread.

        `Nvim.async_call` describes its caller's stack first, which takes longer than a call.
        """
        self._life: asyncio.Task[None]

    @classmethod
    async def connect(
        cls,
        target: str,
        notified: Notified | None = None,
        seconds: float = SECONDS_TO_CONNECT,
    ) -> Self:
        """Connect to a Neovim at a socket's path or `host:port`, and return it.

        A thread serves the connection until that ends or `aclose` is called. `notified` gets the method's name and
        the arguments of each notification, in the caller's event loop; None: notifications are dropped. `seconds`
        is how long to wait for the connection. After a timeout, a connection that is still made later is closed at
        once.

        Raises:
            NoNeovim: Nothing listens there; or what listens hangs up or is no Neovim; or it is another user's of
                this machine, to whom nothing is sent.
            NeovimBusy: The process that listens there does not answer within `seconds`.
        """
        self = cls(target, notified or _ignore)
        self._life = asyncio.create_task(self._run_worker())
        try:
            with anyio.fail_after(seconds):
                self._nvim = await asyncio.shield(self._connected)
        except TimeoutError as error:
            self._connected.add_done_callback(_close_late_connection)
            raise NeovimBusy(
                f"What listens at {target} does not answer.", "Check whether that Neovim hangs."
            ) from error
        except ForeignListener as error:
            raise NoNeovim(error.problem, error.hint) from error
        except (OSError, EOFError, ValueError) as error:
            raise NoNeovim(
                f"No Neovim listens at {target} ({error}).", "nvim_targets lists those that do."
            ) from error
        self.channel = int(self._nvim.channel_id)
        return self

    async def call(self, code: str, *arguments: object, seconds: float = SECONDS_TO_ANSWER) -> Any:
        """Run Lua on Neovim's main thread and return its result, decoded; arguments are its `...`.

        `code` is a chunk, whose `return` gives the result; None: it returns nothing or nil. The call waits for
        its turn behind what was sent before. If there is no answer within `seconds`, Neovim is asked why for the
        error, which takes `SECONDS_FOR_MODE` more at most. After a cancellation, too, Neovim may still run the
        code.

        Raises:
            NeovimBusy: Neovim does not answer within `seconds`, or has ended just then; it may still run the code
                later.
            NeovimFailed: The Lua failed; the error has the first line of its message.
            NeovimGone: The connection has ended.
        """
        try:
            return await self._ask(lambda nvim: nvim.exec_lua(code, *arguments), seconds)
        except TimeoutError as error:
            state = await self.why_blocked() or "was busy"
            raise NeovimBusy(
                f"Neovim did not answer within {seconds:g} s: it {state}.",
                "Try again when the person has finished there; debug sessions go on meanwhile.",
            ) from error

    async def request(self, function: str, *arguments: object) -> Any:
        """Call a function of Neovim's API, such as `nvim_input`, and return its result.

        Raises:
            TimeoutError: It does not answer within `SECONDS_TO_ANSWER`; it may still do what was asked later.
            NeovimFailed: It refused.
            NeovimGone: The connection has ended.
        """
        return await self._ask(lambda nvim: nvim.request(function, *arguments), SECONDS_TO_ANSWER)

    def send(self, code: str, *arguments: object) -> None:
        """Have Neovim run Lua later, in order with the calls, and return at once; the result is dropped.

        Nothing is sent if the connection has ended.
        """
        if not self.closed_event.is_set():
            with contextlib.suppress(RuntimeError):  # its loop is closed: it has ended this moment
                self._run_in_worker(lambda: self._nvim.exec_lua(code, *arguments, async_=True))

    async def mode(self, seconds: float = SECONDS_FOR_MODE) -> Mode | None:
        """Ask Neovim for its mode, which it answers also while it waits for a key, and return it.

        The result is None if it does not even answer that within `seconds`: it runs something.

        Raises:
            NeovimGone: The connection has ended.
        """
        try:
            answer = await self._ask(lambda nvim: nvim.api.get_mode(), seconds)
        except TimeoutError:
            return None
        return Mode(str(answer["mode"]), bool(answer["blocking"]))

    async def why_blocked(self) -> str | None:
        """Return why Neovim does not answer now, such as `waits for a key (hit-enter)`; None if it does.

        The text is the end of a sentence about Neovim; it may be `has ended` or `is busy with a command`. Neovim is asked for its mode,
        which takes `SECONDS_FOR_MODE` at most.
        """
        try:
            mode = await self.mode()
        except NeovimGone:
            return "has ended"
        if mode is None:
            return "is busy with a command"
        return str(mode) if mode.blocking else None

    async def aclose(self) -> None:
        """Close the connection, and wait without a limit for the end of its thread; it may have ended."""
        if self._connected.done() and not self.closed_event.is_set():
            with contextlib.suppress(RuntimeError):  # its loop is closed: it has hung up already
                self._nvim.async_call(self._nvim.stop_loop)
        await asyncio.wait({self._life})

    async def _ask(self, ask: Callable[[pynvim.Nvim], Any], seconds: float) -> Any:
        """Call `ask` with pynvim's object in the worker thread, and return its result.

        After a timeout or a cancellation the call may still take effect; its answer is dropped.

        Raises:
            TimeoutError: There is no answer within `seconds`.
            NeovimFailed: `ask` has raised: the error has the first line of its message.
            NeovimGone: The connection has ended.
        """
        if self.closed_event.is_set():
            raise _gone(self.target)
        future: asyncio.Future[Any] = self._loop.create_future()
        self._pending_futures.add(future)

        def work() -> None:
            """Call `ask` in the worker thread, and pass its result or error to the future."""
            try:
                answer = ask(self._nvim)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's
                self._post(_settle, future, None, NeovimFailed(_sentence(error)))
            else:
                self._post(_settle, future, answer, None)

        try:
            self._run_in_worker(work)
            with anyio.fail_after(seconds):
                return await future
        except RuntimeError as error:
            raise _gone(self.target) from error
        finally:
            self._pending_futures.discard(future)

    # -- the worker thread

    async def _run_worker(self) -> None:
        """Start the worker thread and wait for its end, then set `closed_event` and let all open calls fail.

        The calls fail with `NeovimGone`. The thread serves the connection; it is a daemon, which does not hold up
        the end of the process. If this is cancelled, the event is set and the calls fail at once, while the
        thread may go on.
        """
        ended: asyncio.Future[None] = self._loop.create_future()

        def work() -> None:
            try:
                self._serve_connection()
            finally:
                self._post(_settle, ended, None, None)

        # A daemon thread: a Neovim that never answers must not delay the end of this process.
        threading.Thread(target=work, name=f"Neovim at {self.target}", daemon=True).start()
        try:
            await ended
        finally:
            self.closed_event.set()
            for future in self._pending_futures:
                _settle(future, None, _gone(self.target))

    def _serve_connection(self) -> None:
        """Connect, and pass notifications on until either side ends the connection. Runs in the worker thread.

        The future `_connected` gets pynvim's object, or the error if there is no connection. Later errors end the connection and are
        logged.
        """
        try:
            session, nvim = _attach(self.target)
        except Exception as error:  # noqa: BLE001 - pynvim raises what it likes
            self._post(_settle, self._connected, None, error)
            return
        self._run_in_worker = session.threadsafe_call
        self._post(_settle, self._connected, nvim, None)
        try:
            nvim.run_loop(
                None, lambda name, arguments: self._post(self._on_notification, name, arguments)
            )
        except Exception as error:  # noqa: BLE001 - the end of the stream, in one of many ways
            log.debug("connection to %s ended: %s", self.target, error)
        finally:
            nvim.close()

    def _post(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function in the event loop of `connect`'s caller, from the worker thread.

        The call is dropped if that loop is closed.
        """
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)


def _attach(target: str) -> tuple[Session, pynvim.Nvim]:
    """Connect to Neovim as pynvim's `attach` does, over a connection whose other end is checked.

    `target` is a socket's path, or `host:port`. Return pynvim's session, which runs the connection's event loop,
    and its `Nvim` object, whose texts are decoded. It blocks until Neovim has told its API, without a limit of
    its own. Who is calling (`nvim_set_client_info`) is queued, and an answer is not awaited. The caller closes
    the session.

    Raises:
        OSError: Nothing listens there.
        ForeignListener: Another user of this machine listens there.
    """
    # Many servers have no Neovim.
    import pynvim
    from pynvim.msgpack_rpc.async_session import AsyncSession
    from pynvim.msgpack_rpc.msgpack_stream import MsgpackStream
    from pynvim.msgpack_rpc.session import Session
    from pynvim.util import get_client_info

    connection: Any = Connection(target)
    session = Session(AsyncSession(MsgpackStream(connection)))
    methods: dict[str, Any] = {}
    about = get_client_info("client", "remote", methods)
    session.request("nvim_set_client_info", *about, async_=True)
    return session, pynvim.Nvim.from_session(session).with_decode(decode=True)


def _close_late_connection(connected: asyncio.Future[pynvim.Nvim]) -> None:
    """Close the connection to a Neovim that has answered too late.

    `connected` is the future with its object.
    """
    if not connected.cancelled() and connected.exception() is None:
        nvim = connected.result()
        # Its loop may have ended by itself.
        with contextlib.suppress(RuntimeError):
            nvim.async_call(nvim.stop_loop)


def _settle(future: asyncio.Future[Any], answer: object, error: Exception | None) -> None:
    """Set the result of a future, or its error unless that is None; one that is done stays as it is.

    `answer` counts only if `error` is None. An error that nobody awaits is not logged. To be called in the future's event loop.
    """
    if future.done():
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
        future.exception()  # its exception is of no interest


def _sentence(error: Exception) -> str:
    """Return the first line of Neovim's message, without the location in dapeer's Lua."""
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return f"Neovim: {first.rpartition('Lua: ')[2]}"


def _gone(target: str) -> NeovimGone:
    return NeovimGone(f"The Neovim at {target} has ended.", "nvim_targets lists those that run.")


def _ignore(_name: str, _arguments: list[Any]) -> None:
    """Drop a notification: the handler of callers that only ask."""
