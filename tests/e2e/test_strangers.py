"""What another user of the machine can do to a session that goes on: nothing."""

import asyncio
import os
import subprocess

import pytest

from tests import second_user
from tests.harness import adapters, ask, client, evaluate, needs
from tests.processes import LIMIT, command_line, descendants
from tests.programs import program
from tests.sockets import needs_tables, ports_of


@needs_tables
@second_user.needed
async def test_debugpy_s_ports_answer_no_other_user() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        (adapter,) = adapters("debugpy_adapter")
        ports = ports_of(adapter)
        assert ports
        with second_user.runs(second_user.INTRUDER, ",".join(map(str, ports))) as intruder:
            for _ in ports:
                said = await asyncio.to_thread(second_user.says, intruder)
                assert said in {"b''", "refused"}
        assert await evaluate(c, "1 + 1") == "2"


@needs_tables
@pytest.mark.parametrize("how", ["script", "spawn", "os_fork"])
async def test_no_token_of_debugpy_stands_on_a_command_line(how: str) -> None:
    p = program("children.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), args=[how], breakpoints=[p.at("child")])
        (adapter,) = adapters("debugpy_adapter")
        lines = [command_line(pid) for pid in descendants(adapter)]
        assert any("children.py" in line for line in lines)
        assert not [line for line in lines if "token" in line and "access_token=None" not in line]


BECOMES_ANOTHER = f"""import os

def work():
    user = os.getuid()
    return user

if os.fork() == 0:
    os.setgid({second_user.UID})
    os.setuid({second_user.UID})
    if os.fork() == 0:
        work()
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
"""


@second_user.needed
async def test_a_child_that_has_become_another_user_is_debugged_all_the_same() -> None:
    with second_user.folder_for_all() as folder:
        path = folder / "becomes_another.py"
        path.write_text(BECOMES_ANOTHER)
        stop = {"filename": str(path), "line": 5}
        async with asyncio.timeout(LIMIT), client() as c:
            await ask(c, "dap_run", program=str(path), breakpoints=[stop])
            assert await evaluate(c, "user") == str(second_user.UID)
            assert (await ask(c, "dap_continue"))["state"] == "ended"


def node_version() -> int:
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return int(done.stdout.strip("v").partition(".")[0])


@needs_tables
async def test_node_s_inspector_tells_nobody_where_it_listens() -> None:
    needs("js-debug")
    if node_version() > 22:
        pytest.skip("Node.js can keep it to itself up to version 22")
    p = program("children.js")
    # A server that other tests share may run beside this one.
    others = {*descendants(os.getpid())}
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        started = {*descendants(os.getpid())} - others
        ports = {port for pid in started for port in ports_of(pid)}
        assert ports
        for port in ports:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b"404" in await reader.readline()
            writer.close()
