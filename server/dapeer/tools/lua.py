"""Tools that live in Neovim, served as if they were ours; and two tools for clients that see no changes."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

from pydantic import Field

from dapeer.errors import ArgumentError, NoNeovim
from dapeer.peers import OTHERS, Action, LuaTool, Peer, Peers
from dapeer.schemas import problem_of, unpacked
from dapeer.tools.tool import Call, Json, Reply, short, tool, witnessed

PREFIX: Final = "nvim_"
CONNECTION: Final = "connection_id"
"""Which Neovim is meant: an argument of tools that several have."""
GROUPS: Final = (
    "diagnostics", "lsp", "undo", "editor", "documents", "diff", "interview", "exec", "test", OTHERS,
)  # fmt: skip
"""The groups of the plugin's own tools, and that of everybody else's. No Neovim need be there to name one."""

BLOCKS: Final = {
    "text": {"text"},
    "image": {"data", "mimeType"},
    "audio": {"data", "mimeType"},
    "resource": {"resource"},
    "resource_link": {"uri", "name"},
}
"""MCP's kinds of content, and what each must have."""


@dataclass(frozen=True, slots=True)
class NeovimTool:
    """One tool of one or several Neovims that describe it alike."""

    name: str
    """As it is listed."""
    spec: LuaTool
    homes: Sequence[Peer]

    @property
    def title(self) -> str:
        """What people are shown."""
        return self.spec.title

    @property
    def description(self) -> str:
        """What a model reads."""
        return self.spec.description

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.spec.read_only

    @property
    def destructive(self) -> bool:
        """Whether something may be lost."""
        return self.spec.destructive

    @property
    def idempotent(self) -> bool:
        """Whether calling it again changes nothing more."""
        return self.spec.idempotent

    @property
    def groups(self) -> Sequence[str]:
        """`nvim`, and its own."""
        return (PREFIX.rstrip("_"), self.spec.group)

    @property
    def output_schema(self) -> None:
        """None: what it returns is its author's business."""
        return

    @property
    def input_schema(self) -> Json:
        """Its arguments; which Neovim is meant is one of them where that is a question."""
        # What others have written is served as it is.
        return self._schema if self.spec.group == OTHERS else short(self._schema)

    @property
    def _schema(self) -> Json:
        schema = self.spec.input_schema
        if not self._chosen:
            return schema
        homes = "; ".join(f"{peer.id}: {peer.cwd}" for peer in self.homes)
        which = {"type": "integer", "enum": [peer.id for peer in self.homes], "description": homes}
        return {
            **schema,
            "properties": {CONNECTION: which, **schema.get("properties", {})},
            "required": [CONNECTION, *schema.get("required", ())],
        }

    @property
    def _chosen(self) -> bool:
        """Whether the caller has to say which Neovim is meant, by an argument that is not the tool's own."""
        return len(self.homes) > 1 and CONNECTION not in self.spec.input_schema.get(
            "properties", {}
        )

    async def __call__(self, call: Call, arguments: Json) -> Reply:
        """Check the arguments, and run the tool where it lives.

        Raises:
            ArgumentError: An argument is unknown, missing or of a wrong type; nothing has happened.
            Refused: The person did not allow it; nothing has happened.
            NeovimError: Neovim does not answer, or the tool failed.
        """
        schema = self._schema
        given = unpacked(arguments, schema)
        if problem := problem_of(given, schema):
            raise ArgumentError(problem)
        peer = self._home(given.pop(CONNECTION) if self._chosen else given.get(CONNECTION))
        work = functools.partial(self._run, call, peer, given)
        return await witnessed(peer.witness, self._action(given), work)

    def _action(self, arguments: Json) -> Action | None:
        kind, when = self.spec.action, self.spec.action_when
        acts = when is None or arguments.get(when)
        return Action(self.name, kind, arguments) if kind and acts else None

    def _home(self, number: object) -> Peer:
        return next((peer for peer in self.homes if peer.id == number), self.homes[0])

    async def _run(self, call: Call, peer: Peer, given: Json) -> Reply:
        answer = await peer.run_tool(self.spec, given, call.client, call.progress)
        return reply_of(answer)


def neovim_tools(peers: Peers, *, taken: Collection[str]) -> Iterator[NeovimTool]:
    """Yield what the attached Neovims offer, under names that are not taken.

    What several describe alike is one tool. Of those that differ, the first has the plain name, and
    each other one the number of its Neovim behind it.
    """
    homes: dict[str, list[tuple[LuaTool, list[Peer]]]] = {}
    for peer in peers.attached.values():
        for name, spec in peer.tools.items():
            if PREFIX + name in taken:
                peer.refuse_tool(name, f"dapeer has a tool {PREFIX}{name} of its own.")
                continue
            variants = homes.setdefault(name, [])
            alike = next((found for one, found in variants if one == spec), None)
            if alike is None:
                variants.append((spec, [peer]))
            else:
                alike.append(peer)
    for name, variants in homes.items():
        for index, (spec, found) in enumerate(variants):
            number = f"_{found[0].id}" if index else ""
            yield NeovimTool(f"{PREFIX}{name}{number}", spec, found)


def reply_of(answer: Any) -> Reply:  # noqa: ANN401 - any JSON value
    """Return what a tool has answered, as a reply: MCP's own forms as they are, all else as text."""
    if answer is None:
        return Reply("The tool has finished; it gave no result (nil).")
    if isinstance(answer, str):
        return Reply(answer)
    if not isinstance(answer, dict):
        return Reply(_compact(answer))
    fields = cast("dict[str, Any]", answer)
    if _is_block(fields):
        return _reply_with([fields], None)
    blocks: object = fields.get("content")
    if isinstance(blocks, list) and blocks and all(map(_is_block, cast("list[object]", blocks))):
        facts, failed = _facts(fields.get("structuredContent")), bool(fields.get("isError"))
        return _reply_with(cast("list[Json]", blocks), facts, failed=failed)
    return Reply(_compact(fields), fields)


def _facts(data: object) -> Json | None:
    if isinstance(data, dict):
        return cast("Json", data)
    # Lua's empty table is a list.
    return {} if data == [] else None


def _reply_with(blocks: Sequence[Json], data: Json | None, *, failed: bool = False) -> Reply:
    texts = [str(block["text"]) for block in blocks if block["type"] == "text"]
    return Reply("\n".join(texts), data, blocks, failed)


def _is_block(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    needed = BLOCKS.get(str(fields.get("type")))
    return needed is not None and needed <= fields.keys()


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- for clients that do not follow changes of the list


@tool("List Neovim's tools", read_only=True)
async def nvim_lua_tools(
    call: Call,
    name: Annotated[str | None, Field(description="show this one in full")] = None,
) -> Reply:
    """List the tools that the attached Neovims offer now, for nvim_lua_call; only needed when the tool list does not show them."""
    tools = {one.name: one for one in neovim_tools(call.peers, taken=())}
    if name is not None:
        one = _named(tools, name)
        facts = {"name": one.name, "description": one.description, "input_schema": one.input_schema}
        return Reply(_compact(facts), facts)
    rows = [
        {"name": one.name, "arguments": _arguments(one), "description": one.description}
        for one in tools.values()
    ]
    lines = [f"{row['name']}({', '.join(row['arguments'])}): {row['description']}" for row in rows]
    return Reply(
        "\n".join(lines) or "No Neovim is attached, or it offers no tools.", {"tools": rows}
    )


@tool("Call a tool of Neovim's")
async def nvim_lua_call(call: Call, name: str, arguments: Mapping[str, Any] | None = None) -> Reply:
    """Call a tool of nvim_lua_tools by its name; only needed when the tool list does not show it."""
    tools = {one.name: one for one in neovim_tools(call.peers, taken=())}
    return await _named(tools, name)(call, arguments or {})


def _named(tools: Mapping[str, NeovimTool], name: str) -> NeovimTool:
    if not tools:
        raise NoNeovim("No attached Neovim offers tools.", "nvim_targets lists the Neovims.")
    for known in (name, PREFIX + name):
        if known in tools:
            return tools[known]
    raise ArgumentError(f"`name`: there is no tool {name}.", "nvim_lua_tools lists them.")


def _arguments(one: NeovimTool) -> list[str]:
    schema = one.input_schema
    needed = schema.get("required", ())
    return [name if name in needed else f"{name}?" for name in schema.get("properties", {})]


TOOLS = (nvim_lua_tools, nvim_lua_call)
