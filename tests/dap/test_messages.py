"""The three messages, and the odd shapes in which adapters send them."""

import json

import pytest

from dapeer.dap.decoding import decode
from dapeer.dap.messages import Event, Message, Request, Response, describe, encode


def decoded(**fields: object) -> Message | None:
    return decode(json.dumps(fields).encode())


@pytest.mark.parametrize(
    "message",
    [
        Request(3, "next", {"threadId": 1}),
        Request(4, "threads"),
        Response(3, "next", success=True, body={"a": [1, {"b": None}]}, seq=9),
        Response(3, "next", success=False, message="no", seq=9),
        Event("stopped", {"reason": "step", "text": "żółw 🐢 \0"}, seq=1),
    ],
    ids=describe,
)
def test_a_message_survives_its_json(message: Message) -> None:
    assert decode(encode(message)) == message


@pytest.mark.parametrize("body", [None, [], ["a"], "text", 7, False])
def test_an_event_whose_body_is_no_object_has_an_empty_body(body: object) -> None:
    assert decoded(type="event", event="availableEvents", seq=5, body=body) == Event(
        "availableEvents", {}, 5
    )


@pytest.mark.parametrize(("levels", "taken"), [(90, True), (101, False), (900, False)])
def test_what_is_nested_deeper_than_anybody_needs_is_no_message(levels: int, taken: bool) -> None:
    vendor: object = {}
    for _ in range(levels):
        vendor = [vendor]
    wide = [{"name": str(number)} for number in range(1000)]
    message = decoded(type="event", event="e", seq=1, body={"wide": wide, "deep": vendor})
    assert (message is not None) == taken


def test_an_event_without_a_body_has_an_empty_body() -> None:
    assert decoded(type="event", event="initialized", seq=2) == Event("initialized", {}, 2)


def test_fields_that_nobody_knows_survive() -> None:
    event = decoded(type="event", event="stopped", seq=1, body={"reason": "step", "$__lldb": [1]})
    assert isinstance(event, Event)
    assert event.body["$__lldb"] == [1]


def test_a_failed_response_with_a_null_message_tells_the_text_of_its_body() -> None:
    error = {"id": 1, "format": "cannot {what} {it}", "variables": {"what": "open"}}
    response = decoded(
        type="response", seq=2, request_seq=1, command="launch", success=False, message=None,
        body={"error": error},
    )  # fmt: skip
    assert isinstance(response, Response)
    assert response.message is None
    assert response.failure() == "cannot open {it}"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"message": "cancelled"}, "cancelled"),
        ({"message": None}, "launch failed without giving a reason"),
        ({"message": "short", "body": {"error": {"format": "the long one"}}}, "the long one"),
        ({"message": "short", "body": {"error": {"format": ""}}}, "short"),
        ({"message": "short", "body": {"error": "a string"}}, "short"),
        ({"message": "short", "body": {"error": None}}, "short"),
        ({"message": "short", "body": "a string"}, "short"),
        ({"body": {"error": {"format": "no {x}", "variables": None}}}, "no {x}"),
    ],
)
def test_a_failure_is_told_in_the_words_of_the_adapter(
    fields: dict[str, object], text: str
) -> None:
    response = decoded(
        type="response", seq=2, request_seq=1, command="launch", success=False, **fields
    )
    assert isinstance(response, Response)
    assert response.failure() == text


@pytest.mark.parametrize("message", [7, {"id": 3}, ["no"], True])
def test_a_message_that_is_no_text_breaks_nothing(message: object) -> None:
    response = decoded(
        type="response", seq=2, request_seq=1, command="next", success=False, message=message
    )
    assert isinstance(response, Response)
    assert isinstance(response.failure(), str)


def test_a_response_without_a_command_is_a_response() -> None:
    response = decoded(type="response", seq=2, request_seq=7, success=True)
    assert response == Response(7, "", success=True, seq=2)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"7",
        b"{}",
        b'{"type":"greeting"}',
        b'{"type":"event","seq":1,"body":{}}',
        b'{"type":"event","event":null,"seq":1}',
        b'{"type":"event","event":["stopped"],"seq":1}',
        b'{"type":"request","seq":1,"arguments":{}}',
        b'{"type":"request","command":7,"seq":1}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_message_is_none(data: bytes) -> None:
    assert decode(data) is None


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    event = decode(b'{"type":"event","event":"output","seq":1,"body":{"output":"a\xffb"}}')
    assert isinstance(event, Event)
    assert event.body["output"] == "a\N{REPLACEMENT CHARACTER}b"


def test_raw_bytes_of_a_program_become_readable_escapes_everywhere() -> None:
    event = decode(
        rb'{"type":"event","event":"output","seq":1,'
        rb'"body":{"output":"a\udcffb","list":["\udc80"],"k\ud800":1}}'
    )
    assert isinstance(event, Event)
    assert event.body == {"output": r"a\xffb", "list": [r"\x80"], r"k\ud800": 1}
    assert decode(encode(event)) == event


def test_a_pair_of_surrogates_is_the_character_it_stands_for() -> None:
    event = decode(rb'{"type":"event","event":"output","seq":1,"body":{"output":"\ud83d\udc22"}}')
    assert isinstance(event, Event)
    assert event.body["output"] == "🐢"


def test_numbers_larger_than_32_bits_survive() -> None:
    event = decoded(type="event", event="x", seq=1, body={"variablesReference": 4294967296})
    assert isinstance(event, Event)
    assert event.body["variablesReference"] == 4294967296


def test_a_message_is_described_in_a_few_words() -> None:
    assert describe(Response(2, "next", success=False)) == "response to #2 next (failed)"
    assert describe(Event("stopped")) == "event stopped"


def test_a_decoded_body_has_the_shape_of_the_specification() -> None:
    """Log points and quirks read messages before the channel does."""
    sent = b'{"type": "event", "event": "output", "body": {"category": ["stdout"], "output": "x"}}'
    assert decode(sent) == Event("output", {"output": "x"})
