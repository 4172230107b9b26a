"""The rows of the table: what was measured, and what we aim at. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from tools.bench.reading import Reading
from tools.bench.statistics import Measured, Samples
from tools.bench.subjects import (
    ALONE,
    BRIDGED_START,
    DRAIN,
    EVALUATE,
    FIRST_CALL,
    IDLE_EVALUATE,
    IDLE_STEP_AND_LOOK,
    KEY_BUSY,
    KEY_QUIET,
    LISTENERS,
    LOCALS,
    LOCATION,
    MAIN_EVALUATE,
    MAIN_LOOK,
    MAIN_STEP,
    MAIN_STOP,
    MAIN_STOP_HEARD,
    MEMORY_DRAIN,
    MEMORY_IDLE,
    MEMORY_STORY,
    NEWEST_START,
    NOOP,
    OURS,
    PENDING,
    RAW,
    SERVER_START,
    SNAPSHOT,
    STACK,
    START,
    STEP,
    STEP_AND_LOOK,
    STOCK_STEP,
    TAP,
    Size,
    named,
)

LOOK = 1.2
"""A look at what the server holds may take so many times a no-op tool."""
WHOLE = 1.1
"""A start, or a drain, may take so many times the raw client's."""
TAKEN = 3
"""Milliseconds that we may take from Neovim's main thread at a stop, or at a call."""
PERSONS = 1.5
"""A step of the assistant may take so many times the person's."""
LATER = 1
"""Milliseconds that a key's effect may come later."""
ACTION = 10
"""Milliseconds for an evaluation, or a step with everything that there is to see after it."""
NEWEST = 1.5
"""Of the start for an older client."""
JOINING = 40
"""Milliseconds until a client that joins a server has its tools."""


@dataclass(frozen=True)
class Aim:
    """The largest value that we want to see, and how it is called."""

    text: str
    limit: float


@dataclass(frozen=True)
class Row:
    """One line of the table; values by whose they are."""

    name: str
    unit: str
    values: Mapping[str, Samples]
    aims: tuple[Aim, ...] = ()

    @property
    def ours(self) -> float:
        """Our median."""
        return self.values[OURS].median

    def ratio(self, whose: str) -> float | None:
        """Return how many times another's median ours is; None where there is no other."""
        other = self.values.get(whose)
        return self.ours / other.median if other else None

    def met(self, aim: Aim) -> bool:
        """Return whether an aim is met."""
        return self.ours <= aim.limit


def rows(measured: Measured, reading: Reading, size: Size) -> list[Row]:
    """Return the rows of a server by itself."""
    return [*_looks(measured), *_actions(measured), *_whole(measured, size), *_reading(reading)]


def neovim(measured: Measured) -> list[Row]:
    """Return the rows of a Neovim whose session is mirrored."""
    situations = {TAP: "mirrored", LISTENERS: "by listeners", PENDING: "waits for a key"}
    return [
        *(row for what, title in situations.items() for row in _mirrored(measured, what, title)),
        _as_persons("stock debugpy: step + stack + locals", measured.of(STOCK_STEP)),
        *_taken(measured),
    ]


def _as_persons(name: str, values: Mapping[str, Samples]) -> Row:
    limit = PERSONS * values[ALONE].median
    return Row(name, "ms", values, (Aim(f"≤ {PERSONS} alone", limit),))


def _mirrored(measured: Measured, situation: str, title: str) -> list[Row]:
    looks = {"dap_variables": LOCALS, "dap_snapshot": SNAPSHOT}
    actions = {"dap_evaluate": EVALUATE, "step + stack + locals": STEP_AND_LOOK}
    return [
        *(_look(f"{title}: {n}", measured.of(named(situation, w))) for n, w in looks.items()),
        *(_action(f"{title}: {n}", measured.of(named(situation, w))) for n, w in actions.items()),
    ]


def _taken(measured: Measured) -> list[Row]:
    main_thread = {
        "main thread: the person steps": MAIN_STOP,
        "main thread: the person steps, by listeners": MAIN_STOP_HEARD,
        "main thread: dap_step_over": MAIN_STEP,
        "main thread: dap_evaluate": MAIN_EVALUATE,
        "main thread: dap_snapshot": MAIN_LOOK,
    }
    keys = {"a key's effect": KEY_QUIET, "a key's effect, tools called in a loop": KEY_BUSY}
    return [
        *(_as_alone(name, measured.of(what), TAKEN) for name, what in main_thread.items()),
        *(_as_alone(name, measured.of(what), LATER) for name, what in keys.items()),
    ]


def _as_alone(name: str, values: Mapping[str, Samples], more: int) -> Row:
    return Row(name, "ms", values, (Aim(f"≤ alone + {more} ms", values[ALONE].median + more),))


def _looks(measured: Measured) -> list[Row]:
    named = {
        "look: dap_stacktrace": STACK,
        "look: dap_variables": LOCALS,
        "look: dap_snapshot": SNAPSHOT,
        "look: dap_current_location": LOCATION,
    }
    return [_look(name, measured.of(what)) for name, what in named.items()]


def _look(name: str, values: Mapping[str, Samples]) -> Row:
    return Row(name, "ms", values, (Aim(f"≤ {LOOK} no-op", LOOK * values[NOOP].median),))


def _actions(measured: Measured) -> list[Row]:
    named = {
        "dap_evaluate": EVALUATE,
        "dap_evaluate, 250 ms idle": IDLE_EVALUATE,
        "step to stop; ours with stack, locals": STEP,
        "step + stack + locals": STEP_AND_LOOK,
        "step + stack + locals, 250 ms idle": IDLE_STEP_AND_LOOK,
    }
    return [_action(name, measured.of(what)) for name, what in named.items()]


def _action(name: str, values: Mapping[str, Samples]) -> Row:
    return Row(name, "ms", values, (_below(ACTION, "ms"),))


def _whole(measured: Measured, size: Size) -> list[Row]:
    memory = {
        "server's peak memory, idle": MEMORY_IDLE,
        "server's peak memory, after a story": MEMORY_STORY,
        f"server's peak memory, after {size.lines:,} lines": MEMORY_DRAIN,
    }
    return [
        _as_raw("start to first stop", measured.of(START)),
        _as_raw(f"print {size.lines:,} lines and end", measured.of(DRAIN)),
        Row("server start to tools listed", "ms", measured.of(SERVER_START), (_below(80, "ms"),)),
        _newest(measured),
        Row(
            "the same, joining a server", "ms", measured.of(BRIDGED_START), (_below(JOINING, "ms"),)
        ),
        Row("first call, which loads the server", "ms", measured.of(FIRST_CALL)),
        *(
            Row(name, "MiB", measured.of(what), (_below(45, "MiB"),) if what == MEMORY_IDLE else ())
            for name, what in memory.items()
        ),
    ]


def _newest(measured: Measured) -> Row:
    """Return the start for a client of MCP 2026-07-28, beside that of an older one."""
    older = measured.of(SERVER_START)[OURS].median
    aim = Aim(f"≤ {NEWEST} older", NEWEST * older)
    return Row("the same, by MCP 2026-07-28", "ms", measured.of(NEWEST_START), (aim,))


def _below(limit: float, unit: str) -> Aim:
    return Aim(f"≤ {limit} {unit}", limit)


def _as_raw(name: str, values: Mapping[str, Samples]) -> Row:
    return Row(name, "ms", values, (Aim(f"≤ {WHOLE} raw", WHOLE * values[RAW].median),))


def _reading(reading: Reading) -> list[Row]:
    return [
        _count("tool list, as a model reads it", "bytes", reading.tools, 15_000),
        _count("server instructions", "bytes", reading.instructions, 1_500),
        _count("first stop, text", "bytes", reading.stop_text, 700),
        _count("first stop, structured", "bytes", reading.stop_data, 1_200),
        _count("stop after a step, text", "bytes", reading.step_text, 500),
        _count("stop after a step, structured", "bytes", reading.step_data, 1_200),
        _count("calls from nothing to stack and locals", "calls", reading.calls, 1),
        _count("DAP requests of the four looks", "requests", reading.requests, 0),
    ]


def _count(name: str, unit: str, value: int, limit: int) -> Row:
    return Row(name, unit, {OURS: Samples([value])}, (Aim(f"≤ {limit:,}", limit),))
