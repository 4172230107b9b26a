"""Calls that a person has not allowed: whatever their arguments, the adapter must not hear of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from dapeer.mcp.all_tools import TOOLS
from tests.harness import FAKE_PROGRAM, Fake, fake
from tests.hostile.adapters import EVERYTHING
from tests.hostile.fuzzed_calls import calls
from tests.hostile.harmless import Bait, aimed
from tests.hostile.judge import Judge
from tests.hostile.odd import Json, examples
from tests.hostile.server import Attacked, attacked, place
from tests.hostile.sick_adapters import bait
from tests.neovim.editor import neovim

LOOKING = frozenset({
    "threads", "stackTrace", "scopes", "variables", "source", "exceptionInfo", "readMemory", "disassemble",
    "modules", "loadedSources", "completions", "dataBreakpointInfo", "stepInTargets", "gotoTargets",
    "breakpointLocations",
})  # fmt: skip
"""Requests that neither change the program nor run its code."""
NAME = re.compile(r"&?\w+")
GUARDS = {"approve": {"run": True, "evaluate": True, "write": True}}


async def guarded(judge: Judge, seed: int, count: int) -> None:
    """Send calls while a Neovim is attached in which nobody sits, so that every question means no."""
    async with (
        place() as where,
        bait() as target,
        neovim(where.folder, dap=False, setup=GUARDS, environment=where.environment()) as editor,
    ):
        adapter = fake(where.settings, capabilities=EVERYTHING)
        async with attacked(where, judge) as server:
            await server.data("dap_run", program=FAKE_PROGRAM, type="fake")
            await server.data("nvim_connect", target=editor.socket)
            before = len(adapter.commands())
            tools = await server.request("tools/list", {}) or {}
            await _all(
                server,
                adapter,
                before,
                examples(calls(tools["result"]["tools"]), count, seed),
                target,
            )
            judge.count("rounds: consent", count)
            # The program is still where it was, and has not been let go.
            rows = (await server.data("dap_status")).get("sessions", ())
            if [(each["state"], each.get("line")) for each in rows] != [("stopped", 1)]:
                judge.fault("consents passed", f"the session has become {rows}")


async def read_only(judge: Judge, seed: int, count: int) -> None:
    """Send calls of all tools to a server that may only look; nothing may ever start."""
    tools = [{"name": each.name, "inputSchema": each.input_schema} for each in TOOLS]
    async with place() as where, bait() as target:
        adapter = fake(where.settings)
        async with attacked(where, judge, "--read-only") as server:
            await _all(server, adapter, 0, examples(calls(tools), count, seed), target)
            judge.count("rounds: read-only", count)
            if server.children():
                judge.fault("consents passed", "a server that may only look has started something")


def _looks(request: Json) -> bool:
    """Whether a request only looks; the value of a name, or its address, is known without running anything."""
    arguments = cast("Json", request.get("arguments") or {})
    name = request["command"] == "evaluate" and NAME.fullmatch(str(arguments["expression"]))
    return bool(name) or request["command"] in LOOKING


async def _all(
    server: Attacked, adapter: Fake, heard: int, chosen: Sequence[tuple[str, object]], target: Bait
) -> None:
    """Send calls, and look after each what the adapter has been asked."""
    seen = heard
    for name, arguments in chosen:
        sent: Json | object = aimed(arguments, target)
        await server.call(name, sent)
        new = adapter.requests()[seen:]
        seen += len(new)
        if passed := [request["command"] for request in new if not _looks(request)]:
            server.judge.fault("consents passed", f"{name} {sent!r} made it {passed}"[:900])
