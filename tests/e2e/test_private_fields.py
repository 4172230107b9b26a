"""Members that only code of their own class can name: JavaScript's private fields."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from tests.fake_adapter import CAPABILITIES
from tests.harness import FAKE_PROGRAM, Json, ask, client, fake, has_all, needs, read, refusal
from tests.processes import LIMIT

BAG = """\
class Bag {
  #items = [];
  static #made = 0;
  get #half() { return this.#items.length / 2; }
  size = 0;
  put(x) {
    this.#items.push(x);
    this.size = this.#items.length;
    return this;
  }
}
const b = new Bag();
for (let i = 0; i < 5; i++) {
  b.put(i);
}
console.log("ok", b.size);
"""
PUSHED = 8


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    needs("js-debug")
    path = tmp_path / "bag.mjs"
    path.write_text(BAG)
    return path


async def ran(c: Client, bag: Path, **options: object) -> Json:
    """Run it with a breakpoint behind the line that pushes."""
    point = {"filename": str(bag), "line": PUSHED, **options}
    return await ask(c, "dap_run", program=str(bag), fresh=True, breakpoints=[point])


async def ran_on(c: Client) -> str:
    """Run to the end, and return what it has printed."""
    await ask(c, "dap_clear_breakpoints")
    return str((await ask(c, "dap_continue"))["output"])


async def test_a_private_field_is_set_and_no_public_property_is_made(bag: Path) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        await ran(c, bag)
        answer = await read(c, "dap_set_variable", path="this.#items", value="[7, 8, 9]")
        assert has_all(answer, "this.#items = ", "(3) [7, 8, 9]")
        made = "this.constructor.#made"
        answer = await read(c, "dap_set_variable", path=made, value="3 + 4")
        assert answer.startswith(f"{made} = 7")
        both = ["this.#items.length", made, "Object.keys(this).join()"]
        values = (await ask(c, "dap_evaluate", expressions=both))["values"]
        assert [each["result"] for each in values] == ["3", "7", "'size'"]
        answer = await refusal(c, "dap_set_variable", path="this.#half", value="1")
        assert "'#half' was defined without a setter" in answer
        assert await ran_on(c) == "ok 7\n"


@pytest.mark.parametrize("condition", ["this.#items.length === 3", "#items in this && x == 2"])
async def test_a_condition_on_a_private_field_stops_where_it_holds(
    bag: Path, condition: str
) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        stop = await ran(c, bag, condition=condition)
        assert (stop["line"], stop["locals"]["x"]) == (PUSHED, "2")


async def test_a_condition_on_a_private_field_that_is_none_is_reported(bag: Path) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        (note,) = (await ran(c, bag, condition="this.#nope === 3"))["notes"]
        assert has_all(note, "condition `this.#nope === 3` failed 5 times", "bag.mjs:8", "'#nope'")


async def test_log_messages_and_rows_have_the_values_of_private_fields(bag: Path) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        message = "n {this.#items.map(a => { return a + 1 })} of {this.#half}"
        logged = (await ran(c, bag, log_message=message))["logged"]
        assert [each.partition("n ")[2] for each in logged][:2] == ["[ 1 ] of 0.5", "[ 1, 2 ] of 1"]
        point = {"collect": ["this.#items.length", "x"], "condition": "this.#items.length > 3"}
        assert (await ran(c, bag, **point))["state"] == "ended"
        answer = await read(c, "dap_collected")
        assert has_all(answer, "this.#items.length = 4, x = 3", "this.#items.length = 5, x = 4")
        assert "2 rows" in answer


async def test_it_runs_until_an_expression_with_a_private_field_holds_or_changes(bag: Path) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        await ran(c, bag)
        await ask(c, "dap_clear_breakpoints")
        stop = await ask(c, "dap_run_until", expression="this.#items.length > 2")
        assert has_all(stop["until"][0], "holds after bag.mjs:7 in Bag.put: false → true")
        assert (stop["line"], stop["locals"]["x"]) == (PUSHED, "2")
        stop = await ask(c, "dap_run_until", expression="this.#items.length", on="change")
        assert has_all(stop["until"][0], "bag.mjs:7 in Bag.put changed", ": 3 → 4")
        end = await ask(c, "dap_run_until", expression="this.#nope > 2")
        assert has_all(end["until"][0], "never held", "it had no value", "'#nope'")
        assert end["output"] == "ok 5\n"


async def test_an_error_in_a_log_message_is_shown_whatever_quotes_it_has(bag: Path) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        end = await ran(c, bag, log_message="{nope} {this.foo.bar} {this.#nope} {x}")
        printed = (await ask(c, "dap_program_output"))["text"]
        errors = [
            "ReferenceError: nope is not defined",
            "TypeError: Cannot read properties of undefined (reading 'bar')",
            "SyntaxError: Private field '#nope' must be declared in an enclosing class",
        ]
        assert " ".join(f"{{{each}}}" for each in errors) + " 0\n" in printed
        assert [each.partition("bag.mjs:8: ")[2] for each in end["notes"]] == errors


async def test_a_log_message_that_does_not_parse_is_reported_and_no_output_of_the_program(
    bag: Path,
) -> None:
    async with asyncio.timeout(LIMIT), client(bag.parent) as c:
        end = await ran(c, bag, log_message="n {x..y}")
        assert end["output"] == "ok 5\n"
        (note,) = end["notes"]
        assert note == "log message failed at bag.mjs:8: Invalid or unexpected token"


SETTER = """\
class Limited {
  #v = 1;
  get v() { return this.#v; }
  set v(x) { this.#v = Math.min(10, x); }
}
const limited = new Limited();
const frozen = Object.freeze({ a: 1 });
(function go(p, f) {
  console.log(p.v, f.a);
})(limited, frozen);
"""


async def test_a_value_that_something_else_is_made_of_is_shown_as_it_is_then(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "setter.js").write_text(SETTER)
    at = {"filename": "setter.js", "line": 9}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program="setter.js", breakpoints=[at])
        assert "p.v = 10" in await read(c, "dap_set_variable", path="p.v", value="50")
        answer = await refusal(c, "dap_set_variable", path="f.a", value="9")
        assert "js-debug answers that f.a is 9 now, but it is still 1." in answer
        assert (await ask(c, "dap_continue"))["output"] == "10 1\n"


async def test_a_variable_that_is_not_set_is_not_shown_as_set(settings: Path) -> None:
    capabilities = {**CAPABILITIES, "supportsSetExpression": True}
    fake(
        settings,
        {"setVariable": [{"respond": {"value": "7"}}], "evaluate": [{"respond": {"result": "1"}}]},
        capabilities=capabilities,
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        answer = await refusal(c, "dap_set_variable", path="line", value="7")
        assert "fake answers that line is 7 now, but it is still 1." in answer
