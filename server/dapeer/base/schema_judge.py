"""Checks the schemas of Lua tools, and arguments for them, in a process of its own.

A schema of a few lines can need hours, or all memory: alternatives that refer to each other, thousands of
values compared with thousands. The extra process limits the damage to one answer.
"""

from __future__ import annotations

from typing import Final

from dapeer.base.json_types import Json
from dapeer.base.schemas import UNCHECKED
from dapeer.base.system.limited_process import Closed, LimitedProcess, NoAnswer

WORKER: Final = "dapeer.base.schemas"


class Judge:
    """The client of that process, which starts at the first question and ends with dapeer."""

    def __init__(self) -> None:
        self._process = LimitedProcess(WORKER)

    async def aclose(self) -> None:
        """Kill the process; questions that are open or come later get no verdict."""
        await self._process.aclose()

    async def flaw_of(self, schema: object) -> str | None:
        """Return what is wrong with a tool's JSON Schema of arguments, as a clause; None if it is valid.

        The check runs in a process with limits, which is started if need be, and is awaited. A schema that takes
        the process more than its limit of time, or too much memory, counts as wrong; so does any schema while the
        process cannot be started. After `aclose` the result is always None, and nothing is checked.
        """
        try:
            return await self._process.ask(schema)
        except Closed:
            return None
        except NoAnswer:
            return "checking its schema takes too much time or memory"
        except RecursionError:
            return "its schema is nested too deeply"

    async def problem_of(self, arguments: Json, schema: Json) -> str | None:
        """Return in one sentence what is wrong with the first invalid argument; None if all are valid.

        `arguments` are checked against the JSON Schema `schema` in a process with limits, which is started if
        need be. The sentence begins with `UNCHECKED` and says why the arguments could not be checked if the
        process cannot be started or ends, if the check takes too much time or memory, if arguments or schema are
        nested too deeply, or after `aclose`.
        """
        try:
            return await self._process.ask(schema, arguments)
        except Closed:
            return f"{UNCHECKED}: dapeer ends."
        except NoAnswer:
            return f"{UNCHECKED}: that takes too much time or memory."
        except RecursionError:
            return f"{UNCHECKED}: they or the tool's schema are nested without end."
