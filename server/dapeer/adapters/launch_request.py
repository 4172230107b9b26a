"""A request to start something, and the tests that it names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.definition import RequestName
from dapeer.adapters.runner import TestSelection
from dapeer.base.json_types import Json

MAX_SUGGESTED_TESTS = 5
"""Names of tests that are suggested for an unknown one."""


@dataclass(frozen=True, slots=True)
class NamedTests:
    """Tests that a program runs by name, with an error if there are none."""

    file: Path
    parts: Sequence[str]
    naming: TestSelection

    def why_unknown(self, printed: str) -> str | None:
        """Return why the runner knows no such test, as a clause; None if it does, or has not said so.

        `printed` is the runner's output. The test is the one of `parts`: the clause says that the build is without
        the file, or that the file has no such test, with names like it. Without `parts` it is every test of the file,
        and the clause can only say that the build is without the file. The file is read for that.

        Raises:
            OSError: The file cannot be read.
        """
        if left_out := self._why_left_out(printed):
            return left_out
        if not self.parts or not self.naming.is_unknown(self.parts, printed):
            return None
        name = "::".join(self.parts)
        return f"no test of {self.file.name} is called `{name}`{suggested_tests(self.naming.written_in(self.file), name)}"

    def none_ran(self, printed: str) -> bool:
        """Return whether the runner has said in its output, `printed`, that no test ran."""
        if self.naming.none is not None:
            return self.naming.none.search(printed) is not None
        return self.naming.is_unknown((), printed)

    def why_none_ran(self, printed: str) -> str | None:
        """Return how it is known that no test ran; None: some have, or it is not known.

        `printed` is the runner's output.
        """
        if not self.none_ran(printed):
            return None
        return self._why_left_out(printed) or "its output says so"

    def _why_left_out(self, printed: str) -> str:
        """Return why the build leaves the file out, as a clause without a period; empty: no reason is known.

        A reason is looked for only if `printed`, the runner's output, says that the runner knows none of the tests
        that count. These tests are those written in the file, which is read, or the named one (the first of `parts`)
        if it is written there. If no test counts, the result is empty.

        Raises:
            OSError: The file cannot be read.
        """
        written = self.naming.written_in(self.file) if self.naming.left_out else []
        wanted = [each for each in self.parts[:1] if each in written] if self.parts else written
        if not wanted or not all(self.naming.is_unknown([each], printed) for each in wanted):
            return ""
        why = self.naming.why_left_out(self.file)
        return f"{self.file.name} is not compiled here: {why}" if why else ""


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What is to be started.

    It is a call's arguments, without those that were not given, or how the tests of a runner are launched.
    """

    type: str | None
    request: RequestName | None
    name: str
    inputs: Json
    config: Json
    filters: Sequence[str] | None
    functions: Sequence[str] = ()
    """Functions to stop in."""
    conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the filters."""
    tests: NamedTests | None = None

    @property
    def opts(self) -> dict[str, Any]:
        """The options that Neovim's plugin gets besides the configuration: the exception filters, if given."""
        return {} if self.filters is None else {"exception_filters": list(self.filters)}


def suggested_tests(names: Sequence[str], name: str) -> str:
    """Return a clause with the names of tests that are most like `name`, or else with the first ones.

    The clause begins with a semicolon: "; there is `a`, `b`". It has at most `MAX_SUGGESTED_TESTS` of
    `names`, in backticks, the most alike first. Likeness is that of the last parts behind `::`; of
    several alike with the same last part only the last one is suggested. The clause is empty if `names`
    is empty.
    """
    by_last = {each.rpartition("::")[2]: each for each in names}
    near = difflib.get_close_matches(name.rpartition("::")[2], by_last, MAX_SUGGESTED_TESTS, 0.4)
    suggestions = ", ".join(
        f"`{by_last.get(each, each)}`" for each in near or names[:MAX_SUGGESTED_TESTS]
    )
    return f"; there is {suggestions}" if suggestions else ""
