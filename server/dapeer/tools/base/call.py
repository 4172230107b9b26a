"""A call of a tool: what it is given, its deadline, and its answer, with notes."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

import anyio

from dapeer.base.errors import DapeerError, RefusedByPerson, ToolTimeout
from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.text.lines import escaped, indented_after_first
from dapeer.peers import Action, Peers, ProgressCallback
from dapeer.peers.consent_kinds import ActionKind
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScriptClient:
    """The client that a script is: its calls are made under the name of the client that runs it."""

    focus: Focus
    """Its default session, and the programs that it has started."""
    client: str
    """Name and version of the client that runs it."""
    outliving_sessions: set[int] = field(default_factory=set[int])
    """The ids of sessions that are to outlive it."""
    notes: list[str] = field(default_factory=list[str])
    """What became of its sessions at its end."""


ServeScript = Callable[[socket.socket, ScriptClient], Coroutine[Any, Any, None]]
"""Serves the script at the other end of a socket until it closes that."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: its context, and its progress."""

    debugger: Debugger
    progress: ProgressCallback
    """Sends the client the newest progress while it waits."""
    peers: Peers
    """The attached Neovims, with the people who use them."""
    focus: Focus
    """The client's default session."""
    client: str = ""
    """Name and version of the client, if it has sent them."""
    neovim_tools: Mapping[str, AnyTool] = field(default_factory=dict[str, "AnyTool"])
    """The tools of the attached Neovims that this client may use, by name."""
    integration_objects: Sequence[object] = ()
    """What integrations give to their tools."""
    read_only: bool = False
    """Whether the server is read-only, which no consent overrides."""
    allowed_kind: ActionKind | None = None
    """The kind that a read-only tool may do in this call, after consent."""
    notes: list[str] = field(default_factory=list[str])
    """What its answer adds."""
    serve_script: ServeScript | None = None
    """Serves a script that this call runs; None: the call is a script's own, which runs no others."""

    def session(self, session_id: int | None) -> Session:
        """Return the session that a call acts on: the one with this id, or the client's default session.

        Where that session is debugged as its first child, the child is returned. Without an id, a stopped process of
        the default's program comes before one that runs. The session becomes the client's default unless, without an
        id, it is of another program; one that is given by id also where an error follows. A session that has ended is
        returned, too, if its id is given, or if it is the default and no other program lives, or its own goes on
        unstopped: the caller checks. If, without an id, it is another session than that of the client's last answer, a
        note on this is added to the call's answer.

        Raises:
            NoSession: There is no such session, or without an id it is not clear which one is meant, or the
                default process has ended while another one of its program is stopped.
            NotStopped: A signal killed the session's process while it was stopped.
        """
        last = self.focus.last
        session = self.focus.session_to_act_on(session_id)
        if session_id is None and last is not None and last is not session:
            state = "had ended" if last.mirror.has_ended else "was running"
            why = f"because session {last.id} {state}"
            self.notes.append(f"the call went to session {session.id}, {why}")
        return session

    def given(self, kind: type[T]) -> T | None:
        """Return the object of type `kind` that an integration provides to its tools; None: there is none."""
        return next((each for each in self.integration_objects if isinstance(each, kind)), None)

    def require_consent(self, kind: ActionKind, action_sentence: str, instead: str) -> None:
        """Raise `ConsentNeeded` unless this call may do something of `kind`, which the tool is about to do.

        A tool that is declared read-only calls this before an action that changes something; the call is made again after
        the person's consent. `action_sentence` is a sentence on the action, `instead` one on what the assistant can do
        without it: both stand in the error if the person refuses.

        Raises:
            ConsentNeeded: Nobody has consented to this kind for this call.
        """
        if self.allowed_kind != kind:
            raise ConsentNeeded(kind, action_sentence, instead)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a tool: text for a model, and the same facts as data for a program."""

    text: str
    facts: Json | Callable[[], Json] | None = None
    """The same facts as data; a function makes them, as few clients ask for data.

    Each word of them is in the text.
    """
    content: Sequence[Json] | None = None
    """MCP's content blocks, where text is not all."""
    failed: bool = False
    """It is an error with the message of an external tool."""
    meta: Json | None = None
    """What the author of an external tool gives besides, such as the code of an error."""

    raw: bool = False
    """It is a text of others that is shown as it is, with characters that are not seen."""
    max_value_chars: int = 0
    """Characters of one value that the caller has asked for; 0: the limit of answers holds."""

    @property
    def data(self) -> Json | None:
        """The facts as data; None if there are none. If `facts` is a function, it is called each time."""
        return self.facts() if callable(self.facts) else self.facts

    @property
    def outcome(self) -> str:
        """The first line of the text, which people are shown."""
        return self.text.partition("\n")[0]


class ConsentNeeded(Exception):
    """A read-only tool needs more: `what` says why, `instead` what to do without."""

    def __init__(self, kind: ActionKind, action_sentence: str, instead: str) -> None:
        super().__init__(action_sentence)
        self.kind: ActionKind = kind
        self.refusal = RefusedByPerson(action_sentence, instead)


class AnyTool(Protocol):
    """A tool as a client sees it."""

    @property
    def name(self) -> str:
        """The name by which it is called."""
        ...

    @property
    def title(self) -> str:
        """The title for people."""
        ...

    @property
    def description(self) -> str:
        """The description for a model."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        ...

    @property
    def destructive(self) -> bool:
        """Whether something may be lost."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether calling it again changes nothing more."""
        ...

    @property
    def input_schema(self) -> Json:
        """Its arguments."""
        ...

    @property
    def output_schema(self) -> Json | None:
        """The schema of its data; None: any data."""
        ...

    @property
    def groups(self) -> Sequence[str]:
        """The names by which the option `--tools` selects it."""
        ...

    async def __call__(self, call: Call, arguments: Json) -> Reply:
        """Check the arguments, ask the person for consent where needed, run the tool, return its answer."""
        ...


class People(Protocol):
    """The people who consent before an action, and see it afterwards."""

    async def wait_for_consent(self, action: Action) -> None:
        """Ask the people for consent to an action, and return when they have given it.

        Raises `RefusedByPerson` if they do not give it.
        """
        ...

    def show_outcome(self, action: Action, outcome: str, *, ok: bool) -> None:
        """Show people what has become of an action.

        `outcome` is a line of text; `ok` is false if the action failed.
        """
        ...


async def run_with_consent(
    people: People, action: Action | None, work: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Ask people for consent, do the `work`, and show them its outcome; return the work's reply.

    `action` is what they are asked for; `work` is called once, without arguments, after all have consented.
    If `action` is None, nobody is asked or shown anything. `people` is whoever asks and shows: in the
    server, the `Peers`, whose answers are awaited without a limit. People are shown the `outcome` of the
    reply, or that consent or work has failed or was cancelled; the error or cancellation is then raised
    again. An error that is no `DapeerError` is shown as a bug in dapeer.

    Raises:
        RefusedByPerson: A person did not allow it, or cannot be asked any more; the work was not begun.
        DapeerError: The work has raised it; any other exception of the work leaves, too.
    """
    if action is None:
        return await work()
    try:
        await people.wait_for_consent(action)
        reply = await work()
    except anyio.get_cancelled_exc_class():
        people.show_outcome(action, "The assistant did not wait for the outcome.", ok=False)
        raise
    except Exception as error:
        fault = "It failed because of a bug in dapeer."
        people.show_outcome(
            action, escaped(str(error)) if isinstance(error, DapeerError) else fault, ok=False
        )
        raise
    people.show_outcome(action, escaped(reply.outcome), ok=not reply.failed)
    return reply


def with_notes(reply: Reply, notes: Sequence[str]) -> Reply:
    """Return a copy of a reply with notes, in its text and its data.

    Each is a line in parentheses below the text, and an element of `notes` in the data, behind those that are
    there; a reply without data gets data with `notes` alone. Without notes the reply itself is returned. Characters
    that are not seen are escaped in the notes.
    """
    if not notes:
        return reply
    # A reply that shows a text as it is has nothing else of others.
    notes = [escaped(note) for note in notes]
    data = dict(reply.data or {})
    data["notes"] = [*data.get("notes", ()), *notes]
    return replace(
        reply,
        text="\n".join([reply.text, *(indented_after_first(f"({note})") for note in notes)]),
        facts=data,
    )


def neovim_note(call: Call, session: Session) -> list[str]:
    """Return a note that names the Neovim in which a session runs, as a list; empty if none has it."""
    peer = call.peers.peer_of_session(session)
    return [f"it runs in Neovim {peer.id} (pid {peer.pid}, in {peer.place})"] if peer else []


# The deadline of a tool call.

SECONDS_WITHOUT_TIMEOUT = 15.0
"""Seconds for a tool without a timeout: a single request may take 10 of them."""
SECONDS_AFTER_TIMEOUT = 0.8
"""Seconds after the caller's timeout in which the result is written."""
TIMEOUTS = ("timeout_ms", "wait_ms")
"""Arguments in which a caller gives a timeout, in milliseconds."""

SECONDS_TO_INSPECT = 0.5
"""Seconds after the caller's timeout in which a stop may still be inspected."""


class RemainingTime:
    """The remaining time of a caller."""

    def __init__(self, timeout_ms: float) -> None:
        self._clock = anyio.current_time
        self._begin_time = self._clock()
        self._end_time = self._begin_time + timeout_ms / 1000

    @property
    def elapsed_s(self) -> float:
        """Seconds since this object was made, at the beginning of the call."""
        return self._clock() - self._begin_time

    @property
    def remaining_ms(self) -> float:
        """Milliseconds until the caller's timeout; 0 after it."""
        return max(self._end_time - self._clock(), 0) * 1000

    @property
    def seconds_to_wait(self) -> float:
        """Seconds for which to wait for the adapter, so that time is left to inspect the stop; at least 0."""
        return max(self.seconds_to_inspect - SECONDS_TO_INSPECT / 2, 0)

    @property
    def seconds_to_inspect(self) -> float:
        """Seconds until the inspection of a stop has to end; at least 0.

        That is a little after the caller's timeout.
        """
        return max(self._end_time + SECONDS_TO_INSPECT - self._clock(), 0)


def seconds_for(arguments: Mapping[str, object]) -> float:
    """Return how many seconds a call of a tool that talks to an adapter may take.

    That is its `timeout_ms` or `wait_ms` among the `arguments` (in milliseconds) and a little more, or `SECONDS_WITHOUT_TIMEOUT`.

    >>> seconds_for({"timeout_ms": 2000}), seconds_for({"expression": "x"}), seconds_for({"wait_ms": 0})
    (2.8, 15.0, 0.8)
    """
    for name in TIMEOUTS:
        if isinstance(given := arguments.get(name), int):
            return given / 1000 + SECONDS_AFTER_TIMEOUT
    return SECONDS_WITHOUT_TIMEOUT


async def run_with_deadline(name: str, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Await the `work` of a tool, and return its result; cancel it after `seconds`.

    `name` is the tool's, for the error. Nothing is killed: late answers of the adapter still reach the session's mirror.

    Raises:
        ToolTimeout: The time has passed.
    """
    with anyio.move_on_after(seconds):
        return await work
    raise ToolTimeout(
        f"{name} timed out after {seconds:g} s: the adapter has not answered.",
        "The session continues: check with dap_status, try again, or end it with dap_terminate.",
    )


# Converts the results of tools written in Lua to replies.


BLOCKS: Final = {
    "text": {"text"},
    "image": {"data", "mimeType"},
    "audio": {"data", "mimeType"},
    "resource": {"resource"},
    "resource_link": {"uri", "name"},
}
"""MCP's kinds of content, and the required fields of each."""


def reply_of(answer: Any) -> Reply:  # noqa: ANN401 - any JSON value
    """Convert what a tool written in Lua has returned to a reply.

    `answer` is the value after its JSON was parsed. An MCP content block (an object with a `type` of `BLOCKS`
    and all fields that it requires) becomes the reply's content. So does the `content` of an MCP result: an
    object whose `content` is a list, if it has `isError`, or if the list is not empty and each item is an
    object with a `type`; items that are no objects become text blocks. Of a result `isError` is kept, and `structuredContent` and `_meta` if they are
    objects; data without a text block is appended as one. Any other object becomes JSON text, with itself as
    data. A text stays as it is, other values become JSON text, both without data; None gives a sentence that
    there is no result.
    """
    if answer is None:
        return Reply("The tool has finished; it gave no result (nil).")
    if isinstance(answer, str):
        return Reply(answer)
    if not is_object(answer):
        return Reply(compact(answer))
    fields = answer
    if _is_block(fields):
        return _reply_with([fields], None)
    blocks: object = fields.get("content")
    if is_array(blocks) and ("isError" in fields or _are_typed(blocks)):
        facts, failed = _facts(fields.get("structuredContent")), bool(fields.get("isError"))
        blocks = [each if is_object(each) else _text_block(each) for each in blocks]
        reply = _reply_with(blocks, facts, failed=failed)
        return replace(reply, meta=_facts(fields.get("_meta")))
    return Reply(compact(fields), fields)


def _are_typed(items: list[object]) -> bool:
    """Whether a list has items, and each of them is an object with a `type`, as MCP's content blocks."""
    return bool(items) and all(isinstance(one, dict) and "type" in one for one in items)


def _facts(data: object) -> Json | None:
    """Return a JSON object as data, or None for any other value.

    An empty list, which is how Lua's empty table arrives, becomes an empty object.
    """
    if is_object(data):
        return data
    # Lua's empty table is a list.
    return {} if data == [] else None


def _reply_with(blocks: Sequence[Json], data: Json | None, *, failed: bool = False) -> Reply:
    """Return a reply with these MCP content blocks, whose text is that of the text blocks, a line each.

    If there is `data` but no text block, a text block with the data as JSON is appended, because most clients show no data. `failed`: the
    tool reports an error; without blocks and data the reply then says that no reason was given.
    """
    if failed and not blocks and not data:
        return Reply("The tool failed without saying why.", data, failed=True)
    if data and not any(block.get("type") == "text" for block in blocks):
        # Most clients get no data, so facts that are only there become text.
        blocks = [*blocks, _text_block(data)]
    texts = [str(block.get("text")) for block in blocks if block.get("type") == "text"]
    return Reply("\n".join(texts), data, blocks, failed)


def _text_block(value: object) -> Json:
    """Return MCP's content block of a text, or of any other value as JSON text."""
    return {"type": "text", "text": value if isinstance(value, str) else compact(value)}


def _is_block(value: object) -> bool:
    """Whether a value is a valid MCP content block.

    It has a `type` of `BLOCKS`, and all fields that this type requires.
    """
    if not is_object(value):
        return False
    fields = value
    needed = BLOCKS.get(str(fields.get("type")))
    return needed is not None and needed <= fields.keys()


def compact(value: object) -> str:
    """Return a value as JSON in as few characters as possible."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
