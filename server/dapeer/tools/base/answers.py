"""Converts the results of tools written in Lua to replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from dapeer.base.json_types import Json, is_array, is_object
from dapeer.tools.base.call import Reply

BLOCKS: Final = {
    "text": {"text"},
    "image": {"data", "mimeType"},
    "audio": {"data", "mimeType"},
    "resource": {"resource"},
    "resource_link": {"uri", "name"},
}
"""MCP's kinds of content, and the required fields of each."""


def reply_of(answer: Any) -> Reply:  # noqa: ANN401 - any JSON value
    """Convert what a tool written in Lua has returned, as JSON, to a reply.

    An MCP content block, or an object with MCP's `content` (and `structuredContent`, `isError`, `_meta`), is passed on as it is; any other
    object becomes JSON text, with itself as data; another value becomes text; None gives a sentence that there is no result.
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
    tool reports an error; without blocks the reply then says that no reason was given.
    """
    if failed and not blocks:
        return Reply("The tool failed without saying why.", data, failed=True)
    if data and not any(block.get("type") == "text" for block in blocks):
        # Most clients get no data, so facts that are only there become text.
        blocks = [*blocks, {"type": "text", "text": compact(data)}]
    texts = [str(block.get("text")) for block in blocks if block.get("type") == "text"]
    return Reply("\n".join(texts), data, blocks, failed)


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
