"""A project in which commands are typed, whose server ends with the test."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import LIMIT

SHOP = """\
import os, sys, time

def total(prices):
    amount = 0
    for price in prices:
        amount += price
    return amount

if __name__ == "__main__":
    print(os.getcwd(), os.environ.get("SHOP", "?"), sys.argv[1:])
    print(total([1, 2, 3]))
    if "fail" in sys.argv:
        sys.exit(5)
    if "sleep" in sys.argv:
        time.sleep(600)
"""


@dataclass(frozen=True)
class Shell:
    """A folder in which commands are typed."""

    folder: Path

    def dapeer(
        self, *words: str, env: Mapping[str, str] | None = None, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Type a command, with `text` on its stdin, and return how it ended."""
        return subprocess.run(
            [sys.executable, "-m", "dapeer", *words],
            input=text, capture_output=True, text=True, timeout=LIMIT, check=False,
            cwd=self.folder, env={**os.environ, **(env or {})},
        )  # fmt: skip

    def says(self, *words: str) -> str:
        """Type a command that succeeds, and return what it prints."""
        done = self.dapeer(*words)
        assert done.returncode == 0, done
        return done.stdout


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Return a project with a program, whose server ends with the test."""
    tmp_path.joinpath("shop.py").write_text(SHOP, encoding="utf-8")
    tmp_path.joinpath("pyproject.toml").touch()
    shell = Shell(tmp_path)
    yield shell
    assert shell.dapeer("end", "--all").returncode == 0
