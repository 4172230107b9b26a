"""The table, for a terminal or for the README. Pure."""

from collections.abc import Iterable, Sequence

from tests.bench.rows import Aim, Row
from tests.bench.statistics import Samples
from tests.bench.subjects import NOOP, OURS, RAW, STOCK

HEAD = ("", "unit", OURS, RAW, STOCK, NOOP, "/ raw", "/ no-op", "aim")
SUBJECTS = (OURS, RAW, STOCK, NOOP)
TEXT_COLUMNS = (0, 1, len(HEAD) - 1)
"""Aligned to the left."""


def plain(rows: Iterable[Row]) -> str:
    """Return the table for a terminal."""
    lines = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_aligned(line, widths) for line in lines)


def markdown(rows: Iterable[Row]) -> str:
    """Return the table for the README."""
    rule = ["---" if column in TEXT_COLUMNS else "---:" for column in range(len(HEAD))]
    lines = [HEAD, rule, *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.ljust(width) if column in TEXT_COLUMNS else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _cells(row: Row) -> list[str]:
    values = [row.values.get(name) for name in SUBJECTS]
    ratios = [row.ratio(name) for name in (RAW, NOOP)]
    return [
        row.name,
        row.unit,
        *("" if samples is None else _samples(samples) for samples in values),
        *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
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
