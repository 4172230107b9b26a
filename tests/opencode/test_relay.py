"""OpenCode's tools, as tools for any client: the relay plugin in a real OpenCode, no model at all."""

from pathlib import Path

import pytest

from dapeer.cli import main


def test_the_relay_is_installed_and_removed_and_a_file_of_the_persons_stays(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = settings / "opencode" / "plugin" / "dapeer-relay.js"

    def told(command: str) -> str:
        main(["opencode", command])
        out, err = capsys.readouterr()
        return (out + err).replace(str(plugin), "FILE")

    assert told("remove") == "The relay plugin is not installed: there is no FILE.\n"
    assert "was installed in FILE; restart OpenCode" in told("install")
    assert "is in FILE already" in told("install")
    ours = plugin.read_text()
    plugin.write_text(ours + "// of an older version\n")
    assert "was brought up to date in FILE; restart OpenCode" in told("install")
    assert plugin.read_text() == ours
    assert "was removed from FILE; restart OpenCode" in told("remove")
    assert not plugin.exists()
    plugin.write_text("export const Mine = 1\n")
    for command in ("install", "remove"):
        assert told(command) == (
            "dapeer: FILE is not a file of dapeer's, so it was left alone. Move it away first.\n"
        )
    assert plugin.read_text() == "export const Mine = 1\n"
    plugin.unlink()
    plugin.parent.rmdir()
    plugin.parent.write_text("")
    assert "Cannot read FILE: Not a directory." in told("install")
