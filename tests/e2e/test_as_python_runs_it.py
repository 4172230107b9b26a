"""A program under the debugger sees, prints and ends as it does when plain Python runs it."""

import asyncio
import compileall
import sys
import zipapp
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dapeer.base.system.environment import environment_for
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
    getattr(__loader__, "__name__", ""), sys.argv, getattr(sys, "orig_argv", 0), sys.path[:3], sys.excepthook is sys.__excepthook__,
]))
"""
"""Tells what a program can see of how it was started."""

SURROUNDED = """
import json, locale, os, subprocess, sys
def said(stream): return stream.encoding, stream.errors
TOLD = "import os, sys; print(sys.stdout.encoding, sys.stdout.errors, sys.stdout.write_through, sys.flags, sorted(os.environ.items()))"
def run(*command): return subprocess.run(command, capture_output=True).stdout.decode()
def own(name): return name.startswith(("DAPEER_", "DEBUGPY_", "PYDEVD_"))
added = sorted(filter(own, os.environ))
child = run(sys.executable, "-c", "import os; [os.environ.pop(each) for each in " + repr(added) + "]; " + TOLD)
print(json.dumps([
    sorted(each for each in os.environ.items() if not own(each[0])), child, sorted(each for each in run("env").splitlines() if not own(each)),
    said(sys.stdin), said(sys.stdout), said(sys.stderr), locale.getpreferredencoding(), str(sys.flags),
    sys.getfilesystemencoding(), sys.warnoptions,
]))
print("\\u20ac")
"""
"""Tells what the environment makes of a program and of its children, and prints what not every encoding has."""
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
FORKING = """
import atexit, multiprocessing, os, threading, time
def late():
    print('late', os.getpid() == mine, flush=True)
def work(method): print(method, flush=True)
def lasts():
    time.sleep(0.1)
    print('waited for', flush=True)
mine = os.getpid()
if __name__ == '__main__':
    atexit.register(late)
    for method in ('fork', 'spawn'):
        child = multiprocessing.get_context(method).Process(target=work, args=(method,))
        child.start()
        child.join()
    threading.Thread(target=lasts).start()
"""
"""Has what is done at its end alone, and neither in a forked child nor before its threads are over."""
FILES = {
    "script.py": REPORT, "pkg/__init__.py": "", "pkg/__main__.py": REPORT, "pkg/sub/__init__.py": "",
    "pkg/sub/mod.py": REPORT, "pkg/relative.py": "from .sub import mod\nprint(mod.__name__)\n",
    "namespace/mod.py": REPORT, "folder/__main__.py": REPORT, "faulty/__main__.py": FAULTY,
    "guarded.py": GUARDED, "failing.py": FAILING, "pickled.py": PICKLED, "hinted.py": HINTED,
    "surrounded.py": SURROUNDED, "plain.py": PLAIN_ANNOTATIONS, "spawning.py": SPAWNING, "ending.py": ENDING, "forking.py": FORKING, "syntax.py": "def\n",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A program, as Python's command line has it and as `dap_run` has it."""

    name: str
    command: list[str]
    asked: Json
    args: list[str] = field(default_factory=lambda: ["a", "b c"])
    env: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return self.name


def file(name: str) -> Case:
    return Case(name, [name], {"program": name})


def module(name: str, *args: str) -> Case:
    case = Case(f"-m {name}", ["-m", name], {"module": name})
    return Case(case.name, case.command, case.asked, [*args]) if args else case


def code(name: str, text: str) -> Case:
    return Case(f"-c {name}", ["-c", text], {"code": text})


def surrounded(*options: str, **env: str) -> Case:
    name = " ".join([*options, *(f"{key}={value}" for key, value in env.items())])
    asked = {"program": "surrounded.py", "env": env, "config": {"pythonArgs": [*options]}}
    return Case(f"surrounded {name}".rstrip(), [*options, "surrounded.py"], asked, env=env)


CASES = [
    surrounded(), surrounded("-I", PYTHONIOENCODING="ascii"), surrounded("-E", "-W", "error"),
    surrounded(PYTHONIOENCODING="latin-1:replace", TERM="vt100"),
    surrounded(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
    file("script.py"), file("folder"), file("app.pyz"), file("linked/tool"), file("compiled.pyc"),
    file("failing.py"), file("pickled.py"), file("hinted.py"), file("plain.py"), file("spawning.py"),
    file("ending.py"), file("forking.py"), file("syntax.py"),
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


async def plainly(
    command: list[str], cwd: Path, env: dict[str, str]
) -> tuple[int | None, str, str]:
    """Run a program without a debugger; return its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=cwd, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**environment_for(cwd), **env},
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
        command = [*command[:-1], asked["program"]]
    async with asyncio.timeout(LIMIT), client(project) as c:
        plain, end = await asyncio.gather(
            plainly([*command, *case.args], project, case.env),
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
