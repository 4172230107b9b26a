"""The page of answers, made from answers of once."""

import re

from tests.programs import ROOT
from tools.answers.page import alike, page, section, told_in
from tools.answers.read import before
from tools.answers.scenarios import SCENARIOS

SHOWN = (ROOT / "docs" / "answers.md").read_text("utf-8")


def test_a_page_shows_each_answer_below_its_call_and_how_much_it_is() -> None:
    made = page(SCENARIOS, before(), before())
    for scenario in SCENARIOS:
        shown = told_in(made, scenario)
        read = before()[scenario.name]
        assert shown.startswith(f"## {scenario.name[0].upper()}{scenario.name[1:]}\n"), shown
        assert f"    → {read.call}\n    {read.text.splitlines()[0]}\n" in shown
        assert alike(shown, section(scenario, read))
    assert "| total | 6,438 | 7,492 | 6,438 | 1.00 | 0.86 |" in made


def test_the_ten_answers_are_at_most_two_thirds_of_those_of_once() -> None:
    total = re.search(r"^\| total \| ([\d,]+) \| [\d,]+ \| ([\d,]+) \|", SHOWN, re.MULTILINE)
    assert total
    before, now = (int(each.replace(",", "")) for each in total.groups())
    assert 3 * now <= 2 * before
