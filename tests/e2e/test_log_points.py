"""What log points say has a section of its own; every adapter's is in test_languages.py."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, has_all, read
from tests.json_types import Json
from tests.languages import Language, named, program_of, ready
from tests.processes import LIMIT
from tests.programs import Program, program

CHATTY = """
def rare():
    return 1  # @rare


def often(number):
    return number  # @often


rare()
for number in range(300):
    often(number)
for number in range(3000):
    print("printed", number)
print("done")  # @done
"""


async def test_a_message_is_lost_neither_behind_prints_nor_behind_those_of_another_log_point(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chatty.py"
    path.write_text(CHATTY, encoding="utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        logs = [p.at("rare", log_message="rarely"), p.at("often", log_message="n={number}")]
        stop = await read(c, "dap_run", program=str(path), breakpoints=[*logs, p.at("done")])
        section = stop.partition("Log points:\n")[2].partition("Output:\n")[0].splitlines()
        assert section[:2] == [
            f"  chatty.py:{p.line('rare')} #1 rarely",
            f"  chatty.py:{p.line('often')} #292 n=291",
        ]
        assert section[-1] == "  #300 n=299"
        assert "(291 more messages of log points: dap_program_output category=log since=0)" in stop
        assert "printed 2999" in stop
        assert "n=" not in stop.partition("Output:\n")[2].partition("(")[0]
        # What was told once is not told again.
        assert "Log points" not in await read(c, "dap_continue")
        first = await read(c, "dap_history", number=1)
        assert f"  chatty.py:{p.line('rare')} #1 rarely" in first


async def test_a_program_in_a_terminal_and_child_processes_log_too() -> None:
    p = program("children.py")
    logs = p.at("child", log_message="number is {number}")
    for more in ({"terminal": True}, {}):
        async with asyncio.timeout(LIMIT), client() as c:
            end = await ask(
                c, "dap_run", program=str(p), args=["script"], breakpoints=[logs], **more
            )
            place = f"fixtures/programs/children.py:{p.line('child')}"
            assert end["logged"] == [f"{place} #1 number is 5"], end
            whole = (await ask(c, "dap_program_output", since=0))["text"]
            assert whole.count("number is 5") == 1
            assert "@" not in whole


async def test_a_log_point_says_only_what_its_condition_lets_through(
    language: Language, build: Path
) -> None:
    p = program_of(language, build)
    at = p.at("inner", log_message=f"seen {{{language.value}}}", condition=language.condition)
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[at])
        if end["state"] == "ended":
            assert [each.partition("seen ")[2] for each in end["logged"]] == ["2"]
            return
        # What an adapter cannot do is said, and it stops there instead.
        assert "stops anyway" in end["breakpoints"]


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        ({"hit_condition": "4"}, ["3", "4"]),
        ({"hit_condition": "2", "condition": "value > 1"}, ["3", "4"]),
    ],
)
async def test_gdb_passes_by_as_many_hits_of_a_log_point_as_it_is_to(
    build: Path, more: Json, seen: list[str]
) -> None:
    ready(named("gdb"))
    p = program_of(named("gdb"), build)
    async with asyncio.timeout(LIMIT), client() as c:
        at = p.at("inner", log_message="seen {value}", **more)
        end = await ask(c, "dap_run", type="gdb", program=str(p), breakpoints=[at])
        assert [each.partition("seen ")[2] for each in end["logged"]] == seen


async def test_what_gdb_logs_or_collects_by_a_wrong_condition_is_nothing_but_its_error(
    build: Path,
) -> None:
    ready(named("gdb"))
    p = program_of(named("gdb"), build)
    for more in ({"log_message": "seen {value}"}, {"collect": ["value"]}):
        async with asyncio.timeout(LIMIT), client() as c:
            at = p.at("inner", condition="nope > 1", **more)
            end = await ask(c, "dap_run", type="gdb", program=str(p), breakpoints=[at])
            (note,) = end["notes"]
            assert has_all(note, "condition", "failed 5 times at", 'No symbol "nope"')
            assert not end.keys() & {"logged", "collected"}
