"""Files of tests that tell long stories: of several processes, of persons who rest, of ends that take their time.

`uv run pytest` leaves them out, so that it takes minutes; where a file or folder is named, all of it runs. `.ci/run --all` runs
them in a stage of its own: `uv run pytest -m slow`.
"""

from pathlib import Path

import pytest

FILES = frozenset(Path(__file__).with_suffix(".txt").read_text("utf-8").split())
"""The files, from the root."""
STAGES = ("real", "hostile")
LEFT_OUT = "slow files are left out"
"""What pytest's workers are told."""


def are_left_out(config: pytest.Config) -> bool:
    """Whether this is a run over everything, and does not ask for them."""
    told: dict[str, bool] | None = getattr(config, "workerinput", None)
    if told is not None:
        return told[LEFT_OUT]
    everything = config.args_source is config.ArgsSource.TESTPATHS
    return everything and "slow" not in config.option.markexpr


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test of such a file; one that has a stage of its own stays there."""
    if item.nodeid.partition("::")[0] in FILES and not any(map(item.get_closest_marker, STAGES)):
        item.add_marker("slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them where they are left out."""
    if are_left_out(config):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
