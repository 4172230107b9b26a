"""What tests get that run under every adapter."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.languages import LANGUAGES, Language, ready


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for what is compiled, once for all tests."""
    return tmp_path_factory.mktemp("build")


@pytest.fixture(params=LANGUAGES, ids=str)
def language(request: pytest.FixtureRequest) -> Language:
    """Return a language whose adapter is there; the test is skipped for the others."""
    ready(request.param)
    return request.param


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the temporary folder; its name is short, since paths of sockets must be."""
    with tempfile.TemporaryDirectory(prefix="d-") as place:
        monkeypatch.setenv("TMPDIR", place)
        monkeypatch.setattr(tempfile, "tempdir", place)
        yield Path(place)


def names_in(folder: Path) -> set[str]:
    """Return the names of what is in a folder."""
    return {path.name for path in folder.iterdir()}
