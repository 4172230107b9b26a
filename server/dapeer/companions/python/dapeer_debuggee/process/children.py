"""Processes that the program starts: Python ones are patched, those of other languages wait.

Which ones wait is told by dapeer, by the breakpoints that are set. `companions/process/stand_in.py` runs in place of the program, and becomes it when dapeer has answered, or some seconds have passed.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import struct
import sys
from pathlib import Path
from typing import Any

from .. import patching

PREIMPORT = "_pydevd_bundle.pydevd_defaults:PydevdCustomization.PREIMPORT"
CODE_STRINGS = "_pydev_bundle.pydev_monkey:_get_python_c_args"
CHILDREN = patching.Row(
    "children",
    "debugpy",
    "Child processes are debugged without dapeer's changes.",
    replaces={CODE_STRINGS: "host port code args setup"},
    uses=(
        PREIMPORT,
        "_pydevd_bundle.pydevd_defaults:PydevdCustomization.DEBUG_MODE",
        "_pydevd_bundle.pydevd_constants:get_protocol",
    ),
)
SETTING = "DAPEER_CHILDREN"
"""The variable with what a stand-in needs, as JSON, and with who gets one.

It needs `script`, `socket` and `seconds`. One is for native programs if `native` is true, and for interpreters whose name the regular
expression `names` matches, with the scripts whose first line names them.
"""
MONKEY = "_pydev_bundle.pydev_monkey"
MAKERS = {
    f"{MONKEY}:create_fork_exec": "_posixsubprocess",
    f"{MONKEY}:create_subprocess_fork_exec": "subprocess",
}
"""What makes pydevd's function in place of each `fork_exec`: by whom it was defined."""
SPAWN = f"{MONKEY}:create_posix_spawn"
NATIVE = patching.Row(
    "native-children",
    "debugpy",
    "Programs of other languages that the program starts are not debugged.",
    replaces={**dict.fromkeys(MAKERS, "original_name"), SPAWN: "original_name"},
)
PYTHON = re.compile(r"(python|pypy)[\d.]*t?")
ELF_64 = b"\x7fELF\x02"
MAX_FIRST_LINE = 256
"""Bytes of a script's first line that Linux reads."""
SECTIONS = (b".debug_info", b".zdebug_info")
"""Sections of a program that has line numbers."""
IGNORED = ("SIGPIPE", "SIGXFSZ", "SIGXFZ")
"""Signals that Python ignores at its start."""
ENVIRONMENT, SIGNALS, RIGHTS = 3, 12, 14
"""Where `fork_exec` has the environment, `restore_signals`, and user, umask and the like.

They are counted behind the command and the files to try.
"""
setting: dict[str, Any] = {}
"""What `SETTING` has said at this process's start."""


@CHILDREN
def improve_children(patch: Any) -> None:
    """Patch pydevd so that each Python process which the program starts imports our `child`.

    `child` is dapeer's module for child processes. Its import is set as pydevd's `PREIMPORT`, and added to the code
    that pydevd puts in front of a child by `python -c`. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit: What is to be set or replaced in pydevd is not as the row states.
    """
    folder = Path(__file__).absolute().parents[2]
    child = f"{__name__.partition('.')[0]}.child"
    patch.set(PREIMPORT, f"{folder};{child}")
    constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
    defaults: Any = importlib.import_module("_pydevd_bundle.pydevd_defaults")

    @patch.replace(CODE_STRINGS)
    def arguments(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's command line for a child by `python -c`, in which our `child` is imported, too.

        `stock` is pydevd's function, `given` and `named` are its arguments.
        """
        # pydevd does not pass it on to children by `python -c`, as `multiprocessing` starts them.
        made: Any = stock(*given, **named)
        custom = defaults.PydevdCustomization
        known = f"pydevd.config({constants.get_protocol()!r}, {custom.DEBUG_MODE!r}"
        before, after = f"{known});", f"{known}, {custom.PREIMPORT!r});"
        if type(made) is bytes:
            return made.replace(before.encode(), after.encode(), 1)
        return made.replace(before, after, 1)


@NATIVE
def replace_makers(patch: Any) -> None:
    """Patch pydevd's functions that start processes, so that some programs are started by a stand-in.

    A stand-in is a process of dapeer's that waits until it is debugged, and then becomes the program.
    `setting` is filled from the environment variable `SETTING`, which has JSON and says which programs get a
    stand-in: `names` and `native`, as `gets_stand_in` explains. Without the variable nothing changes. `patch`
    is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts the
    replaced functions back.

    Raises:
        Misfit: pydevd does not have a function that is to be replaced, or has it otherwise than expected.
    """
    said = os.environ.get(SETTING)
    if not said:
        return
    setting.update(json.loads(said))
    for maker, owner in MAKERS.items():
        replace_fork_exec(patch, maker, owner)
    replace_posix_spawn(patch)


def replace_fork_exec(patch: Any, maker: str, owner: str) -> None:
    """Patch pydevd's function `maker`: the `fork_exec` that it makes starts stand-ins where wanted.

    `maker` is a key of `MAKERS`. `owner` is the name of the module whose `fork_exec` pydevd replaces; a stand-in is started by the original
    one there, past pydevd. It is wanted where `stand_in` gives a command, and the call is plain (`is_plain`); anything else is started by
    pydevd's function, as without the patch. `patch` is `NATIVE`.
    """
    swap = patch.guard(stand_in, nothing)

    @patch.replace(maker)
    def make(stock: Any, original_name: Any, *rest: Any, **named: Any) -> Any:
        """Return the `fork_exec` that pydevd's function makes, around which stand-ins are started."""
        made = stock(original_name, *rest, **named)

        def fork_exec(args: Any, *others: Any) -> Any:
            """Start a process as pydevd does, or a stand-in, which is none that pydevd knows."""
            command = swap(args, *others) if is_plain(others) else None
            if command is None:
                return made(args, *others)
            module = importlib.import_module(owner)
            return getattr(module, original_name)(command, [os.fsencode(command[0])], *others[1:])

        return fork_exec


def replace_posix_spawn(patch: Any) -> None:
    """Patch pydevd's function `SPAWN`: the `posix_spawn` that it makes starts stand-ins where wanted.

    A stand-in is our process in the place of a child; it waits until it is debugged. Stand-ins are wanted where
    `stand_in_for_spawn` gives a command, but never in place of `posix_spawnp`; anything else is started by
    pydevd's function, as without the patch. `patch` is `NATIVE`.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    swap = patch.guard(stand_in_for_spawn, nothing)

    @patch.replace(SPAWN)
    def make(stock: Any, original_name: Any, *rest: Any, **named: Any) -> Any:
        """Return the `posix_spawn` that pydevd's function makes, around which stand-ins are started.

        `original_name` is `posix_spawn` or `posix_spawnp`, which never starts one.
        """
        made = stock(original_name, *rest, **named)

        def posix_spawn(path: Any, argv: Any, env: Any, **options: Any) -> Any:
            """Start a process as pydevd does, or a stand-in, which is none that pydevd knows."""
            searches = original_name.endswith("spawnp")
            command = None if searches else swap(path, argv, env, options)
            if command is None:
                return made(path, argv, env, **options)
            return getattr(os, original_name)(command[0], command, env, **options)

        return posix_spawn


def nothing(*_given: Any) -> None:
    """Return None for any arguments: no stand-in."""


def stand_in_for_spawn(path: Any, argv: Any, env: Any, options: Any) -> list[Any] | None:
    """Return the command of a stand-in for arguments of `posix_spawn`; None: it is not for one.

    `path`, `argv` and `env` are that function's arguments (`env` None: this process's own), `options` a dict of
    its keyword arguments. A stand-in is a script that waits for dapeer, and then becomes the program. Its command
    is a list: Python, the script and its options, the executable, and `argv`; nothing is started. The result is
    None with `resetids`, and where no executable is at `path` or dapeer does not want to debug it, `argv` is
    empty, this process is no plain Python, or `env` has other variables for loading libraries.

    Raises:
        TypeError, AttributeError: `path` or `env` is of a wrong type.
    """
    if options.get("resetids"):
        return None
    # From Python 3.13 on None is this process's own.
    pairs = (
        None
        if env is None
        else [b"%s=%s" % (os.fsencode(k), os.fsencode(v)) for k, v in env.items()]
    )
    between: list[Any] = [None] * (SIGNALS - ENVIRONMENT - 1)
    behind = (None, (), None, pairs, *between, options.get("setsigdef"))
    return stand_in(argv, [os.fsencode(path)], *behind)


def is_plain(others: tuple[Any, ...]) -> bool:
    """Return whether `fork_exec` changes no user, group or umask, and calls nothing before exec.

    `others` are its arguments behind the command.
    """
    return all(
        each is None or each is True or each is False or each == -1 for each in others[RIGHTS + 1 :]
    )


def stand_in(args: Any, files: Any, *others: Any) -> list[Any] | None:
    """Return the command of a stand-in for a command that is started; None: there is no stand-in for it.

    `args` is the command, `files` are what is tried as its executable, and `others` the further arguments of
    `fork_exec`. The returned command runs `companions/process/stand_in.py` with this Python, the executable and
    `args`. The result is None where no executable is wanted or found, `args` is empty, this process is no plain
    Python, or the new environment has other variables for loading libraries. Nothing is started.
    """
    cwd, env = others[2], others[ENVIRONMENT]
    found = executable_of(files, cwd)
    python = sys.executable
    if found is None or not args or not PYTHON.fullmatch(os.path.basename(python)):
        return None
    # Python may need its own libraries, and the program perhaps others.
    if env is not None and loader_variables(env) != loader_variables(
        [b"%s=%s" % each for each in os.environb.items()]
    ):
        return None
    restores = bool(others[SIGNALS]) if len(others) > SIGNALS else False
    numbers = ",".join(
        str(int(each)) for each in ignored_signals() if restores or not is_ignored(each)
    )
    options = [setting["script"], setting["socket"], str(setting["seconds"]), numbers]
    return [python, "-I", "-S", *options, found, *args]


def ignored_signals() -> list[signal.Signals]:
    """Return the signals that Python ignores at its start, as far as this system has them."""
    return [getattr(signal, each) for each in IGNORED if hasattr(signal, each)]


def is_ignored(number: signal.Signals) -> bool:
    """Return whether this process ignores a signal, as its children do then."""
    return signal.getsignal(number) is signal.SIG_IGN


def loader_variables(env: Any) -> list[bytes]:
    """Return the pairs of an environment by which the system loads libraries."""
    return sorted(bytes(each) for each in env if bytes(each).startswith(b"LD_"))


def executable_of(files: Any, cwd: Any) -> Any:
    """Return the first of `files` that can be run, if it gets a stand-in; else None.

    Names are relative to `cwd`; None is this process's own folder.
    """
    for each in files:
        path = os.path.join(os.fsencode(cwd or "."), os.fsencode(each))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return each if gets_stand_in(path) else None
    return None


def gets_stand_in(path: bytes) -> bool:
    """Return whether a file is a program that dapeer wants to debug by a stand-in, and no Python.

    `setting` says what is wanted: a name that matches its `names` (of the file, of what a link leads to, or
    of the interpreter in a script's first line), or, with `native`, any 64-bit ELF program with line numbers.
    The file at `path` is read; False if it cannot be, or is a malformed program.
    """
    names = [os.path.basename(os.fsdecode(each)) for each in (path, os.path.realpath(path))]
    try:
        names.append(interpreter_of(path))
        if any(map(PYTHON.fullmatch, names)):
            return False
        told = setting["names"]
        if told and any(re.fullmatch(told, each) for each in names):
            return True
        return setting["native"] and has_line_numbers(path)
    except (OSError, struct.error, ValueError, OverflowError, MemoryError):
        return False


def interpreter_of(path: bytes) -> str:
    """Return the name of the interpreter in the first line (`#!`) of a script, without its folder.

    `path` is the script's file. `env`, options and settings of variables are passed over: `#!/usr/bin/env -S
    A=1 python3 -u` gives `python3`. The result is empty if the file does not begin with `#!`, or no interpreter
    is named.

    Raises:
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        line = file.read(MAX_FIRST_LINE).partition(b"\n")[0].decode("utf-8", "replace")
    if not line.startswith("#!"):
        return ""
    words = [each for each in line[2:].split() if not each.startswith("-") and "=" not in each]
    names = [os.path.basename(each) for each in words]
    return next((each for each in names if each != "env"), "")


def has_line_numbers(path: bytes) -> bool:
    """Return whether a file is a 64-bit ELF program, or library, with line numbers.

    A file that begins in another way gives False. A program has line numbers if it has a section of `SECTIONS`.

    Raises:
        OSError: The file cannot be read.
        struct.error: The file is cut off, or has no table of sections.
        ValueError, OverflowError, MemoryError: A place or length that the file states is too large.
    """
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:5] != ELF_64:
            return False
        order = "<" if head[5] == 1 else ">"
        (sections,) = struct.unpack_from(order + "Q", head, 0x28)
        size, _, names = struct.unpack_from(order + "HHH", head, 0x3A)
        file.seek(sections + names * size)
        where, length = struct.unpack_from(order + "QQ", file.read(size), 0x18)
        file.seek(where)
        found = file.read(length).split(b"\0")
    return any(each in found for each in SECTIONS)
