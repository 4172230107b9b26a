"""An assistant at work: it calls tools and reads their text, and its calls are counted."""

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from tests.harness import ask, call, client, text

PATIENCE_MS = 90_000
"""Real programs start slowly, the first time on a machine above all."""


class Assistant:
    """Reads what a model would read."""

    def __init__(self, connected: Client, project: Path) -> None:
        self.project = project
        self._client = connected
        self.calls = 0

    async def read(self, tool: str, **arguments: object) -> str:
        """Call a tool that must succeed, and return its text."""
        self.calls += 1
        result = await call(self._client, tool, **arguments)
        assert not result.is_error, text(result)
        return text(result)

    async def run(self, **arguments: object) -> str:
        """Start a program, and return what the model reads of its first stop."""
        return await self.read("dap_run", **{"timeout_ms": PATIENCE_MS, **arguments})

    async def until_printed(self, word: str) -> str:
        """Wait until the program has printed a word; return all that it has printed."""
        so_far, cursor = "", 0
        while word not in so_far:
            more = await ask(self._client, "dap_program_output", since=cursor, wait_ms=PATIENCE_MS)
            so_far, cursor = so_far + more["text"], more["cursor"]
            assert more["text"] or not more["ended"], f"ended without {word!r}: {so_far}"
        return so_far


@asynccontextmanager
async def assistant(project: Path) -> AsyncGenerator[Assistant]:
    """Work in a project, as if the server had been started there."""
    async with client(project) as connected:
        yield Assistant(connected, project)


def broken(original: Path, copy: Path, file: str, good: str, bad: str) -> Path:
    """Copy software, and make the first `good` of a file `bad`, which is new there; return the file."""
    shutil.copytree(original, copy, copy_function=_linked, dirs_exist_ok=True)
    path = copy / file
    code = path.read_text(encoding="utf-8", errors="surrogateescape")
    assert good in code, f"{file} holds no {good!r}"
    assert bad not in code, f"{file} holds {bad!r} already"
    path.unlink()
    path.write_text(code.replace(good, bad, 1), encoding="utf-8", errors="surrogateescape")
    return path


def _linked(source: str, target: str) -> str:
    """Copy a file of the cache for as long as nobody writes to it, at no cost."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target


def line_of(path: Path, text: str) -> int:
    """Return the 1-based number of the only line that holds a text."""
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    assert len(found) == 1, f"{path.name} holds {text!r} on lines {found}"
    return found[0]


def run(folder: Path, *command: str) -> None:
    """Run a step of a build."""
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
