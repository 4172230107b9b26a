"""Which variants of a definition fit a program, and which source files are its adapter's."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType

from dapeer.adapters.definition.vocabulary import Variant
from dapeer.base.system import foreign_files
from dapeer.base.system.program_files import has_section, is_binary, is_root, nearest_file

_NOTHING: Mapping[str, object] = MappingProxyType({})


def fits(
    variant: Variant, inputs: Mapping[str, object], config: Mapping[str, object] = _NOTHING
) -> bool:
    """Return whether all conditions of a variant hold for a launch; False for one without conditions.

    `inputs` are the caller's, `config` are the keys of the adapter's own. The program's file may be read.
    """
    program = inputs.get("program")
    matches = [any(inputs.get(name) is not None for name in variant.given)] * bool(variant.given)
    if variant.without:
        matches.append(config.keys().isdisjoint(variant.without))
    if variant.unless:
        matches.append(all(config.get(name) != value for name, value in variant.unless.items()))
    if variant.root:
        matches.append(is_root())
    if variant.binary or variant.holds or variant.names or variant.outside or variant.inside:
        matches.append(program is not None and _is_of_kind(Path(str(program)), variant))
    return bool(matches) and all(matches)


def _is_of_kind(path: Path, variant: Variant) -> bool:
    """Return whether a program's file meets the conditions of a variant on its content, name and place."""
    return (
        (not variant.binary or is_binary(str(path)))
        and (not variant.holds or has_section(str(path), [variant.holds]))
        and (not variant.names or any(fnmatch(path.name, name) for name in variant.names))
        and (not variant.outside or nearest_file(path, variant.outside) is None)
        and (not variant.inside or nearest_file(path, variant.inside) is not None)
    )


def parts(program: object) -> dict[str, object]:
    """Return the values of `program_dir` and `program_stem` for the path of a program; empty for None."""
    if program is None:
        return {}
    path = Path(str(program))
    folder = path if foreign_files.is_folder(path) else path.parent
    return {"program_dir": str(folder), "program_stem": path.stem}


PARTS = ("program_dir", "program_stem")


def inside(inputs: Mapping[str, object], variants: Sequence[Variant]) -> dict[str, object]:
    """Return the value of `inside`: the file that the last fitting variant has found above the program.

    It is empty where none has looked for one, or found it.
    """
    program = Path(str(inputs.get("program")))
    found = (nearest_file(program, each.inside) for each in reversed(variants) if each.inside)
    return dict([("inside", str(file)) for file in found if file is not None][:1])


# Each session is asked at each change of a breakpoint, for each definition.
@functools.lru_cache(1000)
def accepts_name(name: str, extensions: Sequence[str], files: Sequence[str]) -> bool | None:
    """Return whether a source file of this name may be an adapter's; None: its first line says it.

    True for an adapter without extensions, and for a name that one of the patterns in `files` fits.
    """
    if not extensions or is_named(name, files):
        return True
    suffix = Path(name).suffix
    return suffix.lower() in extensions if suffix else None


def is_named(name: str, files: Sequence[str]) -> bool:
    """Return whether a file name matches one of these patterns of `fnmatch`."""
    return any(fnmatch(name, pattern) for pattern in files)
