"""The exact versions that CI runs with: `python -m tools.constraints` writes the newest that the bounds allow.

`.ci/constraints.txt` names no registry and no hash. `.ci/lock` makes a lock file of it, which is that machine's own.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from tests.programs import ROOT

CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
EXPORT = (
    "uv", "export", "--quiet", "--frozen", "--no-hashes", "--no-emit-project", "--no-header", "--no-annotate",
    "--all-groups",
)  # fmt: skip


def lines() -> list[str]:
    """Return the constraints, one requirement each."""
    return CONSTRAINTS.read_text(encoding="utf-8").split("\n")[:-1]


def name_of(requirement: str) -> str:
    """Return the name of the package that a requirement is about.

    >>> name_of("numpy==2.4.6 ; python_full_version < '3.12'")
    'numpy'
    """
    return requirement.partition("==")[0].strip()


def version_of(requirement: str) -> str:
    """Return the version that a requirement names.

    >>> version_of("numpy==2.4.6 ; python_full_version < '3.12'")
    '2.4.6'
    """
    return requirement.partition("==")[2].partition(";")[0].strip()


def newest() -> str:
    """Return what the bounds in pyproject.toml allow now, on every platform and Python."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, folder)
        subprocess.run(["uv", "lock", "--quiet"], cwd=folder, check=True)
        return subprocess.check_output(EXPORT, cwd=folder, text=True)


def changes(before: Iterable[str], now: Iterable[str]) -> list[str]:
    """Return what differs between two lists of requirements, a line for each package."""
    old, new = _by_name(before), _by_name(now)
    return [
        f"{old.get(name, 'nothing')} → {new.get(name, 'nothing')}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def _by_name(requirements: Iterable[str]) -> dict[str, str]:
    """Return requirements by package; some differ by platform or Python."""
    found: dict[str, str] = {}
    for each in requirements:
        name = name_of(each)
        found[name] = f"{found[name]} and {each}" if name in found else each
    return found


def main() -> int:
    """Write the file, and print what has changed."""
    before, now = lines() if CONSTRAINTS.exists() else [], newest()
    CONSTRAINTS.write_text(now, encoding="utf-8")
    sys.stdout.write("".join(f"{each}\n" for each in changes(before, now.splitlines())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
