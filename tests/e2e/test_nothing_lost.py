"""What a breakpoint was to say, or could not evaluate, is told; so is what an evaluation prints."""

import asyncio

from tests.harness import ask, call, client, evaluate, read, refusal, text
from tests.processes import LIMIT
from tests.programs import program

NAME = "NameError: name 'nope' is not defined"


async def test_all_log_points_arrive_in_their_order_though_the_program_ends_at_once() -> None:
    """Stock debugpy sends them beside the output, and forgets those that are not sent half a second after the end."""
    p = program("counts.py")
    many = 12_000
    async with asyncio.timeout(LIMIT), client() as c:
        logged = p.at("half", log_message="number={number}")
        end = await ask(c, "dap_run", program=str(p), args=[str(many)], breakpoints=[logged])
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        numbers = [f"number={number}" for number in range(many)]
        lines = [*numbers[:4], "three", *numbers[4:], "last"]
        told = await read(c, "dap_program_output", lines=1)
        assert f"({len(lines)} lines so far" in told
        first = await ask(c, "dap_program_output", since=0)
        assert first["text"].splitlines()[:6] == lines[:6]
        assert end["output"].splitlines() == ["three", "last"]
        place = f"fixtures/programs/counts.py:{p.line('half')} "
        last = [f"#{number + 1} number={number}" for number in range(many - 10, many)]
        assert end["logged"] == [place + last[0], *last[1:]]
        more = "more messages of log points: dap_program_output category=log since=0"
        assert end["notes"] == [f"{many - 10} {more}"]
        said = await ask(c, "dap_program_output", since=0, category="log", lines=3)
        assert said["text"].splitlines() == numbers[:3]


async def test_a_part_of_a_log_message_that_raises_leaves_the_others() -> None:
    p = program("counts.py")
    async with asyncio.timeout(LIMIT), client() as c:
        logged = p.at("half", log_message="n={number} {nope} {number + 1}")
        end = await ask(c, "dap_run", program=str(p), args=["2"], breakpoints=[logged])
        assert [line.partition("#")[2] for line in end["logged"]] == [
            f"1 n=0 {{nope: {NAME}}} 1",
            f"2 n=1 {{nope: {NAME}}} 2",
        ]
        place = f"fixtures/programs/counts.py:{p.line('half')}"
        assert end["notes"] == [f"log message `nope` failed 2 times at {place}: {NAME}"]


async def test_a_condition_that_raises_is_told_at_the_next_stop_and_at_the_end() -> None:
    p = program("counts.py")
    async with asyncio.timeout(LIMIT), client() as c:
        wrong = p.at("half", condition="nope > 3")
        wanted = [wrong, p.at("last")]
        stop = await ask(c, "dap_run", program=str(p), args=["57"], breakpoints=wanted)
        assert stop["line"] == p.line("last")
        place = f"fixtures/programs/counts.py:{p.line('half')}"
        said = f"condition `nope > 3` failed 57 times at {place}: {NAME}"
        assert said in stop["notes"]
        assert said not in (await ask(c, "dap_snapshot"))["notes"], "it is told once"
        assert (await ask(c, "dap_continue"))["notes"] == [said]


async def test_a_condition_that_is_no_python_is_told_once_and_not_printed_at_each_hit() -> None:
    p = program("counts.py")
    async with asyncio.timeout(LIMIT), client() as c:
        # Only the program's own Python knows the grammar of its f-strings.
        wrong = p.at("half", condition="f'{number'")
        end = await ask(c, "dap_run", program=str(p), args=["57"], breakpoints=[wrong])
        assert end["output"] == "three\nlast\n"
        assert "failed 57 times" in end["notes"][0]
        assert end["notes"][0].endswith("SyntaxError: f-string: expecting '}'")


async def test_a_hit_condition_that_raises_is_told_and_one_counts_the_hits_that_fit_the_condition() -> (
    None
):
    p = program("counts.py")
    async with asyncio.timeout(LIMIT), client() as c:
        wrong = p.at("half", hit_condition="@HIT@ + often")
        end = await ask(c, "dap_run", program=str(p), args=["3"], breakpoints=[wrong])
        assert "hit condition `+ often` failed 3 times" in end["notes"][0]
        third = p.at("half", condition="number > 40", hit_condition="3")
        await read(c, "dap_set_breakpoint", **third)
        stop = await ask(c, "dap_run", program=str(p), args=["57"])
        assert stop["locals"]["number"] == "43"


async def test_what_an_evaluation_in_the_repl_prints_is_its_answer() -> None:
    p = program("counts.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), args=["5"], breakpoints=[p.at("last")])
        for code, answer in (
            ("print(count, number)", "5 4\n"),
            ("for n in range(2): print(n)", "0\n1\n"),
            ("print(7) or number", "7\n4"),
        ):
            assert await evaluate(c, code, context="repl") == answer
        failed = await refusal(c, "dap_evaluate", expression="print(7) or 1 / 0", context="repl")
        assert failed.startswith("  7\n")
        assert "ZeroDivisionError" in failed
        assert "7" not in text(await call(c, "dap_continue")).partition("Output:")[2]
