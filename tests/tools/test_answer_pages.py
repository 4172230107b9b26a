"""No answer of a debugging tool is longer than a model reads gladly; the rest comes page by page."""

import json
from pathlib import Path

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import MAX_ANSWER_CHARS, Page, limit_reply
from tests.tools.test_served import ALL, a_call

TOOLS = {tool.name: tool for tool in ALL}
THREADS = "\n".join(
    f"{number} Thread-{number} (running) at a.py:3 in wait" for number in range(2000)
)
WORDS = "\n".join(f"word {'x' * (number % 80)}" for number in range(2000))


def short(text: str, page: Page | None = None, *, folds: bool = True) -> str:
    return limit_reply(Reply(text), page or Page(), repeats=True, folds=folds).text


def test_lines_that_differ_in_numbers_alone_are_folded_where_an_answer_is_too_long() -> None:
    assert short(f"{THREADS}\nDeadlock:\n  thread a") == (
        "0 Thread-0 (running) at a.py:3 in wait\n  … and 1,999 lines like it (start=1)\nDeadlock:\n  thread a"
    )
    few = "\n".join(THREADS.splitlines()[:100])
    assert short(few) == few


def test_what_has_no_room_is_named_with_the_way_to_it_and_notes_stay() -> None:
    first = short(f"{WORDS}\n(a note)", folds=False)
    assert len(first) <= MAX_ANSWER_CHARS
    more, note = first.splitlines()[-2:]
    assert note == "(a note)"
    begin = int(more.rpartition("start=")[2].rstrip(")"))
    assert more == f"({2000 - begin:,} more lines: start={begin})"
    shown = first.splitlines()[:-2]
    while begin < 2000:
        page = short(WORDS, Page(begin), folds=False).splitlines()
        shown += [line for line in page if not line.startswith("(")]
        begin = len(shown)
    assert "\n".join(shown) == WORDS
    assert (
        short(WORDS, Page(7, 2)) == f"word {'x' * 7}\nword {'x' * 8}\n(1,991 more lines: start=9)"
    )
    assert short("a", Page(5)) == "No more lines."


def test_a_line_that_only_begins_with_a_bracket_is_no_note() -> None:
    more, note = short(f"{WORDS}\n(x) = 3\n(a note)", folds=False).splitlines()[-2:]
    assert ("more lines" in more, note) == (True, "(a note)")


def test_one_endless_line_and_data_are_cut_too() -> None:
    reply = limit_reply(
        Reply("x" * 90_000, {"rows": ["y"] * 5000}), Page(), repeats=False, folds=False
    )
    assert len(reply.text) < MAX_ANSWER_CHARS
    assert len(json.dumps(reply.data)) < 100


def with_breakpoints(tmp_path: Path) -> Call:
    call = a_call()
    (tmp_path / "many.py").write_text("x = 1\n" * 5000)
    for line in range(1, 5001):
        call.debugger.breakpoints.add(str(tmp_path / "many.py"), {"line": line}, "")
    return call


async def test_five_thousand_breakpoints_are_listed_page_by_page(tmp_path: Path) -> None:
    tool, call = TOOLS["dap_breakpoints"], with_breakpoints(tmp_path)
    answer = (await tool(call, {})).text
    assert len(answer) < MAX_ANSWER_CHARS
    assert "lines like it (start=1)" in answer
    page = (await tool(call, {"start": 4998, "count": 2})).text
    assert [line.partition(" ")[0][-5:] for line in page.splitlines()] == [":4999", ":5000"]
    with pytest.raises(ArgumentError, match="`start`"):
        await tool(call, {"start": "two"})


@pytest.mark.parametrize("tool", ALL, ids=[tool.name for tool in ALL])
def test_what_changes_something_takes_no_page(tool: object) -> None:
    paged = getattr(tool, "_is_paged", False)
    assert not paged or (
        getattr(tool, "read_only", False) and str(getattr(tool, "name", "")).startswith("dap_")
    )
