"""Arguments that cannot be names, and errors that would repeat them: one short sentence, whatever the tool."""

from typing import Any

import pytest

from tests.harness import FAKE_PROGRAM, client, refusal


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("dap_run", {"module": ""}, "`module` is empty."),
        ("dap_run", {"program": "a\0b"}, "`program` contains a NUL character."),
        ("dap_run", {"program": FAKE_PROGRAM, "cwd": ""}, "`cwd` is empty."),
        (
            "dap_run",
            {"program": FAKE_PROGRAM, "breakpoints": [{"filename": "x" * 300, "line": 1}]},
            "`breakpoints.filename` is too long for a name: 300 bytes.",
        ),
        ("dap_set_breakpoint", {"filename": "x" * 300, "line": 1}, "`filename` is too long"),
        ("dap_run_to", {"filename": "x/" * 3000, "line": 1}, "`filename` is too long"),
        ("dap_set_function_breakpoints", {"names": ["f" * 200_000]}, "`names` is too long"),
        ("nvim_connect", {"target": "\0"}, "`target` contains a NUL character."),
        ("nvim_connect", {"target": "x" * 9000}, "`target` is too long"),
        ("dap_evaluate", {"expression": "1", "y" * 200_000: 1}, "Unknown argument `yyy"),
    ],
)
async def test_what_can_be_no_name_is_refused_at_once(
    tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with client() as c:
        sentence = await refusal(c, tool, **arguments)
        assert said in sentence
        assert len(sentence) < 5000
