"""What every test with OpenCode gets."""

import os
import subprocess
import sys
from collections.abc import Generator

import pytest

from tests.opencode.server import OpenCode, opencode


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenCode]:
    """Give a server that many tests use; what it keeps for a folder is that test's own.

    It has the relay plugin; `"disabled_providers": ["dapeer"]` in a folder's opencode.json takes that away.
    """
    folder = tmp_path_factory.mktemp("opencode")
    subprocess.run(
        [sys.executable, "-m", "dapeer", "opencode", "install"],
        env=os.environ | {"XDG_CONFIG_HOME": str(folder / "home" / ".config")},
        check=True,
    )
    with opencode(folder, password="open, please") as server:
        yield server
