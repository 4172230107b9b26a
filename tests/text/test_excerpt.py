"""The lines that a stop shows are those of its function."""

import pytest

from dapeer.base.text.source_lines import lines_of_function

METHODS = """\
    def take(self):
        return self.queue.pop()

    def put_back(self, items):
        for item in items:
            self.queue.append(item)

    def close(self):
        pass""".splitlines()
TOP_LEVEL = """\
int total(void) {
    int sum = 0;

    return sum;
}

int main(void) {
    return total();
}""".splitlines()


@pytest.mark.parametrize(
    ("lines", "line", "function", "kept"),
    [
        (METHODS, 15, "Stream.put_back", (13, METHODS[3:6])),
        (METHODS, 15, "block in Stream#put_back(items)", (13, METHODS[3:6])),
        # It may be a nested block that begins after the blank line.
        (METHODS, 15, "<lambda>", (13, METHODS[3:])),
        (TOP_LEVEL, 11, "total(void)", (10, TOP_LEVEL[:5])),
        (TOP_LEVEL, 13, "total(void)", (11, TOP_LEVEL[1:5])),
        (TOP_LEVEL, 17, "main", (16, TOP_LEVEL[6:])),
        (["", "a = 1", "", "b = 2", "", ""], 13, "<module>", (11, ["a = 1", "", "b = 2"])),
        (["", "", ""], 11, "f", (11, [""])),
        (["only"], 99, "f", (10, ["only"])),
    ],
)  # fmt: skip
def test_what_is_anothers_is_left_out(
    lines: list[str], line: int, function: str, kept: tuple[int, list[str]]
) -> None:
    assert lines_of_function(10, lines, line, function) == kept


def test_a_line_that_calls_the_function_itself_is_not_its_head() -> None:
    lines = ["def walk(node):", "    if walk(node.left):", "        return node"]
    assert lines_of_function(1, lines, 3, "walk") == (1, lines)
