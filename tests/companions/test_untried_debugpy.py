"""A debugpy that was not tried: a patch is on where the code that it replaces is as it was, else off and named."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness import ask, client, refusal
from tests.mutation.targets import FOLDER
from tests.mutation.trial import importing_from
from tools import patch_digests

PROGRAM = "x = 2\nprint(x)\n"


def later_debugpy(folder: Path) -> Path:
    """Make a copy of debugpy in a folder that says of itself to be a version later than all that were tried."""
    copy = folder / "debugpy"
    shutil.copytree(FOLDER, copy, copy_function=os.link)
    rewrite(copy / "_version.py", '"version": "1.8.', '"version": "1.8.9')
    (folder / "program.py").write_text(PROGRAM)
    return copy


def rewrite(path: Path, before: str, after: str) -> None:
    """Replace a text in a copied file, which is the installed one, too."""
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.unlink()
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


async def run(folder: Path) -> Mapping[str, Any]:
    program = str(folder / "program.py")
    with importing_from(folder):
        async with client(folder) as c:
            place = {"filename": program, "line": 2}
            return await ask(c, "dap_run", program=program, breakpoints=[place])


async def test_all_patches_are_on_in_a_later_debugpy_with_the_same_code(tmp_path: Path) -> None:
    later_debugpy(tmp_path)
    stop = await run(tmp_path)
    assert stop["locals"] == {"x": "2"}
    assert "notes" not in stop


async def test_a_patch_of_code_that_has_changed_is_off_and_named(tmp_path: Path) -> None:
    copy = later_debugpy(tmp_path)
    module = copy / "_vendored" / "pydevd" / "pydevd.py"
    place = "def handle_breakpoint_condition(self, info, pybreakpoint, new_frame):\n"
    rewrite(module, place, f"{place}        info = info\n")
    stop = await run(tmp_path)
    assert stop["line"] == 2
    [note] = stop["notes"]
    assert note.startswith("dapeer's patch `conditions` is off")
    assert "is not as in debugpy 1.8.22, the last that it was tried with" in note


async def test_nothing_starts_where_a_patch_that_secures_debugpy_does_not_fit(
    tmp_path: Path,
) -> None:
    copy = later_debugpy(tmp_path)
    module = copy / "common" / "sockets.py"
    rewrite(module, "Returns the created server socket.", "Returns the server socket.")
    program = str(tmp_path / "program.py")
    with importing_from(tmp_path):
        async with client(tmp_path) as c:
            said = await refusal(c, "dap_run", program=program)
    assert "its patch `ports-for-us` does not fit" in said
    assert "Install the version that works: pip install debugpy==1.8.22" in said


def test_the_digests_are_those_of_the_installed_debugpy() -> None:
    found = patch_digests.digests_of_installed()
    assert patch_digests.text_with(found) == patch_digests.FILE.read_text(encoding="utf-8")
