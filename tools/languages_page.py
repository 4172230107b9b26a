"""The table of what works in which language, in docs/languages.md, made from what tests have shown.

`uv run python -m tools.languages_page FILE …` writes it from the files of runs with `--shown=FILE`; with `--check`
it fails where the page says something else. Without files it takes each cell without a reason as shown; CI, which has
the files of all suites, finds a cell that no test shows.
"""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.programs import ROOT
from tests.shown import COLUMNS, ROWS
from tools.pages import with_part

PAGE = ROOT / "docs" / "languages.md"
REASONS = ROOT / "tests" / "not_shown.toml"


def table(
    shown: set[tuple[str, str]],
    reasons: Mapping[str, Mapping[str, str]],
    limits: Mapping[str, str],
) -> str:
    """Return the table and its reasons; `limits` are what adapters do not do besides, by adapter.

    Raises:
        ValueError: A cell is neither shown nor has a reason, or both.
    """
    notes: list[str] = []
    lines = [
        f"| language | adapter | {' | '.join(COLUMNS)} |",
        f"|---|---|{'---|' * len(COLUMNS)}",
    ]
    problems: list[str] = []
    for row, (language, adapter) in ROWS.items():
        cells: list[str] = []
        for column in COLUMNS:
            reason = reasons.get(row, {}).get(column)
            if ((row, column) in shown) is (reason is not None):
                problems.append(
                    f"{row}: {column} is {'shown all the same' if reason else 'not shown'}"
                )
            if reason is not None and reason not in notes:
                notes.append(reason)
            cells.append("yes" if reason is None else f"no <sup>{notes.index(reason) + 1}</sup>")
        lines.append(f"| {language} | `{adapter}` | {' | '.join(cells)} |")
    if problems:
        raise ValueError("; ".join(problems))
    told = [f"{number}. {reason}" for number, reason in enumerate(notes, 1)]
    said = [f"- **{of}**: {limit}" for of, limit in limits.items()]
    return "\n".join(
        [*lines, "", "Why not:", "", *told, "", "What else an adapter does not do:", "", *said]
    )


def without_reason(reasons: Mapping[str, Mapping[str, str]]) -> set[tuple[str, str]]:
    """Return the cells that have no reason, which tests are to show."""
    cells = {(row, column) for row in ROWS for column in COLUMNS}
    return cells - {(row, column) for row, columns in reasons.items() for column in columns}


def main(arguments: Sequence[str]) -> int:
    """Write the page, or check it; return the exit code."""
    files = [Path(argument) for argument in arguments if not argument.startswith("-")]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    shown = {(row, column) for row, _, column in (line.partition(": ") for line in lines)}
    try:
        reasons = tomllib.loads(REASONS.read_text("utf-8"))
        page = PAGE.read_text("utf-8")
        limits = reasons.pop("limits")
        cells = shown if files else without_reason(reasons)
        text = with_part(page, "shown", table(cells, reasons, limits))
    except ValueError as error:
        sys.stderr.write(f"tests/not_shown.toml: {error}\n")
        return 1
    if "--check" not in arguments:
        PAGE.write_text(text, "utf-8")
    elif page != text:
        sys.stderr.write("docs/languages.md says something else: make it anew, without --check\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
