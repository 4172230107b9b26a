"""The README says what is true."""

import json
import re

import pytest

from dapeer.mcp.prompts import PROMPTS
from tests.readme import README, made

TEXT = README.read_text(encoding="utf-8")


def test_the_tables_of_tools_are_those_that_are_served() -> None:
    assert made(TEXT) == TEXT, "run: uv run python -m tests.readme"


@pytest.mark.parametrize("block", re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
def test_every_configuration_is_valid_json(block: str) -> None:
    assert isinstance(json.loads(block), dict)


def test_the_prompts_that_are_named_are_served() -> None:
    named = re.search(r"\*\*Prompts\*\*: (.*)\.", TEXT)
    assert named
    assert sorted(re.findall(r"`(\w+)`", named[1])) == sorted(PROMPTS)
