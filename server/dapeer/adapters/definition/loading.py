"""Reading definitions of debug adapters from their files."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dapeer.adapters.definition import sections
from dapeer.adapters.definition.definition import CANNOT, INPUTS, OWN, Definition
from dapeer.adapters.definition.placeholders import placeholders
from dapeer.adapters.definition.quirks import Quirks
from dapeer.adapters.definition.table import DefinitionTable, read_toml
from dapeer.base.errors import DefinitionError
from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.system import foreign_files
from dapeer.base.system.folder_names import configuration, shipped_folder

log = logging.getLogger(__name__)

SHARED = "shared"
"""The folder, beside definitions, of what several of them say alike."""


def shipped() -> Path:
    """Return the folder of dapeer's own definitions: in a wheel inside the package, else in the checkout."""
    return shipped_folder("_adapters", "adapters")


def user_folder() -> Path:
    """Return the folder of the user's own definitions; it need not exist."""
    return Path(configuration(), "adapters")


def load_all(*folders: Path) -> dict[str, Definition]:
    """Return the definitions in these folders by id, those of later folders first.

    Of two with one id the later folder's wins. A folder that does not exist is empty.

    Raises:
        DefinitionError: A file is wrong, or one folder defines an id twice.
    """
    definitions: dict[str, Definition] = {}
    for folder in reversed(folders):
        here: dict[str, Definition] = {}
        for path in _files(folder):
            definition = load(path)
            if definition.id in here:
                other = here[definition.id].path.name
                raise DefinitionError(
                    f"{path}: id `{definition.id}` is defined by {other} too.",
                    "Give one of them another id.",
                )
            here[definition.id] = definition
        definitions = {**definitions, **{k: v for k, v in here.items() if k not in definitions}}
    return definitions


def _files(folder: Path) -> list[Path]:
    """Return the definitions' files in a folder, sorted; empty, with a warning, where it may not be read."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        log.warning("%s cannot be read: %s; no adapters are defined there", folder, error.strerror)
        return []


def load(path: Path) -> Definition:
    """Return the definition in a file.

    Raises:
        DefinitionError: It cannot be read, or a key, type or placeholder in it is wrong.
    """
    values = read_with_shared(path)
    definition = _definition(DefinitionTable(path, "", values), path)
    _check_placeholders(definition, values)
    return definition


def read_with_shared(path: Path) -> dict[str, Any]:
    """Return the values of a definition file with those of the files that it names in `shares`.

    In each table, lists are joined, those of the shared files first; any other key of the file hides that of a shared one.

    Raises:
        DefinitionError: There is no such file, or it cannot be read.
    """
    values = read_toml(path)
    names = DefinitionTable(path, "", values).texts("shares")
    own: dict[str, Any] = {key: value for key, value in values.items() if key != "shares"}
    for name in names:
        beside = path.parent / SHARED / f"{name}.toml"
        found = beside if foreign_files.is_file(beside) else shipped() / SHARED / beside.name
        own = _merged(own, read_toml(found))
    return own


def _merged(own: Json, shared: Json) -> dict[str, Any]:
    """Return the table `own` over the table `shared`; lists are joined, shared items first, so are tables.

    Of any other value, the own one counts.
    """
    both = {**shared, **own}
    for key in own.keys() & shared.keys():
        mine, theirs = own[key], shared[key]
        if is_array(mine) and is_array(theirs):
            both[key] = [*theirs, *mine]
        elif is_object(mine) and is_object(theirs):
            both[key] = _merged(mine, theirs)
    return both


def _definition(table: DefinitionTable, path: Path) -> Definition:
    """Return the definition of a whole file, whose placeholders are not checked yet.

    `table` is the top of the file, of which all keys are read; `path` is the file.

    Raises:
        DefinitionError: A key is unknown or missing, or its type is wrong.
    """
    attach = table.table("attach")
    definition = table.read(
        Definition,
        title=table.get("title", str, table.text("id")),
        detect=sections.Detect.read(table.table("detect")),
        install=tuple(map(sections.Install.read, table.tables("install"))),
        transport=sections.TransportTable.read(table.table("transport")),
        launch_variants=tuple(map(sections.Variant.read, table.tables("launch_variant"))),
        attach={
            way: sections.Attach.read(attach.table(way), way)
            for way in (*sections.WAYS, sections.OF_WAITING)
            if way in attach
        },
        interpreter=sections.Interpreter.read(table.table("interpreter")),
        children=table.table("children").read(sections.Children) if "children" in table else None,
        command=table.table("command").read(sections.Command) if "command" in table else None,
        not_followed=tuple(
            each.read(sections.NotFollowed) for each in table.tables("not_followed")
        ),
        cannot=table.some_of("cannot", CANNOT),
        tests=table.table("tests").read(sections.Tests, rest="arguments")
        if "tests" in table
        else None,
        stopping=sections.Stopping.read(table),
        collect=sections.Collect.read(table.table("collect")),
        sources=table.table("sources").read(sections.Sources),
        watchpoints=table.table("watchpoint").read(sections.Watchpoints),
        until=table.table("until").read(sections.Until),
        hints=tuple(map(sections.Hint.read, table.tables("hint"))),
        sight=sections.read_sight(table.table("threads")),
        timeouts=table.table("timeouts").read(sections.Timeouts),
        quirks=Quirks.read(table.table("quirks")),
        path=path,
    )
    attach.check_all_read()
    return definition


def _check_placeholders(definition: Definition, values: Mapping[str, Any]) -> None:
    """Raise if a definition file uses a placeholder `${name}` that never has a value.

    `values` are all values of the file; only texts in tables that may have placeholders are looked at, such as `launch`, `command` and
    `hint`, but not `threads`. Known are the inputs of a launch, what depends on the installation, what detection finds, and in any hint the
    groups of the patterns of all hints.

    Raises:
        DefinitionError: There is one; the error names the first, and all that are known but for the groups.
    """
    known = {*INPUTS, *OWN, *definition.detect.placeholders()}
    for key in (
        "detect",
        "transport",
        "launch",
        "launch_env",
        "launch_variant",
        "attach",
        "command",
        "tests",
        "hint",
    ):
        groups = (
            {name for each in definition.hints for name in each.groups} if key == "hint" else ()
        )
        for place, name in placeholders(values.get(key), key):
            if name not in known and name not in groups:
                raise DefinitionError(
                    f"{definition.path}: unknown placeholder ${{{name}}} in {place}.",
                    f"Known placeholders: {', '.join(sorted(known))}.",
                )
