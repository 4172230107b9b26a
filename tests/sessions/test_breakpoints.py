"""The breakpoints that are wanted, whoever set them."""

import contextlib

from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.breakpoints.breakpoints import Breakpoints, adapter_answer, unsupported
from tests.told import Told


def at(line: int, condition: str | None = None) -> RequestedBreakpoint:
    if condition is None:
        return RequestedBreakpoint(line=line)
    return RequestedBreakpoint(line=line, condition=condition)


def made(*lines: tuple[int, int]) -> Mirror:
    """Return the mirror of an adapter that was told of lines in /a.py and made others of them."""
    told = Told()
    body = {"breakpoints": [{"id": n, "verified": True, "line": n} for _, n in lines]}
    wanted = [{"line": line} for line, _ in lines]
    told.tell("setBreakpoints", body, source={"path": "/a.py"}, breakpoints=wanted)
    return told.mirror


def test_what_is_wanted_in_a_file_is_listed_by_line() -> None:
    wanted = Breakpoints()
    for line in (30, 10, 20):
        wanted.add("/a.py", at(line))
    assert wanted.in_file("/a.py") == [at(10), at(20), at(30)]
    assert wanted.in_file("/b.py") == []


def test_a_second_one_on_a_line_replaces_the_first_and_returns_it() -> None:
    wanted = Breakpoints()
    assert wanted.add("/a.py", at(10)) == (None, None)
    assert wanted.add("/a.py", at(10, "x > 1")) == (at(10), None)
    assert wanted.in_file("/a.py") == [at(10, "x > 1")]


def test_a_line_keeps_one_for_each_of_its_columns_and_shows_the_first_as_its_sign() -> None:
    wanted, shown = Breakpoints(), list[RequestedBreakpoint | None]()
    wanted.listeners.append(lambda _path, _line, sign: shown.append(sign))
    places = [RequestedBreakpoint(line=1, column=column) for column in (30, 10)]
    for each in places:
        wanted.add("/a.js", each)
    wanted.add("/a.js", RequestedBreakpoint(line=1, column=20, collect=["x"]))
    assert [each.get("column") for each in wanted.in_file("/a.js")] == [10, 20, 30]
    # An editor's sign has no column, and stays until the last is gone.
    assert wanted.breakpoint_for_sign("/a.js", 1) == at(1)
    assert wanted.remove("/a.js", 1, column=10) == [places[1]]
    assert shown == [at(1)]
    assert len(wanted.remove("/a.js", 1)) == 2
    assert (shown, wanted.paths) == ([at(1), None], [])


def test_a_persons_breakpoint_replaces_those_that_stop_on_its_line_and_leaves_what_collects() -> (
    None
):
    wanted = Breakpoints()
    point = RequestedBreakpoint(line=1, column=20, collect=["x"])
    for each in (RequestedBreakpoint(line=1, column=10), point):
        wanted.add("/a.js", each)
    wanted.replace_line("/a.js", at(1, "n > 3"))
    assert wanted.in_file("/a.js") == [at(1, "n > 3"), point]
    assert wanted.remove_for_new_start() == ["/a.js"]
    assert wanted.in_file("/a.js") == [at(1, "n > 3")]


def test_a_fresh_start_keeps_of_a_line_only_the_places_that_it_asks_for() -> None:
    wanted = Breakpoints()
    for column in (10, 20):
        wanted.add("/a.js", RequestedBreakpoint(line=1, column=column))
    assert wanted.remove_for_new_start([("/a.js", 1, 20)]) == ["/a.js"]
    assert wanted.places() == [("/a.js", 1, 20)]


def test_what_is_removed_is_returned_and_gone() -> None:
    wanted = Breakpoints()
    wanted.add("/a.py", at(10))
    assert wanted.remove("/a.py", 10) == [at(10)]
    assert wanted.by_path == {}


def test_removing_what_is_not_there_changes_nothing() -> None:
    wanted = Breakpoints()
    wanted.add("/a.py", at(10))
    assert wanted.remove("/a.py", 11) == []
    assert wanted.remove("/b.py", 10) == []
    assert wanted.by_path == {"/a.py": {10: {0: at(10)}}}


def test_a_breakpoint_may_be_removed_by_the_line_that_an_adapter_moved_it_to() -> None:
    wanted = Breakpoints()
    wanted.add("/a.py", at(10))
    assert wanted.remove("/a.py", 12, [made((10, 12))]) == [at(10)]
    assert wanted.by_path == {}


def test_the_line_that_was_asked_for_goes_before_one_that_another_was_moved_to() -> None:
    wanted = Breakpoints()
    wanted.add("/a.py", at(10))
    wanted.add("/a.py", at(12))
    assert wanted.remove("/a.py", 12, [made((10, 12), (12, 12))]) == [at(12)]
    assert wanted.in_file("/a.py") == [at(10)]


def test_a_moved_breakpoint_that_is_wanted_no_longer_is_not_found() -> None:
    assert Breakpoints().remove("/a.py", 12, [made((10, 12))]) == []


def test_clearing_a_file_leaves_the_others_and_the_functions() -> None:
    wanted = Breakpoints(functions=["main"])
    wanted.add("/a.py", at(10))
    wanted.add("/b.py", at(10))
    assert wanted.clear("/a.py") == ["/a.py"]
    assert wanted.by_path.keys() == {"/b.py"}
    assert wanted.functions == ["main"]


def test_clearing_everything_names_the_files_that_had_some() -> None:
    wanted = Breakpoints(functions=["main"])
    wanted.add("/a.py", at(10))
    wanted.add("/b.py", at(10))
    assert wanted.clear() == ["/a.py", "/b.py"]
    assert (wanted.by_path, wanted.functions) == ({}, [])


def test_clearing_a_file_without_any_names_none() -> None:
    assert Breakpoints().clear("/a.py") == []


def test_options_that_an_adapter_does_not_advertise_are_named() -> None:
    told = Told()
    told.tell("initialize", {"supportsConditionalBreakpoints": True})
    wanted = RequestedBreakpoint(line=1, condition="x", hitCondition="3", logMessage="x")
    assert unsupported(told.mirror, wanted) == ["hitCondition", "logMessage"]
    assert unsupported(told.mirror, at(1)) == []


def test_what_an_adapter_made_is_found_by_the_line_that_was_asked_for() -> None:
    mirror = made((10, 12), (20, 20))
    assert adapter_answer(mirror, "/a.py", at(10)) == {"id": 12, "verified": True, "line": 12}
    assert adapter_answer(mirror, "/a.py", at(12)) is None
    assert adapter_answer(mirror, "/b.py", at(10)) is None


def test_what_collects_takes_the_place_of_what_a_tool_has_set_and_leaves_the_persons() -> None:
    wanted = Breakpoints(person_places={("/a.py", 20)})
    points = [RequestedBreakpoint(line=line, collect=["x"], collectedBy="me") for line in (10, 20)]
    for point in points:
        wanted.add("/a.py", at(point["line"]))
        wanted.add("/a.py", point)
    assert wanted.in_file("/a.py") == [points[0], at(20), points[1]]
    wanted.add("/a.py", at(10), "me")
    assert wanted.in_file("/a.py") == [at(10), at(20), points[1]]
    assert wanted.remove_for_new_start(client="me") == ["/a.py"]
    assert wanted.in_file("/a.py") == [at(20)]


def test_what_could_not_be_set_leaves_all_as_it_was() -> None:
    wanted = Breakpoints()
    point = RequestedBreakpoint(line=10, collect=["x"], collectedBy="me")
    wanted.add("/a.py", point)
    before = wanted.add("/a.py", at(10), "me")
    wanted.restore("/a.py", (10, 0), before, "me")
    assert wanted.in_file("/a.py") == [point]
    again = RequestedBreakpoint(line=10, collect=["y"], collectedBy="me")
    with contextlib.suppress(KeyError), wanted.adding([("/a.py", again), ("/b.py", at(1))]):
        assert wanted.in_file("/a.py") == [again]
        raise KeyError
    assert wanted.in_file("/a.py") == [point]
    assert wanted.paths == ["/a.py"]
