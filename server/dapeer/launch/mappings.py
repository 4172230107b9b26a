"""Where the files of a program are on this machine, from configurations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_array, as_object, is_array, is_object
from dapeer.dap.mapped import PathMapping

OF_PYTHON, OF_CPP = "pathMappings", "sourceFileMap"


def take_mappings(
    definition: Definition, config: Json, project: Path
) -> tuple[dict[str, Any], tuple[PathMapping, ...]]:
    """Return a configuration for an adapter, and the path mappings that dapeer itself must apply.

    `pathMappings` (a list of `localRoot` and `remoteRoot`) and `sourceFileMap` (a table of remote and local folders) are taken out
    of it; local folders are relative to the project. An adapter that maps paths itself gets them as `pathMappings`, and dapeer
    applies none. Keys that only an adapter knows, as `substitutePath`, stay.

    Raises:
        ArgumentError: A mapping does not have that form.
    """
    mappings = [*_pairs(config.get(OF_PYTHON)), *_table(config.get(OF_CPP))]
    rest = {key: value for key, value in config.items() if key not in (OF_PYTHON, OF_CPP)}
    absolute = tuple(
        PathMapping(str((project / Path(each.local).expanduser()).absolute()), each.remote)
        for each in mappings
    )
    if not absolute or not definition.quirks.maps_paths:
        return rest, absolute
    own = [{"localRoot": each.local, "remoteRoot": each.remote} for each in absolute]
    return {**rest, OF_PYTHON: own}, ()


def _pairs(value: object) -> Iterator[PathMapping]:
    """Yield the mappings of `pathMappings`: none if it is None.

    Raises:
        ArgumentError: It is no list of objects with `localRoot` and `remoteRoot`.
    """
    if value is not None and not is_array(value):
        raise _wrong(OF_PYTHON)
    for pair in as_array(value):
        match pair:
            case {"localRoot": str(local), "remoteRoot": str(remote)}:
                yield PathMapping(local, remote)
            case _:
                raise _wrong(OF_PYTHON)


def _table(value: object) -> Iterator[PathMapping]:
    """Yield the mappings of `sourceFileMap`: none if it is None.

    Raises:
        ArgumentError: It is no object of remote folders, each with a local one.
    """
    if value is not None and not is_object(value):
        raise _wrong(OF_CPP)
    for remote, local in as_object(value).items():
        match local:
            case str() | {"editorPath": str()}:
                yield PathMapping(local if isinstance(local, str) else local["editorPath"], remote)
            case _:
                raise _wrong(OF_CPP)


def _wrong(key: str) -> ArgumentError:
    """Return the error for a key with mappings of the wrong form."""
    form = {
        OF_PYTHON: '[{"localRoot": "/here", "remoteRoot": "/app"}]',
        OF_CPP: '{"/app": "/here"}',
    }[key]
    return ArgumentError(f"`{key}` must map one folder to another.", f"Write {form}.")
