"""Configurations of clients as people write them: their text, and what a reader of their format finds in it."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import assume
from hypothesis import strategies as st

ODD = "ab{}[],:/*# '\"\\\u2028é="
WORDS = st.text(ODD, max_size=6)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS
KEYS = st.sampled_from(["a", "b", "command", "env", 'q"}', "//", "mcp_servers", "dapeer"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
GAPS = (
    "",
    "",
    " ",
    "\n",
    "\n  ",
    "\n\t",
    "\n\n    ",
    " // line\n",
    " /* block */ ",
    "\n\t// {\n\t",
)
PLAIN_GAPS = ("", " ", "\n", "\n  ")


@dataclass(frozen=True)
class Configuration:
    """The bytes of a file, and what the test knows of it."""

    data: bytes
    has_dapeer: bool


def ends(draw: st.DrawFn, text: str) -> bytes:
    """Return a text with one of the line ends, with a byte order mark or without."""
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "", "\ufeff"])) + text).encode()


EMPTY = ("", "\n", " ", "{}", "{}\n", "{\n}\n", "{ }", "{\n  // mine\n}")


@dataclass(frozen=True)
class Writer:
    """Writes JSON as a person may have formatted it."""

    draw: st.DrawFn
    gaps: Sequence[str]

    def gap(self) -> str:
        """Return white space, and maybe a comment."""
        return self.draw(st.sampled_from(self.gaps))

    def value(self, value: object) -> str:
        """Write a value; a key of an object may be there twice."""
        if isinstance(value, list):
            return self._joined(map(self.value, cast("list[object]", value)), "[]")
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=self.draw(st.booleans()))
        members = cast("dict[str, object]", value).items()
        pairs = [f"{json.dumps(k)}{self.gap()}:{self.gap()}{self.value(v)}" for k, v in members]
        twice = pairs[-1:] if self.draw(st.integers(0, 9)) == 0 else []
        return self._joined([*twice, *pairs], "{}")

    def _joined(self, parts: Iterable[str], marks: str) -> str:
        inside = ",".join(f"{self.gap()}{part}{self.gap()}" for part in parts)
        trailing = "," if inside and self.gaps is GAPS and self.draw(st.booleans()) else ""
        return f"{marks[0]}{inside}{trailing}{self.gap()}{marks[1]}"


@st.composite
def json_files(draw: st.DrawFn, key: str, entry: Mapping[str, object]) -> Configuration:
    """Return a file of a client whose servers are below a key."""
    if draw(st.integers(0, 9)) == 0:
        return Configuration(ends(draw, draw(st.sampled_from(EMPTY))), has_dapeer=False)
    writer = Writer(draw, draw(st.sampled_from([GAPS, PLAIN_GAPS, ("",), (" ",)])))
    whole = draw(st.dictionaries(KEYS, VALUES, max_size=3))
    has_dapeer = False
    if draw(st.booleans()):
        servers = draw(st.dictionaries(st.sampled_from(["a", "b c", "//"]), VALUES, max_size=2))
        if draw(st.integers(0, 3)) == 0:
            has_dapeer, servers = True, {**servers, "dapeer": entry}
        whole[key] = servers
    text = writer.gap() + writer.value(whole) + writer.gap()
    return Configuration(ends(draw, text), has_dapeer)


TOML_LINES: Sequence[str] = (
    'model = "m"  # best', 'sandbox_mode = "read-only"', "# a comment", "", "   ", "x.y = 1",
    '"quoted key" = [1, # one\n  2]', 'text = """\n[mcp_servers.dapeer]\n"""', "day = 2026-11-25",
    "literal = '''\n# no comment\n[x]'''", 'e = "\u2028"', "inline = { a = 1, 'b c' = [{ d = 2 }] }",
    'mcp_servers.a.command = "x"', '"mcp_servers"."a b".command = "y"', "mcp_servers.a.args = []",
    'mcp_servers = { a = { command = "x" } }', "mcp_servers = {}",
)  # fmt: skip
TOML_TABLES: Sequence[str] = (
    "[mcp_servers.other]\ncommand = 'x'", '["mcp_servers"."a \'b"]\nargs = ["#"] # why', "[mcp_servers]",
    "[[hooks]]\non = 1\n[[hooks]]\non = 2", "[tui] # screen\n  x = 1\n", "[mcp_servers.other.env]\nA = 'b'",
    "[projects.'/home/me']\ntrust_level = \"trusted\"",
)  # fmt: skip
TOML_ENTRIES: Sequence[str] = (
    '[mcp_servers.dapeer]\ncommand = "/old/dapeer"\nargs = ["stdio", "--read-only"]\nenabled = false',
    '[mcp_servers.dapeer]\nargs = ["stdio", "--read-only"] # mine\ncommand = "/old/dapeer"\n'
    '[mcp_servers.dapeer.env]\nA = "b"\n',
    'mcp_servers.dapeer = { command = "/old/dapeer", args = ["stdio", "--read-only"] }',
    'mcp_servers = { dapeer = { command = "/old/dapeer", args = ["stdio", "--read-only"] }, a = { "b c" = 1 } }',
    'mcp_servers = { dapeer = { command = "/old/dapeer", args = ["stdio", "--read-only"], on = 2026-11-25, least = -inf } }',
    'mcp_servers.dapeer.command = "/old/dapeer"\nmcp_servers.dapeer.args = ["stdio", "--read-only"]',
)


@st.composite
def toml_files(draw: st.DrawFn) -> Configuration:
    """Return a file of Codex's that is valid."""
    lines = draw(st.lists(st.sampled_from(TOML_LINES), max_size=5, unique=True))
    tables = draw(st.lists(st.sampled_from(TOML_TABLES), max_size=3, unique=True))
    entry = draw(st.sampled_from(TOML_ENTRIES)) if draw(st.integers(0, 3)) == 0 else None
    if entry:
        into = tables if entry.startswith("[") else lines
        into.insert(draw(st.integers(0, len(into))), entry)
    parts = [*lines, *tables]
    breaks = st.sampled_from(["\n", "\n\n", "\n# c\n"])
    text = "".join(part + draw(breaks) for part in parts)
    if draw(st.booleans()):
        text = text.rstrip("\n")
    file = Configuration(ends(draw, text), has_dapeer=entry is not None)
    assume(is_valid(file.data, has_dapeer=file.has_dapeer))
    return file


def is_valid(data: bytes, *, has_dapeer: bool) -> bool:
    """Tell whether a TOML file is valid, and has an entry of ours only if it is to have one."""
    try:
        return ("dapeer" in found(data, toml=True).get("mcp_servers", {})) == has_dapeer
    except tomllib.TOMLDecodeError:
        return False


STRING = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
TRAILING = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])')


def found(data: bytes, *, toml: bool) -> dict[str, Any]:
    """Return what a reader of the format finds, comments and trailing commas of JSON aside."""
    text = data.decode().removeprefix("\ufeff")
    if toml:
        return tomllib.loads(text)
    plain = STRING.sub(lambda match: match[1] or " ", text)
    return json.loads(TRAILING.sub(lambda match: match[1] or "", plain) if plain.strip() else "{}")
