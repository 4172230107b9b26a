"""Whole files and folders of tests: which runner takes them, where no test is named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.runners.named_tests import node_id, runners
from dapeer.adapters.runners.runner import FOLDER, holds, recognise
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.system import foreign_files

TOOLS = frozenset({"node_modules", "target", "build", "dist", "venv", "vendor"})
"""Folders whose files nobody has written."""
MOST_FILES = 2_000


def as_tests(definitions: Iterable[Definition], inputs: Json) -> Json:
    """Return the inputs of a launch, changed if their program is a file or folder of tests.

    Then `program` gets `::` at its end, or becomes pytest's argument, and `remark` says so. Anything else comes back as it is. It reads
    files: call it in a thread. `inputs` are the caller's, by name. Their `type` is not looked at: where one is given, this must not be
    called, since the file is a program then.

    Raises:
        ArgumentError: The folder has tests whose runner takes files only, or nothing to run.
    """
    path, name = node_id(str(inputs.get("program") or ""))
    if name or not path:
        return inputs
    if foreign_files.is_folder(path):
        return _folder_as_tests(definitions, Path(path), inputs)
    if not foreign_files.is_file(path):
        return inputs
    title = _runner_of(definitions, Path(path))
    if title is None:
        return inputs
    remark = f"{Path(path).name} ran as a file of tests, by {title}; where `type` is given it counts as a program"
    return {**inputs, "program": f"{path}::", "remark": remark}


def _folder_as_tests(definitions: Iterable[Definition], folder: Path, inputs: Json) -> Json:
    """Return the inputs of a launch of a folder: all of its tests, if a runner takes a file for some.

    A folder that is a program, or has no tests, comes back as it is. `inputs` are the caller's, by name; they must have no `type`, which
    is not looked at. `definitions` are all adapters.

    Raises:
        ArgumentError: The runner takes files only, or the folder is a library without tests.
    """
    known = list(definitions)
    own = _own_files(folder)
    packages = [each for each in known if any(_named(file, each.folders) for file in own)]
    if any(_is_program(each, own) for each in packages):
        return inputs
    files = own if packages else _files_in(folder)
    found = ((_runner_of(known, each), each) for each in files)
    title, file = next(((title, each) for title, each in found if title), ("", folder))
    if not title and packages:
        raise ArgumentError(
            f"`program`: {folder} is a library: it has nothing to run, and no tests.",
            "Give the folder of a program or of tests, or a file.",
        )
    if not title:
        return inputs
    remarked = {**inputs, "remark": f"{folder.resolve().name} ran as a folder of tests, by {title}"}
    if file.suffix == ".py":
        rest = {key: value for key, value in remarked.items() if key != "program"}
        return {**rest, "module": "pytest", "args": [str(folder), *(inputs.get("args") or ())]}
    try:
        taken = recognise(runners(), folder).runner.title == title
    except AdapterUnknown:
        taken = False
    if not taken:
        raise ArgumentError(
            f"`program`: {folder} is a directory, and {title} is given files here.",
            f"Give one of its files: {file}.",
        )
    return {**remarked, "program": f"{folder}::"}


def _is_program(definition: Definition, files: Iterable[Path]) -> bool:
    """Return whether files make their folder a program of an adapter; tests and a library do not.

    `files` are those in the folder.
    """
    kinds = {definition.id, *definition.languages}
    own = [each for each in runners() if each.type in kinds and FOLDER in each.files]
    for file in files:
        if not _named(file, definition.folders):
            continue
        knowing = [each for each in own if each.main or _named(file, each.collects)]
        if not knowing or any(
            not _named(file, each.collects) and holds(file, each.main) for each in knowing
        ):
            return True
    return False


def _named(file: Path, patterns: Iterable[str]) -> bool:
    """Return whether the name of a file fits one of these patterns of `fnmatch`."""
    return any(fnmatch(file.name, pattern) for pattern in patterns)


def _own_files(folder: Path) -> Sequence[Path]:
    """Return the files directly in a folder, sorted."""
    return sorted(filter(foreign_files.is_file, foreign_files.matching(folder, "*")))


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and below, some thousand at most, but not in hidden or tools' folders."""
    seen = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each[0] not in "._" and each not in TOOLS)
        yield from (Path(here, name) for name in sorted(names))
        seen += len(names)
        if seen > MOST_FILES:
            return


def _runner_of(definitions: Iterable[Definition], file: Path) -> str | None:
    """Return the title of the runner that takes a file for tests; None: none does, or it has no tests."""
    python = [each.tests for each in definitions if each.tests is not None]
    able = [each for each in runners() if each.naming.written and _named(file, each.collects)]
    if not able and not any(each.is_named(str(file)) for each in python):
        return None
    text = foreign_files.read_text(file)
    if any(each.none_in(str(file), text) for each in python):
        return "pytest or unittest"
    if not any(each.naming.written.search(text) for each in able if each.naming.written):
        return None
    try:
        return recognise(able, file).runner.title
    except AdapterUnknown:
        return None
