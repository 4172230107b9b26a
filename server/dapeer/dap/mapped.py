"""Translates paths for a debuggee in a container or on another machine.

Above it every file has the name that it has here; the adapter only ever hears of the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from dapeer.base.json_types import Value, is_array, is_object
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.transport import MessageFilter


@dataclass(frozen=True, slots=True)
class PathMapping:
    """A folder here, and its path where the program runs."""

    local: str
    remote: str

    def to_remote(self, path: str) -> str | None:
        r"""Return the path where the program runs of a file of this machine; None if it is not below `local`.

        >>> PathMapping("/home/me/shop", "/app").to_remote("/home/me/shop/cart/a.py")
        '/app/cart/a.py'
        >>> PathMapping("/home/me/shop", "C:\\app").to_remote("/home/me/shop/cart/a.py")
        'C:\\app\\cart\\a.py'
        """
        return _replace_folder(path, self.local, self.remote)

    def to_local(self, path: str) -> str | None:
        """Return the path on this machine of a file where the program runs; None if it is not below `remote`.

        >>> PathMapping("/home/me/shop", "/app").to_local("/app/cart/a.py")
        '/home/me/shop/cart/a.py'
        >>> PathMapping("/home/me/shop", "/app").to_local("/application/a.py")
        """
        return _replace_folder(path, self.remote, self.local)


@dataclass(frozen=True, slots=True)
class RenamedFile:
    """A file here, and the name that the program has of it; other files may have moved with it."""

    local: str
    remote: str

    def guess_local_path(self, remote: str) -> str | None:
        """Guess the local path of another file of the program, from how this file's folder was moved.

        `remote` is the program's path of that other file. The guess replaces the part of the path that differs between this file's
        two names. None means that `remote` is outside of that folder, or is absolute where this file's is relative, or the
        reverse, or that this file's two names have no last part in common.
        Whether the local file exists is not checked.

        >>> RenamedFile("/home/me/shop/src/a.c", "/build/src/a.c").guess_local_path("/build/lib/b.c")
        '/home/me/shop/lib/b.c'
        >>> RenamedFile("/home/me/shop/src/a.c", "/build/src/a.c").guess_local_path("/usr/include/b.h")
        >>> RenamedFile("/home/me/shop/src/a.c", "src/a.c").guess_local_path("/usr/include/b.h")
        >>> RenamedFile("/home/me/a.c", "/build/b.c").guess_local_path("/build/c.c")
        """
        parts = common_suffix(self.local, self.remote)
        if not parts:
            return None
        here, there = (each.split("/")[:-parts] for each in (self.local, self.remote))
        names = remote.split("/")
        is_alike = remote.startswith("/") == self.remote.startswith("/")
        return (
            "/".join(here + names[len(there) :])
            if is_alike and names[: len(there)] == there
            else None
        )


def common_suffix(one: str, other: str) -> int:
    """Return how many names at the end of two paths, which are separated by `/`, are equal.

    >>> common_suffix("/home/me/shop/src/a.c", "/build/src/a.c")
    2
    """
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next(
        (count for count, (a, b) in enumerate(pairs) if a != b),
        min(len(one.split("/")), len(other.split("/"))),
    )


class PathNames:
    """What a program calls the files of this machine: by a configuration, and as was found out since."""

    def __init__(self, mappings: Sequence[PathMapping], exists: Callable[[str], bool]) -> None:
        """Start with a configuration's path mappings; `exists` says whether a path is a file on this machine."""
        self._mappings = mappings
        self._exists = exists
        self._renamed_files: list[RenamedFile] = []

    def learn(self, local: str, remote: str) -> None:
        """Record that the program calls the local file `local` by the path `remote`."""
        self._renamed_files.append(RenamedFile(local, remote))

    def remote(self, path: str) -> str:
        """Return the program's path of a file of this machine.

        A pair that was learned decides first, then the first mapping that has the file; `path` itself is returned if there is neither.
        """
        known = (each.remote for each in self._renamed_files if each.local == path)
        return next(known, "") or next(
            filter(None, (each.to_remote(path) for each in self._mappings)), path
        )

    def local(self, path: str) -> str:
        """Return the path on this machine of a file that the program names `path`.

        A pair that was learned for `path` decides first. If no pair was ever learned, the first mapping whose remote
        folder holds `path` decides, whether the file exists or not. Otherwise the path is guessed from the learned
        pairs, if `path` does not exist here and the guess does. In all other cases `path` itself is returned.
        """
        known = next((each.local for each in self._renamed_files if each.remote == path), "")
        if known or not self._renamed_files:
            return known or next(
                filter(None, (each.to_local(path) for each in self._mappings)), path
            )
        beside = (each.guess_local_path(path) for each in self._renamed_files)
        moved = next((each for each in beside if each and self._exists(each)), "")
        return path if not moved or self._exists(path) else moved

    def __bool__(self) -> bool:
        """Return whether any file has another name where the program runs."""
        return bool(self._mappings or self._renamed_files)


class PathFilter(MessageFilter):
    """Translates the paths of sources in all messages."""

    def __init__(self, names: PathNames) -> None:
        self._names = names

    def adapt(self, message: Message) -> Message:
        """Return a message with the paths of its sources translated to the program's."""
        return _translate_paths(message, self._names.remote) if self._names else message

    def normalize(self, message: Message) -> Iterable[Message]:
        """Return the adapter's message with the paths of its sources translated to this machine's."""
        return (_translate_paths(message, self._names.local) if self._names else message,)


def _replace_folder(path: str, old: str, new: str) -> str | None:
    """Return `path` with its folder `old` replaced by the folder `new`; None if it is not below `old`.

    The name of `old` without a separator at its end is not below `old`; with one it is. A folder's separator is a
    backslash if its name has only those, else `/`; in the rest of the path the separator of `old` is replaced by
    that of `new`. Separators at the ends of `old` and `new` do not count. Names are compared as they are, so upper
    and lower case differ.
    """
    before, after = _separator(old), _separator(new)
    folder = old.rstrip(before)
    rest = path.removeprefix(folder)
    if (path == rest and folder) or not rest.startswith((before, "/")):
        return None
    return new.rstrip(after) + rest.replace(before, after)


def _separator(folder: str) -> str:
    """Return the path separator that a folder's name uses: a backslash if it has only those, else `/`."""
    return "\\" if "\\" in folder and "/" not in folder else "/"


# Where the protocol has a `Source`.
_SOURCES = frozenset({"source", "sources", "location"})


def _translate_paths(message: Message, rename: Callable[[str], str]) -> Message:
    """Return the message with the path of each DAP `Source` in it translated by `rename`.

    Responses to `variables` are returned as they are: they are long and contain no source.
    """
    match message:
        case Request():
            return replace(message, arguments=_body(message.arguments, rename))
        case Response(command="variables"):
            return message  # long, and there is no source in it
        case Response() | Event():
            return replace(message, body=_body(message.body, rename))


def _body(body: Body, rename: Callable[[str], str]) -> Body:
    """Return a copy of a message's body in which `rename` has translated the paths of all sources."""
    return {key: _renamed(key, value, rename) for key, value in body.items()}


def _renamed(key: str, value: Value, rename: Callable[[str], str]) -> Value:
    """Return the value of a body's field, with the paths of all DAP sources in it translated by `rename`.

    `key` is the field's name; only an object below `source`, `sources` or `location` counts as a source.
    """
    if is_array(value):
        return [_renamed(key, each, rename) for each in value]
    if not is_object(value):
        return value
    inner = _body(value, rename)
    path = inner.get("path")
    if key not in _SOURCES or not isinstance(path, str):
        return inner
    return {**inner, "path": rename(path)}
