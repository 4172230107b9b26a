"""Set and remove one table in the text of a TOML file; its comments and its order stay. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from dapeer.base.json_types import Json
from dapeer.cli.install.json_text import Malformed


def with_table(text: str, key: str, name: str, table: Mapping[str, object]) -> str:
    """Return the text with a table `[key.name]`.

    Raises:
        Malformed: The text is no TOML.
    """
    document, tables = _parsed(text, key)
    if tables.get(name) == table:
        return text
    if key not in document:
        document[key] = tomlkit.table(is_super_table=True)
    cast("dict[str, object]", document[key])[name] = table
    return tomlkit.dumps(document)


def without_table(text: str, key: str, name: str) -> str:
    """Return the text without the table `[key.name]`, nor an empty `[key]` around it.

    Raises:
        Malformed: The text is no TOML.
    """
    document, tables = _parsed(text, key)
    if name not in tables:
        return text
    del cast("dict[str, object]", document[key])[name]
    if len(tables) == 1:
        del document[key]
    return tomlkit.dumps(document)


def table_at(text: str, key: str, name: str) -> object:
    """Return what `[key.name]` holds, or `None`.

    Raises:
        Malformed: The text is no TOML.
    """
    return _parsed(text, key)[1].get(name)


def _parsed(text: str, key: str) -> tuple[tomlkit.TOMLDocument, Json]:
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise Malformed(str(error)) from error
    tables: object = document.unwrap().get(key, {})
    if not isinstance(tables, dict):
        raise Malformed(f"`{key}` is no table")
    return document, cast("Json", tables)
