"""A debug session's states: what moves it to the next, and what tools answer in each. Pure.

The rules:

* A session begins in STARTING. The first response to `launch` or `attach`, the first `process` event or the first stop shows that
  the program has begun: RUNNING.
* STOPPED lies above RUNNING: the session is in it as long as a stop of any thread lasts, and the threads are either stopped or
  running, each for itself (`mirror/mirror`). A stop begins with a `stopped` event. It ends with a resuming request as soon as that is
  sent, whoever sends it, and comes back if the adapter rejects the request. It ends, too, with a `continued` event and with its thread.
* A `pause` that is sent while no thread is stopped makes the state a pausing one, until a stop comes, the adapter rejects the
  `pause`, or a resuming request is sent. A thread that runs no code of the program may stay there for ever. A program that has not
  begun can be asked, too: that is STARTING_PAUSING.
* `terminated` ends the program, whatever came before: ENDED. No message leads back; a rejected resume brings back no stop.
* The end of the connection closes the session: CLOSED. It follows the program's end, which `Session.finish` records where no
  message has reported it. Only then is it sure that no more output arrives.

`TRANSITIONS` is the table of this. Only the mirror moves a session: `Mirror.apply` by messages in either direction, and
`Mirror.mark_closed` for the connection. Everybody else asks `Mirror.state`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dapeer.base.errors import NotStopped


class Phase(enum.Enum):
    """How far a session has come, as clients read it."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"
    ENDED = "ended"


class State(enum.Enum):
    """The state of a session."""

    STARTING = "starting"
    STARTING_PAUSING = "starting, and asked to pause"
    RUNNING = "running"
    PAUSING = "running, and asked to pause"
    STOPPED = "stopped"
    ENDED = "ended"
    CLOSED = "closed"

    @property
    def phase(self) -> Phase:
        """What clients read of it."""
        return ANSWERS[self].phase

    @property
    def has_started(self) -> bool:
        """Whether the program has begun to run, is stopped, or has ended."""
        return self is not State.STARTING and self is not State.STARTING_PAUSING

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended, or dapeer has detached from it."""
        return self is State.ENDED or self is State.CLOSED

    @property
    def is_running(self) -> bool:
        """Whether the program runs or is about to: no thread is stopped, and it has not ended."""
        return self is not State.STOPPED and not self.has_ended

    @property
    def is_pausing(self) -> bool:
        """Whether a pause was asked for, and no stop has come since."""
        return self is State.PAUSING or self is State.STARTING_PAUSING

    def above(self, *, stopped: bool) -> State:
        """Return STOPPED in place of a running state if a stop lasts (`stopped`), else the state itself."""
        return State.STOPPED if stopped and not self.has_ended else self

    def next_state(self, cause: Cause) -> State:
        """Return the state into which `cause` moves this one, by `TRANSITIONS`."""
        return TRANSITIONS[self][cause]

    def require_live(self) -> None:
        """Raise `NotStopped` if the program has ended; else do nothing."""
        if (refusal := ANSWERS[self].without_program) is not None:
            raise refusal.error

    def stop_error(self, thread_id: int | None) -> NotStopped:
        """Return the error of a tool that needs a stop and has found none.

        `thread_id` is the thread that it needs to be stopped; None: any. In STOPPED, where other threads are stopped, the error is about
        this thread.
        """
        if (refusal := ANSWERS[self].without_stop) is not None:
            return refusal.error
        return NotStopped(f"Thread {thread_id} is running.", "dap_threads lists the others.")


class Cause(enum.Enum):
    """What moves a session, besides the stops of its threads."""

    BEGUN = "`launch` or `attach` was answered, or `process` came"
    STOPPED = "`stopped` came"
    PAUSE_SENT = "`pause` was sent while no thread was stopped"
    PAUSE_DROPPED = "`pause` was rejected or had no sense, or the program was resumed"
    TERMINATED = "`terminated` came"
    CLOSED = "the connection has ended"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a tool does nothing in a state, in two sentences: what is so, and what to do."""

    problem: str
    advice: str

    @property
    def error(self) -> NotStopped:
        """A new error with these sentences."""
        return NotStopped(self.problem, self.advice)


@dataclass(frozen=True, slots=True)
class Answers:
    """What tools answer in a state."""

    phase: Phase
    """The word for it in every answer."""
    without_stop: Refusal | None
    """Of tools that look at a stop, or resume; None: they work."""
    without_program: Refusal | None = None
    """Of tools that need a program, such as `dap_pause`; None: they work."""


_RUNS: Final = Refusal(
    "The program is running.", "Wait with dap_wait_until_paused, or stop it with dap_pause."
)
_PAUSING: Final = Refusal(
    "The program is not stopped yet: a pause is pending.",
    "dap_threads shows where it is blocked; dap_wait_until_paused waits for the stop.",
)
_ENDED: Final = Refusal(
    "The program has ended.",
    "dap_program_output and dap_history show what happened; dap_run starts it again.",
)

ANSWERS: Final[Mapping[State, Answers]] = {
    State.STARTING: Answers(Phase.STARTING, _RUNS),
    State.STARTING_PAUSING: Answers(Phase.STARTING, _PAUSING),
    State.RUNNING: Answers(Phase.RUNNING, _RUNS),
    State.PAUSING: Answers(Phase.RUNNING, _PAUSING),
    State.STOPPED: Answers(Phase.STOPPED, None),
    State.ENDED: Answers(Phase.ENDED, _ENDED, _ENDED),
    State.CLOSED: Answers(Phase.ENDED, _ENDED, _ENDED),
}
"""By state, what tools answer."""

TRANSITIONS: Final[Mapping[State, Mapping[Cause, State]]] = {
    State.STARTING: {
        Cause.BEGUN: State.RUNNING,
        Cause.STOPPED: State.RUNNING,
        Cause.PAUSE_SENT: State.STARTING_PAUSING,
        Cause.PAUSE_DROPPED: State.STARTING,
        Cause.TERMINATED: State.ENDED,
        Cause.CLOSED: State.CLOSED,
    },
    State.STARTING_PAUSING: {
        Cause.BEGUN: State.PAUSING,
        Cause.STOPPED: State.RUNNING,
        Cause.PAUSE_SENT: State.STARTING_PAUSING,
        Cause.PAUSE_DROPPED: State.STARTING,
        Cause.TERMINATED: State.ENDED,
        Cause.CLOSED: State.CLOSED,
    },
    State.RUNNING: {
        Cause.BEGUN: State.RUNNING,
        Cause.STOPPED: State.RUNNING,
        Cause.PAUSE_SENT: State.PAUSING,
        Cause.PAUSE_DROPPED: State.RUNNING,
        Cause.TERMINATED: State.ENDED,
        Cause.CLOSED: State.CLOSED,
    },
    State.PAUSING: {
        Cause.BEGUN: State.PAUSING,
        Cause.STOPPED: State.RUNNING,
        Cause.PAUSE_SENT: State.PAUSING,
        Cause.PAUSE_DROPPED: State.RUNNING,
        Cause.TERMINATED: State.ENDED,
        Cause.CLOSED: State.CLOSED,
    },
    State.ENDED: {**dict.fromkeys(Cause, State.ENDED), Cause.CLOSED: State.CLOSED},
    State.CLOSED: dict.fromkeys(Cause, State.CLOSED),
}
"""By state and cause, the next state.

STOPPED has no row: it is `above` the one that the session has beneath its stops.
"""
