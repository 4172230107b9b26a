"""Checked reading of one table of a definition file."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from dapeer.base.errors import DefinitionError
from dapeer.base.json_types import is_array, is_object
from dapeer.base.system import folder_names, foreign_files
from dapeer.companions.python.dapeer_debuggee.patching import SETTING

# Keys that earlier versions of dapeer read in definitions, and this one ignores. Pure.

_KEPT_READY = "No adapter is kept ready for the next session."
RETIRED: dict[str, str] = {
    "attach.core.transport.kept_ready": _KEPT_READY,
    "attach.pid.transport.kept_ready": _KEPT_READY,
    "attach.tcp.transport.kept_ready": _KEPT_READY,
    "launch_variant.transport.kept_ready": _KEPT_READY,
    "quirks.answers_ahead": "No adapter answers ahead of questions.",
    "quirks.repl_is_command": "Nothing has read it.",
    "transport.kept_ready": _KEPT_READY,
}
"""A sentence on what became of a key, by its dotted name without the numbers of lists.

`quirks.example` stands for `[quirks] example`.
"""

_NUMBER = re.compile(r"\[\d+\]")


def is_retired(name: str) -> bool:
    """Return whether a dotted name, perhaps with numbers of lists, is of a key that is read no more."""
    return _NUMBER.sub("", name) in RETIRED


def retired_in(values: Mapping[str, object], above: str = "") -> Iterator[str]:
    """Yield the dotted name of each retired key in a definition's values, each time that it is there.

    `above` is the name of the table that the values are in, with a dot at its end.
    """
    for key, value in values.items():
        name = f"{above}{key}"
        if name in RETIRED:
            yield name
        for each in value if is_array(value) else [value]:
            if is_object(each):
                yield from retired_in(each, f"{name}.")


def without_docstrings(source: str) -> str:
    """Return a companion's source with an empty text and as many line breaks in place of each docstring.

    A program that it is sent into needs no docstrings, and they are more than a third of it. Its lines keep their
    numbers, for tracebacks. It must have no strings in three single quotes.
    """

    def empty(found: re.Match[str]) -> str:
        """Return what stands for a comment or string."""
        if found[1] is None or found[2] is None:
            return found[0]
        return found[1] + '""' + "\n" * found[0].count("\n")

    return _COMMENT_OR_STRING.sub(empty, source)


class _Dataclass(Protocol):  # what `dataclasses.fields` accepts
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T")
Word = TypeVar("Word", bound=str)
Record = TypeVar("Record", bound=_Dataclass)

COMPANIONS = Path(__file__).parents[2] / "companions"
"""The folder of dapeer's programs that run elsewhere, by language."""


def installation_values() -> dict[str, object]:
    """Return the placeholders that depend on nothing but this installation, with their values.

    They are the paths `dapeer_python`, `launchers`, `adapters` and `cache`, as texts.
    """
    return {
        "dapeer_python": sys.executable,
        "launchers": str(COMPANIONS),
        "adapters": folder_names.adapters(),
        "cache": folder_names.cache(),
    }


_TEXTS = re.compile(r"\$\{texts:([^{}]+)\}")
_COMMENT_OR_STRING = re.compile(
    r"""#[^\n]*|(^[ ]*)?r?\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3}($)?|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL | re.MULTILINE,
)
"""A string in three double quotes: a docstring if nothing is before it (group 1) and behind it (2)."""

_KINDS: Mapping[Any, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class DefinitionTable:
    """The keys and values of one table, with its file and key for errors.

    Each key that is asked for is a known one; `check_all_read` objects to all others.
    """

    def __init__(self, path: Path, name: str, values: Mapping[str, Any]) -> None:
        """Keep the `values` of the table with this dotted name (empty: the file's top) in the file at `path`."""
        self._path = path
        self._table_name = name
        self._values = values
        self._known_keys: set[str] = set()

    def read(self, kind: type[Record], rest: str = "", **given: Any) -> Record:
        """Return a dataclass: each field that is not `given` is the key of its name, read by its type.

        `kind` is the dataclass, `given` has values of its fields that are used as they are. A missing key has the
        field's default; a sequence or mapping that is missing is empty. The field named by `rest` gets all keys that
        are not read, but for retired ones; without `rest`, such keys are an error.

        Raises:
            DefinitionError: A key is unknown, or missing although its field has no default, or its value is of
                another type; or a key for `rest` has a value without JSON, such as a date.
        """
        for each in fields(kind):
            if each.name not in {*given, rest}:
                given[each.name] = self._read(each.name, _types(kind)[each.name], each.default)
        if rest:
            given[rest] = self.unread_values()
        else:
            self.check_all_read()
        return kind(**given)

    def _read(self, key: str, kind: Any, default: Any) -> Any:
        """Return the value of a key as the type of a field, or `default` where the key is missing.

        The key counts as read. `kind` is the field's type, as annotated: for an `Annotated` one the function that
        it names reads the value, without a default if that is MISSING or None; of a `Literal` the value must be
        one of the words; a `tuple` or `Sequence` is a tuple of texts, for which one text may stand; a `Mapping`
        is a dict, of texts unless its values are of type `Any`. `default` is MISSING where the key must be there;
        a sequence or mapping that is missing is empty whatever `default` is.

        Raises:
            DefinitionError: The key is missing without a default, or its value is of another type or none of the
                words.
        """
        form, inside = typing.get_origin(kind), typing.get_args(kind)
        if form is Annotated:
            read = inside[1]
            return read(self, key) if default in (MISSING, None) else read(self, key, default)
        if form is Literal:
            return self.one_of(key, inside, default)
        if form in (tuple, Sequence):
            return self.texts(key)
        if form is Mapping:
            table = self.table(key)
            return table.unread_values() if inside[1] is Any else table.all_texts()
        return self.text(key) if default is MISSING else self.get(key, kind, default)

    def get(self, key: str, kind: type[T], default: T) -> T:
        """Return the value of a key, or `default` when it is absent.

        Raises:
            DefinitionError: The value is of another type.
        """
        self._known_keys.add(key)
        return self._checked(self._values.get(key, default), kind, key)

    def text(self, key: str) -> str:
        """Return the text at a key that must be there.

        Raises:
            DefinitionError: It is not there, or no text.
        """
        if key not in self._values:
            raise self.wrong(f"key `{self.dotted_name(key)}` is missing")
        return self.get(key, str, "")

    def expression(self, key: str, default: str = "") -> str:
        """Return an expression of the program's language; `default` where the key is absent.

        Each `${texts:PATTERN}` in it is replaced by a JSON object, which has the texts of all companions' files
        that match the glob pattern PATTERN, by their paths in `companions/` and without their docstrings, and the
        environment variable `DAPEER_PATCHES` under that name, empty if it is not set. The key counts as read
        from now on.

        Raises:
            DefinitionError: The value is no text, or no file matches a PATTERN.
        """

        def texts(found: re.Match[str]) -> str:
            """Return the JSON object for a pattern of companions' files."""
            files = sorted(COMPANIONS.glob(found[1]))
            if not files:
                raise self.wrong(f"`{self.dotted_name(key)}`: no companion file matches {found[1]}")
            known = {
                each.relative_to(COMPANIONS).as_posix(): without_docstrings(
                    each.read_text(encoding="utf-8")
                )
                for each in files
            }
            return json.dumps({**known, SETTING: os.environ.get(SETTING, "")})

        return _TEXTS.sub(texts, self.get(key, str, default))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a tuple of strings, empty if the key is absent; a single string counts as a list of it.

        The key counts as read from now on, for `check_all_read` and `unread_values`.

        Raises:
            DefinitionError: It is something else.
        """
        self._known_keys.add(key)
        value: object = self._values.get(key, [])
        if isinstance(value, str):
            return (value,)
        if not is_array(value):
            raise self._not(key, "a list of strings", value)
        return tuple(self._checked(item, str, key) for item in value)

    def is_text(self, key: str) -> bool:
        """Whether the value of a key is a text."""
        return isinstance(self._values.get(key), str)

    def pattern(self, key: str, default: str = "") -> str:
        """Return the text of a regular expression at `key` of the table; `default` where the key is absent.

        Raises:
            DefinitionError: The value is not a text, or the text is not a valid regular expression.
        """
        pattern = self.get(key, str, default)
        try:
            re.compile(pattern)
        except re.error as error:
            raise self.wrong(
                f"key `{self.dotted_name(key)}` is not a valid regular expression: {error}"
            ) from error
        return pattern

    def compiled(self, key: str, flags: int = 0) -> re.Pattern[str] | None:
        """Return a compiled regular expression; None when the key is absent or empty.

        Raises:
            DefinitionError: It is none.
        """
        pattern = self.pattern(key)
        return re.compile(pattern, flags) if pattern else None

    def all_texts(self) -> dict[str, str]:
        """Return all keys with their values, which must be texts.

        Raises:
            DefinitionError: One is not.
        """
        return {key: self.text(key) for key in self}

    def seconds(self, key: str, default: float) -> float:
        """Return a duration in seconds; `default` where the key is absent.

        Raises:
            DefinitionError: It is no number above 0.
        """
        value = self._values.get(key, default)
        self._known_keys.add(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise self._not(key, "a number of seconds above 0", value)
        return float(value)

    def one_of(self, key: str, names: tuple[Word, ...], default: Word | None = None) -> Word:
        """Return the text at a key, or `default` where the key is missing; either must be one of `names`.

        A `default` of None counts as an empty text.

        Raises:
            DefinitionError: The value, or the default where the key is missing, is none of `names`; or the
                value is no text.
        """
        value = self.get(key, str, default or "")
        for name in names:
            if name == value:
                return name
        raise self.wrong(
            f"key `{self.dotted_name(key)}` is {value!r}; it can be {', '.join(names)}"
        )

    def some_of(self, key: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return a list of texts that must all be of `names`; empty where the key is absent.

        A single string counts as a list of one text. The key counts as read from now on.

        Raises:
            DefinitionError: The value is no list of strings, or one of its texts is not of `names`.
        """
        values = self.texts(key)
        for value in values:
            if value not in names:
                raise self.wrong(
                    f"key `{self.dotted_name(key)}` has {value!r}; it can be {', '.join(names)}"
                )
        return values

    def table(self, key: str) -> DefinitionTable:
        """Return the table at a key, empty when it is absent.

        Raises:
            DefinitionError: It is no table.
        """
        return DefinitionTable(
            self._path, self.dotted_name(key), self.get(key, dict, dict[str, Any]())
        )

    def tables(self, key: str) -> list[DefinitionTable]:
        """Return the list of tables at a key, empty when it is absent.

        The key counts as read from now on; the keys of each table must be read by the caller.

        Raises:
            DefinitionError: It is no list of tables.
        """
        tables: list[DefinitionTable] = []
        for index, item in enumerate(self.get(key, list, list[Any]())):
            if not is_object(item):
                raise self._not(key, _KINDS[dict], item)
            tables.append(DefinitionTable(self._path, self.dotted_name(f"{key}[{index}]"), item))
        return tables

    def unread_values(self) -> Mapping[str, Any]:
        """Return keys and values that were not read, and are not retired: they are the adapter's own.

        They do not count as read, so `check_all_read` would raise for them.

        Raises:
            DefinitionError: A value has no JSON: a date.
        """
        values = {key: self._values[key] for key in self._unread()}
        try:
            json.dumps(values)
        except TypeError as error:
            raise self.wrong(f"a value in [{self._table_name}] cannot be sent: {error}") from error
        return values

    def check_all_read(self) -> None:
        """Raise if the table has a key that was not read before; a retired one may stay.

        Raises:
            DefinitionError: There is one; the error lists the keys that were read or asked for.
        """
        unknown = sorted(self._unread())
        if unknown:
            where = f"[{self._table_name}]" if self._table_name else "the file's top"
            raise DefinitionError(
                f"{self._path}: unknown key `{unknown[0]}` in {where}.",
                f"Known keys there: {', '.join(sorted(self._known_keys)) or 'none'}.",
            )

    def dotted_name(self, key: str) -> str:
        """Return the dotted name of a key of this table, as errors name it."""
        return f"{self._table_name}.{key}" if self._table_name else key

    def wrong(self, what: str) -> DefinitionError:
        """Return the error that something is wrong with this table; `what` is a sentence without its period."""
        return DefinitionError(f"{self._path}: {what}.", "Correct the definition file.")

    @property
    def name(self) -> str:
        """The dotted name of this table; empty for the file's top."""
        return self._table_name

    @property
    def known(self) -> frozenset[str]:
        """The keys that were looked for so far, whether they are there or not."""
        return frozenset(self._known_keys)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def _unread(self) -> list[str]:
        """Return the keys that were not read, without retired ones."""
        return [
            key
            for key in self._values
            if key not in self._known_keys and not is_retired(self.dotted_name(key))
        ]

    def _checked(self, value: object, kind: type[T], key: str) -> T:
        """Return the value of a key, which must be of a type.

        Raises:
            DefinitionError: It is of another one; `true` is no integer.
        """
        # To Python `true` is a whole number; to the author of a file it is not.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._not(key, _KINDS[kind], value)
        return value

    def _not(self, key: str, expected: str, value: object) -> DefinitionError:
        return self.wrong(f"key `{self.dotted_name(key)}` must be {expected}, not {value!r}")


@cache
def _types(kind: type[Any]) -> Mapping[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


Regex = Annotated[str, DefinitionTable.pattern]
"""A regular expression; empty: none."""
Compiled = Annotated[re.Pattern[str] | None, DefinitionTable.compiled]
"""The same, ready for use; None: none."""
Evaluated = Annotated[str, DefinitionTable.expression]
"""An expression of the program's language, with `${texts:…}` in it; empty: none."""
Seconds = Annotated[float, DefinitionTable.seconds]


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        DefinitionError: It cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(foreign_files.read_bytes(path).decode())
    except (OSError, ValueError) as error:
        raise DefinitionError(f"{path}: {error}.", "Correct the definition file.") from error
    except RecursionError as error:
        raise DefinitionError(
            f"{path}: a value is nested too deeply.", "Correct the definition file."
        ) from error
