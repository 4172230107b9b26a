"""What installs dapeer names one version, and says what the project says."""

import re
import subprocess
from pathlib import Path

import pytest

from dapeer.cli.debugging.table import is_command
from tests.programs import ROOT, tool
from tools import packages

LINES_OF_A_SKILL = 150


def test_every_package_says_what_the_project_says() -> None:
    texts = packages.files()
    outdated = [path for path, text in texts.items() if (ROOT / path).read_text("utf-8") != text]
    assert not outdated, "run `python -m tools.packages`"
    about = packages.project()
    for path in (".claude-plugin/plugin.json", "gemini-extension.json"):
        assert about["version"] in texts[path]
        assert about["description"] in texts[path]


def test_nothing_in_the_repository_takes_dapeer_from_a_registry() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone: an archive has no list of its files")
    found = subprocess.run(
        [tool("git"), "grep", "--fixed-strings", "--files-with-matches", "--", "uvx dapeer"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    allowed = {
        "CHANGELOG.md",
        "docs/connecting.md",
        "server/dapeer/cli/install/command.py",
        "tests/test_packages.py",
    }
    assert set(found.stdout.split()) <= allowed
    for path, text in packages.files().items():
        assert "uvx" not in text, path


def test_links_and_entries_are_refused_while_the_package_is_not_published(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if packages.is_published(packages.project()):
        pytest.skip("this version is published")
    assert packages.main(["--release", str(tmp_path / "release")]) == 1
    assert "is not published" in capfd.readouterr().err
    assert not (tmp_path / "release").exists()


def test_the_readme_names_the_entry_of_the_registry() -> None:
    name = packages.registry_name(packages.project())
    assert f"<!-- mcp-name: {name} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["skills", "command-line"])
def test_the_skill_is_short_and_begins_with_when_to_use_it(form: str) -> None:
    text = (ROOT / packages.AGENT / form / "debug-with-dapeer/SKILL.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < LINES_OF_A_SKILL
    first = text.split("# Debug with dapeer\n\n", 1)[1].split("\n\n")[0]
    assert "after your second mend" in first
    assert "a hang, a race" in first


def test_the_skill_with_commands_names_only_commands_that_there_are() -> None:
    path = ROOT / packages.AGENT / "command-line/debug-with-dapeer/SKILL.md"
    text = path.read_text(encoding="utf-8")
    assert "dap_" not in text
    named = {*re.findall(r"(?:`|    )dapeer ([a-z][a-z-]+)", text)}
    assert len(named) > 10
    assert not [each for each in named if not is_command(each)]
