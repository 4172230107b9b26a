"""A session that another one has started: js-debug has them, and a scripted adapter here."""

import json
import sys
from pathlib import Path

from mcp import Client

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import load_all, shipped
from tests.harness import FAKE_ADAPTER, FAKE_PROGRAM, Json, ask, needs, read
from tests.neovim.editor import neovim
from tests.neovim.joint import attached, together
from tests.neovim.person import Person
from tests.programs import program

CHILD = {"type": "child", "name": "the child", "program": FAKE_PROGRAM}
PARENT: Json = {
    "on": {
        "configurationDone": [
            "default",
            {"request": ["startDebugging", {"request": "launch", "configuration": CHILD}]},
        ]
    }
}
ADAPTERS = """
local dap = require('dap')
local python, fake, parent, child = {arguments}
dap.adapters.parent = {{
  type = 'server',
  port = '${{port}}',
  executable = {{ command = python, args = {{ fake, parent, '--port', '${{port}}' }} }},
}}
dap.adapters.child = {{ type = 'executable', command = python, args = {{ fake, child }} }}
"""


def adapters(tmp_path: Path) -> str:
    """Return Lua that defines an adapter over TCP whose sessions start one of another over stdio."""
    scripts = [tmp_path / "parent.json", tmp_path / "child.json"]
    for path, script in zip(scripts, [PARENT, {}], strict=True):
        path.write_text(json.dumps(script), encoding="utf-8")
    paths = [sys.executable, FAKE_ADAPTER, *scripts]
    return ADAPTERS.format(arguments=", ".join(json.dumps(str(path)) for path in paths))


async def both_run(person: Person) -> None:
    """Let the person start the parent, and wait until nvim-dap shows its child's stop, too."""
    await person.run(FAKE_PROGRAM, type="parent", name="the parent")
    await person.sees_stop(1)
    await person.sees_stop(1)
    parent, child = await person.sessions()
    assert child["parent"] == parent["id"]


async def family(c: Client) -> tuple[Json, Json]:
    """Return what dap_status tells of the parent and of the child."""
    parent, child = (await ask(c, "dap_status"))["sessions"]
    assert (parent["name"], child["name"]) == ("the parent", "the child")
    assert child["parent"] == parent["session_id"]
    return parent, child


async def test_a_child_is_a_session_like_any_other(tmp_path: Path, setup: Json, feed: str) -> None:
    async with together(tmp_path, setup, rc=adapters(tmp_path)) as (c, person):
        await both_run(person)
        parent, child = await family(c)
        assert (parent["feed"], child["feed"]) == (feed, feed)
        assert (parent["line"], child["line"]) == (1, 1)
        number = child["session_id"]
        stop = await ask(c, "dap_step_over", session_id=number)
        assert (stop["line"], stop["locals"]) == (2, {"line": "2"})
        await person.sees_stop(2)
        assert [session["line"] for session in await person.sessions()] == [1, 2]
        assert (await ask(c, "dap_snapshot", session_id=parent["session_id"]))["line"] == 1
        await ask(c, "dap_terminate", session_id=number)
        await person.sees_end()
        assert [session["name"] for session in await person.sessions()] == ["the parent"]
        parent, child = await family(c)
        assert (parent["state"], child["state"]) == ("stopped", "ended")
        await ask(c, "dap_step_over", session_id=parent["session_id"])
        await person.sees_stop(2)


async def test_a_child_that_ran_before_is_seen_with_its_parent(tmp_path: Path, setup: Json) -> None:
    async with neovim(tmp_path, setup=setup, rc=adapters(tmp_path)) as editor:
        await both_run(Person(editor))
        async with attached(editor) as (c, _):
            parent, child = await family(c)
            assert (parent["line"], child["line"]) == (1, 1)


async def test_a_process_that_a_python_program_starts_is_where_it_stops(
    tmp_path: Path, setup: Json
) -> None:
    """Nvim-dap alone would start a second adapter, which waits for the child, and the child for it."""
    p = program("children.py")
    async with together(tmp_path, setup) as (c, person):
        stop = await ask(
            c, "dap_run", program=str(p), args=["fork"], where="nvim",
            breakpoints=[p.at("child"), p.at("parent")],
        )  # fmt: skip
        assert (stop["line"], stop["parent"]) == (p.line("child"), 1)
        await person.sees_stop(p.line("child"))
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["session_id"]) == (p.line("parent"), 1)
        assert (await ask(c, "dap_continue"))["exit_code"] == 0
        names = [row["type"] for row in (await ask(c, "dap_status"))["sessions"]]
        assert names == ["python", "python"]


JS_DEBUG = """
require('dap').adapters['pwa-node'] = {{
  type = 'server', host = '127.0.0.1', port = '${{port}}',
  executable = {{ command = 'node', args = {{ {server}, '${{port}}', '127.0.0.1' }} }},
}}
"""
JAVASCRIPT = "function f(n) {\n  return n * 2;\n}\nf(1);\n"


async def test_a_breakpoint_that_a_child_has_hit_is_not_told_as_never_bound(tmp_path: Path) -> None:
    """js-debug has nvim-dap send the breakpoints of the child twice, and answers the second time with none."""
    needs("js-debug")
    path = tmp_path / "app.js"
    path.write_text(JAVASCRIPT, encoding="utf-8")
    server = detect(load_all(shipped())["js-debug"]).found["file"]
    rc = JS_DEBUG.format(server=json.dumps(str(server)))
    async with together(tmp_path, {}, rc=rc) as (c, person):
        await person.breaks_at(path, 2)
        await person.run(str(path), type="pwa-node", name="js", cwd=str(tmp_path))
        await person.sees_stop(2)
        assert "app.js:2 verified" in await read(c, "dap_breakpoints")
        end = await read(c, "dap_terminate")
        assert "ended" in end
        assert "app.js:2" not in end
