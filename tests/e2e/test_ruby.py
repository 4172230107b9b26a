"""What Ruby's debugger does otherwise than others, with the right values."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs, read, refusal
from tests.processes import LIMIT

ONE = """\
class Bare < BasicObject
  def initialize = @a = 3
end
total = 1
bare = Bare.new
total += 1
out = `ruby -e 'puts 41'`
pid = fork { total = 7 }
Process.wait(pid)
puts [out, total].inspect
"""

WRAPPED = """\
def parse(text) = Integer(text)
def load_all
  parse("x")
rescue ArgumentError
  raise "no list"
end
load_all
"""

LATE = """\
DEBUGGER__::Session.prepend(Module.new { private def enter_subsession = super.tap { sleep 0.7 } })
"""
"""The debugger stands at the first statement before it has breakpoints, and tells it after them: so it is on a busy machine."""

SLOW = "DEBUGGER__::Session.prepend(Module.new { def on_load(...) = sleep(0.7) && super })"
"""All breakpoints are there before the program is: the debugger's own stop comes behind that of the user's."""

OPTIONS = """\
shown = '[$VERBOSE, ENV["RUBYOPT"], defined?(Extra), *ENV.keys.grep(/RUBY_DEBUG/)]'
p eval(shown)
puts `ruby -e 'p #{shown}'`
puts IO.popen(["ruby", "-e", "puts `ruby -e 'p #{shown}'`"], &:read)
"""

DEEP = "def down(n) = n.zero? ? n / 0 : down(n - 1)\ndown(40)\n"

SPEC = """\
RSpec.describe 'price' do
  it('adds') { kind = 'x'; 3 + kind }
  it('is not ready') { pending 'later'; raise 'no unit' }
  it('rescues') { Integer('x') rescue 0 }
end
"""

TEST = """\
require 'minitest/autorun'
class PriceTest < Minitest::Test
  def test_adds
    kind = 'x'
    3 + kind
  end
end
"""


def needs_gem(name: str) -> None:
    found = subprocess.run(["ruby", "-e", f"gem '{name}'"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"needs {name}: apt-get install ruby-{name}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    needs("rdbg")
    for name, text in (("one", ONE), ("wrapped", WRAPPED), ("deep", DEEP)):
        (tmp_path / f"{name}.rb").write_text(text)
    return tmp_path


async def test_a_program_of_ruby_stops_at_its_first_statement_and_outlives_its_children(
    folder: Path,
) -> None:
    at = [{"filename": "one.rb", "line": line} for line in (1, 6, 10)]
    async with asyncio.timeout(LIMIT), client(folder) as c:
        stop = await ask(c, "dap_run", program="one.rb", breakpoints=at)
        assert (stop["reason"], stop["line"]) == ("breakpoint", 1)
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]["total"]) == (6, "1")
        # What cannot show itself fails alone.
        assert stop["locals"]["bare"] == "#<Bare @a=3>"
        told = await read(c, "dap_evaluate", expressions=["total + 1", "nix.foo", "bare.foo"])
        assert "total + 1 = 2" in told
        assert "nix.foo: undefined local variable or method `nix'" in told
        assert "bare.foo: undefined method `foo'" in told
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["locals"]["out"]) == (10, '"41\\n"')
        ended = await read(c, "dap_continue")
        assert '["41\\n", 2]' in ended
        assert "DEBUGGER" not in ended


@pytest.mark.parametrize("late", [LATE, SLOW])
async def test_the_first_stop_of_ruby_is_told_once_where_the_debugger_is_late(
    folder: Path, late: str
) -> None:
    (folder / "late.rb").write_text(late)
    at = [{"filename": "one.rb", "line": line} for line in (1, 6)]
    async with asyncio.timeout(LIMIT), client(folder) as c:
        env = {"RUBY_DEBUG_INIT_SCRIPT": f"{folder}/late.rb"}
        stop = await ask(c, "dap_run", program="one.rb", breakpoints=at, env=env)
        assert (stop["reason"], stop["line"]) == ("breakpoint", 1)
        assert (await ask(c, "dap_continue"))["line"] == 6


async def test_a_condition_at_the_first_statement_of_ruby_counts(folder: Path) -> None:
    at = [{"filename": "wrapped.rb", "line": 1, "condition": "false"}]
    async with asyncio.timeout(LIMIT), client(folder) as c:
        stop = await ask(c, "dap_run", program="wrapped.rb", breakpoints=at)
        # It is the error that ends the program which is shown, and what caused it.
        assert (stop["reason"], stop["line"]) == ("exception", 5)
        assert stop["exception"].splitlines() == [
            "#<RuntimeError: no list>",
            'caused by #<ArgumentError: invalid value for Integer(): "x"> at wrapped.rb:1',
        ]
        assert "has ended by this error" in await refusal(c, "dap_step_over")
        end = await ask(c, "dap_continue")
        assert (end["line"], end["exception"]) == (5, "no list (RuntimeError)")


@pytest.mark.parametrize(
    ("options", "shown"),
    [("-W0 -r./extra", '[nil, "-W0 -r./extra", "constant"]'), (None, "[false, nil, nil]")],
)
async def test_a_program_of_ruby_and_its_children_have_the_options_of_the_environment(
    folder: Path, options: str | None, shown: str
) -> None:
    (folder / "options.rb").write_text(OPTIONS)
    (folder / "extra.rb").write_text("module Extra; end\n")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        env = {"RUBYOPT": options} if options else {}
        end = await ask(c, "dap_run", program="options.rb", env=env)
        assert end["output"].splitlines() == [shown] * 3


async def test_a_deep_stack_of_ruby_is_told_once(folder: Path) -> None:
    async with asyncio.timeout(LIMIT), client(folder) as c:
        await ask(c, "dap_run", program="deep.rb")
        told = await read(c, "dap_stacktrace", levels=100)
        assert "Object#down deep.rb:1 (41 times)" in told
        assert told.rstrip().splitlines()[-1].startswith("#42 <main> deep.rb:2")


@pytest.mark.parametrize(
    ("gem", "name", "text", "line"),
    [("rspec", "price_spec.rb", SPEC, 2), ("minitest", "price_test.rb", TEST, 5)],
)
async def test_any_error_that_a_test_of_ruby_does_not_rescue_stops_where_it_was_raised(
    folder: Path, gem: str, name: str, text: str, line: int
) -> None:
    needs_gem(gem)
    (folder / name).write_text(text)
    async with asyncio.timeout(LIMIT), client(folder) as c:
        stop = await ask(c, "dap_run", program=name)
        assert (stop["line"], stop["locals"]["kind"]) == (line, '"x"')
        assert stop["exception"] == "#<TypeError: String can't be coerced into Integer>"
        assert (await ask(c, "dap_continue"))["state"] == "ended"


STATEMENT = """\
def check(n)
  m = n + 1
  STOP if m == 3
  puts m
end
check(1)
check(2)
puts "end"
"""

QUEUE = """\
queue, results = Queue.new, Queue.new
def price(item)
  item * 3
end
workers = 3.times.map do
  Thread.new do
    while (item = queue.pop) != :stop
      results << price(item)
    end
  end
end
6.times { |i| queue << i }
3.times { queue << :stop }
workers.each(&:join)
puts results.size.times.sum { results.pop }
"""


@pytest.mark.parametrize("statement", ["debugger", "binding.break"])
async def test_a_statement_that_stops_is_the_first_stop(statement: str, tmp_path: Path) -> None:
    needs("rdbg")
    source = tmp_path / "one.rb"
    source.write_text(STATEMENT.replace("STOP", statement))
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(source))
        assert (stop["reason"], stop["line"]) == ("breakpoint", 3)
        assert "end" in (await ask(c, "dap_continue"))["output"]


async def test_threads_that_stop_at_once_stop_one_after_another(tmp_path: Path) -> None:
    needs("rdbg")
    source = tmp_path / "queue.rb"
    source.write_text(QUEUE)
    at = {"filename": str(source), "line": 3}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(source), breakpoints=[at])
        hits: list[str] = []
        while stop["state"] == "stopped":
            assert (stop["reason"], stop["line"]) == ("breakpoint", 3)
            hits.append(await evaluate(c, "item"))
            await read(c, "dap_threads")
            stop = await ask(c, "dap_continue")
        assert sorted(hits) == [str(i) for i in range(6)]
        assert "45" in stop["output"]


async def test_a_step_that_another_thread_interrupts_is_still_a_step(tmp_path: Path) -> None:
    needs("rdbg")
    source = tmp_path / "queue.rb"
    source.write_text(QUEUE)
    at = {"filename": str(source), "line": 3}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(source), breakpoints=[at])
        places: list[tuple[int, str]] = []
        stop = await ask(c, "dap_step_over")
        while stop["state"] == "stopped":
            places.append((stop["line"], stop["reason"]))
            stop = await ask(c, "dap_continue")
        assert {reason for line, reason in places if line != 3} <= {"step"}
