"""Reads `.vscode/tasks.json`, and the order in which a task and those that it depends on run. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dapeer.base.json_types import Json, as_object, is_array, is_object
from dapeer.launch.launch_json import (
    PersonVariable,
    VariableValues,
    fill_variables,
    for_platform,
    inputs_of,
    list_of,
    objects_at,
    read_object,
)

TYPES: Final = ("shell", "process", "npm")
_TSC: Final = {
    "beginsPattern": r"(?:Starting (?:incremental )?compilation|File change detected)",
    "endsPattern": r"(?:Found \d+ errors?|Compilation complete)\. Watching for file changes",
}
MATCHERS: Final[Mapping[str, Json]] = {"$tsc-watch": {"background": _TSC}}
"""The built-in problem matchers that dapeer knows, by what they say of a background task."""


class NoTask(ValueError):
    """A task that cannot be run, and why, as a clause."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task, with its variables filled in."""

    label: str
    command: tuple[str, ...]
    """What is run; empty: it only depends on others."""
    shell: bool = False
    """The command is one line for a shell."""
    cwd: str = ""
    env: Mapping[str, str] | None = None
    is_background: bool = False
    """It goes on beside the program."""
    begins: str = ""
    """Of a background task: the pattern of a line with which it begins to work."""
    ends: str = ""
    """Of a background task: the pattern of a line with which it has done so."""
    active: bool = True
    """Of a background task: it works from its start."""

    @property
    def line(self) -> str:
        """The task's command as a person types it."""
        return self.command[0] if self.shell else shlex.join(self.command)


@dataclass(frozen=True, slots=True)
class TaskStage:
    """A task, and what runs before it: one after the other, or side by side."""

    task: Task
    stages_before: tuple[TaskStage, ...] = ()
    is_sequential: bool = False
    """Those before it run one after the other."""

    @property
    def tasks(self) -> Iterator[Task]:
        """The tasks that run something, in order: those before, then the task itself."""
        for each in self.stages_before:
            yield from each.tasks
        if self.task.command:
            yield self.task


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The tasks of a configuration."""

    stage_before: TaskStage | None = None
    stage_after: TaskStage | None = None

    @property
    def named(self) -> list[str]:
        """A line `LABEL: COMMAND` for each task before and after, for a question."""
        stages = [each for each in (self.stage_before, self.stage_after) if each is not None]
        return [f"{each.label}: {each.line}" for stage in stages for each in stage.tasks]


@dataclass(frozen=True, slots=True)
class TasksFile:
    """A tasks.json, read."""

    tasks: Mapping[str, Json]
    """By label, as they are written, with what the file says of all."""
    inputs: Json

    def missing_variables(
        self, label: str, variable_values: VariableValues
    ) -> tuple[PersonVariable, ...]:
        """Return the variables that only a person can fill in, of a task and those that it depends on.

        Each variable is there once, named with the last task that has it; dependencies come before their task. An
        unknown label has none. `variable_values` has the values of known variables, which are left out.
        """
        found: dict[str, PersonVariable] = {}
        for name in self._needed(label, ()):
            for ask in fill_variables(self.tasks[name], variable_values, self.inputs)[1]:
                found[ask.description] = PersonVariable(
                    f"task `{name}`", ask.description, ask.variable
                )
        return tuple(found.values())

    def stage(self, label: str, variable_values: VariableValues) -> TaskStage:
        """Return a task with the tasks that run before it, their variables filled in.

        Raises:
            NoTask: There is none, it depends on itself, or it is of a kind that dapeer does not run.
        """
        return self._stage(label, variable_values, ())

    def _stage(
        self, label: str, variable_values: VariableValues, above: tuple[str, ...]
    ) -> TaskStage:
        """Return the task of a label with those that run before it; `above` are the labels that depend on it.

        `above` begins with the outermost label. `variable_values` has the values of variables; those that only an
        editor or a person knows stay as they are written. Nothing is run.

        Raises:
            NoTask: This task, or one that runs before it, does not exist, depends on itself, has no command, is of
                a kind that dapeer does not run, or runs in the background and nothing says when it is ready.
        """
        if label in above:
            raise NoTask(f"the tasks depend on each other: {' → '.join((*above, label))}")
        if label not in self.tasks:
            known = ", ".join(self.tasks) or "none"
            raise NoTask(f"there is no task `{label}` in tasks.json, which has: {known}")
        written = self.tasks[label]
        before = tuple(
            self._stage(each, variable_values, (*above, label)) for each in _dependencies(written)
        )
        filled, _ = fill_variables(written, variable_values, self.inputs)
        task = _task(label, filled, variable_values, has_others=bool(before))
        return TaskStage(task, before, written.get("dependsOrder") == "sequence")

    def _needed(self, label: str, above: tuple[str, ...]) -> Iterator[str]:
        """Yield the labels of the tasks that a task depends on, at any depth, then its own.

        `above` are the labels of the tasks that depend on it; unknown labels are skipped.
        """
        if label in self.tasks and label not in above:
            for each in _dependencies(self.tasks[label]):
                yield from self._needed(each, (*above, label))
            yield label


def parse(data: bytes, platform: str) -> TasksFile:
    """Return the tasks and inputs of a tasks.json, with the keys of this platform and those for all tasks.

    `platform` is `windows`, `osx` or `linux`. The tasks are by label (`label_of`), and of several with one label
    the last counts. Each task has the file's `type` unless it has one, and `options`, in which the file's options
    are below its own. Of the file's keys for the platform only `options` counts, and `type` if the file has one for
    all platforms; each task may have keys for the platform, too. Variables are not filled in yet.

    Raises:
        MalformedJson: The file is not UTF-8, or no JSON object even with comments and trailing commas allowed; or
            its `tasks` or `inputs` are no list of objects.
    """
    top, text = read_object(data)
    common = {key: top[key] for key in ("options", "type") if key in top}
    common |= {
        key: each
        for key, each in as_object(top.get(platform)).items()
        if key in common or key == "options"
    }
    tasks: dict[str, Json] = {}
    for each in objects_at(top, "tasks", text):
        own = for_platform(each, platform)
        options = {**as_object(common.get("options")), **as_object(own.get("options"))}
        tasks[label_of(own)] = {**common, **own, "options": options}
    return TasksFile(tasks, inputs_of(top, text))


def label_of(task: Json) -> str:
    """Return a task's label, as VS Code makes it where the task has none: `npm: SCRIPT`, or the command.

    An older file's `taskName` counts as a label. A command that is an object counts by its `value`. Without any
    of these the result is empty; an npm task without a script gives `npm: `. A value that is no text counts as
    missing.

    >>> label_of({"command": "make"}), label_of({"command": {"value": "my make", "quoting": "strong"}})
    ('make', 'my make')
    """
    if label := _text(task.get("label")) or _text(task.get("taskName")):
        return label
    if task.get("type") == "npm":
        return f"npm: {_text(task.get('script'))}"
    command = task.get("command")
    # A command may be an object, which says how it is quoted.
    return _text(as_object(command).get("value")) or _text(command)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def label_in(reference: object) -> str:
    """Return the label of the task that a value names, by its label or as an object; empty: none."""
    return label_of(reference) if is_object(reference) else _text(reference)


def npm_task(label: str, package: Json, folder: str) -> Json | None:
    """Return the task for a script of package.json, in the form of tasks.json; None if there is no script.

    `label` is `npm: SCRIPT`, `package` the content of package.json, `folder` where it lies. VS Code finds such tasks by itself.
    """
    kind, _, script = label.partition(": ")
    if kind != "npm" or script not in as_object(package.get("scripts")):
        return None
    return {"type": "npm", "script": script, "label": label, "options": {"cwd": folder}}


def _dependencies(task: Json) -> Sequence[str]:
    """Return the labels of the tasks that a task depends on, in their order."""
    value = task.get("dependsOn")
    every = value if is_array(value) else [value]
    return [label for each in every if (label := label_in(each))]


def _task(label: str, written: Json, variable_values: VariableValues, *, has_others: bool) -> Task:
    """Return the `Task` of a label from its entry in tasks.json, whose variables are filled in already.

    `written` is the entry with the keys for all tasks; without a `type` it is a `shell` task, and without a
    folder in its `options` it runs in that of `variable_values`. `has_others` says that it depends on other
    tasks, so that it may lack a command. Only a background task (`isBackground` is JSON's `true`) has patterns
    that say when it is ready.

    Raises:
        NoTask: It has no command, is of a kind that dapeer does not run, or is a background task of which nothing
            says when it is ready.
    """
    kind = str(written.get("type") or "shell")
    options = as_object(written.get("options"))
    cwd = str(options.get("cwd") or variable_values.folder)
    env = {str(name): str(value) for name, value in as_object(options.get("env")).items()}
    command = _command(label, kind, written)
    if not command and not has_others:
        raise NoTask(f"the task `{label}` has no command")
    background = written.get("isBackground") is True
    begins, ends, active = (
        _patterns(label, written.get("problemMatcher")) if background else ("", "", True)
    )
    shell = kind == "shell"
    return Task(label, command, shell and bool(command), cwd, env, background, begins, ends, active)


def _command(label: str, kind: str, written: Json) -> tuple[str, ...]:
    """Return what a task runs: one line for a shell, else its words; empty without a command.

    `kind` is the task's type. `shell`: a tuple of one text, command and quoted arguments; a command that is a
    plain text is not quoted. `process`: a tuple of the command and its arguments. `npm`: the words `npm run
    SCRIPT`, with `--prefix` for a `path`; its command and arguments are ignored, and without a script it has no
    command. `written` is the task's entry in tasks.json, and `label` its name, for the error.

    Raises:
        NoTask: The type is another one, which only an extension of VS Code runs.
    """
    if kind == "npm":
        where = [f"--prefix={written['path']}"] if written.get("path") else []
        script = _text(written.get("script"))
        return ("npm", *where, "run", script) if script else ()
    if kind not in TYPES:
        raise NoTask(f"the task `{label}` is of type `{kind}`, which an extension of VS Code runs")
    words = [_quote_argument(each, quotes=kind == "shell") for each in list_of(written.get("args"))]
    first = written.get("command")
    if not first:
        return ()
    # A command without arguments is a line of the shell's own.
    plain = kind == "shell" and isinstance(first, str)
    command = (
        str(first)
        if plain or isinstance(first, str)
        else _quote_argument(first, quotes=kind == "shell")
    )
    return (" ".join([command, *words]),) if kind == "shell" else (command, *words)


def _quote_argument(word: object, *, quotes: bool) -> str:
    """Return a command or argument as text; with `quotes`, quoted for a shell as VS Code does.

    `word` is a text, quoted if it has spaces and is not in quotes already, or an object with `value` (a
    text, or a list of texts that are joined by spaces) and `quoting`: `escape` puts a backslash before each
    space, `weak` puts double quotes around, anything else quotes as `shlex.quote` does.
    """
    if is_object(word):
        value = word.get("value", "")
        text = " ".join(map(str, value)) if is_array(value) else str(value)
        how = word.get("quoting")
        if not quotes or how == "escape":
            return text.replace(" ", "\\ ") if quotes else text
        return f'"{text}"' if how == "weak" else shlex.quote(text)
    text = str(word)
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return shlex.quote(text) if quotes and " " in text and not is_quoted else text


def _patterns(label: str, matcher: object) -> tuple[str, str, bool]:
    """Return the patterns of lines with which a background task begins and ends its work, and a boolean.

    The first pattern is empty if there is none. The boolean says whether the task works from its start:
    `activeOnStart` (only JSON's `true` counts), or without that whether no pattern begins its work. `label` is
    the task's name for the error. `matcher` is the task's `problemMatcher`: a name, an object or a list of
    these, or nothing. The first of them whose `background` (or else `watching`) has an `endsPattern` is used; an
    object without a `background` has that of its `base`, if dapeer knows the name. The patterns are not compiled.

    Raises:
        NoTask: None has an `endsPattern`; the message names the first matcher in `matcher`, or `base` of one, whose
            name dapeer does not know, if any.
    """
    matchers: list[Any] = matcher if is_array(matcher) else [matcher] if matcher else []
    names = [each if isinstance(each, str) else as_object(each).get("base") for each in matchers]
    unknown = [each for each in names if isinstance(each, str) and each not in MATCHERS]
    for each in matchers:
        known: Json = MATCHERS.get(each, {}) if isinstance(each, str) else as_object(each)
        if is_object(base := known.get("base")) or isinstance(base, str):
            known = {**MATCHERS.get(str(base), {}), **known}
        background = as_object(known.get("background") or known.get("watching"))
        if background.get("endsPattern"):
            begins, ends = (
                _pattern(background.get("beginsPattern")),
                _pattern(background["endsPattern"]),
            )
            active = background.get("activeOnStart", background.get("beginsPattern") is None)
            return begins, ends, active is True
    why = (
        f"the problem matcher {unknown[0]} is not known here"
        if unknown
        else "nothing says when it is ready"
    )
    raise NoTask(
        f"the background task `{label}` needs a problem matcher with `background.endsPattern`: {why}"
    )


def _pattern(written: object) -> str:
    """Return a pattern of a problem matcher, which is a text or an object with `regexp`; "" without one."""
    return str(written.get("regexp", "")) if is_object(written) else str(written or "")
