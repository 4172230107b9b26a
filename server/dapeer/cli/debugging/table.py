"""Which command calls which tool, and what it takes by place.

Of the tools only `known.json` is read.

Only the standard library, and little of it: each command waits for this.
"""

from __future__ import annotations

from dapeer.tools.base.known_tools import known_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from dapeer.tools.base.known_tools import KnownTool

PREFIX: Final = "dap_"
"""How the names of tools begin that have a command; all others go by `dapeer call`."""
SHORT: Final = {
    "step": "dap_step_into",
    "next": "dap_step_over",
    "out": "dap_step_out",
    "until": "dap_run_until",
    "eval": "dap_evaluate",
    "vars": "dap_variables",
    "stack": "dap_stacktrace",
    "break": "dap_set_breakpoint",
    "output": "dap_program_output",
    "send": "dap_send_input",
    "end": "dap_disconnect",
}
"""Short names of commands, besides those that are made from the names of tools."""
ATTACH: Final = "attach"
"""The command that calls `dap_run` for a process, which it takes by place."""
OTHERWISE: Final = {"dap_adapters": "", "dap_script": "", "dap_call": "collected-call"}
"""Tools whose name another command has, and how theirs is called; empty: they have none."""
CALL: Final = "call"
"""The command that calls any tool by its whole name."""
SCRIPT: Final = "script"
"""The command that runs a script."""
PLACE: Final = "place"
"""Stands for `filename` and `line` together, or for `function`."""
BY_PLACE: Final[Mapping[str, Sequence[str]]] = {
    "dap_run": ("program",),
    "dap_run_to": (PLACE,),
    "dap_goto": (PLACE,),
    "dap_set_breakpoint": (PLACE,),
    "dap_remove_breakpoint": (PLACE,),
    "dap_clear_breakpoints": ("filename",),
    "dap_source": (PLACE,),
    "dap_variables": ("path",),
    "dap_collected": ("at",),
    "dap_history": ("number",),
    "dap_modules": ("matching",),
    "dap_disassemble": ("address",),
}
"""What a command takes by place; of a tool that is not listed here, its required arguments."""


def name_of(tool: str) -> str:
    """Return the name of a tool's command, `set-breakpoint` of `dap_set_breakpoint`; empty: it has none."""
    if not tool.startswith(PREFIX):
        return ""
    return OTHERWISE.get(tool, tool.removeprefix(PREFIX).replace("_", "-"))


def tools_by_command() -> dict[str, str]:
    """Return the tool of each command that calls one, by the command's name, the short names last."""
    named = {name_of(tool): tool for tool in known_tools()}
    named.pop("", None)
    return {**named, **SHORT, ATTACH: "dap_run"}


def is_command(word: str) -> bool:
    """Whether a word is a command that debugs."""
    return word in {CALL, SCRIPT} or word in tools_by_command()


def short_names(tool: str) -> list[str]:
    """Return the short names of a tool's command."""
    return [name for name, of in SHORT.items() if of == tool]


def by_place(tool: str, known_tool: KnownTool, command: str = "") -> Sequence[str]:
    """Return the arguments that a tool's command takes as words by place, in their order.

    `command` is the command's name where the tool has one that takes others than usual.
    """
    if command == ATTACH:
        return ("pid",)
    return BY_PLACE.get(tool) or known_tool["arguments"].get("required", ())


def waits(tool: str, known_tool: KnownTool) -> bool:
    """Whether a tool waits for a program, whose state its answer then has."""
    return known_tool["resumes"] or tool in {"dap_run", "dap_restart", "dap_wait_until_paused"}
