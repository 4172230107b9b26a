"""The person at the tests' Neovim: what they do with nvim-dap, and what it shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.json_types import Json
from tests.neovim.editor import Editor
from tests.neovim.wire import Value
from tests.programs import Program


@dataclass(frozen=True)
class Person:
    """Uses nvim-dap as a person does, by its public functions."""

    editor: Editor

    async def _do(self, function: str, *arguments: object) -> Value:
        # None would come as `vim.NIL`, which is true.
        arguments = tuple(each for each in arguments if each is not None)
        return await self.editor.lua(f"return require('person').{function}(...)", *arguments)

    # -- what the person does

    async def run(self, program: Program | str, **more: object) -> int:
        """Start a Python program; return nvim-dap's id of the session when it is initialized."""
        name = Path(str(program)).name
        config: Mapping[str, object] = {
            "type": "python",
            "request": "launch",
            "name": name,
            "program": str(program),
            "console": "internalConsole",
            **more,
        }
        await self._do("run", config)
        return (await self.editor.notified("initialized"))[0]

    async def opens(self, path: Path, line: int = 1) -> None:
        """Show a file in the current window, with the cursor at a line."""
        await self._do("open", str(path), line)

    async def breaks_at(self, path: Path, line: int, condition: str | None = None) -> None:
        """Go to a line and set a breakpoint there."""
        await self._do("breakpoint", str(path), line, condition)

    async def toggles(self, path: Path, line: int) -> None:
        """Go to a line and toggle the breakpoint there."""
        await self._do("toggle", str(path), line)

    async def does(self, action: str) -> None:
        """Call a function of nvim-dap, such as `step_over`, `continue` or `terminate`."""
        await self.editor.lua("require('dap')[...]()", action)

    async def evaluates(self, expression: str) -> str:
        """Evaluate an expression in nvim-dap's current frame; return its result."""
        await self._do("evaluate", expression)
        return str((await self.editor.notified("evaluated"))[0])

    # -- what the person sees

    async def sees_stop(self, line: int) -> None:
        """Wait until nvim-dap has shown a stop at this line."""
        while (await self.editor.notified("stopped"))[1] != line:
            pass

    async def sees_end(self) -> int:
        """Wait until nvim-dap has closed a session; return its id."""
        return (await self.editor.notified("ended"))[0]

    async def sessions(self) -> list[Json]:
        """Return nvim-dap's sessions: id, name, stopped, line, signs, focused."""
        return list(await self._do("sessions"))

    async def session(self) -> Json:
        """Return nvim-dap's only session."""
        (only,) = await self.sessions()
        return only

    async def breakpoints(self) -> set[tuple[str, int, str]]:
        """Return the signs of breakpoints: name of the file, line, name of the sign."""
        signs = await self._do("breakpoints")
        return {(Path(path).name, line, name) for path, line, name in signs}

    async def conditions(self) -> dict[int, Json]:
        """Return nvim-dap's own breakpoints by line, in whatever file."""
        found: list[Json] = await self._do("conditions")
        return {each["line"]: each for each in found}

    async def desk(self) -> Json:
        """Return what is the person's own, to compare: windows, cursors, registers, mode, texts."""
        desk: Json = await self._do("desk")
        return desk
