"""What tests show of each language: the cells of the table in docs/languages.md."""

from collections.abc import Callable
from pathlib import Path

import pytest

COLUMNS = (
    "breakpoint", "condition", "log point", "step", "exception", "crash frame", "values", "terminal",
    "attach", "core", "test by id", "test file", "library", "children",
)  # fmt: skip
ROWS = {
    "python": ("Python", "debugpy"),
    "javascript": ("JavaScript", "js-debug"),
    "typescript": ("TypeScript", "js-debug"),
    "c++/gdb": ("C, C++", "gdb"),
    "c++/lldb-dap": ("C, C++", "lldb-dap"),
    "c++/codelldb": ("C, C++", "codelldb"),
    "rust/gdb": ("Rust", "gdb"),
    "rust/lldb-dap": ("Rust", "lldb-dap"),
    "rust/codelldb": ("Rust", "codelldb"),
    "go": ("Go", "delve"),
    "java": ("Java", "jdi"),
    "ruby": ("Ruby", "rdbg"),
    "perl": ("Perl", "perl"),
    "bash": ("Bash", "bash-dap"),
    "cmake": ("CMake", "cmake"),
}
"""Language and adapter of each row."""
ALIKE = (
    "condition", "log point", "step", "terminal", "attach", "core", "test file", "library", "children",
)  # fmt: skip
"""What an adapter does alike in all its languages: shown in one, it is shown in all."""

Shows = Callable[..., None]
"""Says, where a test has succeeded, which cells it shows: a row, or an adapter, which stands for its first row, then columns."""

FILE = "--shown"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(FILE, type=Path, help="write what the tests show of each language there")


@pytest.fixture
def shows(record_property: Callable[[str, object], None]) -> Shows:
    """Return what a test calls at its end."""

    def show(row: str, *columns: str) -> None:
        assert set(columns) <= set(COLUMNS), columns
        rows = [row] if row in ROWS else [name for name, (_, of) in ROWS.items() if of == row]
        assert rows, row
        for column in columns:
            for each in rows if column in ALIKE else rows[:1]:
                record_property("shows", f"{each}: {column}")

    return show


class Record:
    """Collects what the tests of a run show, whichever process runs them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._cells: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._cells |= {str(cell) for name, cell in report.user_properties if name == "shows"}

    def pytest_sessionfinish(self) -> None:
        self._file.write_text("".join(f"{cell}\n" for cell in sorted(self._cells)), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    file: Path | None = config.getoption(FILE)
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(file))
