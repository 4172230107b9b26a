"""Lives the scenarios through, each with a server of its own, and keeps what the model reads."""

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness import client, text
from tools.answers.normal import normal
from tools.answers.scenarios import SCENARIOS, Scenario, answer, prepared

BEFORE = Path(__file__).with_name("before.json")


@dataclass(frozen=True)
class Read:
    """The call that a scenario is about, and its answer."""

    call: str
    text: str
    data: str
    """The answer's structured content as JSON; empty where there is none."""

    @property
    def size(self) -> int:
        """The bytes of the text."""
        return len(self.text.encode())

    @property
    def data_size(self) -> int:
        """The bytes of the structured content as compact JSON."""
        return len(self.data.encode())


async def read(scenario: Scenario) -> Read:
    """Live a scenario through; skips the test where the machine lacks something."""
    with tempfile.TemporaryDirectory() as folder:
        project = prepared(scenario, folder)
        async with client(project) as connected:
            answered = await answer(scenario, connected, project)
    content = answered.result.structured_content
    data = "" if content is None else json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Read(
        f"{answered.tool}({', '.join(_argument(*item) for item in answered.arguments.items())})",
        normal(text(answered.result), str(project)),
        normal(data, str(project)),
    )


def _argument(name: str, value: object) -> str:
    return f"{name}={json.dumps(value, ensure_ascii=False)}"


async def read_all() -> dict[str, Read]:
    """Live all of them through, one after the other; what the machine lacks is left out, and said."""
    answers: dict[str, Read] = {}
    for scenario in SCENARIOS:
        try:
            answers[scenario.name] = await read(scenario)
        except pytest.skip.Exception as skipped:
            sys.stderr.write(f"{scenario.name} is left out: {skipped.msg}\n")
    return answers


def before() -> dict[str, Read]:
    """Return what the scenarios answered before anybody had counted it."""
    kept = json.loads(BEFORE.read_text("utf-8"))
    return {name: Read(**one) for name, one in kept.items()}
