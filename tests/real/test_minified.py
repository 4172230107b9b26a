"""Minified bundles, as esbuild writes them, in Node.js and in Chromium."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, needs
from tests.real.assistant import run
from tests.real.software import node_modules

SECONDS = 120
SOURCE = """\
class Cart {
  constructor(items) { this.items = items; }
  total() {
    let sum = 0;
    for (const item of this.items) {
      const price = item.price * item.count;
      sum += price;
    }
    return sum;
  }
}
function discount(total, percent) {
  const off = total * percent / 100;
  return total - off;
}
const names = ["apple", "pear", "plum", "fig", "lime", "date"];
function label(n) { return names[n % names.length] + " number " + n + " in the list of all the fruits"; }
function describe(a) { const x = a * 2; const y = x + 1; return "a fruit of weight " + y; }
function report(cart) {
  const lines = [];
  for (let i = 0; i < 3; i++) { lines.push(label(i)); lines.push(describe(i)); }
  return lines.join(" ");
}
setTimeout(() => {
  const cart = new Cart([{ price: 3, count: 2 }, { price: 5, count: 1 }]);
  console.log(report(cart), discount(cart.total(), 10));
}, 500);
"""


@pytest.mark.parametrize("kind", ["node", "page"])
async def test_a_breakpoint_at_a_text_of_a_bundle_stops_there(kind: str, tmp_path: Path) -> None:
    needs("js-debug" if kind == "node" else "chrome")
    (tmp_path / "cart.js").write_text(SOURCE)
    esbuild = node_modules("typescript") / ".bin" / "esbuild"
    run(tmp_path, str(esbuild), "cart.js", "--minify-whitespace", "--outfile=app.min.js")
    (tmp_path / "index.html").write_text("<script src='app.min.js'></script>")
    page = (tmp_path / "index.html").as_uri()
    async with asyncio.timeout(SECONDS), client(tmp_path) as c:
        at = {"filename": "app.min.js", "line": 1, "at": "sum+=price"}
        target = "app.min.js" if kind == "node" else page
        stop = await ask(c, "dap_run", program=target, breakpoints=[at], timeout_ms=60_000)
        assert (stop["locals"]["price"], stop["locals"]["sum"]) == ("6", "0")
        assert "item.count;▸sum+=price" in stop["source"]
