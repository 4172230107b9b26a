"""What every attack has: a mark, the seeds of this run, a judge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile import seeds
from tests.hostile.judge import Judge

HERE = Path(__file__).parent
REPEAT = pytest.StashKey[str]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the attacks, which are a stage of their own."""
    for item in items:
        if HERE in item.path.parents and "seed" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.hostile)


def pytest_report_header(config: pytest.Config) -> str:
    fixed, fresh = seeds.of(config)
    return f"seeds of attacks: {fixed} and {fresh}; {seeds.OPTION}={fresh} repeats them"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # By name: the processes of a run must collect the same tests, and a fresh number is none to compare.
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds.of(metafunc.config), ids=["fixed seed", "fresh seed"])


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    """Return the judge of an attack; the test fails when anything has happened that must not."""
    judge = Judge()
    yield judge
    repeat = f"{seeds.OPTION}={seeds.of(request.config)[1]}"
    assert not judge.faults, f"{judge.verdict()}\n\nRepeat it with {repeat}."
