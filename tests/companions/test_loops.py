"""What event loops have caught is shown at frames, also where those are gone."""

import subprocess

import pytest

from dapeer.adapters.definition.table import COMPANIONS
from tests.matrix.interpreters import chosen
from tests.processes import LIMIT
from tests.pythons import python_of

STEP = """
import sys
sys.path.insert(0, sys.argv[1])
from dapeer_debuggee.exceptions import loops
step = loops.make_generator_at("half", "shop.py", 12)
frame = step.gi_frame
print(frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno, frame.f_locals, frame.f_back)
"""


@pytest.mark.parametrize("version", chosen())
def test_a_frame_that_is_gone_has_its_place_and_runs_nothing(version: str) -> None:
    command = [python_of(version), "-c", STEP, str(COMPANIONS / "python")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout == "half shop.py 12 {} None\n"
