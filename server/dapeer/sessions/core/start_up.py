"""How a session with an adapter of ours starts: from the first request until its debuggee runs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Sequence
from functools import partial

import anyio

from dapeer.adapters.definition.sections import first_hint
from dapeer.adapters.process.streams import no_adapter
from dapeer.base.errors import (
    AdapterFailed,
    ChannelClosed,
    DapeerError,
    RequestFailed,
    RequestTimeout,
)
from dapeer.base.system.process_table import lack_of_tasks
from dapeer.base.system.tasks import all_of, first_of
from dapeer.base.text.tracebacks import cause
from dapeer.dap.handshake import handshake
from dapeer.dap.messages import Body
from dapeer.dap.sent_requests import EvaluateArguments
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.direct import (
    MAX_QUOTED_STDERR_CHARS,
    RUNS_ON,
    SECONDS_FOR_LAST_WORDS,
    DirectSession,
)

log = logging.getLogger(__name__)

SECONDS_TO_GREET = 5.0
"""Seconds in which an adapter that runs already answers a first request."""
SECONDS_TO_IMPROVE = 3.0
"""Timeout for evaluating the definition's `attached` expression in a program, in seconds."""
SECONDS_TO_DRAIN = 4.0
"""Seconds for an adapter to report that it has sent all output; debugpy's launcher gives up later."""


async def start_up(
    session: DirectSession, breakpoints: Breakpoints, arguments: Body
) -> DapeerError | None:
    """Do the DAP handshake of a new session, and send all breakpoints.

    Return why that failed, None: it did not. `arguments` are those of `launch` or `attach`. The handshake
    takes at most the definition's `timeouts.launch` or `timeouts.attach`. Once the program runs, its
    process is watched; one that is attached to by its `pid` is watched from the beginning. A program that
    stops at its entry only to learn at which functions it collects is waited for and resumed. A debuggee
    that ends during the handshake is no failure if its adapter has reported an exit code, or has reported
    the end and a moment later has neither rejected a request nor closed its output. After a failure, the
    caller ends the adapter.
    """
    plan = session.plan
    timeouts = plan.definition.timeouts
    # An offered child starts while dapeer attaches to it.
    starts = plan.launched or plan.offered
    seconds = timeouts.launch if starts else timeouts.attach
    if session.attached_program is not None and "pid" in plan.inputs:
        # Who is to debug it may end it at the attempt.
        session.watch.follow(session.attached_program.pid)
    try:
        with anyio.fail_after(seconds):
            await _shake_hands(session, breakpoints, arguments)
    except TimeoutError:
        owed = " and ".join(f"`{command}`" for command in session.channel.unanswered)
        what = f"answer {owed}" if owed else "send `initialized`"
        return _start_error(session, f"did not {what} within {seconds:g} s")
    except (RequestFailed, ChannelClosed) as error:
        if session.mirror.exit_code is None:
            await session.adapter_process.settle()
            reason = getattr(error, "message", "")
            what = f"could not {plan.request}: {reason or 'it ended first'}"
            return _start_error(session, what, has_reason=bool(reason))
    except RequestTimeout as error:
        return _start_error(session, f"did not answer `{error.command}` in time")
    except DapeerError as error:
        return error
    _watch_over(session)
    if plan.begins_stopped(breakpoints):
        await _pass_entry(session, breakpoints)
    return None


async def _pass_entry(session: DirectSession, breakpoints: Breakpoints) -> None:
    """Wait for the stop at the program's entry, have the program collect at functions, and resume it.

    The functions are those at which `breakpoints` collect. The wait takes at most the time that the adapter has for
    requests that resume or pause (`timeouts.control`); the program is asked to collect after it in any case. The
    program is not resumed if it has not stopped by then, or has ended; if the caller wants a stop at the entry; or
    if a breakpoint that does not collect, an exception or a signal has stopped it. Errors of the adapter raise nothing.
    """
    mirror, inspect = session.mirror, session.inspect
    with inspect.quiet():
        seconds = session.plan.definition.timeouts.control
        await session.wait_for(lambda: not mirror.state.is_running, seconds)
        with contextlib.suppress(DapeerError):
            await session.line_breakpoints.collect_at([*breakpoints.function_points.values()])
    stop = mirror.stop
    if (
        stop is None
        or stop.reason in {"exception", "signal"}
        or session.plan.inputs.get("stop_on_entry")
        or mirror.breakpoint_statuses.is_breakpoint_stop(stop.body)
    ):
        return
    with contextlib.suppress(DapeerError):
        await session.resume("continue", {"threadId": stop.thread_id})


def _watch_over(session: DirectSession) -> None:
    """Have the session watch the program's process, if it can be found and its end was not reported yet.

    The process of a launch is that of its terminal, else searched for below its adapter, now and if need be at the
    next stop; that of an attach is the plan's `pid`, or the one that has waited for it, and without one none is
    watched. Nothing is awaited.
    """
    waiting = session.plan.waiting_process
    pid = session.plan.inputs.get("pid") or (waiting.pid if waiting else None)
    if session.mirror.has_ended:
        return
    if session.launched:
        session.watch.find_process()
    elif isinstance(pid, int):
        session.watch.follow(pid)


async def _shake_hands(session: DirectSession, breakpoints: Breakpoints, arguments: Body) -> None:
    """Do the handshake, or return a second after the debuggee's end: some adapters never answer then.

    `arguments` are those of `launch` or `attach`, which starts the program or attaches to it. Breakpoints and
    exception filters are sent in the handshake; their rejection raises nothing. `launch` and `attach`, the wait for
    `initialized`, and the whole have no timeout: the caller sets one. Other requests have their own.

    Raises:
        ArgumentError: The plan wants an exception filter that the adapter does not have; no breakpoint was sent
            then.
        DapeerError: The adapter rejected another request, did not answer one in its time, or has ended.
    """
    plan = session.plan
    started = partial(
        handshake,
        session.channel,
        adapter_id=plan.definition.adapter_id,
        request=plan.definition.request_of(plan.request, plan.inputs),
        arguments=arguments,
        initialized=session.initialized_event,
        seconds_to_answer=plan.definition.timeouts.start
        if session.adapter_process.pid
        else SECONDS_TO_GREET,
        configure=lambda: _configure(session, breakpoints),
    )

    async def over() -> None:
        """Wait until the debuggee has ended, and a second more."""
        await session.wait_for(lambda: session.mirror.has_ended, None)
        await anyio.sleep(SECONDS_FOR_LAST_WORDS)

    await first_of(started, over)


async def _configure(session: DirectSession, breakpoints: Breakpoints) -> None:
    """Send all breakpoints and exception filters, then `configurationDone`, if the adapter supports it.

    In a program that was attached to, except one that waits for its debugger, the definition's `attached`
    expression is evaluated before, which runs code of the program. Breakpoints on lines, also those that
    collect, are sent for the files that the session accepts. Function breakpoints, and the functions at which
    to collect, are sent as far as the adapter takes them; the latter are left to the caller, for the stop at the
    entry, if the plan's `begins_stopped` is true. If the first child is what is debugged, nothing on lines and
    nothing that collects is sent. None of these requests prevents the start when the adapter rejects it. The
    response to `configurationDone` may take the seconds `timeouts.launch` of the definition.

    Raises:
        ArgumentError: The plan wants an exception filter that the adapter does not have; no breakpoint was
            sent then.
        DapeerError: The adapter did not answer in time, has ended, or rejected `configurationDone`.
    """
    _expect_output(session)
    if not session.launched and session.plan.waiting_process is None:
        await _evaluate_attached(session)
    # Before anything is to be awaited: a filter that the adapter does not have ends the start.
    filters = _exception_filters(session, breakpoints)
    sent: list[Awaitable[None]] = [
        session.set_breakpoints(path, breakpoints.in_file(path))
        for path in breakpoints.paths
        if session.accepts_breakpoints_in(path) and not session.runs_in_first_child
    ]
    functions = breakpoints.functions or session.functions_and_filters.own_functions
    if functions and session.supports("setFunctionBreakpoints"):
        sent.append(session.functions_and_filters.set_functions(breakpoints.functions))
    if (
        breakpoints.function_points
        and not session.runs_in_first_child
        and not session.plan.begins_stopped(breakpoints)
    ):
        sent.append(session.line_breakpoints.collect_at([*breakpoints.function_points.values()]))
    if filters is not None:
        sent.append(session.functions_and_filters.set_exceptions(filters))
    await all_of(map(_ignore_rejection, sent))
    if session.supports("configurationDone"):
        seconds = session.plan.definition.timeouts.launch
        await session.request("configurationDone", seconds=seconds)


async def _ignore_rejection(sent: Awaitable[None]) -> None:
    """Await a request; an error response (`RequestFailed`) raises nothing."""
    with contextlib.suppress(RequestFailed):
        await sent


def _expect_output(session: DirectSession) -> None:
    """Have output before a stop confirmed by the request `dapeerDrain`, if the adapter has it.

    Child sessions leave that to the first one.
    """
    if session.parent is None and session.supports("dapeerDrain"):
        drain = partial(session.send, "dapeerDrain", seconds=SECONDS_TO_DRAIN)
        session.program.arriving_output.confirm_by(drain)


async def _evaluate_attached(session: DirectSession) -> None:
    """Evaluate the definition's `attached` expression in a program that was attached to.

    Nothing happens if the definition has none. The answer is awaited for `SECONDS_TO_IMPROVE` at most. If the
    evaluation fails, is not answered in time, or returns a text that is not empty, that is logged, and from
    then on the program itself is asked at stops for what its adapter leaves out.

    Raises:
        ChannelClosed: The session ended first.
    """
    definition = session.plan.definition
    if not definition.attached:
        return
    arguments = EvaluateArguments(expression=definition.attached, context="clipboard")
    try:
        body = await session.request("evaluate", arguments, seconds=SECONDS_TO_IMPROVE)
        answer = str(body.get("result") or "")
    except (RequestFailed, RequestTimeout) as error:
        answer = str(error)
    if answer:
        log.info("%s stays as it is: %s", session.plan.title(), answer)
        session.thread_locator.enable_program_queries(definition.stopping.folded)


def _exception_filters(session: DirectSession, breakpoints: Breakpoints) -> Sequence[str] | None:
    """Return the exception filters to send: the plan's, else those of the shared set that the adapter has.

    None: send no request, as the adapter has no filters.
    """
    chosen = session.plan.exception_filters
    if chosen is None:
        return session.functions_and_filters.filters_at_start(breakpoints.exceptions)
    session.functions_and_filters.check(chosen)
    return chosen


def _program_fate(session: DirectSession) -> str:
    """Return a sentence, with a leading space, on a program that the start was to attach to.

    Empty if it runs on.
    """
    fate = session.attached_program.fate() if session.attached_program is not None else RUNS_ON
    return "" if fate == RUNS_ON else f" {fate[0].upper()}{fate[1:]}."


def _start_error(session: DirectSession, what: str, *, has_reason: bool = False) -> AdapterFailed:
    """Return, not raise, the error for a failed start: program's state, last output and a hint.

    `what` completes the sentence "The adapter X …". The error quotes the end of the program's output, or, if
    it printed nothing, of the adapter's log, where a Python traceback is cut to its last line. `has_reason`
    says that `what` has the adapter's own reason already: then a log with a traceback is not quoted. If
    nothing that speaks DAP was at the port to attach to, the error says only that.
    """
    if session.adapter_process.pid is None and not session.mirror.capabilities:
        return no_adapter(session.plan.inputs.get("port"))
    printed = session.program.output.read().text.strip()
    logged = session.adapter_process.stderr_tail().strip()
    # An adapter that has told its reason logs the way to it, too, which is no news.
    own = "" if has_reason and cause(logged) != logged else cause(logged)
    words = (printed or own)[-MAX_QUOTED_STDERR_CHARS:]
    quote = f" It said: {words.rstrip('.')}." if words else ""
    failed = f"The adapter {session.adapter} {what.rstrip('.')}.{_program_fate(session)}{quote}"
    advice = first_hint(session.plan.definition.hints, session.plan.inputs, "start", failed)
    usual = "Check program, cwd and config; `dapeer doctor` checks the adapter."
    return AdapterFailed(failed, lack_of_tasks() or advice or usual)
