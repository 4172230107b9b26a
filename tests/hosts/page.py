"""What `docs/hosts.md` says that a host puts before its model, and what a test has seen there."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from dapeer.mcp.server.instructions import INSTRUCTIONS
from tests.json_types import Json
from tests.programs import ROOT

PAGE = ROOT / "docs" / "hosts.md"

COMMAND = (sys.executable, "-P", "-m", "dapeer", "stdio", "--no-bridge", "--nvim", "none")
"""How a host starts our server. With `--data` its results have data, too."""
RESULT = "dap_status"
TEXT = "No debug sessions. Start one with dap_run.\nBreakpoints: 0."
DATA: Json = {"sessions": [], "breakpoints": 0}
"""What this tool answers at first."""
REFUSED = "dap_step_over"
REFUSAL = "There is no debug session. Start one with dap_run."


def row(host: str) -> Sequence[str]:
    """Return the cells of a host: its version, and what is told of a result, with data, of a refusal, and of our instructions."""
    rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    )
    return next(cells[1:] for cells in rows if cells[0] == host)


def shown(told: str) -> str:
    """Say what of the result of `RESULT` somebody was told."""
    if told == TEXT:
        return "its text"
    return "its data as JSON, without the text" if _json(told) == DATA else repr(told)


def refusal(told: str, *, marked: bool) -> str:
    """Say what somebody was told of the call of `REFUSED`."""
    if not told.endswith(REFUSAL):
        return repr(told)
    before = told.removesuffix(REFUSAL)
    return f"its text{f' after `{before.strip()}`' if before else ''}{', marked as an error' if marked else ''}"


def instructed(messages: Sequence[Json]) -> str:
    """Say whether a model was told our instructions, however they were laid out."""
    told = ("".join(one["content"].split()) for one in messages)
    return "yes" if any("".join(INSTRUCTIONS.split()) in one for one in told) else "no"


def _json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except ValueError:
        return None
