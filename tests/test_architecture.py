"""The shape of the package, read from its source: who imports whom, and how large things are."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import ROOT

PACKAGE = ROOT / "server" / "dapeer"

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"__main__"}),
    frozenset({"cli"}),
    frozenset({"mcp"}),
    frozenset({"tools"}),
    frozenset({"peers", "focus"}),
    frozenset({"debugger", "doctor"}),
    frozenset({"joined", "lives", "pushes"}),
    frozenset({"live"}),
    frozenset({"fates", "life", "orders", "vigil"}),
    frozenset({"breakpoints", "family", "files", "plan"}),
    frozenset({"session", "adapters", "neovim", "opencode", "render", "configurations"}),
    frozenset({"launch_json", "whereabouts", "stops_at"}),
    frozenset({"inspection"}),
    frozenset({"advice", "brief", "editions", "settling", "turns"}),
    frozenset(
        {
            "snapshot",
            "sources",
            "editions",
            "waiters",
            "paths",
            "schemas",
            "post_mortem",
            "ownership",
            "secret_files",
        }
    ),
    frozenset({"returns", "variables"}),
    frozenset({"activations", "stacks", "mirror", "relevance"}),
    frozenset({"printed"}),
    frozenset({"history", "logged", "placed", "loaded", "failed"}),
    frozenset({"output"}),
    frozenset(
        {"bounded", "excerpt", "filters", "frames", "fitting", "kinds", "places", "tcp_table"}
    ),
    frozenset({"dap", "logs", "footing"}),
    frozenset({"errors", "credentials", "redaction", "folders"}),
)
"""Top first. A part imports from the layers below its own."""


OWNERS: dict[str, tuple[str, ...]] = {
    "mcp": ("mcp/", "tools/"),
    "starlette": ("mcp/http.py",),
    "uvicorn": ("mcp/connections.py",),
    "h11": ("mcp/connections.py",),
    "tomllib": ("adapters/table.py",),
    "pydantic": ("tools/", "mcp/"),
    "typing_extensions": ("snapshot.py", "tools/"),
    "anyio": ("",),
    "jsonschema_rs": ("schemas/rules.py",),
    "pydantic_core": ("mcp/lines.py",),
    "httpx2": ("opencode/client.py",),
    "pynvim": ("neovim/client.py",),
    # Started inside the debug adapter's own process, never in ours.
    "debugpy": ("adapters/launchers/",),
    # Runs the tests of a user's project, in its own interpreter.
    "pytest": ("adapters/launchers/",),
}
"""Where a third party, or a part of the standard library that has one owner, may be imported."""

PURE = (
    "brief.py", "mirror.py", "output.py", "history.py", "placed.py", "loaded.py", "post_mortem.py", "failed.py", "filters.py", "frames.py", "fates.py", "kinds.py", "places.py", "relevance.py", "variables.py", "render.py", "returns.py", "dap/messages.py", "dap/types.py", "dap/bodies.py", "dap/shapes.py", "dap/decoding.py",
    "advice.py", "adapters/hints.py", "adapters/misfires.py", "adapters/definition.py", "adapters/quirks.py", "launch_json.py",
    "bounded.py", "fitting.py", "redaction.py", "tcp_table.py",
)  # fmt: skip
"""Modules without await and without a clock."""

LONGEST_MODULE = 400
LONGEST_FUNCTION = 50
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def part_of(path: Path) -> str:
    """Return the part of the package that a module belongs to: a file or a folder at its top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def layer_of(part: str) -> int:
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield each imported module as its dotted parts; a name imported from `dapeer` is a part."""
    for node in ast.walk(parse(path)):
        match node:
            case ast.Import(names=names):
                yield from (tuple(alias.name.split(".")) for alias in names)
            case ast.ImportFrom(module="dapeer", names=names):
                yield from (("dapeer", alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield tuple(module.split("."))
            case ast.ImportFrom(level=level) if level:
                pytest.fail(f"{name_of(path)} imports relatively")
            case _:
                pass


def allowed(importer: str, imported: str) -> bool:
    return importer == imported or layer_of(importer) < layer_of(imported)


def test_every_part_of_the_package_has_a_layer() -> None:
    parts = {part_of(path) for path in MODULES} - {"__init__"}
    assert parts <= frozenset().union(*LAYERS)


def test_imports_go_down_only() -> None:
    wrong = [
        f"{name_of(path)} imports {imported[1]}"
        for path in MODULES
        if part_of(path) != "__init__"
        for imported in imports(path)
        if imported[0] == "dapeer" and len(imported) > 1 and not imported[1].startswith("__")
        if not allowed(part_of(path), imported[1])
    ]
    assert not wrong


def test_a_third_party_is_imported_by_its_owner_only() -> None:
    wrong = [
        f"{name_of(path)} imports {imported[0]}"
        for path in MODULES
        for imported in imports(path)
        if imported[0] != "dapeer"
        if imported[0] in OWNERS or imported[0] not in sys.stdlib_module_names
        if not name_of(path).startswith(OWNERS.get(imported[0], ()))
    ]
    assert not wrong


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_awaits_nothing_and_reads_no_clock(name: str) -> None:
    path = PACKAGE / name
    impure = {"anyio", "asyncio", "time", "datetime", "socket", "subprocess", "threading"}
    assert not impure & {imported[0] for imported in imports(path)}
    nodes = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    assert not any(isinstance(node, nodes) for node in ast.walk(parse(path)))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_function_is_short(path: Path) -> None:
    long = [
        node.name
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (node.end_lineno or node.lineno) - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert not long


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {part for path in MODULES for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert not names & EMPTY_NAMES


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=name_of)
def test_an_init_only_exports(path: Path) -> None:
    docstring, *rest = parse(path).body
    assert isinstance(docstring, ast.Expr)
    wanted = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    assert all(isinstance(node, wanted) for node in rest)
