"""Figures of the code: `uv run python -m tools.figures [CHECKOUT]` prints them, and with `--places` where each is.

All Python of the product counts, what runs in other programs included.
"""

import argparse
import ast
import asyncio
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.source import ROOT, Source, imports, longest_chain, parse

BARE = {
    "ahead", "alike", "around", "before", "busy", "bytes", "characters", "chars", "chunk", "deep", "deepest",
    "ending", "enough", "far", "few", "first", "held", "inside", "kept", "large", "largest", "last", "late", "least",
    "limit", "listed", "long", "longest", "lowest", "many", "milliseconds", "most", "named", "near", "odd", "often",
    "opened", "quoted", "read", "room", "seconds", "several", "share", "short", "shown", "size", "slow", "small",
    "together", "tries", "unfolded", "whole", "wide",
}  # fmt: skip
"""Words that do not say, as the whole name of a number, what it limits or counts."""
FEW_LINES = 40
LONGEST_FIRST_LINE = 100
MADE_OF_TOOLS = "scripting/methods.py"
"""Its docstrings are the descriptions of tools, as models read them."""
LARGE_ROOM = 16
"""Modules that lie flat in one room."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Figure:
    """One number, and what was counted."""

    name: str
    value: float
    places: tuple[str, ...] = ()


def listed(name: str, places: Iterator[str]) -> Figure:
    """Return a figure that is the number of its places."""
    all_places = tuple(sorted(places))
    return Figure(name, len(all_places), all_places)


def figures(source: Source) -> Iterator[Figure]:
    """Yield all figures of a checkout."""
    yield from sizes(source)
    yield from rooms(source)
    yield from names(source)
    yield from habits(source)


def sizes(source: Source) -> Iterator[Figure]:
    """Yield what can be counted by lines."""
    lines = {source.name_of(path): len(_text(path).splitlines()) for path in source.modules}
    longest = max(lines, key=lambda name: lines[name])
    yield Figure("lines", sum(lines.values()))
    yield Figure(
        "code lines: without blanks, docstrings and comments",
        sum(len(code_lines(_text(path))) for path in source.modules),
    )
    yield Figure("files", len(lines))
    yield Figure("folders", len({path.parent for path in source.modules}))
    yield Figure("largest module, lines", lines[longest], (longest,))
    yield listed(
        f"files under {FEW_LINES} lines",
        (name for name, length in lines.items() if length < FEW_LINES),
    )
    for room, number in sorted(Counter(_room(name) for name in lines).items()):
        total = sum(length for name, length in lines.items() if _room(name) == room)
        yield Figure(f"{room}: files", number)
        yield Figure(f"{room}: lines", total)


def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines of a Python source on which code stands.

    Docstrings, also those below an attribute or a constant, are no code; nor are comments and empty lines.
    """
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    no_code = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    }  # fmt: skip
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in no_code
        for line in range(token.start[0], token.end[0] + 1)
    }
    return code - docstrings


def rooms(source: Source) -> Iterator[Figure]:
    """Yield how rooms hold modules and import each other."""
    flat = _flat(source)
    top = sorted(folder for folder in flat if folder.parent == source.package)
    for folder in top:
        name = folder.name
        yield Figure(f"{name}: modules flat", flat[folder])
        yield Figure(f"{name}: floors inside (0: a circle)", source.floors(name))
    yield listed(f"rooms with more than {LARGE_ROOM} modules flat", large_rooms(source))
    arrows = source.arrows()
    number = len({room for arrow in arrows for room in arrow})
    yield Figure("rooms that import or are imported", number)
    yield Figure("floors", source.floors())
    yield listed("arrows between rooms", (f"{above} → {below}" for above, below in arrows))
    yield Figure("arrows per room", round(len(arrows) / number, 1))
    chain = [".".join(module) for module in longest_chain(source.graph)]
    yield Figure("longest chain of imports, modules", len(chain), tuple(chain))


def large_rooms(source: Source) -> Iterator[str]:
    """Yield each folder that holds too many modules flat, and how many."""
    for folder, number in _flat(source).items():
        if number > LARGE_ROOM:
            yield f"{folder.relative_to(source.package)}: {number}"


def _flat(source: Source) -> Counter[Path]:
    """Return how many modules each folder holds flat."""
    return Counter(path.parent for path in source.modules if path.name != "__init__.py")


def names(source: Source) -> Iterator[Figure]:
    """Yield numbers whose names say too little, and names that stand for several types."""
    yield listed(
        "numbers whose names have no subject",
        (
            f"{source.name_of(path)}: {name}"
            for path in source.modules
            for name in _numbers(parse(path))
            if name.strip("_").lower() in BARE
        ),
    )
    types: dict[str, set[str]] = defaultdict(set)
    for path in source.modules:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                types[node.name].add(source.name_of(path))
    yield listed(
        "names that several types have",
        (f"{name}: {', '.join(sorted(files))}" for name, files in types.items() if len(files) > 1),
    )


def habits(source: Source) -> Iterator[Figure]:
    """Yield what is done in many places and should be done in few."""
    yield Figure("noqa", _matches(source, r"# noqa\b"))
    yield Figure("cast(", _matches(source, r"\bcast\("))
    libraries = {
        source.name_of(path): {imported[0] for imported in imports(path)} for path in source.modules
    }
    for wanted in ({"asyncio"}, {"anyio"}, {"anyio", "asyncio"}):
        yield listed(
            f"modules that import {' and '.join(sorted(wanted))}",
            (name for name, imported in libraries.items() if wanted <= imported),
        )
    yield listed("attributes set from another file", set_from_outside(source))
    yield listed(
        f"docstrings whose first line is longer than {LONGEST_FIRST_LINE}",
        long_first_lines(source),
    )


def long_first_lines(source: Source) -> Iterator[str]:
    """Yield each first line of a docstring that is too long, and where it is."""
    for path in source.modules:
        if source.name_of(path) == MADE_OF_TOOLS:
            continue
        for line in _first_lines(parse(path)):
            if len(line) > LONGEST_FIRST_LINE:
                yield f"{source.name_of(path)}: {line}"


def defined(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of all that a module defines: functions, types, attributes, variables."""
    yield from (("constant", each) for each in _fields(tree.body))
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield "function", name
            case ast.arg(arg=name):
                yield "parameter", name
            case ast.ClassDef(name=name, body=body):
                yield "type", name
                yield from (("attribute", each) for each in _fields(body))
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield "attribute", name
            case ast.Name(id=name, ctx=ast.Store()):
                yield "variable", name
            case _:
                pass


def _fields(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that a type's body assigns or declares."""
    for node in body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case _:
                pass


def _numbers(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the numbers that a module defines, also of several in one statement."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                pairs = (
                    zip(target.elts, value.elts, strict=False)
                    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                    else [(target, value)]
                )
                yield from (
                    name.id
                    for name, each in pairs
                    if isinstance(name, ast.Name) and _is_number(each)
                )
            case _:
                pass


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    match node:
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case _:
            return False


def set_from_outside(source: Source) -> Iterator[str]:
    """Yield the attributes that a module of dapeer's own process sets in objects whose types are declared elsewhere.

    Types are not inferred: an attribute counts where another file declares one of that name and this one does not.
    """
    ours = [path for path in source.modules if not _runs_elsewhere(source.name_of(path))]
    declares = {
        path: {name for kind, name in defined(parse(path)) if kind == "attribute"} for path in ours
    }
    for path in ours:
        elsewhere = set[str]().union(*(declares[other] for other in ours if other != path))
        for node in ast.walk(parse(path)):
            match node:
                case ast.Attribute(value=ast.Name(id="self" | "cls")):
                    pass
                case ast.Attribute(attr=name, ctx=ast.Store()) if (
                    name in elsewhere - declares[path]
                ):
                    yield f"{source.name_of(path)}:{node.lineno}: {ast.unparse(node)}"
                case _:
                    pass


def _runs_elsewhere(name: str) -> bool:
    return name.startswith(("companions/", "adapters/launchers/"))


def _first_lines(tree: ast.Module) -> Iterator[str]:
    """Yield the first line of each docstring, also of attributes and constants; those of tools are for models."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and not _is_tool(node):
            for each in node.body:
                match each:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield text.partition("\n")[0]
                    case _:
                        pass


def _is_tool(node: ast.Module | ast.ClassDef | Function) -> bool:
    """Whether a node is a function whose docstring is served as the description of a tool."""
    decorators = node.decorator_list if isinstance(node, Function) else []
    return any(
        isinstance(each, ast.Call) and ast.unparse(each.func) == "tool" for each in decorators
    )


def _matches(source: Source, pattern: str) -> int:
    return sum(len(re.findall(pattern, _text(path))) for path in source.modules)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _room(name: str) -> str:
    return name.split("/", maxsplit=1)[0] if "/" in name else "."


def _of_a_stop() -> Iterator[Figure]:
    """Yield the way of a stop to its text, in this checkout."""
    from tools.traced_stop import traced  # noqa: PLC0415 - it starts a debugger

    for name, value in asyncio.run(traced(Source(ROOT))).items():
        yield Figure(f"a stop's way to its text: {name}", value)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.figures", description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--places", action="store_true", help="say where each is, too")
    parser.add_argument(
        "--trace", action="store_true", help="run a program to a stop, and follow it to its text"
    )
    options = parser.parse_args()
    source = Source(options.checkout.resolve())
    for figure in (*figures(source), *(_of_a_stop() if options.trace else ())):
        print(f"{figure.value:>8,}  {figure.name}")
        if options.places:
            print(*(f"            {place}" for place in figure.places), sep="\n")


if __name__ == "__main__":
    main()
