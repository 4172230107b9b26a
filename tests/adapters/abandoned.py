"""A small server that starts an adapter and never ends it: `python abandoned.py DEFINITION`.

Prints the ids of the adapter and its debuggee, and waits to be killed.
"""

import asyncio
import sys
from pathlib import Path

from dapeer.adapters.definition.definition import load
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.owned_process import Reaper
from tests.adapters.toys import debuggee


async def main() -> None:
    """Start, tell, wait."""
    async with open_adapter(load(Path(sys.argv[1])), "launch", {}, Reaper()) as adapter:
        program = await debuggee(adapter.transport)
        adapter.claim(program)
        sys.stdout.write(f"{adapter.pid} {program}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
