"""OpenCode's skills, each as a prompt and a resource; all from memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import mcp.types as t

from dapeer.opencode.servers import Servers

Skill = Mapping[str, Any]

PREFIX: Final = "opencode_"
URI: Final = "opencode://skills/"
GIVEN: Final = "$ARGUMENTS"
"""The placeholder that OpenCode also uses for arguments of a skill."""

_ARGUMENT = t.PromptArgument(
    name="arguments", description="What to do with the skill", required=False
)


class Skills:
    """The skills of the OpenCode server that is known, in the project's directory."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    def prompts(self) -> list[t.Prompt]:
        """Return them as prompts."""
        return [
            t.Prompt(
                name=PREFIX + skill["name"],
                title=skill["name"],
                description=skill.get("description"),
                arguments=[_ARGUMENT],
            )
            for skill in self._known()
        ]

    def prompt(self, name: str, values: Mapping[str, str]) -> t.GetPromptResult | None:
        """Return the prompt of this name with its arguments; None if there is none."""
        for skill in self._known():
            if name == PREFIX + skill["name"]:
                text = filled(skill, values.get("arguments", ""))
                message = t.PromptMessage(role="user", content=t.TextContent(text=text))
                return t.GetPromptResult(description=skill.get("description"), messages=[message])
        return None

    def resources(self) -> list[t.Resource]:
        """Return them as resources."""
        return [
            t.Resource(
                uri=uri_of(skill),
                name=f"skill {skill['name']}",
                description=skill.get("description"),
                mime_type="text/markdown",
            )
            for skill in self._known()
        ]

    def resource(self, uri: str) -> t.TextResourceContents | None:
        """Return the skill at an address; None if there is none."""
        for skill in self._known():
            if uri == uri_of(skill):
                return t.TextResourceContents(
                    uri=uri, mime_type="text/markdown", text=skill["content"]
                )
        return None

    def _known(self) -> Iterable[Skill]:
        current = self._servers.current
        return current.project_skills if current else ()


def uri_of(skill: Skill) -> str:
    """Return the address of a skill."""
    return URI + quote(skill["name"], safe="")


def filled(skill: Skill, given: str) -> str:
    """Return the text by which a model uses a skill, as OpenCode writes it."""
    text: str = skill["content"]
    if GIVEN in text:
        text = text.replace(GIVEN, given)
    elif given:
        text = f"{text}\n\n{given}"
    # Its other files are named relative to it.
    return f"{text}\n\nBase directory of this skill: {Path(skill['location']).parent}"
