"""The register of what dapeer changes in other people's Python code. Nothing else changes any of it.

A `Row` stands beside each patch: its name, whose code it changes, the versions that it was tried with, what it needs, and what is lost without it. A row whose probe does not hold is off. Where one of its functions raises, the stock function does the work of
that call, and the row is off from then on. The names of the rows that are off, and why, go to `reporters`.

It also runs in the debuggee, in Python 3.8 and later, so it imports nothing of dapeer.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import guard
from .tried_code import DIGESTS

# What rows read in other software: its parts, its parameters, and calls' results.

HERE = sys._getframe().f_code.co_filename  # pyright: ignore[reportPrivateUsage]
"""The file of the register."""
NOTHING: Any = object()


class Misfit(Exception):
    """Something is not as a row needs it."""


def own_attribute(owner: Any, name: str) -> Any:
    """Return what a module or class has under a name in its own namespace, or `NOTHING`.

    `NOTHING` also stands for a name that it only inherits.
    """
    return owner.__dict__.get(name, NOTHING)


def has_entered(error: BaseException) -> bool:
    """Return whether an exception was raised inside of a stock function, not by unfit arguments.

    It is read from the traceback: entries of the register's own file do not count. So a `TypeError` that a function
    written in C raises gives False. An exception that is no `TypeError` gives True.
    """
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != HERE:
            return True
        trace = trace.tb_next
    return not isinstance(error, TypeError)


def check_passes_on(ours: Any, known: str) -> None:
    """Check that a replacement takes all that the stock function takes, and anything else.

    `ours` is the replacement, whose first parameter is the stock function. `known` has the parameters of the
    stock function, as `shape` returns them, such as `self frame levels=`. The parameters that the replacement
    takes both by position and by name must be the stock function's first ones, by name and in order; where
    `known` begins with `self` or `cls`, the replacement may call that otherwise. The replacement must have
    parameters such as `*rest` and `**named` for all others.

    Raises:
        Misfit: The replacement has no `*rest` or `**named`, or names other parameters than the stock
            function.
        ValueError: The replacement has no parameter.
    """
    _stock, *named = inspect.signature(ours).parameters.values()
    kinds = {each.kind for each in named}
    plain = [each.name for each in named if each.kind is each.POSITIONAL_OR_KEYWORD]
    stated = [each.strip("*=/'") for each in known.split()]
    if not {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        raise Misfit(f"{ours.__qualname__} does not pass on unknown arguments")
    if stated[:1] in (["self"], ["cls"]):
        del plain[:1], stated[0]
    if plain != stated[: len(plain)]:
        raise Misfit(f"{ours.__qualname__} names its arguments {plain}, not {stated}")


def shape(function: Any) -> str:
    """Return the parameters of a function in one line: `self frame levels= *rest only=' **named`.

    `=` follows a name with a default, `/` one that is only positional, `'` one that is only a keyword; `*` and
    `**` stand before names that take all the rest. Types and values of defaults are left out.

    Raises:
        ValueError, TypeError: The signature is unknown, as of some built-in functions, or it is no function.
    """
    return " ".join(
        {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        + each.name
        + ("=" if each.default is not each.empty else "")
        + {each.POSITIONAL_ONLY: "/", each.KEYWORD_ONLY: "'"}.get(each.kind, "")
        for each in inspect.signature(function).parameters.values()
    )


def digest(function: Any) -> str:
    """Return twelve hexadecimal digits of a function's source text, as its file has it now.

    They are the beginning of its SHA-256. A method stands for its function, and a function that wraps another one
    (`__wrapped__`), as the replacement of a patch does, for the innermost one.

    Raises:
        Misfit: There is no such text, as of a compiled function.
    """
    stock = inspect.unwrap(getattr(function, "__func__", function))
    try:
        text = inspect.getsource(stock)
    except (OSError, TypeError) as error:
        raise Misfit(f"the source of {stock!r} cannot be read") from error
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def owner_of_target(target: str) -> tuple[Any, str]:
    """Return the module or class in which a target `module:Class.name` is, and its name there.

    The module is imported, which may run its code. Whether the module or class has that name is not checked.

    Raises:
        Misfit: A class in between does not exist.
        ImportError: There is no such module. Any other exception that the module raises at its import leaves this function, too.
    """
    module, _, path = target.partition(":")
    *outer, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for each in outer:
        if not hasattr(owner, each):
            raise Misfit(f"there is no {target}")
        owner = getattr(owner, each)
    return owner, name


def attribute(target: str) -> Any:
    """Return what a target names: `module:Class.name`, or the class in `module:Class#name`.

    `#name` is an attribute that the class's constructor sets; it is only checked that the code of the
    constructor has the name.

    Raises:
        Misfit: It does not exist, or the constructor does not have the name.
        AttributeError: The constructor that is to have the name is not written in Python.
        ImportError: There is no such module. Any other exception that the module raises at its import leaves
            this function, too.
    """
    target, _, own = target.partition("#")
    owner, name = owner_of_target(target)
    if not hasattr(owner, name):
        raise Misfit(f"there is no {target}")
    found = getattr(owner, name)
    if own and own not in found.__init__.__code__.co_names:
        raise Misfit(f"{target} sets no {own}")
    return found


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version, to compare it by; `()` if it begins with none.

    A letter ends them.

    >>> version_numbers("1.8.23rc1"), version_numbers("newest")
    ((1, 8, 23), ())
    """
    numbers = re.match(r"[0-9.]*", version)
    return tuple(int(each) for each in numbers[0].split(".") if each) if numbers else ()


def of_kind(value: Any, kind: type) -> bool:
    """Whether a value is of a kind; a type checker knows no more of it for that."""
    return isinstance(value, kind)


class IntendedError(Exception):
    """Carries an exception that a patch raises on purpose, in the way of what it replaces."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class StockCall:
    """The stock function during one call of a patch, and what came of it."""

    __slots__ = ("_stock", "raised", "returned")

    def __init__(self, stock: Any) -> None:
        self._stock = stock
        self.returned: list[Any] = []
        """The result, once there is one."""
        self.raised: BaseException | None = None
        """What it has raised itself."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call the stock function, and keep in `returned` or `raised` what came of it."""
        try:
            result = self._stock(*given, **named)
        except BaseException as error:
            self.raised = error if has_entered(error) else None
            raise
        self.raised = None
        self.returned[:] = [result]
        return result

    def result_without_patch(self, given: Any, named: Any, *, again: bool) -> Any:
        """Return what the stock function returns for these arguments, for a patch that has failed.

        It is called only if it has not been called already; what it has raised itself is raised, unless it may be called `again`.
        """
        if self.raised is not None and not again:
            raise self.raised
        return self.returned[0] if self.returned else self._stock(*given, **named)


def guarded(patch: Any, stock: Any, ours: Any, *, again: bool = False) -> Any:
    """Return a replacement of `stock` that calls `ours`, and where that fails gives what `stock` gives.

    `ours` gets a `StockCall` first, then the arguments. What `stock` itself raises within it is raised, so is
    what `IntendedError` carries, and what a signal handler of the program raises. For any other `Exception` the
    result of `stock` is used, which is called if `ours` has not; then `patch.fail` is called. Once the row is
    off, only `stock` is called. With `again`, `stock` changes nothing, so it is called once more where `ours`
    has had it raise.
    """

    @functools.wraps(stock)
    def replaced(*given: Any, **named: Any) -> Any:
        """Call `ours`, or `stock` where the row is off or fails."""
        if patch.off:
            return stock(*given, **named)
        call = StockCall(stock)
        try:
            return ours(call, *given, **named)
        except IntendedError as meant:
            raise meant.error from None
        except Exception as error:
            if (call.raised is error and not again) or guard.is_from_signal(error):
                raise
            # Where this raises, too, that is not the row's fault.
            result = call.result_without_patch(given, named, again=again)
            patch.fail(error)
            return result

    return replaced


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
        """Owner, name, what was there (`NOTHING`: nothing in the owner itself), and what is there now."""
        rows[name] = self

    def __call__(self, apply: Callable[[Row], None]) -> Callable[[Row], None]:
        """Register the function that applies this row's patch, as its decorator; return it unchanged.

        `apply` is called by `Row.apply` with this row, when its probe has succeeded.
        """
        self._apply = apply
        return apply

    def apply(self) -> bool:
        """Probe what the row needs, and apply its patch; return whether the patch is on.

        Nothing is done if the patch is on, or if it has failed once. Otherwise `off` says afterwards why the
        patch is not on, and is empty if it is: the user has switched it off, the other software is older than
        `since`, or it does not fit. What the probe or the patch raises is undone and reported, and does not leave; a
        RecursionError or MemoryError is not reported, and the next call tries again. A patch that only `undo` has
        taken back is applied again. A row that `secures` is reported also where the user has switched it off.
        """
        if not self.off or self.off.startswith(_FAILED):
            return not self.off
        if is_switched_off(self.name):
            self.off = f"switched off by {SETTING}"
            if self.secures:
                self._report(self.off)
            return False
        if self.since and version_numbers(versions[self.whose]()) < version_numbers(self.since):
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
        """Put back what this patch has replaced, call its undo functions, and mark it as off.

        `off` gets the reason, unless it has one already. An attribute that others have replaced since keeps what
        they put there; where that still calls this patch's function, it calls the stock one. Undo functions are
        called once, the last one first. What one raises leaves this method; the functions that are left are then
        called by the next `undo`.
        """
        self.off = self.off or "it was undone"
        for owner, name, before, ours in reversed(self._replaced_attributes):
            if own_attribute(owner, name) is not ours:
                continue
            if before is NOTHING:
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
        report_off_rows()

    def probe(self) -> None:
        """Check that the other software has all that the row needs; its modules are imported for that.

        The functions that the row replaces or calls must have the same parameters, and the other names that it
        uses must exist. In versions with which the rows were not tried, the functions must also have the same
        code, if `DIGESTS` has the software, unless the row only adds what is not there (`adds`); other rows
        without functions do not fit there. Nothing is changed.

        Raises:
            Misfit: A function, its parameters or code, or a name is not as the row needs it.
            ValueError, TypeError: A function's parameters are unknown, as of some compiled ones, or it is none.
            AttributeError: A constructor that is to set a name is not written in Python.
            Exception: Importing a module of the other software raises this exception; `ImportError`: there is
                none.
        """
        for target, known in self.signatures.items():
            found = shape(attribute(target))
            if found != known:
                raise Misfit(f"{target} takes ({found}), not ({known})")
        for target in self.uses:
            attribute(target.partition("(")[0])
        if not self.adds and not self.is_tried():
            self._check_code()

    def _check_code(self) -> None:
        """Check that this version's functions have the same source text as those of the last tried version.

        It is for a version that the row was not tried with; the functions are the keys of `signatures`. If
        `DIGESTS` has no digests for the software at all, nothing is compared, as the shapes of the functions must
        do.

        Raises:
            Misfit: A function is missing, its source differs or cannot be read, or the row has no `signatures`.
            ImportError: A function's module is missing. Any other exception of its import leaves, too.
        """
        tried_code = DIGESTS.get(self.whose)
        if not self.signatures or tried_code is None:
            if not self.signatures:
                raise Misfit(f"it was not tried with this version of {self.whose}")
            return
        for target in self.signatures:
            if digest(attribute(target)) not in tried_code.get(target, ()):
                raise Misfit(
                    f"{target} is not as in {self.whose} {tried[self.whose][1]}, the last that it was tried with"
                )

    def is_tried(self) -> bool:
        """Return whether the installed version of the software is one that the rows were tried with."""
        version = versions.get(self.whose, str)()
        first, last = map(version_numbers, tried[self.whose])
        now = version_numbers(version)
        return bool(version) and first <= now and now[: len(last)] <= last

    def replace(self, target: str, *, again: bool = False) -> Callable[[Any], Any]:
        """Return a decorator that replaces a function of the other software, until the row is undone.

        The decorated function gets the stock one first, as a `StockCall`, then the arguments; it needs `*rest` and
        `**named`. What the stock function raises, what the decorated one raises as `IntendedError`, and what a signal
        handler of the program raises reach the caller. After any other `Exception` the caller gets the result of the
        stock function, which is called if it was not yet, and the row is off from then on (not after a RecursionError
        or MemoryError); see `guarded`. The decorator returns the decorated function unchanged; the errors below are
        the decorator's.

        Args:
            target: One of those that the row `replaces`, as `module:Class.function`.
            again: The stock function changes nothing, so it may be called again where it raises because of what it was
                given.

        Raises:
            Misfit: The row does not state the target, the target's class does not exist, or the decorated function
                takes less than the row states for the stock one.
            ImportError: There is no such module. Any other exception of its import leaves the decorator, too.
            AttributeError: The class or module does not have the function.
        """

        def decorate(ours: Any) -> Any:
            """Replace the target by `ours`, guarded, and return `ours`."""
            if target not in self.replaces:
                raise Misfit(f"row {self.name} does not state {target}")
            owner, name = owner_of_target(target)
            stock: Any = own_attribute(owner, name)
            if stock is NOTHING:
                stock = getattr(owner, name)
            if of_kind(stock, classmethod):
                check_passes_on(ours, f"cls {self.replaces[target]}")
                made: Any = classmethod(guarded(self, stock.__func__, ours, again=again))
            else:
                check_passes_on(ours, self.replaces[target])
                made = guarded(self, stock, ours, again=again)
            self.set(target, made)
            return ours

        return decorate

    def set(self, target: str, value: Any) -> None:
        """Set an attribute of the other software, `module:Class.name`, until the row is undone.

        Raises:
            Misfit: The module or class does not have the outer part of the name.
        """
        owner, name = owner_of_target(target)
        self.set_in(owner, name, value)

    def set_in(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class until the row is undone; what was there is remembered."""
        before = own_attribute(owner, name)
        setattr(owner, name, value)
        self._replaced_attributes.append((owner, name, before, own_attribute(owner, name)))

    def guard(self, ours: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function for other software to call: `ours` while the row is on, `instead` once it is off.

        Where `ours` raises an `Exception`, the row (a patch that can be off) fails, which is reported, and
        `instead` gets the same arguments. A `RecursionError` or `MemoryError` does not switch the row off. These
        leave the returned function in place of that: the `error` that an `IntendedError` of `ours` carries, what
        a signal handler of the program raises, and exceptions that are no `Exception`, such as `SystemExit`. What
        `instead` raises leaves, too.
        """

        @functools.wraps(ours)
        def called(*given: Any, **named: Any) -> Any:
            """Call `ours` while the row is on and does not fail, else `instead`."""
            if not self.off:
                try:
                    return ours(*given, **named)
                except IntendedError as meant:
                    raise meant.error from None
                except Exception as error:
                    if guard.is_from_signal(error):
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


def report_off_rows() -> None:
    """Report patches that are off by the last of `reporters`, and drop from `news` what was reported.

    Without a reporter nothing is done. If the reporter returns False or raises, that report and those after it stay
    in `news` for the next call. What the reporter raises is ignored.
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


def environment_for_reports(environment: Mapping[str, str] | None = None) -> dict[str, str]:
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


def rows_as_dicts() -> list[dict[str, Any]]:
    """Return all rows (patches) of this process as dicts, as `dapeer doctor --patches` shows them.

    The values are texts, but for `touches`. The keys are `name`; `whose`, the software that the patch changes;
    `tried`, the first and last version of it that were tried, as `FIRST to LAST`, or the only one; `lost`, what
    is missing without the patch; `off`, why it is off (empty: it is on); and `touches`, a list of what it
    replaces and uses, as `module:name`.
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
