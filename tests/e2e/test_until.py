"""A program is run until an expression holds or a value changes: the answer tells the line that did it, or why none has."""

import asyncio
from pathlib import Path

from mcp import Client

from tests.harness import ask, client, has_all, read, refusal
from tests.processes import LIMIT
from tests.programs import program

P = program("watched.py")
HERE = "fixtures/programs/watched.py"


async def until(c: Client, expression: str, **more: object) -> tuple[dict[str, object], str]:
    """Run until something; return where it stops, and what is told of it."""
    view = await ask(c, "dap_run_until", expression=expression, **more)
    (said,) = view.pop("until", [""])
    return view, said.partition(" (tracer, ")[0]


async def test_it_stops_after_the_line_that_made_an_expression_true_or_wrote_a_value() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), stop_on_entry=True)
        view, said = await until(c, "(account.balance,)", on="change", scope=["main", "work"])
        changed = f"{HERE}:{P.line('slot') - 1} in work changed `(account.balance,)`"
        assert said == f"{changed}: (0,) → (5,)"
        assert (view["reason"], view["line"]) == ("until", P.line("slot"))
        assert "collected" not in view
        view, said = await until(c, "account.balance", on="write", evaluate=["account.balance"])
        assert said == f"{HERE}:{P.line('spend')} in spend changed `account.balance`: 5 → 4"
        assert view["values"] == {"account.balance": "4"}
        # It has no value before.
        view, said = await until(c, "items == []", scope=[HERE])
        assert said == f"`items == []` holds after {HERE}:{P.line('cut') - 5} in index: True"
        view, said = await until(c, "dead and dead[-1] > len(items)", scope=[HERE])
        assert said.endswith(f"holds after {HERE}:{P.line('cut')} in index: False → True")
        view, said = await until(c, "items[0]", on="write")
        assert said == "`items[0]` was never written"
        assert view["state"] == "ended"


async def test_every_write_is_recorded_beside_a_run_until_something_else() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        breakpoints = [P.at("ready"), P.at("over")]
        await ask(c, "dap_run", program=str(P), breakpoints=breakpoints)
        view = await ask(c, "dap_run_until", expression="account.balance", on="write", every=True)
        title, *rows = view["collected"]
        assert (view["line"], title) == (
            P.line("over"),
            "writes of account.balance: 3 rows, tracer",
        )
        assert rows[-1].split(", ", 2)[::2] == [
            "  #3 closer",
            f"{HERE}:{P.line('close')} in Account.close, before = 4, after = None",
        ]
        where = await read(c, "dap_collected", where="after is None")
        assert "before = 4" in where
        assert "before = 5" not in where
        assert "every writes of account.balance recorded" in await read(c, "dap_breakpoints")
        assert "Removed 3" in await read(c, "dap_clear_breakpoints")
        assert "recorded" not in await read(c, "dap_breakpoints")


async def test_what_cannot_be_watched_is_refused_before_the_program_goes_on() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(P), breakpoints=[P.at("ready")])
        wrong: dict[str, tuple[str, dict[str, object]]] = {
            "x x": ("does not parse", {}),
            "balance": ("does not exist", {"scope": ["nowhere.py"]}),
            "nobody.there": ("NameError", {"on": "write"}),
            "account.spend(3)": ("is no variable", {"on": "write", "every": True}),
            " ": ("characters", {}),
        }
        for expression, (why, more) in wrong.items():
            assert why in await refusal(c, "dap_run_until", expression=expression, **more)
        assert (await ask(c, "dap_snapshot"))["line"] == P.line("ready")
        assert "recorded" not in await read(c, "dap_breakpoints")


async def test_that_it_has_not_come_about_is_told_at_another_stop_at_the_timeout_and_at_the_end(
    tmp_path: Path,
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text(
        "class Odd:\n    def __bool__(self):\n        raise TypeError('neither')\n"
        "def wait(n):\n    odd = Odd()\n    input()\n    return n\n"
        "def rest(n):\n    return n + 1\n"
        "n = rest(wait(1))\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = [{"filename": str(slow), "line": line} for line in (5, 9)]
        await ask(c, "dap_run", program=str(slow), breakpoints=at, terminal=True)
        view, said = await until(c, "odd", timeout_ms=1)
        assert view["state"] == "running"
        assert has_all(said, "`odd`", "not held yet", "runs on")
        view = await ask(c, "dap_send_input", text="\n")
        view = await ask(c, "dap_wait_until_paused")
        assert has_all(view["until"][0], "not held yet", "no value in", "TypeError: neither")
        view, said = await until(c, "n > 100")
        assert view["state"] == "ended"
        assert has_all(said, "`n > 100`", "never held", "rest, <module>")
        assert (await ask(c, "dap_snapshot"))["until"]
