"""The names that other people's files, prompts and habits rely on: `uv run python -m tools.public_names` writes them.

`tests/public_names.txt` has them all, a line for each tool, table or command, and for what processes of different versions of
dapeer tell each other: the keys of each JSON object that a class describes, the methods and extensions of MCP of our own, the
environment, the columns of rows, the rows of the register. A test compares.
"""

import argparse
import ast
import json
import re
import subprocess
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.adapters.definition.table import DefinitionTable
from dapeer.adapters.runner import load_runners
from dapeer.cli.command_line import command_parser
from dapeer.companions.python.dapeer_debuggee.collecting import row_format
from dapeer.mcp import data_extension
from dapeer.mcp.rendezvous.reaching import Announcement
from tests.adapters.definition.test_documentation import example
from tests.programs import ROOT
from tools import known_answers
from tools.pages import NVIM, lua_tools
from tools.source import Source, parse

NAMES = ROOT / "tests" / "public_names.txt"
REMAKE = "uv run python -m tools.public_names"
OF_THE_PLUGIN = """
vim.opt.runtimepath:prepend(arg[1])
vim.cmd.runtime('plugin/dapeer.lua')
local words = vim.fn.getcompletion('Dapeer ', 'cmdline')
local merge = require('dapeer.config').merge
-- An unknown option is answered with those that there are.
local function known(wrong)
  return (merge(wrong)[1] or ''):match('^unknown option .*%(known: (.*)%)$')
end
local options = {}
for _, option in ipairs(vim.split(known({ nonsense = true }), ', ')) do
  local within = known({ [option] = { nonsense = true } })
  options[option] = within and vim.split(within, ', ') or vim.empty_dict()
end
io.write(vim.json.encode({ words = words, options = options }))
"""
"""Prints the sub-commands of `:Dapeer`, and the options of `setup` by the option that holds them."""


def made() -> str:
    """Return the text of the file."""
    parts = (
        _tools(), _tables(), _of_the_plugin(), _commands("dapeer", command_parser()), _between_processes(),
    )  # fmt: skip
    return "".join(f"{line}\n" for part in parts for line in part)


def _line(of: str, names: Iterable[str]) -> str:
    return f"{of}: {' '.join(sorted(names))}".rstrip()


def _tools() -> Iterator[str]:
    """Yield each tool with its arguments, also those that an adapter must support."""
    given = {tool.name: tool.schema_for(tool.all_needs) for tool in known_answers.EVERY}
    given |= {f"nvim_{tool.name}": tool.input_schema for tool in lua_tools()}
    for name, schema in sorted(given.items()):
        yield _line(f"tool {name}", schema["properties"])


def _tables() -> Iterator[str]:
    """Yield each table of a definition with its keys: those that reading the shipped and the documented ones looks for."""
    with TemporaryDirectory() as place:
        documented = Path(place)
        (documented / "tests").mkdir()
        (documented / "toy.toml").write_text(example(1), encoding="utf-8")
        (documented / "tests" / "toy.toml").write_text(example(2), encoding="utf-8")
        for kind, read in (("adapter", load_all), ("runner", load_runners.__wrapped__)):
            with _looked_for() as known:
                read(shipped(), documented)
            yield from (_line(f"{kind} [{table}]", known[table]) for table in sorted(known))


@contextmanager
def _looked_for() -> Generator[Mapping[str, set[str]]]:
    """Record the keys that are looked for in each table while the body runs."""
    known: dict[str, set[str]] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("check_all_read", "unread_values"):
            patch.setattr(DefinitionTable, name, _recording(getattr(DefinitionTable, name), known))
        yield known


def _recording(
    read: Callable[[DefinitionTable], object], known: dict[str, set[str]]
) -> Callable[[DefinitionTable], object]:
    """Return `DefinitionTable.check_all_read` or `DefinitionTable.unread_values` as one that notes the keys of its table, too."""

    def noted(table: DefinitionTable) -> object:
        name = re.sub(r"\[\d+\]", "[]", table.name)
        known.setdefault(name, set()).update(table.known)
        return read(table)

    return noted


def _of_the_plugin() -> Iterator[str]:
    """Yield the sub-commands of `:Dapeer`, and the options of `setup`."""
    command = [NVIM, "--clean", "--headless", "-l", "/dev/stdin", ROOT]
    done = subprocess.run(command, input=OF_THE_PLUGIN, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    yield _line(":Dapeer", found["words"])
    yield from (
        _line(f"setup {option}", names) for option, names in sorted(found["options"].items())
    )


def _commands(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield each command with its options, and what it takes by place."""
    below: dict[str, argparse.ArgumentParser] = {}
    given: list[str] = []
    for action in parser._actions:
        if action.nargs == argparse.PARSER:
            below |= cast("dict[str, argparse.ArgumentParser]", action.choices)
        elif action.help != argparse.SUPPRESS:
            given += action.option_strings or [str(action.metavar or action.dest)]
    yield _line(name, [*given, *below])
    for word, each in sorted(below.items()):
        yield from _commands(f"{name} {word}", each)


def _between_processes() -> Iterator[str]:
    """Yield each class whose fields are the keys of JSON; then other names by which processes of dapeer understand each other."""
    nodes = [node for path in Source().modules for node in ast.walk(parse(path))]
    shapes: dict[str, ast.ClassDef] = {}
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    while more := [node for node in classes if node.name not in shapes and _is_shape(node, shapes)]:
        shapes |= {node.name: node for node in more}
    yield from sorted(_line(f"keys {name}", _fields(shape)) for name, shape in shapes.items())
    yield _line("keys Announcement", vars(Announcement("", "", 0)))
    own = (
        data_extension.EXTENSION,
        data_extension.KEEP,
        data_extension.COMMAND,
        data_extension.NEWS,
    )
    yield _line("MCP", (*own, data_extension.END))
    texts = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    yield _line("environment", filter(re.compile(r"DAPEER_[A-Z_]+").fullmatch, texts))
    yield _line("rows", (*row_format.CALL_COLUMNS, row_format.MAGIC.decode()))
    yield _line("register", (row for node in nodes if (row := _name_of_row(node))))


def _is_shape(node: ast.ClassDef, known: Container[str]) -> bool:
    """Return whether a class describes a JSON object: a `TypedDict`, a model of pydantic or MCP's, or one that adds to a known one."""
    bases = [ast.unparse(each) for each in node.bases]
    own = {"TypedDict", "BaseModel"}
    return any(each in own or each in known or each.startswith("t.") for each in bases)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names of the fields of a class."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def _name_of_row(node: ast.AST) -> str:
    """Return the name that a call of `patching.Row` gives to a row of the register; empty: it is no such call, or names a variable."""
    match node:
        case ast.Call(func=ast.Attribute(attr="Row"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case _:
            return ""


if __name__ == "__main__":
    NAMES.write_text(made(), encoding="utf-8")
