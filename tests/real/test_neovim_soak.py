"""Random typing in random modes while an assistant starts, steps, asks and ends programs.

The same keys go to a second Neovim at which nobody works: every buffer must be the same, byte for byte. The person rests
now and then, so that the cursor follows, and goes back to their notes. `DAPEER_SOAK_SECONDS=600` takes ten minutes,
`DAPEER_SOAK_SEED` repeats the keys of a run; both are printed.
"""

import asyncio
import contextlib
import os
import random
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import call
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.programs import program

SECONDS = float(os.environ.get("DAPEER_SOAK_SECONDS", "0"))
asked_for = pytest.mark.skipif(
    not SECONDS, reason="it takes long, and a quiet machine: DAPEER_SOAK_SECONDS=60"
)
pytestmark = [pytest.mark.real, asked_for]
SEED = os.environ.get("DAPEER_SOAK_SEED") or str(random.randrange(10**6))
PAUSE = 1.5
"""Seconds after a key in which the person is busy: `attention.lua` has them."""
LATE = 1.2
"""Seconds between two keys after which a busy machine may have made a pause that was not meant."""

LOOP = program("loop.py")
SETUP = {"approve": {"evaluate": True}}
RC = """
vim.keymap.set('n', '<F12>', function() vim.rpcnotify(vim.g.test_channel, 'typed') end)
vim.o.complete = '.'
"""
WORDS = ("total", "of", "the cup", "(1, 2)", "a.b", "name = 'x'", "  deep", "}", "end.")

ALONE = (
    "dd", "x", "p", "P", "J", "~", "yyp", "dw", "D", "u", "u", "<C-r>", ".", "3x", "rz", ">>", "xp", "w", "b", "j", "k", "gg",
    "G", "0", "$", "fe", "5G", "30G",
)  # fmt: skip
"""What is typed in Normal mode."""
INTO = ("i", "a", "o", "O", "A", "I", "cc", "S", "R", "gR", "ciw")
"""Ways into a mode in which text is typed."""
LONGER = (
    ("d", "2", "j"), ("v", "l", "l", "d"), ("V", "j", "d"), ("<C-v>", "j", "l", "x"), ("V", "j", "y", "p"), ("gh", "X", "<Esc>"),
    (":", "s/a", "/b", "/e<CR>"), (":", "normal! ", "ddp", "<CR>"), ("/the", "<CR>"), ("q", "a", "A;", "<Esc>", "j", "q"),
    ("@", "a"), ("f", "e"), ("y", "i", "w"), (":Dapeer ", "deny", "<CR>"), ("v", "<Esc>"), ("c", "w", "new", "<Esc>"),
)  # fmt: skip
"""What is typed with pauses within: Neovim waits for the next key, or has a selection, a command line, a macro."""


def typed(chance: random.Random) -> list[str]:
    """Return keys that a person types, in the pieces between which they pause."""
    kind = chance.random()
    if kind < 0.45:
        return [chance.choice(ALONE) for _ in range(chance.randint(1, 5))]
    if kind < 0.7:
        return [*chance.choice(LONGER)]
    text: list[str] = []
    for _ in range(chance.randint(1, 4)):
        word = chance.choice(WORDS)
        text += [word[: len(word) // 2], word[len(word) // 2 :].replace("<", "<lt>"), " "]
    # Without <C-o>: Neovim itself, up to 0.11, does not go back to Insert mode where a plugin touches a prompt buffer meanwhile, as
    # nvim-dap does with its REPL at the output of any program.
    return [chance.choice(INTO), *text, chance.choice(WORDS), "<Esc>"]


@dataclass
class Desks:
    """Two Neovims that get the same keys: an assistant works in the first."""

    both: tuple[Editor, Editor]
    notes: int
    """The number of the buffer that the person types into."""
    recent: list[str] = field(default_factory=list[str])
    _last: float = field(default_factory=time.monotonic)

    async def types(self, keys: str) -> bool:
        """Type into both; return whether the pause before it was as short as meant."""
        self.recent = [*self.recent[-60:], keys]
        await self._each(lambda editor: editor.keys(keys))
        late, self._last = time.monotonic() - self._last > LATE, time.monotonic()
        return not late

    async def goes_back(self) -> None:
        """Return to the notes, from wherever the cursor has followed to."""
        keys = f"<C-\\><C-n>:buffer {self.notes}<CR>gg0<F12>"
        await self._each(lambda editor: editor.keys(keys))
        for editor in self.both:
            await editor.wait_for_notification("typed")
        self._last = time.monotonic()

    async def texts(self) -> list[list[str]]:
        """Return the text of the notes in each."""
        lines = "return vim.api.nvim_buf_get_lines(..., 0, -1, true)"
        return [[*await editor.lua(lines, self.notes)] for editor in self.both]

    async def agree(self) -> None:
        """Check that both have the same text, and that nobody has typed into the program."""
        first, second = await self.texts()
        assert first == second, f"seed {SEED}; typed last: {self.recent}"
        changed = "return vim.fn.bufloaded(...) == 1 and vim.bo[vim.fn.bufnr(...)].modified"
        assert not await self.both[0].lua(changed, str(LOOP.source)), f"seed {SEED}: {self.recent}"

    async def _each(self, act: Callable[[Editor], Awaitable[object]]) -> None:
        await asyncio.gather(*map(act, self.both))


async def works(c: Client, chance: random.Random) -> None:
    """Start, step, ask and end, over and over."""
    while True:
        await call(c, "dap_run", program=str(LOOP), where="nvim", breakpoints=[LOOP.at("inner")])
        for _ in range(chance.randint(2, 8)):
            await call(c, "dap_step_over")
            await asyncio.sleep(chance.uniform(0, 0.4))
            if chance.random() < 0.3:
                # It is asked for consent, and is cancelled when nobody answers.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(chance.uniform(0.2, 1)):
                        await call(c, "dap_evaluate", expression="value + 1")
        await call(c, "dap_terminate")


@asynccontextmanager
async def desks(tmp_path: Path) -> AsyncGenerator[tuple[Client, Desks]]:
    """Start both Neovims with the same notes."""
    text = "".join(f"{n} the table and total {n * n}\n" for n in range(60))
    folders = [tmp_path / "worked_at", tmp_path / "alone"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text(text, encoding="utf-8")
    async with (
        neovim(folders[0], setup=SETUP, rc=RC, ui=True) as first,
        neovim(folders[1], setup=SETUP, rc=RC, ui=True) as second,
        attached(first) as (c, _),
    ):
        numbers = [
            await editor.lua("vim.cmd.edit(...) return vim.fn.bufnr()", str(folder / "notes.txt"))
            for editor, folder in zip((first, second), folders, strict=True)
        ]
        assert numbers[0] == numbers[1]
        yield c, Desks((first, second), numbers[0])


async def sits(folder: Path, chance: random.Random, ends: float) -> None:
    """Type until the time is over, or until a pause was longer than meant.

    After such a pause the cursor may have followed in between: texts, undo, registers and macros of both differ.
    """
    meant = True
    async with desks(folder) as (c, at), asyncio.TaskGroup() as tasks:
        working = tasks.create_task(works(c, random.Random(SEED)))
        await at.goes_back()
        while meant and time.monotonic() < ends:
            for _ in range(chance.randint(2, 8)):
                for keys in typed(chance):
                    meant &= await at.types(keys)
                    await asyncio.sleep(chance.choice((0.01, 0.05, 0.2, 0.5)))
            meant &= await at.types("<C-\\><C-n>")
            if chance.random() < 0.3:
                await asyncio.sleep(PAUSE + 0.4)
            await at.goes_back()
            if meant:
                await at.agree()
        assert not working.done(), "the assistant has worked all the time"
        working.cancel()


async def test_whatever_a_person_types_while_an_assistant_works_is_there_as_typed(
    tmp_path: Path,
) -> None:
    sys.stdout.write(f"DAPEER_SOAK_SEED={SEED} DAPEER_SOAK_SECONDS={SECONDS:g}\n")
    chance = random.Random(SEED)
    ends = time.monotonic() + SECONDS
    sittings = 0
    while time.monotonic() < ends:
        sittings += 1
        await sits(tmp_path / str(sittings), chance, ends)
    sys.stdout.write(f"begun {sittings} times: a busy machine makes pauses that were not meant\n")
