"""Finds patches of other software outside of rows in texts of JavaScript, Ruby, Perl and Lua."""

import re
from collections.abc import Callable, Iterator

Lines = list[tuple[int, str]]
"""Numbers and texts of lines."""

NODES = {"process.mainModule", "process.argv", "module.exports"}
"""What Node.js gives a program for itself."""
DOCUMENTED = re.compile(r"\.listeners\.|\.on_close\[|\.adapters\[|\.configurations\b")
"""What nvim-dap documents for plugins."""
PATH = r"[A-Za-z_$][\w$]*(?:(?:\?\.|[.:])[\w$]+|\[[^\]\n]+\])+"


def code(text: str, comment: str) -> Lines:
    """Return the lines of a text that are no comments."""
    lines = enumerate(text.splitlines(), 1)
    begins = (comment, "*", "/*") if comment == "//" else comment
    return [(n, line) for n, line in lines if not line.strip().startswith(begins)]


def outside(lines: Lines, begins: str, ends: str) -> Lines:
    """Return the lines outside of blocks: a block ends at a line of its first line's indentation that is `ends`."""
    kept: Lines = []
    within: str | None = None
    for number, line in lines:
        indentation = line[: len(line) - len(line.lstrip())]
        if within is None and re.search(begins, line):
            within = indentation
        elif within is None:
            kept.append((number, line))
        elif within == indentation and re.match(ends, line.strip()):
            within = None
    return kept


def in_javascript(text: str) -> Iterator[str]:
    """Yield them; functions of a row have it as their first argument, or are its `apply`."""
    lines = outside(
        code(text, "//"), r"function \w*\(row\b|^\s*apply\(row\b|^\s*apply\(\) \{", r"\}"
    )
    own = set(re.findall(r"(?:const|let) (\w+) = (?:new |\{|\[)|function (\w+)\(", text))
    ours = {name for found in own for name in found if name}
    for number, line in lines:
        assigned = re.findall(rf"({PATH})\s*=(?![=>])", line)
        foreign = [each for each in assigned if each not in NODES and root(each) not in ours]
        calls = r"\b(?:Object\.(?:assign|definePropert\w+|setPrototypeOf)|Reflect\.(?:set|defineProperty))\((\w+)|\bdelete (\w+)[.\[]"
        named = [name for found in re.findall(calls, line) for name in found if name]
        if foreign or not ours.issuperset(named):
            yield f"{number}: {line.strip()}"


def in_ruby(text: str) -> Iterator[str]:
    """Yield them; a row is `row NAME … do`, or `Row.new(…) do`."""
    lines = outside(code(text, "#"), r"^\s*(row '|\w+ = Row\.new\()", r"end\b")
    changes = (
        r"\.(prepend|include|extend|define_method|alias_method|remove_method|undef_method|remove_const|const_set)\b(?!\?)",
        r"\.(instance_variable_set|class_variable_set|(class|module|instance)_eval|refine)\b",
        r"send\(:(\w+_method|prepend|include|const_set)|TracePoint\.new|\btrace_var\b",
        r"^\s*(class|module) (?!Dapeer\b|<< self$)(::)?\w*::|^\s*class << (?!self$)|^\s*def (?!self\b)[A-Z]\w*(::\w+)*\.",
        r"^\s*[A-Z][\w:]*(\[[^\]]+\]|\.\w+) [|&+-]*= ",
    )
    for number, line in lines:
        if any(re.search(each, line) for each in changes):
            yield f"{number}: {line.strip()}"


def in_perl(text: str) -> Iterator[str]:
    """Yield them; the one row is applied by `sub replace`."""
    lines = outside(code(text, "#"), r"^sub replace\b", r"\}")
    changes = r"\*\{|\*\w+(::\w+)+\s*=|^\s*sub \w+::|\blocal [*$@%]\w+::|[$@%]\w+(::\w+)+(\{\w+\}|\[\w+\])?\s*=[^=~]|\brequire_version|\bno strict"
    for number, line in lines:
        if re.search(changes, line):
            yield f"{number}: {line.strip()}"


def in_lua(text: str) -> Iterator[str]:
    """Yield them; places are in `nvim_dap/internals`, where each function that changes something asks whether it may."""
    foreign = {"dap", "session", "Session", "rpc", "package"}
    for names, values in re.findall(r"local ([\w, ]+) = (.*require\('dap['.].*)", text):
        foreign.update(each.strip() for each in names.split(",") if "require('dap" in values)
    for number, line in code(text, "--"):
        left, equals, _ = line.partition(" = ")
        targets = left.strip().split(", ") if equals else []
        if not all(re.fullmatch(rf"{PATH}|\w+", each) for each in targets):
            targets = []
        named = [each for each in targets if not DOCUMENTED.search(each) and root(each) != each]
        changed = [each for each in named if root(each) in foreign or each.startswith("vim.fn.")]
        changed += re.findall(r"^\s*function ((?:dap|Session|rpc)[.:]\w+)", line)
        changed += [
            each
            for each in re.findall(r"\b(?:rawset|setmetatable)\((\w+)", line)
            if each in foreign
        ]
        if changed:
            yield f"{number}: {line.strip()}"


def unasked(text: str) -> Iterator[str]:
    """Yield the functions of `nvim_dap/internals` that change nvim-dap, and do not ask whether they may."""
    for body in re.split(r"\n(?=function M\.|local function )", text):
        if any(in_lua(body)) and not re.search(r"guards\.(usable|is_switched_off)\(", body):
            yield body.partition("\n")[0]


def root(path: str) -> str:
    """Return the first name of `a.b.c`."""
    return re.split(r"[.\[:?]", path, maxsplit=1)[0]


FINDERS: dict[str, Callable[[str], Iterator[str]]] = {
    ".cjs": in_javascript, ".rb": in_ruby, ".pl": in_perl, ".lua": in_lua,
}  # fmt: skip
"""By the end of a file's name."""
