"""Combinations that come twice where nearly all come once are odd; chance is not."""

import random

from dapeer.collecting.text.column_lines import rows_repeating_combinations
from dapeer.collecting.text.columns import Column, column


def columns(**cells: list[str]) -> dict[str, Column]:
    return {name: column(each) for name, each in cells.items()}


def numbers(count: int) -> list[str]:
    return [f"{each}" for each in range(1, count + 1)]


def grid() -> tuple[list[str], list[str], list[str]]:
    """Return a day, an id and an amount for each of 20 records of 30 days."""
    pairs = [(f"{day}", f"'c{each:03}'") for day in range(30) for each in range(20)]
    return [day for day, _ in pairs], [each for _, each in pairs], ["5"] * len(pairs)


def test_the_one_pair_that_comes_twice_is_told_with_what_differs() -> None:
    days, ids, amounts = grid()
    days.insert(300, "3")
    ids.insert(300, "'c006'")
    amounts.insert(300, "0")
    (odd,) = rows_repeating_combinations(columns(day=days, id=ids, amount=amounts), numbers(601))
    assert odd.index == 300
    assert odd.reason == "(day, id) = (3, 'c006') again, first in #67; amount 5 then 0"


def test_three_columns_that_are_a_key_together_are_combined() -> None:
    triples = [(f"{a}", f"{b}", f"{c}") for a in range(8) for b in range(9) for c in range(7)]
    first, second, third = (list(each) for each in zip(*triples, triples[77], strict=True))
    found = rows_repeating_combinations(columns(a=first, b=second, c=third), numbers(len(first)))
    assert [odd.index for odd in found] == [len(triples)]
    assert found[0].reason.startswith("(a, b, c) = (1, 2, 0) again, first in #78")


def test_what_repeats_by_chance_or_often_is_not_odd() -> None:
    days, ids, amounts = grid()
    assert not rows_repeating_combinations(columns(day=days, id=ids, amount=amounts), numbers(600))
    assert not rows_repeating_combinations(columns(day=days * 2, id=ids * 2), numbers(1200))
    drawn = random.Random(7)
    for domain in (20, 200, 20_000):
        one, other = ([f"{drawn.randrange(domain)}" for _ in range(1000)] for _ in range(2))
        assert not rows_repeating_combinations(columns(a=one, b=other), numbers(1000))
