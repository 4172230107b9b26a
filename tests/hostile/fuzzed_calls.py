"""Calls of every tool, with arguments made from its own input schema, and spoilt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from hypothesis import strategies as st

from tests.harness import FAKE_PROGRAM, fake
from tests.hostile.harmless import aimed
from tests.hostile.judge import Judge
from tests.hostile.odd import ODD, ODD_TEXT, TEXT, Json, Schema, Strategy, examples, mutated
from tests.hostile.server import Attacked, attacked, place
from tests.hostile.sick_adapters import bait
from tests.languages import Language, program_of
from tests.processes import command_line

NO_SESSION = "none"

LIKELY: Mapping[str, Sequence[object]] = {
    "filename": [FAKE_PROGRAM, "ten.fake", ".", "..", ".env", ".vscode/launch.json"],
    "program": [FAKE_PROGRAM, ".", "no-such-file.py", "x" * 300],
    "type": ["fake", "debugpy", "gdb", "nonsense"],
    "path": ["value", "a.b[0]", "a[" * 200, "value" + "[0]" * 200, "__import__('os')"],
    "expression": ["1", "value", "(" * 500, "x" * 20_000, "raise SystemExit"],
    "command": ["threads", "next", "evaluate", "setVariable", "nonsense"],
    "address": ["0x0", "0x7fffffffffff", "&value", "-1"],
    "session_id": [1, 2, 0],
    "frame_id": [0, 1, 1000001],
    "target": ["auto", "nowhere:1", "1"],
    "line": [1, 2, 3, 10**9],
    "configuration": ["x", ""],
    "name": ["nvim_x", ""],
}
"""Values that lead a call further in than any text would."""


class _Tool(Schema):
    """The input schemas of tools; a field whose name says what it holds mostly gets that."""

    def arguments(self, tool: Json) -> Strategy:
        schema = tool["inputSchema"]
        likely = {name: self._likely(name, each) for name, each in schema["properties"].items()}
        needed = set(schema.get("required", ()))
        fitting = st.fixed_dictionaries(
            {name: each for name, each in likely.items() if name in needed},
            optional={name: each for name, each in likely.items() if name not in needed},
        )
        return st.one_of(
            fitting, fitting, mutated(fitting), st.dictionaries(TEXT, ODD, max_size=2), ODD
        )

    def _likely(self, name: str, schema: Json) -> Strategy:
        fitting = [self.fitting(schema)]
        if name in LIKELY:
            fitting += [st.sampled_from(LIKELY[name])] * 2
        if schema.get("type") == "string":
            fitting.append(st.sampled_from(ODD_TEXT))
        return st.one_of(fitting)


def calls(tools: Sequence[Json]) -> st.SearchStrategy[tuple[str, Any]]:
    """Return a strategy of calls of these tools, as `tools/list` tells them."""
    schema = _Tool()
    return st.one_of(
        [st.tuples(st.just(str(tool["name"])), schema.arguments(tool)) for tool in tools]
    )


async def attack(judge: Judge, seed: int, count: int, language: Language | None) -> None:
    """Send calls to a server, with a session of an adapter or with none."""
    kind = f"calls: {language or NO_SESSION}"
    async with place() as where, bait() as target:
        fake(where.settings)
        async with attacked(where, judge) as server:
            # What the first session leaves running for all others is no leak.
            await server.data("dap_run", program=FAKE_PROGRAM, type="fake")
            await _all_ended(server)
            if language is not None:
                await _session(server, language, where.folder)
            await server.calm()
            for name, arguments in examples(calls(await _tools(server)), count, seed):
                if not server.alive:
                    return judge.fault("deaths", f"{kind}, seed {seed}: {name} {arguments!r}"[:900])
                judge.count(f"rounds: {kind}")
                await server.call(name, aimed(arguments, target))
                if language is not None and not await _stopped(server):
                    await _session(server, language, where.folder)
            await _all_ended(server)
            await server.gone(_adapters(server))
            await server.back_to_calm(kind)
    return None


async def _tools(server: Attacked) -> list[Json]:
    answer = await server.request("tools/list", {}) or {}
    return cast("list[Json]", answer.get("result", {}).get("tools", []))


async def _session(server: Attacked, language: Language, folder: Path) -> None:
    """Start a program that stops, after all others have ended."""
    await _all_ended(server)
    program = program_of(language, folder)
    await server.data(
        "dap_run", program=str(program), type=language.adapter, breakpoints=[program.at("inner")]
    )


async def _stopped(server: Attacked) -> bool:
    sessions = (await server.data("dap_status")).get("sessions", ())
    return any(each["state"] == "stopped" for each in sessions)


async def _all_ended(server: Attacked) -> None:
    for each in (await server.data("dap_status")).get("sessions", ()):
        if each["state"] != "ended":
            await server.call("dap_terminate", {"session_id": each["session_id"]})


def _adapters(server: Attacked) -> set[int]:
    """Return what it has started, but for the reaper, which stays."""
    return {pid for pid in server.children() if "reaper.py" not in command_line(pid)}
