"""A session that is told message by message."""

from dataclasses import replace

from dapeer.dap.messages import Body, Event, Request, Response
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import OutputIntake
from dapeer.mirror.stops import Stop


class Told:
    """A mirror of a session that is told message by message."""

    def __init__(self, printed: OutputIntake | None = None) -> None:
        self.mirror = Mirror(printed=printed)
        self._seq = 0
        self.mirror.apply(Event("process", {"name": "a"}))
        self.event("thread", reason="started", threadId=1)

    def event(self, name: str, **body: object) -> None:
        self.mirror.apply(Event(name, body))

    def stopped(self, thread: int = 1, *, everybody: bool = True, reason: str = "step") -> Stop:
        self.event("stopped", reason=reason, threadId=thread, allThreadsStopped=everybody)
        stop = self.mirror.stop
        assert stop is not None
        assert (stop.number, stop.thread_id) == (self.mirror.epoch, thread)
        return stop

    def ask(self, command: str, **arguments: object) -> Request:
        """Send a request that has no answer yet."""
        self._seq += 1
        request = Request(self._seq, command, arguments)
        self.mirror.apply(request)
        return request

    def answer(self, request: Request, body: Body | None = None, *, success: bool = True) -> None:
        """Answer a request as a channel would show it: with what was asked."""
        response = Response(request.seq, request.command, success=success, body=body or {})
        self.mirror.apply(replace(response, arguments=request.arguments))

    def tell(self, command: str, body: Body, **arguments: object) -> None:
        """Send a request and have it answered at once."""
        self.answer(self.ask(command, **arguments), body)

    def threads(self, *ids: int) -> None:
        self.tell("threads", {"threads": [{"id": each, "name": f"T{each}"} for each in ids]})

    def frames(self, count: int, total: int | None = None, thread: int = 1, start: int = 0) -> None:
        body: dict[str, object] = {"stackFrames": [frame(start + n) for n in range(count)]}
        if total is not None:
            body["totalFrames"] = total
        self.tell("stackTrace", body, threadId=thread, startFrame=start, levels=20)

    def variables(self, reference: int, **shown: str) -> None:
        self.tell("variables", {"variables": variables(shown)}, variablesReference=reference)


def frame(number: int) -> dict[str, object]:
    return {"id": 100 + number, "name": f"f{number}", "line": 1, "column": 1}


def variables(shown: dict[str, str]) -> list[dict[str, object]]:
    return [{"name": n, "value": v, "variablesReference": 0} for n, v in shown.items()]
