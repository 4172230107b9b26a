"""What came of a trigger, as a line for who waits: cut as output is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dapeer.base.text.fitting import shortened

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
        """The body's type and size as text, and its text, shortened to `BODY_CHARS`."""
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

    >>> told("POST /total", Response("200", Body(b'{"total": 8}', "application/json")), 0.035, 0)
    'POST /total → 200 in 35 ms, application/json, 12 bytes: {"total": 8}'
    """
    time = f" in {_duration(seconds)}" + (f" beside {_duration(stood)} stopped" if stood else "")
    facts = f", {response.body.facts}" if response.body is not None else ""
    notes = "".join(f" ({each})" for each in response.notes)
    return f"{title} → {response.head}{time}{facts}{notes}"


def _duration(seconds: float) -> str:
    """Return a duration as text, in ms below a second."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
