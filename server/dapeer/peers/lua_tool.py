"""A tool that a Neovim offers, as its plugin describes it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from dapeer.base.json_types import Json, as_array, as_object, is_array, is_object
from dapeer.peers.consent_kinds import ALL, ActionKind, Kinds

_ACTIONS: Final[list[ActionKind]] = [*get_args(ActionKind)]

OTHERS: Final = "custom"
"""The group of tools that the plugin does not bring: their schemas are untrusted."""


@dataclass(frozen=True, slots=True)
class LuaTool:
    """A tool as a Neovim has described it."""

    name: str
    title: str
    description: str
    input_schema: Json
    group: str
    read_only: bool
    destructive: bool
    idempotent: bool
    kinds: Kinds
    """The kinds of its calls."""
    action_when: str | None
    """The argument without which a call has no kind: it only shows what it would do."""
    older_names: Mapping[str, str]
    """The arguments that it also takes by an older name, which is not listed: their names by these."""
    seconds: float | None = field(compare=False)
    """Timeout of a call in seconds; None: no timeout. Clients do not see it."""


def read_tools(text: str) -> list[LuaTool]:
    """Return the tools in a text of JSON from Lua, a list of descriptions; their schemas are not checked.

    Raises:
        ValueError: It is not JSON.
        KeyError: A tool has no name, description or schema, or is no object.
    """
    # Lua's empty table may arrive as an object.
    return [_tool(as_object(spec)) for spec in as_array(json.loads(clean(text)))]


def _tool(spec: Mapping[str, Any]) -> LuaTool:
    """Return a tool from its description in Lua, with defaults for what is absent.

    `spec` is the description: `name`, `description` and `input_schema` must be there. It may have `title`,
    `group`, `read_only` (which includes `idempotent`), `destructive`, `idempotent`, `action` (the kinds of
    its calls, for consent), `action_when`, `older` (present names of arguments by older ones) and `timeout`,
    in milliseconds; none or 0 is no timeout. Schemas are not checked here.

    Raises:
        KeyError: One of the three is absent.
    """
    milliseconds = spec.get("timeout") or 0
    name = str(spec["name"])
    return LuaTool(
        name=name,
        title=str(spec.get("title") or name.replace("_", " ").capitalize()),
        description=str(spec["description"]),
        input_schema=_sort_keys(spec["input_schema"]),
        group=str(spec.get("group") or OTHERS),
        read_only=bool(spec.get("read_only")),
        destructive=bool(spec.get("destructive")),
        idempotent=bool(spec.get("idempotent") or spec.get("read_only")),
        kinds=_kinds(spec.get("action")),
        action_when=spec.get("action_when"),
        older_names={name: str(now) for name, now in as_object(spec.get("older")).items()},
        seconds=milliseconds / 1000 or None,
    )


def _kinds(action: object) -> Kinds:
    """Return the kinds of action that a tool's author has declared: one, several, or none.

    `action` is what the description has under this key: a kind, a list of them, or for none nothing, false or an empty list. If one of
    them is unknown, `ALL` is returned, since it may be any that changes something.
    """
    if not action:
        return ()
    actions = action if is_array(action) else [action]
    known: Kinds = tuple(kind for kind in _ACTIONS if kind in actions)
    # An unknown kind may be any of them.
    return known if len(known) == len(actions) else ALL


def _sort_keys(schema: Any) -> Any:
    """Return a copy of an argument schema with its keys and arguments in a fixed order.

    The arguments (`properties`) are sorted too: required ones first, then by name. Schemas within the arguments
    are the same objects, and not sorted. Without this the order changes, as Lua's tables have none, and clients
    would read the list of tools anew. A value that is no object with `properties` is returned unchanged.
    """
    if not is_object(schema) or not is_object(properties := schema.get("properties")):
        return schema
    fields = schema
    required: Any = fields.get("required")
    needed = as_array(required)
    names = sorted(properties, key=lambda name: (name not in needed, name))
    ordered = {key: fields[key] for key in sorted(fields)}
    return {**ordered, "properties": {name: properties[name] for name in names}}


def clean(text: str) -> str:
    """Return a text in which `?` replaces the surrogates to which pynvim decodes invalid UTF-8."""
    return text.encode(errors="replace").decode()
