"""Where two runs part, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dapeer.base.sources import relative
from dapeer.collecting.divergence import ColumnNumbers, Divergence, RunComparison, RunRows
from dapeer.collecting.rows.collection import Point
from dapeer.collecting.text.call_lines import FUNCTION, as_text
from dapeer.collecting.text.column_lines import value

ROWS_BEFORE = 4
"""Rows before the place where runs part that are told."""
MAX_NAMED_COLUMNS = 6
"""Columns that are told by name."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Two runs, and what of them is told."""

    found: RunComparison
    points: Sequence[tuple[Point, Point]]
    """By number of a place, as each of them has it."""
    project: Path

    def text(self) -> list[str]:
        """Return as lines where the runs part, with the rows before it, and what else differs."""
        found = self.found
        first = found.first
        lines = (
            [self._no_difference_sentence()]
            if first is None
            else [*self._first_difference_lines(first)]
        )
        second = found.flow if first is found.data else found.data
        if first is not None and second is not None:
            lines += [f"Later {self._outcome(second)}", *self._rows(second)]
        if found.always:
            columns = [
                f"{self._column(each)} {value(a)} | {value(b)}"
                for each, (a, b) in found.always.items()
            ]
            lines.append(f"In every row: {_join_first(columns)}.")
        return [*lines, *([self._totals()] if first is not None else [])]

    def data(self) -> dict[str, Any]:
        """Return the comparison as a dict: counts of rows, and if the runs differ, where.

        The counts are `rows` (of a and b), `alike`, `changed`, `only_a` and `only_b`. Runs that differ have `kind` ("data" or "flow") and
        `parting` (a row of each run, or None where it has no more).
        """
        found, first = self.found, self.found.first
        facts: dict[str, Any] = {"rows": [len(found.a), len(found.b)], "alike": found.alike}
        facts |= {"changed": found.rows_changed, "only_a": found.only_a, "only_b": found.only_b}
        if first is not None:
            facts["kind"] = first.kind
            facts["parting"] = [
                self._fields(found.a, first.a, 0),
                self._fields(found.b, first.b, 1),
            ]
        return facts

    def _fields(self, run: RunRows, number: int | None, which: int) -> dict[str, Any] | None:
        """Return a row of a run as a dict with its hit, place and values; None: the run has no more rows.

        The keys are `hit`, `values` (by expression), and `file`, `line` and `function` as far as they are not empty. `number` is the
        row's index.

        `which` is 0 for run a and 1 for run b.
        """
        if number is None:
            return None
        row = run.row(number)
        point = self.points[row.point][which]
        values = dict(zip(point.columns, row.cells, strict=True))
        place = {"file": point.path, "line": point.line, "function": point.function}
        return {"hit": row.hit, **{k: v for k, v in place.items() if v}, "values": values}

    def _no_difference_sentence(self) -> str:
        """Return a sentence that says that the runs do not part, or only take turns otherwise between threads."""
        found, count = self.found, len(self.found.a)
        rows = f"{count:,} row{'' if count == 1 else 's'}"
        besides = " but for what differs in all of them" if found.always else ""
        if found.order is None:
            return f"They do not part: {rows}, the same in both{besides}."
        here, there = (self._row(run, found.order, which) for which, run in enumerate(self._runs))
        return (
            f"Each thread and task did the same in both{besides} ({rows}); they took turns otherwise "
            f"from {here} in a, {there} in b."
        )

    @property
    def _runs(self) -> tuple[RunRows, RunRows]:
        """The rows of run a, and those of run b."""
        return self.found.a, self.found.b

    def _first_difference_lines(self, first: Divergence) -> Iterator[str]:
        """Yield lines on the first difference: how the runs part, rows before it, and the row of each."""
        outcome = self._outcome(first)
        yield f"{outcome[0].upper()}{outcome[1:]}"
        before = [
            [self._row(run, n, which) for n in range(max(0, end - ROWS_BEFORE), end)]
            for which, (run, end) in enumerate(zip(self._runs, self._ends(first), strict=True))
        ]
        if before[0] == before[1]:
            yield from ("Before:", *(f"  {each}" for each in before[0])) if before[0] else ()
        else:
            for name, rows in zip("ab", before, strict=True):
                yield from (f"Before, in {name}:", *(f"  {each}" for each in rows))
        yield from self._rows(first)

    def _ends(self, parting: Divergence) -> tuple[int, int]:
        """Return the index in run a and in run b up to which the rows were the same."""
        a, b = parting.a, parting.b
        return len(self.found.a) if a is None else a, len(self.found.b) if b is None else b

    def _rows(self, parting: Divergence) -> Iterator[str]:
        """Yield two lines: the row at which run a, and run b, parts from the other, or that it has no more."""
        for which, (name, number) in enumerate((("a", parting.a), ("b", parting.b))):
            shown = (
                "no more rows" if number is None else self._row(self._runs[which], number, which)
            )
            yield f"{name} {shown}"

    def _outcome(self, parting: Divergence) -> str:
        """Return a sentence on how the runs part at `parting`: by values or by control flow, and where."""
        a, b = self.found.a, self.found.b
        thread = f" in {self._thread_name(parting)}" if self.found.threads else ""
        if parting.kind == "data":
            names = [f"`{self.points[place][0].columns[n]}`" for place, n in parting.columns]
            verb = "differs" if len(names) == 1 else "differ"
            place = self._row_place(a, parting.a or 0, 0)
            return f"values part{thread} at {place}: {_join_first(names)} {verb}."
        here = None if parting.a is None else self._row_place(a, parting.a, 0)
        there = None if parting.b is None else self._row_place(b, parting.b, 1)
        more = [
            f"{count:,} row{'' if count == 1 else 's'} only in {name}"
            for name, count in zip("ab", parting.rows, strict=True)
            if count
        ]
        where = f"a goes on to {here}, b to {there}"
        if here is None or there is None:
            ends, other = (
                ("a", f"b goes on to {there}") if here is None else ("b", f"a goes on to {here}")
            )
            where = f"{ends} collects no more, {other}"
        elif (
            parting.a is not None
            and parting.b is not None
            and a.place(parting.a) == b.place(parting.b)
            and (here == there or not self.points[a.place(parting.a)][0].calls)
        ):
            where = f"one comes by {here} more often"
        return f"control flow parts{thread}: {where} ({', '.join(more)})."

    @staticmethod
    def _thread_name(parting: Divergence) -> str:
        """Return the name of the task or thread in which the runs part."""
        _, thread, task = parting.lane
        return task or thread or "the main thread"

    def _place(self, place: int, which: int) -> str:
        """Return the function, or the file and line, of a place in run a (`which` is 0) or run b (1)."""
        point = self.points[place][which]
        return point.function or f"{relative(point.path, self.project)}:{point.line}"

    def _row_place(self, run: RunRows, number: int, which: int) -> str:
        """Return where the row with index `number` was collected; of a call, its function."""
        row = run.row(number)
        if self.points[row.point][which].calls:
            return row.cells[FUNCTION]
        return self._place(row.point, which)

    def _row(self, run: RunRows, number: int, which: int) -> str:
        """Return the row with index `number` of a run as a line of text, with its hit, place and values.

        `which` is 0 for run a and 1 for run b. The thread or task is named if there are several.
        """
        row = run.row(number)
        point = self.points[row.point][which]
        names = point.columns
        if point.calls:
            who = f" [{row.task or row.thread}]" if self.found.threads else ""
            return f"#{row.hit}{who} {as_text(row.cells, point.expressions)}"
        values = ", ".join(
            f"{name} = {value(cell)}" for name, cell in zip(names, row.cells, strict=True)
        )
        who = f" [{row.task or row.thread}]" if self.found.threads else ""
        return f"#{row.hit} {self._place(row.point, which)}{who}{f': {values}' if values else ''}"

    def _column(self, column: ColumnNumbers) -> str:
        """Return the name of a column and its place, as text."""
        place, number = column
        return f"`{self.points[place][0].columns[number]}` at {self._place(place, 0)}"

    def _totals(self) -> str:
        """Return a sentence on how many rows are alike, differ, and are only in one run."""
        found = self.found
        names = [f"{self._column(each)} {count:,}" for each, count in found.changed.most_common()]
        parts = [f"{found.alike:,} row{'' if found.alike == 1 else 's'} alike"]
        verb = "differs" if found.rows_changed == 1 else "differ"
        parts += [f"{found.rows_changed:,} {verb} ({_join_first(names)})"] * bool(
            found.rows_changed
        )
        parts += [f"{found.only_a:,} only in a"] * bool(found.only_a)
        parts += [f"{found.only_b:,} only in b"] * bool(found.only_b)
        return f"In all: {', '.join(parts)}."


def _join_first(texts: Sequence[str]) -> str:
    """Return the first texts with commas between them, and how many more there are."""
    left = len(texts) - MAX_NAMED_COLUMNS
    return ", ".join([*texts[:MAX_NAMED_COLUMNS], *([f"{left} more"] if left > 0 else [])])
