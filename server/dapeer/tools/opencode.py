"""Tools that work in the sessions of an OpenCode server. They are offered only while one is known."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import anyio
from pydantic import Field

from dapeer.errors import ArgumentError, NoOpenCode, OpenCodeError
from dapeer.opencode import report
from dapeer.opencode.catalogue import Catalogue
from dapeer.opencode.client import Json, OpenCode
from dapeer.opencode.messages import calls_of, shortened, text_of
from dapeer.opencode.runs import Begin, Run
from dapeer.tools.tool import Call, Reply, tool

LONG: Final = 600_000
"""Milliseconds that a prompt may take before we stop waiting for it."""
SECONDS_TO_ABORT: Final = 2
MOST: Final = 100

Directory = Annotated[str | None, Field(description="default: this project")]
Milliseconds = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=1, le=MOST)]


@tool("List OpenCode sessions", read_only=True)
async def opencode_sessions(call: Call, directory: Directory = None, count: Count = 20) -> Reply:
    """List a directory's OpenCode sessions, the newest first, and whether they are busy."""
    opencode, where = _opencode(call), _directory(call, directory)
    found = await opencode.get("/session", where, roots="true", limit=count)
    busy = await opencode.get("/session/status", where)
    rows = [_session(one, busy) for one in found]
    lines = [f"{row['session_id']} {row['state']}: {row['title']}" for row in rows]
    return Reply("\n".join(lines) or f"OpenCode has no session in {where}.", {"sessions": rows})


@tool("Create an OpenCode session")
async def opencode_session_create(
    call: Call, title: str | None = None, directory: Directory = None, agent: str | None = None
) -> Reply:
    """Create an OpenCode session for opencode_prompt."""
    opencode, where = _opencode(call), _directory(call, directory)
    body = await _catalogue(call).agent(where, agent)
    # Without a title, OpenCode asks a model for one.
    made = await opencode.post("/session", body | {"title": title or "dapeer"}, where)
    return Reply(f"Session {made['id']} in {made['directory']}.", _session(made, {}))


@tool("Prompt OpenCode", destructive=True, action="run")
async def opencode_prompt(
    call: Call,
    session_id: str,
    prompt: str,
    agent: str | None = None,
    model: Annotated[str | None, Field(description="provider/model")] = None,
    wait: bool = True,
    timeout_ms: Milliseconds = LONG,
) -> Reply:
    """Prompt an OpenCode session; returns the answer with the tool calls made, or what it needs to be told."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    where = Path(session["directory"])
    body: Json = {
        "parts": [{"type": "text", "text": prompt}],
        **await _catalogue(call).agent(where, agent),
        **await _catalogue(call).model(where, model),
    }
    path = f"/session/{session_id}"
    if not wait:
        await opencode.post(f"{path}/prompt_async", body, where)
        return _begun(session_id)
    return await _run(
        call,
        session,
        lambda: opencode.post(f"{path}/message", body, where, seconds=None),
        timeout_ms,
    )


@tool("Run an OpenCode command", destructive=True, action="run")
async def opencode_command(
    call: Call,
    session_id: str,
    command: str,
    arguments: str = "",
    timeout_ms: Milliseconds = LONG,
) -> Reply:
    """Run a command or skill of OpenCode's in a session, as `/command arguments` does."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    where = Path(session["directory"])
    name = await _catalogue(call).command(where, command)
    body = {"command": name, "arguments": arguments}
    path = f"/session/{session_id}/command"
    return await _run(
        call, session, lambda: opencode.post(path, body, where, seconds=None), timeout_ms
    )


@tool("Answer OpenCode", destructive=True, action="run")
async def opencode_reply(
    call: Call,
    session_id: str,
    request_id: Annotated[str | None, Field(description="needed when it waits for several")] = None,
    decision: Literal["once", "always", "reject"] | None = None,
    answers: Annotated[
        list[str] | None, Field(description="one for each question: a label, or free text")
    ] = None,
    message: Annotated[str | None, Field(description="why it is rejected")] = None,
    timeout_ms: Milliseconds = LONG,
) -> Reply:
    """Answer a permission request (decision) or questions (answers, or decision reject) of a session; then waits as opencode_prompt does."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    run = Run(opencode, session, await _before_last_prompt(opencode, session))
    ask = _chosen(await run.asks(), request_id)
    path, body = _answer(ask, decision, answers, message)
    told = await run.wait(
        lambda: opencode.post(path, body, run.directory), call.progress, timeout_ms / 1000
    )
    facts = report.facts(session_id, told)
    return Reply(report.text(facts), facts)


@tool("Read OpenCode messages", read_only=True)
async def opencode_messages(call: Call, session_id: str, count: Count = 10) -> Reply:
    """Read the last messages of an OpenCode session, tool calls included."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    found = await _messages(opencode, session, count)
    rows: list[Json] = [
        {"role": one["info"]["role"], "text": text_of(one), "tool_calls": calls_of(one)}
        for one in found
    ]
    lines = [
        "\n".join([f"{row['role']}: {row['text']}", *map(report.call_line, row["tool_calls"])])
        for row in rows
    ]
    return Reply("\n".join(lines) or "Nothing has been said.", {"messages": rows})


@tool("OpenCode session state", read_only=True)
async def opencode_status(call: Call, session_id: str) -> Reply:
    """Tell whether an OpenCode session runs, is done or needs input, and what its last prompt has brought."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    run = Run(opencode, session, await _before_last_prompt(opencode, session))
    facts = report.facts(session_id, await run.state())
    return Reply(report.text(facts), facts)


@tool("Stop an OpenCode run", destructive=True, idempotent=True, action="run")
async def opencode_abort(call: Call, session_id: str) -> Reply:
    """Stop what an OpenCode session is doing."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    await _abort(opencode, session)
    return Reply(f"Session {session_id} was stopped.", {"session_id": session_id})


@tool("OpenCode to-do list", read_only=True)
async def opencode_todo(call: Call, session_id: str) -> Reply:
    """Read the to-do list of an OpenCode session."""
    opencode = _opencode(call)
    await _catalogue(call).session(session_id)
    todos = await opencode.get(f"/session/{session_id}/todo")
    lines = [f"[{one['status']}] {one['content']}" for one in todos]
    return Reply("\n".join(lines) or "The list is empty.", {"todos": todos})


@tool("OpenCode changes", read_only=True)
async def opencode_diff(call: Call, session_id: str) -> Reply:
    """Read what the last prompt of an OpenCode session has changed in files; needs OpenCode's snapshots."""
    opencode = _opencode(call)
    session = await _catalogue(call).session(session_id)
    users = [one for one in await _messages(opencode, session) if one["info"]["role"] == "user"]
    last = users[-1]["info"]["id"] if users else None
    path = f"/session/{session_id}/diff"
    found: list[Json] = await opencode.get(path, messageID=last) if last else []
    rows: list[Json] = [
        one | {"patch": shortened(str(one.get("patch", "")), 20_000)} for one in found
    ]
    text = "\n".join(row["patch"] for row in rows)
    return Reply(
        text or "No change is known; with `snapshot: false` none ever is.", {"files": rows}
    )


@tool("List OpenCode agents", read_only=True)
async def opencode_agents(call: Call, directory: Directory = None) -> Reply:
    """List OpenCode's agents, models and commands in a directory."""
    known, where = _catalogue(call), _directory(call, directory)
    told: dict[str, list[str]] = {
        "agents": [one["name"] for one in await known.agents(where)],
        "models": await known.models(where),
        "commands": [one["name"] for one in await known.commands(where)],
    }
    lines = [f"{kind}: {', '.join(names[:MOST])}" for kind, names in told.items()]
    return Reply("\n".join(lines), told)


async def _run(call: Call, session: Json, begin: Begin, timeout_ms: int) -> Reply:
    """Run something in a session; a client that does not wait any longer stops what it has begun."""
    opencode = _opencode(call)
    where = Path(session["directory"])
    messages = await _messages(opencode, session, 1)
    was_idle = session["id"] not in await opencode.get("/session/status", where)
    run = Run(opencode, session, messages[-1]["info"]["id"] if messages else None)
    try:
        outcome = await run.wait(begin, call.progress, timeout_ms / 1000)
    except asyncio.CancelledError:
        if was_idle:
            # One that is gone has stopped.
            with (
                anyio.move_on_after(SECONDS_TO_ABORT, shield=True),
                contextlib.suppress(OpenCodeError),
            ):
                await _abort(opencode, session)
        raise
    facts = report.facts(session["id"], outcome)
    return Reply(report.text(facts), facts, failed=outcome.state == "failed")


async def _abort(opencode: OpenCode, session: Json) -> None:
    await opencode.post(f"/session/{session['id']}/abort", None, Path(session["directory"]))


def _opencode(call: Call) -> OpenCode:
    return _catalogue(call).opencode


def _catalogue(call: Call) -> Catalogue:
    if call.opencode is None:
        raise NoOpenCode(
            "No OpenCode server is known.",
            "Start dapeer with --opencode URL, or $DAPEER_OPENCODE_URL.",
        )
    return call.opencode


def _directory(call: Call, directory: str | None) -> Path:
    return Path(call.debugger.project, directory or ".").resolve()


def _session(one: Json, busy: Json) -> dict[str, Any]:
    return {
        "session_id": one["id"],
        "title": one["title"],
        "directory": one["directory"],
        "state": busy.get(one["id"], {}).get("type", "idle"),
    }


def _begun(session: str) -> Reply:
    text = f"Begun in {session}; opencode_status tells when it is done, opencode_abort stops it."
    return Reply(text, {"session_id": session, "state": "running"})


async def _messages(opencode: OpenCode, session: Json, count: int = MOST) -> list[Json]:
    return await opencode.get(
        f"/session/{session['id']}/message", Path(session["directory"]), limit=count
    )


async def _before_last_prompt(opencode: OpenCode, session: Json) -> str | None:
    messages = [one["info"] for one in await _messages(opencode, session)]
    last = max((i for i, info in enumerate(messages) if info["role"] == "user"), default=0)
    return messages[last - 1]["id"] if last else None


def _chosen(asks: list[Json], request: str | None) -> Json:
    wanted = [ask for ask in asks if request in (None, ask["id"])]
    if len(wanted) == 1:
        return wanted[0]
    waiting = ", ".join(ask["id"] for ask in asks) or "nothing"
    what = f"does not wait for {request}" if request else "waits for none, or for several"
    raise ArgumentError(f"The session {what}.", f"It waits for {waiting}.")


def _answer(
    ask: Json, decision: str | None, answers: list[str] | None, message: str | None
) -> tuple[str, Json]:
    """Return where to post what."""
    path = f"/{ask['kind']}/{ask['id']}"
    if ask["kind"] == "permission":
        if decision is None:
            raise ArgumentError("A permission is asked for.", "Give `decision`.")
        return f"{path}/reply", {"reply": decision, **({"message": message} if message else {})}
    if decision == "reject":
        return f"{path}/reject", {}
    if len(answers or ()) != len(ask["questions"]):
        raise ArgumentError(f"{len(ask['questions'])} answers are needed.", "Give `answers`.")
    return f"{path}/reply", {"answers": [[answer] for answer in answers or ()]}


TOOLS = (
    opencode_sessions, opencode_session_create, opencode_prompt, opencode_messages, opencode_status,
    opencode_abort, opencode_todo, opencode_diff, opencode_command, opencode_agents, opencode_reply,
)  # fmt: skip
