"""The tables of a definition on where a program stops, and on the owners of frames."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from dapeer.adapters.definition.table import Compiled, DefinitionTable, Evaluated
from dapeer.dap.exception_filters import Filter, Filters, TypeFilter
from dapeer.mirror.frames import ForeignFrames, Frames, Raised


@dataclass(frozen=True, slots=True)
class Expressions:
    """Expressions to evaluate at a stop if the adapter reports too little; empty: none."""

    signal: str = ""
    """The number of the signal that the program has got."""
    exception: str = ""
    """The exception that it has stopped at."""
    finding: str = ""
    """What a sanitizer has found, as a text in quotes; it may call functions of the sanitizer."""
    finding_at: Compiled = None
    """A pattern of the innermost function in which that is known."""
    printed_place: Compiled = None
    """A pattern, with `file` and `line`, of the place in what is printed of a finding.

    It counts where the debugger knows no frame of the user's.
    """
    thrown: str = ""
    """A command of the debugger that prints a C++ exception's type and text, as a JSON text."""
    thrown_at: Compiled = None
    """A pattern of the innermost function at which it does."""
    members: Evaluated = ""
    """Its value is a JSON object: members, by name, of the variables that the adapter does not expand.

    `${names}` are these variables.
    """
    texts: Evaluated = ""
    """Its value is a JSON object: which text of a file that has changed the program's code is of.

    It needs no thread of the program. `${spec}` is a text, a JSON list: the file, and its text from before, null: unknown. The keys are `new`,
    whether code of the new text is loaded; `frames`, name and line of each that is of the text from before; and `functions`,
    the names of such ones.
    """
    bare: Compiled = None
    """A pattern of such a value, as the adapter shows it."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """`[[frames]]`, `[[filter]]`, `[exception_types]` and `[expressions]`, and other facts about stops."""

    foreign: tuple[ForeignFrames, ...] = ()
    """Owners of stack frames outside of the user's code."""
    raised: tuple[Raised, ...] = ()
    filters: Filters = field(default_factory=Filters)
    expressions: Expressions = field(default_factory=Expressions)
    traceback: re.Pattern[str] | None = None
    """How the place of an error is printed that has ended the program: with the groups `file` and `line`."""
    debugger: re.Pattern[str] | None = None
    """The paths of the debugger's own files, where that runs in the program."""
    folded: re.Pattern[str] | None = None
    """The placeholder in a value for omitted elements, if debugpy is unpatched."""
    more_elements: re.Pattern[str] | None = None
    """`NAME: TYPE` of a child that stands for more elements of its container."""

    @classmethod
    def read(cls, top: DefinitionTable) -> Stopping:
        """Return the tables on stops of a definition file, whose top is `top`.

        Raises:
            DefinitionError: Something in them is wrong.
        """
        raised: list[Raised] = []
        filters = tuple(_filter(each, raised) for each in top.tables("filter"))
        types = _types(top.table("exception_types")) if "exception_types" in top else None
        return cls(
            tuple(map(_foreign, top.tables("frames"))),
            tuple(raised),
            Filters(filters, types),
            top.table("expressions").read(Expressions),
            _traceback(top),
            top.compiled("debugger"),
            top.compiled("folded"),
            top.compiled("more_elements"),
        )

    def frames(self, project: Path) -> Frames:
        """Return what tells the user's stack frames from others; `project` is the folder of the user's code."""
        return Frames(self.foreign, project, self.raised)


def _foreign(table: DefinitionTable) -> ForeignFrames:
    """Return one table `[[frames]]`.

    Raises:
        DefinitionError: It has neither `path` nor `function`, or something else in it is wrong.
    """
    path, function = table.compiled("path"), table.compiled("function")
    read = ForeignFrames(table.text("of"), path, function)
    if not path and not function:
        raise table.wrong(f"`{table.at('path')}` or `function` is missing")
    table.done()
    return read


def _filter(table: DefinitionTable, raised: list[Raised]) -> Filter:
    """Return one table `[[filter]]`; the stops that it is for are appended to `raised`.

    Raises:
        DefinitionError: Something in it is wrong.
    """
    at, environment = table.table("at"), table.table("environment")
    raised += [Raised(reason, re.compile(at.pattern(reason))) for reason in at]
    read = Filter(
        table.text("name"),
        table.get("default", bool, default=False),
        table.texts("functions"),
        environment.all_texts(),
    )
    table.done()
    return read


def _types(table: DefinitionTable) -> TypeFilter:
    """Return the table `[exception_types]`.

    Raises:
        DefinitionError: It has both or none of `condition` and `modes`, or something else in it is wrong.
    """
    modes = table.table("modes")
    read = TypeFilter(
        table.text("filter"),
        table.get("condition", str, ""),
        table.get("category", str, ""),
        modes.all_texts(),
    )
    if bool(read.condition) is bool(read.modes):
        raise table.wrong(f"one of `{table.at('condition')}` or `modes` is required, and not both")
    table.done()
    return read


def _traceback(top: DefinitionTable) -> re.Pattern[str] | None:
    """Return the pattern `traceback` of a definition file; None if it has none.

    Raises:
        DefinitionError: The pattern lacks the groups `file` and `line`.
    """
    compiled = top.compiled("traceback", re.MULTILINE)
    if compiled is not None and not {"file", "line"} <= compiled.groupindex.keys():
        raise top.wrong("key `traceback` needs the groups `file` and `line`")
    return compiled
