"""Steps that are followed by `sys.monitoring`: what one thread's step needs is not switched off by another's."""

import subprocess

from tests.programs import ROOT
from tests.pythons import python_of

TWO_STEPS = """
import sys, types
from dapeer_debuggee.stops import unwinding

def generator():
    yield 1

def step():
    return types.SimpleNamespace(hidden=None, value_giver_code=generator.__code__, events_by_code={})

monitor = unwinding.Monitor(types.SimpleNamespace(guard=lambda called, _: called))
first, second = step(), step()
monitor.begin(first)
monitor.begin(second)
tool = next(each for each in unwinding.TOOLS if sys.monitoring.get_tool(each) == unwinding.NAME)
both = sys.monitoring.events.PY_RETURN | sys.monitoring.events.PY_YIELD
for step, left in ((first, both), (second, 0)):
    monitor.end(step)
    if sys.monitoring.get_tool(tool) is None:
        sys.monitoring.use_tool_id(tool, "test")
    assert sys.monitoring.get_local_events(tool, generator.__code__) == left
"""


def test_the_end_of_a_step_leaves_another_threads_step_in_the_same_code() -> None:
    folder = ROOT / "server" / "dapeer" / "companions" / "python"
    subprocess.run([python_of("3.12"), "-c", TWO_STEPS], cwd=folder, check=True)
