"""A person and an assistant at one Neovim: an MCP client whose core is attached to it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from dapeer.adapters.definition import load_all, shipped, user_folder
from dapeer.debugger import Debugger
from dapeer.mcp.server import make_server
from dapeer.peers import Peers
from dapeer.tools import TOOLS
from tests.harness import Json, ask
from tests.neovim.editor import Editor, neovim
from tests.neovim.person import Person
from tests.neovim.wire import Value
from tests.processes import LIMIT
from tests.programs import ROOT


@asynccontextmanager
async def attached(editor: Editor, project: Path = ROOT) -> AsyncGenerator[tuple[Client, Editor]]:
    """Attach a core of its own, in this process, to a Neovim, and serve it to a client."""
    failure: Exception | None = None
    async with (
        Debugger(load_all(shipped(), user_folder()), project) as debugger,
        Peers(debugger) as peers,
        Client(make_server(debugger, TOOLS, peers=peers)) as client,
    ):
        try:
            await peers.connect(editor.socket)
            yield client, editor
        except (AssertionError, LookupError) as error:
            # Kept back, or the task groups would wrap it in a group of groups.
            failure = error
    if failure is not None:
        raise failure


@asynccontextmanager
async def together(
    tmp_path: Path, setup: Mapping[str, object], **options: Value
) -> AsyncGenerator[tuple[Client, Person]]:
    """Start a Neovim, as `neovim` does, with a person and an assistant."""
    async with neovim(tmp_path, setup=setup, **options) as editor, attached(editor) as (c, _):
        yield c, Person(editor)


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
