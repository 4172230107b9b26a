"""docs/answers.md shows what a model reads now."""

import asyncio

import pytest

from tests.programs import ROOT
from tools.answers.page import alike, section, told_in
from tools.answers.read import read
from tools.answers.scenarios import SCENARIOS, Scenario

PAGE = (ROOT / "docs" / "answers.md").read_text("utf-8")
SECONDS = 120


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_the_page_shows_the_answer_that_is_given(scenario: Scenario) -> None:
    async with asyncio.timeout(SECONDS):
        now = section(scenario, await read(scenario))
    shown = told_in(PAGE, scenario)
    assert alike(shown, now), f"run: uv run python -m tools.answers\n{now}"
