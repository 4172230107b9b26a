"""The table of the help that says what each tool asks for: `python -m tools.consent_table` writes it into doc/dapeer.txt."""

import itertools
import textwrap
from collections.abc import Iterator

from tests.programs import ROOT
from tools import known_answers
from tools.pages import OFF, lua_tools

TABLE = {tool.name: tool.kinds for tool in known_answers.EVERY if tool.kinds}
"""The tools that do more than look, with the kinds of their calls."""
HELP = ROOT / "doc" / "dapeer.txt"
BEGIN, END = "    Tool, and what makes it more ~\n", "\nAll other tools only read."
KINDS = 41
"""The column at which kinds begin."""
WIDTH = 78


def lines() -> Iterator[str]:
    """Yield the table: each tool with what it always asks for, and below it what adds to that."""
    for counts in dict.fromkeys(TABLE.values()):
        alike = ", ".join(name for name, each in TABLE.items() if each == counts)
        always = ", ".join(counts.for_every_call) or "-"
        yield from _row(f"  {alike}", f"{always}{f' ({counts.remark})' if counts.remark else ''}")
        for case in counts.cases:
            yield from _row(f"    {case.words}", ", ".join(case.adds))
    for one in lua_tools():
        if one.kinds and one.group not in OFF:
            when = f" (with `{one.action_when}`)" if one.action_when else ""
            yield from _row(f"  nvim_{one.name}", f"{', '.join(one.kinds)}{when}")
    yield from _row("  nvim_exec_lua", "run, evaluate, write (only with tools.exec)")
    yield from _row("  your own tools", "what their `action` says; else run, evaluate, write")


def _row(left: str, right: str) -> Iterator[str]:
    indent = left[: len(left) - len(left.lstrip())]
    lefts = textwrap.wrap(left, KINDS - 2, subsequent_indent=indent)
    rights = textwrap.wrap(right, WIDTH - KINDS)
    for one, two in itertools.zip_longest(lefts, rights, fillvalue=""):
        yield f"{one:<{KINDS}}{two}".rstrip()


def main() -> None:
    """Write it."""
    text = HELP.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, "the help has no place for the table"
    HELP.write_text(before + BEGIN + "\n".join(lines()) + "\n" + END + after, "utf-8")


if __name__ == "__main__":
    main()
