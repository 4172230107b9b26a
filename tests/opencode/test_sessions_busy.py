"""A session in which somebody else works, too, and one that asks: a real server, whose model says what the test says."""

import asyncio
import threading
from pathlib import Path

import pytest

from dapeer.integrations.opencode import messages as session_messages
from dapeer.integrations.opencode import prompt_runs
from tests.harness import ask, read, refusal
from tests.json_types import Json
from tests.opencode.provider import Call, Say
from tests.opencode.server import OpenCode
from tests.opencode.sessions import hearing, prompted, working


async def test_who_prompts_a_busy_session_gets_the_answer_to_that_and_stops_nobody(
    shared: OpenCode, tmp_path: Path
) -> None:
    boils, boils_again = threading.Event(), threading.Event()
    plays = shared.provider.plays
    boil = plays("Boil the water.", Say("It has boiled.", after=boils))
    again = plays("Boil it again.", Say("It has boiled again.", after=boils_again))
    pour = plays("Pour it.", Say("It is poured."))
    async with hearing(shared) as heard, working(shared, tmp_path) as (c, session):

        async def queued(first: str, prompt: str) -> asyncio.Task[Json]:
            """Have a person prompt the session, and prompt it, too, while that is worked at."""
            await asyncio.to_thread(prompted, shared, session, first, tmp_path)
            await heard.until("message.updated", session, role="assistant")
            ours = asyncio.create_task(ask(c, "opencode_prompt", session_id=session, prompt=prompt))
            await heard.until("message.updated", session, role="user")
            return ours

        ours = await queued(boil, pour)
        assert (await ask(c, "opencode_status", session_id=session))["state"] == "running"
        boils.set()
        told = await ours
        assert (told["state"], told["answer"]) == ("done", "It is poured.")

        ours = await queued(again, "Stir it.")
        ours.cancel()
        await asyncio.gather(ours, return_exceptions=True)
        boils_again.set()
        await heard.until("session.idle", session)
        spoken = await ask(c, "opencode_messages", session_id=session, count=4)
        assert "It has boiled again." in [one["text"] for one in spoken["messages"]]
        assert not any("error" in one for one in spoken["messages"])


async def test_what_a_subagent_asks_is_answered_by_either_session(
    shared: OpenCode, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("COLOUR=blue\n")
    look = Call("read", {"filePath": str(tmp_path / ".env")})
    shared.provider.plays("Look into the file.", look, Say("It is blue."))
    task = {"description": "look", "prompt": "Look into the file.", "subagent_type": "general"}
    prompt = shared.provider.plays(
        "Have somebody look.", Call("task", task), lambda told: Say(told[0])
    )
    async with working(shared, tmp_path) as (c, session):
        told = await ask(c, "opencode_prompt", session_id=session, prompt=prompt)
        (asked,) = told["asks"]
        child = asked["session_id"]
        waiting = await read(c, "opencode_status", session_id=session)
        assert f"{asked['request_id']} (of the subagent {child}): may it read " in waiting
        told = await ask(c, "opencode_reply", session_id=child, decision="once")
        assert (told["session_id"], told["state"]) == (session, "done")
        assert "It is blue." in told["answer"]

        await ask(c, "opencode_prompt", session_id=session, prompt=prompt)
        told = await ask(c, "opencode_reply", session_id=session, decision="reject")
        assert "rejected permission" in told["answer"]
        assert "is not waiting for an answer" in await refusal(
            c, "opencode_reply", session_id=session, decision="once"
        )


async def test_a_rejection_ends_a_run_unless_it_says_why(shared: OpenCode, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("COLOUR=blue\n")
    look = Call("read", {"filePath": str(tmp_path / ".env")})
    prompt = shared.provider.plays("What colour?", look, lambda told: Say(told[0]))
    question: Json = {"question": "Which?", "header": "Which", "options": [], "multiple": True}
    which = shared.provider.plays(
        "Which ones?", Call("question", {"questions": [question]}), lambda told: Say(told[0])
    )
    async with working(shared, tmp_path) as (c, session):
        prompted = {"session_id": session, "prompt": prompt}
        await ask(c, "opencode_prompt", **prompted)
        said = await read(c, "opencode_reply", session_id=session, decision="reject")
        assert said.startswith("Done, without an answer.\nTool calls:\n  read(")
        await ask(c, "opencode_prompt", **prompted)
        rejected = {"session_id": session, "decision": "reject", "message": "look elsewhere"}
        assert "look elsewhere" in (await ask(c, "opencode_reply", **rejected))["answer"]

        await ask(c, "opencode_prompt", session_id=session, prompt=which)
        told = await ask(c, "opencode_reply", session_id=session, answers=[["green", "black"]])
        assert "green, black" in told["answer"]


async def test_what_is_long_is_cut_and_can_be_read_in_parts(
    shared: OpenCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As with hundreds of messages and calls.
    monkeypatch.setattr(prompt_runs, "PAGE_MESSAGES", 2)
    monkeypatch.setattr(session_messages, "MOST_CALLS", 2)
    monkeypatch.setattr(session_messages, "LONGEST_ANSWER", 10)
    lines = Call("bash", {"command": "seq 20000", "description": "count"})
    small = [Call("bash", {"command": f"echo {n}", "description": "echo"}) for n in range(2)]
    prompt = shared.provider.plays("Count.", lines, *small, Say("I have counted to 20000."))
    async with working(shared, tmp_path) as (c, session):
        told = await ask(c, "opencode_prompt", session_id=session, prompt=prompt)
        assert (told["answer"], told["answer_cut"], told["earlier_calls"]) == ("I have cou", 14, 1)
        assert [call["output"] for call in told["tool_calls"]] == ["0\n", "1\n"]
        status = await read(c, "opencode_status", session_id=session)
        assert "(14 more characters: opencode_messages" in status
        counted = {"session_id": session, "start": 3, "count": 1}
        spoken = await read(c, "opencode_messages", **counted)
        assert spoken.startswith("(earlier ones: start 4)\n  bash(")
        assert "output saved to" in spoken
        assert " chars)" in spoken
        assert len(spoken) < 1000
        whole = await read(c, "opencode_messages", **counted, length=60_000)
        # On a busy machine OpenCode ends a call before it has read the last lines: so all that it has is to be told.
        messages = shared.ask("GET", f"/session/{session}/message", None, tmp_path)
        kept = [
            part["state"]["output"]
            for each in messages
            for part in each["parts"]
            if part["type"] == "tool"
        ]
        assert whole.endswith(kept[0].rstrip("\n"))
        assert kept[0].count("\n") > 1000
