"""The shape of the package, read from its source: who imports whom, and how large things are."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests import slow
from tests.processes import LIMIT
from tools.figures import set_from_outside
from tools.source import ROOT, Source, imports, parse

SOURCE = Source()
PACKAGE = SOURCE.package
MODULES = SOURCE.modules
BY_NAME = SOURCE.by_name
name_of = SOURCE.name_of

LAYERS = (
    ("cli",),
    ("integrations",),
    ("scripting",),
    ("mcp",),
    ("tools",),
    ("launch",),
    ("peers",),
    ("sessions",),
    ("adapters", "neovim"),
    ("view",),
    ("mirror",),
    ("collecting",),
    ("dap",),
    ("companions",),
    ("base",),
)
"""Top first. A room, which is a folder or a module at the top, imports from the layers below its own.

`tools.source` names the folders inside of a room that have a layer of their own.
"""

OTHERS = "*"
INSIDES = {
    "adapters": (
        ("process",),
        ("choice", "named_tests"),
        ("launch_request",),
        ("runner",),
        ("definition",),
    ),
    "base": (
        ("schema_judge",),
        ("schemas", "sources"),
        ("system",),
        ("credentials", "redaction", "secret_files"),
        ("text",),
        ("errors", "json_types"),
    ),
    "cli": (
        ("main",),
        ("stdio",),
        ("command_line",),
        ("commands",),
        ("adapters", "debugging", "demo_nvim", "doctor"),
        ("demo",),
        ("install",),
    ),
    "collecting": (
        ("divergence",),
        ("text",),
        ("points", "row_files"),
        ("rows",),
    ),
    # Each is started in an interpreter of its own: only what debuggers in Python need is shared.
    "companions": (
        ("bash_adapter", "java", "native", "node", "perl", "process", "ruby"),
        ("python",),
    ),
    # None knows another one.
    "integrations": (("entries",), ("claude_ide", "opencode"), ("claude_ide_service", "variables")),
    "dap": (
        ("content_length", "handshake"),
        ("channel", "sent_requests"),
        ("decoding", "empty_lines", "mapped"),
        ("requested_breakpoints", "transport"),
        ("exception_filters", "messages", "requests"),
        ("types",),
    ),
    "launch": (
        ("start",),
        ("process_tree",),
        ("other_languages",),
        ("commands", "configurations", "inheritance", "plans", "tasks"),
        ("tasks_json",),
        ("launch_json", "request"),
    ),
    "mcp": (
        ("web",),
        ("serving",),
        ("transports",),
        ("rendezvous",),
        ("front",),
        ("server",),
        ("all_tools", "data_extension"),
    ),
    "mirror": (
        ("mirror",),
        ("failures", "output", "stops"),
        ("values",),
        ("bounded", "breakpoint_status", "frames", "places", "post_mortem", "states"),
    ),
    "neovim": (
        ("feeds",),
        ("client",),
        ("discovery",),
        ("probe", "program", "project"),
        ("sockets",),
    ),
    "peers": (
        ("peers",),
        ("peer",),
        ("lua_tools",),
        ("consent", "lua_tool", "nvim_sessions"),
        ("consent_kinds", "shared_breakpoints"),
    ),
    "scripting": (("__main__",), ("debugger",), ("methods",), ("wire",)),
    "sessions": (
        ("leaving_calls",),
        ("run_until",),
        ("debugger",),
        ("broadcast",),
        ("memory_breakpoints", "outcomes", "triggers"),
        ("core",),
        ("breakpoints", "inspection"),
        ("doings", "traits"),
    ),
    "tools": ((OTHERS,), ("base",)),
    "view": (
        ("advice", "render"),
        ("snapshot",),
        ("variables",),
        (OTHERS,),
    ),
}
"""The same inside each room, where `OTHERS` stands for what is not named."""

OWNERS: dict[str, tuple[str, ...]] = {
    "mcp": (
        "cli/demo.py",
        "cli/demo_nvim.py",
        "integrations/",
        "mcp/",
        "tools/",
        "cli/install/reach.py",
    ),
    "starlette": ("mcp/transports/http.py",),
    "uvicorn": ("mcp/transports/http.py",),
    "h11": ("mcp/transports/http.py",),
    # Only for type checkers.
    "_typeshed": ("adapters/definition/table.py",),
    # The installation reads what tomlkit, or it itself, has written by another reader.
    "tomllib": ("adapters/definition/table.py", "cli/install/toml_text.py"),
    "pydantic": (
        "tools/",
        "mcp/",
        "integrations/opencode/relay.py",
        "integrations/opencode/session_tools.py",
    ),
    "typing_extensions": ("view/snapshot.py", "tools/"),
    "anyio": ("",),
    "jsonschema": ("base/schemas.py",),
    "referencing": ("base/schemas.py",),
    "pydantic_core": ("mcp/transports/jsonl.py",),
    "httpx2": ("integrations/opencode/client.py", "sessions/triggers/runs.py"),
    "shtab": ("cli/command_line.py",),
    "tomlkit": ("cli/install/toml_text.py",),
    "websockets": ("integrations/claude_ide_service.py",),
    "pynvim": ("neovim/client.py",),
    "msgpack": ("neovim/probe.py",),
    # Started inside the debug adapter's own process, never in ours.
    "debugpy": ("companions/",),
    # Runs the tests of a user's project, in its own interpreter.
    "pytest": ("companions/",),
}
"""Where a third party, or a part of the standard library that has one owner, may be imported."""

PURE = (
    "mirror/", "view/", "collecting/divergence.py", "collecting/rows/", "collecting/text/", "collecting/points.py", "base/text/",
    "dap/messages.py", "dap/decoding.py", "dap/types.py", "dap/requests.py", "dap/exception_filters.py",
    "sessions/outcomes.py", "sessions/breakpoints/breakpoints.py", "sessions/triggers/trigger.py", "peers/consent_kinds.py", "peers/lua_tool.py", "launch/launch_json.py", "launch/tasks_json.py",
    "adapters/definition/", "base/sources.py", "base/redaction.py", "base/system/tcp_table.py",
)  # fmt: skip
"""Modules, and folders of modules, without await and without a clock."""

ASYNCIO = {
    "processes": (
        "adapters/process/spawn.py", "adapters/runner.py", "base/system/limited_process.py", "cli/demo_nvim.py",
        "sessions/inspection/thread_locations.py",
    ),
    "descriptors": (
        "adapters/process/owned_process.py", "adapters/process/tail.py", "adapters/process/terminal.py", "base/system/process_end.py",
    ),
    "streams": (
        "mcp/rendezvous/neovims.py", "mcp/transports/http.py", "mcp/transports/jsonl.py", "mcp/transports/stdio.py",
        "mcp/transports/unix_socket.py", "launch/other_languages.py", "neovim/feeds.py",
    ),
    "signals": ("mcp/serving.py",),
    "other threads": ("base/system/threads.py", "mcp/web.py", "neovim/client.py"),
    "tasks of objects, timers": ("base/system/tasks.py",),
}  # fmt: skip
"""The modules that import asyncio, by what they need it for; all others use anyio."""
ANYIO_HAS = {"BoundedSemaphore", "Condition", "Event", "Lock", "Queue", "Semaphore", "TaskGroup", "gather", "run", "timeout", "wait_for"}  # fmt: skip
"""Names of asyncio for which anyio or `base/system/tasks` has another."""

DEBUGGEE = ("dapeer", "companions", "python", "dapeer_debuggee")
IN_DEBUGGEE = "companions/python/dapeer_debuggee/"
"""A package of its own in the program, so its modules import each other relatively."""
IN_OUR_PYTHON = (
    "companions/python/debugpy_",
    "companions/process/reaper",
    "companions/process/last_words",
)
"""Companions that dapeer's own Python runs, beside debugpy or alone: they may import what lies at the bottom."""
LONGEST_FUNCTION = 50
LONGEST_TEST = 40


def level_of(room: str, layers: tuple[tuple[str, ...], ...]) -> int:
    """Return the number of the layer of a room."""
    names = {name for layer in layers for name in layer}
    return next(
        number
        for number, layer in enumerate(layers)
        if room in layer or (OTHERS in layer and room not in names)
    )


@pytest.fixture(autouse=True, scope="module")
def forget() -> Iterator[None]:
    """Keep nothing that is parsed: it is large."""
    yield
    parse.cache_clear()


def goes_down(importer: str, imported: str, layers: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a room may import another one; those that are not named may import each other."""
    above, below = level_of(importer, layers), level_of(imported, layers)
    return above < below or (above == below and OTHERS in layers[above])


def upward(layers: tuple[tuple[str, ...], ...], *inside: str) -> list[str]:
    """Return which modules of a room import one of its rooms that does not lie below their own."""
    return [
        f"{'.'.join(importer)} imports {'.'.join(imported)}"
        for importer, imported, rooms in SOURCE.crossings(*inside)
        if not goes_down(*rooms, layers)
    ]


def test_every_room_of_the_package_has_a_layer() -> None:
    rooms = {SOURCE.room_of(module) for module in BY_NAME if module} - {"__main__"}
    assert rooms <= {room for layer in LAYERS for room in layer}


def test_json_has_one_name_for_its_type() -> None:
    named = [
        name_of(path)
        for path in MODULES
        for node in parse(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        if "Json" in ast.unparse(node).partition("=")[0].replace(":", " ").split()
    ]
    # GDB loads its file without the package.
    assert sorted(named) == ["base/json_types.py", "companions/native/gdb_values.py"]


def test_a_text_is_cut_in_one_way() -> None:
    """By `text.fitting.shortened`, which says how long it was."""
    # What runs in other programs is without the package.
    elsewhere = ("base/text/", "companions/")
    assert not [
        name_of(path)
        for path in MODULES
        if not name_of(path).startswith(elsewhere)
        if re.search(r"\[[^\]{}]*:[^\]{}]*\]\}…", path.read_text(encoding="utf-8"))
    ]


def test_the_table_of_processes_has_one_reader() -> None:
    readers = [name_of(p) for p in MODULES if re.search(r"\"/proc\b", p.read_text("utf-8"))]
    # The tables of ports, and which are given out; the folders that hold no sources; secret files; what runs in other programs; a short
    # name for a socket.
    assert {name for name in readers if not name.startswith("companions/")} <= {
        "base/system/ownership.py",
        "adapters/process/streams.py",
        "base/secret_files.py",
        "base/system/process_table.py",
        "mcp/rendezvous/announcement.py",
        "sessions/debugger/registry.py",
    }


def test_a_program_that_is_integrated_is_named_where_its_work_is_only() -> None:
    """Beside its integration, clients have files to install into."""
    named = re.compile(rb"opencode|claude", re.IGNORECASE)
    assert not [
        name
        for file in sorted(PACKAGE.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
        if not (name := name_of(file)).startswith(("integrations/", "cli/install/"))
        if named.search(file.read_bytes())
    ]


def test_every_room_has_an_order_inside() -> None:
    assert INSIDES.keys() >= {module[0] for module in BY_NAME if len(module) > 1}


def test_imports_go_down_only() -> None:
    layers = (("__main__",), *LAYERS)
    assert not upward(layers)


@pytest.mark.parametrize("room", INSIDES)
def test_imports_inside_a_room_go_down_only(room: str) -> None:
    assert not upward(INSIDES[room], room)


def test_no_modules_import_each_other_in_a_circle() -> None:
    tuple(TopologicalSorter(SOURCE.graph).static_order())


COLLECTING_FROM_OUTSIDE = {
    "points", "row_files",
    "rows.collected", "rows.collection", "rows.table", "rows.watch",
    "text.call_lines", "text.live_rows", "text.row_listing", "text.summary", "text.timeline", "text.watched",
    "divergence",
}  # fmt: skip
"""What the rest of dapeer needs of collected rows: how they are written, read, aligned and laid out stays inside."""


def test_few_modules_for_collected_rows_are_imported_from_outside() -> None:
    from_outside = {
        ".".join(imported[1:])
        for importer, all_imported in SOURCE.graph.items()
        if importer[:1] != ("collecting",)
        for imported in all_imported
        if imported[:1] == ("collecting",)
    }
    assert from_outside <= COLLECTING_FROM_OUTSIDE


def test_what_runs_elsewhere_imports_nothing_of_dapeer() -> None:
    allowed = {("dapeer", "companions"), ("dapeer", "base")}
    assert not [
        f"{name_of(path)} imports {'.'.join(imported)}"
        for path in MODULES
        if name_of(path).startswith("companions/")
        for imported in imports(path)
        if imported[0] == "dapeer"
        if not (name_of(path).startswith(IN_DEBUGGEE) and imported[:4] == DEBUGGEE)
        if not name_of(path).startswith(IN_OUR_PYTHON) or imported[:2] not in allowed
    ]


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


def test_a_pure_module_awaits_nothing_and_reads_no_clock() -> None:
    impure = {"anyio", "asyncio", "time", "datetime", "socket", "subprocess", "threading"}
    nodes = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    assert not [
        name_of(path)
        for path in MODULES
        if name_of(path).startswith(PURE)
        if impure & {imported[0] for imported in imports(path)}
        or any(isinstance(node, nodes) for node in ast.walk(parse(path)))
    ]


def test_asyncio_is_imported_only_for_what_anyio_lacks() -> None:
    importing = {
        name_of(path)
        for path in MODULES
        if any(imported[0] == "asyncio" for imported in imports(path))
    }
    assert importing <= {name for names in ASYNCIO.values() for name in names}
    assert not [
        f"{name_of(path)}:{node.lineno}: asyncio.{node.attr}"
        for path in MODULES
        if name_of(path) in importing
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and node.attr in ANYIO_HAS
        if ast.unparse(node.value) == "asyncio"
    ]


def long_functions(path: Path, most: int, start: str = "") -> list[str]:
    """Return the functions of a module with more lines of code than that; a docstring is as long as its contract."""
    return [
        f"{path.name}: {node.name}"
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith(start)
        if lines_of(node) - (lines_of(node.body[0]) if ast.get_docstring(node) else 0) > most
    ]


def lines_of(node: ast.stmt) -> int:
    """Return how many lines a statement has."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_every_function_is_short() -> None:
    assert not [each for path in MODULES for each in long_functions(path, LONGEST_FUNCTION)]


def test_what_must_come_is_awaited_for_as_long_as_a_slow_machine_needs() -> None:
    """A shorter limit has a name of its own, beside which its reason stands; one below a second is there to pass."""
    short = [
        f"{file.relative_to(ROOT)}:{limit.lineno}"
        for file in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(parse(file))
        for limit in limits_in(node)
        if isinstance(limit, ast.Constant)
        and isinstance(limit.value, int | float)
        and 1 <= limit.value < LIMIT
    ]
    assert not short


def limits_in(node: ast.AST) -> Iterator[ast.expr]:
    """Return the seconds that a call gives something to happen."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    place = {"timeout": 0, "fail_after": 0, "move_on_after": 0, "wait_for": 1}.get(name)
    yield from node.args[place:][:1] if place is not None else ()
    yield from (each.value for each in node.keywords if each.arg in {"timeout", "seconds"})


SET_IN_OTHERS = {
    "base/system/logs.py: record.args",
    "cli/adapters.py: member.mode",
    "cli/adapters.py: member.uid",
}
"""The record is one of `logging`, whose filters change records; the member one of `tarfile`, as its own filters change them."""


def test_an_attribute_is_set_by_its_owner_only() -> None:
    """A constructor wires an object, and its own methods change its state."""
    places = {re.sub(r":\d+", "", place) for place in set_from_outside(SOURCE)}
    assert places <= SET_IN_OTHERS


SHOWS_MEMBERS = {"mirror/values.py"}
"""What outlives a stop is kept as it was shown, and cut: whole values may be megabytes."""


def test_a_mirror_writes_no_text_for_a_reader() -> None:
    """That is the business of `view/`."""
    importing = {
        name_of(path)
        for path in MODULES
        if name_of(path).startswith(("mirror/", "collecting/rows/"))
        if any(imported[:3] == ("dapeer", "base", "text") for imported in imports(path))
    }
    assert importing <= SHOWS_MEMBERS


MIRRORED = frozenset({"mirror", "_mirror", "stop", "_stop", "history"})
"""Names under which code outside of `mirror/` holds a mirror, its stops and its history."""
GIVES_NUMBERS = frozenset({"another", "handle_for"})
"""These give callers a number for what they are shown, a new one where it has none yet."""
CONTAINERS = frozenset({
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update",
})  # fmt: skip


def test_a_mirror_changes_by_its_own_methods_only() -> None:
    """Outside of `mirror/`, nothing that is reached through a mirror or a stop is set, and none of its parts is made to change."""
    changing = CONTAINERS | {
        name
        for path in MODULES
        if name_of(path).startswith(("mirror/", "collecting/rows/"))
        for name in changing_methods(path)
    }
    wrong = [
        f"{name_of(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in MODULES
        if not name_of(path).startswith(("mirror/", "collecting/rows/", "companions/"))
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call | ast.Attribute | ast.Subscript)
        if is_write(node, changing - GIVES_NUMBERS)
    ]
    assert not wrong


def changing_methods(path: Path) -> set[str]:
    """Return the public methods of a module that change what they belong to."""
    return {
        method.name
        for kind in ast.walk(parse(path))
        if isinstance(kind, ast.ClassDef)
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
        if any(changes_self(node) for node in ast.walk(method))
    }


def changes_self(node: ast.AST) -> bool:
    """Whether code sets what lies behind `self`, or has a container there changed."""
    if isinstance(node, ast.Call):
        owner, *path = path_of(node.func) or [""]
        return owner == "self" and path[-1:] != path[:1] and path[-1] in CONTAINERS
    stores = isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
    return stores and path_of(node)[:1] == ["self"]


def is_write(node: ast.Call | ast.Attribute | ast.Subscript, changing: frozenset[str]) -> bool:
    """Whether code sets what lies behind a mirror or a stop, or has a part of it changed; a mirror's own methods may."""
    if not isinstance(node, ast.Call):
        *owner, _ = path_of(node) or [""]
        return isinstance(node.ctx, ast.Store | ast.Del) and bool(MIRRORED & {*owner})
    *owner, name = path_of(node.func) or [""]
    of_mirror = bool(owner) and owner[-1] in {"mirror", "_mirror"}
    return name in changing and bool(MIRRORED & {*owner}) and not of_mirror


def path_of(node: ast.AST) -> list[str]:
    """Return the names on the way to an attribute, or to what is in brackets behind it; nothing where it is no plain way."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=name):
            return [*path_of(value), name]
        case ast.Subscript(value=value):
            return [*path_of(value), "[]"]
        case ast.Call(func=called):
            return [*path_of(called), "()"]
        case _:
            return []


def test_every_test_is_short() -> None:
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    assert not [each for path in paths for each in long_functions(path, LONGEST_TEST, "test_")]


def test_each_file_of_long_stories_is_there() -> None:
    assert not [name for name in sorted(slow.FILES) if not (ROOT / name).is_file()]


def test_an_init_only_exports() -> None:
    wanted = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    for path in MODULES:
        # The package itself also loads the library of scripts when it is asked for.
        if path.name == "__init__.py" and path.parent != PACKAGE:
            docstring, *rest = parse(path).body
            assert isinstance(docstring, ast.Expr), path
            assert all(isinstance(node, wanted) for node in rest), path
