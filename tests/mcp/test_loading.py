"""What a server loads is the MCP library as it is; its models are built when they are first used."""

import subprocess
import sys

from tests.processes import LIMIT

CODE = """
from dapeer.mcp import loading
with loading.quickly(), loading.models_when_used():
    import dapeer.mcp.serving
import gc
import mcp.types as t
from pydantic import BaseModel

class Ours(BaseModel):
    value: int

print(gc.isenabled(), Ours.__pydantic_complete__, t.ReadResourceResult.__pydantic_complete__)
read = t.ReadResourceResult(contents=[t.TextResourceContents(uri="x:y", text="z")])
print(read.model_dump(by_alias=True, exclude_unset=True))
print(t.ReadResourceResult.__pydantic_complete__)
import mcp
print(mcp.Client.__name__, mcp.types is t)
"""
TOLD = """\
True True False
{'contents': [{'uri': 'x:y', 'text': 'z'}]}
True
Client True
"""


def test_a_model_of_the_library_is_built_at_its_first_use_and_all_of_it_can_be_had() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert (done.stdout, done.stderr) == (TOLD, "")
