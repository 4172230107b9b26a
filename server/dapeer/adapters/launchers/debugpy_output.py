"""Has debugpy tell when all that the program had printed has been sent.

debugpy's launcher reads the program's output from pipes, and sends it by the adapter. A stop comes from the program
itself, on another connection. So a client that sees the stop does not know how much of the output is still on its way.
Here the adapter answers the request `dapeerDrain` behind all output that was in the pipes when the launcher got it. A
program that goes on printing does not delay the answer. The answer says whether that output was `sent`; the request never
fails, because debugpy prints each failure, in a terminal among the program's output.

The launcher runs in the program's own Python.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import select
import sys
import termios
import threading
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

COMMAND, CAPABILITY = "dapeerDrain", "dapeerDrains"
AHEAD = "dapeerAhead"
"""In a stop: the requests whose answers come before the client asks; and the event with one of them."""

MOST = 1 << 16
"""Bytes that are read at a time: a pipe holds no more, unless it was made larger."""
SECONDS = 5.0
"""Seconds after which the launcher no longer waits: what it reads is not taken from it."""


class Pipes:
    """How much was read from each pipe, and how much of that has been sent."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._read: Counter[int] = Counter()
        self._sent: Counter[int] = Counter()

    def read(self, pipe: int, _size: int) -> bytes:
        """Read the next output of the program; what was read before has been sent."""
        with self._changed:
            self._sent[pipe] = self._read[pipe]
            self._changed.notify_all()
        # Nothing is taken from the pipe without the lock, so no byte is at an unknown place.
        select.select([pipe], [], [])
        with self._changed:
            data = os.read(pipe, MOST)
            self._read[pipe] += len(data)
        return data

    def wait(self, pipes: list[int], seconds: float = SECONDS) -> bool:
        """Wait until all has been sent that is in the pipes now, or was read from them; return whether it was in time."""
        with self._changed:
            goal = {pipe: self._read[pipe] + held(pipe) for pipe in pipes}
            return self._changed.wait_for(
                lambda: all(self._sent[pipe] >= size for pipe, size in goal.items()), seconds
            )


def held(pipe: int) -> int:
    """Return the number of bytes in a pipe that nobody has read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def tell() -> None:
    """Make debugpy's launcher, in which this runs, answer `dapeerDrain`.

    Raises:
        ImportError: debugpy has another structure.
        AttributeError: The same.
    """
    names = ("output", "handlers")
    output, handlers = (importlib.import_module(f"debugpy.launcher.{each}") for each in names)
    answer(output, handlers)


def answer(output: Any, handlers: Any) -> None:
    """Make debugpy's launcher answer `dapeerDrain`; `output` and `handlers` are its modules.

    Raises:
        AttributeError: A module has another structure; it stays unchanged.
    """
    captures, pipes = output.CaptureOutput.instances, Pipes()
    if not {"os", "read", "_fd"} <= set(output.CaptureOutput._worker.__code__.co_names):
        raise AttributeError

    def drain(_request: Any) -> dict[str, Any]:
        sent = False
        # An unexpected error would end the launcher.
        with contextlib.suppress(Exception):
            reading = [each for each in captures.values() if each._worker_thread.is_alive()]
            sent = bool(captures) and pipes.wait([each._fd for each in reading])
        return {"sent": sent}

    output.os = types.SimpleNamespace(**{**vars(os), "read": pipes.read})
    setattr(handlers, f"{COMMAND}_request", drain)


def pass_on(client: Any, server: Any, messaging: Any) -> None:
    """Make the adapter pass the request on to a launcher that `launch_beneath` has started; also ahead, at a stop that is answered so.

    Args:
        client: The adapter's class for its connection to the client.
        server: The same for the program.
        messaging: debugpy's module of messages.

    Raises:
        AttributeError: One has another structure; all stay unchanged.
    """
    initialize: Callable[..., Any] = client.initialize_request
    handled: Callable[..., Any] = client.message_handler
    messaging.JsonMessageChannel._send_message  # is it there?
    later = messaging.NO_RESPONSE

    def initialize_request(self: Any, request: Any) -> Any:
        return {**initialize(self, request), CAPABILITY: True}

    def drain_request(self: Any, request: Any) -> Any:
        def respond(*, sent: bool) -> None:
            about = {"type": "response", "request_seq": request.seq, "command": COMMAND}
            about |= {"success": True, "body": {"sent": sent}}
            # `Request.respond` would end the adapter if it comes before this handler has returned. The client may have gone.
            with contextlib.suppress(Exception), request.channel._send_message(about):
                pass

        return later if drain(self, respond) else {"sent": False}

    def stopped_event(self: Any, event: Any) -> None:
        def tell(*, sent: bool) -> None:
            about = {"command": COMMAND, "arguments": {}, "success": True, "body": {"sent": sent}}
            with contextlib.suppress(Exception):
                self.client.channel.send_event(AHEAD, {"answers": [about]})

        with contextlib.suppress(Exception):
            if AHEAD in event.body and drain(self, tell):
                event.body[AHEAD].append(COMMAND)
        self.client.propagate_after_start(event)

    client.initialize_request = initialize_request
    setattr(client, f"{COMMAND}_request", handled(drain_request))
    server.stopped_event = handled(stopped_event)


def drain(connection: Any, told: Callable[..., None]) -> bool:
    """Ask the launcher of a connection's session whether all output has been `sent`, which is `told` later; return whether it can be asked."""
    if not connection.launcher or not getattr(connection.session, "of_dapeer", False):
        return False

    def respond(response: Any) -> None:
        told(sent=response.success and response.body["sent"])

    connection.launcher.channel.send_request(COMMAND).on_response(respond)
    return True
