"""Two runs that collect the same are compared: where they part, and what was before."""

import asyncio
import sys
from pathlib import Path

import pytest

from dapeer.collecting.rows import collected
from tests.harness import ask, client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import Program

CART_PY = """
import sys

def total(prices):
    found = 0
    for price in prices:
        found += price  # @add
    return found  # @done

print(total(map(int, sys.argv[1:])))
"""
CART_JS = """
function total(price, code) {
  let found = price;
  if (code.startsWith('S')) {
    found -= 1; // @less
  }
  return found; // @done
}
for (const code of process.argv.slice(2)) console.log(total(5, code));
"""
FLAKY = """
import sys
from pathlib import Path

counter = Path(sys.argv[1])
run = len(counter.read_text()) if counter.exists() else 0
counter.write_text("x" * (run + 1))
left = 3
for step in range(3):
    left -= 1 + (step == 1 and run == 1)  # @step
assert left == 0, left
"""


def written(folder: Path, name: str, text: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Program(path, path)


async def test_a_run_before_an_edit_and_one_after_it_part_at_a_value(tmp_path: Path) -> None:
    p = written(tmp_path, "cart.py", CART_PY)
    asked = {"program": "cart.py", "args": ["1", "2", "3"], "python": sys.executable}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("add", collect=["price", "found"]), p.at("done", collect=["found"])]
        await read(c, "dap_run", **asked, breakpoints=points)
        edited = CART_PY.replace("found += price", "found += price * (1 + price // 3)")
        p = written(tmp_path, "cart.py", edited.replace("import sys", "import sys\n# 2"))
        points = [p.at("add", collect=["price", "found"]), p.at("done", collect=["found"])]
        await read(c, "dap_run", **asked, breakpoints=points, fresh=True)
        told = (await read(c, "dap_compare", a=1, b=2)).splitlines()
        assert told[:2] == [
            "a: session 1, 4 rows; b: session 2, 4 rows",
            f"Values part at cart.py:{p.line('done') - 1}: `found` differs.",
        ]
        assert told[2] == "Before:" or told[2].startswith("Before, in a")
        assert f"a #1 cart.py:{p.line('done') - 1}: found = 6" in told
        assert f"b #1 cart.py:{p.line('done')}: found = 9" in told


async def test_runs_with_other_arguments_part_at_a_branch(tmp_path: Path) -> None:
    needs("js-debug")
    p = written(tmp_path, "cart.js", CART_JS)
    points = [p.at("less", collect=["code"]), p.at("done", collect=["found"])]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for last in ("S2", "N2"):
            asked = {"program": "cart.js", "args": ["N1", last], "breakpoints": points}
            await read(c, "dap_run", **asked, fresh=True)
        sessions = (await ask(c, "dap_status"))["sessions"]
        a, b = (each["session_id"] for each in sessions if "parent" not in each)
        told = await read(c, "dap_compare", a=a, b=b)
        assert (
            f"Control flow parts: a goes on to cart.js:{p.line('less')}, "
            f"b to cart.js:{p.line('done')} (1 row only in a)."
        ) in told
        assert f"Before:\n  #1 cart.js:{p.line('done')}: found = 5\n" in told


async def test_a_run_that_fails_is_compared_with_one_that_has_passed(tmp_path: Path) -> None:
    p = written(tmp_path, "flaky.py", FLAKY)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program="flaky.py", args=[str(tmp_path / "runs")], repeat=5,
            python=sys.executable, breakpoints=[p.at("step", collect=["step", "left"])],
        )  # fmt: skip
        passed, failed = stop["runs"]["passed_session"], stop["session_id"]
        told = await ask(c, "dap_compare", a=passed, b=failed)
        assert (told["kind"], told["alike"], told["changed"]) == ("data", 2, 1)
        assert [each["values"]["left"] for each in told["parting"]] == ["1", "0"]


@pytest.mark.parametrize("what", ["unknown", "same", "nothing", "elsewhere"])
async def test_what_cannot_be_compared_is_said_in_a_sentence(what: str, tmp_path: Path) -> None:
    p = written(tmp_path, "cart.py", CART_PY)
    asked = {"program": "cart.py", "args": ["1"], "python": sys.executable, "fresh": True}
    second = {"elsewhere": [p.at("done", collect=["found"])]}.get(what, [])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await read(c, "dap_run", **asked, breakpoints=[p.at("add", collect=["price"])])
        if what in {"nothing", "elsewhere"}:
            await read(c, "dap_run", **asked, breakpoints=second)
        other = {"unknown": 7, "same": 1}.get(what, 2)
        said = {
            "unknown": "There is no session 7. Sessions: 1.",
            "same": "`a` and `b` are one run. Name another one.",
            "nothing": "Session 2 has collected nothing. Its breakpoints need `collect`, and to be reached.",
            "elsewhere": f"The two runs collect at different points: session 1 at cart.py:{p.line('add')} (price); "
            f"2 at cart.py:{p.line('done')} (found). Run one again with the breakpoints of the other.",
        }
        assert await refusal(c, "dap_compare", a=1, b=other) == said[what]


async def test_a_run_that_is_kept_no_longer_is_named(tmp_path: Path) -> None:
    p = written(tmp_path, "cart.py", CART_PY)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        points = [p.at("add", collect=["price"])]
        asked = {"program": "cart.py", "args": ["1"], "breakpoints": points}
        await read(c, "dap_run", **asked, python=sys.executable, repeat=2)
        said = "Session 1 is not kept any longer. Run it again, or compare 2."
        assert await refusal(c, "dap_compare", a=1, b=2) == said


async def test_rows_that_had_to_make_room_are_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the last two runs are kept whatever room there is."""
    monkeypatch.setattr(collected, "KEPT_FIELDS", 1)
    p = written(tmp_path, "cart.py", CART_PY)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        asked = {"program": "cart.py", "breakpoints": [p.at("add", collect=["price"])]}
        for args in (["1"], ["2"], ["2"]):
            await read(c, "dap_run", **asked, args=args, python=sys.executable)
        assert "They do not part: 1 row, the same in both." in await read(
            c, "dap_compare", a=2, b=3
        )
        said = "The rows of session 1 were given up for those of later runs. Run it again."
        assert await refusal(c, "dap_compare", a=1, b=3) == said
