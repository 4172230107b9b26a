"""The short form: a few rounds of every attack. The long one: `python -m tests.hostile --minutes 30`."""

from pathlib import Path

import pytest

from tests.hostile import consents, files, fuzzed_calls, garbage, kills, second_user, sick_adapters
from tests.hostile.judge import Judge
from tests.languages import named, ready
from tests.mcp.small import ERAS, LEGACY, MODERN

pytestmark = pytest.mark.hostile
needs_root = pytest.mark.skipif(
    not second_user.possible, reason="needs root and /proc: only root may become another user"
)


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


@pytest.mark.parametrize(
    ("bridged", "era"),
    [(False, MODERN), (True, MODERN), (True, LEGACY)],
    ids=["server", "bridge", "older bridge"],
)
async def test_whoever_is_killed_a_client_is_served_in_each_protocol(
    judge: Judge, seed: int, tmp_path: Path, *, bridged: bool, era: str
) -> None:
    await kills.attack(judge, seed, 1, named("debugpy"), tmp_path, era=era, bridged=bridged)


@pytest.mark.parametrize("adapter", ["debugpy", "delve"])
async def test_whoever_is_killed_or_frozen_nothing_is_left_and_the_rest_goes_on(
    judge: Judge, seed: int, adapter: str, tmp_path: Path
) -> None:
    ready(named(adapter))
    await kills.attack(judge, seed, 3, named(adapter), tmp_path)


async def test_nothing_is_done_that_the_person_has_not_allowed(judge: Judge, seed: int) -> None:
    await consents.guarded(judge, seed, 150)


async def test_a_server_that_may_only_look_starts_nothing(judge: Judge, seed: int) -> None:
    await consents.read_only(judge, seed, 100)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("bridged", [False, True], ids=["server", "bridge"])
async def test_garbage_on_stdio_leaves_the_server_well(
    judge: Judge, seed: int, *, bridged: bool, era: str
) -> None:
    await garbage.over_stdio(judge, seed, 40, era=era, bridged=bridged)


async def test_garbage_over_http_passes_no_guard_and_leaves_the_server_well(
    judge: Judge, seed: int
) -> None:
    await garbage.over_http(judge, seed, 60)


async def test_clients_that_never_finish_keep_nobody_waiting(judge: Judge, seed: int) -> None:
    await garbage.slow(judge, seed, 300)


async def test_an_odd_launch_json_runs_nothing_that_it_names(judge: Judge, seed: int) -> None:
    await files.launch_json(judge, seed, 20)


def test_an_odd_definition_is_refused_in_a_sentence(judge: Judge, seed: int) -> None:
    files.definitions(judge, seed, 100)


@needs_root
@pytest.mark.parametrize("adapter", ["debugpy", "delve", "js-debug", "rdbg", "gdb"])
async def test_another_user_reaches_nothing_of_a_session(
    judge: Judge, adapter: str, tmp_path: Path
) -> None:
    ready(named(adapter))
    await second_user.beside_sessions(judge, 2, named(adapter), tmp_path)


@needs_root
async def test_another_user_reaches_nothing_of_a_server_or_a_neovim(judge: Judge) -> None:
    await second_user.beside_servers(judge)
    assert judge.figures["endpoints tried by another user"] >= 3
