"""`dapeer demo --nvim`, played as it is shown to people."""

import asyncio
import os
import sys
from pathlib import Path

from tests.neovim.editor import nvim_dap
from tests.processes import LIMIT
from tests.programs import ROOT

FACTS = (
    # The session that the person has started is the assistant's, too.
    "→ dap_status()\n  1 shop.py (python, in Neovim, by tap) stopped (breakpoint) at shop.py:36",
    # Its breakpoint is a sign beside theirs.
    "Neovim shows:\n"
    "  C    26              total += item.cost(self.discount)  # @add\n"
    "  B→   36      amount = order.total()  # @order_ready      ← cursor\n",
    # Their cursor follows it.
    "Neovim shows:\n  C→   26              total += item.cost(self.discount)  # @add      ← cursor\n",
    # It works while Neovim does not, and Neovim catches up.
    "waits for a key (mode n)",
    "  (10.0, 9.0)",
    "    total: 81.0 → 90.0",
    "Neovim shows:\n  →    25          for item in self.items:      ← cursor\n",
    # What they type meanwhile stays where they type it, and one command takes them to the stop.
    "Their note: Does Ada know of this?",
    "Neovim shows:\n  C    26              total += item.cost(self.discount)  # @add\n"
    "  →    27          return total * (1 - self.discount)  # @total      ← cursor\n",
    "to pay 90.00",
    # The person can read it all again.
    "ok      dap_set_breakpoint",
    "Found: the discount is taken off twice.",
    # It proposes the fix, they decide, and their linter and their own tool have a say.
    "            return total * (1 - self.discount)  # @total     │          return (total  # @total\n",
    "ZZ accept  ZQ reject",
    "  FILE_SAVED, and the final text: 41 lines",
    "    27:16 error '(' was never closed (compiler)",
    "  Diagnostics of shop.py: none",
    "→ nvim_amount_to_pay()\n  Ada: goods 100.00, discount 10 %, to pay 90.00",
)


async def demo(**environment: str) -> tuple[str, int | None]:
    """Play the story; return what it printed and its exit code."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dapeer", "demo", "--nvim"),
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(2 * LIMIT):
        out, _ = await process.communicate()
    return out.decode(), process.returncode


async def test_the_demo_shows_a_person_and_an_assistant_in_one_session() -> None:
    told, code = await demo(DAPEER_NVIM_DAP=str(nvim_dap()))
    assert code == 0, told
    missing = [fact for fact in FACTS if fact not in told]
    assert missing == [], told
    assert max(map(len, told.split("\nFound: ")[1].split("\n\n")[0].splitlines())) <= 100


async def test_the_demo_tells_how_to_get_nvim_dap(tmp_path: Path) -> None:
    told, code = await demo(DAPEER_NVIM_DAP="", XDG_DATA_HOME=str(tmp_path))
    assert code == 1
    words = " ".join(told.split())
    assert f"git clone https://github.com/mfussenegger/nvim-dap {tmp_path}/nvim/site/pack" in words
