"""Requests and their responses over one transport."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import (
    ChannelClosed,
    DapeerError,
    ProtocolError,
    RequestFailed,
    RequestTimeout,
)
from dapeer.base.system.tasks import Answer
from dapeer.dap.decoding import shaped
from dapeer.dap.messages import Body, Message, Request, Response, describe
from dapeer.dap.transport import Transport

log = logging.getLogger(__name__)

MAX_UNANSWERED_REQUESTS = 1000
"""Requests of an adapter that wait for their answer; one that asks for more reads none."""

Observer = Callable[[Message], None]
ReverseHandler = Callable[[Request], Awaitable[Body]]


class Channel:
    """Pairs responses with requests, and shows every message to one observer.

    The observer sees the messages of both directions in order, and runs before the waiting
    `request` wakes: who awaited a response finds the mirror already changed by it. When the wire
    dies every waiting request fails with `ChannelClosed`; none is left hanging.
    """

    def __init__(self, transport: Transport, observe: Observer, answer: ReverseHandler) -> None:
        """Make a channel that sends and receives nothing until `run` is called.

        `observe` is called with every message of both directions, in order, and must not block. `answer` is awaited for each request of
        the adapter and returns the body of the response; if it raises `RequestFailed`, the adapter gets an error response.
        """
        self._transport = transport
        self._observe = observe
        self._answer = answer
        # > The `seq` for the first message sent by a client or debug adapter is 1, …
        self._seq = itertools.count(1)
        self._pending_requests: dict[int, tuple[Request, Answer[Response]]] = {}
        self._others_requests: set[int] = set()
        """Numbers of another client's requests without an answer yet."""
        self._unanswered_reverse_requests = 0
        """Requests of the adapter that have no answer yet."""
        self.unanswered_at_close: tuple[Request, ...] = ()
        """The requests that had no answer when the connection closed, the oldest first."""
        self.closed_event = anyio.Event()
        self.fault: str | None = None
        """The first message that was invalid or rejected; None if there is none."""
        self.breach: str | None = None
        """Why nothing more is received, where the adapter has broken the protocol."""

    async def run(self) -> None:
        """Receive and dispatch the adapter's messages until the connection ends; then fail waiting requests.

        It returns also when the adapter has broken the protocol (`breach` then says how). At its end, or when it is
        cancelled, it sets `closed_event` and `unanswered_at_close`, and each request without a response fails with
        `ChannelClosed`. Answers to the adapter's requests that are still being made are cancelled. The transport stays
        open.
        """
        try:
            async with anyio.create_task_group() as tasks:
                await self._receive(tasks)
                tasks.cancel_scope.cancel()
        finally:
            self._close()

    async def request(
        self, command: str, arguments: Body | None = None, *, seconds: float = 10
    ) -> Body:
        """Send one request, wait for its response, and return the response's body.

        `command` is DAP's name of the request; `arguments` None sends an empty object. The observer has seen the response before this
        returns.

        Raises:
            RequestFailed: The adapter answered `success: false`.
            DapeerError: The transport rejected the request; it was not sent.
            RequestTimeout: The adapter did not answer within `seconds`, or did not even read the request; a late answer is still observed,
                and until then the request counts as `unanswered`.
            ChannelClosed: The session ended first.
        """
        try:
            with anyio.fail_after(seconds):
                _, answer = await self.send(command, arguments)
                response = await answer.wait()
        except TimeoutError as error:
            raise RequestTimeout(command, seconds) from error
        return body_of(response)

    async def send(
        self, command: str, arguments: Body | None = None
    ) -> tuple[Request, Answer[Response]]:
        """Send one request without waiting for its response, and return the request and its coming response.

        `command` is DAP's name of the request; `arguments` None sends an empty object. The call waits only until
        the transport has taken the request. The second part of the result is an `Answer`: its `wait` returns the
        response whether or not that is a success (see `body_of`), and fails with `ChannelClosed` if the session
        ends first. The observer sees the request before it is sent; if the transport rejects it with a
        `DapeerError`, the observer also sees a failed response, so that it can undo what it assumed.

        Raises:
            ChannelClosed: The session has ended, before the request was sent or meanwhile.
            DapeerError: The transport rejected the request; it was not sent.
        """
        if self.closed_event.is_set():
            raise _closed(command)
        request = Request(next(self._seq), command, arguments or {})
        answer = Answer[Response]()
        self._pending_requests[request.seq] = request, answer
        _log("->", request)
        self._observe(request)
        try:
            await self._transport.send(request)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            self._pending_requests.pop(request.seq, None)
            raise _closed(command) from error
        except DapeerError as error:
            # The request was not sent: the observer must undo what it assumed.
            self._respond(Response(request.seq, command, success=False, message=str(error)))
            raise
        return request, answer

    @property
    def unanswered(self) -> list[str]:
        """Return the commands of the requests that wait for their response, the oldest first."""
        return [request.command for request, _ in self._pending_requests.values()]

    def newest_unanswered(self, command: str, arguments: Body) -> Request | None:
        """Return the newest request with these arguments that waits for its response, or None."""
        waiting = (request for request, _ in reversed(self._pending_requests.values()))
        return next((r for r in waiting if (r.command, r.arguments) == (command, arguments)), None)

    async def finish(self) -> None:
        """Tell the adapter that no more requests follow; `run` still receives what it sends until it closes.

        Nothing happens if the connection is closed already.
        """
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._transport.send_eof()

    async def _receive(self, tasks: TaskGroup) -> None:
        """Receive and dispatch messages until the connection ends or the adapter breaks the protocol.

        Responses go to the requests that wait for them, the adapter's requests are answered in tasks of `tasks`, and
        events go to the observer. An invalid stream, an unreadable message, or more than `MAX_UNANSWERED_REQUESTS`
        unanswered requests of the adapter set `breach` and end it; nothing is raised, and the error of an unreadable
        message is logged.
        """
        while True:
            try:
                message = await self._transport.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                return
            except ProtocolError as error:
                self.breach = str(error)
                return
            except Exception:
                log.exception("cannot read a message of the adapter")
                self.breach = "dapeer could not read what it sent; its log says why."
                return
            match message:
                case Response():
                    self._respond(message)
                case Request():
                    self._receive_request(message, tasks)
                case _:
                    _log("<-", message)
                    self._notify_observer(message)
            if self._unanswered_reverse_requests > MAX_UNANSWERED_REQUESTS:
                self.breach = "It sent requests without end, and read no answer."
                return

    def _receive_request(self, request: Request, tasks: TaskGroup) -> None:
        """Show a received request to the observer, and start to answer it if it is the adapter's own.

        The answer is made and sent by a task in `tasks`, and the request counts as unanswered until then. A
        negative number marks the request of another client of the same session (nvim-dap): its response will come
        from the adapter, so the number is only noted. What the observer raises is logged, and not raised here.
        """
        self._notify_observer(request)
        if request.seq < 0:
            self._others_requests.add(request.seq)
        else:
            self._unanswered_reverse_requests += 1
            tasks.start_soon(self._answer_request, request)

    def _notify_observer(self, message: Message) -> None:
        """Pass a message to the observer; what the observer raises is logged and kept by `record_fault`."""
        try:
            self._observe(message)
        except Exception:
            log.exception("the adapter sent an invalid message: %s", describe(message))
            self.record_fault(f"dapeer could not process its {describe(message)}")

    def record_fault(self, words: str) -> None:
        """Record in `fault` what was wrong with one of the adapter's messages; only the first text is kept."""
        self.fault = self.fault or words

    def _respond(self, response: Response) -> None:
        """Pair a response with its request, show it to the observer, and wake the caller that waits for it.

        The response gets the request's command and arguments. If its own command was another one (some adapters leave
        `command` empty), its body is converted to DAP's types for the request's command. A response to an unknown or
        already answered request is dropped. The response to a request of another client of the session goes to the observer
        only, as it is.
        """
        # Only the number counts: some adapters leave `command` empty in error responses.
        request, answer = self._pending_requests.pop(response.request_seq, (None, None))
        if request is None and response.request_seq not in self._others_requests:
            return  # answered before, or never asked
        self._others_requests.discard(response.request_seq)
        if request is not None:
            command = response.command
            response = Response(
                response.request_seq,
                request.command,
                response.success,
                response.body,
                response.message,
                request.arguments,
                response.seq,
            )
            # Some adapters leave out the command of a response, which determines its shape.
            response = response if command == request.command else shaped(response)
        _log("<-", response)
        self._notify_observer(response)
        if answer is not None:
            answer.give(response)

    async def _answer_request(self, request: Request) -> None:
        """Answer one request of the adapter by the channel's `answer` function, and send the response.

        The response is an error if that function raises: a `RequestFailed`'s own message, or else a text with the
        exception, which is also logged. The observer gets the response before it is sent. Once it is sent,
        `_unanswered_reverse_requests` is one less. If the connection is closed, by the adapter or by dapeer, nothing is
        sent, the count stays, and nothing is raised.
        """
        response = Response(request.seq, request.command, success=True, seq=next(self._seq))
        try:
            response = replace(response, body=await self._answer(request))
        except RequestFailed as error:
            response = replace(response, success=False, message=error.message)
        except Exception as error:
            log.exception("a request of the adapter failed: %s", describe(request))
            response = replace(response, success=False, message=f"dapeer cannot do it: {error}")
        self._notify_observer(response)
        try:
            await self._transport.send(response)
            self._unanswered_reverse_requests -= 1
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("the adapter had ended before the answer to %s", describe(request))

    def _close(self) -> None:
        """Set `closed_event` and `unanswered_at_close`, and fail every waiting request with `ChannelClosed`."""
        self.closed_event.set()
        self.unanswered_at_close = tuple(request for request, _ in self._pending_requests.values())
        for request, answer in self._pending_requests.values():
            answer.fail(_closed(request.command))
        self._pending_requests.clear()


def body_of(response: Response) -> Body:
    """Return the body of a successful response.

    Raises:
        RequestFailed: The response is a failure; the error has the command and the adapter's own reason.
    """
    if not response.success:
        raise RequestFailed(response.command, response.failure())
    return response.body


def _log(arrow: str, message: Message) -> None:
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s %s", arrow, describe(message))


def _closed(command: str) -> ChannelClosed:
    """Return the error for a request whose session ended before the adapter answered it."""
    return ChannelClosed(
        f"The debug session ended before it answered `{command}`.",
        "See dap_status and dap_program_output for how it ended.",
    )
