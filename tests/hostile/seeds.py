"""The seeds of a run of pytest: one that never changes, and one that nobody has tried yet."""

from random import SystemRandom

import pytest

OPTION = "--hostile-seed"
FIXED = 1


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, type=int, help="the second seed of tests/hostile, to repeat a run")


def configure(config: pytest.Config) -> None:
    """Choose the fresh seed; the processes of pytest-xdist are told of it with the other options."""
    if config.getoption(OPTION) is None:
        config.option.hostile_seed = SystemRandom().randrange(2, 10**6)


def of(config: pytest.Config) -> tuple[int, int]:
    return FIXED, int(config.option.hostile_seed)
