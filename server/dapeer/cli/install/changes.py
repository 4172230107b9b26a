"""What `dapeer install` changes: which files, from which text to which."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.system.shipped import shipped_folder
from dapeer.cli.install.clients import NAME, Client, Places, Scope
from dapeer.cli.install.json_text import Malformed, value_at, with_value, without_value
from dapeer.cli.install.toml_text import table_at, with_table, without_table

TOML: Final = ".toml"
EMPTY: Final = ("", "{}")
"""What a file holds that nothing is left of."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file with its text before and after; `None` if there is no file."""

    path: Path
    before: str | None
    after: str | None

    def __bool__(self) -> bool:
        return self.before != self.after

    def shown(self) -> str:
        """Return the change as a unified diff; a whole document of ours by its name and length."""
        if self.path.suffix == ".md" and None in (self.before, self.after):
            lines = len((self.after or self.before or "").splitlines())
            return f"{'removed' if self.after is None else 'new'}: {self.path} ({lines} lines)"
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            "/dev/null" if self.before is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def make(self) -> None:
        """Write the file as a whole, or remove it. Its mode stays; a link stays, and its target changes.

        Raises:
            ArgumentError: The system refuses.
        """
        path = self.path.resolve()
        try:
            if self.after is None:
                path.unlink(missing_ok=True)
                if NAME in path.parent.name:
                    path.parent.rmdir()
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, self.after)
        except OSError as error:
            raise ArgumentError(
                f"{self.path} cannot be written: {error.strerror}.",
                "Look at who owns the file and its folder.",
            ) from error


def adding(client: Client, scope: Scope, places: Places, command: Sequence[str]) -> list[Change]:
    """Return what lets a client start dapeer, with its skill and its agent where it has such things.

    Raises:
        ArgumentError: A file cannot be read.
    """
    path = client.file(scope, places)
    text = _read(path)
    entry = client.described(command)
    return [
        Change(path, text, _edited(path, text or "", client.key, entry)),
        *(
            Change(goal, _read(goal), _read(source))
            for source, goal in _extras(client, scope, places)
        ),
    ]


def removing(client: Client, scope: Scope, places: Places) -> list[Change]:
    """Return what takes dapeer out of a client's files again.

    Raises:
        ArgumentError: A file cannot be read.
    """
    path = client.file(scope, places)
    text = _read(path)
    after = None if text is None else _edited(path, text, client.key, None)
    if after is not None and after != text and after.strip() in EMPTY:
        after = None
    changes = [Change(path, text, after)]
    for source, goal in _extras(client, scope, places):
        there = _read(goal)
        # What a person has changed is theirs.
        changes.append(Change(goal, there, None if there == _read(source) else there))
    return changes


def entry_in(client: Client, scope: Scope, places: Places) -> Json | None:
    """Return the entry for dapeer in a client's file, if it has one.

    Raises:
        ArgumentError: The file cannot be read.
    """
    path = client.file(scope, places)
    text = _read(path)
    if text is None:
        return None
    try:
        is_toml = path.suffix == TOML
        found = table_at(text, client.key, NAME) if is_toml else value_at(text, [client.key, NAME])
    except Malformed as error:
        raise _unreadable(path, str(error)) from error
    return cast("Json", found) if isinstance(found, dict) else None


def link(data: Path, plugin: Path, *, remove: bool) -> str:
    """Put a link to the Neovim plugin where Neovim loads packages from, or remove it; say what was done.

    `data` is Neovim's `stdpath('data')`.

    Raises:
        ArgumentError: Something else is there, or the system refuses.
    """
    path = data / "site" / "pack" / NAME / "start" / NAME
    is_ours = path.is_symlink()
    if path.exists() and not is_ours:
        raise ArgumentError(f"{path} is there already, and no link.", "Move it away first.")
    try:
        if remove:
            path.unlink(missing_ok=True)
            return f"Removed {path}." if is_ours else f"There is no {path}."
        if is_ours and path.resolve() == plugin.resolve():
            return f"{path} leads to {plugin} already."
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(plugin, target_is_directory=True)
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be changed: {error.strerror}.", "Look at who owns the folder."
        ) from error
    return f"{path} leads to {plugin} now; Neovim loads it when it starts next."


def _extras(client: Client, scope: Scope, places: Places) -> Iterator[tuple[Path, Path]]:
    """Yield each further file of ours, and where it goes."""
    root = places.project if scope == "project" else places.home
    for kind, folder in (("skills", client.skills), ("agents", client.agents)):
        if folder is not None:
            ours = shipped_folder("_agent", "packages/agent") / kind
            files = sorted(path for path in ours.rglob("*.md"))
            yield from ((path, root / folder / path.relative_to(ours)) for path in files)


def _edited(path: Path, text: str, key: str, entry: Json | None) -> str:
    """Return the text of a client's file with our entry as given, or without it."""
    try:
        if path.suffix == TOML:
            if entry is None:
                return without_table(text, key, NAME)
            return with_table(text, key, NAME, entry)
        if entry is None:
            return without_value(text, [key, NAME])
        return with_value(text, [key, NAME], entry)
    except Malformed as error:
        raise _unreadable(path, str(error)) from error


def _read(path: Path) -> str | None:
    try:
        # As bytes, so that line ends stay what they are.
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, why: str) -> ArgumentError:
    return ArgumentError(
        f"{path} cannot be read: {why}.", "Mend the file first; nothing was changed."
    )


def _replace(path: Path, text: str) -> None:
    """Write a file beside and move it over: who reads meanwhile sees the whole of one or the other."""
    if not path.exists():
        path.write_bytes(text.encode())
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        os.close(descriptor)
        beside.write_bytes(text.encode())
        shutil.copymode(path, beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
