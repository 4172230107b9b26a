"""What every test with OpenCode gets."""

from collections.abc import Generator

import pytest

from tests.opencode.server import OpenCode, opencode


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenCode]:
    """Give a server that many tests use; what it keeps for a folder is that test's own."""
    with opencode(tmp_path_factory.mktemp("opencode"), password="open, please") as server:
        yield server
