"""Arguments that cannot be names, and errors that would repeat them: one short sentence, whatever the tool."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.harness import FAKE_PROGRAM, call, client, refusal, text


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("dap_run_to", {"filename": "", "line": 1}, "`filename` is empty."),
        ("dap_run", {"program": "a\0b"}, r"`program`: a\x00b contains a NUL character."),
        ("dap_set_function_breakpoints", {"names": [""]}, "`names` is empty."),
        (
            "dap_run",
            {"program": FAKE_PROGRAM, "breakpoints": [{"filename": "x" * 300, "line": 1}]},
            f"`breakpoints.filename`: {'x' * 200}… (300 chars) is too long for a name: 300 bytes.",
        ),
        ("dap_set_breakpoint", {"filename": "x" * 300, "line": 1}, "`filename`: xxx"),
        ("dap_run_to", {"filename": "x/" * 3000, "line": 1}, "`filename`: x/x/x/"),
        ("dap_set_function_breakpoints", {"names": ["f" * 200_000]}, "`names`: fff"),
        ("nvim_connect", {"target": "a\n\0"}, "`target`: a\n  \\x00 contains a NUL character."),
        ("nvim_connect", {"target": "x" * 9000}, "`target`: xxx"),
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


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "dap_set_breakpoint",
            {"filename": "a.py", "line": 1, "condition": f"x == '{'c' * 2_000_000}'"},
        ),
        ("dap_set_breakpoint", {"filename": "a.py", "line": 1, "log_message": "l" * 200_000}),
        ("dap_set_breakpoint", {"filename": "a.py", "line": 1, "hit_condition": "h" * 200_000}),
        ("dap_set_breakpoint", {"filename": "a.py", "line": 1, "collect": ["k" * 1900] * 10}),
        ("dap_set_breakpoint", {"function": "f" * 900}),
        ("dap_set_function_breakpoints", {"names": [f"{n}{'n' * 990}" for n in range(2000)]}),
        ("dap_set_exception_breakpoints", {"filters": ["e" * 200_000]}),
        ("dap_run", {"program": "p" * 200_000}),
        ("dap_run", {"program": f"{'/pppp' * 800}"}),
        ("dap_run", {"configuration": "c" * 200_000}),
        ("dap_run", {"type": "t" * 200_000}),
        ("dap_source", {"filename": f"/{'s' * 250}" * 12}),
        ("dap_evaluate", {"expressions": ["x" * 200_000] * 20}),
        ("dap_variables", {"path": "v" * 200_000}),
        ("dap_collected", {"where": "w" * 200_000, "at": "a" * 200_000}),
        ("dap_request", {"command": "r" * 200_000}),
    ],
)
async def test_what_a_caller_has_sent_is_repeated_in_short(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    tmp_path.joinpath("a.py").write_text("x = 1\n")
    async with client(tmp_path) as c:
        answers = [await call(c, tool, **arguments)]
        answers += [await call(c, each) for each in ("dap_breakpoints", "dap_status")]
        for answer in answers:
            told = f"{text(answer)}{answer.structured_content}"
            assert len(told) < 25_000
            assert not re.search(r"(.)\1{250}|(/pppp){60}", told)


async def test_a_start_repeats_in_short_what_was_set_before(tmp_path: Path) -> None:
    tmp_path.joinpath("a.py").write_text("x = 1\n")
    async with client(tmp_path) as c:
        await call(
            c, "dap_set_function_breakpoints", names=[f"{n}{'n' * 990}" for n in range(2000)]
        )
        await call(c, "dap_set_breakpoint", function="f" * 900)
        await call(c, "dap_set_exception_breakpoints", filters=["e" * 2000] * 50)
        answer = await call(c, "dap_run", program="a.py")
    told = f"{text(answer)}{answer.structured_content}"
    assert len(told) < 25_000
    assert not re.search(r"(.)\1{250}", told)
