"""What a program is told to record by itself, and that it is told again after a failure."""

from pathlib import Path

from dapeer.adapters.definition.sections import Collect
from dapeer.collecting.rows.collected import Collected
from dapeer.dap.messages import Body, Request
from dapeer.sessions.breakpoints.lines import LineBreakpoints
from dapeer.sessions.traits import Traits
from tests.peer import Refused, wired

WATCHED = {"id": 1, "expression": "x"}
BOUND = '{"points": [{"id": 1, "bound": true}]}'


async def test_a_program_that_could_not_follow_is_told_the_same_points_again(
    tmp_path: Path,
) -> None:
    results = [None, "no JSON", BOUND]
    asked: list[object] = []

    def evaluate(request: Request) -> Body:
        asked.append(request.arguments)
        result = results[len(asked) - 1]
        if result is None:
            raise Refused("not now")
        return {"result": result}

    traits = Traits(collect=Collect(tracers=("follow(${spec})",)))
    async with wired({"evaluate": evaluate}) as w:
        of_session = w.session.line_breakpoints
        lines = LineBreakpoints(
            Collected(),
            w.session.supports,
            w.session.request,
            w.session.apply_message,
            of_session.log_points,
            traits,
            lambda: tmp_path,
        )
        told = [await lines.watch(WATCHED, None) for _ in range(5)]
    assert [each.get("bound", False) for each in told] == [False, False, True, True, True]
    assert asked == [asked[0]] * 3
