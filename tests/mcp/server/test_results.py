"""Nothing about a program leaves by another way than `ResultFinisher`: secrets are masked, unseen characters escaped."""

import ast
import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest
from mcp import Client
from mcp import types as t
from mcp.client.session import IncomingMessage

from dapeer.base.errors import NotStopped, RequestFailed
from dapeer.base.redaction import NOTE
from dapeer.base.text.lines import escaped
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.hub import output_uri, session_uri
from dapeer.mcp.server.results import DOCUMENT, ResultFinisher
from dapeer.mcp.server.toolbox import Selection
from dapeer.tools.base.call import Call, Reply, with_notes
from dapeer.tools.base.tool import tool
from tests.harness import DATA, ask
from tests.mcp.small import LEGACY, in_memory, text
from tests.processes import LIMIT
from tests.programs import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

SECRET = "hunter2-and-more"
UNSEEN = "\x1b[2J\u202e"
LEAK = f"DB_PASSWORD={SECRET} {UNSEEN}"
SHOWN = "DB_PASSWORD=<redacted: password> \\x1b[2J\\u202e"

How = Literal["answer", "note", "error", "adapter", "progress"]


@tool("Leak", read_only=True)
async def dap_leak(call: Call, how: How) -> Reply:
    """Say a secret with characters that nobody sees."""
    match how:
        case "answer":
            return Reply(LEAK, {"said": LEAK})
        case "note":
            return with_notes(Reply("nothing"), [LEAK])
        case "error":
            raise NotStopped(LEAK)
        case "adapter":
            raise RequestFailed("evaluate", LEAK)
        case "progress":
            await call.progress(LEAK)
            return Reply("nothing")


@pytest.mark.parametrize("how", ["answer", "note", "error", "adapter"])
async def test_a_result_is_masked_and_escaped(how: str) -> None:
    async with in_memory((dap_leak,)) as server, Client(server, mode=LEGACY, extensions=DATA) as c:
        result = await c.call_tool("dap_leak", {"how": how})
    assert SHOWN in text(result)
    assert result.is_error == (how in {"error", "adapter"})
    if how == "answer":
        assert result.structured_content == {"said": SHOWN}
        assert text(result).endswith(NOTE)


async def test_progress_is_masked_and_escaped() -> None:
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        told.append(message)

    async with in_memory((dap_leak,)) as server, Client(server, mode=LEGACY) as c:
        await c.call_tool("dap_leak", {"how": "progress"}, progress_callback=hear)
    assert told == [SHOWN]


@pytest.mark.parametrize("how", ["answer", "note", "error", "adapter"])
async def test_a_person_may_have_secrets_shown_but_no_unseen_characters(how: str) -> None:
    selection = Selection(shows_secrets=True)
    async with in_memory((dap_leak,), selection=selection) as server, Client(server) as c:
        result = await c.call_tool("dap_leak", {"how": how})
    assert f"DB_PASSWORD={SECRET} \\x1b[2J\\u202e" in text(result)


async def test_resources_and_notifications_are_masked_and_escaped() -> None:
    heard: list[IncomingMessage] = []
    updated = asyncio.Event()

    async def hear(message: IncomingMessage) -> None:
        heard.append(message)
        if isinstance(message, t.ResourceUpdatedNotification):
            updated.set()

    async with (
        asyncio.timeout(LIMIT),
        in_memory(TOOLS) as server,
        Client(server, mode=LEGACY, extensions=DATA, message_handler=hear) as c,
    ):
        await c.subscribe_resource(output_uri(1))  # pyright: ignore[reportDeprecated]
        code = f"password = {SECRET!r}; said = {LEAK!r}; print(said, flush=True); breakpoint()"
        answer = await ask(c, "dap_run", code=code, timeout_ms=LIMIT * 1000)
        output = (await c.read_resource(output_uri(1))).contents
        state = (await c.read_resource(session_uri(1))).contents
        titles = await c.list_resources()
        await updated.wait()
    parts = [part.text for part in (*output, *state) if isinstance(part, t.TextResourceContents)]
    assert SHOWN in parts[0]
    for got in (answer, *parts, titles.model_dump_json(), *(str(each) for each in heard)):
        assert SECRET not in str(got)
        assert not {"\x1b", "\u202e"} & {*str(got)}


def test_masks_come_before_escapes_and_both_before_the_encoding() -> None:
    """A terminal's colours hide no secret, but their escapes would."""
    bold = f"DB_\x1b[1mPASSWORD\x1b[0m={SECRET}"
    seen = ResultFinisher(with_data=True).finish(
        Reply(bold, {"said": bold}), lambda reply, data: (reply.text, data)
    )
    assert SECRET not in str(seen)
    assert SECRET in str(ResultFinisher(masks=True, escapes=False).text(escaped(bold)))
    assert DOCUMENT.text(LEAK) == LEAK


MAKERS = {
    "CallToolResult": {"results.py"},
    "ReadResourceResult": {"results.py"},
    "TextContent": {"results.py", "prompts.py"},
    "escaped": {"results.py"},
    "redacted": {"results.py", "live.py"},
    "report_progress": {"toolbox.py"},
    "send_log_message": set[str](),
    "send_progress_notification": set[str](),
    "send_notification": set[str](),
}
"""Which modules of the server make results, or send texts, themselves: `prompts` has no program's text, a person alone sees `live`."""


@pytest.mark.parametrize("name", MAKERS)
def test_only_finished_texts_are_put_into_results(name: str) -> None:
    server = ROOT / "server/dapeer/mcp/server"
    assert {
        path.name for path in server.glob("*.py") if uses(ast.parse(path.read_text()), name)
    } <= MAKERS[name]


def uses(module: ast.Module, name: str) -> bool:
    """Whether a module calls what has this name, or hands it on; in an annotation it is only named."""
    called: Sequence[ast.expr] = [
        part
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        for part in (node.func, *node.args)
    ]
    return any(getattr(each, "attr", getattr(each, "id", "")) == name for each in called)


def test_progress_is_sent_by_way_of_finish_alone() -> None:
    source = (ROOT / "server/dapeer/mcp/server/toolbox.py").read_text()
    assert (
        source.count("report_progress")
        == source.count("finish.progress(context.session.report_progress)")
        == 1
    )
