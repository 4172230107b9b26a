"""Pages of a real dev server, debugged in their sources."""

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import has_all, needs
from tests.real.assistant import assistant, line_of
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


@pytest.fixture
def vite(tmp_path: Path) -> Iterator[str]:
    """Serve a page of TypeScript by Vite; return its URL."""
    needs("chrome")
    (tmp_path / "node_modules").symlink_to(node_modules("typescript"))
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.ts").write_text(MAIN, encoding="utf-8")
    (tmp_path / "src" / "cart.ts").write_text(CART, encoding="utf-8")
    (tmp_path / "index.html").write_text(
        '<!doctype html><link rel="icon" href="data:"><button id="buy"></button>'
        '<script type="module" src="/src/main.ts"></script>',
        encoding="utf-8",
    )
    command = ["node", "node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        plain = (re.sub(r"\x1b\[[\d;]*m", "", line) for line in process.stdout)
        yield next(found[0] for line in plain if (found := re.search(r"http://\S+", line)))
        process.terminate()
        with contextlib.suppress(ValueError):
            process.stdout.read()


async def test_a_page_of_vite_stops_in_the_typescript_that_it_is_made_of(
    vite: str, tmp_path: Path
) -> None:
    line = line_of(tmp_path / "src" / "cart.ts", "sum += each.price")
    stop = {"filename": "src/cart.ts", "line": line, "condition": "each.count === 1"}
    async with assistant(tmp_path) as a:
        told = await a.run(program=vite, breakpoints=[stop])
        has_all(
            told, f"Stopped (breakpoint) at src/cart.ts:{line} in total", "sum = 3", "main.ts:4"
        )
        assert a.calls == 1
