"""docs/answers.md: the table, and every answer word for word. Pure."""

import re
from collections.abc import Mapping, Sequence

from tools.answers.normal import blurred
from tools.answers.read import Read
from tools.answers.scenarios import Scenario

INTRODUCTION = """\
# What the model reads

For everybody who wants to know what an assistant reads.

Ten moments of debugging, each told by one answer, with real adapters. Addresses and the project's folder are made
the same on every run. `uv run python -m tools.answers` makes this page; a test of the gallery (`tests/real`) checks it.

Before is commit 3b9f2cb: the text of an answer, and its structured content, which Claude Code showed its model in place of the
text. Now the text is all that there is. In bytes of UTF-8; the last two columns compare it with either.
"""

HEAD = ("", "before: text", "before: structured", "now", "now / text", "now / structured")


def page(scenarios: Sequence[Scenario], before: Mapping[str, Read], now: Mapping[str, Read]) -> str:
    """Return the page."""
    sections = [section(scenario, now[scenario.name]) for scenario in scenarios]
    return "\n".join([INTRODUCTION, table(before, now), "", *sections])


def table(before: Mapping[str, Read], now: Mapping[str, Read]) -> str:
    """Return the table of sizes, for those scenarios that are there now."""
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *rows(before, now)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rows(before: Mapping[str, Read], now: Mapping[str, Read]) -> list[tuple[str, ...]]:
    """Return the lines of the table and its total."""
    sizes = [(name, before[name].size, before[name].data_size, now[name].size) for name in now]
    total = ("total", *(sum(column) for column in list(zip(*sizes, strict=True))[1:]))
    return [
        (name, f"{old:,}", f"{data:,}", f"{new:,}", f"{new / old:.2f}", f"{new / data:.2f}")
        for name, old, data, new in [*sizes, total]
    ]


def section(scenario: Scenario, read: Read) -> str:
    """Return the part of the page that shows one answer.

    It is indented as code is: what is printed may hold backquotes.
    """
    told = "\n".join(f"    {line}".rstrip() for line in [f"→ {read.call}", *read.text.split("\n")])
    return f"## {_title(scenario.name)}\n\n{scenario.what}\n\n{told}\n"


def _title(name: str) -> str:
    return name[0].upper() + name[1:]


def told_in(page: str, scenario: Scenario) -> str:
    """Return the section of a scenario in a page."""
    found = re.search(
        rf"^## {re.escape(_title(scenario.name))}\n.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
    )
    return found[0] if found else ""


def alike(one: str, other: str) -> bool:
    """Return whether two sections differ by nothing but the machine."""
    return blurred(one).strip() == blurred(other).strip()
