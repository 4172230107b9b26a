"""The instructions before an assistant's first call, and what to call in place of a missing tool."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from typing import Final

_NAMED: Final = re.compile(r"\bdap_\w+|\bnvim_")
"""Tools in a text; those of Neovim are named by their beginning."""

_OF_TIME: Final = re.compile(r"profil|perf|timing|hot_?spot|benchmark|trace(?!back)")
"""In names of tools that are asked for to see where the time goes."""

# Clients put this into the system prompt, so every character costs; a test keeps it below 1,500.
INSTRUCTIONS: Final = """\
dapeer debugs programs by debug adapters. Lines, columns start at 1.

0. dap_status also lists the sessions of a person's Neovim. Join those: all is shared.
1. Start: ONE dap_run(program=…, breakpoints=[{"filename": …, "line": …}]) launches it and \
waits for its stop: place, source, stack, locals, output. then=[{"request": "POST /x"}] is sent meanwhile.
Collect first, stop second: a breakpoint with collect=["a.b"] records each hit without a stop, \
{"calls": ["shop.*"]} each call; the answer sums up all. dap_collected, dap_call(n): more.
2. Move: dap_continue, dap_step_over, dap_step_into, dap_step_out, dap_run_to(filename, line); \
dap_run_until("total < 0") (on="write": who wrote it). Each waits for the next stop \
(timeout_ms=0: not) and shows what is new there. evaluate=[…] adds values; \
show=brief: place and changes only, full: all.
3. Look closer: dap_evaluate(expressions=[…]), dap_variables(path="order.items[3]"), dap_stacktrace, \
dap_exception_info. Ids die with their stop.
4. Breakpoints: dap_set_breakpoint(filename, line, condition?).
5. Output: dap_program_output(since=cursor), also after the end. \
dap_history: earlier stops.
6. End: dap_terminate.

"Still running" is no error: dap_wait_until_paused waits on, dap_pause shows where. \
dap_run(stop_on_entry=true) stops at the first line; \
exception_filters stop where an exception is raised. Several \
sessions: session_id; default: the one used last, even if ended.
nvim_*: the person's Neovim: code, diagnostics, diffs.
"""

_WITHOUT_NEOVIM: Final = INSTRUCTIONS.rpartition("nvim_*")[0]

_LEAN: Final = """\
dapeer debugs programs by debug adapters. Lines, columns start at 1.

1. Start: ONE dap_run(program=…, breakpoints=[{"filename": …, "line": …}]) launches the program and \
waits for its stop: place, source, stack, locals, output.
Collect first, stop second: a breakpoint with collect=["a.b"] records each hit without a stop, \
{"calls": ["shop.*"]} each call; the answer sums up all. dap_collected: more.
2. Move: dap_continue, dap_step_over. Each waits for the next stop and shows what is new there.
3. Look closer: dap_evaluate(expressions=[…]).
4. Breakpoints: dap_set_breakpoint(filename, line, condition?) at any time.
5. End: dap_terminate.

"Still running" is no error: dap_wait_until_paused waits on, dap_pause shows where.
"""

_LOOKING: Final = """\
dapeer debugs programs by debug adapters. Lines, columns start at 1.

You only look: other clients, or a person in Neovim, start and move the programs.
1. dap_status lists the sessions. dap_snapshot shows a stop: place, source, stack, locals, output. \
dap_wait_until_paused waits for the next one.
2. Look closer: dap_variables(path="order.items[3]"), dap_stacktrace, dap_exception_info, \
dap_collected. Ids die with their stop: take new ones.
3. Output: dap_program_output(since=cursor), also after the end. dap_history: earlier stops.

With several sessions pass session_id; default: the one used last, even if ended.
"""

_TEXTS: Final = (INSTRUCTIONS, _WITHOUT_NEOVIM, _LEAN, _LOOKING)
_ANY: Final = INSTRUCTIONS.partition("\n\n")[0] + "\n"


def instructions(offered: Collection[str]) -> str:
    """Return the instructions for an assistant that is offered these tools.

    They are the fullest text of several whose tools are all offered.

    Args:
        offered: Names of tools; `nvim_` stands for those of a Neovim, which come and go with it.
    """
    return next((text for text in _TEXTS if set(_NAMED.findall(text)) <= set(offered)), _ANY)


def hidden_tools_note(text: str, hidden: Collection[str], options: str) -> str | None:
    """Return a sentence if a text names tools that this server hides; None: it names none.

    `options` are the command-line options that have hidden them.
    """
    names = sorted(set(_NAMED.findall(text)).intersection(hidden)) if hidden else ()
    which = " or ".join(names)
    return f"This server offers no {which}: it was started with `{options}`." if names else None


def advice_for_unknown_tool(name: str, offered: Collection[str]) -> str:
    """Return a sentence on what to call instead of an unknown tool.

    It names up to three offered tools with similar names. If there is none, it says for a name about profiling
    how to see what takes long, if `dap_run` and `dap_collected` are offered; else it names the list of tools.
    `name` is what was called, `offered` are the names of the tools that there are. The beginning of an offered
    name up to its first `_` does not count for the likeness (so a name without `_` is suggested only where
    nothing is left of `name`, and of names with one end only the last), nor that of `name` if an offered name
    begins with the same.
    """
    # What all names begin with makes none of them near.
    by_end = {each.partition("_")[2]: each for each in offered}
    head, _, rest = name.lower().partition("_")
    end = rest if any(each.startswith(f"{head}_") for each in offered) else name.lower()
    near = difflib.get_close_matches(end, by_end, n=3)
    if near:
        return f"Did you mean {' or '.join(map(by_end.__getitem__, near))}?"
    if _OF_TIME.search(end) and {"dap_run", "dap_collected"} <= set(offered):
        return (
            'To see what takes long: dap_run(…, breakpoints=[{"calls": ["shop.*"]}]), then '
            'dap_collected(by="function").'
        )
    return "See tools/list."
