"""No answer of a tool takes work that grows faster than what an adapter sends: twice as much is at most about twice the function calls."""

import asyncio
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import DATA, Json, call, client, fake, read
from tests.processes import LIMIT

HALF = 300
MOST = 2.2
CAPABILITIES: Json = {
    f"supports{each}Request": True
    for each in ("ConfigurationDone", "Modules", "LoadedSources", "Completions", "ExceptionInfo")
}
FRAME: Json = {"id": 7, "name": "f", "line": 1, "column": 1, "source": {"path": "/p/a.fake"}}


def threads(n: int) -> Json:
    return {"threads": {"threads": [{"id": each + 1, "name": f"t{each}"} for each in range(n)]}}


def frames(n: int) -> Json:
    return {"stackTrace": {"stackFrames": [{**FRAME, "id": each} for each in range(n)]}}


def variables(n: int) -> Json:
    scope = {"name": "S", "variablesReference": 7, "expensive": False}
    every = [{"name": f"v{each}", "value": "1", "variablesReference": 0} for each in range(n)]
    return {"scopes": {"scopes": [scope]}, "variables": {"variables": every}}


def modules(n: int) -> Json:
    every = [{"id": each, "name": f"m{each}", "path": f"/m/{each}"} for each in range(n)]
    return {"modules": {"modules": every}, "loadedSources": {"sources": every}}


def texts(n: int) -> Json:
    trace = "\n".join(f'  File "/p/{each}.py", line 1, in f\n    x' for each in range(n))
    return {
        "completions": {"targets": [{"label": f"c{each}"} for each in range(n)]},
        "source": {"content": "line\n" * n},
        "exceptionInfo": {"exceptionId": "E", "details": {"message": "m", "stackTrace": trace}},
    }


def nothing(_: int) -> Json:
    return {}


Kind = tuple[Callable[[int], Json], Sequence[tuple[str, Json]]]
KINDS: dict[str, Kind] = {
    "threads": (threads, [("dap_threads", {})]),
    "frames": (frames, [("dap_stacktrace", {"levels": 100}), ("dap_history", {})]),
    "variables": (
        variables,
        [("dap_variables", {"count": 500}), ("dap_variables", {"path": "v9"})],
    ),
    "modules": (modules, [("dap_modules", {}), ("dap_modules", {"kind": "sources"})]),
    "texts": (
        texts,
        [
            ("dap_completions", {"text": "c"}),
            ("dap_source", {"source_reference": 7}),
            ("dap_exception_info", {}),
        ],
    ),
    "breakpoints": (nothing, [("dap_breakpoints", {}), ("dap_status", {})]),
}


@contextmanager
def counting(counts: list[int]) -> Generator[None]:
    """Add a number: how many calls of functions are made here, and in threads that are started here."""
    counts.append(0)

    def counted(_frame: object, event: str, _argument: object) -> None:
        counts[-1] += event in {"call", "c_call"}

    threading.setprofile(counted)
    sys.setprofile(counted)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def calls(kind: Kind, n: int, settings: Path, project: Path) -> list[int]:
    """Return how many calls of functions each answer takes."""
    answers, looks = kind
    (project / "a.fake").write_text("x\n" * 2 * HALF)
    stopped: Json = {"reason": "exception", "threadId": 1, "allThreadsStopped": True}
    on: Json = {name: [{"respond": body}] for name, body in answers(n).items()}
    on["configurationDone"] = ["default", {"event": ["stopped", stopped]}]
    fake(settings, on, capabilities=CAPABILITIES)
    lines = n if answers is nothing else 1
    places = [{"filename": "a.fake", "line": each + 1} for each in range(lines)]
    counts: list[int] = []
    async with asyncio.timeout(LIMIT), client(project) as c:
        await read(c, "dap_run", program="a.fake", type="fake", breakpoints=places)
        for tool, arguments in (*looks, ("dap_snapshot", {})):
            with counting(counts):
                answer = await call(c, tool, **arguments)
            assert not answer.is_error, tool
    return counts


@pytest.mark.parametrize("kind", KINDS)
async def test_twice_as_much_from_an_adapter_is_about_twice_the_work_for_each_view(
    kind: str, settings: Path, tmp_path: Path
) -> None:
    once = await calls(KINDS[kind], HALF, settings, tmp_path)
    twice = await calls(KINDS[kind], 2 * HALF, settings, tmp_path)
    assert all(more <= MOST * less for less, more in zip(once, twice, strict=True)), (once, twice)


ROWS = 1000
LINE: Json = {"filename": "a.py", "line": 2}
PROGRAMS: dict[str, tuple[Callable[[int], str], Callable[[int], list[Json]]]] = {
    "rows": (
        lambda n: f"for i in range({n}):\n    i += 0\n",
        lambda _: [{**LINE, "collect": ["i", "i % 7", "str(i)"]}],
    ),
    "columns": (
        lambda n: f"for i in range(20):\n    i += {n}\n",
        lambda n: [{**LINE, "collect": [f"i + {each}" for each in range(3 * n // 200)]}],
    ),
    "points": (
        lambda n: "if True:\n" + "    i = 1\n" * (n // 20),
        lambda n: [{**LINE, "line": 2 + each, "collect": ["i"]} for each in range(1, n // 20)],
    ),
    "long cells": (
        lambda n: f"for i in range(20):\n    t = '{'ab, ' * n}' + str(i)\n    i = 0\n",
        lambda _: [{**LINE, "line": 3, "collect": ["t", "[*t]"]}],
    ),
    "calls": (
        lambda n: f"def f(i):\n    return i\nfor i in range({n}):\n    f(i)\n",
        lambda _: [{"calls": ["__main__.*"]}],
    ),
    "deep calls": (
        lambda n: f"def f(i):\n    return i and f(i - 1)\nfor _ in range(2):\n    f({n // 4})\n",
        lambda _: [{"calls": ["__main__.*"]}],
    ),
    "functions": (
        lambda n: "".join(f"def f{i}(a):\n    return a\nf{i}(1)\n" for i in range(n)),
        lambda _: [{"calls": ["__main__.*"]}],
    ),
    "callers": (
        lambda n: "def f(i):\n    return i\n" + "f(1)\n" * n,
        lambda _: [{**LINE, "collect": ["i"]}],
    ),
    "threads": (
        lambda n: (
            f"import threading\ndef f(): return 1\nfor i in range({n // 5}):\n"
            "    t = threading.Thread(target=f, name=str(i)); t.start(); t.join()\n"
        ),
        lambda _: [{"calls": ["f"]}],
    ),
}
"""What programs and points make rows of `n`, by what there is more of."""
VIEWS: tuple[Json, ...] = (
    {},
    {"rows": "5-"},
    {"where": "hit > 3"},
    {"changes": True},
    {"by": "caller"},
    {"by": "thread"},
    {"plot": True},
    {"timeline": True},
)


async def views(kind: str, n: int, project: Path) -> list[int]:
    """Return how many calls of functions each view of collected rows takes, and the live page's picture of them."""
    program, points = PROGRAMS[kind]
    (project / "a.py").write_text(program(n))
    counts: list[int] = []
    async with asyncio.timeout(LIMIT), Debugger(load_all(shipped()), project) as debugger:
        server = make_server(debugger, TOOLS)
        async with Client(server, extensions=DATA) as c:
            await read(c, "dap_run", program="a.py", breakpoints=points(n))
            # What is done once, and what comes with the end of a program.
            await read(c, "dap_collected")
            for view in VIEWS:
                with counting(counts):
                    await call(c, "dap_collected", **view)
            pictures = server.live_pages.page_lines()
            with counting(counts):
                assert "a.py" in await anext(pictures)
            await pictures.aclose()
    return counts


@pytest.mark.parametrize("kind", PROGRAMS)
async def test_twice_as_much_collected_is_about_twice_the_work_for_each_view(
    kind: str, tmp_path: Path
) -> None:
    once = await views(kind, ROWS, tmp_path)
    twice = await views(kind, 2 * ROWS, tmp_path)
    assert all(more <= MOST * less for less, more in zip(once, twice, strict=True)), (once, twice)


BREAKPOINTS = 120
OPTIONS: dict[str, Json] = {
    "collecting": {"collect": ["i"]},
    "false conditions": {"condition": "i == 7"},
    "conditions that fail": {"condition": "nothing"},
}
"""What breakpoints do at which the program does not stop."""


async def breakpoint_calls(option: Json, n: int, project: Path) -> list[int]:
    """Return how many calls of functions a run to the end takes with `n` breakpoints, and each look at them."""
    (project / "a.py").write_text("if True:\n" + "    i = 1\n" * n)
    places: list[Json] = [{**LINE, **option, "line": 2 + each} for each in range(n)]
    counts: list[int] = []
    async with asyncio.timeout(LIMIT), client(project) as c:
        for tool, arguments in (
            ("dap_run", {"program": "a.py", "stop_on_entry": True, "breakpoints": places}),
            ("dap_set_breakpoint", {**LINE, **option}),
            ("dap_continue", {}),
            ("dap_breakpoints", {}),
            ("dap_status", {}),
        ):
            with counting(counts):
                answer = await call(c, tool, **arguments)
            assert not answer.is_error, tool
    return counts


@pytest.mark.parametrize("kind", OPTIONS)
async def test_twice_as_many_breakpoints_are_about_twice_the_work(
    kind: str, tmp_path: Path
) -> None:
    once = await breakpoint_calls(OPTIONS[kind], BREAKPOINTS, tmp_path)
    twice = await breakpoint_calls(OPTIONS[kind], 2 * BREAKPOINTS, tmp_path)
    assert all(more <= MOST * less for less, more in zip(once, twice, strict=True)), (once, twice)
