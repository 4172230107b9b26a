"""Bugs in JavaScript and TypeScript, found as an assistant would."""

import asyncio
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.harness import needs
from tests.real.assistant import assistant, broken, line_of, run
from tests.real.software import node_modules
from tests.shown import Shows

SECONDS = 120


@pytest.fixture(autouse=True)
def js_debug() -> None:
    needs("js-debug")


APP = """
const express = require('express');

const app = express();
app.get('/', async (req, res) => {
  const language = req.acceptsLanguages('de', 'fr');
  const answer = { language };
  res.json(answer);
});
const server = app.listen(0, '127.0.0.1', () => console.log(`listening at ${server.address().port}.`));
"""


def request(url: str, **headers: str) -> str:
    """Ask a server for German with little liking, for French with much."""
    asked = urllib.request.Request(url, headers=headers)  # noqa: S310 - our own server
    with urllib.request.urlopen(asked, timeout=SECONDS) as answer:  # noqa: S310
        return answer.read().decode()


async def test_express_shows_what_a_route_was_given_and_where_a_package_goes_wrong(
    tmp_path: Path, shows: Shows
) -> None:
    language = broken(
        node_modules("express"), tmp_path / "node_modules", "negotiator/lib/language.js",
        "(b.q - a.q)", "(a.q - b.q)",
    )  # fmt: skip
    app = tmp_path / "app.js"
    app.write_text(APP, encoding="utf-8")
    compare = {"filename": str(language), "line": line_of(language, "(a.q - b.q)")}
    route = {"filename": "app.js", "line": line_of(app, "res.json(answer)")}
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        await a.run(program="app.js", breakpoints=[compare, route], wait_until_paused=False)
        port = re.findall(r"listening at (\d+)", await a.until_printed("listening at"))[0]
        wish = {"Accept-Language": "de;q=0.2, fr;q=0.9"}
        answer = asyncio.create_task(
            asyncio.to_thread(request, f"http://127.0.0.1:{port}/", **wish)
        )
        stop = await a.read("dap_wait_until_paused", timeout_ms=SECONDS * 1000)
        assert f"negotiator/lib/language.js:{compare['line']} in compareSpecs" in stop, stop
        assert "q: 0.2" in stop
        assert "q: 0.9" in stop
        await a.read("dap_remove_breakpoint", **compare)
        stop = await a.read("dap_continue")
        assert f"app.js:{route['line']}" in stop.splitlines()[0], stop
        assert "answer = {language: 'de'}" in stop
        await a.read("dap_continue", wait_until_paused=False)
        assert await answer == '{"language":"de"}'
        await a.read("dap_terminate")
    shows("javascript", "values")


SHOP_TS = """
interface Item { name: string; price: number; count: number }

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price - item.count;
  }
  return sum;
}
"""
MAIN_TS = """
import { total } from './shop';

const items = [{ name: 'tea', price: 4, count: 2 }, { name: 'pot', price: 30, count: 1 }];
console.log(total(items));
"""
BUILDS = {
    "tsc": ["typescript/bin/tsc", "--outDir", "dist", "--sourceMap", "--module", "commonjs",
            "--target", "es2020", "src/main.ts"],
    "esbuild": ["esbuild/bin/esbuild", "src/main.ts", "--bundle", "--minify", "--sourcemap",
                "--platform=node", "--outfile=dist/main.js"],
    "vite": ["vite/bin/vite.js", "build", "--ssr", "src/main.ts", "--sourcemap", "--outDir", "dist"],
}  # fmt: skip


@pytest.fixture(params=BUILDS)
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a TypeScript project that one of the build tools has built."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "shop.ts").write_text(SHOP_TS, encoding="utf-8")
    (source / "main.ts").write_text(MAIN_TS, encoding="utf-8")
    modules = node_modules("typescript")
    (tmp_path / "node_modules").symlink_to(modules)
    tool, *options = BUILDS[request.param]
    subprocess.run(
        ["node", modules / tool, *options], cwd=tmp_path, check=True, capture_output=True
    )
    return next(path for path in (tmp_path / "dist").glob("main.*js") if path.stem == "main")


async def test_typescript_stops_at_its_own_lines_whatever_has_built_it(
    built: Path, shows: Shows
) -> None:
    project = built.parent.parent
    shop = project / "src" / "shop.ts"
    line = line_of(shop, "sum += ")
    async with asyncio.timeout(SECONDS), assistant(project) as a:
        stop = await a.run(
            program=str(built),
            breakpoints=[{"filename": "src/shop.ts", "line": line, "hit_condition": "2"}],
        )
        assert f"src/shop.ts:{line}" in stop.splitlines()[0], stop
        assert "'pot'" in stop
        assert "price: 30" in stop
        assert a.calls == 1
    shows("typescript", "breakpoint", "values")


async def test_typescript_shows_its_own_line_where_it_breaks_down(
    tmp_path: Path, shows: Shows
) -> None:
    (tmp_path / "shop.ts").write_text(SHOP_TS, encoding="utf-8")
    main = tmp_path / "main.ts"
    main.write_text(BROKEN_TS, encoding="utf-8")
    modules = node_modules("typescript")
    options = ["--outDir", "dist", "--sourceMap", "--module", "commonjs", "--target", "es2020"]
    run(tmp_path, "node", str(modules / "typescript/bin/tsc"), *options, "main.ts")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program="dist/main.js")
        assert f"main.ts:{line_of(main, 'throw new')} in " in stop.splitlines()[0], stop
        assert "RangeError: no shop at 3" in stop
        assert "at = 3" in stop
        assert a.calls == 1
    shows("typescript", "crash frame", "exception")


BROKEN_TS = """
import { total } from './shop';

function shop(at: number): number {
  if (at > total([])) {
    throw new RangeError(`no shop at ${at}`);
  }
  return at;
}

console.log(shop(3));
"""


async def test_typescript_runs_by_tsx_without_a_build(tmp_path: Path) -> None:
    (tmp_path / "shop.ts").write_text(SHOP_TS, encoding="utf-8")
    (tmp_path / "main.ts").write_text(MAIN_TS, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(node_modules("typescript"))
    line = line_of(tmp_path / "shop.ts", "sum += ")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            program="main.ts", breakpoints=[{"filename": "shop.ts", "line": line}],
            config={"runtimeArgs": ["--import", "tsx"]},
        )  # fmt: skip
        assert f"shop.ts:{line}" in stop.splitlines()[0], stop
        assert "'tea'" in stop
