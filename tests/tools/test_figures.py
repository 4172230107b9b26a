"""The figures of the code count what they say."""

from tools.figures import code_lines

MODULE = '''\
"""A module."""

A = 1  # why
"""A constant."""
# alone
B = (
    2,
)
'''


def test_docstrings_comments_and_empty_lines_are_no_lines_of_code() -> None:
    assert sorted(code_lines(MODULE)) == [3, 6, 7, 8]
