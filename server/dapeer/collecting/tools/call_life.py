"""The tool that shows the life of one collected call: its lines, and what each has changed."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Annotated, NamedTuple

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.system.threads import in_thread
from dapeer.base.text.lines import continued, lines_of
from dapeer.collecting.rows.collection import Collection
from dapeer.collecting.rows.table import CollectedRow
from dapeer.collecting.text.call_lines import FUNCTION, CallLines, as_text
from dapeer.collecting.text.life_lines import executed_lines as lived
from dapeer.collecting.text.summary import visible
from dapeer.peers.consent_kinds import RUN, CallKinds
from dapeer.sessions.reruns.second_run import (
    WHOLE_LIKENESS,
    RecordedLife,
    likeness,
    plan_again,
    record_life,
)
from dapeer.tools.base.arguments import Milliseconds, SessionId
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Section, tool


class FoundCall(NamedTuple):
    """A call that was collected."""

    of: Collection
    place: int
    """In its table."""

    @property
    def row(self) -> CollectedRow:
        """The collected row of the call."""
        return self.of.table.row(self.place, self.of.point.number)

    @property
    def function(self) -> str:
        """The name of its function."""
        return self.of.table.cells[FUNCTION][self.place]

    @property
    def line(self) -> str:
        """The call as a line of text."""
        return CallLines(self.of.table, self.of.point.expressions).line(self.place)


@tool(
    "Life of a call",
    section=Section.COLLECT,
    kinds=CallKinds(RUN, remark="as it was started"),
    starts=True,
)
async def dap_call(
    call: Call,
    n: int,
    at: Annotated[str | None, Field(description="its function")] = None,
    timeout_ms: Milliseconds = 30_000,
    session_id: SessionId = None,
) -> Reply:
    """Run the program again to list the lines that collected call #n executed, and what each changed."""
    session = call.focus.look(session_id)
    await session.program.read_rows()
    of_calls = [
        each
        for each in visible(session.program.collected, call.focus.key)
        if each.point.calls and len(each.table)
    ]
    found = _found(of_calls, n, at)
    plan = plan_again(session, found.of.point, found.row)
    started_at = monotonic()
    recorded = await record_life(call.debugger, plan, found.row, timeout_ms / 1000)
    ran = _ran(recorded, found, monotonic() - started_at, timeout_ms)
    lines = await in_thread(lived, recorded.lines, recorded.call)
    return Reply(lines_of([found.line, ran, *(f"  {continued(each)}" for each in lines)]), {
        "call": found.line, "run": ran, "lines": lines,
    })  # fmt: skip


def _found(every: Sequence[Collection], n: int, at: str | None) -> FoundCall:
    """Return the one call with hit number `n`, of the function `at` if that is given.

    Raises:
        ArgumentError: There is none, or more than one.
    """
    if not every:
        raise ArgumentError(
            "No calls were collected.", 'dap_run with breakpoints=[{"calls": ["shop.*"]}] does it.'
        )
    numbered = [
        FoundCall(each, index)
        for each in every
        for index, hit in enumerate(each.table.hits)
        if hit == str(n)
    ]
    found = [each for each in numbered if at is None or f".{each.function}".endswith(f".{at}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise ArgumentError(
            f"There are {len(found)} calls #{n}: {', '.join(each.line for each in found[:3])}.",
            "Name the function with `at`, or collect fewer at once.",
        )
    if numbered:
        raise ArgumentError(
            f"Call #{n} is of {numbered[0].function}, not of `{at}`.", "Correct it."
        )
    numbers = [row for each in every for row in map(int, filter(str.isdigit, each.table.hits))]
    raise ArgumentError(
        f"No call #{n} was collected.",
        f"Those that are over are among #{min(numbers)} to #{max(numbers)}; dap_collected lists them.",
    )


def _ran(life: RecordedLife, found: FoundCall, seconds: float, timeout_ms: int) -> str:
    """Return a sentence on the second run: how long it took, and whether it did the same as the first.

    It also says whether the run was ended after `timeout_ms`. `found` is the call in the first run, `seconds` how long the second run
    took.
    """
    ran_again = f"The program ran again for its lines ({seconds:.1f} s)"
    late = "" if life.in_time else f"; after {timeout_ms} ms it was ended"
    if life.call is None:
        other = "; there this call did not end" if life.lines else "; there was no such call there"
        return f"{ran_again}{late}{other}."
    if likeness(life.call, found.row) == WHOLE_LIKENESS:
        return f"{ran_again}{late}."
    return f"{ran_again}{late}, and went another way: there this call is {as_text(life.call.cells, ())}."
