"""Pages in a browser: started for a URL, debugged, and gone without a trace at each end."""

import contextlib
import functools
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dapeer.adapters.choice.detection import detect
from tests.e2e.conftest import names_in
from tests.e2e.running import free_port
from tests.harness import OURS, ask, client, evaluate, has_all, needs, printed, read, refusal
from tests.processes import command_line, descendants

SECONDS_MS = 60_000

FILES = {
    "index.html": """<!doctype html><meta charset=utf-8><link rel=icon href=data:>
<button id=buy class=primary>Buy</button>
<script src="cart.js"></script>
<script type="module" src="main.mjs"></script>
""",
    "cart.js": """function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}
console.log("total", total([{price: 3}, {price: 5}]));
document.querySelector("#buy").addEventListener("click", async function clicked() {
  const answer = await fetch("cart.js?again");
  throw new Error(`late ${answer.status}`);
});
""",
    "main.mjs": """import {twice} from "./lib.mjs";
console.log("twice", twice(21));
document.querySelector("#buy").click();
""",
    "ticks.html": """<!doctype html><link rel=icon href=data:><script src="ticks.js"></script>
""",
    "ticks.js": """let count = 0;
function tick() {
  count += 1;
  return count;
}
setInterval(tick, 20);
""",
    "lib.mjs": """export function twice(n) {
  return n * 2;
}
""",
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
        """Print nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Serve a page; return its URL."""
    needs("chrome")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path))
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


async def test_a_page_stops_in_its_scripts_and_at_its_errors_and_leaves_nothing_behind(
    site: str, tmp_path: Path, temporary: Path
) -> None:
    lines = [
        {"filename": "cart.js", "line": 4, "condition": "item.price === 5"},
        {"filename": "lib.mjs", "line": 2, "collect": ["n"]},
        {"filename": "main.mjs", "line": 3},
    ]
    async with client(tmp_path) as c:
        told = await read(c, "dap_run", program=site, breakpoints=lines, timeout_ms=SECONDS_MS)
        has_all(told, "Stopped (breakpoint) at cart.js:4 in Window.total", "sum = 3")
        assert await evaluate(c, "document.querySelector('#buy')") == (
            '<button id="buy" class="primary">...</button>'
        )
        told = await read(c, "dap_continue", timeout_ms=SECONDS_MS)
        has_all(told, "at main.mjs:3", "lib.mjs:2: 1 row", "n = 21")
        told = await read(c, "dap_continue", timeout_ms=SECONDS_MS)
        has_all(
            told,
            "promise rejection",
            "Error: late 200",
            "at cart.js:11 in button#buy.primary.clicked",
        )
        assert await printed(c, "twice") == "total 8\ntwice 42\n"
        await ask(c, "dap_terminate")
    assert names_in(temporary) == set()


async def test_a_browser_of_a_configuration_that_is_killed_ends_the_session_and_its_profile_goes(
    site: str, tmp_path: Path, temporary: Path
) -> None:
    configuration = {
        "name": "Shop", "type": "pwa-chrome", "request": "launch", "url": site,
        "webRoot": "${workspaceFolder}", "runtimeArgs": ["--mute-audio"],
    }  # fmt: skip
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text(
        json.dumps({"configurations": [configuration]})
    )
    async with client(tmp_path) as c:
        await ask(c, "dap_run", configuration="Shop", exception_filters=[], wait_until_paused=False)
        await printed(c, "total")
        below = {each: command_line(each) for each in descendants(os.getpid())}
        browser = next(
            each
            for each, line in below.items()
            if "--remote-debugging-pipe" in line and "--type=" not in line
        )
        assert f"--user-data-dir={temporary}" in below[browser]
        assert has_all(below[browser], "--headless", "--mute-audio")
        os.kill(browser, signal.SIGKILL)
        told = await read(c, "dap_wait_until_paused", timeout_ms=SECONDS_MS)
        assert told.startswith("Ended: killed by SIGKILL")
    assert names_in(temporary) == set()


async def test_a_url_that_cannot_be_debugged_says_what_to_do(tmp_path: Path) -> None:
    port = free_port()
    async with client(tmp_path) as c:
        nobody = await refusal(c, "dap_run", program=f"http://localhost:{port}/cart")
        has_all(nobody, f"nothing listens at localhost:{port}", "Start its server first")
        assert "is no URL" in await refusal(c, "dap_run", program="http://[::1/")
        said = await refusal(c, "dap_run", program="http://example.org/", type="debugpy")
        assert said.startswith("debugpy does not support a URL as `program` in launch requests.")


@pytest.mark.skipif("DISPLAY" in os.environ, reason="needs a machine without a display")
async def test_a_browser_that_cannot_start_says_what_it_lacks(site: str, tmp_path: Path) -> None:
    async with client(tmp_path) as c:
        said = await refusal(c, "dap_run", program=site, config={"headless": False})
    assert 'With config={"headless": false} the browser needs a display' in said


@pytest.fixture
def open_browser(site: str, tmp_path: Path) -> Iterator[int]:
    """Return the debugging port of a browser with two pages, as another tool has started it."""
    browser = str(detect(OURS["chrome"]).found["chrome"])
    flags = ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run"]
    with subprocess.Popen(
        [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", f"{site}?one"],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        listening = (
            re.search(r"DevTools listening on ws://[^:]+:(\d+)/", line) for line in process.stderr
        )
        port = int(next(filter(None, listening))[1])
        asked(port, "PUT", f"/json/new?{site}ticks.html")
        yield port
        process.terminate()
        process.stderr.read()


def asked(port: int, method: str, path: str) -> Any:  # noqa: ANN401 - JSON
    """Ask a browser for something."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with contextlib.closing(connection):
        connection.request(method, path)
        return json.loads(connection.getresponse().read())


async def test_one_page_of_a_browser_is_attached_to_and_left_as_it_was(
    open_browser: int, site: str, tmp_path: Path
) -> None:
    how = {"request": "attach", "port": open_browser}
    async with client(tmp_path) as c:
        several = await refusal(c, "dap_run", **how)
        has_all(several, "2 of the pages", "none was taken", f"{site}?one (", f"{site}ticks.html (")
        none = await refusal(c, "dap_run", **how, type="chrome", program="*/cart")
        assert none.startswith(f"None of the pages at 127.0.0.1:{open_browser} fits */cart")
        stop = {"filename": "ticks.js", "line": 4}
        told = await read(
            c, "dap_run", **how, type="chrome", program="*/ticks.html", breakpoints=[stop], timeout_ms=SECONDS_MS,
        )  # fmt: skip
        has_all(told, "Stopped (breakpoint) at ticks.js:4 in Window.tick")
        assert "The program runs on" in await read(c, "dap_disconnect")
    pages = [
        each["url"] for each in asked(open_browser, "GET", "/json/list") if each["type"] == "page"
    ]
    assert sorted(pages) == [f"{site}?one", f"{site}ticks.html"]
