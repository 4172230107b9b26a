"""What every attack has: the seeds of this run, and a judge."""

from collections.abc import Iterator

import pytest

from tests.hostile import seeds
from tests.hostile.judge import Judge


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
