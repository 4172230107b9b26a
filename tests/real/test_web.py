"""Pages of a real dev server, debugged in their sources."""

import contextlib
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.harness import has_all, needs
from tests.real.assistant import PATIENCE_MS, Assistant, assistant, line_of
from tests.real.software import node_modules

MAIN = """import { total, type Item } from "./cart";

const items: Item[] = [{ price: 3, count: 2 }, { price: 5, count: 1 }];
document.querySelector("#buy")!.textContent = `Buy for ${total(items)}`;
"""
CART = """export interface Item {
  price: number;
  count: number;
}

/** The sum of all items. */
export function total(items: Item[]): number {
  let sum: number = 0;
  for (const each of items) {
    sum += each.price;
  }
  return sum;
}
"""


STEP = """\
export function grown(n: number): number {
  const more: number = n + 1;
  return more;
}
"""
HOT = """\
import { grown } from "./step";

let grow: typeof grown = grown;
let size: number = 0;
setInterval(() => {
  size = grow(size);
}, 200);
import.meta.hot?.accept("./step", (fresh) => { grow = fresh!.grown; });
"""


@contextmanager
def vite(folder: Path, **sources: str) -> Generator[str]:
    """Serve a page whose sources in TypeScript are these, `main` first to run, by Vite; yield its URL."""
    needs("chrome")
    (folder / "node_modules").symlink_to(node_modules("typescript"))
    (folder / "src").mkdir()
    for name, text in sources.items():
        (folder / "src" / f"{name}.ts").write_text(text, encoding="utf-8")
    (folder / "index.html").write_text(
        '<!doctype html><link rel="icon" href="data:"><button id="buy"></button>'
        '<script type="module" src="/src/main.ts"></script>',
        encoding="utf-8",
    )
    command = ["node", "node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        plain = (re.sub(r"\x1b\[[\d;]*m", "", line) for line in process.stdout)
        try:
            yield next(found[0] for line in plain if (found := re.search(r"http://\S+", line)))
        finally:
            process.terminate()
            with contextlib.suppress(ValueError):
                process.stdout.read()


async def test_a_page_of_vite_stops_in_the_typescript_that_it_is_made_of(tmp_path: Path) -> None:
    with vite(tmp_path, main=MAIN, cart=CART) as url:
        line = line_of(tmp_path / "src" / "cart.ts", "sum += each.price")
        stop = {"filename": "src/cart.ts", "line": line, "condition": "each.count === 1"}
        async with assistant(tmp_path) as a:
            told = await a.run(program=url, breakpoints=[stop])
            has_all(
                told, f"Stopped (breakpoint) at src/cart.ts:{line} in total", "sum = 3", "main.ts:4"
            )
            assert a.calls == 1


async def test_a_click_in_a_page_of_vite_is_one_call(tmp_path: Path) -> None:
    click = MAIN.replace(
        'document.querySelector("#buy")!.textContent = `Buy for ${total(items)}`;',
        'document.querySelector("#buy")!.addEventListener("click", () => total(items));',
    )
    with vite(tmp_path, main=click, cart=CART) as url:
        line = line_of(tmp_path / "src" / "cart.ts", "sum += each.price")
        async with assistant(tmp_path) as a:
            told = await a.run(
                program=url,
                breakpoints=[{"filename": "src/cart.ts", "line": line}],
                then=[{"evaluate": "document.querySelector('#buy').click(), 'clicked'"}],
            )
            has_all(told, f"Stopped (breakpoint) at src/cart.ts:{line} in total", "then: evaluate")
            assert a.calls == 1


async def stopped_in_new_text(
    a: Assistant, url: str, before: str, text: str, seen: str, after: str
) -> str:
    """Stop a page of Vite at a place, write another text for it, and stop at the line that stands there then.

    Both places are `FILE:LINE`; `seen` is what the page prints once it has the new text. Return what is told of the second stop.
    """
    first, second = (
        {"filename": file, "line": int(line)}
        for file, _, line in (each.partition(":") for each in (before, after))
    )
    assert f"at {before}" in await a.run(program=url, breakpoints=[first])
    await a.read("dap_clear_breakpoints")
    await a.read("dap_continue", wait_until_paused=False)
    (a.project / str(second["filename"])).write_text(text, encoding="utf-8")
    await a.until_printed(seen)
    line = text.splitlines()[int(str(second["line"])) - 1].strip()
    assert await a.read("dap_set_breakpoint", **second) == f"{after} verified | {line}"
    told = await a.read("dap_wait_until_paused", timeout_ms=PATIENCE_MS)
    assert f"at {after}" in told
    assert "has changed" not in told
    return told


async def test_what_vite_puts_into_a_page_anew_is_the_source_from_then_on(tmp_path: Path) -> None:
    text = "// one\n// two\n" + STEP.replace("n + 1", "n + 1000")
    with vite(tmp_path, main=HOT, step=STEP) as url:
        async with assistant(tmp_path) as a:
            seen = "hot updated: /src/step.ts"
            told = await stopped_in_new_text(a, url, "src/step.ts:3", text, seen, "src/step.ts:5")
            assert has_all(told, "in grown", "n + 1000", "→ 5   return more;")


async def test_a_page_that_vite_loads_anew_has_the_new_text(tmp_path: Path) -> None:
    text = 'console.log("once more");\n// two\n' + HOT
    with vite(tmp_path, main=HOT, step=STEP) as url:
        async with assistant(tmp_path) as a:
            told = await stopped_in_new_text(
                a, url, "src/main.ts:6", text, "once more", "src/main.ts:8"
            )
            assert "→  8   size = grow(size);" in told
