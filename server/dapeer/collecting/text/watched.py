"""What became of a run until something, as text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from dapeer.base.sources import relative
from dapeer.base.text.fitting import shortened
from dapeer.collecting.rows.table import FAILED, CollectedRow
from dapeer.collecting.rows.watch import Watch
from dapeer.collecting.text.column_lines import value
from dapeer.collecting.text.summary import line_of

State = Literal["stopped", "running", "ended"]
EXPRESSION_CHARS = 120
"""Characters of an expression."""
MAX_NAMED_FUNCTIONS = 4
"""Functions that are named."""
_NO_NAME = re.compile(
    r"NameError|UnboundLocalError|(Uncaught )?ReferenceError|No symbol|Name unknown|undefined local variable"
    r"|could not find symbol|use of undeclared identifier"
)
_NEVER = {"true": "never held", "change": "never changed", "write": "was never written"}
_NOT_YET = {"true": "not held", "change": "not changed", "write": "not been written"}


def outcome(
    watch: Watch,
    rows: Sequence[CollectedRow],
    looks: Sequence[CollectedRow],
    state: State,
    project: Path,
) -> str:
    """Return a sentence on a watch: which line did it, with the values before and after, or that none has.

    For a watch with `every`, it says how many lines were recorded. `rows` are the lines that did it, `looks` the functions where the
    expression was evaluated; `state` is the program's. How the program was run, and for how long, stands in brackets.
    """
    name = f"`{shortened(' '.join(watch.expression.split()), EXPRESSION_CHARS)}`"
    took = ", ".join(filter(None, (watch.road, watch.cost, f"{watch.seconds:.1f} s")))
    if rows and watch.every:
        rest = "" if state == "ended" else "; this stop ends the recording"
        return f"{name}: {len(rows)} recorded{rest} ({took})"
    if rows:
        first = min(rows, key=lambda row: row.seconds)
        return f"{_done(watch, name, first, project)} ({took})"
    seen = "".join(f"; {each}" for each in _looked(looks, ended=state == "ended"))
    if state == "ended":
        return f"{name} {_NEVER[watch.on]}{seen} ({took})"
    rest = "this stop came first" if state == "stopped" else "the program runs on"
    return f"{name} has {_NOT_YET[watch.on]} yet: {rest}{seen} ({took})"


def _done(watch: Watch, name: str, row: CollectedRow, project: Path) -> str:
    """Return a sentence on the line in `row` that has made the watched expression true, or changed it.

    `name` is the expression in quotes. The doubts that the watch has recorded are in the sentence.
    """
    function, file, line, before, after = row.cells[:5]
    by = f" by thread {row.thread}" if row.thread not in {"", "MainThread"} else ""
    arrow = " → ".join(value(each) for each in (before, after) if each) or "(no value)"
    if before and before == after:
        arrow = f"{value(after)}, changed within what is shown, or another like it"
    if line == "0":
        did = "held" if watch.on == "true" else "had changed"
        return f"{name} {did} already when {function} was first looked at ({relative(file, project)}): {arrow}"
    if watch.already:
        return f"{name} holds already at {line_of(function, file, line, project)}: {arrow}; the program has not moved"
    rest = ", or the rest of the line that called it" if watch.returned else ""
    passed = (
        f"{watch.passed_by} (not looked at: its breakpoint counts or logs) or "
        if watch.passed_by
        else ""
    )
    place = f"{passed}{line_of(function, file, line, project)}{by}{rest}"
    if watch.others:
        did = "began to hold" if watch.on == "true" else "changed"
        return f"{name} {did} while {place} ran, there or in another thread that ran meanwhile: {arrow}"
    if watch.seen:
        return f"{name} holds when the program comes to {place}: {arrow}"
    if watch.on == "true":
        return f"{name} holds after {place}: {arrow}"
    gone = "" if after else " → (gone)"
    return f"{place} changed {name}: {arrow}{gone}"


def _looked(looks: Sequence[CollectedRow], *, ended: bool) -> Iterator[str]:
    """Yield clauses on the functions where the expression had a value, and where its evaluation failed."""
    valued = dict.fromkeys(row.cells[0] for row in looks if not row.cells[3].startswith(FAILED))
    failed = [row for row in looks if row.cells[3].startswith(FAILED)]
    wrong = [row for row in failed if not _NO_NAME.match(row.cells[3][1:])]
    if valued and ended:
        yield f"it was looked at in {_several(list(valued))}"
    if not valued and failed:
        count = len({(row.cells[0], row.cells[1]) for row in failed})
        where = "the only function" if count == 1 else f"any of {count} functions"
        yield f"it had no value in {where}: {(wrong or failed)[0].cells[3][1:]}"
    for row in wrong[: bool(valued)]:
        yield f"it failed in {_several([*dict.fromkeys(each.cells[0] for each in wrong)])}: {row.cells[3][1:]}"


def _several(names: Sequence[str]) -> str:
    """Return some names with commas between them, and how many more there are."""
    more = (
        f" and {len(names) - MAX_NAMED_FUNCTIONS} more" if len(names) > MAX_NAMED_FUNCTIONS else ""
    )
    return f"{', '.join(names[:MAX_NAMED_FUNCTIONS])}{more}"
