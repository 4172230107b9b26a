"""Answers, with a stop, the requests by which the client is going to look at it, so that it need not send them.

The client says so when it resumes the program: `dapeerAhead` among the arguments holds what it asked at the last stop. The
event `stopped` then says that answers come, and events follow with these, of which one is the `last`. pydevd makes them in the thread
that has stopped, by the same functions as if the client had asked.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import threading
from typing import Any

levels: Any = importlib.import_module("in_debuggee.dapeer_levels")

AHEAD = "dapeerAhead"
"""Key in the arguments of a resume and in the body of `stopped`, and the name of the events."""
COMING = ["stackTrace", "scopes", "variables"]
"""What `stopped` has there: the requests that are answered ahead."""
RESUMES = ("continue", "next", "stepin", "stepout")

stopping = threading.local()
"""`thread_id`: the client's number of this thread, which has told of a stop to which answers are to follow."""


class Looks:
    """What the client is going to ask, and the requests that are made in its place."""

    def __init__(self) -> None:
        self.wanted: dict[str, Any] = {}
        """By `stackTrace` its arguments without the thread, by `frame` the index of the frame whose scopes are asked for, by
        `scopes` the indexes of those whose variables are."""
        self._numbers = itertools.count(-1, -1)
        self._made: dict[int, Look] = {}
        """By the number of the request."""

    def ask(self, look: Look, command: str, arguments: dict[str, Any]) -> None:
        """Make a request, whose answer `answered` gets, now or later."""
        number = next(self._numbers)
        self._made[number] = look
        look.asked[number] = (command, arguments)
        request = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        look.debugger.reader.process_net_command_json(look.debugger, json.dumps(request))

    def answered(self, response: dict[str, Any]) -> bool:
        """Take the answer to a request; return whether it was made here."""
        look = self._made.pop(response.get("request_seq", 0), None)
        if look is not None:
            look.answered(response)
        return look is not None


class Look:
    """One stop, and its answers so far."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.asked: dict[int, tuple[str, dict[str, Any]]] = {}
        """The requests without an answer."""
        self.bodies: dict[str, dict[str, Any]] = {}
        """The last answer by command."""
        self._answers: list[dict[str, Any]] = []
        """Those that have not been sent."""
        self._is_complete = False

    def answered(self, response: dict[str, Any]) -> None:
        """Keep an answer for the client; the last one makes all of them leave."""
        command, arguments = self.asked.pop(response["request_seq"])
        told = {key: response[key] for key in ("success", "message", "body") if key in response}
        self.bodies[command] = told.get("body") or {}
        self._answers.append({"command": command, "arguments": arguments, **told})
        if self._is_complete and not self.asked:
            self._tell(last=True)

    def complete(self) -> None:
        """Send what there is: nothing more is asked."""
        self._is_complete = True
        self._tell(last=not self.asked)

    def _tell(self, *, last: bool) -> None:
        command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NetCommand
        body, self._answers = {"answers": self._answers, "last": last}, []
        event = {"type": "event", "event": AHEAD, "body": body}
        self.debugger.writer.add_command(command(0, 0, event, is_json=True))


looks = Looks()


def look(debugger: Any, thread_id: int, wanted: dict[str, Any]) -> None:
    """Answer what is wanted, in the thread that has stopped; variables once it waits for requests."""
    done = Look(debugger)
    try:
        looks.ask(done, "stackTrace", {"threadId": thread_id, **wanted["stackTrace"]})
        ids = levels.numbers_of(done.bodies.get("stackTrace", {}))[wanted["frame"] :]
        if ids:
            looks.ask(done, "scopes", {"frameId": ids[0]})
        scopes = done.bodies.get("scopes", {}).get("scopes", ())
        for index in wanted["scopes"]:
            reference = scopes[index]["variablesReference"]
            looks.ask(done, "variables", {"variablesReference": reference})
    finally:
        done.complete()


def improve(*, prints: bool) -> None:
    """Have pydevd answer ahead.

    Raises:
        AttributeError: pydevd has another structure.
    """
    requests: Any = importlib.import_module("_pydevd_bundle.pydevd_process_net_command_json")
    answers: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command_factory_json")
    wire: Any = importlib.import_module("_pydevd_bundle.pydevd_comm")
    pydevd: Any = importlib.import_module("pydevd")
    processor, writer = requests.PyDevJsonCommandProcessor, wire.WriterThread
    factory, debugger = answers.NetCommandFactoryJson, pydevd.PyDB
    handlers = {f"on_{name}_request": getattr(processor, f"on_{name}_request") for name in RESUMES}
    add = writer.add_command
    promise(factory, debugger)
    writer.add_command = catching(add)
    for name, handler in handlers.items():
        setattr(processor, name, hearing(handler))


def promise(factory: Any, debugger: Any) -> None:
    """Say with a stop that answers come, and make them when the thread begins to wait.

    Raises:
        AttributeError: A class has another structure; both stay unchanged.
    """
    suspended, wait = factory.make_thread_suspend_single_notification, debugger._do_wait_suspend

    def make_suspended(self: Any, debugger: Any, thread_id: Any, thread: Any, *rest: Any) -> Any:
        command = suspended(self, debugger, thread_id, thread, *rest)
        # Another thread may tell of the stop after a while.
        if not looks.wanted or thread is not threading.current_thread():
            return command
        body = {**command.as_dict["body"], AHEAD: COMING}
        stopping.thread_id = body["threadId"]
        return type(command)(command.id, 0, {**command.as_dict, "body": body}, is_json=True)

    def do_wait_suspend(self: Any, *arguments: Any) -> Any:
        thread_id, stopping.thread_id = getattr(stopping, "thread_id", None), None
        if thread_id is not None:
            with contextlib.suppress(Exception):  # the client then asks
                look(self, thread_id, looks.wanted)
        return wait(self, *arguments)

    factory.make_thread_suspend_single_notification = make_suspended
    debugger._do_wait_suspend = do_wait_suspend


def catching(add: Any) -> Any:
    """Return what sends a message, but the answers to requests that were made here."""

    def add_command(self: Any, command: Any) -> None:
        if not (command.as_dict and looks.answered(command.as_dict)):
            add(self, command)

    return add_command


def hearing(handler: Any) -> Any:
    """Return the handler of a resume that takes note of what the client is going to ask."""

    def on_request(self: Any, debugger: Any, request: Any) -> Any:
        looks.wanted = request.arguments.kwargs.get(AHEAD) or {}
        return handler(self, debugger, request)

    return on_request
