"""A diff that nobody has decided gets an answer when its Neovim or its core ends, over each road."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.neovim.claude import cli, lock, offered, texts_of
from tests.neovim.editor import Editor, neovim
from tests.neovim.reviewing import RC, Proposal, proposed, reviewing
from tests.neovim.test_outliving import assistant, start_core
from tests.neovim.test_together import CORE
from tests.neovim.test_together import assistant as over_http

LOST = "Neovim, or the core, ended before the person decided."
UNDECIDED = "The dapeer server ended before the person decided."


@asynccontextmanager
async def joined(tmp_path: Path) -> AsyncGenerator[tuple[Client, Editor]]:
    """Start a Neovim with a core, and an assistant that joins it."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    async with neovim(tmp_path, dap=False, ui=True, rc=RC + CORE, cwd=project) as editor:
        await start_core(editor)
        async with assistant(project) as (c, _):
            # The SDK's client would ask for them with the first result, which a lost server does not answer.
            await c.list_tools()
            yield c, editor


async def two_proposed(c: Client, editor: Editor) -> list[Proposal]:
    """Propose two texts, which the person sees: each has an answer of its own."""
    return [await proposed(c, editor, f"{number}.txt", "x\n") for number in (1, 2)]


async def rejected(proposals: list[Proposal], *reasons: str) -> None:
    for number, one in enumerate(proposals, 1):
        verdict, name, reason = await one.answer()
        assert (verdict, name) == ("DIFF_REJECTED", f"{number}.txt")
        assert reason in reasons


async def test_who_has_joined_a_neovim_that_is_quit_is_answered(tmp_path: Path) -> None:
    async with joined(tmp_path) as (c, editor):
        proposals = await two_proposed(c, editor)
        await editor.keys(":qa!<CR>")
        # Which of the two depends on how long Neovim takes to end.
        await rejected(proposals, "Neovim ended.", LOST)
        await editor.ended()


async def test_who_has_joined_a_neovim_that_is_killed_is_answered(tmp_path: Path) -> None:
    async with joined(tmp_path) as (c, editor):
        proposals = await two_proposed(c, editor)
        await editor.kill()
        await rejected(proposals, LOST)


@pytest.mark.parametrize(
    ("end", "reason"), [(signal.SIGTERM, LOST), (signal.SIGKILL, UNDECIDED)], ids=str
)
async def test_who_has_joined_a_core_that_ends_is_answered(
    tmp_path: Path, end: signal.Signals, reason: str
) -> None:
    async with joined(tmp_path) as (c, editor):
        proposals = await two_proposed(c, editor)
        os.kill(await editor.lua("return require('dapeer').status().pid"), end)
        await rejected(proposals, reason)
        for _ in proposals:
            await editor.wait_for_notification("closed")


@pytest.mark.parametrize("ends", ["quit", "killed", "core"])
async def test_who_reaches_the_core_of_a_neovim_over_http_is_answered(
    tmp_path: Path, ends: str
) -> None:
    async with neovim(tmp_path, dap=False, ui=True, rc=RC + CORE, cwd=tmp_path) as editor:
        await editor.lua("require('dapeer').start()")
        async with over_http(editor) as c:
            await c.list_tools()
            proposals = await two_proposed(c, editor)
            if ends == "quit":
                await editor.keys(":qa!<CR>")
            elif ends == "killed":
                await editor.kill()
            else:
                core = await editor.lua("return require('dapeer').status().pid")
                os.kill(core, signal.SIGTERM)
            await rejected(proposals, "Neovim ended.", LOST)


async def test_an_own_core_answers_for_a_neovim_that_is_killed(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (c, editor):
        proposals = await two_proposed(c, editor)
        await editor.kill()
        await rejected(proposals, LOST)


async def test_claude_code_is_answered_for_a_neovim_that_is_killed(tmp_path: Path) -> None:
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        answer = claude.calls("openDiff", new_file_path="a.txt", new_file_contents="new\n")
        await editor.wait_for_notification("opened")
        await editor.kill()
        assert await texts_of(answer) == ["DIFF_REJECTED", "a.txt"]


async def test_claude_code_is_answered_for_a_core_that_ends(tmp_path: Path) -> None:
    async with offered(tmp_path) as editor, cli(tmp_path) as claude:
        answer = claude.calls("openDiff", new_file_path="a.txt", new_file_contents="new\n")
        await editor.wait_for_notification("opened")
        os.kill(lock(tmp_path)[1]["dapeer"], signal.SIGTERM)
        assert await texts_of(answer) == ["DIFF_REJECTED", "a.txt"]


async def test_claude_code_learns_that_the_original_is_not_there(tmp_path: Path) -> None:
    async with offered(tmp_path), cli(tmp_path) as claude:
        names = {"old_file_path": "/no/where", "new_file_path": "a.txt"}
        told = await claude.texts("openDiff", **names, new_file_contents="new\n")
        assert "there is no file /no/where" in told[0]
