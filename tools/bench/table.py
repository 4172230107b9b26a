"""The table, for a terminal or for docs/speed.md. Pure."""

from collections.abc import Iterable, Sequence

from tools.bench.rows import Aim, Row
from tools.bench.statistics import Samples
from tools.bench.subjects import ALONE, NOOP, OURS, RAW, RELAY, STOCK

SUBJECTS = (OURS, RAW, STOCK, NOOP, RELAY, ALONE)
RATIOS = {RAW: "/ raw", NOOP: "/ no-op", RELAY: "/ relay", ALONE: "/ alone"}


def plain(rows: Iterable[Row]) -> str:
    """Return the table for a terminal."""
    lines = _lines(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_aligned(line, widths) for line in lines)


def markdown(rows: Iterable[Row]) -> str:
    """Return the medians as a table in Markdown."""
    rows = list(rows)
    subjects = _subjects(rows)
    lines = [["", "unit", *subjects, "aim"], ["---", "---", *("---:" for _ in subjects), "---"]]
    for row in rows:
        values = [row.values.get(name) for name in subjects]
        medians = ["" if each is None else _number(each.median) for each in values]
        lines.append([row.name, row.unit, *medians, _aims(row)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.ljust(width) if _is_text(column, cells) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _is_text(column: int, line: Sequence[str]) -> bool:
    """Return whether a column is aligned to the left: name, unit, aim."""
    return column in {0, 1, len(line) - 1}


def _lines(rows: Iterable[Row]) -> list[list[str]]:
    """Return the head and the rows; who takes part in no row has no column."""
    rows = list(rows)
    subjects = _subjects(rows)
    ratios = {name: title for name, title in RATIOS.items() if name in subjects}
    head = ["", "unit", *subjects, *ratios.values(), "aim"]
    return [head, *(_cells(row, subjects, ratios) for row in rows)]


def _subjects(rows: Iterable[Row]) -> list[str]:
    return [name for name in SUBJECTS if any(name in row.values for row in rows)]


def _cells(row: Row, subjects: Iterable[str], ratios: Iterable[str]) -> list[str]:
    values = [row.values.get(name) for name in subjects]
    return [
        row.name,
        row.unit,
        *("" if samples is None else _samples(samples) for samples in values),
        *("" if ratio is None else f"{ratio:.2f}" for ratio in map(row.ratio, ratios)),
        _aims(row),
    ]


def _samples(samples: Samples) -> str:
    low, high = samples.spread
    return _number(samples.median) + (
        "" if low == high else f" ({_number(low)} to {_number(high)})"
    )


def _number(value: float) -> str:
    """Return a number with three digits or so.

    >>> _number(1.234), _number(45.67), _number(1234.5), _number(7)
    ('1.23', '45.7', '1,234', '7')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f}"


def _aims(row: Row) -> str:
    return ", ".join(f"{aim.text}: {_mark(row, aim)}" for aim in row.aims)


def _mark(row: Row, aim: Aim) -> str:
    return "met" if row.met(aim) else f"NOT MET, {row.ours / aim.limit:.2f} of it"
