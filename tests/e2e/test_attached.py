"""What is attached to lives, and runs as fast as before, whatever ends its debugger: a part of the table in test_attached_lives.py."""

from pathlib import Path

import pytest

from tests.e2e.attached import named, outlives


@pytest.mark.parametrize(
    ("adapter", "phase", "end"),
    [
        ("debugpy", "stopped", "client gone"),
        ("gdb", "stopped", "server killed"),
        ("lldb-dap", "running", "client gone"),
        ("delve", "stopped", "server terminated"),
        ("jdi", "evaluating", "server killed"),
        ("js-debug", "running", "server killed"),
    ],
)
async def test_an_attached_program_lives_and_is_as_fast_as_before(
    adapter: str, phase: str, end: str, tmp_path: Path
) -> None:
    await outlives(named(adapter), phase, end, tmp_path)
