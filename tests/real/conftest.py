"""What every story of the gallery has in common."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the stories, which are a stage of their own."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.real)
