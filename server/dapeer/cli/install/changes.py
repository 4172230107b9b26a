"""What `dapeer install` changes: which files, from which text to which."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from errno import EACCES
from pathlib import Path
from typing import Final

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, is_object
from dapeer.base.system import foreign_files
from dapeer.base.system.folder_names import shipped_folder
from dapeer.cli.install import json_text, toml_text
from dapeer.cli.install.clients import LAST, NAME, Client, ClientFolders, ConfigScope, ForeignEntry
from dapeer.cli.install.edits import (
    BOM,
    MalformedText,
    TextEditor,
    UnsafeEdit,
    with_entry,
    without_entry,
)

TOML: Final = ".toml"
SKILLS: Final = "skills"
WITH_COMMANDS: Final = "command-line"
"""Where our skill is in the form that names commands instead of tools."""
OF_SEVERAL_AGENTS: Final = ".agents"
"""The folder, in a home or a project, that several agents read skills from."""
OWNER_WRITES: Final = 0o200


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file with its text before and after; `None` if there is no file."""

    path: Path
    old_text: str | None
    new_text: str | None
    root: Path
    """The folder that stays, whatever is removed in it."""

    def __bool__(self) -> bool:
        return self.old_text != self.new_text

    def shown(self) -> str:
        """Return the change as a unified diff, as text; empty if nothing changes.

        A Markdown file that is added or removed as a whole is shown only by its path and number of lines.
        """
        if self.path.suffix == ".md" and None in (self.old_text, self.new_text):
            lines = len((self.new_text or self.old_text or "").splitlines())
            return f"{'removed' if self.new_text is None else 'new'}: {self.path} ({lines} lines)"
        lines = difflib.unified_diff(
            (self.old_text or "").splitlines(keepends=True),
            (self.new_text or "").splitlines(keepends=True),
            "/dev/null" if self.old_text is None else str(self.path),
            "/dev/null" if self.new_text is None else str(self.path),
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def make(self) -> None:
        """Write the file as a whole, or, if `new_text` is None, remove it with folders that are empty then.

        Missing folders around a new file are made; `root` and the folders around it are never removed. The
        file's mode stays. If the path is a link, its target is written and the link
        stays; to remove the file, both are removed.

        Raises:
            ArgumentError: The system refuses, the file cannot be read, or it has other text than `old_text`.
        """
        path = self.path.resolve()
        if _read(self.path) != self.old_text:
            raise ArgumentError(
                f"{self.path} has changed meanwhile, so it was left alone.", "Do the same again."
            )
        try:
            if self.new_text is None:
                path.unlink(missing_ok=True)
                self.path.unlink(missing_ok=True)
                _remove_empty(self.path.parent, self.root)
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, self.new_text)
        except OSError as error:
            raise ArgumentError(
                f"{self.path} cannot be written: {error.strerror}.",
                "Look at who owns the file and its folder.",
            ) from error


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link, and where it leads afterwards; `None` if it goes."""

    path: Path
    target: Path | None

    def __bool__(self) -> bool:
        if self.target is None:
            return self.path.is_symlink()
        return not self.path.is_symlink() or self.path.resolve() != self.target.resolve()

    def shown(self) -> str:
        """Return the change as one line."""
        return f"new: {self.path} → {self.target}" if self.target else f"removed: {self.path}"

    def make(self) -> None:
        """Make the link to `target` in place of an older one; if `target` is None, remove it only.

        In both cases missing folders around the link are made, and a link or file at its path is removed first, if
        there is one; a folder there is an error. Whether `target` exists is not checked.

        Raises:
            ArgumentError: The system refuses, or a folder is at the path; an older link may be gone by then.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.unlink(missing_ok=True)
            if self.target is not None:
                self.path.symlink_to(self.target, target_is_directory=True)
        except OSError as error:
            raise ArgumentError(
                f"{self.path} cannot be changed: {error.strerror}.",
                "Look at who owns the folder.",
            ) from error


def changes_to_add(
    client: Client, scope: ConfigScope, places: ClientFolders, command: Sequence[str]
) -> list[FileChange]:
    """Return the changes that let a client start dapeer; nothing is written yet.

    These are its entry in the client's configuration, and files of skills and agents where the client has such things.
    `scope` says whether the configuration of the project or of the user is meant, `places` where both are. `command` is
    the one that the entry starts; what a person has added to an entry stays. A file that is right already has a
    `FileChange` that is false in a condition; `FileChange.make` writes a change.

    Raises:
        ArgumentError: A file cannot be read, or not be changed without harm, or the entry is for something else.
    """
    path, root = client.file(scope, places), client.root(scope, places)
    text, where = _read(path), (client.key, NAME)
    editor, fresh = _editor(path), client.entry_for(command)
    try:
        old = _entry(path, client)
        after = _with_entry(
            editor, text, where, old, fresh if old is None else client.update_entry(old, command)
        )
    except MalformedText as error:
        raise _unreadable(path, str(error)) from error
    except (UnsafeEdit, ForeignEntry) as error:
        raise ArgumentError(
            f"{path} has an entry `{NAME}` for something else, or with a command of a person's own."
            if isinstance(error, ForeignEntry)
            else f"dapeer cannot be added to {path} without a change to something else in it.",
            f"Nothing was changed. Write this into it yourself:\n{editor.by_hand(where, fresh)}",
        ) from error
    return [
        FileChange(path, text, after, root),
        *(
            FileChange(goal, _read(goal), _read(source), root)
            for source, goal in _skill_files(client, scope, places)
        ),
    ]


def _with_entry(
    editor: TextEditor,
    text: str | None,
    where: tuple[str, str],
    old: Json | None,
    entry: Mapping[str, object],
) -> str:
    """Return the text of a file with an entry at the path `where`.

    If the entry `old` had arguments in a list of their own, and the new one has none there, that list is taken out.

    Raises:
        MalformedText: The text cannot be read.
        UnsafeEdit: Something else would change.
    """
    after = with_entry(editor, text, where, entry)
    if old is not None and "args" in old and "args" not in entry:
        after = without_entry(editor, after, (*where, "args")) or after
    return after


def changes_to_remove(
    client: Client, scope: ConfigScope, places: ClientFolders
) -> list[FileChange]:
    """Return the changes that take dapeer out of a client's files; nothing is written yet.

    Files of skills and agents that a person has changed stay. A file that stays, or is not there, has a change that is false.

    Raises:
        ArgumentError: A file cannot be read, or not be changed without harm, or the entry is for something else.
    """
    path, root = client.file(scope, places), client.root(scope, places)
    text = _read(path)
    try:
        if (entry := _entry(path, client)) is not None:
            client.update_entry(entry, (NAME, LAST))
        after = None if text is None else without_entry(_editor(path), text, (client.key, NAME))
    except MalformedText as error:
        raise _unreadable(path, str(error)) from error
    except ForeignEntry as error:
        raise ArgumentError(
            f"{path} has an entry `{NAME}` for something else, or with a command of a person's own.",
            f"Nothing was changed. Take `{NAME}` out of `{client.key}` yourself, if you want that.",
        ) from error
    except UnsafeEdit as error:
        raise ArgumentError(
            f"dapeer cannot be taken out of {path} without a change to something else in it.",
            f"Nothing was changed. Take `{NAME}` out of `{client.key}` yourself.",
        ) from error
    changes = [FileChange(path, text, after, root)]
    for source, goal in _skill_files(client, scope, places):
        there = _read(goal)
        ours = {_read(source), _read(_shipped(WITH_COMMANDS) / Path(*source.parts[-2:]))}
        # What a person has changed is theirs.
        changes.append(FileChange(goal, there, None if there in ours else there, root))
    return changes


def changes_of_skill(
    client: Client, scope: ConfigScope, places: ClientFolders, *, remove: bool
) -> list[FileChange]:
    """Return the changes that give an agent the skill that names commands, or with `remove` take it away.

    It only reads files: nothing is written, and the configuration of MCP servers is not touched. Each file of the skill has a change in
    the client's own folder, if it has one, and in the folder that several agents read, both of the project or the home (`scope`). With
    `remove`, a file that a person has changed stays; without, it is replaced. A `FileChange` is false if its file stays as it is.

    Raises:
        ArgumentError: A file cannot be read.
    """
    folders = [(client.folder(scope, places), client.root(scope, places))] * bool(client.own_folder)
    base = places.project if scope == "project" else places.home
    folders.append((base / OF_SEVERAL_AGENTS, base))
    changes: list[FileChange] = []
    for source in sorted(_shipped(WITH_COMMANDS).rglob("*.md")):
        for folder, root in folders:
            goal = folder / SKILLS / source.relative_to(_shipped(WITH_COMMANDS))
            there, ours = _read(goal), _read(source)
            # What a person has changed is theirs.
            after = (None if there == ours else there) if remove else ours
            changes.append(FileChange(goal, there, after, root))
    return changes


def entry_in(client: Client, scope: ConfigScope, places: ClientFolders) -> Json | None:
    """Return the entry for dapeer in a client's configuration file.

    None: it has none, or there is no file.

    Raises:
        ArgumentError: The file cannot be read.
    """
    path = client.file(scope, places)
    try:
        return _entry(path, client)
    except MalformedText as error:
        raise _unreadable(path, str(error)) from error


def value_for_project(client: Client, places: ClientFolders, table: str, *keys: str) -> object:
    """Return what a client's file of the person has for this project, below the key `table`.

    Projects are named there by their folder: that of the git repository around, or else the project's. `keys` lead to the value in the
    project's part. None: there is nothing, or the file is unreadable, or `table` is empty.
    """
    folders = (places.project, *places.project.parents)
    root = next((each for each in folders if (each / ".git").exists()), places.project)
    path = client.file("user", places)
    try:
        text = (_read(path) or "").removeprefix(BOM)
        return _editor(path).value_at(text, (table, str(root), *keys)) if table else None
    except (ArgumentError, MalformedText):
        return None


def link_change(data: Path, plugin: Path, *, remove: bool) -> LinkChange:
    """Return the link by which Neovim loads the plugin as a change, or its removal.

    Nothing is written yet. `data` is Neovim's `stdpath('data')`, `plugin` the folder of the plugin.

    Raises:
        ArgumentError: Something that is no link is at its place.
    """
    path = data / "site" / "pack" / NAME / "start" / NAME
    if path.exists() and not path.is_symlink():
        raise ArgumentError(f"{path} is there already, and no link.", "Move it away first.")
    return LinkChange(path, None if remove else plugin)


def _skill_files(
    client: Client, scope: ConfigScope, places: ClientFolders
) -> Iterator[tuple[Path, Path]]:
    """Yield (file of ours, where it goes) for each skill and agent that the client takes."""
    for kind in client.extras:
        ours = _shipped(kind)
        for path in sorted(ours.rglob("*.md")):
            yield path, client.folder(scope, places) / kind / path.relative_to(ours)


def _shipped(kind: str) -> Path:
    return shipped_folder("_agent", "packages/agent") / kind


def _editor(path: Path) -> TextEditor:
    return toml_text if path.suffix == TOML else json_text


def _entry(path: Path, client: Client) -> Json | None:
    """Return the entry for dapeer in a file; None: it has none, or there is no file.

    Raises:
        MalformedText: The file's text cannot be read.
    """
    text = (_read(path) or "").removeprefix(BOM)
    found = _editor(path).value_at(text, (client.key, NAME))
    return found if is_object(found) else None


def _read(path: Path) -> str | None:
    """Return the text of a file as it is, line ends included; None: there is no file.

    Raises:
        ArgumentError: It cannot be read, is no regular file, has `MAX_READ_BYTES` or more, or is not in UTF-8.
    """
    try:
        # As bytes, so that line ends stay what they are.
        content = foreign_files.read_bytes(path)
        if len(content) == foreign_files.MAX_READ_BYTES:
            raise _unreadable(path, "it is too large")
        return content.decode()
    except FileNotFoundError:
        return None
    except foreign_files.NotRegularFile as error:
        raise _unreadable(path, f"it {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not in UTF-8") from error
    except OSError as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, why: str) -> ArgumentError:
    return ArgumentError(
        f"{path} cannot be read: {why}.", "Mend the file first; nothing was changed."
    )


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder below `root` if nothing is in it, and the folders around it that are empty then.

    `root` itself stays. It ends silently at the first folder that cannot be removed.
    """
    while folder != root and root in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _replace(path: Path, text: str) -> None:
    """Write the text of a file by way of a new file beside it, so that nobody reads half of it.

    The text is written as UTF-8, and the file's mode stays. A file that is not there yet is written directly, into
    a folder that exists. `path` is the file's, with links resolved by the caller: a link would be replaced by a
    file.

    Raises:
        OSError: The file is read-only, or cannot be written; an existing file has its old text then.
    """
    if not path.exists():
        path.write_bytes(text.encode())
        return
    if not path.stat().st_mode & OWNER_WRITES:
        raise PermissionError(EACCES, "it is read-only")
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
