"""The sessions of OpenCode, as tools for any client: a real server, whose model says what the test says."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
from mcp import Client

from dapeer.integrations.opencode.catalogue import CONNECTED, follow_events
from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.opencode.integration import TOOLS as OF_OPENCODE
from dapeer.integrations.variables import OPENCODE_PASSWORD
from tests.harness import DATA, ask, read, refusal, text
from tests.mcp.small import LEGACY, streamable
from tests.mcp.wire import serving
from tests.opencode.provider import Call, Fail, Say
from tests.opencode.server import OpenCode
from tests.opencode.sessions import working
from tests.processes import LIMIT


async def test_a_prompt_is_answered_with_the_calls_that_were_made(
    shared: OpenCode, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("the kettle is on\n")
    heard = threading.Event()
    script = [Call("read", {"filePath": str(note)}), Say("It is about a kettle.", after=heard)]
    prompt = shared.provider.plays("What is the note about?", *script)

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        if (message or "").startswith("read "):
            heard.set()

    async with working(shared, tmp_path) as (c, session):
        told = await ask(c, "opencode_status", session_id=session)
        assert (told["state"], told["answer"]) == ("idle", "")
        arguments = {"session_id": session, "prompt": prompt, "model": "scripted/scripted"}
        result = await c.call_tool("opencode_prompt", arguments, progress_callback=hear)
        assert result.structured_content
        told = result.structured_content
        assert (told["state"], told["answer"]) == ("done", "It is about a kettle.")
        (made,) = told["tool_calls"]
        assert (made["tool"], made["status"]) == ("read", "completed")
        assert "the kettle is on" in made["output"]
        assert await ask(c, "opencode_status", session_id=session) == told


async def test_what_was_said_in_a_session_is_told(shared: OpenCode, tmp_path: Path) -> None:
    prompt = shared.provider.plays("What is the note about?", Say("It is about a kettle."))
    async with working(shared, tmp_path) as (c, session):
        await ask(c, "opencode_prompt", session_id=session, prompt=prompt)
        spoken = await read(c, "opencode_messages", session_id=session)
        assert "user: What is the note about?" in spoken
        assert "assistant: It is about a kettle." in spoken
        (listed,) = (await ask(c, "opencode_sessions"))["sessions"]
        assert (listed["title"], listed["state"]) == ("work", "idle")
        assert await read(c, "opencode_todo", session_id=session) == "The list is empty."
        assert "OpenCode reports no changes" in await read(c, "opencode_diff", session_id=session)


async def test_who_is_not_there_is_named_with_who_is(shared: OpenCode, tmp_path: Path) -> None:
    prompt = shared.provider.plays("Nobody hears this.", Say("Nothing."))
    async with working(shared, tmp_path) as (c, session):
        known = await ask(c, "opencode_agents")
        assert "build" in known["agents"]
        assert known["models"] == ["scripted/scripted"]
        plays = {"session_id": session, "prompt": prompt}
        assert "no agent `bild` here. It has: build" in await refusal(
            c, "opencode_prompt", **plays, agent="bild"
        )
        assert "no model `gpt`" in await refusal(c, "opencode_prompt", **plays, model="gpt")
        assert "no command `fly`" in await refusal(
            c, "opencode_command", session_id=session, command="/fly"
        )
        for nobody in ("ses_nobody", "../mcp"):
            assert f"no session {nobody}" in await refusal(c, "opencode_status", session_id=nobody)


def two_questions(shared: OpenCode, folder: Path) -> str:
    """Return a prompt whose model asks for a permission, then a question of its own."""
    secret = folder / ".env"
    secret.write_text("COLOUR=blue\n")
    question = {
        "question": "Tea or coffee?",
        "header": "Drink",
        "options": [{"label": "Tea", "description": "hot"}, {"label": "Coffee", "description": ""}],
    }
    return shared.provider.plays(
        "Which colour, and what to drink?",
        Call("read", {"filePath": str(secret)}),
        Call("question", {"questions": [question]}),
        lambda told: Say(f"{'blue' in told[0]}, {'Tea' in told[1]}"),
    )


async def test_a_prompt_that_needs_somebody_says_what_it_asks(
    shared: OpenCode, tmp_path: Path
) -> None:
    prompt = two_questions(shared, tmp_path)
    async with working(shared, tmp_path) as (c, session):
        told = await ask(c, "opencode_prompt", session_id=session, prompt=prompt)
        assert told["state"] == "needs_input"
        (asked,) = told["asks"]
        assert (asked["kind"], asked["permission"]) == ("permission", "read")
        waiting = await read(c, "opencode_status", session_id=session)
        assert f"{asked['request_id']}: may it read" in waiting
        assert "Give `decision`, and" in await refusal(c, "opencode_reply", session_id=session)
        assert "does not wait for per_0" in await refusal(
            c, "opencode_reply", session_id=session, request_id="per_0", decision="once"
        )
        told = await ask(c, "opencode_reply", session_id=session, decision="once")
        assert told["state"] == "needs_input"
        assert told["asks"][0]["questions"][0]["question"] == "Tea or coffee?"
        assert "1 answers are needed" in await refusal(c, "opencode_reply", session_id=session)
        told = await ask(c, "opencode_reply", session_id=session, answers=["Tea"])
        assert (told["state"], told["answer"]) == ("done", "True, True")


async def test_a_prompt_that_is_stopped_waits_for_no_answer(
    shared: OpenCode, tmp_path: Path
) -> None:
    prompt = two_questions(shared, tmp_path)
    async with working(shared, tmp_path) as (c, session):
        told = await ask(c, "opencode_prompt", session_id=session, prompt=prompt)
        assert told["state"] == "needs_input"
        await read(c, "opencode_abort", session_id=session)
        assert shared.ask("GET", "/permission", directory=tmp_path) == []
        assert "is not waiting for an answer" in await refusal(
            c, "opencode_reply", session_id=session, decision="once"
        )


async def test_a_prompt_may_run_on_and_is_stopped_by_who_has_begun_it(
    shared: OpenCode, tmp_path: Path
) -> None:
    held = threading.Event()
    prompt = shared.provider.plays("Think.", Say("I have thought.", after=held))
    async with working(shared, tmp_path) as (c, session):
        told = await ask(c, "opencode_prompt", session_id=session, prompt=prompt, wait=False)
        assert told["state"] == "running"
        told = await ask(c, "opencode_prompt", session_id=session, prompt="And?", timeout_ms=1)
        assert told["state"] == "running"
        await ask(c, "opencode_abort", session_id=session)
        (listed,) = (await ask(c, "opencode_sessions"))["sessions"]
        assert listed["state"] == "idle"


async def test_what_nobody_waits_for_any_more_is_stopped(shared: OpenCode, tmp_path: Path) -> None:
    held, asked = threading.Event(), threading.Event()

    def ponder(_told: Sequence[str]) -> Say:
        asked.set()
        return Say("I have pondered.", after=held)

    prompt = shared.provider.plays("Ponder.", ponder)
    async with (
        working(shared, tmp_path) as (c, session),
        OpenCodeClient(shared.url, {OPENCODE_PASSWORD: shared.password}) as opencode,
        aclosing(follow_events(opencode)) as events,
    ):
        assert (await anext(events))["type"] == CONNECTED
        call = c.call_tool("opencode_prompt", {"session_id": session, "prompt": prompt})
        waiting = asyncio.create_task(call)
        await asyncio.to_thread(asked.wait)
        waiting.cancel()
        async for event in events:
            if event["type"] == "session.idle" and event["properties"]["sessionID"] == session:
                break
        told = await ask(c, "opencode_status", session_id=session)
        assert (told["state"], told["answer"]) == ("failed", "")
        assert "MessageAbortedError" in told["error"]
    held.set()


async def test_dapeer_serve_offers_them_where_an_opencode_is_named(
    shared: OpenCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OPENCODE_PASSWORD, shared.password)
    named = ("--no-auth", "--tools", "opencode", "--opencode", shared.url)
    async with (
        serving(*named, cwd=tmp_path) as (_, url),
        Client(streamable(url, None), mode=LEGACY, extensions=DATA) as c,
    ):
        listed = {tool.name for tool in (await c.list_tools()).tools}
        assert listed == {tool.name for tool in OF_OPENCODE}
        assert "build" in await read(c, "opencode_agents")


async def test_why_a_model_has_failed_is_told(shared: OpenCode, tmp_path: Path) -> None:
    refusals = [Fail("the model is busy", 500)]
    tries_again = threading.Event()

    def stumbles(_told: Sequence[str]) -> Say | Call | Fail:
        if refusals:
            return refusals.pop()
        # What has ended is not waited for, so nothing more would be told of it.
        tries_again.wait(LIMIT)
        return Fail("the model is out of ideas")

    prompt = shared.provider.plays("Fail.", stumbles)

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        if message and message.startswith("OpenCode retries: "):
            tries_again.set()

    async with working(shared, tmp_path) as (c, session):
        plays = {"session_id": session, "prompt": prompt}
        told = text(await c.call_tool("opencode_prompt", plays, progress_callback=hear))
        assert tries_again.is_set()
        assert "the model is out of ideas" in told
