"""What every test with OpenCode gets."""

from collections.abc import Generator

import pytest

from tests.opencode.server import OpenCode, install_relay, opencode


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenCode]:
    """Give a server that many tests use; what it keeps for a folder is that test's own.

    It has the relay plugin; `"disabled_providers": ["dapeer"]` in a folder's opencode.json takes that away.
    """
    folder = tmp_path_factory.mktemp("opencode")
    install_relay(folder)
    with opencode(folder, password="open, please") as server:
        yield server
