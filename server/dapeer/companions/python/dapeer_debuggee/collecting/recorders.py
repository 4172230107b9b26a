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
from . import contexts, expressions, row_format

# A point's rows as bytes: of one shape where all values are plain, else lines of text.

MAX_VALUES = 127
"""Values of a row that is not text."""
SHAPES = 1 << 24
LETTERS = {id(kind): letter for kind, letter in row_format.LETTERS.items()}
"""By number of a type: its hash may be code of the program's."""
NOTHING: str = row_format.LETTERS[type(None)]
NONE = "-"
"""Stands for the letter of a type that has none."""


class CellText(str):
    """A value as its cell: what is no value, or was copied at once."""

    __slots__ = ()


class Shapes:
    """Makes the rows of one point as bytes."""

    def __init__(self, point: Any, rows: Any, failed: Callable[[BaseException], str]) -> None:
        """Create it for a point; `rows` is the file, `failed` makes the cell of an error.

        `point` is a `points.SpecifiedPoint`.
        """
        self._id: int = point.id
        self._rows = rows
        self._failure_text = failed
        few = 0 < (point.max_hits or 0) <= cells.FEW_ROWS
        self._cell_chars: int = cells.MAX_WHOLE_CELL_CHARS if few else cells.MAX_CELL_CHARS
        self._known_shapes: dict[Any, Any] = {}
        self.latest: tuple[Any, ...] = (*[None] * len(point.expressions), None, 0)
        """The types of the values of the row before, what packs them, and how they begin.

        Of values without bytes there is none.
        """

    def line(self, hit: int, context: Any, values: Any) -> bytes:
        """Return a row of these values: a plain row if all values are plain, else a line of text.

        Plain are numbers (int, float), bool and None, no texts; the line ends with a line end. Too many values, or shapes of rows, also
        make it a line of text. `context` is a number or, where there is no room for more of them, a text; `hit` numbers the row. A text as
        context, and a whole number of more than 8 bytes, also make it a line of text. `latest` is set where the types of all values can be
        packed, none is None, and `context` is a number: it lets the next row with values of the same types be packed at once. Else it stays
        as it was. A shape that is new is written to the header of the file of rows, not into the returned bytes.
        """
        kinds: list[Any] = [*map(type, values)]
        letters = "".join([LETTERS.get(id(each), NONE) for each in kinds])
        shape = self._known_shapes.get(letters) or self._make_shape(letters)
        if shape is None or type(context) is str:
            return self.text(hit, context, values)
        pack, head = shape
        if NOTHING not in letters:
            self.latest = (*kinds, pack, head)
        try:
            plain = (each for each in values if each is not None)
            return pack(head, context, hit, *plain, time.perf_counter())
        except struct.error:
            # A whole number takes more than 8 bytes.
            return self.text(hit, context, values)

    def text(self, hit: int, context: Any, values: tuple[Any, ...]) -> bytes:
        """Return a row of these values as a line of text.

        `hit` numbers the row; `context` tells thread, task and caller: a number that the file knows, or a text.
        """
        head = f"{self._id}\t{hit}\t{self._rows.now()}\t{self._rows.context_text(context)}"
        return f"{head}{self.columns(values)}\n".encode()

    def columns(self, values: tuple[Any, ...]) -> str:
        """Return values as cells, a tab before each."""
        return "".join([f"\t{self.cell(each)}" for each in values])

    def cell(self, value: Any) -> CellText:
        """Return a value as a `CellText`; if its text cannot be made, the cell has the text of that error.

        A `CellText` is returned as it is. Making the text runs no code of the program. The text of the error is
        made by the function `failed` that this object was created with; an error that a signal has caused
        (Ctrl+C, say) is raised again by that function, so it leaves this one, too.
        """
        if type(value) is CellText:
            return value
        try:
            return CellText(cells.cell(value, self._cell_chars))
        except BaseException as error:
            return CellText(self._failure_text(error))

    def _make_shape(self, letters: str) -> Any:
        """Make and keep the function that packs rows of these types, and the number rows begin with.

        The two are returned as a pair, and kept for later rows; the file's header gets a number for this
        combination of types. `letters` has one letter of `row_format.LETTERS` for each value, `NONE` for a
        value whose type has none. None, which is not kept: rows of such values are written as text, as a type
        has no letter, there are too many values or combinations, or no file can be made.
        """
        if NONE in letters or len(letters) > MAX_VALUES:
            return None
        number = self._rows.shape(self._id, letters)
        if not 0 < number < SHAPES:
            return None
        form = "".join({"?": "q", "x": "8x"}.get(each, each) for each in letters)
        pack = struct.Struct(f"{row_format.HEAD}{form}d").pack
        shape = self._known_shapes[letters] = pack, row_format.PLAIN + len(letters) + (number << 8)
        return shape


# The statements of which recorders are made.

# `$` begins a name of ours.
FACTORY = """
def $factory({given}):
    {global_}
    $shape = $shapes.latest
    def $record($frame, $context=0):
        {outer} $shape
        try:
{body}
        except $RecursionError:
            pass
        except $BaseException as $error:
            if $of_program($error):
                raise
{alone}
    return $record
"""
ALONE = """
def $made($here, $at, $plan, $elsewhere, $current, $id):
    def $called($code, $line):
        {outer} $shape
        if $code is not $here or $line != $at:
            return $elsewhere($code, $line, 2)
        try:
            $frame = $current(1)
            $known, $context = $plan.cached_context
            if $known != $id($frame):
                $context = $plan.cache_context($frame)
{body}
        except $RecursionError:
            pass
        except $BaseException as $error:
            if $of_program($error):
                raise
    return $called
$record.called = $made
"""
"""What Python calls at a line by itself, while it comes by no other one."""
LOCAL = """
try:
    $v{n} = $locals[{name!r}]
except $KeyError:
    $v{n} = $no_value
"""
VALUE_OF = """
try:
{reads}
except $KeyError:
    $v{n} = $no_value
except $BaseException as $error:
    $v{n} = $cell_text({failed})
    {again}
else:
    try:
        $v{n} = {value}
{copied}
    except $BaseException as $error:
        $v{n} = $cell_text({failed})
        {again}
"""
COPIED = """
$t = $type($v{n})
if not ($t is $int or $t is $float or $t is $bool or $v{n} is None):
    $v{n} = $cell($v{n})
"""
"""What an expression runs later may change a value."""
GUARDED = """
$since = $now()
if $e{n}.waits($since):
    $v{n} = $waiting
else:
{cell}
"""
CONDITION = """
$since = $now()
if $ec.waits($since):
    $report($point, $waiting)
    return
try:
{reads}
    $met = $bool({value})
except $BaseException as $error:
    $met = False
    $report($point, $failed($error, $ec, $since))
    {again}
if not $met:
    return
"""
UNKNOWN_CELL = """
if $lacks({names!r}, $frame):
    $v{n} = $unknown{n}
else:
{cell}
"""
"""Looks for the names alone, while there are none: they may come."""
UNKNOWN_CONDITION = """
if $lacks({names!r}, $frame):
    $unmet($point, $unknown)
    return
"""
VALUE = """
$since = $now()
if $e.waits($since):
    $missed($waiting)
    return $nothing
try:
{reads}
except $KeyError:
    $missed($no_value)
    $v = $nothing
except $BaseException as $error:
    $missed($failed($error, $e, $since))
    $v = $nothing
else:
    try:
        $v = {value}
    except $BaseException as $error:
        $missed($failed($error, $e, $since))
        $v = $nothing
"""
WATCHED = """
try:
    $begin($now())
{body}
finally:
    try:
        $over()
    except $CutOff:
        pass
"""
"""Whatever happens, the watch ends: what it raises later would be raised in the program."""
ENOUGH_HITS = """
if $hit > $most:
    return $point.end()
"""
ROW = """
{types}$pack, $head = $shape
try:
    if {alike}:
        $line = $pack($head, $context, $hit, {values}$now())
    else:
        $line = $shapes.line($hit, $context, ({values}))
        $shape = $shapes.latest
except $StructError:
    $line = $shapes.text($hit, $context, ({values}))
try:
    $rows.write($line)
except $ValueError:
    $rows.write_to_next_chunk($line)
"""


NO_VALUE = CellText(f"{cells.FAILED}NameError: it has no value here")
WAITING = CellText(
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
        self._template_values: dict[str, Any] = {
            "rows": rows, "report": report, "now": time.perf_counter,
            "cell_text": CellText, "begin": watch.begin, "over": watch.end, "find": expressions.find,
            "CutOff": deadline.CutOff, "failed": self.record_failure, "StructError": struct.error,
            "no_value": NO_VALUE, "waiting": WAITING, "of_program": guard.is_of_program,
            "lacks": expressions.lacks, "unmet": self._unmet,
            "BaseException": BaseException, "KeyError": KeyError, "ValueError": ValueError,
            "RecursionError": RecursionError,
            **{each.__name__: each for each in (type, float, int, bool, next, eval, dict)},
        }  # fmt: skip

    def context(self, frame: Any) -> Any:
        """Return thread, task and caller of a frame, as recorders get them: a number, or a text."""
        return self.rows.numbered(contexts.context(frame))

    def record_failure(
        self, error: BaseException, expression: Any = None, since: float = 0.0
    ) -> str:
        """Return the cell of an expression that has raised `error`; the expression notes its slow failure.

        `since` is when it was begun (`perf_counter`). `expression` is an `expressions.Expression`; None: nothing is
        noted.

        Raises:
            BaseException: `error` itself, if it is a `KeyboardInterrupt`, or a signal handler has raised it.
        """
        if expression is not None:
            expression.record_failure(since, time.perf_counter())
        if isinstance(error, deadline.CutOff):
            return f"{cells.FAILED}cut off: {TOO_SLOW.format(self.watch.seconds)}"
        if guard.is_from_signal(error):
            raise error
        return cells.error_cell(error)

    def _unmet(self, point: Any, error: str) -> None:
        """Report, once for a point, that its condition can never hold; `error` is the cell of that."""
        if not point.unmet:
            point.unmet = True
            self._template_values["report"](point, error)

    def recorder(self, point: Any, frame: Any, *, checked: bool = False) -> Any:
        """Return a function that writes a row of a point (a place that collects): `record(frame, context)`.

        It returns True once the point has enough hits, else a false value. A condition that is false or raises writes no
        row; `checked`: the caller has evaluated it, so it is left out here. An expression that raises has its error as its value. The function raises only Ctrl+C and what a signal handler
        of the program raises; at any other error no row is written. `context` is what `Maker.context` returns. `point` is a
        `points.SpecifiedPoint`, the `frame` here any frame of the code in which it records. Without a limit of hits the
        function has an attribute `called`, a form that Python can call at a line.
        """
        count = range(len(point.expressions))
        row = ROW.format(
            types="".join(f"$t{each}, " for each in count),
            alike=" and ".join(f"$type($v{each}) is $t{each}" for each in count) or "$pack",
            values="".join(f"$v{each}, " for each in count),
        )
        hit = "$hit = $next($hits)\n" + (ENOUGH_HITS if point.max_hits else "")
        columns = marked_expressions(point)[1 if point.condition and checked else 0 :]
        return self._compile_cells(point, frame, columns, hit + row, alone=not point.max_hits)

    def condition(self, point: Any, frame: Any) -> Any:
        """Return a function of a frame that tells whether a point's condition holds; the point must have one.

        The function returns True, or None if the condition is false or raises; what it raises is reported (`report` of `__init__`).
        """
        return self._compile_cells(point, frame, marked_expressions(point)[:1], "return True\n")

    def cells(self, point: Any, frame: Any) -> Any:
        """Return a function of a frame that evaluates a point's expressions to cells, with a tab before each.

        The function returns one text. The point's condition is not evaluated. `point` is a `points.SpecifiedPoint`.
        """
        values = "".join(f"$v{number}, " for number in range(len(point.expressions)))
        columns = marked_expressions(point)[1 if point.condition else 0 :]
        return self._compile_cells(point, frame, columns, f"return $shapes.columns(({values}))\n")

    def value(self, expression: Any, frame: Any, nothing: Any, missed: Any, *, holds: bool) -> Any:
        """Return a function of a frame that gives an expression's value; `nothing` where that raises.

        `expression` is an `expressions.Expression`, `frame` one of the code in which it is used. The function
        also gives `nothing` where a name of the expression has no value, where the evaluation exceeds the
        deadline and is cut off, and, without evaluating, for a while after the expression's failures have taken
        too much time (`Expression.waits`). Of all these, `missed` is called first, with one argument: the cell
        (text) that says what has failed. With `holds` the function gives a tuple: whether the value is true, and
        the value; but `nothing` itself, not in a tuple, where the expression or the test of its value raises.
        """
        point = types.SimpleNamespace(
            id=0, condition=None, expressions=[], hits=None, max_hits=None
        )
        reads, value = self._reading(expression, frame, "e", MARK)
        value = f"{value}\n        $v = $bool($v), $v" if holds else value
        text = with_deadline(VALUE.format(reads=reads, value=value)) + "return $v\n"
        given = {"e": expression, "nothing": nothing, "missed": missed}
        return self._compile_recorder(point, frame, [(MARK, expression)], text, given)

    def _compile_cells(
        self,
        point: Any,
        frame: Any,
        evaluated: list[tuple[str, Any]],
        end: str,
        *,
        alone: bool = False,
    ) -> Any:
        """Return a function that evaluates some expressions of a point, and then runs the statements `end`.

        The function is called as `record(frame, context)`; `context` (thread, task and caller) is passed on to
        `end`. `evaluated` are pairs of a mark, which stands for the expression in the text, and an expression.
        `end` is Python source with `$` before names of ours, in which `$v0`, `$v1`, … are the values, numbered as
        in `point.expressions`. If the point's condition is among `evaluated` and does not hold, or raises, the
        function returns None before what follows the condition. An expression that raises has its error as its
        value, and so has one with names that are unknown in the frame's code. The function itself raises only
        Ctrl+C and what a signal handler of the program raises; at any other error nothing is recorded of this
        hit. `alone`: the function also gets the attribute `called`, which makes a form of it that Python can call
        at a line. `point` is a `points.SpecifiedPoint`, `frame` any one of the code for which the function is
        made.
        """
        given = {f"e{number}": each for number, each in enumerate(point.expressions)}
        given["ec"] = point.condition
        for name, each in [("", point.condition), *enumerate(point.expressions)]:
            unknown = each.unknown(frame) if each is not None else ()
            if unknown:
                error = UNKNOWN.format(unknown[0], functions.qualified(frame.f_code))
                given[f"unknown{name}"] = CellText(f"{cells.FAILED}{error}")
        body = self._evaluating_statements(point, frame, evaluated) + end
        return self._compile_recorder(point, frame, evaluated, body, given, alone=alone)

    def _compile_recorder(
        self, point: Any, frame: Any, evaluated: Any, body: str, given: Any, *, alone: bool = False
    ) -> Any:
        """Return the function `record(frame, context)` with the statements `body`, compiled.

        Its global names are those of the frame's module; only dapeer's, if `evaluated` is not empty and all its
        expressions are just names of locals of `frame`. What the statements raise is dropped, unless
        `guard.is_of_program` says that it is the program's. `point` is a `points.SpecifiedPoint`; `evaluated` are
        pairs of a mark, which stands for it in `body`, and an expression; `given` are the values of the names that
        `body` has with `$`, by name without it. With `alone`, the function has an attribute `called`, which makes of
        `ALONE` what Python itself can call at a line.
        """
        made_of = Shapes(point, self.rows, self.record_failure)
        of_point = {"point": point, "hits": point.hits, "most": point.max_hits}
        of_point.update(shapes=made_of, cell=made_of.cell)
        given = {**self._template_values, **of_point, **given}
        body = textwrap.indent("$locals = $frame.f_locals\n" * bool(evaluated) + body, " " * 12)
        # What needs no names of the program finds ours faster as global ones.
        own = evaluated and all(is_local(each, frame) for _mark, each in evaluated)
        outer = "global" if own else "nonlocal"
        text = FACTORY.format(
            given="" if own else ", ".join(f"${each}" for each in given),
            global_="global $shape" if own else "",
            outer=outer,
            body=body,
            alone=textwrap.indent(ALONE.format(outer=outer, body=body), "    ") if alone else "",
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

    def _evaluating_statements(
        self, point: Any, frame: Any, evaluated: list[tuple[str, Any]]
    ) -> str:
        """Return, as Python source, the statements that evaluate the expressions of a recorder.

        Each expression gets a variable `$v0`, `$v1`, ..., numbered as in `point.expressions`; one that fails has its
        error as its value. The point's condition, if it is among `evaluated`, gets none: its statements return from
        the recorder if it is false, if it raises or has unknown names (both are reported), or if it waits after slow
        failures; the statements behind them are then not run. All share a deadline if one of the expressions runs
        code of the program.

        `point` is a `points.SpecifiedPoint`; the names of `frame` decide how each expression is read; `evaluated` are
        pairs of a mark and an expression; the mark stands in the text for the expression's own text, which
        `_compile_recorder` puts in.
        """
        guarded = any(each.runs_code for _mark, each in evaluated)
        parts: list[str] = []
        for mark, each in evaluated:
            name = "ec" if each is point.condition else f"e{point.expressions.index(each)}"
            reads, value = self._reading(each, frame, name, mark)
            again = "$begin($now())" if guarded else "pass"
            form = {"reads": reads, "value": value, "again": again}
            if each is not point.condition:
                parts.append(self._cell_statements(point, frame, each, form, guarded=guarded))
                continue
            unknown = each.unknown(frame)
            if unknown:
                parts.append(UNKNOWN_CONDITION.format(names=unknown))
            parts.append(CONDITION.format(**form))
        return with_deadline("".join(parts)) if guarded else "".join(parts)

    def _cell_statements(
        self, point: Any, frame: Any, each: Any, form: Any, *, guarded: bool
    ) -> str:
        """Return, as Python source, the statements that evaluate one expression to the cell of its column.

        `point` is a `points.SpecifiedPoint`, `each` one of its expressions (not its condition), and `frame` a
        frame of the recorder's code, whose names decide how `each` is read. Where `each` is just a local
        variable of a function, the statements only read the variable, and `form` and `guarded` are not used.
        `form` is a dict of three sources that are filled in: `reads`, the indented statements that read the
        names of `each`; `value`, the expression itself or what stands for it; and `again`, the statement that
        begins the deadline anew after a failure, or `pass` if there is no deadline. `guarded`: some expression
        of the recorder runs code of the program, which could change the value, so the statements copy the value
        at once. In the program, what `each` raises becomes the text of the cell; a variable without a value
        gives the mark `$no_value`.
        """
        number = point.expressions.index(each)
        if is_local(each, frame):
            return LOCAL.format(n=number, name=each.text)
        copied = textwrap.indent(COPIED.format(n=number), " " * 8) if guarded else ""
        failed = f"$failed($error, $e{number}, $since)" if each.runs_code else "$failed($error)"
        cell = VALUE_OF.format(**form, n=number, copied=copied, failed=failed)
        if each.runs_code:
            cell = GUARDED.format(cell=textwrap.indent(cell, "    "), n=number)
        unknown = each.unknown(frame)
        if unknown:
            cell = textwrap.indent(cell, "    ")
            return UNKNOWN_CELL.format(cell=cell, names=unknown, n=number)
        return cell


def with_deadline(body: str) -> str:
    """Return the statements `body` with statements around that begin and end the deadline."""
    return WATCHED.format(body=textwrap.indent(body, "    "))


def is_local(expression: Any, frame: Any) -> bool:
    """Return whether an expression is just the name of a local variable of a function's frame."""
    code = frame.f_code
    optimized = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return optimized and expression.is_name and bool(expression.reads(code, one_namespace=False))


def marked_expressions(point: Any) -> list[tuple[str, Any]]:
    """Return a point's expressions, its condition first, each with its mark in the incomplete text."""
    every = ([point.condition] if point.condition else []) + point.expressions
    return [(f"\0{number}\0", each) for number, each in enumerate(every)]
