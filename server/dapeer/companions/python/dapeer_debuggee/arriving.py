"""Patches pydevd in a running program that was attached to, until the debugger disconnects.

The modules arrive as text: the program may run on another machine, or as a user who cannot read dapeer's files.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
import types
from collections.abc import Collection
from typing import Any

PACKAGE = "dapeer_debuggee"
PLACE = "python/"
"""Before a module's path, in the names of the texts."""


class Texts(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the modules of this package from texts: an import finder and loader in one."""

    def __init__(self, texts: dict[str, str], folder: str) -> None:
        self._texts = texts
        self._folder = folder

    def find_spec(self, fullname: str, *_: object) -> Any:
        """Return the import spec of a module of this package, whose loader is this object.

        `fullname` is the module's dotted name. A name without a text of its own is a package if there are texts below it. None: it is
        another package's, or there is no text of it.
        """
        if fullname.partition(".")[0] != PACKAGE:
            return None
        is_package = self._text_name(fullname) not in self._texts
        folder = f"{PLACE}{fullname.replace('.', '/')}/"
        if is_package and not any(each.startswith(folder) for each in self._texts):
            return None
        path = self.get_filename(fullname)
        spec = importlib.util.spec_from_loader(fullname, self, origin=path, is_package=is_package)
        if spec is not None:
            spec.has_location = True
        return spec

    @staticmethod
    def _text_name(fullname: str) -> str:
        """Return the key that the text of the module `fullname` has; a package's `__init__` holds no code."""
        return f"{PLACE}{fullname.replace('.', '/')}.py"

    def get_filename(self, fullname: str) -> str:
        """Return the path at which the file of the module `fullname` would be, in the folder beside pydevd."""
        return os.path.join(self._folder, *fullname.split(".")) + ".py"

    def get_source(self, fullname: str) -> str:
        """Return the source of the module `fullname`; empty for a package."""
        return self._texts.get(self._text_name(fullname), "")

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the compiled source of the module `fullname`."""
        return compile(self.get_source(fullname), self.get_filename(fullname), "exec")


def arrive(texts: dict[str, str]) -> str:
    """Apply all patches of pydevd, which must be imported, in this program; return why that failed.

    The text is empty if nothing failed. `texts` are the modules' sources by `python/PATH`, and the user's setting
    under `DAPEER_PATCHES`. If these patches are there already, or the setting is `off`, nothing is patched, and
    that counts as no failure. If the program has a package of the same name, nothing is changed, and the text says
    so. When the debugger disconnects, all is undone, and the modules are removed; the same is done here after an
    `Exception`, which is not raised: the text has its type and message.
    """
    if f"{PACKAGE}.improving" in sys.modules:
        return ""
    if PACKAGE in sys.modules:
        return f"the program has a package of the name {PACKAGE}"
    pydevd: Any = sys.modules["pydevd"]
    finder: Any = Texts(texts, os.path.dirname(pydevd.__file__))
    sys.meta_path.insert(0, finder)
    try:
        patching: Any = importlib.import_module(f"{PACKAGE}.patching")
        patching.setting[:] = [texts.get(patching.SETTING, "")]
        if patching.is_switched_off(""):
            restore()
            return ""
        importlib.import_module(f"{PACKAGE}.improving").improve(prints=False)
        leaving: Any = importlib.import_module(f"{PACKAGE}.process.leaving")
        leaving.last.extend((restore, leaving.remove_leftovers))
    except Exception as error:  # another Python, another pydevd
        restore()
        return f"{type(error).__name__}: {error}"
    finally:
        sys.meta_path.remove(finder)
    return ""


class CollectingAnswer:
    """A string that is shown without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def collect(
    texts: dict[str, str],
    spec: str,
    variables: dict[str, Any],
    namespace: dict[str, Any],
) -> CollectingAnswer:
    """Collect at the points of a specification from now on, in a program without our patches.

    Return the answer, whose `repr` is JSON: `file` (the path of the rows), `message` (what is not reached) and `points` (each with `id`,
    `bound`, `line` and `message`). `spec` is JSON, with `folder` and `points`, perhaps `chunks` and `seconds`; it replaces all earlier
    points. `texts` are the modules' sources by `python/PATH`, and the user's setting under `DAPEER_PATCHES`; `variables` and `namespace`
    are a frame's local and global names. The modules stay in the program while there are points. What goes wrong otherwise, such as JSON
    that does not parse, is raised.
    """
    finder: Any = Texts(texts, "")
    sys.meta_path.append(finder)
    try:
        patching: Any = importlib.import_module(f"{PACKAGE}.patching")
        patching.setting[:] = [texts.get(patching.SETTING, "")]
        collecting: Any = importlib.import_module(f"{PACKAGE}.collecting.collecting")
        names = types.SimpleNamespace(f_locals=variables, f_globals=namespace)
        answer = collecting.collect(spec, names)
    finally:
        sys.meta_path.remove(finder)
    if not json.loads(spec)["points"]:
        forget_unless_improved()
    return CollectingAnswer(answer)


def look(texts: dict[str, str], question: str) -> CollectingAnswer:
    """Tell who waits for what in this program, or the variables of a frame, without our patches.

    The `repr` of the result is the answer's JSON. `question` is JSON: `{}` asks who waits for what. With `id` of a
    thread or task, `number` of a frame in it (0: the innermost) and its `place` it asks for the frame's variables;
    with `path` as well, for the value of that expression there, which may run code of the program if `runs` is
    true. `texts` are the modules' sources by `python/PATH`: those that are not there yet are imported for this answer,
    and removed, unless pydevd is patched here. An error, such as of JSON that does not parse, is raised.
    """
    finder: Any = Texts(texts, "")
    there = set(sys.modules)
    sys.meta_path.append(finder)
    try:
        return CollectingAnswer(importlib.import_module(f"{PACKAGE}.stacks.waits").look(question))
    finally:
        sys.meta_path.remove(finder)
        forget_unless_improved(there)


def forget_unless_improved(kept: Collection[str] = ()) -> None:
    """Remove our modules from `sys.modules`, but for those in `kept`, unless pydevd is patched here."""
    if f"{PACKAGE}.improving" not in sys.modules:
        forget(kept)


def forget(kept: Collection[str] = ()) -> None:
    """Remove the modules of this package from `sys.modules`, but for those whose names are in `kept`."""
    for name in [each for each in sys.modules if each.partition(".")[0] == PACKAGE]:
        if name not in kept:
            del sys.modules[name]


def restore() -> None:
    """Undo all patches of this process, and remove the modules of this package from `sys.modules`."""
    patching: Any = sys.modules.get(f"{PACKAGE}.patching")
    if patching is not None:
        patching.undo_all()
    forget()
