"""What is attached to lives, and runs as fast as before, whatever ends its debugger: all of the table."""

from pathlib import Path

import pytest

from tests.e2e.attached import DEBUGGED, ENDS, PHASES, Debugged, outlives


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("debugged", DEBUGGED, ids=str)
async def test_an_attached_program_lives_and_is_as_fast_as_before(
    debugged: Debugged, phase: str, end: str, tmp_path: Path
) -> None:
    await outlives(debugged, phase, end, tmp_path)
