"""A program runs the same with an adapter and a launcher that were kept ready as with those that were started for it."""

import asyncio
import shutil
import zipapp
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import pytest
from mcp import Client

from tests.harness import Json, ask, client
from tests.kept import kept_at_once, plain, told
from tests.processes import LIMIT
from tests.programs import program

TELL = """import os, signal, subprocess, sys
sys.path.insert(0, os.getcwd())
from tells import tell
del sys.path[0]
"""
TELLS = (
    f"{TELL}tell('told.json')\nprint('told', sys.argv[1:])\nprint('to stderr', file=sys.stderr)\n"
)
FORKS = "if os.fork():\n    os.wait()\n    sys.exit(4)\n"
FILES = {
    "script.py": TELLS,
    "pkg/__init__.py": "",
    "pkg/__main__.py": TELLS,
    "folder/__main__.py": TELLS,
    "ends.py": f"{TELLS}sys.exit()\n",
    "says.py": f"{TELLS}sys.exit('why')\n",
    "raises.py": f"{TELLS}raise ValueError('a value')\n",
    "hurries.py": f"{TELLS}sys.stdout.flush()\nos._exit(7)\n",
    "killed.py": f"{TELLS}os.kill(os.getpid(), signal.SIGKILL)\n",
    "terminated.py": f"{TELLS}os.kill(os.getpid(), signal.SIGTERM)\n",
    "reads.py": f"{TELLS}print(repr(sys.stdin.read()))\n",
    "floods.py": f"{TELLS}for n in range(1600): print(n, file=(sys.stdout, sys.stderr)[n % 2])\n",
    "titled.py": f"{TELL}open('/proc/self/comm', 'w').write('a title')\n{TELLS}",
    "ignores.py": f"{TELL}signal.signal(signal.SIGHUP, signal.SIG_IGN)\nos.umask(0o77)\n{TELLS}",
    "forks.py": f"{TELL}{FORKS}{TELLS}",
    "leads.py": f"{TELL}{FORKS}os.setsid()\n{TELLS}",
    "becomes.py": f"{TELL}os.execv(sys.executable, [sys.executable, 'script.py', 'become'])\n",
    "starts.py": f"{TELL}print(subprocess.run([sys.executable, 'script.py', 'child']).returncode)\n",
    "shell.py": f"{TELL}subprocess.run(['sh', '-c', sys.executable + ' -c \"import script\"'])\n",
    "test_it.py": f"def test_it():\n    exec({TELLS!r}, {{'__name__': 'it'}})\n",
}
STARTS: Mapping[str, Json] = {
    **{name: {"program": name} for name in FILES if "/" not in name and name != "test_it.py"},
    "with arguments": {"program": "script.py", "args": ["a b", "", "--", "ü", "$HOME"]},
    "a package": {"module": "pkg", "args": ["-x"]},
    "a module": {"module": "script"},
    "code": {"code": TELLS, "args": ["one"]},
    "a folder": {"program": "folder"},
    "an archive": {"program": "app.pyz", "args": ["two"]},
    "development mode": {"program": "script.py", "config": {"pythonArgs": ["-X", "dev", "-O"]}},
    "isolated": {"program": "script.py", "config": {"pythonArgs": ["-I"]}},
    "environment": {"program": "script.py", "env": {"ONE": "1", "PYTHONHASHSEED": "0", "LC_ALL": "C"}},
    "tests": {"module": "pytest", "args": ["-qqs", "-p", "no:cacheprovider", "test_it.py"]},
    "without a debugger": {"program": "script.py", "config": {"noDebug": True}},
    "its own streams": {"program": "script.py", "config": {"redirectOutput": False}},
}  # fmt: skip


@pytest.mark.parametrize("name", STARTS)
async def test_a_program_is_started_alike(name: str, tmp_path: Path, settings: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    shutil.copy(program("tells_of_itself.py").source, tmp_path / "tells.py")
    zipapp.create_archive(tmp_path / "folder", tmp_path / "app.pyz")
    one_after_the_other = plain(settings)
    with kept_at_once() as kept:
        async with asyncio.timeout(LIMIT), client(tmp_path) as c:
            await run(c, {"code": "pass", "type": "debugpy"})
            await kept.next()
            seen = [
                [await run(c, {**STARTS[name], "type": each}), told(tmp_path / "told.json")]
                for each in (one_after_the_other, "debugpy")
            ]
            await kept.next()
    assert [each[1].pop("ahead") for each in seen] == [False, True]
    assert leaves(seen[1]) == leaves(seen[0])


def leaves(tree: object, where: str = "") -> dict[str, object]:
    """Return the values in a tree by their places, which tell where two trees differ."""
    inner: Iterable[tuple[object, object]]
    match tree:
        case dict():
            inner = cast("Json", tree).items()
        case list():
            inner = enumerate(cast("list[object]", tree))
        case _:
            return {where: tree}
    return {
        place: leaf
        for key, value in inner
        for place, leaf in leaves(value, f"{where} {key}").items()
    }


async def run(c: Client, start: Json) -> Json:
    """Run a program to its end; return how it ended, and what it has printed."""
    end = await ask(c, "dap_run", **start)
    while end["state"] == "stopped":
        end = await ask(c, "dap_continue")
    printed = [
        (await ask(c, "dap_program_output", category=each, lines=1000, session_id=end["session_id"]))["text"]
        for each in ("stdout", "stderr")
    ]  # fmt: skip
    return {"state": end["state"], "exit_code": end.get("exit_code"), "printed": printed}
