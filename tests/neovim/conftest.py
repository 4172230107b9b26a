"""What every test with a Neovim gets."""

from pathlib import Path

import pytest

from dapeer.neovim.sockets import NAMED_BY


@pytest.fixture(params=["tap", "listeners"])
def feed(request: pytest.FixtureRequest) -> str:
    """Return by which road nvim-dap's sessions reach the core: both, one after the other."""
    return str(request.param)


@pytest.fixture
def setup(feed: str) -> dict[str, object]:
    """Return the plugin's settings that lead to this feed."""
    return {} if feed == "tap" else {"tap": False}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what dapeer itself looks up beside Neovim's files apart from the user's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg" / "cache"))


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do as if no test ran in a terminal of Neovim."""
    for name in NAMED_BY:
        monkeypatch.delenv(name, raising=False)
