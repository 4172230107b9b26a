"""Names of quirks, and what they mean."""

import pytest

from dapeer.adapters.definition.quirks import ExitCode, Quirks, deadly_signal
from dapeer.adapters.definition.table import DefinitionTable, read_toml
from dapeer.dap.messages import Request
from tests.programs import ROOT


@pytest.mark.parametrize(
    ("style", "code", "name"),
    [
        ("256-signal", 247, "SIGKILL"),
        ("256-signal", 245, "SIGSEGV"),
        ("256-signal", 0, None),
        ("256-signal", 255, None),
        ("signal", 11, "SIGSEGV"),
        ("signal", 1, None),
        ("plain", 9, None),
    ],
)
def test_an_exit_code_tells_the_signal_where_the_adapter_says_so(
    style: ExitCode, code: int, name: str | None
) -> None:
    assert deadly_signal(style, code) == name


@pytest.mark.parametrize(
    ("expression", "sent"),
    [
        ("$1", False), ("${1:-x}", False), ("$#", False), ("$@", False), ("${FUNCNAME[0]}", False), ("$LINENO", False),
        ("${#files[@]}", True), ("$total", True), ("${files[1]}", True), ("$LINENOS", True),
    ],
)  # fmt: skip
def test_what_bash_dap_would_answer_for_itself_is_refused(expression: str, sent: bool) -> None:
    path = ROOT / "adapters" / "bash-dap.toml"
    quirks = Quirks.read(DefinitionTable(path, "quirks", read_toml(path)["quirks"]))
    why = quirks.why_refused(Request(1, "evaluate", {"expression": expression}))
    assert bool(why) is not sent
