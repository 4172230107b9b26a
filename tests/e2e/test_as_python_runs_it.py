"""A program under the debugger sees, prints and ends as it does when plain Python runs it."""

import asyncio
import compileall
import sys
import zipapp
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.harness import Json, ask, client
from tests.processes import LIMIT

REPORT = """
import json, sys
def told(value):
    return value if isinstance(value, (str, int, type(None))) else type(value).__name__
main = sys.modules["__main__"]
print(json.dumps([
    {name: told(value) for name, value in globals().items()}, list(vars(main)),
    [getattr(__spec__, name, None) for name in ("name", "origin", "parent")],
    getattr(__loader__, "__name__", ""), sys.argv, sys.path[:3], sys.excepthook is sys.__excepthook__,
]))
"""
"""Tells what a program can see of how it was started."""

GUARDED = "if __name__ == '__main__':\n    print('main', __name__)\n"
FAULTY = "print(os.getcwd())\n"
"""What it does not import."""
FAILING = "def fail(n):\n    return 1 / n\n\nfail(0)\n"
PICKLED = """
import pickle, sys
class Point: x = 1
print(pickle.loads(pickle.dumps(Point())).x, Point.__module__, sys.modules[Point.__module__].Point is Point)
"""
HINTED = """
from __future__ import annotations
import dataclasses, typing
@dataclasses.dataclass
class Box: inner: Box | None = None
print(typing.get_type_hints(Box), Box.__annotations__)
"""
PLAIN_ANNOTATIONS = "x: int = 1\nprint(__annotations__, list(globals()))\n"
"""Evaluated: nobody else's `from __future__ import annotations` holds here."""
SPAWNING = """
import multiprocessing, sys
def work(n): return n, __name__, sys.argv[1:]
if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(work, [1]))
"""
ENDING = """
import atexit, sys
atexit.register(print, 'at exit')
sys.exit('told to the shell')
"""
FILES = {
    "script.py": REPORT, "pkg/__init__.py": "", "pkg/__main__.py": REPORT, "pkg/sub/__init__.py": "",
    "pkg/sub/mod.py": REPORT, "pkg/relative.py": "from .sub import mod\nprint(mod.__name__)\n",
    "namespace/mod.py": REPORT, "folder/__main__.py": REPORT, "faulty/__main__.py": FAULTY,
    "guarded.py": GUARDED, "failing.py": FAILING, "pickled.py": PICKLED, "hinted.py": HINTED,
    "plain.py": PLAIN_ANNOTATIONS, "spawning.py": SPAWNING, "ending.py": ENDING, "syntax.py": "def\n",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A program, as Python's command line has it and as `dap_run` has it."""

    name: str
    command: list[str]
    asked: Json
    args: list[str] = field(default_factory=lambda: ["a", "b c"])

    def __str__(self) -> str:
        return self.name


def file(name: str) -> Case:
    return Case(name, [name], {"program": name})


def module(name: str, *args: str) -> Case:
    case = Case(f"-m {name}", ["-m", name], {"module": name})
    return Case(case.name, case.command, case.asked, [*args]) if args else case


def code(name: str, text: str) -> Case:
    return Case(f"-c {name}", ["-c", text], {"code": text})


CASES = [
    file("script.py"), file("folder"), file("app.pyz"), file("linked/tool"), file("compiled.pyc"),
    file("failing.py"), file("pickled.py"), file("hinted.py"), file("plain.py"), file("spawning.py"),
    file("ending.py"), file("syntax.py"),
    module("pkg"), module("pkg.sub.mod"), module("pkg.relative"), module("namespace.mod"),
    module("faulty"), module("guarded"), module("spawning"),
    module("nowhere"), module("json.tool", "data.json"),
    code("report", REPORT), code("guarded", GUARDED),
]  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a program of every form."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "data.json").write_text('{"b": [1, 2]}', encoding="utf-8")
    (folder / "linked").mkdir()
    (folder / "linked" / "tool").symlink_to(folder / "pkg" / "sub" / "mod.py")
    zipapp.create_archive(folder / "folder", folder / "app.pyz")
    compileall.compile_file(folder / "script.py", legacy=True, quiet=1)
    (folder / "script.pyc").rename(folder / "compiled.pyc")
    return folder


async def plainly(command: list[str], cwd: Path) -> tuple[int | None, str, str]:
    """Run a program without a debugger; return its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=cwd, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    printed, complained = await process.communicate()
    return process.returncode, printed.decode(), complained.decode()


def users(complaint: str) -> str:
    """Leave out of a traceback the lines of Python's own `runpy`, which no user has written."""
    return "\n".join(line for line in complaint.splitlines() if "<frozen runpy>" not in line)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_it_is_as_without_a_debugger(case: Case, project: Path) -> None:
    asked = {"type": "debugpy", **case.asked}
    command = case.command
    if "program" in asked:
        asked["program"] = str(project / asked["program"])
        command = [asked["program"]]
    async with asyncio.timeout(LIMIT), client(project) as c:
        plain, end = await asyncio.gather(
            plainly([*command, *case.args], project),
            ask(c, "dap_run", **asked, args=case.args, python=sys.executable, exception_filters=[]),
        )
        returned, printed, complained = plain
        assert (end["state"], end["exit_code"]) == ("ended", returned)
        seen = {
            category: (await ask(c, "dap_program_output", category=category))["text"]
            for category in ("stdout", "stderr")
        }
    assert seen["stdout"] == printed
    assert seen["stderr"].splitlines() == users(complained).splitlines()
