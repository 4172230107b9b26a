"""docs/answers.md shows what a model reads now."""

import asyncio

import pytest

from tests.answers.page import alike, section, told_in
from tests.answers.read import read
from tests.answers.scenarios import SCENARIOS, Scenario
from tests.programs import ROOT

PAGE = (ROOT / "docs" / "answers.md").read_text("utf-8")
SECONDS = 120


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_the_page_shows_the_answer_that_is_given(scenario: Scenario) -> None:
    async with asyncio.timeout(SECONDS):
        now = section(scenario, await read(scenario))
    shown = told_in(PAGE, scenario)
    assert alike(shown, now), f"run: uv run python -m tests.answers\n{now}"
