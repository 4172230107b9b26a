"""What is evaluated in a page once it is loaded reaches the breakpoint in its script."""

from pathlib import Path

from tests.harness import client, has_all, needs, read

PAGE = "<!doctype html><link rel=icon href=data:><button id=buy>Buy</button><script src=cart.js></script>\n"
SCRIPT = """\
document.querySelector("#buy").addEventListener("click", () => {
  const total = 3 * 2 + 5;
  document.title = `${total} EUR`;
});
"""


async def test_a_click_by_evaluation_is_one_call(tmp_path: Path) -> None:
    needs("chrome")
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    (tmp_path / "cart.js").write_text(SCRIPT, "utf-8")
    at = [{"filename": "cart.js", "line": 3}]
    then = [{"evaluate": "document.querySelector('#buy').click(), 'clicked'"}]
    async with client(tmp_path) as c:
        said = await read(
            c, "dap_run", program="index.html", breakpoints=at, then=then, timeout_ms=60_000
        )
        assert has_all(
            said, "Stopped (breakpoint) at cart.js:3", "total = 11", "waits for its answer"
        )
        assert "→ clicked" in (await read(c, "dap_continue")).replace("'", "")
