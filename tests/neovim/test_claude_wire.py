"""Neovim as the IDE of Claude Code, on the wire: what its CLI asks for, and what it would do wrong."""

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from dapeer.base.json_types import Json
from tests.neovim.claude import HEADER, SERVED, SETUP, cli, lock, locks, offered, texts_of
from tests.neovim.editor import Editor, neovim
from tests.neovim.reviewing import RC
from tests.neovim.test_companions import PAUSE
from tests.neovim.test_following import comes_true, in_mode
from tests.neovim.test_plugin import shown
from tests.processes import LIMIT, process_gone


async def test_a_neovim_is_announced_to_its_user_alone_until_it_ends(tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    async with offered(tmp_path, environment={"CLAUDE_CONFIG_DIR": str(moved)}) as editor:
        port, told = lock(tmp_path)
        [path] = locks(tmp_path)
        # Older Claude Codes look in one folder only, newer ones in both.
        [other] = (moved / "ide").iterdir()
        assert (other.name, other.read_bytes()) == (path.name, path.read_bytes())
        for each in (path, other):
            assert stat.S_IMODE(each.stat().st_mode) == 0o600
            assert stat.S_IMODE(each.parent.stat().st_mode) == 0o700
        token, offers = {HEADER: told["authToken"]}, [Subprotocol("mcp")]
        url = f"ws://127.0.0.1:{port}"
        async with connect(url, additional_headers=token, subprotocols=offers) as connection:
            assert connection.subprotocol == "mcp"
        assert (told["pid"], told["workspaceFolders"]) == (editor.pid, [str(tmp_path)])
        assert (told["ideName"], told["transport"]) == ("Neovim", "ws")
        editor.wire.send("nvim_command", "qa!")
        await editor.ended()
        await process_gone(told["dapeer"])
    assert [*locks(tmp_path), *(moved / "ide").iterdir()] == []


async def test_what_a_killed_core_has_left_is_cleaned_by_the_next(tmp_path: Path) -> None:
    async with offered(tmp_path) as editor:
        [first] = locks(tmp_path)
        stranger = first.with_name("1.lock")
        stranger.write_text(json.dumps({"pid": editor.pid, "ideName": "other"}), encoding="utf-8")
        os.kill(json.loads(first.read_text())["dapeer"], signal.SIGKILL)
        await editor.wait_for_notification("served")
        left = locks(tmp_path)
        assert stranger in left
        assert first not in left
        assert len(left) == 2


async def test_who_has_not_read_the_lock_file_is_kept_out(tmp_path: Path) -> None:
    async with offered(tmp_path):
        port, _ = lock(tmp_path)
        for headers in ({}, {HEADER: "guessed"}):
            with pytest.raises(InvalidStatus, match="401"):
                async with connect(f"ws://127.0.0.1:{port}", additional_headers=headers):
                    pass


async def test_the_person_accepts_with_edits_rejects_or_closes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old\n", encoding="utf-8")
    proposal = {"old_file_path": str(path), "new_file_path": str(path), "tab_name": "mine"}
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        for keys, expected in {
            "Gomine<Esc>:w<CR>": ["FILE_SAVED", "new\nmine\n"],
            ":Dapeer reject<CR>": ["DIFF_REJECTED", "mine"],
            ":tabclose<CR>": ["DIFF_REJECTED", "mine"],
            ":Dapeer reject not so<CR>": ["DIFF_REJECTED", "mine"],
        }.items():
            answer = claude.calls("openDiff", **proposal, new_file_contents="new\n")
            await editor.wait_for_notification("opened")
            await editor.keys(keys)
            assert await texts_of(answer) == expected, keys
            await editor.wait_for_notification("closed")
            assert await claude.texts("close_tab", tab_name="mine") == ["TAB_CLOSED"]
        assert path.read_text(encoding="utf-8") == "old\n"


async def test_a_cli_that_goes_takes_its_diffs_along_and_nobody_elses(tmp_path: Path) -> None:
    async with offered(tmp_path) as editor, cli(tmp_path) as other:
        kept = other.calls("openDiff", new_file_path="kept.txt", new_file_contents="kept\n")
        await editor.wait_for_notification("opened")
        async with cli(tmp_path) as claude:
            claude.calls("openDiff", new_file_path="gone.txt", new_file_contents="gone\n")
            await editor.wait_for_notification("opened")
            assert await claude.texts("closeAllDiffTabs") == ["CLOSED_1_DIFF_TABS"]
            await editor.wait_for_notification("closed")
            claude.calls("openDiff", new_file_path="gone.txt", new_file_contents="gone\n")
            await editor.wait_for_notification("opened")
        assert (await editor.wait_for_notification("closed"))[0]["tab_name"] == "gone.txt"
        assert not kept.done()
        await editor.keys(":Dapeer accept<CR>")
        assert await texts_of(kept) == ["FILE_SAVED", "kept\n"]


async def test_neovim_ends_while_a_diff_is_open(tmp_path: Path) -> None:
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        answer = claude.calls("openDiff", new_file_path="a.txt", new_file_contents="new\n")
        await editor.wait_for_notification("opened")
        await editor.keys(":qa!<CR>")
        assert (await texts_of(answer))[0] == "DIFF_REJECTED"


async def test_the_cli_knows_what_is_selected(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one = 1\ntwo = 2\n", encoding="utf-8")
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        opened = await claude.texts("openFile", filePath=str(path), startText="two = 2")
        assert "a.py" in opened[0]
        selected = await claude.hears("selection_changed")
        assert (selected["filePath"], selected["text"]) == (str(path), "two = 2")
        await editor.keys("<Esc>")
        assert (await claude.hears("selection_changed"))["text"] == ""
        await editor.keys("ggV")
        selected = await claude.hears("selection_changed")
        assert selected["text"] == "one = 1"
        assert selected["selection"]["start"] == {"line": 0, "character": 0}
        assert not selected["selection"]["isEmpty"]
        assert json.loads((await claude.texts("getCurrentSelection"))[0])["text"] == "one = 1"
        assert json.loads((await claude.texts("getLatestSelection"))[0])["text"] == "one = 1"
        await editor.keys("<Esc>")
        assert (await claude.hears("selection_changed"))["selection"]["isEmpty"]


async def test_the_cli_knows_open_files_and_their_diagnostics(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one = 1\ntwo = 2\n", encoding="utf-8")
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        await editor.lua("vim.cmd.edit(...)", str(path))
        await editor.lua("""
          vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0, {
            { lnum = 1, col = 0, end_col = 3, message = 'odd', severity = 2, source = 'test' },
          })
        """)
        # A Neovim that is late has none yet.
        while (known := await claude.texts("getDiagnostics", uri=path.as_uri())) == ["[]"]:
            pass
        [found] = json.loads(known[0])
        assert (found["uri"], found["diagnostics"]) == (
            path.as_uri(),
            [
                {
                    "message": "odd",
                    "severity": "Warning",
                    "range": {
                        "start": {"line": 1, "character": 0},
                        "end": {"line": 1, "character": 3},
                    },
                    "source": "test",
                }
            ],
        )
        editors = json.loads((await claude.texts("getOpenEditors"))[0])
        assert [tab["label"] for tab in editors["tabs"]] == ["a.py"]
        folders = json.loads((await claude.texts("getWorkspaceFolders"))[0])
        assert folders["rootPath"] == str(tmp_path)


async def test_a_file_is_saved_when_the_cli_asks(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old\n", encoding="utf-8")
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        await editor.lua("vim.cmd.edit(...)", str(path))
        await editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'new' })")
        dirty = json.loads((await claude.texts("checkDocumentDirty", filePath=str(path)))[0])
        assert dirty["isDirty"]
        saved = json.loads((await claude.texts("saveDocument", filePath=str(path)))[0])
        assert saved["saved"]
        assert path.read_text(encoding="utf-8") == "new\n"


async def test_a_cli_that_comes_hears_where_the_person_was_and_again_until_it_listens(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    async with offered(tmp_path) as editor:
        await editor.lua("vim.cmd.edit(...) vim.cmd('2 | split | terminal cat')", str(path))
        await editor.keys("i")
        async with cli(tmp_path) as claude:
            told = await claude.hears("selection_changed")
            assert (told["filePath"], told["selection"]["start"]["line"]) == (str(path), 1)
            await claude.hears_again()


@asynccontextmanager
async def slow_core(tmp_path: Path) -> AsyncGenerator[tuple[Editor, Path]]:
    """Start a Neovim whose core starts once something is written to a pipe; `claude` is there."""
    (tmp_path / "claude").symlink_to("/bin/cat")
    variables = {"HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    late = ["/bin/sh", "-c", f'read go < {gate}; exec {sys.executable} -m dapeer "$@"', "sh"]
    setup = {**SETUP, "bridge": {"command": late}}
    async with neovim(
        tmp_path, dap=False, rc=RC + SERVED, setup=setup, ui=True, environment=variables
    ) as editor:
        yield editor, gate


async def test_a_terminal_that_was_asked_for_too_early_opens_on_nobody_who_types(
    tmp_path: Path,
) -> None:
    async with slow_core(tmp_path) as (editor, gate):
        await editor.keys(":Dapeer claude<CR>oHello")
        await in_mode(editor, "i")
        gate.write_text("go\n")
        await editor.wait_for_notification("served")
        await editor.keys(" there")
        [said] = await editor.wait_for_notification("said")
        assert said == "dapeer: the core serves now: `:Dapeer claude` opens Claude Code"
        text = "return vim.api.nvim_buf_get_lines(0, 0, -1, false)"
        assert await editor.lua(text) == ["", "Hello there"]


async def test_a_terminal_that_was_asked_for_too_early_takes_no_key_of_normal_mode(
    tmp_path: Path,
) -> None:
    async with slow_core(tmp_path) as (editor, gate):
        await editor.keys("ione<CR>two<CR>three<Esc>gg:Dapeer claude<CR>")
        gate.write_text("go\n")
        serves = asyncio.create_task(editor.wait_for_notification("served"))
        while not serves.done():
            await editor.keys("jk")
            await asyncio.wait([serves], timeout=PAUSE)
        await editor.keys("dd")
        assert await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == [
            "two",
            "three",
        ]
        await comes_true(editor, "vim.bo.buftype == 'terminal'")


async def test_nothing_is_told_while_the_person_types(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old\n", encoding="utf-8")
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        await editor.lua("vim.cmd.edit(...)", str(path))
        await claude.hears("selection_changed")
        await editor.keys("otyped")
        await editor.lua("vim.wait(300)")
        assert claude.told.empty()
        await editor.keys("<Esc>")
        assert (await claude.hears("selection_changed"))["selection"]["start"]["line"] == 1


async def test_lines_are_mentioned_by_a_command(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    async with offered(tmp_path) as editor:
        await editor.lua("vim.cmd.edit(...)", str(path))
        await editor.lua("vim.cmd('2,3DapeerSend')")
        told = await editor.wait_for_notification("said")
        assert told == ["dapeer: no Claude Code is connected: see :checkhealth dapeer"]
        async with cli(tmp_path) as claude:
            await claude.hears("selection_changed")
            await editor.lua("vim.cmd('2,3DapeerSend')")
            mention = await claude.hears("at_mentioned")
        assert mention == {"filePath": str(path), "lineStart": 1, "lineEnd": 2}


async def test_a_neovim_that_cannot_answer_leaves_the_cli_with_what_it_knew(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n", encoding="utf-8")
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        await editor.lua("vim.cmd.edit(...)", str(path))
        known = await claude.texts("getDiagnostics", uri=path.as_uri())
        await editor.blocked("r")
        assert await claude.texts("getDiagnostics", uri=path.as_uri()) == known
        assert await claude.texts("getDiagnostics") == ["[]"]
        await editor.keys("<Esc>")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("executeCode", {"code": "1"}, "There is no tool executeCode."),
        ("openFile", {}, "openFile needs `filePath`."),
        ("openDiff", {"new_file_path": "a.txt"}, "openDiff needs `new_file_contents`."),
        ("openDiff", {"new_file_contents": "new"}, "openDiff needs `new_file_path`."),
        (
            "openDiff",
            {"new_file_path": None, "new_file_contents": ""},
            "openDiff needs `new_file_path`.",
        ),
        (
            "openDiff",
            {"new_file_path": "a.txt", "new_file_contents": ["new"]},
            'Argument `new_file_contents`: should be of type string, not ["new"].',
        ),
    ],
)
async def test_a_bad_call_is_an_error_of_the_protocol(
    tmp_path: Path, name: str, arguments: Json, said: str
) -> None:
    async with offered(tmp_path), cli(tmp_path) as claude:
        error = (await claude.asks("tools/call", {"name": name, "arguments": arguments}))["error"]
        assert (error["code"], error["message"]) == (-32602, said)
        assert (await asyncio.wait_for(claude.asks("no/method", {}), LIMIT))["error"][
            "code"
        ] == -32601


async def test_the_health_report_says_who_is_connected_or_why_nobody_is(tmp_path: Path) -> None:
    async def report() -> str:
        return "\n".join(await shown(editor, "checkhealth dapeer"))

    async with offered(tmp_path) as editor:
        port, _ = lock(tmp_path)
        assert (
            f"No Claude Code is connected, port {port}; :Dapeer claude opens it" in await report()
        )
        async with cli(tmp_path):
            assert (await editor.wait_for_notification("served"))[1] == 1
            assert f"OK 1 Claude Code connected, port {port}" in await report()
        assert (await editor.wait_for_notification("served"))[1] == 0
        await editor.lua("require('dapeer').stop()")
        assert "cannot connect, since no core runs (:Dapeer start)" in await report()
