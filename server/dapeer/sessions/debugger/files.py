"""Which files an assistant may read here: the project's, the programs' and their libraries'."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from dapeer.base.secrets.files import SecretFiles
from dapeer.dap.types import Source
from dapeer.mirror.frames import Frames
from dapeer.sessions.core.session import Session
from dapeer.view.stacks import path_of

_OF_THE_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""Schemes of names that are no files."""


class Files:
    """Tells which files may be read unasked: those of the project, and those that sessions have loaded."""

    def __init__(
        self, project: Path, sessions: Mapping[int, Session], known: Iterable[Frames] = ()
    ) -> None:
        """Allow the files of `project`, and of what `sessions` have loaded; `known` tells where libraries are.

        `sessions` is read at each question, and ended ones count as long as they are in it. `known` counts only in `foreign`.
        """
        self._known = tuple(known)
        self.secret = SecretFiles()
        self._sessions = sessions
        self.folders: set[Path] = set()
        """Folders whose files may be read, with links resolved."""
        self.add(project)

    def add(self, folder: Path) -> None:
        """Allow the files below a folder; the root folder and a home are ignored, as they are no projects."""
        real = Path(os.path.realpath(folder))
        if _is_project(real):
            self.folders.add(real)

    def allows(self, path: str) -> bool:
        """Return whether a file may be read without a person's consent; a link counts as its target.

        That is so below the allowed folders, in libraries of the sessions, and for sources and modules that they have reported. Whether
        the file may hold secrets is another question (`shows`).
        """
        real = Path(os.path.realpath(path))
        if any(real.is_relative_to(system) for system in _OF_THE_SYSTEM):
            return False
        return (
            any(real.is_relative_to(folder) for folder in self.folders)
            or any(session.frames.is_librarys(str(real)) for session in self._sessions.values())
            or any(os.path.realpath(known) == str(real) for known in {*self._paths()})
        )

    def foreign(self, filename: str, folder: str) -> str:
        """Return the real path of a file that may be read only with consent; empty: any other, or no file.

        Consent is not needed in the working folder `folder`, the libraries and the allowed folders. Files that may hold secrets give an
        empty text, too, since they are rejected elsewhere. `filename` is a path, relative to `folder`, or a `file:` URI.
        """
        path = os.path.join(folder, os.path.expanduser(path_of(filename)))
        # Files that may hold secrets are rejected anyway.
        if not os.path.isfile(path) or self.secret.hides(path):
            return ""
        real, here = (Path(os.path.realpath(each)) for each in (path, folder))
        inside = _is_project(here) and real.is_relative_to(here)
        known = inside or self.allows(str(real))
        known = known or any(each.is_librarys(str(real)) for each in self._known)
        return "" if known else str(real)

    def shows(self, path: str) -> bool:
        """Return whether a line of a file may be shown without consent: it is allowed, and holds no secrets."""
        return self.allows(path) and not self.secret.hides(path)

    def path_of(self, reference: int) -> str:
        """Return the path that an adapter gives to a source with this `sourceReference`.

        Empty if it gives none.
        """
        found = (each for each in self._sources() if each.get("sourceReference") == reference)
        return next(filter(None, (each.get("path") for each in found)), "")

    def _paths(self) -> Iterator[str]:
        """Yield the paths of all sources and modules that the sessions' mirrors hold, with repetitions."""
        for source in self._sources():
            if path := source.get("path"):
                yield path
        for session in self._sessions.values():
            for module in session.mirror.loaded.modules.values():
                if module.get("path"):
                    yield str(module["path"])

    def _sources(self) -> Iterator[Source]:
        """Yield all sources that the sessions have reported as loaded, or in a frame of a stop."""
        for session in self._sessions.values():
            yield from session.mirror.loaded.sources.values()
            for stop in session.mirror.history:
                for frames in stop.stack.frames.values():
                    yield from (frame.get("source", Source()) for frame in frames)


def _is_project(real: Path) -> bool:
    """Return whether a real path may be a project: it is neither the root folder nor the home."""
    # A home need not be known.
    return str(real) not in ("/", os.path.realpath(os.path.expanduser("~")))
