"""The live page in a real browser: what a person sees there on a narrow screen, and with a wrong token."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client

from dapeer.mcp.all_tools import TOOLS
from tests.harness import DATA, ask, has_all
from tests.mcp.small import TOKEN, over_http, streamable
from tests.processes import LIMIT

WIDTH = 400
"""Pixels that the window is wide."""
SHOWN = "{wide: document.documentElement.scrollWidth, text: document.body.innerText}"
LONG = "a_program_with_a_name_that_is_much_too_long_for_a_narrow_screen.py"
PROGRAM = """
for number in range(40):
    price, words = None if number == 20 else number / 7, f"{'word ' * 30}{number}"
    total = price
input()
"""


class Browser:
    """One page of a headless Chromium, driven by the Chrome DevTools Protocol over its pipe."""

    def __init__(self, sends: int, answers: asyncio.StreamReader) -> None:
        self._sends = sends
        self._answers = answers
        self._number = 0
        self._page: dict[str, str] = {}

    async def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return the result of a method of the protocol."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters, **self._page}
        os.write(self._sends, json.dumps(request).encode() + b"\0")
        while True:
            answer = json.loads((await self._answers.readuntil(b"\0"))[:-1])
            if answer.get("id") == self._number:
                return cast("dict[str, Any]", answer["result"])

    async def show(self, url: str) -> None:
        """Open a page in a narrow window."""
        made = await self.ask("Target.createTarget", url="about:blank")
        attached = await self.ask("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._page = {"sessionId": attached["sessionId"]}
        screen = {"width": WIDTH, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        await self.ask("Emulation.setDeviceMetricsOverride", **screen)
        await self.ask("Page.navigate", url=url)

    async def seen(self, text: str) -> dict[str, Any]:
        """Return the width and the text of the page, once it shows a text."""
        has = f"document.body?.innerText.includes({json.dumps(text)})"
        script = (
            f"new Promise((done) => {{ const look = () => {has} && done({SHOWN});"
            "new MutationObserver(look).observe(document, {subtree: true, childList: true}); look(); })"
        )
        how = {"awaitPromise": True, "returnByValue": True}
        answer = await self.ask("Runtime.evaluate", expression=script, **how)
        return cast("dict[str, Any]", answer["result"]["value"])


@asynccontextmanager
async def browser(profile: Path) -> AsyncGenerator[Browser]:
    """Run a Chromium of its own."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium: apt-get install chromium")
    reads, sends = os.pipe()
    answers, writes = os.pipe()
    command = [
        "bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "bash", chromium, "--headless=new", "--no-sandbox",
        "--remote-debugging-pipe", f"--user-data-dir={profile}",
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command, pass_fds=(reads, writes), stderr=asyncio.subprocess.DEVNULL
    )
    os.close(reads)
    os.close(writes)
    stream = asyncio.StreamReader(limit=1 << 24)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(answers, "rb")
    )
    try:
        yield Browser(sends, stream)
    finally:
        process.terminate()
        os.close(sends)
        pipe.close()
        await process.wait()


async def test_a_narrow_screen_shows_program_rows_and_the_odd_one_without_scrolling_sideways(
    tmp_path: Path,
) -> None:
    path = tmp_path / LONG
    path.write_text(PROGRAM, encoding="utf-8")
    point = {"filename": str(path), "line": 4, "collect": ["price", "words"]}
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        Client(streamable(url), extensions=DATA) as c,
        browser(tmp_path / "profile") as page,
    ):
        run = {"program": str(path), "breakpoints": [point], "terminal": True}
        await ask(c, "dap_run", **run, wait_until_paused=False)
        await page.show(f"{url}/live#{TOKEN}")
        shown = await page.seen("#40")
        has_all(shown["text"], f"1 {LONG} (running)", f"{LONG}:4", "price the only None", "5.57143")
        assert shown["wide"] <= WIDTH
        await ask(c, "dap_terminate")


async def test_a_wrong_token_is_said_to_be_wrong(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(LIMIT),
        over_http(TOOLS) as (_, url),
        browser(tmp_path / "profile") as page,
    ):
        await page.show(f"{url}/live#{'x' * 32}")
        shown = await page.seen("This token is wrong.")
        has_all(shown["text"], "The server has printed which file holds it.", "Show")
