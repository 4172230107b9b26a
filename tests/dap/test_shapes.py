"""Whatever an adapter sends, its bodies have the specification's shape when anybody reads them."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dapeer.dap.decoding import shaped
from dapeer.dap.messages import Event, Message, Request, Response
from dapeer.dap.types import EVENTS, RESPONSES
from dapeer.mirror.mirror import Mirror

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
KEYS = sorted(
    {key for kind in {*EVENTS.values(), *RESPONSES.values()} for key in kind.__annotations__}
    | {
        "id",
        "name",
        "value",
        "line",
        "path",
        "source",
        "threadId",
        "variablesReference",
        "verified",
    }
)

ASKED = {"source": {"path": "a.py"}, "threadId": 1, "frameId": 1, "variablesReference": 1}
"""What a request has asked; the channel keeps it."""


def objects() -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the names that the protocol has, and anything in them."""
    inner = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5)
    item = JSON | inner | st.lists(inner, max_size=3)
    return st.dictionaries(st.sampled_from(KEYS), item, max_size=6)


def messages() -> st.SearchStrategy[Message]:
    """What an adapter may send: any body under any name."""
    events = st.builds(Event, st.sampled_from([*EVENTS, "invalidated", "terminated"]), objects())
    responses = st.builds(
        Response,
        st.just(0),
        st.sampled_from(sorted(RESPONSES)),
        st.just(value=True),
        objects(),
        arguments=st.just(ASKED),
    )
    return events | responses


def body(name: str, sent: object) -> object:
    """Return what becomes of a response's body."""
    message = shaped(Response(0, name, success=True, body=sent))  # type: ignore[arg-type]
    assert isinstance(message, Response)
    return message.body


def test_what_has_the_shape_already_is_the_same_object() -> None:
    event = Event("stopped", {"reason": "step", "threadId": 1, "vendor": [1]})
    assert shaped(event) is event


def test_a_field_of_another_type_is_absent_and_unknown_ones_pass() -> None:
    event = shaped(Event("stopped", {"reason": ["step"], "threadId": {}, "vendor": None}))
    assert isinstance(event, Event)
    assert event.body == {"vendor": None}


@pytest.mark.parametrize("thread", [[], {}, None, True, 2**70, 1.5, "x"])
def test_what_is_about_no_thread_is_about_nothing(thread: object) -> None:
    event = shaped(Event("continued", {"threadId": thread}))
    assert isinstance(event, Event)
    assert event.body == {}


def test_numbers_as_perl_sends_them_are_numbers_and_texts() -> None:
    sent = {"variables": [{"name": 0, "value": 4.5, "variablesReference": "7"}]}
    (variable,) = body("variables", sent)["variables"]  # type: ignore[index]
    assert variable == {"name": "0", "value": "4.5", "variablesReference": 7}


def test_what_is_no_object_leaves_a_list_unless_its_place_counts() -> None:
    assert body("threads", {"threads": [1, {"id": 2}, {"name": "x"}]}) == {
        "threads": [{"id": 2, "name": ""}]
    }
    made = {"breakpoints": [None, {"verified": True}]}
    assert body("setBreakpoints", made) == {"breakpoints": [{}, {"verified": True}]}


def test_a_failed_response_keeps_its_error() -> None:
    response = Response(0, "variables", success=False, body={"error": {"format": "no"}})
    assert shaped(response) is response


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(messages(), max_size=8))
def test_no_message_of_an_adapter_is_beyond_the_mirror(sent: list[Message]) -> None:
    mirror = Mirror()
    mirror.apply(Request(1, "stackTrace", {"threadId": 1}))
    for message in sent:
        mirror.apply(shaped(message))
    stop = mirror.stop
    assert stop is None or stop.locals() is not None
