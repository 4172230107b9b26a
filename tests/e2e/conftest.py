"""What tests get that run under every adapter."""

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
