"""Understands a program as one types it: an interpreter with its arguments, a shim, a build tool."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dapeer.adapters.choice.choice import find_definition
from dapeer.adapters.choice.interpreter import find_program
from dapeer.adapters.definition.definition import INPUTS, Definition
from dapeer.adapters.definition.placeholders import fill_table
from dapeer.adapters.definition.sections import Command, InterpreterArguments, NotFollowed
from dapeer.adapters.definition.table import installation_values
from dapeer.adapters.launch_request import LaunchRequest
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object
from dapeer.base.sources import with_home_folder
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import environment_for
from dapeer.base.system.program_files import is_binary, shebang
from dapeer.launch.request import folder_of, is_url

SECONDS_TO_ANSWER: Final = 10
"""Seconds that an interpreter has to print its own path."""
MAX_HEADER_BYTES: Final = 4096
"""Bytes of a script in which its interpreter stands."""
SHELLS: Final = frozenset({"sh", "bash"})
SHIMS: Final = "shims"
"""The folder in which version managers keep a script for each program of any version."""
MODULES: Final = ".bin"
"""The folder in which npm keeps a project's programs."""
_BEHIND: Final = "Give what it runs as `program`: "


@dataclass(frozen=True, slots=True)
class _TypedProgram:
    """A program as it is typed."""

    definitions: Mapping[str, Definition]
    launch: LaunchRequest
    cwd: Path
    project: Path
    program: str
    args: Sequence[str]
    known: Sequence[tuple[Definition, Command]]
    """The adapters that debug what some command starts, with that command."""

    @property
    def name(self) -> str:
        """The program's file name, without folder and `.exe`."""
        return Path(self.program).name.removesuffix(".exe")

    @property
    def chosen(self) -> Definition | None:
        """The adapter that the request's `type` names; None if it names none."""
        return find_definition(self.definitions, self.launch.type) if self.launch.type else None

    def is_own(self) -> bool:
        """Return whether the program is a file of the project itself, not one that was installed there."""
        for base in (self.cwd, self.project):
            path = Path(os.path.normpath(base / with_home_folder(self.program)))
            if foreign_files.is_file(path) and path.is_relative_to(self.project):
                return not _is_installed(path)
        return False

    def path(self) -> str | None:
        """Return the absolute path of the program's file, or None if there is none.

        A name with a folder is a file as seen from the working folder, or else from the project; it need not be
        executable. A name without one is looked for in the `node_modules/.bin` of each folder from the working
        folder up to the project, then where the program would find it: beside the `python` of the request, in
        the project's Python environment and on PATH.

        Raises:
            ArgumentError: The `python` of the request is no interpreter.
        """
        if os.sep in self.program:
            path = (self.cwd / with_home_folder(self.program)).absolute()
            path = (
                path
                if foreign_files.is_file(path)
                else (self.project / with_home_folder(self.program))
            )
            return str(path) if foreign_files.is_file(path) else None
        folders = [
            each for each in (self.cwd, *self.cwd.parents) if each.is_relative_to(self.project)
        ]
        here = (folder / "node_modules" / ".bin" / self.program for folder in folders)
        found = next((str(each) for each in here if os.access(each, os.X_OK)), None)
        python = str(self.launch.inputs.get("python") or "")
        return found or find_program(
            self.program, self.cwd, environment_for(self.cwd), self.project, python
        )

    def request_to_launch(
        self,
        how: str,
        target: str,
        args: Sequence[str],
        **more: Any,  # noqa: ANN401 - any input
    ) -> LaunchRequest:
        """Return a copy of the request that launches what the command runs, in place of the command.

        `how` is `program`, `module` or `code` (empty: none), and `target` its value; `args` are the arguments behind it.
        The request's own `program` and `args` are dropped; without `args` the copy has none. `more` are other inputs, and
        `type` and `config` of the request: inputs and `type` replace those of the same name, while `config` only adds
        keys to what the caller gave in the request's own `config`.
        """
        rest = {
            key: value
            for key, value in self.launch.inputs.items()
            if key not in {"program", "args", *more}
        }
        inputs = {
            **rest,
            **({how: target} if how else {}),
            **({"args": list(args)} if args else {}),
        }
        config = {**more.pop("config", {}), **self.launch.config}
        kind = more.pop("type", self.launch.type)
        return replace(self.launch, type=kind, inputs={**more, **inputs}, config=config)


def resolve_command(
    definitions: Mapping[str, Definition], launch: LaunchRequest, project: Path
) -> LaunchRequest:
    """Return a launch request for what a typed command starts, such as the script of `python app.py`.

    Such commands are interpreters, test runners, shims and scripts of package managers. Any other request,
    such as for a file of the project itself, or with a `type` that is not the interpreter's adapter, is
    returned as it is, but for a `program` that was split into words, and for `sh -c COMMAND`, which becomes
    that command. A request without `program`, or with a URL as `program`, `module` or `code`, is returned
    unchanged. Names of files are relative to the request's `cwd`, or to `project`. `definitions` are those of
    the adapters, by id. It may run an interpreter to ask for its path, which blocks: call it in a thread.

    Raises:
        ArgumentError: There is no folder `cwd`, the `python` of the request is no interpreter, the command
            builds or starts a program in a way that no debugger follows, or its interpreter is not found, has
            nothing to run, or cannot be debugged.
    """
    program = launch.inputs.get("program")
    if program is None or is_url(str(program)) or {"module", "code"} & launch.inputs.keys():
        return launch
    given = _TypedProgram(
        definitions, launch, folder_of(launch.inputs.get("cwd"), project), project, str(program),
        [str(each) for each in launch.inputs.get("args") or ()],
        [(each, each.command) for each in definitions.values() if each.command is not None],
    )  # fmt: skip
    given = _unwrap_shell(_split_line(given))
    if given.is_own():
        return given.launch
    chosen = given.chosen
    if chosen is None or not chosen.binaries:
        _check_followed(given)
    for definition, command in given.known:
        if command.is_interpreter(given.name):
            # Who names another adapter debugs the interpreter itself.
            ours = chosen is definition or (chosen is None and launch.type is None)
            return _request_of_interpreter(given, definition, command) if ours else given.launch
    return _script_of_shim(given) if chosen is None and launch.type is None else given.launch


def _split_line(typed: _TypedProgram) -> _TypedProgram:
    """Return a command line that was given as `program` split into program and arguments.

    It is split as a shell does. `typed` is the command as it was typed, with the request that it is of. The
    result has the first word as program and the others as arguments; so has its request, with a remark on the
    splitting. `typed` itself is returned if arguments were given, `program` has no space, only one word, or
    unbalanced quotes, a file has that name, or its first word has `::`, or is neither a known command nor a
    program that is found.

    Raises:
        ArgumentError: The `python` of the request is no interpreter.
    """
    words = typed.program.split()
    if typed.args or len(words) < 2 or "::" in words[0]:
        return typed
    if any(
        os.path.lexists(base / with_home_folder(typed.program))
        for base in (typed.cwd, typed.project)
    ):
        return typed
    try:
        first, *rest = shlex.split(typed.program)
    except ValueError:
        return typed
    alone = replace(typed, program=first)
    is_known = any(alone.name == each.program for each in _not_followed(typed.definitions))
    if not rest or not (is_known or alone.is_own() or alone.path()):
        return typed
    said = f"`program` was split as a shell does: {' '.join(map(shlex.quote, (first, *rest)))}"
    inputs = {**typed.launch.inputs, "program": first, "args": rest, "remark": said}
    return replace(alone, args=rest, launch=replace(typed.launch, inputs=inputs))


_SHELL_SYNTAX: Final = frozenset("|&;()`$*?[]{}~!#>\n")
"""Characters that mean something to a shell outside of quotes, besides those that end words."""
_WORD: Final = re.compile(
    r"""[^\S\n]*(?P<reads><(?![<&(>])[^\S\n]*)?(?P<word>(?:'[^']*'|"[^"$`\\]*"|\\.|[^\s'"\\<])+)[^\S\n]*"""
)
_PIECE: Final = re.compile(r"""'([^']*)'|"([^"]*)"|\\(.)|([^'"\\]+)""")


def simple_command(text: str) -> tuple[Sequence[str], str] | None:
    r"""Return the words of a shell's text that is one simple command, and the file that it reads.

    The file is empty if the command reads none; of several the last one counts. `exec` before the command is
    left out. Quotes and backslashes are resolved. None: the text has no command, or other syntax of the shell
    than words, quotes, backslashes outside of double quotes, and `< FILE`; the command is an option or has `=`
    in it (as `NAME=VALUE`); or a number, at the start or behind white space, stands right before a `<`, as in
    `0<FILE`, even within quotes.

    >>> simple_command("exec ./book 'a b.tsv' < day.bin")
    (['./book', 'a b.tsv'], 'day.bin')
    >>> simple_command("./decode < day.bin | ./book"), simple_command("A=1 ./book"), simple_command("echo $HOME")
    (None, None, None)
    >>> simple_command("./book\n./decode"), simple_command("exec -a book ./decode")
    (None, None)
    """
    words: list[str] = []
    reads = ""
    position, text = 0, text.strip()
    while position < len(text):
        found = _WORD.match(text, position)
        if found is None:
            return None
        pieces = _PIECE.findall(found["word"])
        if any(_SHELL_SYNTAX & {*plain} for *_, plain in pieces):
            return None
        word = "".join("".join(each) for each in pieces)
        if found["reads"]:
            reads = word
        else:
            words.append(word)
        position = found.end()
    words = words[1:] if words[:1] == ["exec"] else words
    # A digit before `<` names another descriptor; NAME=VALUE and an option of `exec` are no programs.
    if not words or words[0].startswith("-") or "=" in words[0] or re.search(r"(?:^|\s)\d+<", text):
        return None
    return words, reads


def _unwrap_shell(typed: _TypedProgram) -> _TypedProgram:
    """Return what `sh -c TEXT` runs, where its text is one simple command; any other command as it is.

    The shells are `sh` and `bash`. The command also comes back as it is if it has other options or further words,
    or if the launch request names an adapter. `typed` is the command as it was typed; the input `stdin` of the
    result is the file that the text reads, if it reads one.

    Raises:
        ArgumentError: The text has other syntax of the shell, and the debugger would see the shell alone.
    """
    if typed.name not in SHELLS or typed.chosen is not None or len(typed.args) != 2:
        return typed
    option, text = typed.args
    if option != "-c":
        return typed
    found = simple_command(text)
    if found is None:
        raise ArgumentError(
            f"`{typed.name} -c` runs a text of the shell's, and the debugger would see {typed.name} alone.",
            "Give the program itself as `program` with its `args`; `stdin` names a file that it reads (`dapeer run --stdin FILE`).",
        )
    (program, *args), reads = found
    inputs = {**typed.launch.inputs, "program": program, "args": args}
    inputs |= {"stdin": reads} if reads else {}
    launch = replace(typed.launch, inputs=inputs)
    return replace(typed, program=program, args=args, launch=launch)


def _not_followed(definitions: Mapping[str, Definition]) -> Sequence[NotFollowed]:
    """Return the commands of all definitions that build a program or start it, each once."""
    every = (each for definition in definitions.values() for each in definition.not_followed)
    return list({each.command: each for each in every}.values())


def _check_followed(typed: _TypedProgram) -> None:
    """Check that the program is no command, such as `go run`, that builds or starts another program.

    A debugger would see only the command, not what it starts. `typed` is the command as it was typed. The
    commands are those that the adapters' definitions list in `not_followed`; a command counts by its
    program's name, so it is refused with any arguments.

    Raises:
        ArgumentError: The program is such a command; the error says what to give as `program` in its
            place.
    """
    named = [each for each in _not_followed(typed.definitions) if each.program == typed.name]
    if not named:
        return
    verb = next((each for each in typed.args if not each.startswith(("-", "+"))), "")
    exact = next((each for each in named if each.verb == verb), None)
    found = exact or next((each for each in named if not each.verb), named[0])
    shown = f"{typed.name} {verb}".strip()
    if found.instead:
        does = "starts others" if verb and exact is None else "builds a program and starts it"
        raise ArgumentError(
            f"`{shown}` {does}, and the debugger would see {typed.name} alone.", found.instead
        )
    started = (
        found.started_command(typed.args[typed.args.index(verb) + 1 :]) if exact and verb else ()
    )
    call = _BEHIND + (
        _dap_run_call(started, found.env) if started else 'dap_run(program="app.py").'
    )
    raise ArgumentError(
        f"`{shown}` starts another program, and the debugger would see {typed.name} alone.", call
    )


def _dap_run_call(words: Sequence[str], env: Mapping[str, str]) -> str:
    """Return the call of `dap_run` that debugs a command line, as text.

    It is `dap_run(program="a", args=["-v"], env={"NAME": "b"})`, with a period behind: it stands at the end of an error's advice.
    `words` is the command line: the program, then its arguments, at least one word. `env` are variables that it needs. An empty `args` or
    `env` is left out. Values are written as JSON.
    """
    given: list[tuple[str, object]] = [
        ("program", words[0]),
        ("args", list(words[1:])),
        ("env", dict(env)),
    ]
    parts = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given if value)
    return f"dap_run({', '.join(parts)})."


def _request_of_interpreter(
    typed: _TypedProgram, definition: Definition, command: Command
) -> LaunchRequest:
    """Return the request to launch what an interpreter with its arguments runs.

    `typed` is the command as it was typed, `definition` is the adapter for it, and `command` its description of
    the interpreter's command line. Where nothing is run that can be debugged by itself, such as tests in the
    interpreter's own runner, the adapter starts the whole command, if it can. For tests, `env` of the request
    also has the variables that `command` sets for tests; the caller's take precedence.

    Raises:
        ArgumentError: The interpreter is not found; its arguments are missing, or name nothing that can be
            debugged by itself, and the adapter cannot start the whole command; the adapter cannot pass on its
            options; or the `python` of the request is no interpreter.
    """
    path = typed.path()
    if path is None:
        raise ArgumentError(
            f"`program`: {typed.program} was not found, neither in the project's environment nor on PATH.",
            "Give its path, or the file that it runs as `program`.",
        )
    found = command.split(typed.args)
    how = found.how if found.how and definition.uses(found.how) else ""
    in_runner = command.runs_tests("", found.options if how else typed.args)
    tests = in_runner or (how == "program" and command.runs_tests(Path(found.target).name, ()))
    more: dict[str, Any] = {"env": _test_env(command, typed.launch)} if tests else {}
    if how and not in_runner:
        return _request_of_script(typed, definition, command, found, path, more)
    if not typed.args or command.interpreter not in definition.quirks.also_runs:
        raise ArgumentError(
            f"`{typed.name}` is an interpreter, and nothing in `args` says what it runs.",
            f"Give a file of {definition.languages[0]} as `program`; `type` chooses a debugger of {typed.name} itself.",
        )
    return _adapter_command_request(typed, definition, command, path, more)


def _adapter_command_request(
    typed: _TypedProgram, definition: Definition, command: Command, path: str, more: dict[str, Any]
) -> LaunchRequest:
    """Return the request for a command that the adapter starts, arguments included, as an interpreter.

    `path` is the command's file, `more` are further inputs.
    """
    config = {command.interpreter: path, command.options: [*typed.args]}
    return typed.request_to_launch(
        "", "", (), type=definition.id, config=config, **_remark(typed, path), **more
    )


def _request_of_script(
    typed: _TypedProgram,
    definition: Definition,
    command: Command,
    found: InterpreterArguments,
    path: str,
    more: dict[str, Any],
) -> LaunchRequest:
    """Return the request to launch a script, a module or code, with the interpreter and its options.

    `typed` is the command as it was typed, `definition` the adapter for it, and `command` its description of the
    interpreter. `found` are the parts of the command line, `path` is the interpreter's file. `more` are further
    inputs. Where `command.interpreter` is an input, `path` is set under its name in `more`, which is changed; where
    it is a key of the adapter's configuration, `path` is set there, but not if the command is the usual one; where
    it is empty, the interpreter is left out. The interpreter's options are set in the configuration under
    `command.options`. There the caller's own keys win. A bare command's file is told in the input `remark`.

    Raises:
        ArgumentError: The interpreter has options, and the adapter cannot pass them on.
    """
    config: dict[str, Any] = {}
    if found.options and not command.options:
        raise ArgumentError(
            f"{definition.id} cannot pass on the options of {typed.name}: {' '.join(found.options)}.",
            f'Give {found.how}="{found.target}", without them.',
        )
    if found.options:
        config[command.options] = [*found.options]
    if command.interpreter in INPUTS:
        more[command.interpreter] = path
    elif command.interpreter and typed.program != command.usual:
        config[command.interpreter] = path
    return typed.request_to_launch(
        found.how,
        found.target,
        found.args,
        type=definition.id,
        config=config,
        **_remark(typed, path),
        **more,
    )


def _script_of_shim(typed: _TypedProgram) -> LaunchRequest:
    """Return the request to launch the script that a command of a version or package manager stands for.

    `typed` is the command as it was typed. For a version manager's shim, the shim of the interpreter beside it is run
    to ask for the interpreter's path, which blocks for `SECONDS_TO_ANSWER` at most for each known interpreter: the
    script is the file of the command's name beside that. The result is the typed request, changed as follows:

    - A script whose first line names an interpreter of a definition: `program` is the script, `type` the adapter's,
      and that interpreter is the input for it.
    - Else a command that runs tests, or one of `node_modules`: `program` and `type` if its first line says that it is
      of the adapter's language, and if not, the command is what the adapter itself starts
      (`_adapter_command_request`).
    - Any other script of a shim: `program` alone.

    A test runner gets the environment for tests, too. If the command was typed without a folder, the input `remark`
    says which file it is. The request is returned as it is if the command is not found, or is a program as any other.

    Raises:
        ArgumentError: The `python` of the request is no interpreter.
    """
    found = typed.path()
    if found is None:
        return typed.launch
    path = found
    if Path(found).parent.name == SHIMS and shebang(found) in SHELLS:
        beside = (
            _program_beside_interpreter(typed, command, Path(found)) for _, command in typed.known
        )
        path = next(filter(None, beside), found)
    interpreter = script_interpreter(path)
    for definition, command in typed.known:
        tests = command.runs_tests(typed.name, ())
        more: dict[str, Any] = {"env": _test_env(command, typed.launch)} if tests else {}
        more |= _remark(typed, path)
        if command.is_interpreter(Path(interpreter).name) and command.interpreter in INPUTS:
            more[command.interpreter] = interpreter
            return typed.request_to_launch("program", path, typed.args, type=definition.id, **more)
        if not (tests or (command.env and Path(path).parent.name == MODULES)):
            continue
        if shebang(path) in definition.shebangs:
            return typed.request_to_launch("program", path, typed.args, type=definition.id, **more)
        more.pop("remark", None)
        return _adapter_command_request(typed, definition, command, path, more)
    if path == found:
        return typed.launch
    return typed.request_to_launch("program", path, typed.args, **_remark(typed, path))


def script_interpreter(path: str) -> str:
    """Return the absolute path of the executable that a script's first line names; empty if it names none.

    `path` is the script. For `#!/usr/bin/env python` the result is `/usr/bin/env`; arguments behind it are
    dropped. The result is also empty if the script cannot be read, or if what its first line names is no
    absolute path, or not executable. Installers give the script a shell's first line, and name the interpreter
    in the second line (`'''exec' /long/path/python "$0" "$@"`), where its path is long or has a blank: then
    that interpreter is returned.
    """
    try:
        first, _, rest = (
            foreign_files.read_bytes(path, MAX_HEADER_BYTES)
            .decode("utf-8", "replace")
            .partition("\n")
        )
    except OSError:
        return ""
    words = first[2:].split() if first.startswith("#!") else []
    if words and Path(words[0]).name in SHELLS and rest.startswith("'''exec' "):
        words = [rest.removeprefix("'''exec' ").partition(' "$0"')[0].strip("'\"")]
    named = words[0] if words and "\0" not in words[0] else ""
    return named if Path(named).is_absolute() and os.access(named, os.X_OK) else ""


def _remark(typed: _TypedProgram, path: str) -> dict[str, str]:
    """Return the input `remark` with a note on which file a bare command is; empty without a note.

    An earlier remark of the request is kept before it.
    """
    said = "" if os.sep in typed.program else f"{typed.program} is {path}"
    earlier = str(typed.launch.inputs.get("remark") or "")
    return {"remark": "; ".join(filter(None, [earlier, said]))} if said or earlier else {}


def _program_beside_interpreter(typed: _TypedProgram, command: Command, shim: Path) -> str | None:
    """Return the path of the script that a version manager's shim starts: the one beside its interpreter.

    `command` describes the interpreter's command line, `shim` is the shim's path. The interpreter's own shim, which
    is beside `shim`, is run in `typed.cwd` to ask for the path of the real interpreter; this blocks for at most
    `SECONDS_TO_ANSWER`. The result is None if `command` has no way to ask, if there is no such shim, if it cannot
    be run, takes longer or prints no absolute path, or if no file with the shim's name, or only a binary one, is beside the real
    interpreter.
    """
    if not command.own_path:
        return None
    interpreter = shutil.which(command.usual, path=str(shim.parent))
    if interpreter is None:
        return None
    try:
        done = subprocess.run(
            [interpreter, *command.own_path], stdin=subprocess.DEVNULL, capture_output=True, cwd=typed.cwd,
            timeout=SECONDS_TO_ANSWER, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = Path(done.stdout.decode("utf-8", "replace").strip()).parent / shim.name
    # A shim that has nothing to start prints no path.
    known = found.is_absolute() and foreign_files.is_file(found)
    return str(found) if known and not is_binary(str(found)) else None


def _test_env(command: Command, launch: LaunchRequest) -> Json:
    """Return the variables for a program that may run tests: the definition's, then the caller's."""
    known = fill_table(command.env, {**installation_values(), "word": "${word}"})
    return {**known, **as_object(launch.inputs.get("env"))}


def _is_installed(path: Path) -> bool:
    """Return whether a file of a project was put there by a package manager, as in a virtual environment."""
    beside = path.parent.parent / "pyvenv.cfg"
    return foreign_files.is_file(beside) or path.parent.parent.name == "node_modules"
