"""What OpenCode tells reaches us by a wire that breaks, goes dead, or leads to something else."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import aclosing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from mcp import Client

from dapeer.integrations.opencode.catalogue import follow_events
from dapeer.integrations.opencode.client import OpenCode as OpenCodeClient
from dapeer.integrations.opencode.client import OpenCodeFailed
from tests.harness import read, text
from tests.opencode.provider import Say
from tests.opencode.server import OpenCode
from tests.opencode.sessions import hearing, working
from tests.opencode.wire import wire


@pytest.fixture
def tea(tmp_path: Path) -> None:
    """Have a command that makes tea in the project."""
    commands = tmp_path / ".opencode" / "command"
    commands.mkdir(parents=True)
    (commands / "tea.md").write_text("---\ndescription: tea\n---\nMake tea for $ARGUMENTS.\n")


def make(c: Client, session: str, cups: str) -> asyncio.Task[str]:
    """Have tea made; the task ends with what is told of it."""
    given = {"session_id": session, "command": "tea", "arguments": cups}

    async def made() -> str:
        return text(await c.call_tool("opencode_command", given))

    return asyncio.create_task(made())


@pytest.mark.usefixtures("tea")
async def test_an_answer_that_comes_while_the_wire_is_cut_is_not_missed(
    shared: OpenCode, tmp_path: Path
) -> None:
    two = threading.Event()
    shared.provider.plays("Make tea for two.", Say("Two cups.", after=two))
    async with (
        hearing(shared) as heard,
        wire(shared.url) as laid,
        working(shared, tmp_path, url=laid.url, silence=2) as (c, session),
    ):
        # A command's own connection breaks, too.
        answer = make(c, session, "two")
        await heard.until("message.updated", session, role="assistant")
        laid.hold()
        laid.cut()
        two.set()
        await heard.until("session.idle", session)
        laid.release()
        assert await answer == "Two cups."


@pytest.mark.usefixtures("tea")
async def test_an_answer_that_comes_while_the_wire_is_dead_is_not_missed(
    shared: OpenCode, tmp_path: Path
) -> None:
    three = threading.Event()
    shared.provider.plays("Make tea for three.", Say("Three cups.", after=three))
    async with (
        hearing(shared) as heard,
        wire(shared.url) as laid,
        working(shared, tmp_path, url=laid.url, silence=2) as (c, session),
    ):
        answer = make(c, session, "three")
        await heard.until("message.updated", session, role="assistant")
        laid.hold()
        three.set()
        await heard.until("session.idle", session)
        # Nothing is heard, so it is given up; only the next attempt gets through.
        await laid.joined.wait()
        laid.release()
        assert await answer == "Three cups."


async def test_an_opencode_that_lets_us_in_before_it_answers_is_waited_for(
    shared: OpenCode, tmp_path: Path
) -> None:
    async with wire(shared.url) as laid, working(shared, tmp_path, url=laid.url) as (c, _):
        laid.hold()
        laid.cut()
        agents = asyncio.create_task(read(c, "opencode_agents"))
        await laid.joined.wait()
        laid.release()
        assert "build" in await agents


@contextmanager
def answering(kind: str, body: str) -> Generator[str]:
    """Serve the same answer to every question."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()


async def test_another_program_at_that_address_is_told_from_opencode() -> None:
    with answering("text/html", "<title>Hello</title>") as url:
        async with OpenCodeClient(url, {}) as opencode, aclosing(follow_events(opencode)) as events:
            with pytest.raises(OpenCodeFailed, match="not a known OpenCode server"):
                await anext(events)


async def test_events_that_are_none_are_passed_over() -> None:
    line_of_unicode = '{"type": "said", "properties": {"text": "one\u2028two\u0085three"}}'
    told = [
        "{",
        "[]",
        '{"payload": 1}',
        '{"payload": {"type": "sync"}}',
        f'{{"payload": {line_of_unicode}}}',
    ]
    body = "".join(f"data: {one}\n\n" for one in told)
    with answering("text/event-stream; charset=utf-8", body) as url:
        async with OpenCodeClient(url, {}) as opencode, aclosing(follow_events(opencode)) as events:
            first = await anext(events)
    assert first["properties"] == {"text": "one\u2028two\u0085three"}


async def test_an_event_may_hold_megabytes() -> None:
    text = "x" * (2 << 20)
    body = f'data: {{"payload": {{"type": "said", "properties": {{"text": "{text}"}}}}}}\n\n'
    with answering("text/event-stream", body) as url:
        async with OpenCodeClient(url, {}) as opencode, aclosing(follow_events(opencode)) as events:
            assert (await anext(events))["properties"] == {"text": text}
