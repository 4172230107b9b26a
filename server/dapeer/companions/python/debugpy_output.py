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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).absolute().parent))
patching: Any = importlib.import_module("dapeer_debuggee.patching")
del sys.path[0]

COMMAND, CAPABILITY = "dapeerDrain", "dapeerDrains"
MAX_PIPE_BYTES = 1 << 16
"""Bytes that are read at a time: a pipe holds no more, unless it was made larger."""
SECONDS_TO_SEND = 5.0
"""Seconds after which the launcher no longer waits: what it reads is not taken from it."""


class PipeCounts:
    """How much was read from each pipe, and how much of that has been sent."""

    def __init__(self) -> None:
        self._change_condition = threading.Condition()
        self._read_bytes: Counter[int] = Counter()
        self._sent_bytes: Counter[int] = Counter()

    def read(self, pipe: int, _size: int) -> bytes:
        """Return the next output of a pipe, as `os.read` does; wait for some, and count its bytes.

        `pipe` is the descriptor. At most `MAX_PIPE_BYTES` bytes are returned; the size that the caller gives is
        ignored. The bytes are empty at the end of the output. The launcher reads again only when it has sent what
        it read before, so all that was read of this pipe until now is counted as sent first, and those who wait
        for that are woken. The wait has no limit.

        Raises:
            OSError: The pipe cannot be read.
        """
        with self._change_condition:
            self._sent_bytes[pipe] = self._read_bytes[pipe]
            self._change_condition.notify_all()
        # Nothing is taken from the pipe without the lock, so no byte is at an unknown place.
        select.select([pipe], [], [])
        with self._change_condition:
            data = os.read(pipe, MAX_PIPE_BYTES)
            self._read_bytes[pipe] += len(data)
        return data

    def wait(self, pipes: list[int], seconds: float = SECONDS_TO_SEND) -> bool:
        """Wait until all that is in these pipes now, or was read from them, has been sent to the adapter.

        `pipes` are file descriptors. Return False if that takes longer than `seconds`.
        """
        with self._change_condition:
            goal = {pipe: self._read_bytes[pipe] + bytes_in_pipe(pipe) for pipe in pipes}
            return self._change_condition.wait_for(
                lambda: all(self._sent_bytes[pipe] >= size for pipe, size in goal.items()), seconds
            )


def bytes_in_pipe(pipe: int) -> int:
    """Return the number of bytes that are in a pipe (a file descriptor) and were not read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


HANDLED = f"debugpy.launcher.handlers:{COMMAND}_request"
CAPTURE = "debugpy.launcher.output:CaptureOutput"
CLIENT = "debugpy.adapter.clients:Client"
LOST = "Each stop is shown a moment later, and some output before it may come after it."

REFUSED = patching.Row("output-drain-refused", "debugpy", LOST, adds=True)
DRAINED = patching.Row(
    "output-drained",
    "debugpy",
    LOST,
    uses=(
        f"{CAPTURE}._worker(self)",
        f"{CAPTURE}.instances",
        f"{CAPTURE}#_fd",
        f"{CAPTURE}#_worker_thread",
        "debugpy.launcher.output:os",
    ),
)
PASSED_ON = patching.Row(
    "output-drain",
    "debugpy",
    LOST,
    replaces={f"{CLIENT}.initialize_request": "self request"},
    uses=(
        f"{CLIENT}.message_handler(f)",
        "debugpy.common.messaging:NO_RESPONSE",
        "debugpy.common.messaging:JsonMessageChannel._send_message",
    ),
)


def unknown_answer(*_: object) -> dict[str, bool]:
    """Return the body of a response to `dapeerDrain` which says that not all output is known to be sent."""
    return {"sent": False}


@REFUSED
def refuse(patch: Any) -> None:
    """Patch debugpy's launcher so that it answers `dapeerDrain` at once, with the body `{"sent": False}`.

    An unknown request would end the launcher. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its
    `undo` puts back what was replaced by it.
    """
    patch.set(HANDLED, unknown_answer)


@DRAINED
def answer_drain(patch: Any) -> None:
    """Patch debugpy's launcher so that it answers `dapeerDrain` once all output has been sent.

    That is the output that the program had printed when the request came. The response's body has `sent`: True then, False if that takes
    longer than `SECONDS_TO_SEND`, or the launcher does not capture output. The `os` of debugpy's module of output is replaced, so that what
    is read from pipes is counted. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts
    back what was replaced by it.

    Raises:
        Misfit: The launcher reads output in another way.
    """
    output: Any = importlib.import_module("debugpy.launcher.output")
    captures, pipes = output.CaptureOutput.instances, PipeCounts()
    if not {"os", "read", "_fd"} <= set(output.CaptureOutput._worker.__code__.co_names):
        raise patching.Misfit("the launcher reads output in another way")

    def drain(_request: Any) -> dict[str, Any]:
        reading = [each for each in captures.values() if each._worker_thread.is_alive()]
        return {"sent": bool(captures) and pipes.wait([each._fd for each in reading])}

    read = patch.guard(pipes.read, os.read)
    patch.set("debugpy.launcher.output:os", types.SimpleNamespace(**{**vars(os), "read": read}))
    patch.set(HANDLED, patch.guard(drain, unknown_answer))


@PASSED_ON
def pass_drain_on(patch: Any) -> None:
    """Patch debugpy's adapter so that it passes the request `dapeerDrain` on to its launcher.

    The launcher's answer is passed back: `{"sent": True}` says that all output has been sent. The capability
    `dapeerDrains` is added to the response of `initialize`. Without a launcher, or with one that
    `launch_beneath` has not started, the adapter itself answers `{"sent": False}` at once. `patch` is this
    patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced by it.

    Raises:
        Misfit: debugpy lacks what is to be replaced, or the row by which the launcher knows the request is
            switched off; `Row.apply` handles that.
    """
    client: Any = importlib.import_module("debugpy.adapter.clients").Client
    later: Any = importlib.import_module("debugpy.common.messaging").NO_RESPONSE
    if patching.is_switched_off(REFUSED.name):
        raise patching.Misfit(f"row {REFUSED.name} is switched off")

    @patch.replace(f"{CLIENT}.initialize_request")
    def initialize_request(stock: Any, *given: Any, **named: Any) -> Any:
        return {**stock(*given, **named), CAPABILITY: True}

    def drain_request(self: Any, request: Any) -> Any:
        """Handle `dapeerDrain` in the adapter: respond later, when the launcher has, or with `False` at once.

        It returns debugpy's mark for a later response, or the body of the response. `self` is debugpy's `Client`.
        """

        def respond(*, sent: bool) -> None:
            about = {"type": "response", "request_seq": request.seq, "command": COMMAND}
            about |= {"success": True, "body": {"sent": sent}}
            # `Request.respond` would end the adapter if it comes before this handler has returned. The client may have gone.
            with contextlib.suppress(Exception), request.channel._send_message(about):
                pass

        return later if request_drain(self, respond) else {"sent": False}

    guarded = patch.guard(drain_request, unknown_answer)
    patch.set(f"{CLIENT}.{COMMAND}_request", client.message_handler(guarded))


def request_drain(connection: Any, answered: Callable[..., None]) -> bool:
    """Send `dapeerDrain` to the launcher of a client's connection; return whether that will answer.

    `connection` is debugpy's `Client` in the adapter. `answered` is called with `sent=` when the response comes, True if all output has
    been sent; it is not called if this returns False, where there is no launcher, or one that is not ours.
    """
    if not connection.launcher or not getattr(connection.session, "of_dapeer", False):
        return False

    def respond(response: Any) -> None:
        answered(sent=response.success and response.body["sent"])

    connection.launcher.channel.send_request(COMMAND).on_response(respond)
    return True
