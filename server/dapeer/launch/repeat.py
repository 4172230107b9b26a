"""A program that is run again and again until something happens, as a caller asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from dapeer.base.errors import ArgumentError
from dapeer.launch.start import Where
from dapeer.launch.starts import Start
from dapeer.sessions.reruns.repetition import RepeatUntil


@dataclass(frozen=True, slots=True)
class Repeat:
    """How often a program is run, and until when."""

    times: int = 1
    until: RepeatUntil | None = None
    """None: any stop."""
    collects: bool = False
    """It is to collect, which in nvim-dap only Python programs do."""

    def __post_init__(self) -> None:
        """Refuse an end without a repetition.

        Raises:
            ArgumentError: There is only one run.
        """
        if self.until is not None and not self.is_repeated:
            raise ArgumentError("`until` says when to stop repeating.", "Give `repeat`, too.")

    @property
    def is_repeated(self) -> bool:
        """Whether there is more than one run."""
        return self.times > 1

    def place(self, where: Where) -> Where:
        """Return where to start: in no Neovim, unless the caller names one.

        Many runs would flash by there, and a run that collects needs no editor.
        """
        return "direct" if (self.is_repeated or self.collects) and where == "auto" else where

    def check(self, start: Start) -> None:
        """Look whether it can be run again.

        Raises:
            ArgumentError: It is attached to.
        """
        if self.is_repeated and not start.launched:
            raise ArgumentError(
                "Only a program that dap_run starts can be run again.", "Leave `repeat` out."
            )
