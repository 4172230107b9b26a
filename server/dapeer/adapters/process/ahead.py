"""Answers that an adapter sends with a stop, before the client asks. Pure.

At each stop a client asks for the stack, then for the scopes of one of its frames, then for the variables of one of these: three
round trips, each through the adapter. What it has asked at a stop goes along with the request that resumes the program, and
the adapter sends the answers to the same questions with the next stop (`in_debuggee/dapeer_ahead.py`). Once the client asks for
the stack there, it is told of the innermost frame without asking, as if another client of the session had asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from dapeer.adapters.process.folded_frames import unfolded
from dapeer.base.json_types import as_array, as_object
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.requests import RESUMES
from dapeer.dap.shapes import shaped

AHEAD: Final = "dapeerAhead"
"""In the arguments of a resume, what to answer; in the body of `stopped`, the commands whose answers come; and the events with these."""
DRAIN: Final = "dapeerDrain"
LOOKS: Final = frozenset({"stackTrace", "scopes", "variables"})
BESIDE: Final = frozenset({DRAIN, "exceptionInfo", "modules", "source", "threads"})
"""Requests that change no answer."""


@dataclass(slots=True)
class Look:
    """How a client looks at a stop: its first questions of each kind."""

    thread_id: object = None
    """The thread that has stopped."""
    stack: Body | None = None
    """The arguments of its `stackTrace`, without the thread."""
    frames: list[object] = field(default_factory=list[object])
    """The ids of the frames that it got."""
    frame: object = None
    """The one whose scopes it asked for."""
    scopes: list[object] = field(default_factory=list[object])
    """Their references."""
    opened: list[object] = field(default_factory=list[object])
    """Those whose variables it asked for, before it had any: what it asks for later is no part of each look."""
    _has_variables: bool = False

    def asked(self, request: Request) -> None:
        """Take note of a request."""
        asked = dict(request.arguments)
        match request.command:
            case "stackTrace" if self.stack is None and asked.pop("threadId", None) == (
                self.thread_id
            ):
                self.stack = asked
            case "scopes" if self.frame is None and asked.get("frameId") in self.frames:
                self.frame = asked.get("frameId")
            case "variables" if len(asked) == 1 and not self._has_variables:
                self.opened += asked.values()
            case _:
                pass

    def answered(self, request: Request, body: Body) -> None:
        """Take note of the answer to a request."""
        match request.command:
            case "stackTrace" if request.arguments == self._of_stack and not self.frames:
                self.frames = [each["id"] for each in as_array(body.get("stackFrames"))]
            case "scopes" if request.arguments == {"frameId": self.frame}:
                self.scopes = [each["variablesReference"] for each in as_array(body.get("scopes"))]
            case "variables":
                self._has_variables = True
            case _:
                pass

    @property
    def _of_stack(self) -> Body:
        return {"threadId": self.thread_id, **(self.stack or {})}

    @property
    def pattern(self) -> Body | None:
        """What to ask for in the same way at another stop; None: nothing."""
        if self.stack is None or self.frame is None:
            return None
        opened = [index for index, each in enumerate(self.scopes) if each in self.opened]
        return {"stackTrace": self.stack, "frame": self.frames.index(self.frame), "scopes": opened}


class Ahead:
    """The answers that an adapter has sent ahead, and the requests whose answers are on their way."""

    def __init__(self) -> None:
        self._look = Look()
        self._coming = set[str]()
        """Commands of which answers are on their way."""
        self._answers: list[Response] = []
        self._unasked: list[Response] = []
        """Those that the client was told without asking: it may ask before it has read them."""
        self._waiting: list[Request] = []
        self._released: list[Request] = []
        self._sent: dict[int, Request] = {}
        """The looks that the adapter has got, and has not answered."""
        self._numbers = itertools.count(-1, -1)
        """Of what the client is told without asking: negative, like those of another client."""

    def sent(self, request: Request) -> Iterator[Request | Response]:
        """Yield the requests that go to the adapter in place of a client's, or its response; nothing if that is on its way."""
        if request.command not in LOOKS | BESIDE:
            self._forget()
            yield from self.released()
            yield self._with_pattern(request) if request.command in RESUMES else request
            return
        self._look.asked(request)
        if (answer := self._taken(request)) is not None:
            yield self._answered(request, answer)
        elif request.command in self._coming:
            self._waiting.append(request)
        else:
            self._sent[request.seq] = request
            yield request

    def heard(self, message: Message) -> Iterator[Message]:
        """Yield the messages for the client in place of one of the adapter's; then come those `unasked`, and the adapter gets those that are `released`."""
        match message:
            case Event(event=name, body=body) if name == AHEAD:
                yield from self._told(body)
                return
            case Event(event="stopped", body=body):
                self._forget()
                self._look = Look(body.get("threadId"))
                self._sent.clear()
                coming = as_array(body.get(AHEAD))
                self._coming = {each for each in (*LOOKS, DRAIN) if each in coming}
                message = replace(message, body={key: body[key] for key in body if key != AHEAD})
            case Event(event="continued" | "terminated" | "exited" | "invalidated" | "memory"):
                self._forget()
            case Response(request_seq=seq, body=body) if seq in self._sent:
                self._look.answered(self._sent.pop(seq), body)
            case _:
                pass
        yield message

    def unasked(self) -> Iterator[Request | Response]:
        """Yield what the client is told of the innermost frame without asking: each question, as if another client had asked it, and its answer."""
        look = self._look
        for answer in list(self._answers) if look.stack is not None and look.frames else ():
            innermost = answer.command == "scopes" and answer.arguments == {
                "frameId": look.frames[0]
            }
            within = answer.arguments.get("variablesReference") in look.scopes
            if answer.success and (innermost or within):
                self._answers.remove(answer)
                self._unasked.append(answer)
                request = Request(next(self._numbers), answer.command, answer.arguments)
                look.asked(request)
                yield request
                yield self._answered(request, answer)

    def released(self) -> list[Request]:
        """Return the requests that have waited in vain, which the adapter is to get now."""
        released, self._released = self._released, []
        self._sent.update((each.seq, each) for each in released)
        return released

    def _told(self, body: Body) -> Iterator[Response]:
        """Answer who waits for this, and keep the rest."""
        try:
            for answer in map(_response, map(as_object, as_array(body.get("answers")))):
                waiting = next((each for each in self._waiting if _is_to(answer, each)), None)
                if waiting is not None:
                    self._waiting.remove(waiting)
                    yield self._answered(waiting, answer)
                elif answer.command in self._coming:
                    self._answers.append(answer)
        finally:
            if body.get("last"):
                self._release(LOOKS)

    def _taken(self, request: Request) -> Response | None:
        """Take the answer to a request out of those that are here; None if there is none."""
        for answers in (self._answers, self._unasked):
            for answer in answers:
                if _is_to(answer, request):
                    answers.remove(answer)
                    return answer
        return None

    def _answered(self, request: Request, answer: Response) -> Response:
        """Return the response to a request that was answered ahead."""
        self._look.answered(request, answer.body)
        return replace(answer, request_seq=request.seq)

    def _with_pattern(self, request: Request) -> Request:
        pattern, self._look = self._look.pattern, Look()
        if pattern is None:
            return request
        return replace(request, arguments={**request.arguments, AHEAD: pattern})

    def _forget(self) -> None:
        """Forget the answers: they may be wrong by now."""
        self._answers.clear()
        self._unasked.clear()
        self._release(LOOKS | BESIDE)

    def _release(self, commands: AbstractSet[str]) -> None:
        """Expect no more answers of these."""
        self._coming -= commands
        self._released += [each for each in self._waiting if each.command in commands]
        self._waiting = [each for each in self._waiting if each.command not in commands]


def _response(told: Body) -> Response:
    """Return the response that an event has told.

    Raises:
        LookupError: It is an invalid one.
    """
    body, message = as_object(told.get("body")), told.get("message")
    response = shaped(
        Response(
            request_seq=0,
            command=str(told.get("command")),
            success=bool(told.get("success")),
            body=body,
            message=None if message is None else str(message),
            arguments=as_object(told.get("arguments")),
        )
    )
    return replace(response, body=unfolded(response.body))


def _is_to(answer: Response, request: Request) -> bool:
    """Whether an answer is one to this request."""
    return (answer.command, answer.arguments) == (request.command, request.arguments)
