"""The shape of the plugin, read from its Lua: which module loads which, what is annotated."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.programs import ROOT

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"command", "health"}),
    frozenset({"init"}),
    frozenset({"integrations"}),
    frozenset({"core"}),
    frozenset({"nvim_dap", "registry"}),
    frozenset({"tools"}),
    frozenset({"documents", "lsp"}),
    frozenset({"diff"}),
    frozenset({"editor"}),
    frozenset({"person"}),
    frozenset({"config", "results", "rpc"}),
    frozenset({"kept", "needs", "types"}),
)
"""Top first. A part loads modules of itself, and of the layers below its own."""

PLUGIN = ROOT / "lua" / "dapeer"
FILES = sorted(PLUGIN.rglob("*.lua"))

LITERAL = re.compile(r"""(['"])(dapeer(?:\.\w+)*\.?)\1""")
PUBLIC = re.compile(
    r"^(?P<notes>(?:--.*\n)*)function M\.(?P<name>[a-z]\w*)\((?P<given>.*)\)\n(?P<body>(?:.*\n)*?)end$",
    re.MULTILINE,
)
RETURNS = re.compile(r"^  return (?!.*\()\S.*\n\Z", re.MULTILINE)
"""The last statement gives a value, which is not what another function has returned."""
INTERNALS = "dapeer.nvim_dap.internals"
OF_NVIM_DAP = re.compile(r"local (\w+)[^=\n]* = require\('dap(?:\.\w+)*'\)")
"""A module of nvim-dap's."""
FOR_EVERYBODY = re.compile(r"session\.on_close\[|dap\.(?:listeners|adapters)\b")
"""What nvim-dap has for others to write."""
DECLARED = re.compile(r"^---@(?:class|alias) (dapeer\.[\w.]+)", re.MULTILINE)
"""Types of the plugin's own."""
NOTE = re.compile(r"^---@.*$", re.MULTILINE)


def module_of(path: Path) -> str:
    parts = path.relative_to(PLUGIN.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "init" else parts)


def part_of(module: str) -> str:
    return [*module.split("."), "init"][1]


SOURCES = {module_of(path): path.read_text(encoding="utf-8") for path in FILES}


def code(module: str) -> str:
    return re.sub(r"--.*", "", SOURCES[module])


def loaded(module: str) -> Iterator[str]:
    """Yield the modules that one names, in functions, too; the start of a name stands for all that it fits."""
    for _, name in LITERAL.findall(code(module)):
        if name.endswith("."):
            yield from (other for other in SOURCES if other.startswith(name))
        elif name in SOURCES and name != "dapeer":
            yield name
    if re.search(r"require\(?\s*,?\s*['\"]dapeer['\"]", code(module)):
        yield "dapeer"


def layer_of(module: str) -> int:
    return next(number for number, parts in enumerate(LAYERS) if part_of(module) in parts)


def test_every_part_has_a_layer() -> None:
    assert {part_of(module) for module in SOURCES} == frozenset().union(*LAYERS)


def test_modules_are_loaded_from_below_only() -> None:
    wrong = [
        f"{module} loads {other}"
        for module in SOURCES
        for other in loaded(module)
        if part_of(module) != part_of(other) and layer_of(module) >= layer_of(other)
    ]
    assert not wrong


def test_no_module_loads_itself_over_others() -> None:
    graph = {module: set(loaded(module)) - {module} for module in SOURCES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"a circle: {' → '.join(circle.args[1])}")


def test_what_outlives_a_reload_has_one_owner() -> None:
    kept = "dapeer.kept"
    owners: dict[str, list[str]] = {}
    for module, text in SOURCES.items():
        if module != kept:
            assert "_dapeer_kept" not in text
            for name in re.findall(r"kept'\)\.part\('(\w+)'", text):
                owners.setdefault(name, []).append(module)
    assert {name for name, modules in owners.items() if len(modules) > 1} == set()
    assert owners.keys() == set(re.findall(r"^---\| '(\w+)'", SOURCES[kept], re.MULTILINE))


@pytest.mark.parametrize("module", [m for m in SOURCES if not m.startswith(INTERNALS)])
def test_nvim_daps_own_tables_are_changed_by_its_internals_only(module: str) -> None:
    """Each such place is checked, and listed by `:checkhealth dapeer`; listeners and adapters are for everybody."""
    own = {"session", "thread", "dap", "Session", "body", *OF_NVIM_DAP.findall(code(module))}
    names = rf"(?:{'|'.join(map(re.escape, sorted(own)))}|require\('dap[.\w]*'\)|vim\.fn|package\.preload)"
    changes = re.findall(rf"^\s*({names}(?:\.\w+|\[[^\]]*\])+)\s*=[^=]", code(module), re.MULTILINE)
    assert [place for place in changes if not FOR_EVERYBODY.match(place)] == []
    assert module == "dapeer.kept" or "rawset(" not in code(module)


@pytest.mark.parametrize("module", [m for m in SOURCES if m != "dapeer.results.fitting"])
def test_a_text_is_cut_in_one_way(module: str) -> None:
    own = r":sub\(1, [A-Z][A-Z_]+\b|\.\. '…'$|str_utf_start\(\w+, (?:most|[A-Z])"
    assert not re.search(own, code(module), re.MULTILINE)
    # A float's lines are wrapped.
    assert "strcharpart(" not in code(module) or module == "dapeer.person.ask.float"


@pytest.mark.parametrize("module", SOURCES)
def test_every_public_function_tells_its_types(module: str) -> None:
    wrong: list[str] = []
    for found in PUBLIC.finditer(SOURCES[module]):
        wanted = [name.strip() for name in found["given"].split(",") if name.strip()]
        told = re.findall(r"^---@param ([\w.]+)\??", found["notes"], re.MULTILINE)
        if [name for name in wanted if not name.startswith("_") and name != "..."] != [
            name for name in told if name != "..." and not name.startswith("_")
        ]:
            wrong.append(f"{found['name']}: takes {wanted}, tells {told}")
        if RETURNS.search(found["body"]) and "---@return" not in found["notes"]:
            wrong.append(f"{found['name']}: returns something, and does not tell what")
    assert not wrong


def test_every_type_that_is_named_is_declared() -> None:
    declared = {name for text in SOURCES.values() for name in DECLARED.findall(text)}
    named = {
        (module, name)
        for module, text in SOURCES.items()
        for note in NOTE.findall(text)
        for name in re.findall(r"\bdapeer\.[\w.]*\w", re.sub(r"['\"`].*?['\"`]", "", note))
    }
    assert {name for name in named if name[1] not in declared} == set()
