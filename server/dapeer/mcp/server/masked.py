"""Masks secrets in what a client gets: the one place that every answer about a program passes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mcp.types as t

from dapeer.base.secrets.redaction import NOTE, Redaction, field_names, may_hold_secrets, redacted
from dapeer.base.text.lines import escaped, escaped_in
from dapeer.tools.base.call import AnyTool, Reply


def shows_programs(tool: AnyTool) -> bool:
    """Return whether a tool's answers are of programs.

    Other answers are documents, which an assistant may write back: a mask would replace the secret.
    """
    return "dap" in tool.groups


def masked_reply(reply: Reply, arguments: Mapping[str, Any], *, with_data: bool) -> Reply:
    """Return a reply without secrets; its last line says so, if any were masked."""
    name = field_names(arguments)
    # What is still to be made has no word that the text lacks.
    known = None if callable(reply.facts) else reply.facts
    if not may_hold_secrets(f"{reply.text} {name}", known):
        return reply
    redaction, facts = Redaction(), reply.data
    data = facts and redaction.data(dict(facts), name)
    text = redaction.text(reply.text)
    if text == reply.text and (data == facts or not with_data):
        return reply
    return replace(reply, text=f"{text}\n{NOTE}", facts=data)


def shown_resource(found: t.ReadResourceResult, *, secrets: bool) -> t.ReadResourceResult:
    """Return a resource with escapes for unseen characters, and without secrets, unless they are shown."""
    contents = [
        one.model_copy(update={"text": _shown(one, secrets=secrets)})
        if isinstance(one, t.TextResourceContents)
        else one
        for one in found.contents
    ]
    return found.model_copy(update={"contents": contents})


def _shown(contents: t.TextResourceContents, *, secrets: bool) -> str:
    if contents.mime_type != "application/json":
        return escaped(contents.text if secrets else redacted(contents.text))
    data = json.loads(contents.text)
    shown = escaped_in(data if secrets else Redaction().data(data))
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
