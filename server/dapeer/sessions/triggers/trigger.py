"""What a caller has sent to a program while it waits for its stop: `then`, and when, `ready`. Pure."""

from __future__ import annotations

import ipaddress
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import urlencode, urlsplit

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object, is_array, is_object
from dapeer.base.text.fitting import shortened

# What came of a trigger, as a line for who waits: cut as output is. Pure.

BODY_CHARS: Final = 1000
"""Characters of a body that the line shows; dap_program_output shows more."""
MAX_BODY_BYTES: Final = 1 << 20
"""Bytes of a body that are kept."""
STREAM_BYTES: Final = 4096
"""Bytes of a stream, whose end nobody waits for."""
_STREAMS: Final = ("text/event-stream", "application/x-ndjson", "multipart/x-mixed-replace")
_TEXTS: Final = ("text/", "json", "xml", "javascript", "x-www-form-urlencoded", "yaml", "graphql")


@dataclass(frozen=True, slots=True)
class Body:
    """A body, as far as it was read."""

    content: bytes
    type: str = ""
    """Its media type, without parameters; empty: unknown."""
    cut: bool = False
    """There is more of it, which was not read."""

    @property
    def text(self) -> str:
        """The body as text; empty: it is no text by its media type, or has none."""
        kind = self.type.lower()
        is_text = any(mark in kind for mark in _TEXTS) or (not kind and b"\0" not in self.content)
        return self.content.decode("utf-8", "replace") if is_text else ""

    @property
    def facts(self) -> str:
        """The body's media type and size, and its text if it is one, on the pattern `TYPE, N bytes: TEXT`.

        The type is left out if it is unknown. The text is cut to `BODY_CHARS`, and missing if the body is empty
        or is no text by its type. A body with `cut` set gets the words `and more, which were not read` behind
        its size.
        """
        size = f"{len(self.content):,} bytes{' and more, which were not read' if self.cut else ''}"
        facts = ", ".join(filter(None, [self.type, size]))
        if not self.content:
            return facts
        shown = shortened(self.text.strip(), BODY_CHARS)
        return f"{facts}: {shown}" if shown else facts


def is_stream(media_type: str) -> bool:
    """Return whether a body of this media type may never end, such as `text/event-stream`."""
    return media_type.lower() in _STREAMS


@dataclass(frozen=True, slots=True)
class Response:
    """What a trigger has brought."""

    head: str
    """Its outcome: a status, an exit code, a value."""
    body: Body | None = None
    failed: bool = False
    """It has ended by itself with a failure, such as an exit code."""
    notes: tuple[str, ...] = ()
    """What else there is to say of how it was sent."""


def outcome_line(title: str, response: Response, seconds: float, stood: float) -> str:
    """Return the line on a trigger that has ended: title, outcome, time, and the body shortened.

    The program has run for `seconds` meanwhile, and was stopped for `stood`.

    >>> outcome_line("POST /total", Response("200", Body(b'{"total": 8}', "application/json")), 0.035, 0)
    'POST /total → 200 in 35 ms, application/json, 12 bytes: {"total": 8}'
    """
    time = f" in {_duration(seconds)}" + (f" beside {_duration(stood)} stopped" if stood else "")
    facts = f", {response.body.facts}" if response.body is not None else ""
    notes = "".join(f" ({each})" for each in response.notes)
    return f"{title} → {response.head}{time}{facts}{notes}"


def _duration(seconds: float) -> str:
    """Return a duration as text, in ms below a second."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


TITLE_CHARS: Final = 80
"""Characters of a trigger's title."""
MAX_PATTERN_CHARS: Final = 1000
"""Characters of a pattern for output."""
PORTS: Final = {"http": 80, "https": 443}
_METHOD = re.compile(r"(?:([A-Za-z]+)\s+)?(\S+)")
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
"""How JavaScript opens a named group."""
_KINDS: Final = ("request", "command", "input", "evaluate")
_KEYS: Final = {
    "request": {"headers", "json", "form", "body"},
    "command": {"cwd", "env"},
    "input": set[str](),
    "evaluate": set[str](),
}
"""The kinds of trigger, each with the keys that may stand beside it."""
USAGE: Final = (
    'Give {"request": "POST http://127.0.0.1:8000/total", "json": {…}}, {"command": ["curl", "…"]}, '
    '{"input": "3\\n"} or {"evaluate": "…"}.'
)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request over HTTP."""

    method: str
    url: str
    """Whole, or a path at the port that the program listens at."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""

    @property
    def title(self) -> str:
        """The method and the path, and the host where it is not this machine."""
        parts = urlsplit(self.url)
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        host = "" if self.is_here else f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return f"{self.method} {shortened(f'{host}{path}', TITLE_CHARS)}"

    @property
    def is_here(self) -> bool:
        """Whether the request goes to this machine, by a loopback address or as a path only."""
        return self.url.startswith("/") or is_loopback(urlsplit(self.url).hostname or "")

    @property
    def port(self) -> int:
        """The port that the request goes to; 0: the one at which the program listens."""
        return 0 if self.url.startswith("/") else port_of(self.url)


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command, without a shell."""

    command: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def title(self) -> str:
        """The command as a shell would write it, shortened."""
        return shortened(shlex.join(self.command), TITLE_CHARS)


@dataclass(frozen=True, slots=True)
class TerminalInput:
    """A text that is typed into the program's terminal."""

    text: str

    @property
    def title(self) -> str:
        """The text, in quotes and shortened."""
        return f"input {shortened(json.dumps(self.text, ensure_ascii=False), TITLE_CHARS)}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An expression that is evaluated in the program while it runs."""

    expression: str

    @property
    def title(self) -> str:
        """The expression on one line, shortened."""
        return f"evaluate {shortened(' '.join(self.expression.split()), TITLE_CHARS)}"


Trigger: TypeAlias = HttpRequest | CommandRun | TerminalInput | Evaluation


@dataclass(frozen=True, slots=True)
class ReadyCondition:
    """When a program is ready: it listens at a port, or has printed a line; else as each needs it."""

    port: int = 0
    output: str = ""
    """A regular expression; its first group may be the port."""
    url: str = ""
    """Where requests go that name a path only, `%s` is the port; empty: the port's on this machine."""

    @property
    def is_given(self) -> bool:
        """Whether it says when; else each trigger waits as it needs."""
        return bool(self.port or self.output)


def port_of(url: str) -> int:
    """Return the port of a URL, or the usual one of its scheme; 0: it has none."""
    parts = urlsplit(url)
    return parts.port or PORTS.get(parts.scheme, 0)


def is_loopback(host: str) -> bool:
    """Return whether a connection to a host, given by name or address, reaches this machine's loopback.

    Loopback addresses do so, `localhost` and names below it (in lower case), and `0.0.0.0` and `::`, which
    servers print as theirs. An address of IPv6 has no brackets. No name is looked up: every other name, and
    an empty text, gives False.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("example.org")
    (True, True, True, False)
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # `0.0.0.0`, as servers print it, connects to loopback.
    return address.is_loopback or address.is_unspecified


def parse_triggers(spec: Sequence[Json]) -> tuple[Trigger, ...]:
    """Return the triggers that a caller's argument `then` lists, in its order.

    Each entry has one of the keys `request`, `command`, `input` and `evaluate`, and others that belong to it.

    Raises:
        ArgumentError: An entry is no trigger.
    """
    return tuple(_parse_trigger(each) for each in spec)


def parse_ready(spec: Json | None) -> ReadyCondition:
    """Return what a caller's argument `ready` says: an object with either `port` or `output`.

    None gives a `ReadyCondition` that names nothing, so that each trigger waits as it needs. `port` is from 1 to 65535;
    `output` is checked by `checked_pattern`.

    Raises:
        ArgumentError: It has neither key, or more than one, or a port or a pattern that is invalid.
    """
    if spec is None:
        return ReadyCondition()
    port, output = spec.get("port"), spec.get("output")
    if {*spec} == {"output"} and isinstance(output, str) and output:
        return ReadyCondition(output=checked_pattern(output, "`ready`"))
    if {*spec} != {"port"} or not isinstance(port, int) or isinstance(port, bool):
        raise ArgumentError(
            "`ready` is a port or a pattern.", 'Give {"port": 8000} or {"output": "listening on"}.'
        )
    if not 0 < port < 1 << 16:
        raise ArgumentError(f"`ready`: {port} is no port.", "Give one from 1 to 65535.")
    return ReadyCondition(port)


def checked_pattern(pattern: str, where: str) -> str:
    """Return the regular expression `pattern`, of JavaScript or Python, as Python compiles it.

    Only the beginning of JavaScript's named groups, `(?<name>`, is rewritten, to `(?P<name>`. Whatever else
    JavaScript writes in another way is an error, such as `[^]`, or has the meaning that it has in Python. `where`
    is the argument's name, with which an error begins.

    Raises:
        ArgumentError: Python cannot compile it, or it has more than `MAX_PATTERN_CHARS` characters as rewritten.
    """
    written = _NAMED_GROUP.sub("(?P<", pattern)
    try:
        if len(written) > MAX_PATTERN_CHARS:
            raise ArgumentError(
                f"{where}: the pattern has more than {MAX_PATTERN_CHARS} characters.",
                "Give a shorter one.",
            )
        re.compile(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise ArgumentError(
            f"{where}: {shortened(pattern, TITLE_CHARS)!r} is no regular expression: {error}.",
            "Escape what is meant literally.",
        ) from error
    return written


def _parse_trigger(spec: Json) -> Trigger:
    """Return the trigger of one entry of `then`.

    `spec` has one of the keys `request`, `command`, `input` and `evaluate`; beside `request` may stand
    `headers` and `json`, `form` or `body`, beside `command` `cwd` and `env`. Keys with None count as left
    out.

    Raises:
        ArgumentError: It has no kind, or several, a key that does not go with its kind, or a value that is
            not allowed there.
    """
    kinds = [each for each in _KINDS if spec.get(each) is not None]
    if len(kinds) != 1:
        what = (
            f"has {' and '.join(kinds)}"
            if kinds
            else "has none of request, command, input, evaluate"
        )
        raise ArgumentError(f"`then`: an entry {what}.", USAGE)
    kind = kinds[0]
    other = {key for key, value in spec.items() if value is not None} - {kind} - _KEYS[kind]
    if other:
        raise ArgumentError(f"`then`: `{min(other)}` does not go with `{kind}`.", USAGE)
    if kind == "request":
        return _parse_request(spec)
    if kind == "command":
        return _parse_command(spec)
    text = spec[kind]
    if not isinstance(text, str) or not text:
        raise ArgumentError(f"`then`: `{kind}` must be a text.", USAGE)
    return TerminalInput(text) if kind == "input" else Evaluation(text)


def _parse_request(spec: Json) -> HttpRequest:
    """Return the HTTP request of an entry of `then`, whose key `request` the caller has found.

    `request` has a URL, maybe after a method; a URL that begins with one `/` is of the program's own port. The
    other keys are `headers` and at most one body: `json`, `form` or `body`. The method is POST with a body, GET
    without one, unless it is given. Headers without `Content-Type` get that of a JSON or form body.

    Raises:
        ArgumentError: `request` is no method and URL, the URL is not one of HTTP, there are two bodies, or the
            body or `headers` have a wrong form.
    """
    found = _METHOD.fullmatch(str(spec["request"]).strip())
    if found is None:
        raise ArgumentError(f"`then`: {_quoted(spec['request'])} is no method and URL.", USAGE)
    url = found[2]
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in PORTS and bool(parts.hostname) and port_of(url) > 0
    except ValueError:
        is_whole = False
    if not is_whole and not (url.startswith("/") and not url.startswith("//")):
        raise ArgumentError(
            f"`then`: {_quoted(url)} is no URL of HTTP.",
            "Give http://127.0.0.1:8000/total, or /total at the program's own port.",
        )
    bodies = [key for key in ("json", "form", "body") if spec.get(key) is not None]
    if len(bodies) > 1:
        raise ArgumentError(f"`then`: `{bodies[0]}` and `{bodies[1]}` are two bodies.", "Give one.")
    kind, body = _encode_body(bodies[0], spec[bodies[0]]) if bodies else ("", b"")
    headers = _texts(spec.get("headers"), "headers")
    if kind and not any(name.lower() == "content-type" for name in headers):
        headers = {**headers, "Content-Type": kind}
    method = (found[1] or ("POST" if bodies else "GET")).upper()
    return HttpRequest(method, url, headers, body)


def _encode_body(key: str, value: object) -> tuple[str, bytes]:
    """Return the content type and the bytes of a body, in UTF-8.

    `key` says how `value` is written: `json`, any value; `form`, an object, whose lists repeat their key; or
    `body`, a text as it is, whose content type is empty.

    Raises:
        ArgumentError: With `form` the value is no object, or with `body` no text.
    """
    if key == "json":
        return "application/json", json.dumps(value, ensure_ascii=False).encode(errors="replace")
    if key == "form":
        return "application/x-www-form-urlencoded", _form(value).encode()
    if not isinstance(value, str):
        raise ArgumentError("`then`: `body` must be a text.", "For an object give `json`.")
    return "", value.encode(errors="replace")


def _form(value: object) -> str:
    """Return the fields of a form as an HTTP body has them; what is no text is written as JSON.

    Raises:
        ArgumentError: `value` is no object.
    """
    if not is_object(value):
        raise ArgumentError("`then`: `form` must be an object.", 'Give {"name": "value"}.')
    every = {name: each if is_array(each) else [each] for name, each in value.items()}
    fields = {name: [*map(_as_field, each)] for name, each in every.items()}
    return urlencode(fields, doseq=True, errors="replace")


def _as_field(value: object) -> str:
    """Return a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parse_command(spec: Json) -> CommandRun:
    """Return the command of an entry's `then`: its `command`, a list of texts, with its `cwd` and `env`.

    `spec` has the key `command`; `cwd` may be missing or null, which gives None, and so may `env`, which gives an
    empty dict.

    Raises:
        ArgumentError: `command` is no list of texts, is empty or has a NUL; or `env` is no object, or has a line end
            or a NUL.
    """
    words: object = spec["command"]
    if not is_array(words) or not words or not all(isinstance(each, str) for each in words):
        raise ArgumentError(
            "`then`: `command` must be a list of texts, since no shell reads it.",
            'Give ["curl", "-s", "http://127.0.0.1:8000/"].',
        )
    if any("\0" in each for each in words):
        raise ArgumentError("`then`: no command can have a NUL.", "Leave it out.")
    cwd = spec.get("cwd")
    return CommandRun(
        tuple(words), None if cwd is None else str(cwd), _texts(spec.get("env"), "env")
    )


def _texts(value: object, key: str) -> dict[str, str]:
    """Return an object's names and values, what is no text as JSON; None gives an empty dict.

    `value` is what the caller gave under `key` ("headers" or "env"), which errors name.

    Raises:
        ArgumentError: It is no object, or has a line end or a NUL in it.
    """
    if value is not None and not is_object(value):
        raise ArgumentError(f"`then`: `{key}` must be an object.", 'Give {"NAME": "value"}.')
    texts = {str(name): _as_field(each) for name, each in as_object(value).items()}
    if any(sign in text for pair in texts.items() for text in pair for sign in "\0\r\n"):
        raise ArgumentError(f"`then`: `{key}` has a line end or a NUL in it.", "Leave it out.")
    return texts


def _quoted(text: object) -> str:
    """Return a value as a quoted text, shortened, for an error."""
    return repr(shortened(str(text), TITLE_CHARS))
