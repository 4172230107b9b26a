"""OpenCode's skills, each as a prompt and a resource; all from memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import mcp.types as t

Skill = Mapping[str, Any]

PREFIX: Final = "opencode_"
URI: Final = "opencode://skills/"
GIVEN: Final = "$ARGUMENTS"
"""The placeholder that OpenCode also uses for arguments of a skill."""

_ARGUMENT = t.PromptArgument(
    name="arguments", description="What to do with the skill", required=False
)


def prompt(skill: Skill) -> t.Prompt:
    """Return a skill as a prompt of MCP's list of prompts, with one optional argument."""
    return t.Prompt(
        name=PREFIX + skill["name"],
        title=skill["name"],
        description=skill.get("description"),
        arguments=[_ARGUMENT],
    )


def filled_prompt(
    skills: Iterable[Skill], name: str, values: Mapping[str, str]
) -> t.GetPromptResult | None:
    """Return the text of the skill that is the prompt of this name, as MCP's prompt; None: there is none.

    `values` may have `arguments`, which say what to do with the skill.
    """
    for skill in skills:
        if name == PREFIX + skill["name"]:
            text = skill_text(skill, values.get("arguments", ""))
            message = t.PromptMessage(role="user", content=t.TextContent(text=text))
            return t.GetPromptResult(description=skill.get("description"), messages=[message])
    return None


def resource(skill: Skill) -> t.Resource:
    """Return a skill as a resource of MCP's list of resources."""
    return t.Resource(
        uri=uri_of(skill),
        name=f"skill {skill['name']}",
        description=skill.get("description"),
        mime_type="text/markdown",
    )


def skill_contents(skills: Iterable[Skill], uri: str) -> t.TextResourceContents | None:
    """Return the text of the skill at an address as the content of a resource; None: there is none."""
    for skill in skills:
        if uri == uri_of(skill):
            return t.TextResourceContents(uri=uri, mime_type="text/markdown", text=skill["content"])
    return None


def uri_of(skill: Skill) -> str:
    """Return the address of a skill as a resource."""
    return URI + quote(skill["name"], safe="")


def skill_text(skill: Skill, given: str) -> str:
    """Return the text by which a model uses a skill, as OpenCode writes it.

    `given` says what is to be done with it. `given` replaces the placeholder for arguments, or follows the text; empty: nothing is added.
    """
    text: str = skill["content"]
    if GIVEN in text:
        text = text.replace(GIVEN, given)
    elif given:
        text = f"{text}\n\n{given}"
    # Its other files are named relative to it.
    return f"{text}\n\nBase directory of this skill: {Path(skill['location']).parent}"
