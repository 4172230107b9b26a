"""Tests as programs, in every language: what to launch for a test by its name."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from dapeer.adapters.definition.definition import Definition, shipped, user_folder
from dapeer.adapters.definition.placeholders import fill, fill_table
from dapeer.adapters.definition.sections import Tests
from dapeer.adapters.definition.table import installation_values
from dapeer.adapters.launch_request import (
    MAX_SUGGESTED_TESTS,
    LaunchRequest,
    NamedTests,
    suggested_tests,
)
from dapeer.adapters.runner import (
    FOLDER,
    BuiltTests,
    RecognisedRunner,
    Runner,
    build,
    folder_of,
    holds,
    load_runners,
    look_up_programs,
    program_of,
    recognise,
    select_tests,
    with_project,
)
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.json_types import Json, as_object, is_array
from dapeer.base.system import foreign_files

# Tests as programs: what to launch for the node id of a Python test.

MOST_PARTS: Final = 12
"""Parts between `::` of which a path may consist."""


def node_id(program: str, *bases: Path) -> tuple[str, str]:
    """Return the file of a test, and its name in the file, which is empty if it is no test.

    `program` is as the caller gave it, such as `FILE::CLASS::TEST`; the name begins with `::`. A file, or a folder
    above it, may have `::` in its name: the longest path that is a file is taken, seen from one of `bases` (none:
    from the current folder). If none is one, the file is what stands before the first `::`. The file is returned as
    it is written in `program`: not joined with its base, and `~` stays.

    >>> node_id("tests/test_cart.py::CartTest::test_total[1-2]")
    ('tests/test_cart.py', '::CartTest::test_total[1-2]')
    >>> node_id("cart.py")
    ('cart.py', '')
    """
    parts = program.split("::", MOST_PARTS)
    paths = ["::".join(parts[:count]) for count in range(len(parts), 1, -1)]
    seen_from = [*map(str, bases), ""][: len(bases) or 1]
    found = (
        path
        for path in paths
        for base in seen_from
        if foreign_files.is_file(os.path.join(base, os.path.expanduser(path)))  # noqa: PTH111, PTH118
    )
    file = next(found, parts[0])
    return file, program[len(file) :]


def with_class(file: str, name: str) -> str:
    """Return a test's name in its file with the class that has it, where only the method was named.

    `file` is the path of a Python file, which is read. `name` is `::METHOD`, perhaps with parameters in brackets,
    which stay; the result is `::CLASS::METHOD` then. The name comes back as it is if it is empty, names a class
    already or a function, if no class has such a method, or if the file cannot be read or parsed.

    Raises:
        ArgumentError: Several classes have such a method.
    """
    method = name.removeprefix("::").partition("[")[0]
    if not method or "::" in method:
        return name
    try:
        tree = ast.parse(foreign_files.read_text(Path(file)))
        found = [*dict.fromkeys(_classes_with(tree, method))]
    # The runner says what is wrong.
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return name
    if not found or "" in found:
        return name
    if len(found) > 1:
        raise ArgumentError(
            f"`program`: several classes of {Path(file).name} have a test `{method}`.",
            "Name one: " + ", ".join(f"{file}::{each}::{method}" for each in found) + ".",
        )
    return f"::{found[0]}{name}"


def _classes_with(tree: ast.Module | ast.ClassDef, method: str, within: str = "") -> Iterator[str]:
    """Yield the name of each class that defines a method; an empty text stands for the module itself.

    The names of nested classes are joined by `::`; `within` is the name of the class that `tree` is, empty for
    a module. Only what stands directly in a module or class counts, not what is inherited or below an `if`. A
    class that defines the method twice comes twice.
    """
    for each in tree.body:
        match each:
            case ast.FunctionDef(name=str(found)) | ast.AsyncFunctionDef(name=str(found)):
                if found == method:
                    yield within
            case ast.ClassDef(name=str(found)):
                yield from _classes_with(each, method, f"{within}::{found}".removeprefix("::"))
            case _:
                pass


def as_program(
    tests: Tests, inputs: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any], str]:
    """Return what to launch for a Python test or test runner: inputs, keys of the adapter's, and a name.

    `inputs` and `config` are the caller's, `tests` is how the adapter's definition runs tests. For tests, `program` is dapeer's launcher,
    which `args` tell what to run, `module` is gone, and keys that the definition gives join those of `config`, which win. Anything else
    is returned unchanged, with an empty name. The file of a test is read for the class of its method.

    Raises:
        ArgumentError: Several classes have the test.
    """
    program, module = inputs.get("program"), inputs.get("module")
    file, test = node_id(str(program)) if program is not None else ("", "")
    if test:
        # With nothing behind the mark it is the whole file.
        node = f"{file}{with_class(file, test)}".removesuffix("::")
        runner, selected, name = "auto", [node], Path(node).name
    elif (how := "program" if module is None else "module") and _runs_tests(tests, inputs, how):
        target = str(inputs[how])
        runner, selected, name = how, [target], Path(target).name
    else:
        return {**inputs}, config, ""
    rest = {key: value for key, value in inputs.items() if key != "module"}
    launcher = fill(tests.launcher, installation_values())
    args = [runner, *selected, *inputs.get("args", ())]
    more = fill_table(tests.arguments, installation_values())
    return {**rest, "program": launcher, "args": args}, {**more, **config}, name


def _runs_tests(tests: Tests, inputs: Mapping[str, Any], how: str) -> bool:
    """Return whether the input `how` (`program` or `module`) is a test runner with its test argument."""
    name, args = Path(str(inputs.get(how) or "")).name, [*inputs.get("args", ())]
    known = [runner.split() for runner in tests.runners]
    return any(name == first and args[: len(rest)] == rest for first, *rest in known)


_BY_LAST = "{} selects by the last part of a name: each test called `{}` ran, in whichever group"
_NONE_WRITTEN = "{} names no test, so all tests of its folder ran"


def runners() -> Sequence[Runner]:
    """Return all runners: the user's, and after them dapeer's own."""
    return load_runners(shipped(), user_folder())


def runner_called(name: object) -> Runner | None:
    """Return the runner of this id; None if there is none."""
    return next((runner for runner in runners() if runner.id == name), None)


async def launch_of(inputs: Json) -> LaunchRequest | None:
    """Return how to launch a request for tests of a known runner; None: the request is not for such tests.

    The tests are named by `program`, a file or a folder with `::` and a name in it, as `FILE::CLASS::TEST`; or
    `module` is the id of a runner, whose arguments say which tests. If both are there, `program` counts. None is
    also returned for a `program` without a name, and for tests in Python (a file `.py`). The runner builds the
    tests first, where they are compiled, and may be asked for their names: that runs commands of the project, and
    waits. `inputs` are the caller's, by name: `program` or `module`, `args`, `cwd`, `env` and others.

    Raises:
        AdapterUnknown: No runner is known for the file.
        ArgumentError: The runner is not installed, or no program or more than one has a test of the name.
        AdapterFailed: The tests cannot be built, or their programs cannot be looked up.
        DefinitionError: A definition file of a runner is wrong.
        KeyError: `module` is the id of a runner, there is no `program`, and `cwd` is missing.
    """
    program, runner = inputs.get("program"), runner_called(inputs.get("module"))
    if program is not None:
        path, name = node_id(str(program))
        file = Path(path)
        if not name or file.suffix == ".py":
            return None
        known = recognise(runners(), file)
        return await _launch(known, file, known.runner.naming.parts(name), inputs)
    if runner is None:
        return None
    folder = Path(str(inputs["cwd"]))
    return await _launch(with_project(runner, folder), None, [], inputs)


async def _launch(
    recognised: RecognisedRunner, file: Path | None, parts: Sequence[str], inputs: Json
) -> LaunchRequest:
    """Build the tests where that is necessary, and return how to launch those that are meant.

    `recognised` is the runner and its project's root. `file` is the file or folder of the tests, None for
    all of the project; `parts` are those of the test's name, from the outermost, empty for all. `inputs`
    are the caller's arguments by name: they are kept, but for `module`, `program` and `args`, and the
    runner's own replace those of the same name (`env` is merged, the caller's wins). If neither has `cwd`,
    the root is used. To build and to look up tests runs commands of the project, and waits for them.
    `remark` of the result's inputs tells if other tests run than were named, or tests that are expected to
    fail.

    Raises:
        ArgumentError: The runner is not installed, or no program or more than one has the test.
        AdapterFailed: The tests cannot be built, or their programs cannot be looked up.
        OSError: A file of the tests cannot be read.
    """
    runner = recognised.runner
    values = _values(recognised, file, inputs)
    if parts:
        named = {"name": runner.naming.name_of(parts), "last": runner.naming.name_of(parts[-1:])}
        values["only"] = fill(runner.naming.args, {**values, **named})
    elif file is not None and (names := runner.naming.written_in(file)):
        values["only"] = fill(runner.naming.whole, {**values, "names": "|".join(names)})
    values |= await _build_program(recognised, file or recognised.root, parts, values, inputs)
    filled = fill_table(runner.launch, values)
    env = {**_environment(filled.get("env")), **as_object(inputs.get("env"))}
    rest = {key: value for key, value in inputs.items() if key not in {"module", "program", "args"}}
    tests = values.get("tests")
    awaited = runner.tests_expected_to_fail(file or recognised.root, tests)
    every = bool(awaited) and awaited == tests
    remarks = [str(inputs.get("remark") or "")]
    if awaited:
        remarks.append(_panic_sentence(awaited, stops=not every))
    if len(parts) > 1 and not any("${name}" in each for each in runner.naming.args or ["${name}"]):
        remarks.append(_BY_LAST.format(runner.title, parts[-1]))
    if (
        not parts
        and runner.naming.whole
        and file
        and foreign_files.is_file(file)
        and "only" not in values
    ):
        remarks.append(_NONE_WRITTEN.format(file.name))
    if any(remarks):
        rest["remark"] = "; ".join(filter(None, remarks))
    # A caller's own folder is where paths were looked for; the tests run where their project wants.
    exceptions: Mapping[str, str] | None = {} if every else runner.exceptions
    return LaunchRequest(
        type=runner.type,
        request="launch",
        name="::".join([file.name if file else runner.id, *parts]),
        inputs={"cwd": str(recognised.root), **rest, **filled, "env": env},
        config=fill_table(runner.config, values),
        filters=None if exceptions is None else tuple(exceptions),
        functions=runner.functions,
        conditions={name: text for name, text in (exceptions or {}).items() if text},
        tests=NamedTests(file or recognised.root, parts, runner.naming),
    )


def _values(recognised: RecognisedRunner, file: Path | None, inputs: Json) -> dict[str, object]:
    """Return the values of the placeholders in a runner's commands by name, without those that have none.

    `file` is the file or folder of the tests, or None for all tests; a file is read if the runner's definition
    looks for values in it. Of `inputs`, the caller's, only `args` is taken. The runner's own program is that of
    `program_of`.

    Raises:
        ArgumentError: The runner is not installed.
        OSError: The file cannot be read.
    """
    values: dict[str, object] = {
        "root": str(recognised.root),
        "sign": str(recognised.marker),
        "sign_dir": str(folder_of(recognised.marker)),
        "runner": program_of(recognised),
        "args": inputs.get("args") or [],
        **installation_values(),
        "word": "${word}",
    }
    if file is not None:
        values |= {"file": str(file), "file_dir": str(folder_of(file)), "file_stem": file.stem}
        values |= _read(recognised.runner, file)
    return {name: value for name, value in values.items() if value is not None}


def _read(runner: Runner, file: Path) -> Mapping[str, str]:
    """Return the values of the placeholders that a runner's definition looks for in the file of a test."""
    text = foreign_files.read_text(file) if runner.in_file and foreign_files.is_file(file) else ""
    found = {name: pattern.search(text) for name, pattern in runner.in_file.items() if pattern}
    return {name: match[1] for name, match in found.items() if match}


async def _build_program(
    recognised: RecognisedRunner,
    file: Path,
    parts: Sequence[str],
    values: Mapping[str, object],
    inputs: Json,
) -> Mapping[str, object]:
    """Build the tests, and return the values of placeholders about their program.

    They are built by the runner's command for that, if it has one. Among the values are the program's `tests`, a list of names; the result
    is empty for a runner that looks up no program. `file` is the file or folder of the tests, `parts` are those of the test's name,
    `values` those of placeholders, `inputs` the caller's.

    Raises:
        ArgumentError: The test is in no program, or in several.
        AdapterFailed: They cannot be built, or their programs cannot be looked up.
    """
    runner, printed = recognised.runner, ""
    env = as_object(inputs.get("env"))
    if runner.build is not None:
        printed = await build(runner.build, values, recognised.root, env)
    if runner.lookup is None:
        return {}
    found = await look_up_programs(runner.lookup, printed, values, recognised.root, env)
    hits = select_tests(found, file, parts, runner.naming)
    if len(hits) != 1:
        raise _ambiguity_error(hits or found, file, parts, some=bool(hits))
    return {**hits[0].values, "tests": hits[0].tests}


def _ambiguity_error(
    found: Sequence[BuiltTests], file: Path, parts: Sequence[str], *, some: bool
) -> ArgumentError:
    """Return the error that a test is in no program, or with `some` in several; the caller raises it.

    `found` are the programs that have the test, or if none has, all with tests, whose names the error then suggests. `parts` are those of
    the test's name; empty: all tests of the file.
    """
    names = list(dict.fromkeys(test for each in found for test in each.tests))
    name = "::".join(parts)
    if some:
        what = f"`{name}` of {file.name} is" if name else f"The tests of {file.name} are"
        sources = sorted({str(each.values.get("source") or "") for each in found})
        if "" in sources:
            return ArgumentError(
                f"{what} in several programs: {', '.join(names[:MAX_SUGGESTED_TESTS])}.",
                "Name one test in one of them.",
            )
        listed = ", ".join([f"{each}::{name}" for each in sources][:MAX_SUGGESTED_TESTS])
        return ArgumentError(
            f"{what} in several programs, and one can be debugged at a time.",
            f"Give one: {listed}.",
        )
    if not names:
        return ArgumentError(
            f"There are no tests for {file.name}.", "Build them, or name another file."
        )
    return ArgumentError(
        f"No test of {file.name} is called `{name}`{suggested_tests(names, name)}.",
        "Give another name.",
    )


def _panic_sentence(awaited: Sequence[str], *, stops: bool) -> str:
    """Return a sentence on which tests pass if they panic, and whether the program `stops` there.

    `awaited` are the names of these tests, at least one; up to `MAX_SUGGESTED_TESTS` are named, by the part
    behind the last `::`, and the others counted. The sentence has no period.
    """
    names = [f"`{each.rpartition('::')[2]}`" for each in awaited]
    listed = ", ".join(names[:MAX_SUGGESTED_TESTS]) + (
        f" and {len(names) - MAX_SUGGESTED_TESTS} more" * (len(names) > MAX_SUGGESTED_TESTS)
    )
    sentence = f"{listed} {'pass' if len(names) > 1 else 'passes'} if {'they panic' if len(names) > 1 else 'it panics'}"
    if stops:
        return f"{sentence}: a stop there is no failure, and dap_continue goes on"
    return f'{sentence}, so a panic does not stop it; exception_filters=["panic"] stops there'


def _environment(value: object) -> dict[str, str]:
    """Return variables as a dict; some runners list them as `NAME=value`."""
    if is_array(value):
        return {name: text for name, _, text in (str(each).partition("=") for each in value)}
    return dict(as_object(value))


# Whole files and folders of tests: which runner takes them, where no test is named.


TOOLS = frozenset({"node_modules", "target", "build", "dist", "venv", "vendor"})
"""Folders whose files nobody has written."""
MOST_FILES = 2_000


def as_tests(definitions: Iterable[Definition], inputs: Json) -> Json:
    """Return the inputs of a launch, changed if their program is a file or folder of tests.

    Then a new object has `remark`, a sentence that says so, and `::` at the end of `program`; for a folder of
    pytest's, `module` and `args` take the place of `program`. Anything else comes back as it is.
    `definitions` are those of all adapters, which say which files are tests; `inputs` are the caller's, by
    name. Inputs with a `type` must not be passed, since their file is a program: the key is not looked at.
    The function reads files: call it in a thread.

    Raises:
        DefinitionError: The definition of a test runner is wrong.
        ArgumentError: The folder has tests whose runner takes files only, or is a library with nothing to run.
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

    Files of the folder are read, which blocks. `definitions` are all adapters. `inputs` are the caller's, by name,
    and are not changed; they must have no `type`, which is not looked at. They come back as they are for a folder
    that is a program, or is no library and has no tests. Else a copy is returned with `remark`, a text on this. If
    the first file of tests is a Python file, `module` (`pytest`) and `args` (the folder before the caller's) take
    the place of `program`; for another runner, `program` becomes `FOLDER::`.

    Raises:
        ArgumentError: The runner takes files only, another runner fits the folder, or the folder is a library
            without tests.
        DefinitionError: A definition of a test runner is wrong.
    """
    known = list(definitions)
    own = _own_files(folder)
    packages = [each for each in known if any(_matches_name(file, each.folders) for file in own)]
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

    `definition` is the adapter's, `files` are those in the folder. A file counts if its name matches a pattern
    of `definition.folders`. The test runners of the adapter's languages that take folders decide on it: the
    folder is a program if none of them takes the file for tests by its name or has a pattern `main`, or if one
    with `main` does not take it by its name and finds that pattern in it. For that the file is read, which
    blocks; a file that cannot be read does not have the pattern.
    """
    kinds = {definition.id, *definition.languages}
    own = [each for each in runners() if each.type in kinds and FOLDER in each.files]
    for file in files:
        if not _matches_name(file, definition.folders):
            continue
        knowing = [each for each in own if each.main or _matches_name(file, each.collects)]
        if not knowing or any(
            not _matches_name(file, each.collects) and holds(file, each.main) for each in knowing
        ):
            return True
    return False


def _matches_name(file: Path, patterns: Iterable[str]) -> bool:
    """Return whether the name of a file fits one of these patterns of `fnmatch`."""
    return any(fnmatch(file.name, pattern) for pattern in patterns)


def _own_files(folder: Path) -> Sequence[Path]:
    """Return the files directly in a folder, sorted."""
    return sorted(filter(foreign_files.is_file, foreign_files.matching(folder, "*")))


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and below, hidden ones included, but not those in certain folders.

    Left out are folders whose names begin with `.` or `_` or are in `TOOLS`, and links to folders. In each folder the files are sorted, and
    its own come before those of its folders. It ends after the folder in which `MOST_FILES` are passed. A folder that cannot be read has
    none; no error is raised.
    """
    seen = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each[0] not in "._" and each not in TOOLS)
        yield from (Path(here, name) for name in sorted(names))
        seen += len(names)
        if seen > MOST_FILES:
            return


def _runner_of(definitions: Iterable[Definition], file: Path) -> str | None:
    """Return the name of what runs a file's tests; None: nothing does, or the file is no file of tests.

    The file is read, and files of its project to recognise the runner; one that cannot be read gives None. A Python file with tests, and without code
    that runs as a program, gives "pytest or unittest"; one that runs as a program, too, gives None. `definitions`
    are all adapters, which only say what tests in Python look like. A test file of another language gives the title
    of its test runner, such as "go test", which is looked for among `runners()`.

    Raises:
        DefinitionError: A definition of a test runner is wrong.
    """
    python = [each.tests for each in definitions if each.tests is not None]
    able = [
        each for each in runners() if each.naming.written and _matches_name(file, each.collects)
    ]
    if not able and not any(each.is_named(str(file)) for each in python):
        return None
    try:
        text = foreign_files.read_text(file)
    except OSError:
        # What starts it as a program says why it cannot be read.
        return None
    if any(each.none_in(str(file), text) for each in python):
        return "pytest or unittest"
    if not any(each.naming.written.search(text) for each in able if each.naming.written):
        return None
    try:
        return recognise(able, file).runner.title
    except AdapterUnknown:
        return None
