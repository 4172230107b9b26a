"""The instructions that an assistant reads before its first call."""

from __future__ import annotations

from typing import Final

# Clients put this into the system prompt, so every character costs; a test keeps it below 1,500.
INSTRUCTIONS: Final = """\
dapeer debugs programs by debug adapters. Lines and columns start at 1.

0. dap_status also lists the sessions of a person's Neovim. Join those: all is shared.
1. Start: ONE dap_run(program=…, breakpoints=[{"filename": …, "line": …}]) launches the program and \
waits for its stop: place, source, stack, locals, output.
Collect first, stop second: a breakpoint with collect=["a.b"] records each hit without a stop, \
{"calls": ["shop.*"]} each call; the answer sums up all. dap_collected, dap_call(n): more.
2. Move: dap_continue, dap_step_over, dap_step_into, dap_step_out, dap_run_to(filename, line); \
dap_run_until("total < 0") (on="write": who wrote it). Each waits for the next stop \
(timeout_ms=0: not) and shows what is new there. evaluate=[…] adds values; \
show=brief: place and changes only, full: all.
3. Look closer: dap_evaluate(expressions=[…]), dap_variables(path="order.items[3]"), dap_stacktrace, \
dap_exception_info. Ids die with their stop: take new ones.
4. Breakpoints: dap_set_breakpoint(filename, line, condition?) at any time.
5. Output: dap_program_output(since=cursor), also after the end. \
dap_history: earlier stops.
6. End: dap_terminate.

"Still running" is no error: dap_wait_until_paused waits on, dap_pause shows where. \
dap_run(stop_on_entry=true) stops at the first line; \
exception_filters stop where an exception is raised. With several \
sessions pass session_id; default: the one used last, even if ended.
nvim_*: the person's Neovim: code, diagnostics, diffs.
"""
