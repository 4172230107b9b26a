"""Tools that work in the sessions of an OpenCode server. They are offered only while one is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from dapeer.base.json_types import Json, as_object
from dapeer.base.secret_files import HIDDEN
from dapeer.base.text.fitting import shortened
from dapeer.integrations.opencode import messages, relay
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.messages import (
    LONGEST_TEXT,
    Decision,
    PromptOutcome,
    conversation_text,
    is_prompt,
    last_prompt,
    message_data,
    new_id,
)
from dapeer.integrations.opencode.prompt_runs import Begin, OpenCodeSession, PromptRun
from dapeer.integrations.opencode.relay import (
    ASKS_BY_ITSELF,
    SECTION,
    Directory,
    catalogue_of,
    directory_of,
    reply_to_call,
)
from dapeer.peers.consent_kinds import RUNS
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import tool

MILLISECONDS_TO_WAIT: Final = 600_000
"""Milliseconds until the wait for a prompt ends."""
MAX_COUNT: Final = 100
LONGEST_PATCH: Final = 20_000

Answer = list[str]
"""The chosen options of one question."""
Milliseconds = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]


@tool("List OpenCode sessions", section=SECTION, read_only=True)
async def opencode_sessions(call: Call, directory: Directory = None, count: Count = 20) -> Reply:
    """List a directory's OpenCode sessions, the newest first, and whether they are busy.

    At most `count` sessions are listed, none that has a parent session. A relative `directory` is below the
    project; None: the project. The data has `sessions`, each with `session_id`, `title`, `directory` and
    `state`: `idle`, or the state that OpenCode tells of a busy session.

    Raises:
        NoOpenCode: No OpenCode server is known.
        OpenCodeError: OpenCode is gone, or rejects the request.
    """
    opencode, where = _opencode(call), directory_of(call, directory)
    found = await opencode.get("/session", where, roots="true", limit=count)
    busy = await opencode.get("/session/status", where)
    rows = [_session(one, busy) for one in found]
    lines = [f"{row['session_id']} {row['state']}: {row['title']}" for row in rows]
    return Reply("\n".join(lines) or f"OpenCode has no session in {where}.", {"sessions": rows})


@tool("Create an OpenCode session", section=SECTION, kinds=RUNS)
async def opencode_session_create(
    call: Call, title: str | None = None, directory: Directory = None, agent: str | None = None
) -> Reply:
    """Create an OpenCode session for opencode_prompt."""
    opencode, where = _opencode(call), directory_of(call, directory)
    body = await catalogue_of(call).agent_field(where, agent)
    # Without a title, OpenCode asks a model for one.
    made = await opencode.post("/session", {**body, "title": title or "dapeer"}, where)
    return Reply(f"Session {made['id']} in {made['directory']}.", _session(made, {}))


@tool("Prompt OpenCode", section=SECTION, kinds=ASKS_BY_ITSELF, destructive=True)
async def opencode_prompt(
    call: Call,
    session_id: str,
    prompt: str,
    agent: str | None = None,
    model: Annotated[str | None, Field(description="provider/model")] = None,
    wait: bool = True,
    timeout_ms: Milliseconds = MILLISECONDS_TO_WAIT,
) -> Reply:
    """Prompt an OpenCode session; returns the answer with the tool calls made, or what it asks (see opencode_reply).

    `agent` is an agent's name, `model` has the form `provider/model`; for None OpenCode chooses. The reply
    comes when the session has answered or asks, or after `timeout_ms` milliseconds once OpenCode has the
    prompt; then the session works on, and the reply's `state` is `running`. Without `wait` the reply comes,
    with this state unless it has ended or asks by then, once OpenCode works on the prompt or has queued it, and
    `timeout_ms` does not count. If the call is cancelled while it waits, a run that it started in an idle
    session is stopped, unless another client has written to that session since.

    Raises:
        ArgumentError: There is no such session, agent or model.
        OpenCodeError: No OpenCode server is known, it is gone, or it rejects the request.
    """
    known, opencode = catalogue_of(call), _opencode(call)
    session = await known.request_session(session_id)
    where = Path(session["directory"])
    run = PromptRun(opencode, session, new_id())
    body: Json = {
        "messageID": run.prompt,
        "parts": [{"type": "text", "text": prompt}],
        **await known.agent_field(where, agent),
        **await known.model_field(where, model),
    }
    path = f"/session/{session_id}/prompt_async"
    return await _start_run(
        call, run, lambda: opencode.post(path, body, where), timeout_ms if wait else None
    )


@tool("Run an OpenCode command", section=SECTION, kinds=ASKS_BY_ITSELF, destructive=True)
async def opencode_command(
    call: Call,
    session_id: str,
    command: str,
    arguments: str = "",
    wait: bool = True,
    timeout_ms: Milliseconds = MILLISECONDS_TO_WAIT,
) -> Reply:
    """Run an OpenCode command or skill in a session, as `/command arguments` does; returns as opencode_prompt.

    `command` is the name, with or without its slash; `arguments` is the text behind it. After `timeout_ms` the
    session works on, and the reply's `state` is `running`; without `wait` the reply comes once OpenCode
    works on the command or has queued it. If the call is cancelled while it waits, a run that it started
    in an idle session is stopped.

    Raises:
        ArgumentError: There is no such session, or its directory has no such command; the error names similar
            ones.
        OpenCodeError: No OpenCode is known, or it is gone, or rejects the request.
    """
    opencode = _opencode(call)
    session = await catalogue_of(call).request_session(session_id)
    where = Path(session["directory"])
    run = PromptRun(opencode, session, new_id())
    body = {
        "messageID": run.prompt,
        "command": await catalogue_of(call).check_command(where, command),
        "arguments": arguments,
    }
    path = f"/session/{session_id}/command"
    # OpenCode answers when the command has ended; it runs on if the connection closes.
    return await _start_run(
        call,
        run,
        lambda: opencode.post(path, body, where, seconds=None),
        timeout_ms if wait else None,
    )


@tool("Answer OpenCode", section=SECTION, kinds=ASKS_BY_ITSELF, destructive=True)
async def opencode_reply(
    call: Call,
    session_id: str,
    request_id: Annotated[str | None, Field(description="needed if it asks several")] = None,
    decision: Decision | None = None,
    answers: Annotated[
        list[Answer] | None, Field(description="for each question: option labels, or free text")
    ] = None,
    message: Annotated[
        str | None, Field(description="a reason to reject: the run continues")
    ] = None,
    timeout_ms: Milliseconds = MILLISECONDS_TO_WAIT,
) -> Reply:
    """Answer what a session asks: a permission by decision, questions by answers or decision reject; then waits as opencode_prompt does.

    What a subagent's session asks can be answered by the id of its session or of one above it. `request_id` is the
    id of the permission or question; None: the only one that waits. `decision` is `once`, `always` or `reject` for
    a permission, `reject` or None for a question. `answers` has a list of option labels or free texts for each
    question, in their order. `message` is only for a permission that is rejected. After `timeout_ms` the session
    works on, and the reply's `state` is `running`. The data is that of opencode_prompt: `session_id`, `state`,
    `answer`, `tool_calls`, and maybe `error`, `asks` and counts of what was cut.

    A session that was created for the call of an OpenCode tool gives that tool's result instead. It is deleted
    unless it asks again; a tool that still runs after `timeout_ms`, or when the call is cancelled, is stopped.

    Raises:
        ArgumentError: There is no such session, nothing waits for an answer there, no request has the id, several
            wait and `request_id` is None, or the answer does not fit; no answer was sent.
        NoOpenCode: No server is known.
        OpenCodeError: OpenCode is gone, or rejects a request.
        OpenCodeFailed: The session is that of a tool's call, which took too long.
    """
    opencode = _opencode(call)
    session = await catalogue_of(call).request_session(session_id)
    run = await _run_that_asks(opencode, session)
    ask = messages.ask_to_answer(await run.session.asks(), request_id)
    path, body = messages.reply_request(ask, decision, answers, message)
    going_on = run.wait(
        lambda: opencode.post(path, body, run.session.directory),
        call.progress,
        timeout_ms / 1000,
        reply_to=ask["id"],
    )
    if relay.is_call(session):
        return reply_to_call(session, await relay.await_call(opencode, session, going_on))
    return _reply(run, await going_on)


@tool("Read OpenCode messages", section=SECTION, read_only=True)
async def opencode_messages(
    call: Call,
    session_id: str,
    count: Count = 10,
    start: Annotated[int, Field(ge=0, description="newest ones to skip")] = 0,
    length: Annotated[int, Field(ge=1, le=LONGEST_TEXT, description="of each text, at most")] = 500,
) -> Reply:
    """Read messages of an OpenCode session, the last ones by default, tool calls included.

    They come oldest first: the `count` messages before the `start` newest ones, of which the oldest are left
    out where the answer gets too long. Where there may be earlier ones, the first line names the `start` that
    shows them. `length` is the number of characters that are shown of each text. The data has `messages`, a
    list of those that are shown: each with `message_id`, `role`, `text` and `tool_calls`, and `error` if it
    has failed.

    Raises:
        ArgumentError: There is no such session.
        NoOpenCode: No OpenCode is known.
        OpenCodeError: OpenCode is gone, or rejects the request.
    """
    opencode = _opencode(call)
    session = await catalogue_of(call).request_session(session_id)
    found = await _messages(opencode, session, start + count)
    page = found[max(0, len(found) - start - count) : max(0, len(found) - start)]
    text, shown = conversation_text([message_data(one, length) for one in page])
    rows = [message_data(one, length) for one in page[len(page) - shown :]]
    if len(found) >= start + count or shown < len(page):
        text = f"(earlier ones: start {start + shown})\n{text}"
    none = f"No messages before the {start} newest." if found else "No messages yet."
    return Reply(text or none, {"messages": rows})


@tool("OpenCode session state", section=SECTION, read_only=True)
async def opencode_status(call: Call, session_id: str) -> Reply:
    """Return whether an OpenCode session runs, is done or needs input, and the result of its last prompt."""
    run = PromptRun(_opencode(call), await catalogue_of(call).request_session(session_id))
    facts = messages.outcome_data(session_id, await run.state())
    return Reply(messages.outcome_text(facts), facts)


@tool("Stop an OpenCode run", section=SECTION, kinds=RUNS, destructive=True, idempotent=True)
async def opencode_abort(call: Call, session_id: str) -> Reply:
    """Stop what an OpenCode session is doing.

    It is stopped whichever client has started it, and what the session and its subagents ask the person is
    rejected. If the session was created for the call of a tool, it is also deleted; this takes at most
    `relay.SECONDS_TO_END`, and failures of OpenCode are ignored then: the answer says that the session was
    stopped in any case. The data has `session_id`.

    Raises:
        ArgumentError: There is no such session.
        OpenCodeError: OpenCode is gone, no server of it is known, or it rejects the request.
    """
    opencode = _opencode(call)
    session = await catalogue_of(call).request_session(session_id)
    if relay.is_call(session):
        await relay.end_call(opencode, session)
    else:
        await OpenCodeSession(opencode, session).abort()
    return Reply(f"Session {session_id} was stopped.", {"session_id": session_id})


@tool("OpenCode to-do list", section=SECTION, read_only=True)
async def opencode_todo(call: Call, session_id: str) -> Reply:
    """Read the to-do list of an OpenCode session."""
    opencode = _opencode(call)
    await catalogue_of(call).request_session(session_id)
    todos = await opencode.get(f"/session/{session_id}/todo")
    lines = [f"[{one['status']}] {one['content']}" for one in todos]
    return Reply("\n".join(lines) or "The list is empty.", {"todos": todos})


@tool("OpenCode changes", section=SECTION, read_only=True)
async def opencode_diff(call: Call, session_id: str, whole_session: bool = False) -> Reply:
    """Read the file changes of an OpenCode session's last prompt, or of all its prompts, oldest first.

    `session_id` is OpenCode's. `whole_session` takes all prompts; a file that several have changed is there several
    times. Only the last 1000 messages are searched for prompts. The data has `files`, objects as OpenCode sends
    them, with the key `patch`, which is shortened, and hidden for a file of secrets. Empty: OpenCode reports none,
    and the text says why that may be.

    Raises:
        ArgumentError: There is no such session.
        OpenCodeError: No server is known, or OpenCode is gone or rejects a request.
    """
    opencode = _opencode(call)
    session = await catalogue_of(call).request_session(session_id)
    prompts = [one for one in await _messages(opencode, session, 1000) if is_prompt(one)]
    rows: list[Json] = []
    for one in prompts if whole_session else prompts[-1:]:
        rows += await _request_changes(opencode, session, one["info"])
    secret, root = call.debugger.files.secret, Path(session["directory"])
    rows = [
        {**one, "patch": HIDDEN} if secret.hides(str(root / one["file"])) else one for one in rows
    ]
    if rows:
        return Reply(
            shortened("\n".join(map(messages.change_text, rows)), LONGEST_TEXT),
            {"files": rows},
        )
    why = (
        "it sees changes only in a git repository"
        if session.get("projectID") == "global"
        else "with `snapshot: false` it sees none"
    )
    return Reply(f"OpenCode reports no changes; {why}.", {"files": rows})


@tool("List OpenCode agents", section=SECTION, read_only=True)
async def opencode_agents(call: Call, directory: Directory = None) -> Reply:
    """List OpenCode's agents, models and commands in a directory.

    `directory` is relative to the project, or absolute; None is the project itself. The data has `agents`,
    `models` (each as `provider/model`) and `commands`, lists of names; the text has at most `MAX_COUNT` of
    each. Hidden agents and the models of dapeer's own plugin are left out; skills and prompts of MCP servers
    are commands. Answers of OpenCode that are cached are not asked for again.

    Raises:
        NoOpenCode: No server is known.
        OpenCodeError: OpenCode is gone, or rejects a request.
    """
    known, where = catalogue_of(call), directory_of(call, directory)
    by_kind: dict[str, list[str]] = {
        "agents": [one["name"] for one in await known.agents(where)],
        "models": await known.models(where),
        "commands": [one["name"] for one in await known.commands(where)],
    }
    lines = [f"{kind}: {', '.join(names[:MAX_COUNT])}" for kind, names in by_kind.items()]
    return Reply("\n".join(lines), by_kind)


async def _start_run(call: Call, run: PromptRun, begin: Begin, timeout_ms: int | None) -> Reply:
    """Start a run, and wait for its outcome for `timeout_ms`; None: only until OpenCode works on it.

    `begin` sends the request that starts it. The reply of a run that goes on says so; it is stopped only if a wait for its outcome is
    cancelled.

    Raises:
        OpenCodeError: OpenCode is gone, or rejects the request.
    """
    if timeout_ms is None:
        return _reply(run, await run.begin(begin))
    return _reply(run, await run.wait(begin, call.progress, timeout_ms / 1000))


def _reply(run: PromptRun, outcome: PromptOutcome) -> Reply:
    """Return the outcome of a run as a reply."""
    facts = messages.outcome_data(run.session.id, outcome)
    return Reply(messages.outcome_text(facts), facts, failed=outcome.state == "failed")


async def _run_that_asks(opencode: OpenCode, session: Json) -> PromptRun:
    """Return the run whose question an answer is for: that of the last prompt in a session.

    `session` is as OpenCode sends it. If it is a subagent's, the run is that of the topmost of its parents that are busy without a gap.
    OpenCode is asked which sessions are busy, for each such parent, and for the messages.
    """
    busy = await opencode.get("/session/status", Path(session["directory"]))
    while (parent := session.get("parentID")) in as_object(busy):
        session = await opencode.get(f"/session/{parent}")
    return PromptRun(opencode, session, last_prompt(await _messages(opencode, session)))


async def _request_changes(opencode: OpenCode, session: Json, prompt: Json) -> list[Json]:
    """Request the changes of files that a prompt has made, and return them with shortened patches.

    Each is an object as OpenCode sends it, with the key `patch`: a text from the first hunk on, of at most
    about `LONGEST_PATCH` characters, empty if there is none. The list is empty if `prompt` names no changes;
    then nothing is requested. `prompt` is the `info` of its message. `session` is as OpenCode sends it.

    Raises:
        OpenCodeError: OpenCode is gone, or rejects the request.
    """
    summary: Json = prompt.get("summary") or {}
    if not summary.get("diffs"):
        return []
    path = f"/session/{session['id']}/diff"
    found: list[Json] = await opencode.get(path, messageID=prompt["id"])
    return [{**one, "patch": shortened(messages.patch_of(one), LONGEST_PATCH)} for one in found]


def _opencode(call: Call) -> OpenCode:
    return catalogue_of(call).opencode


def _session(session: Json, busy: Json) -> dict[str, Any]:
    """Return a session as data: its `session_id`, `title`, `directory` and `state`.

    `session` is the session as OpenCode sends it. `busy` is OpenCode's answer on busy sessions, objects by
    session id: their `type` is the state; a session that is not there, or whose object has no `type`, is `idle`.

    Raises:
        KeyError: `session` lacks its `id`, `title` or `directory`.
    """
    return {
        "session_id": session["id"],
        "title": session["title"],
        "directory": session["directory"],
        "state": as_object(as_object(busy).get(session["id"])).get("type") or "idle",
    }


async def _messages(opencode: OpenCode, session: Json, count: int = MAX_COUNT) -> list[Json]:
    """Request the newest `count` messages of a session, and return them, oldest first.

    Each is as OpenCode sends it, with `info` and `parts`; so is `session`.
    """
    return await opencode.get(
        f"/session/{session['id']}/message", Path(session["directory"]), limit=count
    )
