"""What the register's rows read in other software: its parts, its parameters, and calls' results."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
from typing import Any

from . import guard

HERE = (
    sys._getframe().f_code.co_filename,  # pyright: ignore[reportPrivateUsage]
    sys._getframe().f_code.co_filename.replace("probing", "patching"),  # pyright: ignore[reportPrivateUsage]
)
"""The files of the register."""
NOTHING: Any = object()


class Misfit(Exception):
    """Something is not as a row needs it."""


def of_itself(owner: Any, name: str) -> Any:
    """Return what a module or class has under a name in its own namespace, or `NOTHING`.

    `NOTHING` also stands for a name that it only inherits.
    """
    return owner.__dict__.get(name, NOTHING)


def has_entered(error: BaseException) -> bool:
    """Return whether an exception was raised inside of a stock function, not by unfit arguments.

    It is read from the traceback: entries of the register's own files do not count. True also for any other exception than `TypeError`.
    """
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in HERE:
            return True
        trace = trace.tb_next
    return not isinstance(error, TypeError)


def check_passes_on(ours: Any, known: str) -> None:
    """Check that a replacement takes all that the stock function takes, and anything else.

    Names of parameters must be the same, in the same order; it may name fewer, and must have `*rest` and `**named`. `ours` is the
    replacement, whose first parameter is the stock function; `known` is the `shape` of the stock function.

    Raises:
        Misfit: It takes less.
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

    `=` follows a name with a default, `/` one that is only positional, `'` one that is only a keyword.
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

    A function that a row has replaced is unwrapped first.

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

    `#name` is an attribute that the class's constructor must set.

    Raises:
        Misfit: It does not exist, or the constructor does not name it.
        ImportError: There is no such module. Any other exception that the module raises at its import leaves this function, too.
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
    """Return the numbers at the beginning of a version, to compare it by; `()` if it begins with none."""
    numbers: list[int] = []
    for each in version.split("."):
        if not each.isdigit():
            break
        numbers.append(int(each))
    return tuple(numbers)


def of_kind(value: Any, kind: type) -> bool:
    """Whether a value is of a kind; a type checker knows no more of it for that."""
    return isinstance(value, kind)


class Meant(Exception):
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

    def instead(self, given: Any, named: Any, *, again: bool) -> Any:
        """Return what the stock function returns for these arguments, for a patch that has failed.

        It is called only if it has not been called already; what it has raised itself is raised, unless it may be called `again`.
        """
        if self.raised is not None and not again:
            raise self.raised
        return self.returned[0] if self.returned else self._stock(*given, **named)


def guarded(patch: Any, stock: Any, ours: Any, *, again: bool = False) -> Any:
    """Return a replacement of `stock` that calls `ours`, and where that fails gives what `stock` gives.

    `ours` gets a `StockCall` first, then the arguments. What `stock` itself raises within it is raised, so is what `Meant` carries, and
    what a signal handler of the program raises. Any other exception makes the `patch` fail: then the result of `stock` is used, which is
    called if `ours` has not. Once the row is off, only `stock` is called. With `again`, `stock` changes nothing, so it is called once more
    where `ours` has had it raise.
    """

    @functools.wraps(stock)
    def replaced(*given: Any, **named: Any) -> Any:
        """Call `ours`, or `stock` where the row is off or fails."""
        if patch.off:
            return stock(*given, **named)
        call = StockCall(stock)
        try:
            return ours(call, *given, **named)
        except Meant as meant:
            raise meant.error from None
        except Exception as error:
            if (call.raised is error and not again) or guard.is_from_signal(error):
                raise
            # Where this raises, too, that is not the row's fault.
            result = call.instead(given, named, again=again)
            patch.fail(error)
            return result

    return replaced
