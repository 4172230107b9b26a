"""Programs with tests that are made first, and then asked for the tests in them."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from dapeer.adapters.definition.placeholders import fill_texts
from dapeer.adapters.runners.runner import Build, Lookup, Naming
from dapeer.base.errors import AdapterFailed
from dapeer.base.json_types import as_array, is_array, is_object
from dapeer.base.system.environment import of_starter

MAX_QUOTED_CHARS = 1500
"""Characters of a failed command's output in an error."""
SECONDS_TO_LIST = 60

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BuiltTests:
    """A program with tests: values of placeholders, and the names of its tests."""

    values: Values
    tests: Sequence[str]


async def build(build: Build, values: Values, cwd: Path, env: Mapping[str, str]) -> str:
    """Run the command that builds the program with the tests, and return its output.

    `values` are those of placeholders in the command, `env` is added to the environment.

    Raises:
        AdapterFailed: The build failed, or took too long; the message has the end of its output.
    """
    return await _output(_filled(build.command, values), cwd, env, build.seconds)


async def look_up(
    lookup: Lookup, built: str, values: Values, cwd: Path, env: Mapping[str, str]
) -> list[BuiltTests]:
    """Return the programs with tests that there are, each with the names of its tests.

    `built` is the output of the build, which is read where the lookup has no command; commands are run in `cwd`, with
    `values` for placeholders.

    Raises:
        AdapterFailed: A command failed, or took too long.
    """
    output = built
    if lookup.command:
        output = await _output(_filled(lookup.command, values), cwd, env, SECONDS_TO_LIST)
    taken = [
        {name: at(each, key) for name, key in lookup.take.items()}
        for each in _objects(output, lookup.at)
        if all(_stands(at(each, key), value) for key, value in lookup.where.items())
    ]
    return [BuiltTests(each, await _tests(lookup, {**values, **each}, cwd, env)) for each in taken]


async def _tests(
    lookup: Lookup, values: Values, cwd: Path, env: Mapping[str, str]
) -> Sequence[str]:
    """Return the names of the tests of one program, as its command lists them, or its only one, `${test}`.

    Raises:
        AdapterFailed: The command failed, or took too long.
    """
    if not lookup.tests or lookup.listed is None:
        return [str(values["test"])]
    text = await _output(_filled(lookup.tests, values), cwd, env, SECONDS_TO_LIST)
    return [found[1] for found in lookup.listed.finditer(text)]


def select_tests(
    found: Sequence[BuiltTests], file: Path, parts: Sequence[str], naming: Naming
) -> list[BuiltTests]:
    """Return the programs with the tests that a name means, each with only these tests; empty: none.

    Those are looked at that are made from the file, or from one in the folder; all, where none is known to be. A test
    is meant whose name has the parts in it, one after the other; without parts, every test is. Of several those are taken
    that are in what is called like the file.
    """
    names = naming.of(parts).split(naming.join) if parts else []
    made = [each for each in found if file in _sources(each)]
    hits = _kept(made or found, naming.join, names)
    return hits if made else _kept(hits, naming.join, [file.stem]) or hits


def _sources(found: BuiltTests) -> Sequence[Path]:
    """Return the source that a program is made from, and its folders; empty where it is not known."""
    source = found.values.get("source")
    return [Path(str(source)), *Path(str(source)).parents] if source else ()


def _kept(found: Sequence[BuiltTests], join: str, names: Sequence[str]) -> list[BuiltTests]:
    """Return the programs with those of their tests that have `names` in their name, one after the other.

    `join` separates the parts of a test's name. Programs without such a test are left out.
    """

    def has(test: str) -> bool:
        """Return whether the parts of a test's name contain `names`."""
        parts, length = test.split(join), len(names)
        starts = range(len(parts) - length + 1)
        return any(parts[start : start + length] == [*names] for start in starts)

    kept = [BuiltTests(each.values, [test for test in each.tests if has(test)]) for each in found]
    return [each for each in kept if each.tests]


def at(value: object, key: str) -> object:
    """Return the value at a dotted key; None if there is none.

    In a list a step is a number, `1:` for what begins there, or `name=x` for the first object with
    that.

    >>> at({"command": ["a", "b"], "properties": [{"name": "X", "value": 1}]}, "properties.name=X.value")
    1
    >>> at({"command": ["a", "b", "c"]}, "command.1:")
    ['b', 'c']
    """
    for step in key.split("."):
        value = _step(value, step)
    return value


def _step(value: object, step: str) -> object:
    """Return the value at one step of a dotted key; None if there is none."""
    if is_object(value):
        return value.get(step)
    if not is_array(value):
        return None
    name, mark, value_there = step.partition("=")
    if mark:
        return next((each for each in value if _step(each, name) == value_there), None)
    if step.endswith(":"):
        return value[int(step[:-1]) :]
    return value[int(step)] if int(step) < len(value) else None


def _stands(value: object, expected: object) -> bool:
    """Return whether a value is the expected one; any true value if True is expected."""
    return bool(value) if expected is True else value == expected


def _objects(text: str, where: str) -> Iterator[Any]:
    """Yield the objects in an output: of the list at the dotted key `where`, else one of each line.

    Lines that are no JSON are left out.
    """
    if where:
        yield from as_array(at(json.loads(text), where))
        return
    for line in text.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def _filled(command: Sequence[str], values: Values) -> list[str]:
    return fill_texts(command, values)


async def _output(command: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float) -> str:
    """Run a command to its end, and return its stdout; what it has started is killed then.

    Raises:
        AdapterFailed: It cannot be run, does not end within `seconds`, or fails.
    """
    shown = shlex.join(command)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**of_starter(), **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise AdapterFailed(f"`{shown}` cannot be run: {error.strerror}.", "Install it.") from error
    try:
        with anyio.fail_after(seconds):
            out, err = await process.communicate()
    except TimeoutError as late:
        raise AdapterFailed(
            f"`{shown}` did not end within {seconds:g} s.", "Run it by itself, then try again."
        ) from late
    finally:
        # Its descendants end with it, also if the caller no longer waits.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        words = err.decode("utf-8", "replace").strip() or out.decode("utf-8", "replace").strip()
        raise AdapterFailed(
            f"`{shown}` failed, so there is nothing to test. It said:\n{words[-MAX_QUOTED_CHARS:]}",
            "\nFix that, then run the test again.",
        )
    return out.decode("utf-8", "replace")
