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


def taken(
    definition: Definition, config: Json, project: Path
) -> tuple[dict[str, Any], tuple[PathMapping, ...]]:
    """Return a configuration for an adapter, and the path mappings that dapeer must apply.

    `pathMappings` (a list of `localRoot` and `remoteRoot`) is known by few adapters, and so works with
    all; so does `sourceFileMap` (a table of remote and local folders). Keys by which an adapter maps
    paths itself are passed on: `substitutePath`, `sourceMap`, `localRoot`.

    Raises:
        ArgumentError: One of the two folders is invalid.
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
    if value is not None and not is_array(value):
        raise _wrong(OF_PYTHON)
    for pair in as_array(value):
        match pair:
            case {"localRoot": str(local), "remoteRoot": str(remote)}:
                yield PathMapping(local, remote)
            case _:
                raise _wrong(OF_PYTHON)


def _table(value: object) -> Iterator[PathMapping]:
    if value is not None and not is_object(value):
        raise _wrong(OF_CPP)
    for remote, local in as_object(value).items():
        match local:
            case str() | {"editorPath": str()}:
                yield PathMapping(local if isinstance(local, str) else local["editorPath"], remote)
            case _:
                raise _wrong(OF_CPP)


def _wrong(key: str) -> ArgumentError:
    form = {
        OF_PYTHON: '[{"localRoot": "/here", "remoteRoot": "/app"}]',
        OF_CPP: '{"/app": "/here"}',
    }[key]
    return ArgumentError(f"`{key}` must map one folder to another.", f"Write {form}.")
