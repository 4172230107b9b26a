"""Tests as programs, in every language: what to launch for a test by its name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dapeer.adapters.definition.definition import own_values
from dapeer.adapters.definition.loading import shipped, user_folder
from dapeer.adapters.definition.placeholders import fill, fill_table
from dapeer.adapters.runners.building import Found, build, look_up, made_from, meant
from dapeer.adapters.runners.recognition import (
    Recognised,
    folder_of,
    located,
    program_of,
    recognise,
)
from dapeer.adapters.runners.runner import Naming, Runner, load_runners
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object, is_array

LISTED = 5
"""Names of tests that are suggested for an unknown one."""


@dataclass(frozen=True, slots=True)
class Named:
    """Tests that a program runs by name, with an error if there are none."""

    file: Path
    name: str
    naming: Naming

    def missing(self, printed: str) -> str | None:
        """Return that there is no such test, if the runner has said so."""
        if not self.name or self.naming.unknown is None or not self.naming.unknown.search(printed):
            return None
        return f"no test of {self.file.name} is called `{self.name}`{_near(self._written(), self.name)}"

    def _written(self) -> list[str]:
        if self.naming.written is None or not self.file.is_file():
            return []
        text = self.file.read_text("utf-8", "replace")
        found = (
            next(filter(None, each.groups()), "") for each in self.naming.written.finditer(text)
        )
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Launch:
    """How tests are launched."""

    type: str
    title: str
    inputs: Json
    config: Json
    exceptions: Mapping[str, str] | None
    functions: Sequence[str]
    named: Named


def runners() -> Sequence[Runner]:
    """Return all runners: dapeer's, and before them the user's."""
    return load_runners(shipped(), user_folder())


def runner_called(name: object) -> Runner | None:
    """Return the runner of this id."""
    return next((runner for runner in runners() if runner.id == name), None)


async def launch_of(inputs: Json) -> Launch | None:
    """Return how to launch a request for tests of a known runner.

    They are named by `program`, a file or a folder and a name in it; or `module` is a runner, whose
    arguments say which tests. Builds them first, where they are compiled.

    Raises:
        AdapterUnknown: No runner is known for the file.
        ArgumentError: The runner is not installed, or there is no test of the name.
        AdapterFailed: They cannot be built.
    """
    program, runner = inputs.get("program"), runner_called(inputs.get("module"))
    if program is not None:
        path, mark, name = str(program).partition("::")
        file = Path(path)
        if not mark or file.suffix == ".py":
            return None
        known = recognise(runners(), file)
        return await _launch(known, file, [part for part in name.split("::") if part], inputs)
    if runner is None:
        return None
    folder = Path(str(inputs["cwd"]))
    return await _launch(located(runner, folder), None, [], inputs)


async def _launch(
    known: Recognised, file: Path | None, parts: Sequence[str], inputs: Json
) -> Launch:
    runner = known.runner
    values = _values(known, file, inputs)
    if parts:
        named = {"name": runner.naming.of(parts), "last": runner.naming.of(parts[-1:])}
        values["only"] = fill(runner.naming.args, {**values, **named})
    values |= await _built(known, file or known.root, parts, values, inputs)
    filled = fill_table(runner.launch, values)
    env = {**_environment(filled.get("env")), **as_object(inputs.get("env"))}
    rest = {key: value for key, value in inputs.items() if key not in {"module", "program", "args"}}
    # A caller's own folder is where paths were looked for; the tests run where their project wants.
    return Launch(
        type=runner.type,
        title="::".join([file.name if file else runner.id, *parts]),
        inputs={"cwd": str(known.root), **rest, **filled, "env": env},
        config=fill_table(runner.config, values),
        exceptions=runner.exceptions,
        functions=runner.functions,
        named=Named(file or known.root, "::".join(parts), runner.naming),
    )


def _values(known: Recognised, file: Path | None, inputs: Json) -> dict[str, object]:
    values: dict[str, object] = {
        "root": str(known.root),
        "sign": str(known.sign),
        "sign_dir": str(folder_of(known.sign)),
        "runner": program_of(known),
        "args": inputs.get("args") or [],
        **own_values(),
    }
    if file is not None:
        values |= {"file": str(file), "file_dir": str(folder_of(file)), "file_stem": file.stem}
        values |= _read(known.runner, file)
    return {name: value for name, value in values.items() if value is not None}


def _read(runner: Runner, file: Path) -> Mapping[str, str]:
    """Return the values of the placeholders that the file of a test has."""
    text = file.read_text("utf-8", "replace") if runner.in_file and file.is_file() else ""
    found = {name: pattern.search(text) for name, pattern in runner.in_file.items() if pattern}
    return {name: match[1] for name, match in found.items() if match}


async def _built(
    known: Recognised,
    file: Path,
    parts: Sequence[str],
    values: Mapping[str, object],
    inputs: Json,
) -> Mapping[str, object]:
    """Build the tests if necessary; return the facts about their program."""
    runner, printed = known.runner, ""
    env = as_object(inputs.get("env"))
    if runner.build is not None:
        printed = await build(runner.build, values, known.root, env)
    if runner.lookup is None:
        return {}
    found = made_from(await look_up(runner.lookup, printed, values, known.root, env), file)
    hits = meant(found, file, parts, runner.naming)
    if len(hits) != 1:
        raise _not_one(hits or found, file, parts, some=bool(hits))
    return {**hits[0].values, "tests": hits[0].tests}


def _not_one(
    found: Sequence[Found], file: Path, parts: Sequence[str], *, some: bool
) -> ArgumentError:
    names = list(dict.fromkeys(test for each in found for test in each.tests))
    name = "::".join(parts)
    if some:
        listed = ", ".join(names[:LISTED])
        return ArgumentError(
            f"`{name}` of {file.name} is in several programs: {listed}.",
            "Name one test in one of them.",
        )
    if not names:
        return ArgumentError(
            f"There are no tests for {file.name}.", "Build them, or name another file."
        )
    return ArgumentError(
        f"No test of {file.name} is called `{name}`{_near(names, name)}.", "Give another name."
    )


def _near(names: Sequence[str], name: str) -> str:
    near = difflib.get_close_matches(name.rpartition("::")[2], names, LISTED, 0.4)
    told = near or names[:LISTED]
    return f"; there is {', '.join(f'`{each}`' for each in told)}" if told else ""


def _environment(value: object) -> dict[str, str]:
    """Return variables as a table; some runners list them as `NAME=value`."""
    if is_array(value):
        pairs = (str(each).partition("=") for each in value)
        return {name: text for name, _, text in pairs}
    return dict(as_object(value))
