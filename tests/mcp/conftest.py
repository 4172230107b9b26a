"""What every test of the server gets: folders of its own."""

from pathlib import Path

import pytest

from dapeer.base import credentials


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of tokens and announcements; the user's own servers are not found."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.delenv(credentials.TOKEN, raising=False)
    return tmp_path / "state" / "dapeer"
