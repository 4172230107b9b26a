"""What bare `dapeer` prints, and `dapeer stdio` at a terminal: where to begin."""

from __future__ import annotations

from typing import Final

import dapeer

BARE: Final = f"""\
dapeer {dapeer.__version__}: a debugger that you and your AI share.

  dapeer demo                     watch it find a bug
  dapeer install claude           let your assistant use it, or cursor, codex, …
  dapeer run app.py -b app.py:27  debug from this terminal
  dapeer doctor                   what is installed, missing, and how to get it

`dapeer --help` lists all commands, `dapeer COMMAND --help` explains one.
"""
STDIO_AT_A_TERMINAL: Final = (
    "`dapeer stdio` is what an MCP client starts: it speaks JSON-RPC, and waits for it now. `dapeer install CLIENT` lets a client "
    "start it; Ctrl-C ends it."
)
