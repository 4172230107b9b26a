"""What reading the definitions of all adapters costs at a start: as dapeer reads them, and with pydantic's models.

`uv run python -m tools.bench.definitions` prints milliseconds of the processor's time, the least of several fresh
processes. pydantic's models are made of the very classes that dapeer reads, so both know the same keys.
"""

import json
import subprocess
import sys
from collections.abc import Mapping

ROUNDS = 15

OURS = """
from dapeer.adapters.definition.definition import load_all, shipped
step("import")
load_all(shipped())
step("read and check")
"""
"""A start that needs no MCP: `dapeer adapters`, `dapeer doctor`."""

PYDANTIC = """
import dataclasses
from dapeer.adapters.definition.definition import load_all, shipped
read = [dataclasses.asdict(each) for each in load_all(shipped()).values()]
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.sections import Stopping
Definition.__pydantic_config__ = Stopping.__pydantic_config__ = dict(arbitrary_types_allowed=True)
if {served}:
    import mcp.server.lowlevel, pydantic.fields
step("")
import pydantic
from pydantic import TypeAdapter
step("import pydantic")
models = TypeAdapter(Definition)
step("build the models")
for each in read:
    models.validate_python(each)
step("check")
"""

STEPS = """
import json, sys, time
taken, last = {}, time.process_time()
def step(name):
    global last
    taken[name] = (time.process_time() - last) * 1000
    last = time.process_time()
"""


def measured(code: str) -> Mapping[str, float]:
    """Return the milliseconds of each step, the least of all rounds."""
    told = f"{STEPS}\n{code}\nprint(json.dumps(taken))"
    rounds = [
        json.loads(subprocess.run([sys.executable, "-c", told], check=True, capture_output=True).stdout)
        for _ in range(ROUNDS)
    ]  # fmt: skip
    return {name: min(each[name] for each in rounds) for name in rounds[0] if name}


def main() -> None:
    """Print a line for each way."""
    for name, code in (
        ("dapeer's own tables", OURS),
        ("pydantic, nothing else loaded", PYDANTIC.format(served=False)),
        ("pydantic, with the MCP SDK loaded", PYDANTIC.format(served=True)),
    ):
        taken = ", ".join(f"{step} {ms:.1f}" for step, ms in measured(code).items())
        sys.stdout.write(f"{name}: {taken} ms\n")


if __name__ == "__main__":
    main()
