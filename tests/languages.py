"""The same program in every language, and the adapters that debug it."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import Definition, load_all, shipped
from tests.programs import PROGRAMS, Program, compiled

DEFINITIONS = load_all(shipped())


@dataclass(frozen=True)
class Language:
    """The same program in a language, and how it is looked at there."""

    adapter: str
    source: str
    value: str = "value"
    """The argument of `inner`, as an expression."""
    sum: str = "value + 40"
    condition: str = "value == 2"
    path: str = "value"
    """The argument as a variable, where it is not among the locals."""
    changed: str = "doubled"
    stack: tuple[str, ...] = ("inner", "middle")
    """Beginnings of the innermost functions."""

    def __str__(self) -> str:
        return self.adapter

    @property
    def definition(self) -> Definition:
        return DEFINITIONS[self.adapter]

    def can(self, what: str) -> bool:
        return what not in self.definition.cannot


LANGUAGES = [
    Language("debugpy", "loop.py"),
    Language("gdb", "loop.c"),
    Language("lldb-dap", "loop.c"),
    Language("codelldb", "loop.c"),
    Language("delve", "loop.go", stack=("main.inner", "main.middle")),
    Language("js-debug", "loop.js", stack=("global.inner", "global.middle")),
    Language(
        "bash-dap", "loop.sh", value="$value", sum="$((value + 40))", condition="[[ $value == 2 ]]"
    ),
    Language("cmake", "cmake/CMakeLists.txt", path="Locals.value",
             changed="Locals.doubled", stack=("math", "inner")),
    Language("rdbg", "loop.rb", stack=("Object#inner", "Object#middle")),
    Language("perl", "loop.pl", value="$value", sum="$value + 40", condition="$value == 2",
             path="$value", changed="$doubled"),
    Language("jdi", "Loop.java", stack=("Loop.inner", "Loop.middle")),
]  # fmt: skip


def named(adapter: str) -> Language:
    """Return the language that an adapter debugs here."""
    return next(language for language in LANGUAGES if language.adapter == adapter)


def ready(language: Language) -> None:
    """Skip the test where the adapter is missing; its own hint says how to get it."""
    detection = detect(language.definition)
    if not detection.ready:
        pytest.skip(f"needs {language.adapter}: {detection.install}")


def program_of(language: Language, build: Path) -> Program:
    """Return the program, compiled where it has to be."""
    source = PROGRAMS / language.source
    match source.suffix:
        case ".c" | ".cpp":
            built = build / source.stem
            return Program(source, built) if built.exists() else compiled(language.source, build)
        case ".java":
            built = build / f"{source.stem}.class"
            if not built.exists():
                subprocess.run(
                    [shutil.which("javac") or "javac", "-g", "-d", build, source], check=True
                )
            return Program(source, built)
        case _:
            return Program(source, source)
