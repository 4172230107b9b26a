"""Which adapter debugs a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from dapeer.adapters.definition import Definition, names_in
from dapeer.adapters.program import is_binary, shebang
from dapeer.errors import AdapterUnknown

Definitions = Mapping[str, Definition]


def choose(
    definitions: Definitions,
    *,
    type: str | None,  # noqa: A002 - the word of launch.json
    program: str | None,
    module: str | None,
    code: str | None,
) -> Definition:
    """Return the definition for a program: of this type, or else as the program itself tells.

    `type` is an id, an alias, a type that it stands in for, or a language. Where several fit, the first is taken.

    Raises:
        AdapterUnknown: None fits; the hint lists the types that there are.
    """
    if type is not None:
        return _typed(definitions, type)
    if program is not None:
        return _for_program(definitions, program)
    for name, value in (("module", module), ("code", code)):
        if value is not None:
            found = _first(definitions, lambda d, n=name: n in names_in(d.launch, d.transport))
            if found:
                return found
    raise AdapterUnknown("There is no program to tell the adapter from.", _types(definitions))


def typed(definitions: Definitions, kind: str) -> Definition | None:
    """Return the definition that is meant by a type."""
    return (
        _first(definitions, lambda d: kind in d.names)
        or _first(definitions, lambda d: kind in d.stands_in_for)
        or _first(definitions, lambda d: kind.lower() in {d.id, *d.languages})
    )


def _typed(definitions: Definitions, kind: str) -> Definition:
    found = typed(definitions, kind)
    if found is None:
        raise AdapterUnknown(f"There is no adapter of type `{kind}`.", _types(definitions))
    return found


def _for_program(definitions: Definitions, program: str) -> Definition:
    suffix = Path(program).suffix.lower()
    interpreter = shebang(program)
    compiled = is_binary(program)
    found = (
        _first(definitions, lambda d: compiled and d.binaries)
        or _first(definitions, lambda d: not d.binaries and suffix in d.extensions)
        or _first(definitions, lambda d: interpreter in d.shebangs)
    )
    if found:
        return found
    if compiler := _first(definitions, lambda d: d.binaries and suffix in d.extensions):
        raise AdapterUnknown(
            f"{program} is source code; {compiler.id} debugs the program compiled from it.",
            "Compile it with debug information (-g -O0) and give the executable.",
        )
    raise AdapterUnknown(f"No adapter is known for {program}.", _types(definitions))


def _first(definitions: Definitions, fits: Callable[[Definition], bool]) -> Definition | None:
    return next((definition for definition in definitions.values() if fits(definition)), None)


def _types(definitions: Definitions) -> str:
    return f"Give a type: {', '.join(sorted(definitions)) or 'none is defined'}."
