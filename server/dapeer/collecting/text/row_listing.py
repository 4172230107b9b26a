"""Some collected rows, as requested: a range, a filter, changes, groups, a plot. Pure."""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, cast

from dapeer.base.errors import ArgumentError
from dapeer.collecting.rows.collected import OF_CALLS
from dapeer.collecting.rows.table import FAILED, Table
from dapeer.collecting.text.calls import by_time, lines_one_by_one, tree_lines
from dapeer.collecting.text.column_lines import (
    MAX_WHOLE_CELL_CHARS,
    ShownColumns,
    lines_on_columns,
    odd_row_lines,
    shown_columns,
)

# Which collected rows somebody wants to see: an expression over their columns. Pure.
#
# It is read as Python writes expressions, and only compares and reckons: it calls no functions but `TEXT_FUNCTIONS`, and is run by nobody but us.

CellValue = object
Search = Callable[[str, Sequence[str]], Sequence[str]]
"""Returns those of some texts in which a regular expression is found.

It raises `ArgumentError` where that is none, or takes too long.
"""
Reads = Callable[[int], CellValue]
"""Returns the value of a part of the expression in a row, by the row's index."""

MAX_EXPRESSION_CHARS: Final = 1000
"""Characters of an expression."""
MAX_LEVELS: Final = 50
"""Parts of an expression within each other."""

TEXT_FUNCTIONS: Final = ("startswith", "endswith", "matches")
"""Called as `name.startswith('a')`, or as `startswith(name, 'a')`."""
_COMPARES: Final[Mapping[type[ast.cmpop], Callable[[CellValue, CellValue], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,  # type: ignore[dict-item]
    ast.LtE: operator.le,  # type: ignore[dict-item]
    ast.Gt: operator.gt,  # type: ignore[dict-item]
    ast.GtE: operator.ge,  # type: ignore[dict-item]
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda one, other: _is_in(one, other),  # noqa: PLW0108 - it is defined below
    ast.NotIn: lambda one, other: not _is_in(one, other),
}
_RECKONS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: lambda one, other: one + other,
    ast.Sub: lambda one, other: one - other,
    ast.Mult: lambda one, other: one * other,
    ast.Div: lambda one, other: one / other,
    ast.FloorDiv: lambda one, other: one // other,
    ast.Mod: lambda one, other: one % other,
}
_NAMED: Final = {
    "None": None,
    "True": True,
    "False": False,
    "null": None,
    "true": True,
    "false": False,
    "nil": None,
}


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """What an expression could not be evaluated for; equal to its text only."""

    text: str

    def __str__(self) -> str:
        """Return the error."""
        return self.text


def value_of(cell: str) -> CellValue:
    """Return what a cell says, if that is plain: a number, a text, true, false or nothing; else the cell.

    `cell` is the text of one value, as a program's language writes it: `None`, `null` and `nil` all give None. All
    that Python's `int` or `float` reads is a number, `nan` and `1_000` included. A quoted text loses its quotes, but
    escapes in it stay as they are. A cell that says that the evaluation failed (it begins with `FAILED`) gives an
    `EvaluationError`, which is returned, not raised.

    >>> value_of("3"), value_of("'a'"), value_of("None"), value_of("[1]")
    (3, 'a', None, '[1]')
    """
    if cell.startswith(FAILED):
        return EvaluationError(cell[1:])
    if cell in _NAMED:
        return _NAMED[cell]
    if cell[:1] in "'\"" and len(cell) > 1 and cell[-1] == cell[0]:
        return cell[1:-1]
    for number in (int, float):
        try:
            return number(cell)
        except ValueError:
            continue
    return cell


def _is_in(one: CellValue, other: CellValue) -> bool:
    """Return whether a value is in a tuple, or its text in the text of any other value."""
    return one in other if isinstance(other, tuple) else f"{one}" in f"{other}"


def matching_indices(
    expression: str, columns: Mapping[str, Sequence[CellValue]], count: int, search: Search
) -> list[int]:
    """Return the indices of the rows for which a filter expression holds, out of `count` rows.

    The indices count from 0, in ascending order. `columns` has the values of each column, by the name that the
    expression uses (`c1`, `c2` … among them), at least `count` of them. A row whose values cannot be compared
    or computed is left out. `search(PATTERN, TEXTS)` returns those of the texts in which the regular expression
    is found; it is called once for each `matches`, and may block.

    Raises:
        ArgumentError: The expression is too long, does not parse, names an unknown column, or has what a filter
            has not; or a pattern is invalid, or takes too long.
    """
    holds = _compile_filter(expression, columns, search)
    found: list[int] = []
    for index in range(count):
        try:
            if holds(index):
                found.append(index)
        except (TypeError, ValueError, ArithmeticError):
            continue
    return found


def _compile_filter(
    expression: str, columns: Mapping[str, Sequence[CellValue]], search: Search
) -> Reads:
    """Return a function that gives the value of a filter expression in a row, by the row's index.

    That function raises `TypeError`, `ValueError` or an `ArithmeticError` for a row whose values cannot be compared
    or computed. `columns` has the values of each column by name. `search(PATTERN, TEXTS)` returns those of the
    texts in which the regular expression is found; it is called here, once for each `matches`, and not by the
    function.

    Raises:
        ArgumentError: The expression is too long, does not parse, names an unknown column, or has what a filter has
            not; or a pattern is invalid, or takes too long.
    """
    try:
        if len(expression) > MAX_EXPRESSION_CHARS:
            raise ArgumentError(
                f"The filter is longer than {MAX_EXPRESSION_CHARS} characters.", "Shorten it."
            )
        tree = ast.parse(expression.strip(), mode="eval").body
        return _ExpressionCompiler(columns, search).compile_node(tree, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or "it cannot be read"
        raise ArgumentError(f"The filter does not parse: {reason}.", _hint(columns)) from error


def _hint(columns: Mapping[str, Sequence[CellValue]]) -> str:
    """Return the advice of an error: the columns and words that a filter may use."""
    names = ", ".join(f"`{name}`" for name in columns)
    return f"Compare columns ({names}), with and, or, not, in, {', '.join(TEXT_FUNCTIONS)}."


def normalize_expression(text: str) -> str:
    """Return an expression in Python's normal form, or stripped, if it is not Python's."""
    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text.strip()


class _ExpressionCompiler:
    """Makes of an expression's syntax tree a function that gives its value in a row."""

    def __init__(self, columns: Mapping[str, Sequence[CellValue]], search: Search) -> None:
        """Read the values of `columns`, which are found by the normal form of their names."""
        self._columns = columns
        self._search = search
        self._by_name = {normalize_expression(name): values for name, values in columns.items()}

    def compile_node(self, node: ast.expr, depth: int) -> Reads:
        """Return a function that gives the value of a part of an expression in a row, by the row's index.

        That function raises `TypeError`, `ValueError` or an `ArithmeticError` for a row whose values cannot be compared
        or computed. A part that is written as a column's name gives the column's value, however deep. Lists become
        tuples. `depth` is how deep the part is nested.

        Raises:
            ArgumentError: It is nested deeper than `MAX_LEVELS`, or has what a filter has not; or the pattern of a
                `matches` is invalid or takes too long.
        """
        column = self._by_name.get(ast.unparse(node))
        if column is not None:
            return column.__getitem__
        if depth > MAX_LEVELS:
            raise ArgumentError("The filter is nested too deeply.", "Make it flatter.")
        match node:
            case ast.Constant(value=value):
                return lambda _: value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                read = [self.compile_node(each, depth + 1) for each in parts]
                return lambda index: tuple(each(index) for each in read)
            case ast.BoolOp():
                return self._compile_logic(node, depth)
            case ast.UnaryOp():
                return self._compile_unary(node, depth)
            case ast.Compare():
                return self._compile_comparison(node, depth)
            case _:
                return self._compile_computation(node, depth)

    def _compile_computation(self, node: ast.expr, depth: int) -> Reads:
        """Return a function that computes arithmetic or a call of a text function in a row, by its index.

        `node` is the syntax tree of that part of the filter, `depth` how many levels deep `node` is nested.
        Arithmetic is an operator of `_RECKONS` between two operands; `_compile_unary` compiles a minus before a
        number. `TEXT_FUNCTIONS` names the text functions; they are called as `name.startswith('a')` or
        `startswith(name, 'a')`. The returned function takes the row's index; for arithmetic it raises `TypeError`
        if an operand is no number, and `ArithmeticError` such as for a division by zero.

        Raises:
            ArgumentError: `node` is neither such arithmetic nor such a call, has parts that a filter must not have,
                or is nested too deeply; or the pattern of a `matches` is invalid or takes too long.
        """
        match node:
            case ast.BinOp() if type(node.op) in _RECKONS:
                return self._compile_arithmetic(node, depth)
            case (
                ast.Call(func=ast.Attribute(value=text, attr=name), args=[other], keywords=[])
                | ast.Call(func=ast.Name(id=name), args=[text, other], keywords=[])
            ) if name in TEXT_FUNCTIONS:
                return self._compile_text_function(name, text, other, depth)
            case _:
                what = ast.unparse(node)[:60]
                raise ArgumentError(f"The filter knows no `{what}`.", _hint(self._columns))

    def _compile_logic(self, node: ast.BoolOp, depth: int) -> Reads:
        """Return a function that tells of a row whether an `and` or `or` holds.

        It takes the row's index, and returns a bool; parts behind the one that decides are not evaluated. `node` is the syntax tree, nested
        `depth` levels deep.

        Raises:
            ArgumentError: A part has what a filter has not.
        """
        parts = [self.compile_node(each, depth + 1) for each in node.values]
        combine = all if isinstance(node.op, ast.And) else any
        return lambda index: combine(part(index) for part in parts)

    def _compile_text_function(
        self, name: str, text: ast.expr, other: ast.expr, depth: int
    ) -> Reads:
        """Return a function that tells of a row whether a text begins or ends with another, or has a pattern.

        `name` is the function that the filter calls: `startswith`, `endswith` or `matches`; `text` and `other` are
        the syntax trees of its arguments, which are nested in a call at depth `depth`. The returned function takes
        the row's index, and returns a bool. Values that are no texts are compared as the text that `str` gives (12
        begins with "1"), so no comparison fails, though computing an argument may raise `TypeError`, `ValueError`
        or an `ArithmeticError`; of a tuple as `other` one must fit. All texts of the column are searched by
        `matches` here, at once.

        Raises:
            ArgumentError: `matches` has no column or no literal pattern, or its pattern is invalid or takes too
                long; or an argument is nested too deeply, or has what a filter has not.
        """
        part, with_what = self.compile_node(text, depth + 1), self.compile_node(other, depth + 1)
        if name != "matches":
            compare = str.startswith if name == "startswith" else str.endswith
            return lambda index: compare(f"{part(index)}", _texts(with_what(index)))
        column = self._by_name.get(ast.unparse(text))
        if (
            column is None
            or not isinstance(other, ast.Constant)
            or not isinstance(other.value, str)
        ):
            raise ArgumentError(
                "`matches` takes a column and a pattern.", "Such as name.matches('^c0[0-9]+$')."
            )
        found = frozenset(self._search(other.value, [*{f"{each}" for each in column}]))
        return lambda index: f"{column[index]}" in found

    def _compile_unary(self, node: ast.UnaryOp, depth: int) -> Reads:
        """Return a function that gives, in a row, the value of a `not` or of a number with a minus sign.

        The returned function takes the row's index (from 0); for a minus it raises `TypeError` if the operand is
        no number. It also raises what reading the operand raises. `node` is the syntax tree, nested `depth`
        levels deep; its operand may be any part of a filter.

        Raises:
            ArgumentError: `node` has another operator, or its operand is nested too deeply or has what a filter
                must not have.
        """
        part = self.compile_node(node.operand, depth + 1)
        if isinstance(node.op, ast.Not):
            return lambda index: not part(index)
        if isinstance(node.op, ast.USub):
            return lambda index: -_number(part(index))
        raise ArgumentError("The filter knows no such sign.", _hint(self._columns))

    def _compile_comparison(self, node: ast.Compare, depth: int) -> Reads:
        """Return a function that tells of a row whether a comparison such as `a < b < c` holds.

        The function takes the row's index; it computes all parts, and raises `TypeError`, `ValueError` or an
        `ArithmeticError` where values cannot be compared or computed. In a filter `is` means `==`, and `in` finds a
        value in a tuple, or the text of a value in that of any other value (2 in 12). `node` is the comparison's
        syntax tree, nested `depth` levels deep.

        Raises:
            ArgumentError: A part of the comparison is nested too deeply, or is nothing that a filter can have.
        """
        parts = [self.compile_node(each, depth + 1) for each in (node.left, *node.comparators)]
        compares = [_COMPARES[type(each)] for each in node.ops]

        def compared(index: int) -> bool:
            """Return whether the comparison holds in a row."""
            values = [part(index) for part in parts]
            pairs = zip(compares, values, values[1:], strict=False)
            return all(compare(one, other) for compare, one, other in pairs)

        return compared

    def _compile_arithmetic(self, node: ast.BinOp, depth: int) -> Reads:
        """Return a function that computes an arithmetic operation of two numbers in a row.

        The returned function takes the row's index (from 0). It raises `TypeError` if an operand is no number,
        and `ArithmeticError`, such as for a division by zero. `node` is the syntax tree, nested `depth` levels
        deep; its operator must be one of `_RECKONS` (`+ - * / // %`), which is not checked here.

        Raises:
            ArgumentError: An operand is nested too deeply, or has what a filter must not have.
        """
        left, right = (
            self.compile_node(node.left, depth + 1),
            self.compile_node(node.right, depth + 1),
        )
        reckon = _RECKONS[type(node.op)]
        return lambda index: reckon(_number(left(index)), _number(right(index)))


def _texts(value: CellValue) -> str | tuple[str, ...]:
    """Return a value's text, or those of a tuple's values."""
    parts = cast("tuple[CellValue, ...]", value) if isinstance(value, tuple) else None
    return f"{value}" if parts is None else tuple(f"{each}" for each in parts)


def _number(value: CellValue) -> float:
    """Return a value that is a number.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, int | float):
        raise TypeError
    return value


By = Literal["thread", "task", "caller", "process", "function"]
MAX_LISTED_ROWS = 40
"""Rows that are listed where nobody has chosen them; of more the first and last half of it."""
MAX_GROUPS = 12
BARS = "▁▂▃▄▅▆▇█"
PLOT_CHARS = 60
"""Characters of a plot."""
_RANGE = re.compile(r"#?(\d{1,15})(?:\s*[-…:]+\s*#?(\d{1,15})?)?")


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows that somebody asks for."""

    rows: str = ""
    """Hits: `7`, `10-20` or `10-`."""
    where: str = ""
    changes: bool = False
    by: By | None = None
    plot: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether a range or a filter says which rows are wanted."""
        return bool(self.rows or self.where)

    @property
    def wants_summary(self) -> bool:
        """Whether only a summary is wanted, as nothing in particular is asked for."""
        return not (self.rows or self.where or self.changes or self.by or self.plot)


def listing(
    table: Table,
    names: Sequence[str],
    selection: RowSelection,
    *,
    calls: bool = False,
    process: int = 0,
    search: Search,
) -> list[str]:
    """Return the rows of a table that a selection wants, as lines: a list, groups, or plots.

    `names` are the names of the columns; with `calls` the rows are calls, and `names` begin with those of
    `OF_CALLS`. `process` is the process id, or for rows that it has not written itself the number of its
    session, shown where they are grouped by process. `search` is called with a regular expression of the filter
    and texts, and returns those in which it is found. Rows that a range or a filter has chosen are not cut,
    others are, to `MAX_LISTED_ROWS`; of groups and functions only the first are shown, and how many more there
    are. If no row is chosen, the only line says so.

    Raises:
        ArgumentError: The range or the filter is invalid, `search` fails, or `by="function"` is asked of rows
            that are no calls.
    """
    chosen = row_range(selection.rows)
    indices = [
        index
        for index in filtered_indices(table, names, selection.where, search, calls=calls)
        if chosen.start < table.row(index).hit <= (chosen.stop or math.inf)
    ]
    if not indices:
        return ["no such rows"]
    picked = table.rows_at(indices)
    if selection.by == "function":
        if not calls:
            raise ArgumentError(
                "Only calls have functions; these are rows of one place.",
                'by="caller" groups them; breakpoints=[{"calls": ["shop.*"]}] records calls.',
            )
        return list(by_time(picked, names[len(OF_CALLS) :]))
    if selection.by:
        return list(_groups(picked, names, selection, calls=calls, process=process))
    if calls and not selection.plot:
        lines = lines_one_by_one(picked, names[len(OF_CALLS) :], changes=selection.changes)
        return list(lines if selection.is_chosen else _cut_lines(lines))
    return list(_lines(picked, names, selection))


def row_range(rows: str) -> slice:
    """Return a range of rows such as "10-20", which counts from 1, as a slice, which counts from 0.

    The last row of the range is included, "10-" goes on to the last one, and "7" is that row alone; `:` and `…`
    do as `-` does. A `#` may stand before a number. An empty text gives all rows. "0", or a range that ends
    before it begins, such as "20-10", gives a slice of no rows; as a beginning, 0 counts as 1.

    Raises:
        ArgumentError: The text is no range, or it is blank without being empty.

    >>> row_range("7"), row_range("10-20"), row_range("10-"), row_range("")
    (slice(6, 7, None), slice(9, 20, None), slice(9, None, None), slice(0, None, None))
    """
    if not rows:
        return slice(0, None)
    found = _RANGE.fullmatch(rows.strip())
    if found is None:
        raise ArgumentError(f"`{rows[:40]}` is no range of rows.", "Give rows as 7, 10-20 or 10-.")
    first = int(found[1])
    open_end = not rows.strip().lstrip("#").isdigit()
    last = int(found[2]) if found[2] else (None if open_end else first)
    return slice(max(first - 1, 0), last)


def filtered_indices(
    table: Table, names: Sequence[str], where: str, search: Search, *, calls: bool
) -> Sequence[int]:
    """Return the indices of the rows for which the filter `where` holds; an empty filter holds for all.

    Raises:
        ArgumentError: It is no filter.
    """
    if not where:
        return range(len(table))
    return matching_indices(where, _values(table, names, calls=calls), len(table), search)


def _values(table: Table, expressions: Sequence[str], *, calls: bool) -> dict[str, list[object]]:
    """Return the values of all columns that a filter may use, by name.

    The names are `hit`, `seconds`, `thread`, `task`, `caller`, the expressions, and `c1`, `c2` … for these. An
    expression of the same name takes the place of a column. Cells are read by `value_of`; threads, tasks and
    callers stay texts. With `calls`, `error` is the name of the exception that the call has raised, or None.

    Raises:
        ValueError: `expressions` are not as many as the table has columns of cells.
    """
    values: dict[str, list[object]] = {
        "hit": [value_of(each) for each in table.hits],
        "seconds": [value_of(each) for each in table.seconds],
        "thread": [*table.threads],
        "task": [*table.tasks],
        "caller": [*table.callers],
    }
    columns = [[value_of(each) for each in cells] for cells in table.cells]
    values |= {f"c{number}": each for number, each in enumerate(columns, 1)}
    values |= zip(expressions, columns, strict=True)
    if calls:
        results = table.cells[OF_CALLS.index("result")]
        values["error"] = [_error(each) for each in results]
    return values


def _error(result: str) -> str | None:
    """Return the name of the exception that a call has raised; None: none."""
    return result[1:].partition(":")[0].strip() if result.startswith(FAILED) else None


def _lines(table: Table, expressions: Sequence[str], selection: RowSelection) -> Iterator[str]:
    """Yield rows as lines, or plots, as a selection wants them; columns that do not change come first.

    All rows of `table` are meant: the caller has applied the range and the filter of `selection`. With
    `plot` only the plots are yielded. With `changes` a line says how many of the rows change something, and
    only those are listed that are unlike the row before, the first row included. If `selection` has neither
    a range nor a filter, and more than `MAX_LISTED_ROWS` are to be listed, only the first and last ones
    are. `expressions` are the names of the table's columns.
    """
    found = shown_columns(table, expressions, 0 if len(table) > 1 else MAX_WHOLE_CELL_CHARS)
    if selection.plot:
        yield from _plots(found)
        return
    yield from lines_on_columns(found, few=True)
    indices = _changed(found) if selection.changes else list(range(len(table)))
    if selection.changes:
        yield f"{len(indices):,} of {len(table):,} rows change something"
    lines = (found.row(index) for index in indices)
    yield from lines if selection.is_chosen else _cut_lines(lines)


def _cut_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; of more than `MAX_LISTED_ROWS` the first and the last half, and how many are between."""
    every = list(lines)
    half = MAX_LISTED_ROWS // 2
    if len(every) <= MAX_LISTED_ROWS:
        yield from every
        return
    yield from every[:half]
    yield f"… {len(every) - 2 * half:,} more"
    yield from every[-half:]


def _changed(found: ShownColumns) -> list[int]:
    """Return the indices of the rows that are unlike the row before, the first one included."""
    columns = [each.values for each in found.columns.values()]
    rows = list(zip(*columns, strict=True)) if columns else []
    return [0, *(index for index, (one, two) in enumerate(pairwise(rows), 1) if one != two)]


def _groups(
    table: Table, names: Sequence[str], selection: RowSelection, *, calls: bool, process: int
) -> Iterator[str]:
    """Yield lines on the rows of each thread, task, caller or process, as `selection.by` says.

    A group has a line with its name and how many rows it has, then indented ones that sum them up; with
    `calls` the rows are calls, and these are a tree. All rows of `table` are summarized: the caller has applied
    the range and the filter of `selection`, whose `by` is one of these four. `names` are those of the columns,
    `process` is the number of the process of all rows. At most `MAX_GROUPS` groups are shown, in the order in
    which they come; a last line counts the others.
    """
    key = {
        "thread": table.threads,
        "task": table.tasks,
        "caller": table.callers,
        "process": [f"{process}"] * len(table),
    }[selection.by or ""]
    by: dict[str, list[int]] = {}
    for index, each in enumerate(key):
        by.setdefault(each, []).append(index)
    for name, indices in list(by.items())[:MAX_GROUPS]:
        what = "calls" if calls else "rows"
        yield f"{selection.by} {name or '(none)'}: {len(indices):,} {what}"
        picked = table.rows_at(indices)
        if calls:
            yield from (f"  {each}" for each in tree_lines(picked, names[len(OF_CALLS) :]))
            continue
        found = shown_columns(picked, names)
        yield from (f"  {each}" for each in lines_on_columns(found, few=False))
        yield from (f"  {each}" for each in odd_row_lines(found))
    if len(by) > MAX_GROUPS:
        yield f"{len(by) - MAX_GROUPS} more groups: narrow them by where"


def _plots(found: ShownColumns) -> Iterator[str]:
    """Yield a line with a plot for each column whose numbers change, or one line that there is none.

    A plot's line has the name of the column, its least number, the plot (one character for some rows each),
    and its greatest number. A column without a `range`, such as one of texts, is left out.
    """
    plotted = False
    for name, each in found.columns.items():
        if each.range is None:
            continue
        plotted = True
        low, high = each.range
        yield f"{name}: {low:,.6g} {_plot(each.values, low, high)} {high:,.6g}"
    if not plotted:
        yield "no column of numbers that changes"


def _plot(values: Sequence[str], low: float, high: float) -> str:
    """Return a plot of a column in block characters, each the mean of its rows; a blank: no number there.

    `values` are the texts of the column's cells, in order. There are at most `PLOT_CHARS` characters; each stands
    for an equal share of the rows. True and false count as 1 and 0; infinities, numbers too large for a float, NaN and what is no number do not
    count. `low` and `high` are the numbers of the lowest and the highest block, which also stand for what is
    beyond. The result is empty without values.

    >>> _plot(["1", "2", "9" * 400, "inf", "3"], 1, 3)
    '▁▅  █'
    """
    numbers = [value_of(each) for each in values]
    count = min(PLOT_CHARS, len(numbers))
    bars = ""
    for place in range(count):
        part = numbers[place * len(numbers) // count : (place + 1) * len(numbers) // count]
        # A whole number may be greater than any that divides.
        finite = [n for n in part if isinstance(n, int | float) and abs(n) <= sys.float_info.max]
        if not finite:
            bars += " "
            continue
        share = (sum(finite) / len(finite) - low) / ((high - low) or 1)
        bars += BARS[min(len(BARS) - 1, max(0, int(share * len(BARS))))]
    return bars
