"""What every test gets: a place for settings of its own, and a look for forgotten processes."""

import gc
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from xdist.workermanage import WorkerController

from dapeer.neovim.sockets import NAMED_BY
from tests import flaky, shown, slow
from tests.hostile import seeds
from tests.processes import MARK, left_behind, none_since, open_ends, reaped
from tests.shown import shows

__all__ = ["shows"]

GRACE = 5
"""Seconds that a process may need to end after its test has."""

# A busy machine is slow, and finds no fault by that.
ANY_MACHINE = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# What it draws does not depend on the day. `--hypothesis-profile=fresh` draws anew.
hypothesis_settings.register_profile("fixed", ANY_MACHINE, derandomize=True)
hypothesis_settings.register_profile("fresh", ANY_MACHINE)
hypothesis_settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    shown.pytest_addoption(parser)
    seeds.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    shown.pytest_configure(config)
    flaky.pytest_configure(config)
    seeds.configure(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a worker, which is given the same files by name, what this run leaves out."""
    left_out = {slow.LEFT_OUT: slow.are_left_out(node.config)}
    node.workerinput.update(left_out)  # pyright: ignore[reportUnknownMemberType]


def pytest_itemcollected(item: pytest.Item) -> None:
    slow.pytest_itemcollected(item)
    flaky.pytest_itemcollected(item)


pytest_collection_modifyitems = slow.pytest_collection_modifyitems


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among thousands of tests, neither while they are collected nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count the tests that are skipped for one reason in one line of the summary."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        report.longrepr = ("tests", 0, report.longrepr[2])
    return report


@pytest.fixture(autouse=True)
def no_process_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that leaves a process, and end the process."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    before = reaped()
    yield
    left = [] if none_since(before) else left_behind(mark, GRACE)
    assert not left, "left behind: " + "; ".join(left)


@pytest.fixture(autouse=True)
def nothing_is_left_open() -> Iterator[None]:
    """Have Python look here for sockets and pipes that nobody holds any more: what it says of them fails the test that runs then."""
    before = open_ends()
    yield
    if open_ends() - before:
        gc.collect()


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this test's settings, empty at first; the user's own are not read."""
    place = tmp_path_factory.mktemp("test")
    for name in NAMED_BY:
        monkeypatch.delenv(name, raising=False)
    # A server that a developer runs for this checkout is none of a test's business, either.
    for variable in ("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        folder = place / variable.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(variable, str(folder))
    return place / "xdg_config_home"
