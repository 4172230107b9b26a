"""What log points say is found in any stream of output, however it is cut into pieces."""

import itertools

from dapeer.adapters.process.log_points import LogPointReader, LogPoints
from dapeer.dap.messages import Body, Request

PATH = "/project/a.py"


def points(*messages: str) -> tuple[LogPoints, list[str]]:
    """Return log points at the lines 1, 2, …, and what their adapter was sent."""
    log_points = LogPoints()
    wanted = [{"line": n, "logMessage": text} for n, text in enumerate(messages, 1)]
    asked: Body = {"source": {"path": PATH}, "breakpoints": wanted}
    sent = log_points.with_marks(Request(1, "setBreakpoints", asked))
    assert [each["logMessage"] for each in wanted] == [*messages], "what was asked for stays"
    return log_points, [each["logMessage"] for each in sent.arguments["breakpoints"]]


def read(reader: LogPointReader, *pieces: str, **more: object) -> list[tuple[str, int | None]]:
    """Return what becomes of output: text, and line of the log point; ordinary text joined."""
    bodies = [
        body
        for piece in pieces
        for body in reader.read({"category": "stdout", "output": piece, **more})
    ]
    told = [(body["output"], body.get("line")) for body in [*bodies, *reader.take_held()]]
    joined: list[tuple[str, int | None]] = []
    for line, group in itertools.groupby(told, lambda each: each[1]):
        texts = [text for text, _ in group]
        joined += [(text, line) for text in (texts if line else ["".join(texts)])]
    return joined


def test_messages_are_told_apart_wherever_their_stream_is_cut() -> None:
    log_points, (one, two) = points("one\nof two lines", "me@host")
    printed = f"a@b {one}\n@{two}\r\n{one}rest\n{log_points.mark}.7"
    expected = [
        ("a@b ", None), ("one\nof two lines", 1), ("@", None), ("me@host", 2),
        ("one\nof two lines", 1), (f"rest\n{log_points.mark}.7", None),
    ]  # fmt: skip
    for cut in range(len(printed) + 1):
        assert read(LogPointReader(log_points), printed[:cut], printed[cut:]) == expected
    assert read(LogPointReader(log_points), *printed) == expected


def test_an_adapter_that_says_where_its_output_comes_from_is_left_its_words() -> None:
    log_points, (one,) = points("one")
    assert read(LogPointReader(log_points), f"> [Go 1]: {one}\n", line=9) == [
        ("> [Go 1]: one\n", 1)
    ]


def test_a_message_that_never_ends_is_told_when_it_has_become_too_long() -> None:
    log_points, (one,) = points("one")
    begun = one[: -len(f"{log_points.mark}@")] + "x" * 70_000
    reader = LogPointReader(log_points)
    assert [body["output"] for body in reader.read({"output": begun})] == [begun]


def test_without_log_points_nothing_is_held_back() -> None:
    reader = LogPointReader(LogPoints())
    assert [body["output"] for body in reader.read({"output": "me@"})] == ["me@"]
