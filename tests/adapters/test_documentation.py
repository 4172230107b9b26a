"""The page on adapters shows a definition that works."""

import re
from pathlib import Path

from dapeer.adapters.definition import load
from tests.programs import ROOT


def test_the_example_of_the_page_is_a_definition(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert example
    file = tmp_path / "toy.toml"
    file.write_text(example[1], encoding="utf-8")
    definition = load(file)
    assert definition.names == ("toy", "toylang")
    assert definition.stands_in_for == ("oldtoy",)
    arguments = definition.arguments("launch", {"program": "/x.toy", "stop_on_entry": True}, {})
    assert arguments == {"program": "/x.toy", "stopOnEntry": True}
