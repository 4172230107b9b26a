"""Which Neovims are found, and which of them belong to a project."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgpack
import pytest

from dapeer.base.errors import NoNeovim
from dapeer.neovim import sockets
from dapeer.neovim.client import Neovim
from dapeer.neovim.discovery import (
    FoundNeovim,
    find_neovims,
    find_project_neovims,
    look_at,
    resolve_target,
)
from dapeer.neovim.program import plugin_folder
from dapeer.neovim.project import steps_between
from tests import second_user
from tests.neovim.editor import Editor, neovim
from tests.processes import LIMIT
from tests.programs import ROOT


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which Neovims of this test listen by default."""
    for name in sockets.NAMED_BY:
        monkeypatch.delenv(name, raising=False)
    return Path(os.environ["XDG_RUNTIME_DIR"])


async def listen(editor: Editor, *where: str) -> str:
    """Have a Neovim listen at one more address, by default where it would by itself."""
    return await editor.lua("return vim.fn.serverstart(...)", *where)


@asynccontextmanager
async def working(editor: Editor, folder: Path) -> AsyncGenerator[None]:
    """Have a Neovim wait for a command of the system while the body runs."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    editor.wire.send("nvim_exec_lua", "vim.fn.system({ 'cat', ... })", [str(pipe)])
    # It can be opened as soon as `cat` has opened the other end.
    with await asyncio.to_thread(pipe.open, "w"):
        yield


# -- the same project


@pytest.mark.parametrize(
    ("cwd", "project", "markers", "steps"),
    [
        ("shop", "shop", {}, 0),
        ("shop/src", "shop", {"shop": ".git"}, 1),
        ("shop", "shop/src/deep", {"shop": ".git"}, 2),
        ("shop/tests", "shop/src", {"shop": "pyproject.toml"}, 2),
        ("shop/web", "shop", {"shop": ".git", "shop/web": "package.json"}, 1),
        ("shop", "shop/web", {"shop": ".git", "shop/web": "package.json"}, 1),
        ("shop", "shop/web", {"shop/web": "package.json"}, None),
        ("shop/src", "shop", {}, None),
        ("shop", "shop/vendor/lib", {"shop": ".git", "shop/vendor/lib": ".git"}, None),
        ("bank", "shop", {"shop": ".git", "bank": ".git"}, None),
        ("shopping", "shop", {"shop": ".git"}, None),
        ("", "shop", {"": ".git"}, None),
        ("shop", "", {"": ".git", "shop": ".git"}, None),
    ],
)
def test_a_neovim_belongs_to_the_project_in_whose_root_it_works(
    monkeypatch: pytest.MonkeyPatch,
    cwd: str,
    project: str,
    markers: Mapping[str, str],
    steps: int | None,
) -> None:
    home = Path("/home/person")
    monkeypatch.setenv("HOME", str(home))
    there = {home / folder: marker for folder, marker in markers.items()}

    def holds(folder: Path, name: str) -> bool:
        return there.get(folder) == name

    assert steps_between(home / cwd, home / project, holds) == steps


async def test_a_link_to_a_project_leads_to_the_same_project(tmp_path: Path) -> None:
    (tmp_path / "real" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    async with neovim(tmp_path, dap=False, cwd=tmp_path / "link") as editor:
        found = await look_at(editor.socket, tmp_path / "real")
        assert found
        assert found.folder_distance == 0


# -- who is found


async def test_a_neovim_is_found_once_with_what_it_tells(tmp_path: Path, runtime: Path) -> None:
    async with neovim(tmp_path, dap=False, cwd=ROOT / "server") as editor:
        assert await find_neovims(ROOT) == []
        own = await listen(editor)
        await listen(editor, str(runtime / "my-nvim.sock"))
        (found,) = await find_neovims(ROOT)
        assert found == FoundNeovim(
            own,
            "free",
            pid=editor.pid,
            cwd=ROOT / "server",
            version=found.version,
            plugin="loadable",
            folder_distance=1,
        )
        assert found.version >= "0.10"


async def test_a_neovim_is_found_under_the_name_that_a_person_gave(
    tmp_path: Path, runtime: Path
) -> None:
    (runtime / "nvim").mkdir()
    async with neovim(tmp_path, dap=False) as editor:
        for where in ("shop", str(runtime / "shop-nvim"), str(runtime / "nvim" / "shop.sock")):
            address = await listen(editor, where)
            assert [each.address for each in await find_neovims(ROOT)] == [address]
            await editor.lua("vim.fn.serverstop(...)", address)


async def test_without_a_session_folder_neovims_are_found_in_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    async with neovim(tmp_path, dap=False) as editor:
        own = await listen(editor)
        assert own in [each.address for each in await find_neovims(ROOT) if each.pid == editor.pid]


async def test_those_of_the_project_come_first_and_the_nearest_of_them(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    async with (
        neovim(tmp_path, dap=False, cwd=project) as root,
        neovim(tmp_path, dap=False, cwd=project / "src") as src,
        neovim(tmp_path, dap=False, cwd=tmp_path) as other,
    ):
        for editor in (root, src, other):
            await listen(editor)
        assert [each.pid for each in await find_neovims(project / "src")] == [
            src.pid,
            root.pid,
            other.pid,
        ]
        assert [each.pid for each in await find_project_neovims(project)] == [root.pid, src.pid]


async def test_a_neovim_that_was_killed_is_not_offered_though_its_socket_is_there(
    tmp_path: Path,
) -> None:
    async with neovim(tmp_path, dap=False) as editor:
        address = await listen(editor)
        assert len(await find_neovims(ROOT)) == 1
        await editor.kill()
    assert sockets.neovim_addresses() == [address]
    assert await find_neovims(ROOT) == []
    with pytest.raises(NoNeovim, match="it has ended"):
        await resolve_target(address, ROOT)


async def test_a_neovim_that_does_not_answer_is_busy_and_keeps_nobody_else(tmp_path: Path) -> None:
    async with (
        neovim(tmp_path, dap=False, cwd=ROOT) as busy,
        neovim(tmp_path, dap=False, cwd=ROOT / "tests", ui=True) as waiting,
        neovim(tmp_path, dap=False, cwd=ROOT / "server") as free,
    ):
        for editor in (busy, waiting, free):
            await listen(editor)
        await waiting.blocked("f")
        async with working(busy, tmp_path):
            found = {each.pid: each for each in await find_neovims(ROOT)}
            assert [each.pid for each in await resolve_target("auto", ROOT)] == [free.pid]
        assert found[free.pid].state == "free"
        assert (found[busy.pid].state, found[busy.pid].waits_in) == ("busy", "")
        assert (found[waiting.pid].state, found[waiting.pid].waits_in) == ("busy", "n")
        # They cannot say where they work, the system can.
        assert (found[busy.pid].folder_distance, found[waiting.pid].folder_distance) == (0, 1)


@pytest.mark.parametrize(
    "says",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        msgpack.packb([1, 2, "Invalid method", None]),
        msgpack.packb([1, 2, None, 7]),
        msgpack.packb([1, 2, None, "no JSON"]),
        msgpack.packb({"a map": "is no message"}),
        b"\xc1",
        b"\x91" * 2000,
        b"\xdd" + b"\xff" * 4,
        b"\xc6" + b"\xff" * 4 + bytes(2 << 20),
    ],
    ids=["HTTP", "refusal", "number", "text", "map", "unused", "deep", "long list", "long bytes"],
)
async def test_sockets_of_others_are_left_alone(runtime: Path, says: bytes) -> None:
    calls: list[str] = []

    async def chatter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(writer.get_extra_info("sockname"))
        writer.write(says)
        await reader.read()
        writer.close()

    bus, chat = runtime / "bus", runtime / "chat.nvim"
    async with (
        await asyncio.start_unix_server(chatter, bus),
        await asyncio.start_unix_server(chatter, chat),
    ):
        assert await find_neovims(ROOT) == []
    assert calls == [str(chat)]


# -- other users of the machine


@pytest.fixture
def shared() -> Iterator[Path]:
    """Return a folder that every user may write to; those of pytest are ours only."""
    with second_user.folder_for_all() as folder:
        yield folder


@second_user.needed
@pytest.mark.parametrize("kind", ["unix", "tcp"])
@pytest.mark.parametrize("how", ["look", "connect"])
async def test_another_users_neovim_is_told_nothing(
    kind: Literal["unix", "tcp"], how: str, shared: Path
) -> None:
    with second_user.hears(kind, shared / "nvim.1.0") as (target, process):
        sentence = r"Another user of this machine \(\w+\) listens at .*Nothing was sent"
        with pytest.raises(NoNeovim, match=sentence):
            await (
                resolve_target(target, ROOT)
                if how == "look"
                else Neovim.connect(target, seconds=LIMIT)
            )
        assert second_user.says(process) == "0"


@second_user.needed
@pytest.mark.parametrize("link", ["folder of a user", "folder of a session", "socket"])
async def test_no_link_of_another_user_leads_to_a_neovim(
    link: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setenv("TMPDIR", str(shared))
    own = tmp_path / "nvim.own"
    (own / "x").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(own / "x" / "nvim.1.0"))
        planted = shared / "nvim.planted"
        links = {"folder of a user": "", "folder of a session": "x", "socket": "x/nvim.1.0"}
        (planted / links[link]).parent.mkdir(parents=True, exist_ok=True)
        (planted / links[link]).symlink_to(own / links[link])
        for path in {planted, (planted / links[link]).parent} - {shared}:
            os.chown(path, second_user.UID, second_user.UID, follow_symlinks=False)
        assert (planted / "x" / "nvim.1.0").is_socket()
        assert not [path for path in sockets.neovim_addresses() if str(shared) in path]


# -- who is meant


async def test_a_target_is_a_path_a_port_a_process_or_all_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with neovim(tmp_path, dap=False, cwd=ROOT) as editor:
        own = await listen(editor)
        port = await listen(editor, "127.0.0.1:0")
        await listen(editor, str(tmp_path / "s"))
        for target in (
            own,
            port,
            "s",
            str(editor.pid),
            "auto",
            port.replace("127.0.0.1", "localhost"),
        ):
            (found,) = await resolve_target(target, ROOT)
            assert (found.pid, found.cwd) == (editor.pid, ROOT)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/no/where", "There is no Neovim at /no/where: the path does not exist. Start `nvim` in"),
        (__file__, "it has ended, or something else does"),
        ("127.0.0.1:65536", "There is no Neovim at"),
        ("nowhere..invalid:1", "There is no Neovim at"),
        ("999999999", "No Neovim with the process id 999999999 was found"),
        ("auto", f"No responding Neovim works in {ROOT}"),
    ],
)
async def test_a_target_that_is_not_there_is_told_in_a_sentence(target: str, words: str) -> None:
    with pytest.raises(NoNeovim) as caught:
        await resolve_target(target, ROOT)
    assert words in str(caught.value)


async def test_a_port_at_which_nobody_listens_is_told_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        target = f"127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(NoNeovim, match=f"No Neovim listens at {target}"):
        await resolve_target(target, ROOT)


def test_the_plugin_is_where_we_say() -> None:
    assert (plugin_folder() / "lua" / "dapeer" / "init.lua").is_file()
    assert (plugin_folder() / "plugin" / "dapeer.lua").is_file()


async def test_a_look_at_a_neovim_loads_nothing_in_it(tmp_path: Path) -> None:
    loaded = "return vim.json.encode(vim.tbl_keys(package.loaded))"
    async with neovim(tmp_path, dap=False) as editor:
        before = json.loads(await editor.lua(loaded))
        assert await look_at(editor.socket, ROOT)
        after = json.loads(await editor.lua(loaded))
        assert not {name for name in set(after) - set(before) if "dap" in name}


async def test_a_neovim_tells_whether_it_has_nvim_dap_and_a_core(tmp_path: Path) -> None:
    core = (
        "package.loaded.dapeer = { get_port = function() return 4711 end }; package.loaded.dap = {}"
    )
    async with neovim(tmp_path, dap=False, rc=core) as editor:
        found = await look_at(editor.socket, ROOT)
        assert found
        assert (found.plugin, found.port, found.dap) == ("loaded", 4711, True)
        await editor.lua("package.loaded.dapeer.get_port = error")
        found = await look_at(editor.socket, ROOT)
        assert found
        assert found.port is None
