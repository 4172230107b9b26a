"""The shared output of a program's processes, and the messages of its log points. Pure."""

from __future__ import annotations

from dapeer.dap.messages import Body
from dapeer.mirror.logged import Logged
from dapeer.mirror.output import Category, OutputLog

IN_TERMINAL = "dapeerTerminal"
"""Marks output from a terminal, and sessions whose program runs in one."""


class Printed:
    """Takes in output events."""

    def __init__(self) -> None:
        self.output = OutputLog()
        self.logged = Logged(self.output)

    def take(self, body: Body, at: float, log_point: tuple[str, int] | None) -> None:
        """Apply an output event's body, which arrived at time `at`; `log_point` is its log point's location."""
        category = body.get("category") or "console"
        if category == "telemetry":  # > … should be sent to telemetry … instead of being shown
            return
        known: Category = category if category in ("stdout", "stderr") else "console"
        if body.get(IN_TERMINAL):
            self.output.enter_terminal()
        elif self.output.in_terminal and known != "console" and log_point is None:
            return  # the adapter repeats the terminal's output
        text = str(body.get("output") or "")
        if log_point is None:
            self.output.append(known, text, at)
        else:
            self.logged.add(*log_point, text, at)
