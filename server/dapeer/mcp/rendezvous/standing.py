"""What a server knows of its client, kept for the next server.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Final, TypeAlias, TypeGuard

    from dapeer.base.json_types import Json

    Id: TypeAlias = int | str

SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
"""Where a notification of a stream names the request that has opened it: MCP 2026-07-28."""
LISTS: Final = ("tools", "resources", "prompts")

CONNECTION_CLOSED: Final = -32000
ENDED: Final = (
    "The dapeer server ended before it answered: check with dap_status whether this call was done."
)
OPEN_DIFF: Final = "nvim_open_diff"
"""The beginning of the name of the tool that waits for a person's decision, which then never comes."""
UNDECIDED: Final = "The dapeer server ended before the person decided."
NEWS: Final = (
    "The dapeer server of this connection has ended, together with the programs that it had started. {what} takes "
    "over: dap_status lists the remaining sessions; their ids may have changed."
)

_RESPONSE: Final = b'{"jsonrpc":"2.0","id":'
_AFTER_ID: Final = (b',"result":', b',"error":')
"""How dapeer's responses begin: a long one is not parsed further."""
LONGEST_ID: Final = 200
"""Bytes of an id that is looked for so."""


class ClientWish:
    """What the client has asked for, and what a new server needs to start.

    Args:
        nvim: The Neovim to attach to, as `reaching.connect_to_server` has it.
        arguments: The options of the command line.
        credentials: Those that were in the environment.
        data: Whether it reads the data of results, and cannot say so itself.
    """

    def __init__(
        self,
        nvim: str,
        arguments: Sequence[str],
        credentials: Mapping[str, str],
        *,
        data: bool = False,
    ) -> None:
        self.nvim = nvim
        self.arguments = arguments
        self.credentials = credentials
        self.data = data


class ClientRequests:
    """What the client has sent that a new server must know, and its unanswered requests."""

    def __init__(self) -> None:
        self._initialize_request: Json | None = None
        self._initialized: Json | None = None
        self._subscriptions: dict[str, Json] = {}
        self._pending_requests: dict[Id, Json] = {}
        self._numbers = 0
        self._own_ids: set[Id] = set()
        """The ids of requests of the bridge itself, whose answers the client must not see."""
        self._repeated: set[Id] = set()
        """The streams whose beginning the client has seen."""
        self._note = ""
        """What the model reads with the next answer."""

    # -- messages in both directions

    def record_sent(self, line: bytes) -> None:
        """Record a message of the client to the server, as far as a new server must know it.

        A request counts as open until `record_received` gets its answer, or the client cancels it. A subscription
        to a resource is kept, from the request on, until the client ends it; `notifications/initialized`, the end
        of the handshake, is kept for good. `line` is one message; anything else is ignored, such as another
        notification, a response, or a line that is not JSON. Nothing is sent.
        """
        message = _read(line)
        match message:
            case {"method": "notifications/initialized"}:
                self._initialized = message
            case {
                "method": "notifications/cancelled",
                "params": {"requestId": int() | str() as number},
            }:
                self._pending_requests.pop(number, None)
            case {"method": str() as method, "id": int() | str() as number}:
                self._pending_requests[number] = message
                self._note_subscription(method, message)
            case _:
                pass

    def _note_subscription(self, method: str, message: Json) -> None:
        """Record or forget a subscription to a resource, if a request is one.

        `method` is that of the request `message`.
        """
        match method, message.get("params"):
            case "resources/subscribe", {"uri": str() as uri}:
                self._subscriptions[uri] = message
            case "resources/unsubscribe", {"uri": str() as uri}:
                self._subscriptions.pop(uri, None)
            case _:
                pass

    def record_received(self, line: bytes) -> bytes | None:
        """Record a message of the server, and return the line that the client gets; None: it gets none.

        `line` is the message, as JSON. Answers to the bridge's own requests are kept from the client, and so is the
        second acknowledgement of a stream (a request of the client that was sent again to a new server). Otherwise the
        line comes back as it is, but after a change of servers the next answer to a tool call that has content has a text
        on it. A request is no longer pending once its answer came. The `initialize` that was answered with a result is
        kept, to open the connection to a later server; an error does not change which one is kept.
        """
        message = _response(line) or _read(line)
        if "method" in message:
            return None if self._take_repeated_acknowledgement(message) else line
        number = message.get("id")
        if number in self._own_ids:
            self._own_ids.discard(number)
            return None
        request = (
            self._pending_requests.pop(number, None) if isinstance(number, int | str) else None
        )
        method = request and request["method"]
        if method == "initialize":
            # What one server has refused opens no connection to the next.
            self._initialize_request = (
                request if "result" in _read(line) else self._initialize_request
            )
        elif method == "tools/call" and self._note:
            return self._with_note(line)
        return line

    def _take_repeated_acknowledgement(self, message: Json) -> bool:
        """Return whether a message acknowledges a stream that was open when the server changed; forget it.

        `message` is a notification or request from the server. A stream is one that the client has opened by a
        request (`subscriptions/listen`) that was unanswered when `messages_after_opening` sent it to the new server;
        the client counts as having seen its first acknowledgement. A second call with the same stream returns
        False. Any other message returns False and changes nothing.
        """
        if message["method"] != "notifications/subscriptions/acknowledged":
            return False
        number = _part(message, "params", "_meta").get(SUBSCRIPTION)
        repeated = number in self._repeated
        self._repeated.discard(number)
        return repeated

    def _with_note(self, line: bytes) -> bytes:
        """Return the answer to a tool call, in a line, with a text on the change of servers at its end.

        `line` is the answer. The text is added once; an answer that has no content is returned unchanged, and the text is kept for the
        next.
        """
        answer = _read(line)
        content = _part(answer, "result").get("content")
        if not _is_array(content):
            return line
        content.append({"type": "text", "text": self._note})
        self._note = ""
        return _line(answer)

    # -- from one server to the next

    def take_lost_requests(self) -> tuple[Sequence[bytes], Sequence[bytes]]:
        """Record that the server has ended: return the lines for the client, and those for the next server.

        The first are errors, one for each open request; a call that waits for a person's decision on a diff gets the result "rejected"
        instead. The second is at most one, an unanswered `initialize`. All these requests are forgotten, and so are the bridge's own: who
        sends the `initialize` again records it again by `record_sent`. Streams of changes (`subscriptions/listen`) stay open, and are in
        neither.
        """
        answers: list[bytes] = []
        again: list[bytes] = []
        for number, request in list(self._pending_requests.items()):
            if request["method"] == "subscriptions/listen":
                continue
            del self._pending_requests[number]
            if request["method"] == "initialize":
                again.append(_line(request))
            else:
                answers.append(
                    _line({"jsonrpc": "2.0", "id": number, **_answer_of_ended_server(request)})
                )
        self._own_ids.clear()
        return answers, again

    def opening_request(self) -> tuple[bytes, Id] | None:
        """Return the client's `initialize` for another server, as a line, and its id, one of the bridge's own.

        Its answer will be kept from the client. None: the client's `initialize` was never answered, or its protocol has none.
        """
        if self._initialize_request is None:
            return None
        return self._own_request(self._initialize_request)

    def messages_after_opening(self) -> Iterator[bytes]:
        """Yield the lines that another server gets once the bridge has opened a connection to it.

        These are the client's `initialized`, the end of the handshake, if it has sent one; its subscriptions,
        with ids of the bridge's own; and its unanswered requests, unchanged. Behind the subscriptions, when the
        iterator is asked for its next line, the unanswered requests are recorded as repeated: from then on,
        acknowledgements of their streams are kept from the client. So the iterator has to be exhausted.
        """
        if self._initialized is not None:
            yield _line(self._initialized)
        for message in self._subscriptions.values():
            yield self._own_request(message)[0]
        self._repeated = set(self._pending_requests)
        for message in self._pending_requests.values():
            yield _line(message)

    def announce_change(self, server_name: str) -> Iterator[bytes]:
        """Yield the notifications, as lines, that tell the client to fetch all lists and resources anew.

        These are `list_changed` for tools, resources and prompts once the handshake has ended, `resources/updated`
        for each subscription, and both for each open `subscriptions/listen`, as far as that has asked for them. The
        next answer to a tool call also gets a text for the model which says that the former server has ended;
        `server_name` begins its sentence "… takes over". Nothing of this happens until the first line is taken.
        """
        self._note = NEWS.format(what=server_name)
        if self._initialized is not None:
            for name in LISTS:
                yield _notification(f"{name}/list_changed")
        for uri in self._subscriptions:
            yield _notification("resources/updated", uri=uri)
        for number, request in self._pending_requests.items():
            notifications = _part(request, "params", "notifications")
            about = {"_meta": {SUBSCRIPTION: number}}
            for name in (name for name in LISTS if notifications.get(f"{name}ListChanged")):
                yield _notification(f"{name}/list_changed", **about)
            watched = notifications.get("resourceSubscriptions")
            for uri in watched if _is_array(watched) else ():
                yield _notification("resources/updated", uri=uri, **about)

    def _own_request(self, message: Json) -> tuple[bytes, Id]:
        """Return the line and the id of a request that gets an id of the bridge's own.

        The answer to it is kept from the client.
        """
        self._numbers += 1
        number = f"dapeer-bridge-{self._numbers}"
        self._own_ids.add(number)
        return _line({**message, "id": number}), number


def _notification(method: str, **params: object) -> bytes:
    more = {"params": params} if params else {}
    return _line({"jsonrpc": "2.0", "method": f"notifications/{method}", **more})


def _answer_of_ended_server(request: Json) -> Json:
    """Return the `result` or `error` that answers a request whose server has ended, as a JSON object.

    A call of a tool whose name begins with `OPEN_DIFF`, which waits for a person to decide on a diff, gets the
    result that the diff was rejected; any other request gets the error that the server has ended.
    """
    name = _part(request, "params").get("name")
    if not (isinstance(name, str) and name.startswith(OPEN_DIFF)):
        return {"error": {"code": CONNECTION_CLOSED, "message": ENDED}}
    arguments = _part(request, "params", "arguments")
    tab = arguments.get("tab_name") or arguments.get("new_file_path")
    texts = ("DIFF_REJECTED", str(tab), UNDECIDED)
    return {"result": {"content": [{"type": "text", "text": text} for text in texts]}}


def response_id(line: bytes) -> Id | None:
    """Return the id of a response in a line; None for other messages."""
    message = _read(line)
    return None if "method" in message else message.get("id")


def _part(message: Json, *names: str) -> Json:
    """Return the object at a path of property names in a message; an empty one if there is none."""
    for name in names:
        inner = message.get(name)
        message = inner if _is_object(inner) else {}
    return message


def _read(line: bytes) -> Json:
    try:
        message: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        return {}
    return message if _is_object(message) else {}


def _response(line: bytes) -> Json | None:
    """Return an object with only the `id` of a response, without parsing the whole line.

    `line` is a message of the server, one line of JSON. None: the line does not begin as dapeer's responses
    do, `jsonrpc` and `id` first, then `result` or `error`, or its id is about as long as `LONGEST_ID` or longer.

    Raises:
        ValueError: What stands as the id is no JSON.
    """
    if line.startswith(_RESPONSE):
        begin = len(_RESPONSE)
        for mark in _AFTER_ID:
            if (end := line.find(mark, begin, begin + LONGEST_ID)) > 0:
                return {"id": json.loads(line[begin:end].decode())}
    return None


def _line(message: Json) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
