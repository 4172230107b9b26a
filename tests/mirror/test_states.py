"""The table of a session's states: what messages lead to, and what tools answer there."""

from collections.abc import Callable, Sequence

import pytest

from dapeer.base.errors import NotStopped
from dapeer.dap.messages import Event, Request, Response
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.states import ANSWERS, TRANSITIONS, Cause, Phase, State

STARTING, STARTING_PAUSING, RUNNING, PAUSING, STOPPED, ENDED, CLOSED = State

Step = Callable[[Mirror], object]
"""One message of a session, or the end of its connection."""

RUNS = "The program is running."
PENDING = "The program is not stopped yet: a pause is pending."
GONE = "The program has ended."


def event(name: str, /, **body: object) -> Step:
    return lambda mirror: mirror.apply(Event(name, body))


def sent(command: str, seq: int = 1, thread: int = 1) -> Step:
    return lambda mirror: mirror.apply(Request(seq, command, {"threadId": thread}))


def answered(command: str, seq: int = 1, *, success: bool = True) -> Step:
    response = Response(seq, command, success=success, body={}, arguments={"threadId": 1})
    return lambda mirror: mirror.apply(response)


BEGUN = event("process", name="a")
STOP = event("stopped", reason="step", threadId=1, allThreadsStopped=True)
FIRST_STOPS = event("stopped", reason="step", threadId=1, allThreadsStopped=False)
SECOND_STOPS = event("stopped", reason="step", threadId=2, allThreadsStopped=False)
TERMINATED = event("terminated")
PAUSE = sent("pause", 7)
GO = sent("continue", 8)
REJECTED = answered("continue", 8, success=False)
CLOSE: Step = Mirror.mark_closed

ROWS: Sequence[tuple[str, Sequence[Step], State, Phase, str, str]] = [
    ("nothing", [], STARTING, Phase.STARTING, RUNS, ""),
    ("launch is sent", [sent("launch")], STARTING, Phase.STARTING, RUNS, ""),
    ("launch is rejected", [answered("launch", success=False)], STARTING, Phase.STARTING, RUNS, ""),
    ("launch is answered", [answered("launch")], RUNNING, Phase.RUNNING, RUNS, ""),
    ("attach is answered", [answered("attach")], RUNNING, Phase.RUNNING, RUNS, ""),
    ("process", [BEGUN], RUNNING, Phase.RUNNING, RUNS, ""),
    ("the first message is a stop", [STOP], STOPPED, Phase.STOPPED, "", ""),
    ("resumed after that", [STOP, GO], RUNNING, Phase.RUNNING, RUNS, ""),
    ("paused too early", [PAUSE], STARTING_PAUSING, Phase.STARTING, PENDING, ""),
    ("begun meanwhile", [PAUSE, BEGUN], PAUSING, Phase.RUNNING, PENDING, ""),
    ("rejected before it began", [PAUSE, answered("pause", 7, success=False)], STARTING, Phase.STARTING, RUNS, ""),
    ("ended before it began", [TERMINATED], ENDED, Phase.ENDED, GONE, GONE),
    ("pause is sent", [BEGUN, PAUSE], PAUSING, Phase.RUNNING, PENDING, ""),
    ("pause is answered", [BEGUN, PAUSE, answered("pause", 7)], PAUSING, Phase.RUNNING, PENDING, ""),
    ("pause is rejected", [BEGUN, PAUSE, answered("pause", 7, success=False)], RUNNING, Phase.RUNNING, RUNS, ""),
    ("pause has its stop", [BEGUN, PAUSE, STOP], STOPPED, Phase.STOPPED, "", ""),
    ("resumed after a pause", [BEGUN, PAUSE, STOP, GO], RUNNING, Phase.RUNNING, RUNS, ""),
    ("resumed in place of a stop", [BEGUN, PAUSE, GO], RUNNING, Phase.RUNNING, RUNS, ""),
    ("pause at a stop", [STOP, PAUSE], STOPPED, Phase.STOPPED, "", ""),
    ("pause at a stop, then resumed", [STOP, PAUSE, GO], RUNNING, Phase.RUNNING, RUNS, ""),
    ("a resume is rejected", [STOP, GO, REJECTED], STOPPED, Phase.STOPPED, "", ""),
    ("continued by another client", [STOP, event("continued", threadId=1)], RUNNING, Phase.RUNNING, RUNS, ""),
    ("resumed by another client", [STOP, answered("next", 99)], RUNNING, Phase.RUNNING, RUNS, ""),
    ("one of two threads goes on", [FIRST_STOPS, SECOND_STOPS, event("continued", threadId=2, allThreadsContinued=False)], STOPPED, Phase.STOPPED, "", ""),
    ("the other one, too", [FIRST_STOPS, event("continued", threadId=1, allThreadsContinued=False)], RUNNING, Phase.RUNNING, RUNS, ""),
    ("the stopped thread ends", [FIRST_STOPS, event("thread", reason="exited", threadId=1)], RUNNING, Phase.RUNNING, RUNS, ""),
    ("exited is not the end", [BEGUN, event("exited", exitCode=0)], RUNNING, Phase.RUNNING, RUNS, ""),
    ("terminated", [BEGUN, TERMINATED], ENDED, Phase.ENDED, GONE, GONE),
    ("terminated at a stop", [STOP, TERMINATED], ENDED, Phase.ENDED, GONE, GONE),
    ("terminated, and no pause", [BEGUN, PAUSE, TERMINATED], ENDED, Phase.ENDED, GONE, GONE),
    ("no pause after the end", [BEGUN, TERMINATED, PAUSE], ENDED, Phase.ENDED, GONE, GONE),
    ("no stop comes back after it", [STOP, GO, TERMINATED, REJECTED], ENDED, Phase.ENDED, GONE, GONE),
    ("nothing begins after it", [BEGUN, TERMINATED, BEGUN], ENDED, Phase.ENDED, GONE, GONE),
    ("closed", [BEGUN, TERMINATED, CLOSE], CLOSED, Phase.ENDED, GONE, GONE),
    ("closed, and its end told later", [BEGUN, CLOSE, TERMINATED], CLOSED, Phase.ENDED, GONE, GONE),
]  # fmt: skip
"""Name, what happens, the state, what clients read of it, and what tools answer that need a stop, or a program."""


@pytest.mark.parametrize(
    ("steps", "state", "phase", "without_stop", "without_program"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_messages_lead_to_a_state_in_which_tools_answer(
    steps: Sequence[Step], state: State, phase: Phase, without_stop: str, without_program: str
) -> None:
    mirror = Mirror()
    for step in steps:
        step(mirror)
    assert (mirror.state, mirror.phase) == (state, phase)
    assert refusal(mirror.require_stop) == without_stop
    assert refusal(mirror.require_live) == without_program
    assert mirror.is_pausing == (without_stop == PENDING)
    assert mirror.has_started == (phase is not Phase.STARTING)
    assert mirror.state.is_running == (mirror.stop is None and not mirror.has_ended)


def refusal(tool: Callable[[], object]) -> str:
    """Return the sentence with which a mirror rejects a tool; empty if it does not."""
    try:
        tool()
    except NotStopped as error:
        return error.problem
    return ""


def test_a_running_thread_beside_a_stopped_one_is_named() -> None:
    mirror = Mirror()
    FIRST_STOPS(mirror)
    with pytest.raises(NotStopped, match=r"^Thread 2 is running\."):
        mirror.require_stop(2)


def test_each_state_has_an_answer_and_each_but_the_one_above_has_all_transitions() -> None:
    assert ANSWERS.keys() == {*State}
    assert TRANSITIONS.keys() == {*State} - {STOPPED}
    assert all(row.keys() == {*Cause} for row in TRANSITIONS.values())


def test_a_session_is_paused_only_once_and_never_leaves_its_end() -> None:
    for state, row in TRANSITIONS.items():
        assert all(
            state.next_state(cause).next_state(cause) is after for cause, after in row.items()
        )
        if state.has_ended:
            assert all(after.has_ended for after in row.values())
