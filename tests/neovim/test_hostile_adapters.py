"""An adapter that nvim-dap has started, and that sends what no adapter should."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.harness import FAKE_ADAPTER, FAKE_PROGRAM, Json, call, text
from tests.neovim.joint import together
from tests.processes import LIMIT

HOSTILE = """
require('dap').adapters.hostile = { type = 'executable', command = %s, args = { %s, %s } }
"""
LOOKS = ("dap_threads", "dap_snapshot", "dap_scopes", "dap_evaluate", "dap_step_over", "dap_status")
STOPPED: dict[str, object] = {"reason": "step", "threadId": [1], "hitBreakpointIds": {}}
SCRIPTS: dict[str, Json] = {
    "list of a thread": {"next": ["ok", {"event": ["stopped", STOPPED]}]},
    "null scopes": {"scopes": [{"respond": {"scopes": None}}]},
    "odd frames": {"stackTrace": [{"respond": {"stackFrames": [{"id": {}, "line": "x"}, 5]}}]},
}


@pytest.mark.parametrize("script", SCRIPTS)
async def test_an_odd_message_to_nvim_dap_ends_at_most_its_own_session(
    tmp_path: Path, setup: Json, script: str
) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"on": SCRIPTS[script], "log": str(tmp_path / "log")}), "utf-8")
    words = (json.dumps(str(word)) for word in (sys.executable, FAKE_ADAPTER, path))
    async with (
        asyncio.timeout(LIMIT),
        together(tmp_path, setup, rc=HOSTILE % tuple(words)) as (
            c,
            person,
        ),
    ):
        await person.run(FAKE_PROGRAM, type="hostile")
        await call(c, "dap_wait_until_paused", timeout_ms=2000)
        for tool in LOOKS:
            arguments = {"expression": "line"} if tool == "dap_evaluate" else {}
            said = text(await call(c, tool, **arguments))
            assert "Internal error" not in said
            assert "could not process" not in said
        # nvim-dap's own code may fail; the editor lives on, and our listeners have not failed.
        assert "lua/dapeer/" not in str(await person.editor.lua("return vim.v.errmsg"))
        said = str(await person.editor.lua("return vim.fn.execute('messages')"))
        assert "lua/dapeer/" not in said
