"""Breakpoints' conditions and log messages that failed, and patches of ours that are off. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dapeer.dap.messages import Body, uncoloured
from dapeer.mirror.bounded import Bounded

EVENT = "breakpointFailed"
"""Reports a failed expression: `kind`, `expression`, `path`, `line`, `error`, and its `count` so far.

No adapter sends it. dapeer's launcher of debugpy does, and dapeer converts other adapters' output to it.
"""
PATCH_OFF = "dapeerPatchOff"
"""Reports that a patch of ours is off: `name`, `lost` and `why`; our code in the debuggee sends it."""
PATCH = "patch"
"""The kind of such a failure: `expression` is the patch's name, and `error` what is lost, and why."""

TRACING = "tracing"
"""The kind of a failure after which the program was not seen any more."""


@dataclass(slots=True)
class Failure:
    """A failed expression: what, where, why, and how often."""

    kind: str
    """`condition`, `hit condition`, `log message`, `tracing` or `patch`."""
    expression: str
    path: str
    line: int
    error: str
    count: int = 0
    reported: int = 0
    """The count that was reported last."""

    def mark_reported(self, count: int) -> None:
        """Record the count of failures that a client has seen."""
        self.reported = count


@dataclass(slots=True)
class Failures:
    """All that failed in the processes of one program."""

    known: Bounded[tuple[str, str, str, int, str], Failure] = field(
        default_factory=lambda: Bounded("conditions that failed")
    )

    def __iter__(self) -> Iterator[Failure]:
        """Yield them, the earliest first."""
        return iter(self.known.values())

    def record(self, body: Body) -> None:
        """Record the body of a `breakpointFailed` event: a new failure, or the count of the equal known one.

        Keys of the body are `kind` (default: `condition`), `expression`, `path`, `line` (default: 0), `error`, from
        which colours are removed, and `count`: how often it has failed so far, which replaces the known count.
        Without `count`, the known count grows by one. Failures are equal if all but `count` is. Above a limit of
        entries a new failure is dropped, and `known.left_out_note` says so.
        """
        failure = Failure(
            str(body.get("kind") or "condition"),
            str(body.get("expression") or ""),
            str(body.get("path") or ""),
            int(body.get("line") or 0),
            uncoloured(str(body.get("error") or "")),
        )
        self._count(failure, int(body.get("count") or 0))

    def record_patch_off(self, body: Body) -> None:
        """Record, once, that a patch of ours is off; `body` has the patch's `name`, what is `lost`, and `why`."""
        lost, why = (str(body.get(each) or "") for each in ("lost", "why"))
        self._count(Failure(PATCH, str(body.get("name") or ""), "", 0, f"{lost} ({why})"), 1)

    def _count(self, failure: Failure, count: int) -> None:
        """Keep a failure, or the equal one that is known, and set its count; 0 means one more."""
        key = (failure.kind, failure.expression, failure.path, failure.line, failure.error)
        known = self.known.get(key, failure)
        self.known[key] = known
        known.count = count or known.count + 1
