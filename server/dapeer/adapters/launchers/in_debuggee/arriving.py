"""Patches pydevd in a running program that was attached to, until the debugger disconnects.

The modules arrive as text: the program may run on another machine, or as a user who cannot read dapeer's files.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any

PACKAGE = "in_debuggee"
PATCHED = ("pydevd", "_pydevd", "_pydev", "sys", "threading")
"""Prefixes of the names of modules that are patched."""


class Texts(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the modules of this package from their texts."""

    def __init__(self, texts: dict[str, str], folder: str) -> None:
        self._texts = texts
        self._folder = folder

    def find_spec(self, fullname: str, *_: object) -> Any:
        """Return how a module of the package is imported."""
        package, _dot, name = fullname.partition(".")
        if package != PACKAGE or f"{name or '__init__'}.py" not in self._texts:
            return None
        path = self.get_filename(fullname)
        spec = importlib.util.spec_from_loader(fullname, self, origin=path, is_package=not name)
        if spec is not None:
            spec.has_location = True
        return spec

    def get_filename(self, fullname: str) -> str:
        """Return where the module's file would be."""
        return os.path.join(self._folder, *fullname.split(".")) + ".py"

    def get_source(self, fullname: str) -> str:
        """Return the module's text."""
        return self._texts[f"{fullname.partition('.')[2] or '__init__'}.py"]

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the module, compiled."""
        return compile(self.get_source(fullname), self.get_filename(fullname), "exec")


def arrive(texts: dict[str, str]) -> str:
    """Patch pydevd, unless it is patched already; return why that failed, empty if it did not."""
    if f"{PACKAGE}.improving" in sys.modules:
        return ""
    if PACKAGE in sys.modules:
        return f"the program has a package of the name {PACKAGE}"
    pydevd: Any = sys.modules["pydevd"]
    finder: Any = Texts(texts, os.path.dirname(pydevd.__file__))
    before = held_names()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module(f"{PACKAGE}.improving").improve(prints=False)
        leave_with(restoring(before))
    except Exception as error:  # another Python, another pydevd
        restoring(before)()
        return f"{type(error).__name__}: {error}"
    finally:
        sys.meta_path.remove(finder)
    return ""


class Told:
    """A string that is shown without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def tell(texts: dict[str, str], names: list[str], variables: dict[str, Any]) -> Told:
    """Return, as JSON, how dapeer shows variables of a frame. It runs no code of the program and leaves no module."""
    finder: Any = Texts(texts, "")
    there = PACKAGE in sys.modules
    sys.meta_path.insert(0, finder)
    try:
        values: Any = importlib.import_module(f"{PACKAGE}.dapeer_values")
    finally:
        sys.meta_path.remove(finder)
        if not there:
            forget()
    told = {each: values.shown(variables[each]) for each in names if each in variables}
    return Told(json.dumps(told))


def collect(
    texts: dict[str, str],
    spec: str,
    variables: dict[str, Any],
    namespace: dict[str, Any],
) -> Told:
    """Do as `dapeer_collecting` does, with a frame's local and global names; its modules stay while something is collected."""
    finder: Any = Texts(texts, "")
    sys.meta_path.append(finder)
    try:
        collecting: Any = importlib.import_module(f"{PACKAGE}.dapeer_collecting")
        names = types.SimpleNamespace(f_locals=variables, f_globals=namespace)
        told = collecting.collect(spec, names)
    finally:
        sys.meta_path.remove(finder)
    if not json.loads(spec)["points"]:
        forget_unless_improved()
    return Told(told)


def forget_unless_improved() -> None:
    """Leave none of our modules, unless they do more here than to collect."""
    if f"{PACKAGE}.improving" not in sys.modules:
        forget()


def forget() -> None:
    """Remove the modules of this package from `sys.modules`."""
    for name in [each for each in sys.modules if each.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def held_names() -> dict[Any, dict[str, Any]]:
    """Return the contents of all modules and classes that may be patched."""
    held: dict[Any, dict[str, Any]] = {}
    modules: Any = sys.modules
    for name, module in list(modules.items()):
        if name.startswith(PATCHED) and isinstance(module, types.ModuleType):
            held[module] = dict(vars(module))
            classes = [each for each in held[module].values() if isinstance(each, type)]
            held.update((each, dict(vars(each))) for each in classes if each.__module__ == name)
    return held


def is_ours(value: Any) -> bool:
    """Whether a value is a function or property of this package."""
    value = value.fget if isinstance(value, property) else value
    return str(getattr(value, "__module__", "")).partition(".")[0] == PACKAGE


def restoring(before: dict[Any, dict[str, Any]]) -> Callable[[], None]:
    """Return a function that undoes all patches and removes the modules of this package."""

    def restore() -> None:
        for owner, held in before.items():
            now: dict[str, Any] = {**owner.__dict__}
            for name, value in now.items():
                if is_ours(value) and name in held:
                    setattr(owner, name, held[name])
                elif is_ours(value):
                    delattr(owner, name)
        sys.meta_path[:] = [each for each in sys.meta_path if not is_ours(type(each))]
        forget()

    return restore


def leave_with(restore: Callable[[], None]) -> None:
    """Undo all patches when the debugger disconnects, by a request or by the end of its connection.

    Raises:
        AttributeError: pydevd has another structure.
    """
    requests: Any = importlib.import_module("_pydevd_bundle.pydevd_process_net_command_json")
    answers: Any = requests.PyDevJsonCommandProcessor
    stock = answers.on_disconnect_request

    def on_disconnect_request(*arguments: Any) -> Any:
        answers.on_disconnect_request = stock
        try:
            return stock(*arguments)
        finally:
            with contextlib.suppress(Exception):
                restore()

    answers.on_disconnect_request = on_disconnect_request
