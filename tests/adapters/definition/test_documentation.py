"""The page on adapters shows definitions that work."""

import re
from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import load
from tests.harness import ask, client, needs
from tests.programs import ROOT, program


def example(number: int) -> str:
    """Return one of the definitions that the page shows."""
    page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    found: list[str] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    return found[number]


async def test_one_file_is_a_new_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("bash-dap")
    folder = tmp_path / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    (folder / "bash.toml").write_text(example(0), encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    hello = program("hello.sh")
    async with client() as c:
        (row,) = (
            row for row in (await ask(c, "dap_adapters"))["adapters"] if row["type"] == "my-bash"
        )
        assert row["ready"]
        stop = await ask(c, "dap_run", program=str(hello), breakpoints=[hello.at("greet_echo")])
        assert (stop["reason"], stop["line"]) == ("breakpoint", hello.line("greet_echo"))
        (session,) = (await ask(c, "dap_status"))["sessions"]
        assert session["type"] == "my-bash"


def test_the_second_example_has_every_key(tmp_path: Path) -> None:
    file = tmp_path / "toy.toml"
    file.write_text(example(1), encoding="utf-8")
    definition = load(file)
    assert definition.names == ("toy", "toylang")
    assert definition.stands_in_for == ("oldtoy",)
    arguments = definition.arguments("launch", {"program": "/x.toy", "stop_on_entry": True}, {})
    assert arguments == {"program": "/x.toy", "stopOnEntry": True}
