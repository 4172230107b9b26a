"""A person and an assistant at one Neovim: an MCP client whose core is attached to it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from tests.harness import Json, ask, served
from tests.neovim.editor import Editor, neovim
from tests.neovim.person import Person
from tests.neovim.wire import Value
from tests.processes import LIMIT
from tests.programs import ROOT

LOOKS: dict[str, Json] = {
    "dap_wait_until_paused": {},
    "dap_snapshot": {},
    "dap_current_location": {},
    "dap_threads": {},
    "dap_stacktrace": {},
    "dap_scopes": {},
    "dap_variables": {},
    "dap_breakpoints": {},
    "dap_history": {},
    "dap_program_output": {"category": "stdout"},
}
"""Every tool that looks at a stopped program, and its arguments."""


@asynccontextmanager
async def attached(
    editor: Editor,
    project: Path = ROOT,
    **options: Any,  # noqa: ANN401 - those of `served`
) -> AsyncGenerator[tuple[Client, Editor]]:
    """Attach a core of its own, in this process, to a Neovim, and serve it to a client."""
    async with served(project, **options) as (client, peers):
        await peers.connect(editor.socket, LIMIT)
        yield client, editor


@asynccontextmanager
async def together(
    tmp_path: Path, setup: Mapping[str, object], **options: Value
) -> AsyncGenerator[tuple[Client, Person]]:
    """Start a Neovim, as `neovim` does, with a person and an assistant."""
    async with neovim(tmp_path, setup=setup, **options) as editor, attached(editor) as (c, _):
        yield c, Person(editor)


async def heard(c: Client) -> None:
    """Wait until the core and Neovim have heard all that they have told each other by now."""
    # Asked and answered over the same channel, hence later.
    await ask(c, "dap_configurations")


async def only_session(c: Client) -> Json:
    """Return what dap_status tells of the only session."""
    (only,) = (await ask(c, "dap_status"))["sessions"]
    return only


async def hears_of_the_end(c: Client, **session: int) -> None:
    """Wait until the core knows that a session has ended; the person may know it sooner."""
    cursor, ended = 0, False
    while not ended:
        arguments = {"since": cursor, "wait_ms": LIMIT * 1000, **session}
        more = await ask(c, "dap_program_output", **arguments)
        cursor, ended = more["cursor"], more["ended"]
