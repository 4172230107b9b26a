"""A test that drives a process gets two more tries. What needed them is named at the end, and too much of it fails the run.

The machine may be busy, and what others wrote may be late; a test of a pure room knows neither, and gets one try.
`just flaky 5` runs the quick suite five times and counts.
"""

import pytest

TRIES = 3
MOST = 10
"""Tests of a run that may need more than one."""
PURE = (
    "server/",
    "tools/",
    *(f"tests/{room}/" for room in ("dap", "mirror", "schemas", "sessions", "text", "view")),
)
"""Where tests start nothing, but for those of `TALKING`."""
TALKING = ("tests/dap/test_transport.py", "tests/mirror/test_recordings.py")
"""What has a socket or a process at its other end, all the same."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test its tries; where a developer wants the debugger at a failure, there is none after it."""
    pure = item.nodeid.startswith(PURE) and not item.nodeid.startswith(TALKING)
    if not pure and not item.config.getoption("usepdb"):
        item.add_marker(pytest.mark.flaky(reruns=TRIES - 1))


class Record:
    """Collects which tests needed more than one try, whichever process ran them."""

    def __init__(self) -> None:
        self._tries: dict[str, int] = {}
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        earlier: int = getattr(report, "rerun", 0)
        if earlier:
            self._tries[report.nodeid] = earlier + 1
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and len(self._flaky()) > MOST:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        flaky = self._flaky()
        for name, tries in flaky.items():
            terminalreporter.write_line(f"FLAKY {name} ({tries} of {TRIES})")
        if len(flaky) > MOST:
            terminalreporter.write_line(
                f"{len(flaky)} tests needed more than one try. More than {MOST} fail the run."
            )

    def _flaky(self) -> dict[str, int]:
        return {name: n for name, n in self._tries.items() if name not in self._failed}


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record())
