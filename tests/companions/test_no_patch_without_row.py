"""What dapeer changes in other software, it changes by rows of the register only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.adapters.definition.table import installation_values
from tests.companions.patches_elsewhere import FINDERS, unasked
from tests.programs import ROOT

COMPANIONS = Path(str(installation_values()["launchers"]))
REGISTERS = {"patching.py", "patching.cjs", "patching.rb"}
ALL = sorted(each for each in COMPANIONS.rglob("*.*") if each.name not in REGISTERS)
PYTHON = [each for each in ALL if each.suffix == ".py"]
OWN = sorted(
    each for each in (ROOT / "server" / "dapeer").rglob("*.py") if COMPANIONS not in each.parents
)
LUA = sorted((ROOT / "lua").rglob("*.lua"))
INTERNALS = "nvim_dap/internals/"
ELSEWHERE = [each for each in (*ALL, *LUA) if each.suffix in FINDERS and INTERNALS not in str(each)]
IMPORTS = {"import_module", "__import__"}
"""Functions that return a module."""
OF_A_PROGRAM = {"sys.argv", "sys.path", "os.environ", "sys.modules"}
"""What every program may set for itself."""
OURS = r"\bdapeer_debuggee\.|^from \.|^from dapeer\b|^import dapeer\b"
"""Takes a module of dapeer's."""
BUILD = {"property", "SimpleNamespace", "classmethod", "staticmethod", "partial", "guarded"}
"""Calls that make what a patch sets."""


def patches(source: str) -> list[str]:
    """Return the assignments to attributes of other software in a text, outside of functions that apply a row."""
    tree = ast.parse(source)
    foreign = {name for node in ast.walk(tree) for name in imported(node)}
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in outside(tree)
        if isinstance(node, ast.stmt | ast.Call) and changes(node, foreign)
    ]


def outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all of a tree but functions that a row decorates."""
    for each in ast.iter_child_nodes(node):
        if not (isinstance(each, ast.FunctionDef) and any(map(is_row, each.decorator_list))):
            yield each
            yield from outside(each)


def is_row(decorator: ast.expr) -> bool:
    """Whether a decorator is a row, or what replaces a function by one."""
    if isinstance(decorator, ast.Call):
        return isinstance(decorator.func, ast.Attribute) and decorator.func.attr == "replace"
    return isinstance(decorator, ast.Name) and (decorator.id.isupper() or decorator.id == "row")


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement gives to modules of others, or to what it takes from them."""
    if isinstance(node, ast.stmt) and re.search(OURS, ast.unparse(node)):
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        calls = [each for each in ast.walk(node.value) if isinstance(each, ast.Call)]
        if any(last(each.func) in IMPORTS for each in calls) or "sys.modules" in ast.unparse(node):
            yield from (each.id for each in targets if isinstance(each, ast.Name))


def changes(node: ast.AST, foreign: set[str]) -> bool:
    """Whether a statement or a call changes an attribute of other software, as a patch does."""
    if isinstance(node, ast.Call):
        ours = bool(node.args) and root(node.args[0]) == "self"
        return (
            isinstance(node.func, ast.Name) and node.func.id in {"setattr", "delattr"} and not ours
        )
    if isinstance(node, ast.Delete):
        return any(map(is_attribute, node.targets)) and root(node.targets[0]) in foreign
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    stored = [
        each for target in targets for each in ast.walk(target)
        if isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store)
    ]  # fmt: skip
    held = [each if isinstance(each, ast.Attribute) else each.value for each in stored]
    held = [each for each in held if is_attribute(each) and ast.unparse(each) not in OF_A_PROGRAM]
    held = [each for each in held if root(each) != "patching"]
    return any(root(each) in foreign or makes(node.value, each) for each in held)


def makes(value: ast.expr | None, target: ast.expr) -> bool:
    """Whether a value is made for others to call, and is not set in an object of ours."""
    if root(target) in {"self", "cls"} or value is None:
        return False
    made = isinstance(value, ast.Call) and last(value.func) in BUILD
    return made or isinstance(value, ast.Lambda)


def is_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute)


def root(node: ast.AST) -> str:
    """Return the first name of `a.b.c`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def last(node: ast.AST) -> str:
    """Return the last name of `a.b.c`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.name)
def test_other_software_is_changed_by_rows_of_the_register_only(path: Path) -> None:
    assert patches(path.read_text()) == []


def test_no_library_is_changed_in_dapeers_own_process() -> None:
    root = ROOT / "server" / "dapeer"
    found = {path.relative_to(root).as_posix(): patches(path.read_text("utf-8")) for path in OWN}
    assert {name for name, each in found.items() if each} == {
        "cli/command_line.py",  # gives the process a standard stream where it has none
        "cli/debugging/options.py",  # an action of argparse notes what it has parsed
    }


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.name)
def test_no_patch_is_guarded_by_two_kinds_of_errors_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and last(node.func) == "suppress":
            assert {last(each) for each in node.args} != {"ImportError", "AttributeError"}


@pytest.mark.parametrize(
    "source",
    [
        "import threading\nthreading.excepthook = print",
        "import gdb\ndef improve():\n    gdb.Value.name = print",
        "import importlib\nmodule = importlib.import_module('pydevd')\nmodule.PyDB.stop = print",
        "import sys\nmodule = sys.modules['pydevd']\nmodule.PyDB.limit += 1",
        "def improve(debugger):\n    debugger.stop = lambda: None",
        "def improve(debugger):\n    setattr(debugger, 'stop', print)",
        "import os\ndel os.fork",
        "from pydantic import BaseModel\nBaseModel.model_config['defer_build'] = True",
    ],
)
def test_a_patch_without_a_row_is_found(source: str) -> None:
    assert len(patches(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import gdb\n@VALUES\ndef improve(row):\n    gdb.Value.name = print",
        "class Ours:\n    def __init__(self):\n        self.call = lambda: None",
        "def of(frame):\n    frame.f_trace = None",
    ],
)
def test_a_row_s_own_assignments_are_its_own_business(source: str) -> None:
    assert patches(source) == []


@pytest.mark.parametrize("path", ELSEWHERE, ids=lambda path: path.name)
def test_other_software_is_changed_by_rows_in_each_language(path: Path) -> None:
    assert [*FINDERS[path.suffix](path.read_text(encoding="utf-8"))] == []


def test_each_change_of_nvim_dap_asks_whether_it_may_be_made() -> None:
    [path] = [each for each in LUA if str(each).endswith(f"{INTERNALS}init.lua")]
    assert [*unasked(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("suffix", "source"),
    [
        (".cjs", "const os = require('os');\nos.tmpdir = () => folder;"),
        (".cjs", "function improve(server) {\n  server.prototype.run = run;\n}"),
        (".cjs", "Object.defineProperty(process, 'pid', { value: 1 });"),
        (".cjs", "Module['_load'] = load;"),
        (".rb", "DEBUGGER__::UI_DAP.prepend(Ours)"),
        (".rb", "class DEBUGGER__::Session\n  def pause; end\nend"),
        (".rb", "def DEBUGGER__.open; end"),
        (".rb", "DEBUGGER__::CONFIG[:postmortem] = false"),
        (".rb", "TracePoint.new(:raise) { }.enable"),
        (".pl", "*Perl::LanguageServer::run = sub { };"),
        (".pl", "sub Perl::LanguageServer::run { }"),
        (".pl", "$Perl::LanguageServer::debug = 1;"),
        (".lua", "require('dap.rpc')\nlocal rpc = require('dap.rpc')\nrpc.create_read_loop = ours"),
        (".lua", "function M.improve(session)\n  session.client = ours\nend"),
        (".lua", "vim.fn.jobstart, vim.fn.termopen = ours, ours"),
        (".lua", "local other = require('dap.breakpoints')\nother.clear = nil"),
    ],
)
def test_a_patch_without_a_row_is_found_in_each_language(suffix: str, source: str) -> None:
    assert len([*FINDERS[suffix](source)]) == 1


@pytest.mark.parametrize(
    ("suffix", "source"),
    [
        (".cjs", "function inMocha(row, { prototype }) {\n  prototype.run = run;\n}"),
        (".cjs", "module.exports = { apply };"),
        (".rb", "row 'ruby-end', 'It is lost.' do\n  DEBUGGER__::UI_DAP.prepend(Ours)\nend"),
        (".pl", "sub replace {\n    *Perl::LanguageServer::run = sub { };\n}"),
        (".lua", "dap.listeners.after.event_stopped['dapeer'] = told"),
        (".lua", "local session = sessions[id]"),
    ],
)
def test_a_row_s_own_changes_are_its_own_business_in_each_language(
    suffix: str, source: str
) -> None:
    assert [*FINDERS[suffix](source)] == []
