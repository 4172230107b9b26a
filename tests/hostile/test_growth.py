"""No answer of a tool takes work that grows faster than what an adapter sends: twice as much is at most about twice the function calls."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.harness import Json, call, client, fake, read
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

    def counted(_frame: object, event: str, _argument: object) -> None:
        counts[-1] += event in {"call", "c_call"}

    async with asyncio.timeout(LIMIT), client(project) as c:
        await read(c, "dap_run", program="a.fake", type="fake", breakpoints=places)
        for tool, arguments in (*looks, ("dap_snapshot", {})):
            counts.append(0)
            sys.setprofile(counted)
            try:
                answer = await call(c, tool, **arguments)
            finally:
                sys.setprofile(None)
            assert not answer.is_error, tool
    return counts


@pytest.mark.parametrize("kind", KINDS)
async def test_twice_as_much_from_an_adapter_is_about_twice_the_work_for_each_view(
    kind: str, settings: Path, tmp_path: Path
) -> None:
    once = await calls(KINDS[kind], HALF, settings, tmp_path)
    twice = await calls(KINDS[kind], 2 * HALF, settings, tmp_path)
    assert all(more <= MOST * less for less, more in zip(once, twice, strict=True)), (once, twice)
