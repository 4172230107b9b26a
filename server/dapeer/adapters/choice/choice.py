"""Which adapter debugs a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.system import foreign_files
from dapeer.base.system.program_files import has_section, holds, is_binary, shebang
from dapeer.base.text.likeness import did_you_mean

Definitions = Mapping[str, Definition]
Ready = Callable[[Definition], bool]

NOTEBOOK = ".ipynb"


def choose(
    definitions: Definitions,
    *,
    type: str | None,  # noqa: A002 - the word of launch.json
    program: str | None,
    module: str | None,
    code: str | None,
    url: str | None = None,
    ready: Ready = lambda _: True,
) -> Definition:
    """Return the definition of the adapter for a program: the named one, or one that fits the program.

    `type` is an id, an alias, a type that the definition stands in for, or a language; None: what runs decides. One of `program`,
    `module`, `code` and `url` says what runs. `ready` says whether the adapter of a definition is installed: where several fit, the first
    that is ready is returned, and the first of all if none is; it is not called where only one fits.

    Raises:
        AdapterUnknown: None fits; the hint lists the types that there are.
        ArgumentError: The program is a folder that no adapter can run.
    """
    if type is not None:
        found = require_definition(definitions, type, ready)
    elif program is not None:
        found = _for_program(definitions, program, ready)
    else:
        targets = {"module": module, "code": code, "url": url}
        name = next((name for name, given in targets.items() if given is not None), "")
        able = [d for d in _ranked(definitions.values()) if d.uses(name)] if name else []
        found = _first_ready(able, ready)
        if found is None:
            raise AdapterUnknown(
                "Without a program dapeer cannot choose the adapter.", _types(definitions)
            )
    if program is not None and not foreign_files.is_file(program):
        check_folder(found, program)
    return found


def require_definition(
    definitions: Definitions, kind: str, ready: Ready = lambda _: True
) -> Definition:
    """Return the definition that a type means: an id, alias, type that it stands in for, or language.

    Of several, the first that is `ready` is returned, and the first of all if none is. `ready` says whether the adapter of a definition is
    installed.

    Raises:
        AdapterUnknown: None is; the hint names the nearest type, and those that there are.
    """
    found = find_definition(definitions, kind, ready)
    if found is None:
        names = [each for d in definitions.values() for each in (*d.names, *d.languages)]
        hint = f"{did_you_mean(kind, names)} {_types(definitions)}".strip()
        raise AdapterUnknown(f"There is no adapter of type `{kind}`.", hint)
    return found


def find_definition(
    definitions: Definitions, kind: str, ready: Ready = lambda _: True
) -> Definition | None:
    """Return the definition that a type means, as `require_definition` does; None if there is none.

    A name comes before types that a definition stands in for, and these before languages; of several, the first that is
    `ready` is taken, and the first of all if none is.
    """
    called = [d for d in definitions.values() if kind in d.names]
    others = [d for d in definitions.values() if kind in d.stands_in_for]
    speaking = [d for d in definitions.values() if kind.lower() in {*d.names, *d.languages}]
    # An adapter with this name comes before others, whatever its rank.
    return _first_ready(called + _ranked(others), ready) or _first_ready(_ranked(speaking), ready)


def can_debug(definitions: Definitions, definition: Definition, path: str) -> bool:
    """Return whether an adapter debugs source files like this.

    One that no definition names may be anybody's.
    """
    # One without extensions accepts every file, which names none.
    naming = (other for other in definitions.values() if other.extensions)
    return definition.accepts(path) or not any(other.accepts(path) for other in naming)


def others_with_argument(
    definitions: Definitions, definition: Definition, name: str, ready: Ready = lambda _: True
) -> list[str]:
    """Return ids of other adapters for the same languages whose launch has a use for argument `name`.

    Only those that are `ready` are among them, the best first.
    """
    languages = {*definition.languages}
    others = [d for d in _ranked(definitions.values()) if languages & {*d.languages}]
    return [d.id for d in others if d is not definition and d.uses(name) and ready(d)]


def check_folder(definition: Definition, program: str) -> None:
    """Raise if the program is a folder that the adapter cannot run; any other path passes.

    Raises:
        ArgumentError: It is one.
    """
    if foreign_files.is_folder(program) and not holds(program, definition.folders):
        raise _folder_error(program)


def _for_program(definitions: Definitions, program: str, ready: Ready) -> Definition:
    """Return the definition that fits the program at a path.

    `ready` says whether the adapter of a definition is installed; of several that fit, the first that is ready is returned.

    Raises:
        AdapterUnknown: None does; the error says why for a source file to compile and a notebook.
        ArgumentError: It is a folder that no adapter can run.
    """
    known = _ranked(definitions.values())
    found = _first_ready(_definitions_fitting(known, program), ready)
    if found:
        return found
    if foreign_files.is_folder(program):
        raise _folder_error(program)
    suffix = Path(program).suffix.lower()
    if compiler := _first_ready([d for d in known if d.binaries and suffix in d.extensions], ready):
        raise AdapterUnknown(
            f"{program} is source code; {compiler.id} debugs the program compiled from it.",
            "Compile it with debug information (-g -O0; `cargo build`) and give the executable.",
        )
    if suffix == NOTEBOOK:
        raise AdapterUnknown(
            f"{program} is a notebook, which a kernel runs cell by cell.",
            "Run its code as a script (`jupyter nbconvert --to script`), or attach to the kernel's process by its pid.",
        )
    raise AdapterUnknown(f"No adapter is known for {program}.", _types(definitions))


def _definitions_fitting(ranked: list[Definition], program: str) -> list[Definition]:
    """Return the definitions that fit a program: a folder, a binary, or by name, extension or first line.

    The first of these properties that any definition has decides. `ranked` are in the order of preference. `program` is its path; files may
    be read.
    """
    path = Path(program)
    if foreign_files.is_folder(path):
        return [d for d in ranked if holds(program, d.folders)]
    if is_binary(program):
        return definitions_for_compiled(ranked, program)
    named = [d for d in ranked if d.is_named(path.name)]
    suffix = path.suffix.lower()
    interpreter = shebang(program)
    return (
        named
        or [d for d in ranked if d.runs(suffix)]
        or [d for d in ranked if interpreter in d.shebangs]
    )


def definitions_for_compiled(known: Iterable[Definition], program: str) -> list[Definition]:
    """Return the definitions for a compiled program, first those that know a section of it by its name."""
    marked = [d for d in known if d.sections and has_section(program, d.sections)]
    return marked + [d for d in known if d.binaries and d not in marked]


def _ranked(definitions: Iterable[Definition]) -> list[Definition]:
    """Return definitions in the order of preference, the lowest rank first."""
    return sorted(definitions, key=lambda definition: definition.rank)


def _first_ready(candidates: Sequence[Definition], ready: Ready) -> Definition | None:
    """Return the first candidate that is ready; the first of all if none is; None if there is none.

    `ready` is not called for a single candidate.
    """
    alone = len(candidates) == 1
    return next((each for each in candidates if alone or ready(each)), next(iter(candidates), None))


def _folder_error(program: str) -> ArgumentError:
    return ArgumentError(f"`program`: {program} is a directory.", "Give the file to run in it.")


def _types(definitions: Definitions) -> str:
    return f"Give a type: {', '.join(sorted(definitions)) or 'none is defined'}."
