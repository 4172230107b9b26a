"""The ring of output: bounded, and read by cursors that never lie."""

import random

import pytest

from dapeer.mirror.output import PIECE_CHARS, Category, OutputLog

CATEGORIES: tuple[Category, ...] = ("stdout", "stderr", "console")


class Model:
    """What an output log means, as simply as it can be said: a list of characters."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.all: list[tuple[str, str]] = []

    def append(self, category: Category, text: str) -> None:
        self.all += [(category, character) for character in text]

    @property
    def start(self) -> int:
        return max(0, len(self.all) - self.limit)

    def read(self, since: int, category: str) -> tuple[str, int, int]:
        kept = self.all[max(since, self.start) :]
        text = "".join(char for known, char in kept if category in ("all", known))
        return text, len(self.all), max(0, self.start - since)


@pytest.mark.parametrize("seed", range(30))
def test_a_log_is_what_a_plain_list_of_characters_is(seed: int) -> None:
    chance = random.Random(seed)
    limit = chance.choice((1, 7, 100, 500))
    log, model = OutputLog(limit), Model(limit)
    for _ in range(200):
        category = chance.choice(CATEGORIES)
        text = "".join(chance.choices("ab\n\r🐢", k=chance.choice((0, 1, 3, 50, 600))))
        log.append(category, text, arrived_at=chance.random() * 3)
        model.append(category, text)
        since, wanted = chance.randint(0, log.end + 2), chance.choice(("all", *CATEGORIES))
        output = log.read(since, wanted)
        assert (output.text, output.cursor, output.dropped) == model.read(since, wanted)
    assert log.start == model.start
    assert log.lines == sum(char == "\n" for _, char in model.all)


@pytest.mark.parametrize("seed", range(10))
def test_one_who_reads_on_by_cursor_misses_nothing_and_sees_nothing_twice(seed: int) -> None:
    chance = random.Random(seed)
    log, whole, read, cursor = OutputLog(10_000), "", "", 0
    for number in range(500):
        text = f"{number}" * chance.randint(0, 3)
        log.append(chance.choice(CATEGORIES), text)
        whole += text
        if chance.random() < 0.3:
            output = log.read(cursor)
            read, cursor = read + output.text, output.cursor
            assert output.dropped == 0
    assert read + log.read(cursor).text == whole


def test_a_log_keeps_its_last_characters_and_counts_those_it_dropped() -> None:
    log = OutputLog(limit=10)
    log.append("stdout", "0123456789")
    log.append("stderr", "abc")
    assert log.start == 3
    assert log.read().text == "3456789abc"
    assert (log.read().dropped, log.read(since=2).dropped, log.read(since=3).dropped) == (3, 1, 0)


def test_one_text_larger_than_the_log_is_cut_at_its_start() -> None:
    log = OutputLog(limit=5)
    log.append("stdout", "0123456789")
    assert (log.read().text, log.end, log.start) == ("56789", 10, 5)


def test_line_ends_are_counted_also_when_they_are_dropped() -> None:
    log = OutputLog(limit=3)
    log.append("stdout", "a\nb\nc\n")
    assert log.lines == 3


def test_a_category_leaves_out_the_others_and_no_character_of_its_own() -> None:
    log = OutputLog()
    log.append("stdout", "one ")
    log.append("stderr", "oops ")
    log.append("stdout", "two")
    assert log.read(category="stdout").text == "one two"
    assert log.read(since=2, category="stdout").text == "e two"
    assert log.read(since=6, category="stderr").text == "ps "
    assert log.read(category="console").text == ""


def test_a_cursor_beyond_the_end_reads_nothing() -> None:
    log = OutputLog()
    log.append("stdout", "abc")
    assert (log.read(since=99).text, log.read(since=99).cursor) == ("", 3)


def test_an_empty_text_leaves_no_trace() -> None:
    log = OutputLog()
    log.append("stdout", "")
    assert (log.end, list(log.pieces())) == (0, [])


def test_what_comes_together_becomes_one_piece() -> None:
    log = OutputLog()
    for number in range(5):
        log.append("stdout", str(number), arrived_at=10.2)
    assert [(p.start, p.text, p.time) for p in log.pieces()] == [(0, "01234", 10.2)]


def test_a_piece_ends_where_the_category_or_the_second_does_or_when_it_is_full() -> None:
    log = OutputLog()
    log.append("stdout", "a", arrived_at=10.1)
    log.append("stderr", "b", arrived_at=10.2)
    log.append("stderr", "c", arrived_at=11.0)
    log.append("stderr", "d" * PIECE_CHARS, arrived_at=11.1)
    assert [(p.category, p.text[0], p.time) for p in log.pieces()] == [
        ("stdout", "a", 10.1),
        ("stderr", "b", 10.2),
        ("stderr", "c", 11.0),
        ("stderr", "d", 11.1),
    ]


def test_reading_from_the_middle_of_a_piece_cuts_it_and_not_the_log() -> None:
    log = OutputLog()
    log.append("stdout", "0123456789")
    [cut] = log.pieces(since=4)
    assert (cut.start, cut.text, cut.end) == (4, "456789", 10)
    assert log.read().text == "0123456789"


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        ((), ""),
        (("one\ntwo\n",), "two"),
        (("one\n", "\n  \n"), "one"),
        (("one\ntw",), "tw"),
        (("\n\n",), ""),
    ],
)
def test_the_last_line_is_the_newest_that_is_not_blank(texts: tuple[str, ...], line: str) -> None:
    log = OutputLog()
    for text in texts:
        log.append("stdout", text)
    assert log.last_line() == line


def test_the_last_line_is_found_behind_blank_output_of_another_category() -> None:
    log = OutputLog()
    log.append("stdout", "the result\n")
    log.append("stderr", "\n")
    assert log.last_line() == "the result"


def test_whether_there_is_more_of_a_category_is_told_without_reading_it() -> None:
    log = OutputLog()
    log.append("stdout", "abc")
    log.append("stderr", "de")
    assert log.has(0, "stdout")
    assert not log.has(3, "stdout")
    assert log.has(4)
    assert not log.has(5)


def test_a_line_is_open_until_its_end_has_come() -> None:
    log = OutputLog()
    assert log.ends_line
    log.append("stdout", "half")
    assert not log.ends_line
    log.append("stdout", "\n")
    assert log.ends_line
