"""The rows of the matrix: what differs from the main run, and which tests run there."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.matrix.interpreters import ALL, QUICK
from tests.programs import ROOT

NAME = re.compile(r"[\w-]+")

STORIES = ("tests/matrix",)
PYTHON = (
    *STORIES,
    *(
        f"tests/e2e/test_{name}.py"
        for name in (
            "attach", "children", "collecting_calls", "collecting_in_python", "endings", "evaluation", "exceptions",
            "pytest", "resuming", "stacks", "stepping", "until",
        )
    ),
    "tests/companions",
)  # fmt: skip
"""What a version of debugpy must pass."""
SERVER = (
    *STORIES, "tests/mcp", "tests/dap", "tests/schemas", "tests/install", "tests/tools", "tests/test_cli.py",
)  # fmt: skip
"""What the libraries of the server must pass."""
WHOLE = (*STORIES, "tests/e2e")
TRACED = ("3.8", "3.9", "3.10", "3.11")
"""The Pythons whose programs are traced by `sys.settrace`: the stories are the same where nothing ends that."""


@dataclass(frozen=True)
class Row:
    """One row: tests in one environment."""

    name: str
    tests: tuple[str, ...]
    debuggees: str = ""
    """The Pythons whose programs the stories debug; empty: that of dapeer."""
    python: str = ""
    """The Python that runs dapeer; empty: that of the main run, in its environment."""
    pins: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions that differ from the constraints, by package. Where there are several, what they need in turn is free."""
    free: tuple[str, ...] = ()
    """Packages of which the newest is installed, whatever pyproject.toml allows; `*`: without constraints, within its bounds."""
    patches: str = ""
    """`DAPEER_PATCHES` of the run."""
    nvim_dap: str = ""
    """`head`: the newest nvim-dap."""

    @property
    def own(self) -> bool:
        """Whether it needs an environment of its own."""
        return bool(self.python or self.pins or self.free)


def rows() -> Iterator[Row]:
    """Yield all rows but those that the quick suite has: `QUICK` of the stories."""
    for version in ALL:
        if version not in QUICK:
            yield Row(f"python-{version}", STORIES, debuggees=version)
    for version in TRACED:
        yield Row(f"traced-{version}", STORIES, version, patches="-untraced-until-needed")
    lowest = {name: version for name, version in lower_bounds().items() if name != "debugpy"}
    yield Row("debugpy-lowest", PYTHON, python="3.11", pins={"debugpy": lower_bounds()["debugpy"]})
    yield Row("debugpy-newest", PYTHON, python="3.11", free=("debugpy",))
    yield Row("lowest", SERVER, python="3.11", pins=lowest)
    yield Row("newest", SERVER, python="3.11", free=("*",))
    for version in ("3.12", "3.13", "3.14"):
        yield Row(f"dapeer-{version}", WHOLE, python=version, debuggees=version)
    yield Row("nvim-dap-head", ("tests/neovim",), nvim_dap="head")


SHORT = Row("dapeer-3.13-stories", STORIES, python="3.13", debuggees="3.13")
"""One row in a minute: dapeer itself in the newest Python that is everywhere. The whole matrix has more tests there."""


def tools() -> set[str]:
    """Return the packages that only the tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = [each for group in project["dependency-groups"].values() for each in group]
    return {each[0] for name in named if isinstance(name, str) and (each := NAME.match(name))}


def lower_bounds() -> dict[str, str]:
    """Return the lowest version of each package that pyproject.toml allows dapeer to run with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.match(r"([\w-]+)>=([\d.]+)", each) for each in project["dependencies"])
    return {each[1]: each[2] for each in found if each}
