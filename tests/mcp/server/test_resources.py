"""Reading a program's output as a resource, however much there is of it."""

import pytest
from mcp import Client, MCPError
from mcp import types as t

from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.resources import LONGEST_OUTPUT
from tests.harness import DATA, ask
from tests.mcp.small import LEGACY, in_memory
from tests.processes import LIMIT

OUTPUT = "debug://sessions/1/output"
MUCH = "".join(f"line {number}\n" for number in range(12_000))


async def read(client: Client, uri: str) -> list[t.TextResourceContents]:
    contents = (await client.read_resource(uri)).contents
    assert all(isinstance(part, t.TextResourceContents) for part in contents)
    return [part for part in contents if isinstance(part, t.TextResourceContents)]


async def test_much_output_is_read_in_parts_of_which_each_names_the_next() -> None:
    code = "print(''.join(f'line {number}\\n' for number in range(12_000)), end='')"
    async with in_memory(TOOLS) as server, Client(server, mode=LEGACY, extensions=DATA) as client:
        await ask(client, "dap_run", code=code, timeout_ms=LIMIT * 1000)
        newest, note = await read(client, OUTPUT)
        assert newest.text == MUCH[-LONGEST_OUTPUT:]
        left = len(MUCH) - LONGEST_OUTPUT
        assert note.text == f"({left} earlier characters of output are left out; read {note.uri})"
        text, uri = "", str(note.uri)
        while uri:
            part, *more = await read(client, uri)
            assert len(part.text) <= LONGEST_OUTPUT
            text += part.text
            uri = str(more[0].uri) if more else ""
        assert text == MUCH


@pytest.mark.parametrize(
    "uri", [f"debug://sessions/{'9' * 5_000}", f"{OUTPUT}?since={'9' * 5_000}", OUTPUT]
)
async def test_what_is_not_there_is_named_in_short(uri: str) -> None:
    async with in_memory(TOOLS) as server, Client(server, mode=LEGACY, extensions=DATA) as client:
        with pytest.raises(MCPError, match=r"^Resource not found: debug://") as caught:
            await client.read_resource(uri)
    assert caught.value.error.code == t.INVALID_PARAMS
    assert len(caught.value.error.message) < 300
