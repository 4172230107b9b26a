"""dapeer debugs with changed copies of debugpy, wherever a bare client does; `python -m tests.mutation` tries more of them."""

from pathlib import Path

import pytest

from tests.harness import ask, client
from tests.mutation import trial
from tests.mutation.mutants import Mutant
from tests.mutation.targets import targets
from tests.mutation.trial import debugs_bare, problem_with


def mutant(kind: str, owner: str, name: str) -> Mutant:
    return Mutant(kind, next(t for t in targets() if (t.owner, t.name) == (owner, name)))


@pytest.mark.parametrize(
    ("kind", "owner", "name"),
    [
        ("one more parameter, first", "FramesList", "__init__"),
        ("arguments given by keyword", "", "spawn_debuggee"),
        ("one more parameter, optional", "JsonIOStream", "_read_line"),
    ],
)
async def test_three_changes_that_once_stopped_all_debugging_do_so_no_more(
    kind: str, owner: str, name: str, tmp_path: Path
) -> None:
    assert mutant(kind, owner, name).make(tmp_path)
    bare = await debugs_bare(tmp_path)
    assert bare is not None
    assert bare.items() >= trial.LOCALS.items()
    assert await problem_with(tmp_path, bare) == ""


async def test_the_session_says_once_which_patch_is_off_and_what_is_lost(tmp_path: Path) -> None:
    assert mutant("one more parameter, first", "PyDB", "handle_breakpoint_condition").make(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(trial.PROGRAM)
    with trial.importing_from(tmp_path):
        async with client(tmp_path) as c:
            breakpoints = [{"filename": str(program), "line": trial.LINE}]
            first = await ask(c, "dap_run", program=str(program), breakpoints=breakpoints)
            again = await ask(c, "dap_step_over")
    said = "dapeer's patch `conditions` is off: A condition that raises NameError counts as false"
    assert [note.startswith(said) for note in first["notes"]] == [True]
    assert "notes" not in again
