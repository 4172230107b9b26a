"""Runs OpenCode's tools without a model, and has tools that list and call them.

They run by the relay plugin (`relay.js`), each in its own session.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import anyio
from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.schema_judge import Judge
from dapeer.base.schemas import convert_arguments
from dapeer.base.text.fitting import shortened
from dapeer.integrations.opencode import messages
from dapeer.integrations.opencode.catalogue import RELAY, Catalogue
from dapeer.integrations.opencode.client import NoOpenCode, OpenCode, OpenCodeError, OpenCodeFailed
from dapeer.integrations.opencode.messages import PromptOutcome, error_of, new_id, text_of
from dapeer.integrations.opencode.prompt_runs import OpenCodeSession, PromptRun, ReportText
from dapeer.peers.consent_kinds import ALL, CallKinds
from dapeer.tools.base.call import Call, Reply, compact
from dapeer.tools.base.tool import tool

# A call of one of OpenCode's tools, from its start until the tool has ended or needs an answer.

ENDS: Final = ("completed", "error")
"""The states of a call that has ended."""


class ToolRun(PromptRun):
    """A prompt of the relay, which ends with its tool.

    OpenCode then asks the relay once more, which takes it as long as the call did. Nobody needs that answer.
    """

    async def request_outcome(self, *, at_heartbeat: bool = False) -> PromptOutcome | None:
        """Request the state of the session; return the tool's result, or what it needs; None: it still runs.

        The state is `done` once the tool has ended, also if it has failed: `tool_result` says whether. `at_heartbeat` is as in
        `PromptRun.request_outcome`.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        turn = await self._turn()
        if any(_has_ended(call) for call in turn.calls):
            return PromptOutcome("done", turn)
        return await super().request_outcome(at_heartbeat=at_heartbeat)

    async def _is_busy_before(self) -> bool:
        # Its session is its own, and each request costs OpenCode 10 ms or more.
        return False

    def _note_event(self, event: Json) -> bool:
        part: Json = event["properties"].get("part") or {}
        ended = part.get("sessionID") == self.session.id and _has_ended(part)
        return super()._note_event(event) or ended


def _has_ended(part: Json) -> bool:
    return part["type"] == "tool" and part["state"]["status"] in ENDS


NAME: Final = "relay-1"
"""The supported version of the relay, as in `relay.js`."""
MARK: Final = ("dapeer", "relay")
"""The metadata that marks the sessions of calls."""
SECONDS_TO_END: Final = 5
INSTALL: Final = "Run `dapeer opencode install`, then restart OpenCode."


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a tool."""

    text: str
    files: Sequence[Json] = ()
    """Images and other files: `mime`, and `url` with the data."""
    failed: bool = False


class Relay:
    """The relay of one server, in a directory.

    Args:
        catalogue: The server.
        directory: Where tools are run.
        judge: Checks arguments by the schemas of the tools.
        agent: The part of a request that names the agent whose rules apply; empty: those of a new session.
    """

    def __init__(self, catalogue: Catalogue, directory: Path, judge: Judge, agent: Json) -> None:
        self._catalogue = catalogue
        self._opencode = catalogue.opencode
        self._directory = directory
        self._judge = judge
        self._agent = agent

    async def why_unavailable(self) -> str:
        """Return why OpenCode cannot run tools for dapeer, and what to do about it; empty: it can.

        It cannot if it has not loaded dapeer's relay plugin, or has loaded that of another version of dapeer
        only. OpenCode's list of models, in which the plugin is, is requested unless it is cached.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        found = await self._catalogue.relay_models(self._directory)
        if NAME in found:
            return ""
        if found:
            return f"The relay plugin in OpenCode is of another version of dapeer. {INSTALL}"
        return f"OpenCode has not loaded dapeer's relay plugin, which runs its tools. {INSTALL}"

    async def offered_tools(self) -> list[Json]:
        """Return the tools that the rules allow, each with `name`, `description` and `parameters`.

        Those of MCP servers are among them. The list is from the cache unless MCP servers or events say otherwise.

        Raises:
            OpenCodeError: OpenCode is gone, rejects a request, or its plugin has not answered with a list.
        """
        # OpenCode has no event for MCP servers that start or end.
        servers = json.dumps(await servers_of(self._catalogue, self._directory))
        return await self._catalogue.cached((*self._key, servers), self._request_tools)

    @property
    def _key(self) -> tuple[object, ...]:
        return ("relay", self._directory, self._agent.get("agent"))

    async def check_arguments(self, tool: str, arguments: Json) -> Json:
        """Return a tool's arguments, converted to its schema, after checking that they fit.

        `tool` is its name, and `arguments` are the call's, by name. The tools are requested from OpenCode unless they are cached; if they
        do not fit the cached ones, they are requested anew, and the check is repeated.

        Raises:
            ArgumentError: There is no such tool, the rules deny it, or the arguments are wrong.
            OpenCodeError: OpenCode is gone, rejects a request, or its plugin has not answered with a list.
        """
        try:
            # Of a tool that has gone since, the relay says so; so a call does not ask for the MCP servers.
            known = await self._catalogue.cached(self._key, self.offered_tools)
            return await self._convert_arguments(tool, arguments, known)
        except ArgumentError:
            # The cached list may be older than the one that the caller has seen.
            return await self._convert_arguments(tool, arguments, await self._request_tools())

    async def call(
        self, tool: str, arguments: Json, report: ReportText, seconds: float
    ) -> tuple[Json, PromptOutcome]:
        """Run a tool in a new session until it has ended or needs an answer; return session and outcome.

        The session is as OpenCode sends it; the outcome's state is `running` after the timeout. The session is
        deleted unless an answer is needed: in the background if the tool has ended, else (after the timeout, an error
        or a cancellation) before this returns, with the tool stopped. `tool` is its name; `report` is awaited with
        each new text; `seconds` is the timeout. `arguments` are checked already.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        session = await self._create_session(f"dapeer calls {tool}")
        run = ToolRun(self._opencode, session, new_id())
        order = {"tool": tool, "arguments": arguments}
        going_on = run.wait(lambda: self._send_order(session, order, run.prompt), report, seconds)
        return session, await await_call(
            self._opencode, session, going_on, self._catalogue.run_in_background
        )

    async def _convert_arguments(self, tool: str, arguments: Json, offered: Sequence[Json]) -> Json:
        """Return arguments converted to the schema of the tool named `tool`, and check them.

        `arguments` are not changed. `offered` has tools with `name` and maybe `parameters`, a JSON Schema; without
        one all arguments fit. If `tool` is not among them, OpenCode is asked for its tools, to say in the error
        whether rules deny the tool, and which names are similar.

        Raises:
            ArgumentError: The tool is not among `offered`, or the arguments do not fit or cannot be checked.
            OpenCodeError: OpenCode does not answer when it is asked.
        """
        schemas: dict[str, Json] = {one["name"]: one.get("parameters") or {} for one in offered}
        if tool not in schemas:
            raise await self._unavailable_tool_error(tool, schemas)
        given = convert_arguments(arguments, schemas[tool])
        if problem := await self._judge.problem_of(given, schemas[tool]):
            raise ArgumentError(problem, "opencode_tools shows its arguments.")
        return given

    async def _unavailable_tool_error(self, tool: str, offered: Iterable[str]) -> ArgumentError:
        """Return the error to raise for a tool that OpenCode does not offer here.

        The error says that OpenCode's rules deny the tool, if OpenCode knows it; else that there is no such tool, with up
        to three similar names among `offered`, the tools that may be called. OpenCode is asked for its tools, unless
        they are in the cache.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        known = await self._catalogue.tools(self._directory, RELAY, NAME)
        if tool in [one["id"] for one in known]:
            return ArgumentError(
                f"OpenCode's rules deny {tool} here.",
                "They are its `permission` settings; opencode_tools lists what they allow.",
            )
        near = difflib.get_close_matches(tool, sorted(offered), n=3)
        return ArgumentError(
            f"OpenCode offers no tool `{tool}` here"
            + (f"; it has {', '.join(near)}." if near else "."),
            "opencode_tools lists those that its rules allow.",
        )

    async def _request_tools(self) -> list[Json]:
        """Have the plugin list the tools that the rules allow, and return them.

        Each has `name`, `description` and `parameters`; they are taken from the plugin's answer unchecked. The
        request needs a session of OpenCode, which is made for it and deleted afterwards. The wait for the
        plugin has no timeout.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects a request.
            OpenCodeFailed: The plugin's answer is no JSON.
        """
        session = await self._create_session("dapeer lists tools")
        try:
            answer = await self._send_order(session, {"list": True}, new_id())
        finally:
            await end_call(self._opencode, session, asks=False)
        try:
            return json.loads(text_of(answer))
        except ValueError as error:
            why = error_of(answer["info"].get("error")) or text_of(answer)
            raise OpenCodeFailed(f"OpenCode did not list its tools: {why}.", INSTALL) from error

    async def _create_session(self, title: str) -> Json:
        """Create a session of dapeer's own, marked as that of a call, and return it as OpenCode sends it.

        It is the caller's to delete. `title` is shown in OpenCode. A cancellation has to wait for the answer,
        without which nobody could delete it.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        body = {"title": title, "metadata": dict((MARK,))}
        session: Json = {}
        # Without its id the session could not be deleted.
        with anyio.CancelScope(shield=True):
            session = await self._opencode.post("/session", body, self._directory)
        return session  # noqa: RET504 - pyright sees a scope that may swallow an error

    async def _send_order(self, session: Json, order: Json, message: str | None) -> Json:
        """Send the plugin an order as a prompt, wait for the answer, and return OpenCode's message with it.

        `order` is an object for the plugin, with `list`, or `tool` and `arguments`; `session` is an object as
        OpenCode sends it, of which the `id` is used. `message` is the id under which the prompt's message is to be
        kept. There is no timeout.

        Raises:
            OpenCodeError: OpenCode is gone, or rejects the request.
        """
        body: Json = {
            "messageID": message,
            "model": {"providerID": RELAY, "modelID": NAME},
            "parts": [{"type": "text", "text": json.dumps({"dapeer": order})}],
            **self._agent,
        }
        path = f"/session/{session['id']}/message"
        return await self._opencode.post(path, body, self._directory, seconds=None)


def is_call(session: Json) -> bool:
    """Whether a session was created for the call of a tool, by its metadata."""
    return MARK in (session.get("metadata") or {}).items()


async def await_call(
    opencode: OpenCode,
    session: Json,
    going_on: Awaitable[PromptOutcome],
    afterwards: Callable[[Coroutine[Any, Any, None]], None] | None = None,
) -> PromptOutcome:
    """Wait until a call has ended or needs an answer, and return its outcome; stop it if cancelled.

    Its session is deleted unless an answer is needed: also after an error, and if the outcome is that it
    still runs, which stops it.

    Args:
        opencode: The server on which it runs.
        session: Its session, as OpenCode sends it.
        going_on: Waits for the outcome; what it raises leaves here.
        afterwards: Gets the coroutine that deletes the session of a tool that has ended, and must have it
            awaited; None: it is done before this returns.
    """
    state = "running"
    try:
        outcome = await going_on
        state = outcome.state
        return outcome
    finally:
        if afterwards and state in ("done", "failed"):
            afterwards(end_call(opencode, session, asks=False))
        elif state != "needs_input":
            await end_call(opencode, session, asks=state == "running")


async def end_call(opencode: OpenCode, session: Json, *, asks: bool = True) -> None:
    """Stop the call of a tool, and delete its session; never fail, and take at most `SECONDS_TO_END`.

    `session` is OpenCode's object of the session. `asks`: the session may wait for an answer to a permission or
    question, which is then rejected; without it this is not looked for. An error of OpenCode is ignored, and what
    would follow is left out, so the session may stay. A cancellation of the caller does not interrupt this.
    """
    with anyio.move_on_after(SECONDS_TO_END, shield=True), contextlib.suppress(OpenCodeError):
        if asks:
            await OpenCodeSession(opencode, session).abort()
        else:
            await OpenCodeSession(opencode, session).stop()
        await opencode.delete(f"/session/{session['id']}", Path(session["directory"]))


def tool_result(outcome: PromptOutcome) -> Result:
    """Return the result of a tool from the outcome of its call: text, files, and whether it has failed.

    The first call of a tool in the outcome's turn counts. A tool that has not completed counts as failed, with its
    error as the text, empty if there is none. If the turn has no call of a tool, the result counts as failed, with
    the outcome's error as its text, or else the answer. The files are the call's `attachments`, empty if there are
    none.
    """
    calls = (
        part for reply in outcome.turn.replies for part in reply["parts"] if part["type"] == "tool"
    )
    call: Json | None = next(calls, None)
    if call is None:
        return Result(outcome.error or outcome.turn.answer, failed=True)
    state: Json = call["state"]
    failed = state["status"] != "completed"
    text = state.get("error") if failed else state.get("output")
    return Result(str(text or ""), state.get("attachments") or (), failed)


async def servers_of(catalogue: Catalogue, directory: Path) -> dict[str, str]:
    """Request OpenCode's MCP servers; return the state of each by name, such as `connected`, or the error."""
    servers: Json = await catalogue.opencode.get("/mcp", directory)
    return {name: _state(server) for name, server in sorted(servers.items())}


def _state(server: Json) -> str:
    return ": ".join(filter(None, (server["status"], server.get("error"))))


# Tools that list OpenCode's skills and tools, and call these; they are listed while one is known.

SECTION: Final = "OpenCode (while a server is known)"
ASKS_BY_ITSELF: Final = CallKinds(ALL, remark="OpenCode asks by its own rules, too")
MILLISECONDS_TO_WAIT: Final = 600_000
"""Milliseconds that a tool may take."""
LONGEST_SUMMARY: Final = 120

Directory = Annotated[str | None, Field(description="default: this project")]
Agent = Annotated[str | None, Field(description="whose rules apply; default: OpenCode's own")]


@tool("List OpenCode skills", section=SECTION, read_only=True)
async def opencode_skills(
    call: Call,
    name: Annotated[str | None, Field(description="read this one")] = None,
    directory: Directory = None,
) -> Reply:
    """List OpenCode's skills, or read one: instructions for a kind of work.

    With `name` the text is that skill's, and the data has its `name`, `description`, `location` and `content`. Without it the text has a
    line for each skill, and the data `skills`: `name` and `description` of each, empty if there are none. `directory` is the folder whose
    skills are meant, relative to the project; None: the project.

    Raises:
        NoOpenCode: No server is known.
        ArgumentError: There is no skill `name`; the error lists those that exist.
        OpenCodeError: OpenCode is gone, or rejects the request.
    """
    catalogue, where = _catalogue_and_directory(call, directory)
    skills = await catalogue.skills(where)
    if name is not None:
        return _skill(name, skills)
    rows = [{"name": one["name"], "description": one.get("description") or ""} for one in skills]
    lines = [f"{row['name']}: {row['description']}" for row in rows]
    return Reply("\n".join(lines) or f"OpenCode has no skill in {where}.", {"skills": rows})


@tool("List OpenCode tools", section=SECTION, read_only=True)
async def opencode_tools(
    call: Call,
    name: Annotated[
        str | None, Field(description="only this one, or names that contain this, in full")
    ] = None,
    agent: Agent = None,
    directory: Directory = None,
) -> Reply:
    """List OpenCode's own tools, MCP servers' included, with their arguments.

    `name` selects the tool of this name, or else those whose names contain it; only then are schemas in the
    text and descriptions whole, else a description is a short line. `agent` is the one whose rules decide
    which tools are listed (None: OpenCode chooses one), `directory` the folder, relative to the project
    (None: the project). The data has `tools` (`name`, `description`, `input_schema`; empty: none fits),
    `mcp_servers` (state by name), and `missing`, a sentence, if OpenCode cannot run tools for dapeer now:
    then tools of MCP servers are not listed, and no agent's rules are applied. Else, unless the list is
    cached, it takes a session of OpenCode, which is made for it and deleted again.

    Raises:
        NoOpenCode: No server is known.
        ArgumentError: There is no such agent.
        OpenCodeError: OpenCode is gone, rejects a request, or its plugin has not answered with a list.
    """
    catalogue, where = _catalogue_and_directory(call, directory)
    using = Relay(catalogue, where, call.peers.judge, await catalogue.agent_field(where, agent))
    missing = await using.why_unavailable()
    found = await _request_tools(catalogue, where) if missing else await using.offered_tools()
    rows = [_row(one, with_description=name is not None) for one in _tools_named(found, name)]
    data: Json = {"tools": rows, "mcp_servers": await servers_of(catalogue, where)}
    lines = [_line(row) for row in rows] or ["OpenCode has no such tool here."]
    if name is not None:
        described = (f"{_line(row)}\n{compact(row['input_schema'])}" for row in rows)
        lines = [*described] or lines
    lines += [f"MCP server {server}: {state}" for server, state in data["mcp_servers"].items()]
    if missing:
        lines.append(
            f"{missing} Until then they cannot be called, and the tools of MCP servers are not known."
        )
        data["missing"] = missing
    return Reply("\n".join(lines), data)


@tool("Call an OpenCode tool", section=SECTION, kinds=ASKS_BY_ITSELF, destructive=True)
async def opencode_tool_call(
    call: Call,
    name: str,
    arguments: dict[str, Any] | None = None,
    agent: Agent = None,
    directory: Directory = None,
    timeout_ms: Annotated[int, Field(ge=1)] = MILLISECONDS_TO_WAIT,
) -> Reply:
    """Call an OpenCode tool that opencode_tools lists; OpenCode's permission rules apply.

    `arguments` are the tool's (None: none), `agent` is the one whose rules apply (None: OpenCode's own), and
    `directory` the folder in which the tool runs, relative to the project (None: the project). The reply is the
    tool's result, or the question of the tool that somebody has to answer first. A tool that has failed gives a
    failed reply, not an exception. After `timeout_ms` (milliseconds) the tool is stopped. It runs in a new
    session of OpenCode, which is deleted afterwards unless an answer is needed.

    Raises:
        NoOpenCode: No server is known.
        ArgumentError: There is no such tool or agent, the rules deny it, or the arguments are wrong; nothing
            was called.
        OpenCodeFailed: OpenCode cannot run tools for dapeer, or the tool took too long.
        OpenCodeError: OpenCode is gone, or rejects a request.
    """
    catalogue, where = _catalogue_and_directory(call, directory)
    using = Relay(catalogue, where, call.peers.judge, await catalogue.agent_field(where, agent))
    if missing := await using.why_unavailable():
        raise OpenCodeFailed(missing)
    given = await using.check_arguments(name, arguments or {})
    session, outcome = await using.call(name, given, call.progress, timeout_ms / 1000)
    return reply_to_call(session, outcome)


def reply_to_call(session: Json, outcome: PromptOutcome) -> Reply:
    """Return the reply to a call of an OpenCode tool: its result with files, or the question that it asks.

    `session` is the call's, as OpenCode sends it; only its `id` is used. `outcome` is what has become of the
    call. For a question the data is that of `messages.outcome_data`. A result without files has the data
    `state` (`done` or `failed`) and `output`; one with files has content blocks and no data. A tool that has
    failed gives a failed reply.

    Raises:
        OpenCodeFailed: The tool still runs: it took too long.
    """
    if outcome.state == "running":
        raise OpenCodeFailed(
            "The tool timed out and was stopped.", "Give it a longer `timeout_ms`."
        )
    if outcome.state == "needs_input":
        described = messages.outcome_data(session["id"], outcome)
        return Reply(messages.outcome_text(described), described)
    result = tool_result(outcome)
    if not result.files:
        state = "failed" if result.failed else "done"
        return Reply(result.text, {"state": state, "output": result.text}, failed=result.failed)
    blocks: list[Json] = [{"type": "text", "text": result.text}] if result.text else []
    # Without data: a client that shows a model those alone would not show it the image.
    return Reply(
        result.text, content=[*blocks, *map(_content_block, result.files)], failed=result.failed
    )


def _skill(name: str, skills: Sequence[Json]) -> Reply:
    """Return the reply with the text of the skill of this name.

    `skills` are as OpenCode sends them. The data has `name`, `description`, `location` and `content`.

    Raises:
        ArgumentError: There is no such skill.
    """
    for one in skills:
        if one["name"] == name:
            fields = ("name", "description", "location", "content")
            return Reply(one["content"], {field: one.get(field) or "" for field in fields})
    names = ", ".join(one["name"] for one in skills) or "none"
    raise ArgumentError(f"OpenCode has no skill `{name}` here.", f"It has: {names}.")


async def _request_tools(catalogue: Catalogue, where: Path) -> list[Json]:
    """Request the tools of OpenCode's own list, and return them in the form of the relay's list.

    Those of MCP servers are not among them.
    """
    found = await catalogue.tools(where, RELAY, NAME)
    return [
        {"name": one["id"], "description": one["description"], "parameters": one["parameters"]}
        for one in found
    ]


def _tools_named(found: Sequence[Json], name: str | None) -> Sequence[Json]:
    """Return the tool of this name as a list, else those whose names contain it; for None all.

    Those that begin with the name come first. `found` are the tools' data; empty: none contains it.
    """
    if name is None:
        return found
    exact = [one for one in found if one["name"] == name]
    near = [one for one in found if name in one["name"]]
    return exact or sorted(near, key=lambda one: not one["name"].startswith(name))


def _row(tool: Json, *, with_description: bool) -> Json:
    """Return a tool as data: `name`, `description` and `input_schema`.

    `tool` is an entry of the relay's list: an object with `name`, and perhaps `description` and `parameters`, the
    JSON Schema that becomes `input_schema`. Without `with_description` the description is only its own first line,
    cut to about `LONGEST_SUMMARY` characters.
    """
    description: str = tool.get("description") or ""
    summary = description.strip().partition("\n")[0]
    return {
        "name": tool["name"],
        "description": description if with_description else shortened(summary, LONGEST_SUMMARY),
        "input_schema": tool.get("parameters") or {},
    }


def _line(row: Json) -> str:
    """Return the data of a tool as one line; optional arguments end with `?`."""
    schema: Json = row["input_schema"]
    required: Sequence[str] = schema.get("required") or ()
    names: Json = schema.get("properties") or {}
    given = [name if name in required else f"{name}?" for name in names]
    return f"{row['name']}({', '.join(given)}): {row['description']}"


def _content_block(file: Json) -> Json:
    """Return a file that a tool has returned as an MCP content block.

    `file` has `mime`, `url` and maybe `filename`. Data in the URL (base64) gives an image, or a resource at
    `opencode:` and the file's name (`file` without one). Any other URL gives a text: the name, or else
    `mime`, and the URL.
    """
    mime, (head, _, data) = file["mime"], file["url"].partition(",")
    if not head.endswith(";base64"):
        return {"type": "text", "text": f"{file.get('filename') or mime}: {file['url']}"}
    if mime.startswith("image/"):
        return {"type": "image", "mimeType": mime, "data": data}
    uri = f"opencode:{file.get('filename') or 'file'}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "blob": data}}


def catalogue_of(call: Call) -> Catalogue:
    """Return the catalogue of the OpenCode server that is used now.

    Raises:
        NoOpenCode: No server is known.
    """
    found = call.given(Catalogue)
    if found is None:
        raise NoOpenCode(
            "No OpenCode server is known.",
            "Start dapeer with --opencode URL, or $DAPEER_OPENCODE_URL.",
        )
    return found


def directory_of(call: Call, directory: str | None) -> Path:
    """Return the absolute path of a directory that a caller has named; None: the project.

    A relative path is below the project.
    """
    return Path(call.debugger.project, directory or ".").resolve()


def _catalogue_and_directory(call: Call, directory: str | None) -> tuple[Catalogue, Path]:
    """Return the catalogue of the OpenCode server, and the absolute path of the caller's directory.

    `directory` None stands for the project; a relative one is below the project.

    Raises:
        NoOpenCode: No server is known.
    """
    return catalogue_of(call), directory_of(call, directory)
