"""Makes the function that records a point's row: no call of ours reads names or packs plain values."""

from __future__ import annotations

import inspect
import struct
import textwrap
import time
import types
from collections.abc import Callable
from typing import Any

from .. import functions, guard
from ..stops import deadline
from ..values import cells
from . import contexts, expressions, shapes
from . import templates as texts

NO_VALUE = shapes.CellText(f"{cells.FAILED}NameError: it has no value here")
WAITING = shapes.CellText(
    f"{cells.FAILED}not evaluated here: its failures took more than {expressions.SHARE_IN_WORDS} of the time"
)
UNKNOWN = "NameError: no `{}` in any scope of {}"
MARK = "\0e\0"
"""Stands for an expression until the text is complete."""
TOO_SLOW = "it took longer than {} s"


class Maker:
    """Compiles the functions that record points' rows, all with one file and one deadline."""

    def __init__(self, watch: Any, rows: Any, report: Callable[..., None]) -> None:
        """Create it.

        Args:
            watch: The `deadline.Deadline` that ends what hangs.
            rows: The `recording.Rows` to which rows are written.
            report: Called with a point whose condition has raised something, and the cell of that error.
        """
        self.watch = watch
        self.rows = rows
        self._given: dict[str, Any] = {
            "rows": rows, "report": report, "now": time.perf_counter,
            "cell_text": shapes.CellText, "begin": watch.begin, "over": watch.over, "find": expressions.find,
            "CutOff": deadline.CutOff, "failed": self.failed, "StructError": struct.error,
            "no_value": NO_VALUE, "waiting": WAITING, "of_program": guard.is_of_program,
            "lacks": expressions.lacks, "unmet": self._unmet,
            "BaseException": BaseException, "KeyError": KeyError, "ValueError": ValueError,
            "RecursionError": RecursionError,
            **{each.__name__: each for each in (type, float, int, bool, next, eval, dict)},
        }  # fmt: skip

    def context(self, frame: Any) -> Any:
        """Return thread, task and caller of a frame, as recorders get them: a number, or a text."""
        return self.rows.numbered(contexts.context(frame))

    def failed(self, error: BaseException, expression: Any = None, since: float = 0.0) -> str:
        """Return the cell of an expression that has raised `error`; the expression notes its slow failure.

        `since` is when it was begun (`perf_counter`). What a signal of the program raises is raised again. `expression` is an
        `expressions.Expression`.
        """
        if expression is not None:
            expression.has_failed(since, time.perf_counter())
        if isinstance(error, deadline.CutOff):
            return f"{cells.FAILED}cut off: {TOO_SLOW.format(self.watch.seconds)}"
        if guard.is_from_signal(error):
            raise error
        return cells.failed(error)

    def _unmet(self, point: Any, error: str) -> None:
        """Report, once for a point, that its condition can never hold; `error` is the cell of that."""
        if not point.unmet:
            point.unmet = True
            self._given["report"](point, error)

    def recorder(self, point: Any, frame: Any) -> Any:
        """Return a function that writes a row of a point: `record(frame, context)`.

        It returns True once the point has enough hits. A false condition writes no row. `context` is what `Maker.context` returns. `point`
        is a `points.SpecifiedPoint`, the `frame` here any frame of the code in which it records.
        """
        count = range(len(point.expressions))
        row = texts.ROW.format(
            types="".join(f"$t{each}, " for each in count),
            alike=" and ".join(f"$type($v{each}) is $t{each}" for each in count) or "$pack",
            values="".join(f"$v{each}, " for each in count),
        )
        hit = "$hit = $next($hits)\n" + (texts.ENOUGH_HITS if point.max_hits else "")
        return self._made(point, frame, marked(point), hit + row, alone=not point.max_hits)

    def condition(self, point: Any, frame: Any) -> Any:
        """Return a function of a frame that tells whether a point's condition holds.

        None: it does not, or raises.
        """
        return self._made(point, frame, marked(point)[:1], "return True\n")

    def cells(self, point: Any, frame: Any) -> Any:
        """Return a function of a frame that evaluates a point's expressions to cells, with a tab before each."""
        values = "".join(f"$v{number}, " for number in range(len(point.expressions)))
        columns = marked(point)[1 if point.condition else 0 :]
        return self._made(point, frame, columns, f"return $shapes.columns(({values}))\n")

    def value(self, expression: Any, frame: Any, nothing: Any, missed: Any, *, holds: bool) -> Any:
        """Return a function of a frame that gives an expression's value; `nothing` where that raises.

        `missed` is called with the cell of the error then. With `holds` the function gives a tuple: whether the value is true, and the
        value. `expression` is an `expressions.Expression`, `frame` one of the code in which it is used.
        """
        point = types.SimpleNamespace(
            id=0, condition=None, expressions=[], hits=None, max_hits=None
        )
        reads, value = self._reading(expression, frame, "e", MARK)
        value = f"{value}\n        $v = $bool($v), $v" if holds else value
        text = watched(texts.VALUE.format(reads=reads, value=value)) + "return $v\n"
        given = {"e": expression, "nothing": nothing, "missed": missed}
        return self._compiled(point, frame, [(MARK, expression)], text, given)

    def _made(
        self,
        point: Any,
        frame: Any,
        evaluated: list[tuple[str, Any]],
        end: str,
        *,
        alone: bool = False,
    ) -> Any:
        """Return a function that evaluates some expressions of a point, and then runs the statements `end`.

        `evaluated` are pairs of a mark in the text and an expression; `alone`: it also gets a form that Python can call at a line. `point`
        is a `points.SpecifiedPoint`.
        """
        given = {f"e{number}": each for number, each in enumerate(point.expressions)}
        given["ec"] = point.condition
        for name, each in [("", point.condition), *enumerate(point.expressions)]:
            unknown = each.unknown(frame) if each is not None else ()
            if unknown:
                error = UNKNOWN.format(unknown[0], functions.qualified(frame.f_code))
                given[f"unknown{name}"] = shapes.CellText(f"{cells.FAILED}{error}")
        body = self._body(point, frame, evaluated) + end
        return self._compiled(point, frame, evaluated, body, given, alone=alone)

    def _compiled(
        self, point: Any, frame: Any, evaluated: Any, body: str, given: Any, *, alone: bool = False
    ) -> Any:
        """Return the function `record(frame, context)` with the statements `body`, compiled.

        Its global names are those of the frame's module. `evaluated` are pairs of a mark in the text and an expression; `given` are the
        values of the names that the text has with `$`; `alone`: it also gets a form that Python can call at a line. `point` is a
        `points.SpecifiedPoint`.
        """
        made_of = shapes.Shapes(point, self.rows, self.failed)
        of_point = {"point": point, "hits": point.hits, "most": point.max_hits}
        of_point.update(shapes=made_of, cell=made_of.cell)
        given = {**self._given, **of_point, **given}
        body = textwrap.indent("$locals = $frame.f_locals\n" * bool(evaluated) + body, " " * 12)
        # What needs no names of the program finds ours faster as global ones.
        own = evaluated and all(is_local(each, frame) for _mark, each in evaluated)
        outer = "global" if own else "nonlocal"
        text = texts.FACTORY.format(
            given="" if own else ", ".join(f"${each}" for each in given),
            global_="global $shape" if own else "",
            outer=outer,
            body=body,
            alone=textwrap.indent(texts.ALONE.format(outer=outer, body=body), "    ")
            if alone
            else "",
        ).replace("$", expressions.OURS)
        for mark, each in evaluated:
            text = text.replace(mark, f"({each.text}\n)")
        names = {f"{expressions.OURS}{name}": value for name, value in given.items()}
        made: dict[str, Any] = {}
        compiled = compile(text, deadline.RECORDER, "exec", dont_inherit=True)
        exec(compiled, names if own else frame.f_globals, made)  # noqa: S102
        return made[f"{expressions.OURS}factory"](*([] if own else names.values()))

    def _reading(self, expression: Any, frame: Any, name: str, mark: str) -> tuple[str, str]:
        """Return the statements that read an expression's names from a frame, and the text of its value.

        `name` is what the expression is called in the text, `mark` what stands for its own text. `expression` is an
        `expressions.Expression`.
        """
        if expression.asks_frame:
            return "    pass", f"$eval(${name}.code, $frame.f_globals, $dict($frame.f_locals))"
        one_namespace = frame.f_locals is frame.f_globals
        reads = expression.reads(frame.f_code, one_namespace=one_namespace) or ["pass"]
        return textwrap.indent("\n".join(reads), "    "), mark

    def _body(self, point: Any, frame: Any, evaluated: list[tuple[str, Any]]) -> str:
        """Return the statements that evaluate the expressions of a recorder, each to a variable of its own.

        If one of them runs code, they have a deadline. `evaluated` are pairs of a mark in the text and an expression; `point` is a
        `points.SpecifiedPoint`.
        """
        guarded = any(each.runs_code for _mark, each in evaluated)
        parts: list[str] = []
        for mark, each in evaluated:
            name = "ec" if each is point.condition else f"e{point.expressions.index(each)}"
            reads, value = self._reading(each, frame, name, mark)
            again = "$begin($now())" if guarded else "pass"
            form = {"reads": reads, "value": value, "again": again}
            if each is not point.condition:
                parts.append(self._cell(point, frame, each, form, guarded=guarded))
                continue
            unknown = each.unknown(frame)
            if unknown:
                parts.append(texts.UNKNOWN_CONDITION.format(names=unknown))
            parts.append(texts.CONDITION.format(**form))
        return watched("".join(parts)) if guarded else "".join(parts)

    def _cell(self, point: Any, frame: Any, each: Any, form: Any, *, guarded: bool) -> str:
        """Return the statements that evaluate one expression to the cell of its column.

        `each` is the expression, `form` has the texts to fill in; `guarded`: code may run behind it, so its value is copied at once.
        `point` is a `points.SpecifiedPoint`.
        """
        number = point.expressions.index(each)
        if is_local(each, frame):
            return texts.LOCAL.format(n=number, name=each.text)
        copied = textwrap.indent(texts.COPIED.format(n=number), " " * 8) if guarded else ""
        failed = f"$failed($error, $e{number}, $since)" if each.runs_code else "$failed($error)"
        cell = texts.VALUE_OF.format(**form, n=number, copied=copied, failed=failed)
        if each.runs_code:
            cell = texts.GUARDED.format(cell=textwrap.indent(cell, "    "), n=number)
        unknown = each.unknown(frame)
        if unknown:
            cell = textwrap.indent(cell, "    ")
            return texts.UNKNOWN_CELL.format(cell=cell, names=unknown, n=number)
        return cell


def watched(body: str) -> str:
    """Return the statements `body` with statements around that begin and end the deadline."""
    return texts.WATCHED.format(body=textwrap.indent(body, "    "))


def is_local(expression: Any, frame: Any) -> bool:
    """Return whether an expression is just the name of a local variable of a function's frame."""
    code = frame.f_code
    optimized = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return optimized and expression.is_name and bool(expression.reads(code, one_namespace=False))


def marked(point: Any) -> list[tuple[str, Any]]:
    """Return a point's expressions, its condition first, each with its mark in the incomplete text."""
    every = ([point.condition] if point.condition else []) + point.expressions
    return [(f"\0{number}\0", each) for number, each in enumerate(every)]
