"""What `then` and `ready` say is understood before anything happens; what is no trigger has its sentence."""

from typing import Any

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.sessions.triggers.trigger import (
    Body,
    CommandRun,
    Evaluation,
    HttpRequest,
    ReadyCondition,
    Response,
    TerminalInput,
    outcome_line,
    parse_ready,
    parse_triggers,
)


@pytest.mark.parametrize(
    ("given", "trigger", "title"),
    [
        (
            {"request": "POST http://127.0.0.1:8000/total", "json": {"tea": 2}},
            HttpRequest(
                "POST",
                "http://127.0.0.1:8000/total",
                {"Content-Type": "application/json"},
                b'{"tea": 2}',
            ),
            "POST /total",
        ),
        (
            {"request": "http://localhost:8000"},
            HttpRequest("GET", "http://localhost:8000"),
            "GET /",
        ),
        ({"request": "delete /carts/3"}, HttpRequest("DELETE", "/carts/3"), "DELETE /carts/3"),
        (
            {"request": "/a", "form": {"x": "1 2", "y": ["a", True], "z": None}},
            HttpRequest(
                "POST",
                "/a",
                {"Content-Type": "application/x-www-form-urlencoded"},
                b"x=1+2&y=a&y=true&z=null",
            ),
            "POST /a",
        ),
        (
            {"request": "PUT https://user:secret@example.org/a?b=1", "body": "x"},
            HttpRequest("PUT", "https://user:secret@example.org/a?b=1", {}, b"x"),
            "PUT https://example.org/a?b=1",
        ),
        (
            {"command": ["curl", "-s", "a b"], "env": {"A": 1, "B": True}},
            CommandRun(("curl", "-s", "a b"), None, {"A": "1", "B": "true"}),
            "curl -s 'a b'",
        ),
        ({"input": "3\n"}, TerminalInput("3\n"), 'input "3\\n"'),
        ({"evaluate": "a()\n  .b()"}, Evaluation("a()\n  .b()"), "evaluate a() .b()"),
    ],
)
def test_each_kind_of_trigger_is_read_and_named(
    given: dict[str, Any], trigger: object, title: str
) -> None:
    (found,) = parse_triggers([given])
    assert (found, found.title) == (trigger, title)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "none of request, command, input, evaluate"),
        ({"request": "/", "command": ["a"]}, "request and command"),
        ({"request": "/", "headrs": {}}, "`headrs` does not go with `request`"),
        ({"request": "GET example.org"}, "no URL of HTTP"),
        ({"request": "GET ftp://example.org/"}, "no URL of HTTP"),
        ({"request": "GET http://a:99999/"}, "no URL of HTTP"),
        ({"request": "GET //example.org/"}, "no URL of HTTP"),
        ({"request": "GET / HTTP/1.1"}, "no method and URL"),
        ({"request": "/", "json": 1, "body": "x"}, "two bodies"),
        ({"request": "/", "form": "x"}, "`form` must be an object"),
        ({"request": "/", "headers": {"A": "b\r\nHost: x"}}, "line end"),
        ({"command": "curl -s"}, "no shell reads it"),
        ({"command": []}, "no shell reads it"),
        ({"command": ["a\0b"]}, "NUL"),
        ({"input": ""}, "must be a text"),
        ({"evaluate": 3}, "must be a text"),
    ],
)
def test_what_is_no_trigger_is_refused_with_the_reason(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match="`then`") as refused:
        parse_triggers([given])
    assert said in str(refused.value)


def test_a_sign_is_a_port_or_a_pattern_of_either_language() -> None:
    assert parse_ready(None) == ReadyCondition()
    assert parse_ready({"port": 8000}) == ReadyCondition(8000)
    assert parse_ready({"output": r"port (?<port>\d+)"}) == ReadyCondition(
        output=r"port (?P<port>\d+)"
    )
    assert ReadyCondition(8000).is_given
    assert not ReadyCondition().is_given


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"port": 0},
        {"port": True},
        {"port": 1 << 16},
        {"port": "a"},
        {"output": "("},
        {"output": ""},
        {"output": 3},
        {"prot": 1},
        {"port": 80, "output": "x"},
    ],
)
def test_what_is_no_sign_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="`ready`"):
        parse_ready(given)


def test_a_response_is_told_with_its_time_type_size_and_beginning() -> None:
    long = outcome_line("GET /", Response("200", Body(b"x" * 3000, "text/plain")), 2.04, 12.3)
    assert long.startswith(
        "GET / → 200 in 2.0 s beside 12.3 s stopped, text/plain, 3,000 bytes: xxx"
    )
    assert long.endswith("… (3000 chars)")
    assert outcome_line("GET /", Response("200", Body(b"\x89PNG", "image/png")), 0, 0).endswith(
        "image/png, 4 bytes"
    )
    assert (
        outcome_line("GET /", Response("204", Body(b"")), 0.001, 0)
        == "GET / → 204 in 1 ms, 0 bytes"
    )
