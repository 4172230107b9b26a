"""Nothing that an adapter sends makes work that grows faster than its size: twice of each kind is at most about twice the function calls."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.text.timeline import news_lines, page_of_rows
from dapeer.view import render, snapshot
from tests.told import Told

HALF = 1000
MOST = 2.2
PATH = "/p/a.py"
FOLDED = "{...}"


def frame(number: int, name: str = "f") -> dict[str, object]:
    return {"id": number, "name": name, "line": number, "column": 1, "source": {"path": PATH}}


def variable(name: str, value: str, reference: int = 0) -> dict[str, object]:
    return {"name": name, "value": value, "variablesReference": reference, "type": "T"}


def scope(number: int) -> dict[str, object]:
    return {
        "name": f"S{number}",
        "presentationHint": "locals",
        "variablesReference": number,
        "expensive": False,
    }


def stop_with(told: Told, locals_: list[dict[str, object]], reason: str = "step") -> None:
    told.ask("next", threadId=1)
    told.stopped(reason=reason)
    told.tell("stackTrace", {"stackFrames": [frame(1)], "totalFrames": 1}, threadId=1)
    told.tell("scopes", {"scopes": [scope(7)]}, frameId=1)
    told.tell("variables", {"variables": locals_}, variablesReference=7)


def first_of(told: Told, reference: int, members: list[dict[str, object]]) -> None:
    """Tell the first members of a container, of which only a few were asked for."""
    told.tell("variables", {"variables": members}, variablesReference=reference, start=0, count=5)


def look(told: Told) -> None:
    """Show the stop, as each tool does, twice; leave it, come again, and end."""
    mirror = told.mirror
    for _ in range(2):
        stop = mirror.stop
        if stop is not None:
            view = snapshot.snapshot_of_stop(1, mirror, stop, Path("/p"))
            render.snapshot(view, Path("/p"))
            told.ask("next", threadId=1)
        told.stopped()
        told.tell("stackTrace", {"stackFrames": [frame(1)], "totalFrames": 1}, threadId=1)
    told.event("terminated")
    render.snapshot(snapshot.snapshot_of_end(1, mirror, 0, None, Path("/p")), Path("/p"))


def frames(told: Told, n: int) -> None:
    told.stopped()
    body = {"stackFrames": [frame(each) for each in range(n)], "totalFrames": n}
    told.tell("stackTrace", body, threadId=1)


def recursion(told: Told, n: int) -> None:
    told.stopped(reason="pause")
    labels = [{**frame(each), "presentationHint": "label"} for each in range(n)]
    told.tell("stackTrace", {"stackFrames": labels}, threadId=1)


def scopes(told: Told, n: int) -> None:
    stop_with(told, [variable("a", "1")])
    told.tell("scopes", {"scopes": [scope(each) for each in range(1, n)]}, frameId=1)
    told.tell("variables", {"variables": [variable("a", "1")]}, variablesReference=1)


def variables(told: Told, n: int) -> None:
    for each in range(2):
        stop_with(told, [variable(f"v{number}", f"{number + each}") for number in range(n)])


def same_names(told: Told, n: int) -> None:
    for each in range(2):
        stop_with(told, [variable("v", f"{number + each}") for number in range(n)])


def self_references(told: Told, n: int) -> None:
    for _ in range(2):
        stop_with(told, [variable(f"v{number}", FOLDED, 7) for number in range(n)])
        first_of(told, 7, [variable(f"v{number}", FOLDED, 7) for number in range(n)])


def shared_references(told: Told, n: int) -> None:
    for _ in range(2):
        stop_with(told, [variable(f"v{number}", FOLDED, 8) for number in range(n)])
        first_of(told, 8, [variable(f"w{number}", FOLDED, 9) for number in range(n)])
        first_of(told, 9, [variable(f"x{number}", FOLDED, 10) for number in range(n)])


def chained_references(told: Told, n: int) -> None:
    for _ in range(2):
        stop_with(told, [variable(f"v{number}", FOLDED, 8 + number) for number in range(n)])
        for each in range(n):
            first_of(told, 8 + each, [variable("next", FOLDED, 9 + each)])


def long_names(told: Told, n: int) -> None:
    name = "(n, " * n
    for _ in range(2):
        stop_with(told, [variable(name, name, 8)], reason=name)
        told.tell("stackTrace", {"stackFrames": [frame(1, name)]}, threadId=1)
        told.event("output", output=name, category=name)


def nested_values(told: Told, n: int) -> None:
    for each in range(2):
        stop_with(told, [variable("v", "[" * n + f"{each}" + "]" * n)])


def long_values(told: Told, n: int) -> None:
    for each in range(2):
        elements = ", ".join("(1, 2)" for _ in range(n))
        stop_with(told, [variable("v", f"[{elements}, {each}]")])


def modules(told: Told, n: int) -> None:
    every = [{"id": each, "name": f"m{each}"} for each in range(n)]
    for each in every:
        told.event("module", reason="new", module=each)
    told.tell("modules", {"modules": every})
    told.tell("loadedSources", {"sources": [{"path": f"/{each}"} for each in range(n)]})
    for each in every:
        told.event("module", reason="removed", module=each)


def threads(told: Told, n: int) -> None:
    for each in range(n):
        told.event("thread", reason="started", threadId=each)
    told.threads(*range(n))
    for each in range(n):
        told.stopped(each, everybody=False)
    for each in range(0, n, 2):
        told.event("continued", threadId=each, allThreadsContinued=False)
    for each in range(0, n, 3):
        told.event("thread", reason="exited", threadId=each)


def breakpoints(told: Told, n: int) -> None:
    asked = [{"line": each} for each in range(n)]
    made = [{"id": each, "line": each, "verified": False} for each in range(n)]
    told.tell("setBreakpoints", {"breakpoints": made}, source={"path": PATH}, breakpoints=asked)
    for each in range(n):
        told.event("breakpoint", reason="changed", breakpoint={"id": each, "verified": True})
    told.event("stopped", reason="breakpoint", threadId=1, hitBreakpointIds=[*range(n)])
    told.mirror.breakpoint_statuses.is_breakpoint_stop(
        told.mirror.stop.body if told.mirror.stop else {}
    )


def files_with_breakpoints(told: Told, n: int) -> None:
    for each in range(n):
        source, made = {"path": f"/p/{each}.py"}, [{"id": each, "line": 1, "verified": False}]
        told.tell("setBreakpoints", {"breakpoints": made}, source=source, breakpoints=[{"line": 1}])
    for each in range(n):
        told.event("breakpoint", reason="changed", breakpoint={"id": each, "verified": True})


def outputs(told: Told, n: int) -> None:
    told.stopped()
    for each in range(n):
        told.event("output", output=f"{each}\n", category="stdout")
    told.event("output", output="\r\x1b[1m\n" * n, category="stdout")


def failures(told: Told, n: int) -> None:
    told.stopped()
    for each in range(n):
        told.event("breakpointFailed", expression=f"e{each}", path=PATH, line=each, error="no")


ROW = "{point}\t{hit}\t{hit}e-9\tMainThread\t\tmain a.py:1\t{hit}\n"


def rows(n: int, points: int, parts: int) -> None:
    """Take in rows, as a program's collector has written them."""
    collected = Collected()
    for each in range(points):
        collected.ensure_point(("a",), path=PATH, line=each)
    for part in range(parts):
        numbers = range(part * n // parts, (part + 1) * n // parts)
        lines = [ROW.format(point=1 + each % points, hit=1 + each // points) for each in numbers]
        collected.add_part(1, BlockPart.of_text("".join(lines)), "tracer")
    news_lines(collected.collections.values(), Path("/p"))
    for each in collected.collections.values():
        page_of_rows(each, Path("/p"))


def rows_in_one_part(_told: Told, n: int) -> None:
    rows(n, 1, 1)


def rows_that_come_one_by_one(_told: Told, n: int) -> None:
    rows(n, 1, n)


def rows_of_many_points(_told: Told, n: int) -> None:
    rows(n, n // 10, 1)


def rows_of_many_points_that_come_one_by_one(_told: Told, n: int) -> None:
    rows(n, n // 10, n)


def capabilities(told: Told, n: int) -> None:
    told.event("capabilities", capabilities={f"c{each}": True for each in range(n)})


KINDS: list[Callable[[Told, int], None]] = [
    frames, recursion, scopes, variables, same_names, self_references, shared_references, chained_references,
    long_names, nested_values, long_values, modules, threads, breakpoints, files_with_breakpoints, outputs, failures, capabilities,
    rows_in_one_part, rows_that_come_one_by_one, rows_of_many_points, rows_of_many_points_that_come_one_by_one,
]  # fmt: skip


def calls(kind: Callable[[Told, int], None], n: int) -> int:
    """Return how many calls of functions it takes to take in `n` of a kind, and to show them."""
    told, count = Told(), 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        kind(told, n)
        look(told)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_twice_as_much_from_an_adapter_is_about_twice_the_work(
    kind: Callable[[Told, int], None],
) -> None:
    assert calls(kind, 2 * HALF) <= MOST * calls(kind, HALF)


def test_a_container_that_thousands_of_variables_have_is_read_once() -> None:
    """Reading it for each of them would be linear, too, and yet keep all other sessions waiting for seconds."""
    assert calls(self_references, HALF) <= 3 * calls(variables, HALF)
