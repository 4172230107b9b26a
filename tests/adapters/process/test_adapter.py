"""Adapters as processes: how they start, what they may do, how they end."""

import asyncio
import errno
import os
import resource
import signal
import socket
import subprocess
from pathlib import Path

import anyio
import pytest

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.adapters.definition.sections import TransportTable
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.owned_process import Reaper
from dapeer.adapters.process.spawn import Command, start
from dapeer.base.errors import AdapterFailed, AdapterMissing, SystemUnsupported
from dapeer.base.system.process_table import descendants
from tests.adapters.toys import alive, debuggee, initialize, scripted, toy
from tests.harness import has_all
from tests.processes import LIMIT, process_gone

DEFINITIONS = load_all(shipped())
STUBBORN = ["debuggee", {"ignore": "eof"}, {"ignore": "terminate"}]
FLOOD = "yes 'all is well' | head -c 1200000"


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
async def test_a_real_adapter_starts_and_answers(name: str, reaper: Reaper, tmp_path: Path) -> None:
    definition = DEFINITIONS[name]
    detection = detect(definition)
    if not detection.ready:
        pytest.skip(f"needs: {detection.install}")
    # Some programs are a part of the adapter's command.
    program = tmp_path / "program"
    program.write_text("1\n")
    inputs = {"program": str(program)}
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(definition, "launch", inputs, reaper) as adapter,
    ):
        capabilities, _ = await initialize(adapter.transport)
        pid = adapter.pid
    assert capabilities["supportsConfigurationDoneRequest"]
    assert pid is not None
    assert not alive(pid)


@pytest.mark.parametrize("kind", ["stdio", "tcp"])
async def test_an_adapter_that_floods_stderr_still_answers(
    kind: str, tmp_path: Path, reaper: Reaper
) -> None:
    definition = scripted(tmp_path, {}, kind, f"({FLOOD}; echo '\033[31mthe end\a') >&2")
    async with asyncio.timeout(LIMIT), open_adapter(definition, "launch", {}, reaper) as adapter:
        await initialize(adapter.transport)
        tail = adapter.stderr_tail()
    assert tail.endswith("all is well\nthe end")
    assert 4000 < len(tail) <= 8192


async def test_a_server_that_floods_stdout_still_answers(tmp_path: Path, reaper: Reaper) -> None:
    definition = scripted(tmp_path, {}, "tcp", FLOOD)
    async with asyncio.timeout(LIMIT), open_adapter(definition, "launch", {}, reaper) as adapter:
        capabilities, _ = await initialize(adapter.transport)
    assert capabilities


@pytest.mark.parametrize("kind", ["stdio", "tcp"])
async def test_an_adapter_gets_none_of_our_stdin_and_a_session_of_its_own(
    kind: str, tmp_path: Path, reaper: Reaper
) -> None:
    definition = scripted(tmp_path, {}, kind)
    async with asyncio.timeout(LIMIT), open_adapter(definition, "launch", {}, reaper) as adapter:
        assert adapter.pid is not None
        stdin = await anyio.Path(f"/proc/{adapter.pid}/fd/0").readlink()
        assert os.getsid(adapter.pid) == adapter.pid
    if kind == "tcp":
        assert str(stdin) == os.devnull
    else:
        assert stdin != await anyio.Path("/proc/self/fd/0").readlink()


async def test_environment_and_folder_of_the_adapter_are_those_of_the_definition(
    tmp_path: Path, reaper: Reaper
) -> None:
    show = 'echo "$TOY in $PWD" >&2; exit 1'
    more = 'cwd = "${cwd}"\nenv = { TOY = "at ${cwd}" }'
    definition = toy(tmp_path, ["sh", "-c", show], more=more)
    with pytest.raises(AdapterFailed, match=f"at {tmp_path} in {tmp_path}"):
        async with open_adapter(definition, "launch", {"cwd": str(tmp_path)}, reaper) as adapter:
            await initialize(adapter.transport)


async def test_a_command_that_does_not_exist_is_named(tmp_path: Path, reaper: Reaper) -> None:
    definition = toy(tmp_path, ["/nowhere/toy-dap"])
    with pytest.raises(AdapterFailed, match="No such file or directory: /nowhere/toy-dap"):
        async with open_adapter(definition, "launch", {}, reaper):
            pass


async def test_a_folder_that_does_not_exist_is_named(tmp_path: Path, reaper: Reaper) -> None:
    definition = toy(tmp_path, ["true"], more='cwd = "/nowhere"')
    with pytest.raises(AdapterFailed, match="No such file or directory: /nowhere"):
        async with open_adapter(definition, "launch", {}, reaper):
            pass


async def test_a_command_without_a_value_for_its_placeholder_is_told(
    tmp_path: Path, reaper: Reaper
) -> None:
    definition = toy(tmp_path, ["toy", "${program}"])
    with pytest.raises(AdapterFailed, match=r"`\$\{program\}` in the adapter's command"):
        async with open_adapter(definition, "launch", {}, reaper):
            pass


async def test_an_adapter_that_is_not_installed_is_told_with_the_way_to_get_it(
    tmp_path: Path, reaper: Reaper
) -> None:
    more = """
        [detect]
        all = [{ executable = "toy-dap-that-nobody-has" }]
        [[install]]
        manager = "toy"
        command = "toy get toy-dap"
    """
    definition = toy(tmp_path, ["toy"], more=more)
    with pytest.raises(AdapterMissing) as caught:
        async with open_adapter(definition, "launch", {}, reaper):
            pass
    assert has_all(str(caught.value), "toy-dap-that-nobody-has", ": toy get toy-dap")


@pytest.mark.parametrize("kind", ["stdio", "tcp"])
async def test_an_adapter_that_exits_at_once_is_told_with_its_last_words(
    kind: str, tmp_path: Path, reaper: Reaper
) -> None:
    definition = toy(tmp_path, ["sh", "-c", "echo no licence >&2; exit 3"], kind)
    with pytest.raises(AdapterFailed, match=r"exit code 3\. It said: no licence"):
        async with asyncio.timeout(LIMIT), open_adapter(definition, "launch", {}, reaper) as one:
            await initialize(one.transport)


async def test_an_adapter_that_closes_its_output_at_once_is_told(
    tmp_path: Path, reaper: Reaper
) -> None:
    definition = toy(tmp_path, ["sh", "-c", "exec >&-; exec sleep 1000"])
    with pytest.raises(AdapterFailed, match="The toy closed its output without a message"):
        async with asyncio.timeout(LIMIT), open_adapter(definition, "launch", {}, reaper) as one:
            await initialize(one.transport)


async def test_a_server_that_never_listens_is_told(tmp_path: Path, reaper: Reaper) -> None:
    more = "[timeouts]\nstart = 0.2"
    definition = toy(tmp_path, ["sleep", "1000"], "tcp", more)
    with pytest.raises(AdapterFailed, match=r"did not listen within 0\.2 s"):
        async with open_adapter(definition, "launch", {}, reaper):
            pass


async def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path, reaper: Reaper) -> None:
    definition = toy(tmp_path, ["sleep", "1000"], "tcp")
    with anyio.move_on_after(0.1) as scope:
        async with open_adapter(definition, "launch", {}, reaper):
            pass
    assert scope.cancelled_caught


async def test_a_start_without_a_descriptor_left_for_a_pipe_says_so(reaper: Reaper) -> None:
    transport = TransportTable("stdio", ("sleep", "1000"))
    command = Command("toy", transport, ("sleep", "1000"), None, os.environ)
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(SystemUnsupported, match="Too many open files"):
            await start(command, reaper)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def test_a_start_without_a_process_left_for_the_reaper_leaves_nothing(
    tmp_path: Path, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    # The adapter's own process is of a class that was made of the real one.
    monkeypatch.setattr(subprocess, "Popen", no_more)
    before = set(descendants(os.getpid()))
    definition = toy(tmp_path, ["sleep", "1000"], "tcp")
    with pytest.raises(SystemUnsupported, match="temporarily unavailable"):
        async with open_adapter(definition, "launch", {}, reaper):
            pass
    assert set(descendants(os.getpid())) == before


async def test_one_that_outlives_everything_is_killed_with_its_debuggee(
    tmp_path: Path, reaper: Reaper
) -> None:
    definition = scripted(tmp_path, {"start": STUBBORN})
    async with asyncio.timeout(LIMIT):
        async with open_adapter(definition, "launch", {}, reaper) as adapter:
            program = await debuggee(adapter.transport)
            adapter.claim(program)
            server = adapter.pid
        assert server is not None
        assert not alive(server)
        await process_gone(program)


async def test_kill_ends_adapter_and_debuggee_and_can_be_repeated(
    tmp_path: Path, reaper: Reaper
) -> None:
    definition = scripted(tmp_path, {"start": STUBBORN})
    async with asyncio.timeout(LIMIT), open_adapter(definition, "launch", {}, reaper) as adapter:
        program = await debuggee(adapter.transport)
        adapter.claim(program)
        await adapter.kill()
        with pytest.raises(anyio.EndOfStream):
            await adapter.transport.receive()
        await adapter.kill()
        await process_gone(program)


async def test_what_the_adapter_leaves_in_its_group_is_killed(
    tmp_path: Path, reaper: Reaper
) -> None:
    told = tmp_path / "left"
    script = {"on": {"initialize": ["default", {"exit": 0}]}}
    definition = scripted(tmp_path, script, "stdio", f"sleep 1000 & echo $! > '{told}'")
    async with asyncio.timeout(LIMIT):
        async with open_adapter(definition, "launch", {}, reaper) as adapter:
            await initialize(adapter.transport)
            left = int(told.read_text())
            assert alive(left)
        await process_gone(left)


async def test_a_debuggees_group_ends_even_when_its_leader_has_gone(
    tmp_path: Path, reaper: Reaper
) -> None:
    leader = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        "sleep 1000 & echo $!; read line",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert leader.stdout
    assert leader.stdin
    async with asyncio.timeout(LIMIT):
        child = int(await leader.stdout.readline())
        async with open_adapter(scripted(tmp_path, {}), "launch", {}, reaper) as adapter:
            adapter.add_process(leader.pid)
            leader.stdin.close()
            await process_gone(leader.pid)
        await process_gone(child)
        await leader.wait()


async def test_a_debuggee_that_is_released_lives_on(tmp_path: Path, reaper: Reaper) -> None:
    definition = scripted(tmp_path, {"start": ["debuggee"]})
    async with asyncio.timeout(LIMIT):
        async with open_adapter(definition, "launch", {}, reaper) as adapter:
            program = await debuggee(adapter.transport)
            adapter.claim(program)
            adapter.release(program)
        await reaper.aclose()
        assert alive(program)
        os.kill(program, signal.SIGKILL)
        await process_gone(program)


async def test_an_adapter_cannot_make_us_kill_ourselves(tmp_path: Path, reaper: Reaper) -> None:
    async with asyncio.timeout(LIMIT):
        async with open_adapter(scripted(tmp_path, {}), "launch", {}, reaper) as adapter:
            for pid in (-1, 0, 1, os.getpid()):
                adapter.add_process(pid)
                adapter.claim(pid)


async def test_attaching_to_a_port_starts_nothing(tmp_path: Path, reaper: Reaper) -> None:
    (tmp_path / "script.json").write_text("{}")
    definition = toy(tmp_path, [], "connect", "[attach.tcp]")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with open_adapter(definition, "attach", {"port": port}, reaper) as adapter:
            server.accept()[0].close()
            assert adapter.pid is None
            assert adapter.stderr_tail() == ""
            with pytest.raises(anyio.EndOfStream):
                await adapter.transport.receive()


async def test_a_port_where_nobody_listens_is_told(tmp_path: Path, reaper: Reaper) -> None:
    definition = toy(tmp_path, [], "connect", "[attach.tcp]")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(AdapterFailed, match=f"Nothing accepts connections at 127.0.0.1:{port}"):
            async with open_adapter(definition, "attach", {"port": port}, reaper):
                pass


async def test_what_an_adapter_has_started_ends_with_a_start_that_is_cancelled(
    tmp_path: Path, reaper: Reaper
) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    shell = f"sleep 1000 & echo $! >{told}; wait"
    command = Command.filled_from("toy", TransportTable("stdio", ("sh", "-c", shell)), {})
    before = set(descendants(os.getpid()))
    async with asyncio.timeout(LIMIT):
        starts = asyncio.create_task(start(command, reaper))
        while not set(descendants(os.getpid())) - before:  # noqa: ASYNC110 - it looks after each turn of the loop
            await asyncio.sleep(0)
        # The loop does nothing meanwhile, so the start is where it was.
        pid = int(told.read_text())
        starts.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starts
        await process_gone(pid)
