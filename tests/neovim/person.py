"""The person at the tests' Neovim: the one of the demo, with more that they do and see."""

from pathlib import Path

from dapeer.cli.demo_nvim import Person as DemoPerson
from tests.json_types import Json
from tests.neovim.editor import Editor


class Person(DemoPerson):
    """Uses nvim-dap as a person does, by its public functions."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self.editor = editor

    async def toggles(self, path: Path, line: int) -> None:
        """Go to a line and toggle the breakpoint there."""
        await self._call_lua("toggle", str(path), line)

    async def does(self, action: str) -> None:
        """Call a function of nvim-dap, such as `step_over`, `continue` or `terminate`."""
        await self.editor.lua("require('dap')[...]()", action)

    async def evaluates(self, expression: str) -> str:
        """Evaluate an expression in nvim-dap's current frame; return its result."""
        await self._call_lua("evaluate", expression)
        return str((await self.editor.wait_for_notification("evaluated"))[0])

    # -- what the person sees

    async def sessions(self) -> list[Json]:
        """Return nvim-dap's sessions: id, name, stopped, line, signs, focused."""
        return list(await self._call_lua("sessions"))

    async def session(self) -> Json:
        """Return nvim-dap's only session."""
        (only,) = await self.sessions()
        return only

    async def breakpoints(self) -> set[tuple[str, int, str]]:
        """Return the signs of breakpoints: name of the file, line, name of the sign."""
        signs = await self._call_lua("breakpoints")
        return {(Path(path).name, line, name) for path, line, name in signs}

    async def conditions(self) -> dict[int, Json]:
        """Return nvim-dap's own breakpoints by line, in whatever file."""
        found: list[Json] = await self._call_lua("conditions")
        return {each["line"]: each for each in found}

    async def desk(self) -> Json:
        """Return what is the person's own, to compare: windows, cursors, registers, mode, texts."""
        desk: Json = await self._call_lua("desk")
        return desk
