"""Tools that list OpenCode's skills and tools, and call these; they are listed while one is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.text.fitting import shortened
from dapeer.integrations.opencode import prompt_report, relay
from dapeer.integrations.opencode.catalogue import RELAY, Catalogue
from dapeer.integrations.opencode.client import NoOpenCode, OpenCodeFailed
from dapeer.integrations.opencode.messages import PromptOutcome
from dapeer.integrations.opencode.relay import Relay
from dapeer.peers.consent_kinds import ALL, CallKinds
from dapeer.tools.base.call import Call, Reply, compact
from dapeer.tools.base.tool import tool

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

    `name` selects the tool of this name, or else those whose names contain it; only then are descriptions and schemas in the text, and
    descriptions whole. `agent` is the one whose rules decide which tools are listed, `directory` the folder, relative to the project. The
    data has `tools` (`name`, `description`, `input_schema`; empty: none fits), `mcp_servers` (state by name), and `missing`, a sentence,
    if OpenCode cannot run tools for dapeer now: then tools of MCP servers are not listed.

    Raises:
        NoOpenCode: No server is known.
        ArgumentError: There is no such agent.
        OpenCodeError: OpenCode is gone, or rejects a request.
    """
    catalogue, where = _catalogue_and_directory(call, directory)
    using = Relay(catalogue, where, call.peers.judge, await catalogue.agent_field(where, agent))
    missing = await using.why_unavailable()
    found = await _request_tools(catalogue, where) if missing else await using.offered_tools()
    rows = [_row(one, with_description=name is not None) for one in _tools_named(found, name)]
    data: Json = {"tools": rows, "mcp_servers": await relay.servers_of(catalogue, where)}
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

    `arguments` are the tool's (None: none), `agent` is the one whose rules apply, and `directory` the folder in which it runs, relative to
    the project. The reply is the tool's result, or the question of the tool that somebody has to answer first. Of a tool that has failed
    it is a failed reply, not an exception. After `timeout_ms` the tool is stopped.

    Raises:
        NoOpenCode: No server is known.
        ArgumentError: There is no such tool or agent, the rules deny it, or the arguments are wrong; nothing was called.
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

    `session` is the call's, as OpenCode sends it. A tool that has failed gives a failed reply. A result with files has content blocks and
    no data.

    Raises:
        OpenCodeFailed: The tool still runs: it took too long.
    """
    if outcome.state == "running":
        raise OpenCodeFailed(
            "The tool timed out and was stopped.", "Give it a longer `timeout_ms`."
        )
    if outcome.state == "needs_input":
        described = prompt_report.outcome_data(session["id"], outcome)
        return Reply(prompt_report.outcome_text(described), described)
    result = relay.tool_result(outcome)
    if not result.files:
        state = "failed" if result.failed else "done"
        return Reply(result.text, {"state": state, "output": result.text}, failed=result.failed)
    blocks: list[Json] = [{"type": "text", "text": result.text}] if result.text else []
    # Without data: a client that shows a model those alone would not show it the image.
    return Reply(result.text, content=[*blocks, *map(_block, result.files)], failed=result.failed)


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
    found = await catalogue.tools(where, RELAY, relay.NAME)
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

    Without `with_description` the description is a short line. `tool` is the tool in the form of the relay's list.
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


def _block(file: Json) -> Json:
    """Return a file that a tool has returned as an MCP content block.

    `file` has `mime`, `url` and maybe `filename`. Data in the URL (base64) gives an image or a resource; any other URL gives a text with
    the URL.
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
