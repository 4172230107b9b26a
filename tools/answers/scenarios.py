"""Ten moments of debugging, each told by one answer."""

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mcp import Client
from mcp.types import CallToolResult

from tests.harness import call, needs
from tests.programs import ROOT, compiled
from tests.real.assistant import broken, line_of
from tests.real.software import environment, site_packages

PROGRAMS = ROOT / "fixtures" / "answers"
PATIENCE_MS = 90_000

Ask = Callable[..., Awaitable[CallToolResult]]
Live = Callable[[Ask, Path], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A way to the answer that is measured: that of the last call."""

    name: str
    what: str
    """What there is to see, in a sentence."""
    live: Live
    adapter: str = "debugpy"
    software: str = ""
    """The environment of `tests.real.software` that is the project's `.venv`."""


@dataclass(frozen=True)
class Answered:
    """The last call of a scenario, and its answer."""

    tool: str
    arguments: dict[str, object]
    result: CallToolResult


async def answer(scenario: Scenario, client: Client, project: Path) -> Answered:
    """Live a scenario through in a project that `prepared` has made; return its last answer."""
    calls: list[Answered] = []

    async def ask(tool: str, **arguments: object) -> CallToolResult:
        result = await call(client, tool, **arguments)
        calls.append(Answered(tool, arguments, result))
        return result

    await scenario.live(ask, project)
    return calls[-1]


def prepared(scenario: Scenario, folder: str) -> Path:
    """Make the project of a scenario; the test is skipped where the machine lacks something."""
    needs(scenario.adapter)
    project = Path(folder).resolve() / "project"
    shutil.copytree(PROGRAMS, project)
    if scenario.software:
        (project / ".venv").symlink_to(environment(scenario.software))
    return project


def at(path: Path, text: str) -> dict[str, object]:
    """Return a breakpoint at the only line that holds a text."""
    return {"filename": path.name, "line": line_of(path, text)}


async def first_stop(ask: Ask, project: Path) -> None:
    place = at(project / "shop.py", "total += ")
    await ask("dap_run", program="shop.py", breakpoints=[place])


async def step(ask: Ask, project: Path) -> None:
    await first_stop(ask, project)
    await ask("dap_step_over")


async def into_a_method(ask: Ask, project: Path) -> None:
    place = at(project / "stream.py", "stream.put_back(taken)")
    await ask("dap_run", program="stream.py", breakpoints=[place])
    await ask("dap_step_into")


async def end(ask: Ask, project: Path) -> None:
    report = project / "report.py"
    places = [{**at(report, "sum(prices)"), "condition": "len(prices) > 3"}]
    await ask("dap_run", program="report.py", breakpoints=[*places, at(report, '"look at"')])
    await ask("dap_continue")


async def crash(ask: Ask, _: Path) -> None:
    await ask("dap_run", program="orders.py")


async def test_failure(ask: Ask, project: Path) -> None:
    package = site_packages(environment("networkx")) / "networkx"
    broken(
        package, project / "networkx", "algorithms/shortest_paths/weighted.py",
        "u not in seen or vu_dist < seen[u]:", "u not in seen or vu_dist > seen[u]:",
    )  # fmt: skip
    test = "networkx/algorithms/shortest_paths/tests/test_weighted.py"
    program = f"{test}::TestWeightedPath::test_dijkstra"
    await ask("dap_run", program=program, timeout_ms=PATIENCE_MS)


async def c_struct(ask: Ask, project: Path) -> None:
    playlist = compiled("playlist.c", project, project / "playlist.c")
    place = {**at(playlist.source, "sum += "), "hit_condition": "3"}
    await ask("dap_run", program=playlist.path.name, breakpoints=[place])


async def data_frame(ask: Ask, project: Path) -> None:
    place = at(project / "sales.py", "return amounts / ")
    await ask("dap_run", program="sales.py", breakpoints=[place], timeout_ms=PATIENCE_MS)


async def asyncio_stack(ask: Ask, project: Path) -> None:
    place = {**at(project / "fetch.py", "return bytes(body)"), "condition": "path == '/shop'"}
    await ask("dap_run", program="fetch.py", breakpoints=[place])


async def many_locals(ask: Ask, project: Path) -> None:
    """Stop in such code as computer algebra writes: every common subexpression has a name."""
    names = [f"x{number}" for number in range(497)]
    lines = [
        "def energy(mass, speed):",
        "    x0 = mass * speed",
        *(
            f"    {new} = {old} * 0.99 + {number % 7}"
            for number, (old, new) in enumerate(pairwise(names))
        ),
        "    kinetic = x17 * speed - x250 / (x496 - mass)",
        "    return kinetic",
        "",
        "",
        "print(energy(2.0, 3.5))",
    ]
    (project / "energy.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    await ask("dap_run", program="energy.py", breakpoints=[at(project / "energy.py", "kinetic = ")])


SCENARIOS = (
    Scenario("first stop", "A breakpoint in a loop, the third call deep.", first_stop),
    Scenario("step", "Over the line that adds to a sum.", step),
    Scenario(
        "step into an object's method",
        "Objects of classes that tell nothing of themselves: no `__repr__`.",
        into_a_method,
    ),
    Scenario("end", "One breakpoint was hit, one never.", end),
    Scenario("crash", "An exception that another one has caused, caught by nobody.", crash),
    Scenario(
        "test failure",
        "A test of networkx, by its name; a comparison in the package is the wrong way round.",
        test_failure,
        software="networkx",
    ),
    Scenario("C struct", "A linked list, the third time round the loop.", c_struct, adapter="gdb"),
    Scenario(
        "data frame",
        "A thousand rows of pandas, some of them without an amount.",
        data_frame,
        software="pandas",
    ),
    Scenario("asyncio stack", "One of five tasks, the others wait.", asyncio_stack),
    Scenario("500 locals", "Three of them on the line that runs next.", many_locals),
)
