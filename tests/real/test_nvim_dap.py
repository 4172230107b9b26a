"""nvim-dap's own specs, in a Neovim that has dapeer's plugin and a core."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.matrix.nvim_dap import PINNED
from tests.neovim.editor import EDITOR_MARK, NVIM, nvim_dap
from tests.processes import command_line, process_gone, processes_of
from tests.programs import ROOT
from tests.real.software import package

SECONDS = 180
ATTEMPTS = 3
"""Some specs fail now and then without dapeer, too: repl_spec:145, server_executable_spec:63,
and integration_spec:1437 and 1469 when they run for the first time."""

FAILED = re.compile(r"^(?:Failure|Error) -> (\S+) @ \d+", re.MULTILINE)
COUNTED = re.compile(r"^(\d+) successes / (\d+) failures? / (\d+) errors?", re.MULTILINE)


@pytest.mark.parametrize("version", ["pinned", "installed"])
async def test_nvim_dap_s_own_specs_pass_with_a_core_attached(tmp_path: Path, version: str) -> None:
    package("lua-busted")
    clone = _clone(tmp_path / "nvim-dap", version)
    said, specs = "", ["spec"]
    for _ in range(ATTEMPTS):
        said = await _run(clone, tmp_path, specs)
        assert COUNTED.search(said), said
        specs = sorted(set(FAILED.findall(said)))
        if not specs:
            return
    pytest.fail(f"{ATTEMPTS} times in a row: {said}")


def _clone(folder: Path, version: str) -> Path:
    """Clone nvim-dap as it is installed, or as it was when the specs were seen to pass."""
    subprocess.run(["git", "clone", "-q", str(nvim_dap()), folder], check=True, capture_output=True)
    git = ["git", "-C", folder]
    installed = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    if version == "pinned":
        found = subprocess.run([*git, "checkout", "-q", PINNED], check=False, capture_output=True)
        if found.returncode != 0:
            pytest.skip(f"needs commit {PINNED[:7]} in {nvim_dap()}: git fetch --unshallow")
    elif installed == PINNED:
        pytest.skip(
            "the pinned nvim-dap is installed: git pull gets a newer one, where there is one"
        )
    return folder


async def _run(clone: Path, tmp_path: Path, specs: Iterable[str]) -> str:
    """Run specs, and return what was said."""
    mark = uuid.uuid4().hex
    given = {
        "root": str(ROOT),
        "command": [sys.executable, "-m", "dapeer"],
        "specs": list(specs),
    }
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "STATE", "DATA")}
    # The spec of debugpy installs it into an environment of its own.
    others = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    process = await asyncio.create_subprocess_exec(
        *(str(NVIM), "-l", str(Path(__file__).with_name("nvim_dap_specs.lua"))),
        cwd=clone,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**others, **folders, "DAPEER_TEST_GIVEN": json.dumps(given), EDITOR_MARK: mark},
    )
    async with asyncio.timeout(SECONDS):
        said, _ = await process.communicate()
    for pid in processes_of(mark, EDITOR_MARK):
        # A spec of nvim-dap leaves the server that it has started, without dapeer, too.
        if "run_server.lua" in command_line(pid):
            os.kill(pid, signal.SIGKILL)
            await process_gone(pid)
    return said.decode(errors="replace")
