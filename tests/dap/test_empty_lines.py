"""Breakpoints that are moved to a line with code, and what a client is told of where they are."""

from dapeer.dap.empty_lines import EmptyLineFilter
from dapeer.dap.messages import Request, Response


def test_an_answer_without_lines_gets_those_that_were_asked_for() -> None:
    moves = EmptyLineFilter(lambda _path, line: line + 1)
    asked = {
        "source": {"path": "a.x"},
        "breakpoints": [{"line": 3}, {"instructionReference": "0x1"}],
    }
    moves.adapt(Request(7, "setBreakpoints", asked))
    answer = Response(
        7, "setBreakpoints", success=True, body={"breakpoints": [{"id": 1}, {"id": 2}]}
    )
    (told,) = moves.normalize(answer)
    assert isinstance(told, Response)
    assert told.body["breakpoints"] == [{"line": 4, "id": 1}, {"id": 2}]


def test_a_request_with_the_old_lines_alone_stays_as_it_is() -> None:
    request = Request(7, "setBreakpoints", {"source": {"path": "a.x"}, "lines": [3]})
    assert EmptyLineFilter(lambda _path, line: line + 1).adapt(request) is request
