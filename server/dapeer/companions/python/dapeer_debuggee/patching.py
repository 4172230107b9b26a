"""The register of what dapeer changes in other people's Python code. Nothing else changes any of it.

A `Row` stands beside each patch: its name, whose code it changes, the versions that it was tried with, what it needs, and what is lost without it. A row whose probe does not hold is off. Where one of its functions raises, the stock function does the work of
that call, and the row is off from then on. The names of the rows that are off, and why, go to `reporters`.

It also runs in the debuggee, in Python 3.8 and later, so it imports nothing of dapeer.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import probing
from .tried_code import DIGESTS

Misfit: Any = probing.Misfit
Meant: Any = probing.Meant
guarded: Any = probing.guarded

SETTING = "DAPEER_PATCHES"
"""The environment variable: `off` runs without all rows, `-NAME` (several between commas) without one."""
MARK = "dapeer-patch-off "
"""Begins a line of an adapter's stderr that names a row that is off; then come a word and JSON."""
WORD = "DAPEER_WORD"
"""The variable with that word, which sets the line apart from the program's; the program has it not."""
word = os.environ.pop(WORD, "")
EVENT = "dapeerPatchOff"
"""The event with the same object, in a process whose stderr is the program's."""

rows: dict[str, Row] = {}
"""All rows of this process by name, in the order in which they are applied."""
tried = {
    "debugpy": ("1.8.22", "1.8.22"), "Python": ("3.8", "3.13"), "GDB": ("18.1", "18.1"), "LLDB": ("19.1", "20.1"),
    "Linux": ("6.18", "6.18"), "Twisted": ("26.10", "26.10"),
}  # fmt: skip
"""By whose code: the first and the last version that the rows were tried with."""
versions: dict[str, Callable[[], str]] = {}
"""By whose code: what returns its version."""
news: list[dict[str, str]] = []
"""What nobody was told yet: `name`, `lost` and `why`."""
first_process = [
    True
]  # whether this is the process that the adapter has started, so its stdout is the program's output
setting = [os.environ.get(SETTING, "")]
"""What the user has set; the last one counts."""
reporters: list[Callable[[dict[str, str]], bool]] = []
"""What tells it, if anything can; it returns whether it did. The last one is asked."""


class Row:
    """One patch."""

    def __init__(
        self,
        name: str,
        whose: str,
        lost: str,
        *,
        replaces: Mapping[str, str] | None = None,
        uses: Iterable[str] = (),
        adds: bool = False,
        secures: bool = False,
        since: str = "",
    ) -> None:
        """Enter it into the register.

        Args:
            name: Its name, for `DAPEER_PATCHES`.
            whose: The software that it changes.
            lost: One sentence: what is lost without it.
            replaces: Each function that it replaces, as `module:Class.function`, with its `shape`.
            uses: What else it needs, as `module:Class.name`, a function perhaps with its shape: `module:function(frame levels=)`;
                `module:Class#name` is an attribute that the class's constructor sets.
            adds: It only adds what is not there, so it fits every version.
            secures: Without it others can reach the program, so it is told even where the user has switched it off.
            since: The first version of that software that has what it needs; in earlier ones it is unused, and nothing reports that.
        """
        self.name, self.whose, self.lost = name, whose, lost
        self.off_note: dict[str, str] | None = None
        """What tells that it is off."""
        self.replaces, self.uses = dict(replaces or {}), tuple(uses)
        self.adds = adds
        called = [each[:-1].split("(") for each in self.uses if each.endswith(")")]
        self.signatures = {**self.replaces, **dict(called)}
        """By target: the shape of each function that it replaces or calls."""
        self.secures = secures
        self.since = since
        self.off = _NOT_YET
        """Why the stock behaviour runs; empty where the patch does."""
        self._apply: Callable[[Row], None] | None = None
        self._undo_functions: list[Callable[[], None]] = []
        self._replaced_attributes: list[tuple[Any, str, Any, Any]] = []
        """Owner, name, what was there (`probing.NOTHING`: nothing in the owner itself), and what is there now."""
        rows[name] = self

    def __call__(self, apply: Callable[[Row], None]) -> Callable[[Row], None]:
        """Register the function that applies this row's patch, as its decorator; return it unchanged.

        `apply` is called by `Row.apply` with this row, when its probe has succeeded.
        """
        self._apply = apply
        return apply

    def apply(self) -> bool:
        """Probe what the row needs, and apply its patch; return whether it is on. It raises nothing.

        A row that is on, or that has failed once, stays as it is. `off` says afterwards why the patch is not on: the user has switched it
        off, the other software has what it needs by itself, or it does not fit. A failure is undone and reported; a row that was only
        undone is applied again.
        """
        if not self.off or self.off.startswith(_FAILED):
            return not self.off
        if is_switched_off(self.name):
            self.off = f"switched off by {SETTING}"
            if self.secures:
                self._report(self.off)
            return False
        if self.since and probing.version_numbers(versions[self.whose]()) < probing.version_numbers(
            self.since
        ):
            self.off = f"unused: {self.whose} has what it needs since {self.since}"
            return False
        try:
            self.probe()
            self.off = ""
            if self._apply is not None:
                self._apply(self)
        except Exception as error:
            self.undo()
            self.fail(error)
        return not self.off

    def undo(self) -> None:
        """Put back what the row has replaced, call its undo functions, and mark it as off.

        What others have replaced since stays: there this row's function calls the stock one. Undo functions are called once, the last one
        first; what one raises leaves this.
        """
        self.off = self.off or "it was undone"
        for owner, name, before, ours in reversed(self._replaced_attributes):
            if probing.of_itself(owner, name) is not ours:
                continue
            if before is probing.NOTHING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self._replaced_attributes.clear()
        while self._undo_functions:
            self._undo_functions.pop()()

    def and_undo(self, undo: Callable[[], None]) -> None:
        """Register a function that `undo` calls; the last one registered is called first."""
        self._undo_functions.append(undo)

    def fail(self, error: BaseException) -> None:
        """Mark the row as off for good, and report that once, with `error` as the reason.

        A `RecursionError` or `MemoryError` is the program's lack of room: then nothing happens. What is replaced stays, and calls the stock
        functions from now on.
        """
        if isinstance(error, (RecursionError, MemoryError)) or self.off.startswith(_FAILED):
            return
        why = str(error) if isinstance(error, Misfit) else f"{type(error).__name__}: {error}"
        self.off = f"{_FAILED}{why}"
        self._report(why)

    def note(self, error: BaseException) -> dict[str, str]:
        """Return the report that the row is off because of `error`: a dict of `name`, `lost` and `why`.

        Nothing is sent.
        """
        return self._note(f"{type(error).__name__}: {error}")

    def _note(self, why: str) -> dict[str, str]:
        return {"name": self.name, "lost": self.lost, "why": why[:_MAX_REASON_CHARS]}

    def _report(self, why: str) -> None:
        """Keep a report that the row is off in `off_note` and `news`, and send it where anything can."""
        self.off_note = self._note(why)
        news.append(self.off_note)
        report_news()

    def probe(self) -> None:
        """Check that the other software has all that the row needs; its modules are imported for that.

        It needs parameters and names, and in untried versions the same code of functions. Nothing is changed.

        Raises:
            Misfit: Something is not.
            Exception: A module of the other software raises that when it is imported.
        """
        for target, known in self.signatures.items():
            found = probing.shape(probing.attribute(target))
            if found != known:
                raise Misfit(f"{target} takes ({found}), not ({known})")
        for target in self.uses:
            probing.attribute(target.partition("(")[0])
        if not self.adds and not self.is_tried():
            self._check_code()

    def _check_code(self) -> None:
        """Check that an untried version has the functions of one that was tried.

        Where nobody has recorded the code of a software, the shapes must do.

        Raises:
            Misfit: It has others, or the row has nothing to compare.
        """
        tried_code = DIGESTS.get(self.whose)
        if not self.signatures or tried_code is None:
            if not self.signatures:
                raise Misfit(f"it was not tried with this version of {self.whose}")
            return
        for target in self.signatures:
            if probing.digest(probing.attribute(target)) not in tried_code.get(target, ()):
                raise Misfit(
                    f"{target} is not as in {self.whose} {tried[self.whose][1]}, the last that it was tried with"
                )

    def is_tried(self) -> bool:
        """Return whether the installed version of the software is one that the rows were tried with."""
        version = versions.get(self.whose, str)()
        first, last = map(probing.version_numbers, tried[self.whose])
        now = probing.version_numbers(version)
        return bool(version) and first <= now and now[: len(last)] <= last

    def replace(self, target: str, *, again: bool = False) -> Callable[[Any], Any]:
        """Return a decorator that replaces a function of the other software, until the row is undone.

        The decorated function gets the stock one first, then the arguments. Where it raises, the stock function does the work of that call,
        and the row is off from then on; see `probing.guarded`. The decorator returns the decorated function unchanged.

        Args:
            target: One of those that the row `replaces`, as `module:Class.function`.
            again: The stock function changes nothing, so it may be called again where it raises because of what it was given.

        Raises:
            Misfit: The row does not state the target, or the function takes less than the stock one (when it is decorated).
        """

        def decorate(ours: Any) -> Any:
            """Replace the target by `ours`, guarded, and return `ours`."""
            if target not in self.replaces:
                raise Misfit(f"row {self.name} does not state {target}")
            owner, name = probing.owner_of_target(target)
            stock: Any = probing.of_itself(owner, name)
            if stock is probing.NOTHING:
                stock = getattr(owner, name)
            if probing.of_kind(stock, classmethod):
                probing.check_passes_on(ours, f"cls {self.replaces[target]}")
                made: Any = classmethod(guarded(self, stock.__func__, ours, again=again))
            else:
                probing.check_passes_on(ours, self.replaces[target])
                made = guarded(self, stock, ours, again=again)
            self.set(target, made)
            return ours

        return decorate

    def set(self, target: str, value: Any) -> None:
        """Set an attribute of the other software, `module:Class.name`, until the row is undone.

        Raises:
            Misfit: The module or class does not have the outer part of the name.
        """
        owner, name = probing.owner_of_target(target)
        self.set_in(owner, name, value)

    def set_in(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class until the row is undone; what was there is remembered."""
        before = probing.of_itself(owner, name)
        setattr(owner, name, value)
        self._replaced_attributes.append((owner, name, before, probing.of_itself(owner, name)))

    def guard(self, ours: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function for other software to call: `ours` while the row is on, `instead` once it is off.

        Where `ours` raises, the row fails, which is reported, and `instead` gets the same arguments. `Meant` and what a signal handler of
        the program raises are raised.
        """

        @functools.wraps(ours)
        def called(*given: Any, **named: Any) -> Any:
            """Call `ours` while the row is on and does not fail, else `instead`."""
            if not self.off:
                try:
                    return ours(*given, **named)
                except Meant as meant:
                    raise meant.error from None
                except Exception as error:
                    if probing.guard.is_from_signal(error):
                        raise
                    self.fail(error)
            return instead(*given, **named)

        return called


_FAILED, _NOT_YET = "failed: ", "it was not applied yet"
_MAX_REASON_CHARS = 300
"""Characters of a reason."""


def is_switched_off(name: str) -> bool:
    """Return whether the user's setting switches off the row `name`, or all rows; empty: whether all."""
    words = setting[-1].replace(",", " ").split()
    return "off" in words or f"-{name}" in words


def report_news() -> None:
    """Send the reports of rows that are off by the last of `reporters`, and drop what is sent.

    Without a reporter, or where it cannot send yet, they stay for the next call. What it raises is ignored.
    """
    for each in list(news) if reporters else ():
        try:
            if not reporters[-1](each):
                return
            # Another thread may have told it, too.
            news.remove(each)
        except Exception:
            return


def to_stderr(body: dict[str, str]) -> bool:
    """Write the report of a row that is off to stderr, as a line that dapeer recognizes.

    Always return True. It is a reporter. In a process to which dapeer has given no word, nothing is written.
    """
    if word:
        os.write(2, f"\n{MARK}{word} {json.dumps(body)}\n".encode())
    return True


def with_word(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of an environment with the variable that lets a process report rows on its stderr.

    `environment` is None or empty for this process's own.
    """
    return {**(environment or os.environ), **({WORD: word} if word else {})}


def apply_all() -> None:
    """Apply all registered rows, in the order of their registration."""
    for row in list(rows.values()):
        row.apply()


def undo_all() -> None:
    """Undo all rows, the latest first."""
    for row in reversed(list(rows.values())):
        row.undo()


def listed() -> list[dict[str, Any]]:
    """Return all rows of this process as dicts, as `dapeer doctor --patches` shows them.

    The keys are `name`, `whose`, `tried` (versions), `lost`, `off` (why; empty: the row is on) and `touches` (targets).
    """
    return [
        {
            "name": row.name, "whose": row.whose, "tried": " to ".join(dict.fromkeys(tried[row.whose])), "lost": row.lost,
            "off": row.off, "touches": [*row.replaces, *row.uses],
        }
        for row in rows.values()
    ]  # fmt: skip


versions.update(
    debugpy=lambda: str(getattr(importlib.import_module("debugpy"), "__version__", "")),
    Python=lambda: ".".join(map(str, sys.version_info[:3])),
)
