"""The short form: a few rounds of every attack. The long one: `python -m tests.hostile --minutes 30`."""

import pytest

from tests.hostile import fuzzed_calls, sick_adapters
from tests.hostile.judge import Judge
from tests.languages import named, ready


async def test_no_message_of_an_adapter_harms_another_session(judge: Judge, seed: int) -> None:
    await sick_adapters.attack(judge, seed, 25)
    assert judge.figures["rounds: adapters"] == 25


async def test_no_call_of_a_tool_is_too_odd(judge: Judge, seed: int) -> None:
    await fuzzed_calls.attack(judge, seed, 120, None)


@pytest.mark.parametrize("adapter", ["debugpy", "gdb", "js-debug"])
async def test_no_call_of_a_tool_is_too_odd_for_a_session(
    judge: Judge, seed: int, adapter: str
) -> None:
    ready(named(adapter))
    await fuzzed_calls.attack(judge, seed, 40, named(adapter))
