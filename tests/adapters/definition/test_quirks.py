"""Names of quirks, and what they mean."""

import pytest

from dapeer.adapters.definition.quirks import ExitCode, deadly_signal


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
