"""A person at Neovim: what they do there, and what they see.

They type, and use nvim-dap's public functions, over Neovim's own RPC. They know nothing of dapeer, but that its plugin
is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from dapeer.base.json_types import Value

LUA: Final = Path(__file__).with_name("person.lua")
"""Their side in Neovim: the module `person` there."""


class Hands(Protocol):
    """What a person has of a Neovim: its keyboard, and what it tells."""

    async def lua(self, code: str, *arguments: object) -> Value:
        """Run Lua there; `...` are the arguments. Return what it returns."""
        ...

    async def keys(self, keys: str) -> None:
        """Press keys."""
        ...

    async def wait_for_notification(self, kind: str) -> list[Value]:
        """Wait until Neovim tells something of a kind; return the rest of it."""
        ...


class Person:
    """Somebody at a Neovim. `sees_…` waits for what Neovim shows."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands

    async def _do(self, function: str, *arguments: object) -> Value:
        """Call a function of the Lua module `person`, without the arguments that are None; return its result."""
        # None would come as `vim.NIL`, which is true.
        given = [each for each in arguments if each is not None]
        return await self._hands.lua(f"return require('person').{function}(...)", *given)

    # -- what the person does

    async def run(self, program: object, **more: object) -> int:
        """Start a Python program in nvim-dap; return nvim-dap's id of the session once it is initialized.

        `more` are keys of the configuration.
        """
        config: Mapping[str, object] = {
            "type": "python",
            "request": "launch",
            "name": Path(str(program)).name,
            "program": str(program),
            "console": "internalConsole",
            **more,
        }
        await self._do("run", config)
        return (await self._hands.wait_for_notification("initialized"))[0]

    async def opens(self, path: Path, line: int = 1) -> None:
        """Show a file in the current window, with the cursor at a line."""
        await self._do("open", str(path), line)

    async def breaks_at(self, path: Path, line: int, condition: str | None = None) -> None:
        """Go to a line and set a breakpoint there."""
        await self._do("breakpoint", str(path), line, condition)

    async def types(self, keys: str) -> None:
        """Press keys."""
        await self._hands.keys(keys)

    async def pauses(self) -> None:
        """Press no key for so long that dapeer moves what the person sees again."""
        await self._do("pause")

    # -- what the person sees

    async def sees(self, kind: str) -> None:
        """Wait until Neovim has told this."""
        await self._hands.wait_for_notification(kind)

    async def sees_stop(self, line: int) -> None:
        """Wait until nvim-dap has shown a stop at this line."""
        while (await self._hands.wait_for_notification("stopped"))[1] != line:
            pass

    async def sees_end(self) -> int:
        """Wait until nvim-dap has closed a session; return its id."""
        return (await self._hands.wait_for_notification("ended"))[0]

    async def screen(self) -> str:
        """Return what the window shows: the lines that have a sign or the cursor."""
        return "\n".join(
            f"{signs:3} {number:3}  {code}{'      ← cursor' if cursor else ''}"
            for number, signs, code, cursor in await self._do("sees")
        )

    async def looks(self, lines: int) -> list[str]:
        """Return the first lines of the screen, as they are."""
        return list(await self._do("looks", lines))

    async def log(self) -> list[str]:
        """Return what `:Dapeer log` shows."""
        return list(await self._hands.lua("return require('dapeer.person.actions').lines()"))
