"""Rename functions, parameters, classes and attributes over the whole tree, and prove of a commit that it only renames.

    uv run python -m tools.renames apply TABLE    # lines of `file<TAB>Class.member or function(parameter)<TAB>new name`
    uv run python -m tools.renames check [COMMIT] # its message lists the names as `old -> new`, one a line

`apply` asks pyright's language server where each name is used, edits those places, and prints the lines for the commit's message.
What texts say (a test that patches by a dotted name, a page) it prints, and leaves to you, as it does keywords of `replace`.
`check` applies the list to the syntax trees of the commit before, and demands those of the commit.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import unquote, urlsplit

Json = dict[str, Any]


class Rename(NamedTuple):
    """One row of a table."""

    path: Path
    qualified: str
    """`function`, `Class.method`, or either with `(parameter)` behind it; also a class, a variable of a module, or `Class.attribute`."""
    new: str

    @property
    def old(self) -> str:
        """The name itself, without the class or function that has it."""
        parameter = re.search(r"\((\w+)\)$", self.qualified)
        return parameter[1] if parameter else self.qualified.rpartition(".")[2]


def read_table(path: Path) -> Iterator[Rename]:
    """Yield the rows of a file, in its order; empty lines and those that begin with # are left out."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            file, qualified, new = (each.strip() for each in line.split("\t")[:3])
            yield Rename(Path(file), qualified, new)


class LanguageServer:
    """pyright's language server, over the whole tree."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._number = 0
        self._versions: dict[Path, int] = {}
        self._process = subprocess.Popen(
            ["pyright-langserver", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        workspace = {"uri": root.as_uri(), "name": root.name}
        self._request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [workspace],
                "capabilities": {"workspace": {"workspaceEdit": {"documentChanges": True}}},
            },
        )
        self._send({"method": "initialized", "params": {}})
        # Before it has listed the files, it renames in the one file alone.
        while "source file" not in str(self._receive().get("params")):
            pass

    def rename(self, path: Path, line: int, column: int, new: str) -> dict[Path, list[Json]]:
        """Return the edits of each file that rename what stands at a place; lines and columns count from 0."""
        text = {"uri": (self._root / path).as_uri()}
        self.open_again(path)
        where = {"line": line, "character": column}
        answer = self._request(
            "textDocument/rename", {"textDocument": text, "position": where, "newName": new}
        )
        changed: list[Json] = answer.get("documentChanges") or []
        return {
            Path(unquote(urlsplit(str(each["textDocument"]["uri"])).path)): each["edits"]
            for each in changed
        }

    def open_again(self, path: Path) -> None:
        """Send the server a file's text of now."""
        uri = (self._root / path).as_uri()
        text = (self._root / path).read_text(encoding="utf-8")
        version = self._versions[path] = self._versions.get(path, 0) + 1
        if version == 1:
            document: Any = {"uri": uri, "languageId": "python", "version": 1, "text": text}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        else:
            document = {"uri": uri, "version": version}
            params = {"textDocument": document, "contentChanges": [{"text": text}]}
            self._send({"method": "textDocument/didChange", "params": params})

    def close(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.communicate()

    def _request(self, method: str, params: Json) -> Json:
        """Send a request and return its result; what the server asks meanwhile gets an empty answer.

        Raises:
            LookupError: The server refuses it.
        """
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._number and "method" not in message:
                if "error" in message:
                    raise LookupError(message["error"]["message"])
                return message["result"] or {}
            if "id" in message:
                # It asks for a configuration: a null for each item is the default.
                asked: Json = message.get("params", {})
                self._send({"id": message["id"], "result": [None] * len(asked.get("items", ()))})

    def _send(self, message: Json) -> None:
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> Json:
        assert self._process.stdout
        length = 0
        while header := self._process.stdout.readline().strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.partition(b":")[2])
        return json.loads(self._process.stdout.read(length))


def find_definition(rename: Rename, source: str) -> tuple[int, int]:
    """Return line and column, from 0, of the name that a row means.

    Raises:
        LookupError: The file has no such name.
    """
    scope: Any = ast.parse(source)
    is_parameter = rename.qualified.endswith(")")
    *outer, last = re.sub(r"\(\w+\)$", "", rename.qualified).split(".")
    for name in (*outer, last):
        functions_only = is_parameter and name is last
        named = (each for each in ast.walk(scope) if _defines(each, name))
        scope = next((each for each in named if not functions_only or hasattr(each, "args")), None)
        if scope is None:
            raise LookupError(f"{rename.path} has no {rename.qualified}")
    place = scope
    if is_parameter:
        own = (each for each in ast.walk(scope.args) if isinstance(each, ast.arg))
        place = next((each for each in own if each.arg == rename.old), None)
        if place is None:
            raise LookupError(f"{rename.path} has no {rename.qualified}")
    # A definition begins with `def` or `class`; its name is the first such word after that.
    row: int = place.lineno - 1
    line: str = source.splitlines()[row]
    word = re.compile(rf"\b{re.escape(rename.old)}\b").search(line, place.col_offset)
    if not word:
        raise LookupError(f"{rename.path} has no {rename.qualified} on one line")
    return row, word.start()


def _defines(node: ast.AST, name: str) -> bool:
    """Whether a node defines a function or class of this name, or sets a variable or an attribute of `self` of it."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
            return node.attr == name
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name == name
        case ast.Name(ctx=ast.Store()):
            return node.id == name
        case _:
            return False


def write_edits(path: Path, edits: list[Json]) -> None:
    """Write a language server's edits of one file into it."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    ranges: list[tuple[Json, Json, str]] = [
        (each["range"]["start"], each["range"]["end"], each["newText"]) for each in edits
    ]
    # From the end, so that an edit moves no place of another.
    for start, end, new in sorted(ranges, key=lambda each: tuple(each[0].values()), reverse=True):
        row: int = start["line"]
        before: int = start["character"]
        after: int = end["character"]
        lines[row] = lines[row][:before] + new + lines[row][after:]
    path.write_text("".join(lines), encoding="utf-8")


def apply(table: Path) -> int:
    """Rename all rows of a table in the files, print the list for the message, and return how many failed."""
    server = LanguageServer(Path.cwd())
    done: list[Rename] = []
    failed = 0
    for rename in read_table(table):
        try:
            apply_one(rename, server)
        except (LookupError, OSError) as error:
            print(f"left out: {error}", file=sys.stderr)
            failed += 1
        else:
            done.append(rename)
    server.close()
    for old, new in sorted({(each.old, each.new) for each in done}):
        print(f"{old} -> {new}")
    print_texts(done)
    return failed


def apply_one(rename: Rename, server: LanguageServer) -> None:
    """Rename what a row means in all files.

    Raises:
        LookupError: The file has no such name, or pyright renames nothing.
        OSError: A file cannot be read or written.
    """
    place = find_definition(rename, rename.path.read_text(encoding="utf-8"))
    edits = server.rename(rename.path, *place, rename.new)
    if not edits:
        raise LookupError(f"{rename.path}: pyright does not rename {rename.qualified}")
    for path, places in edits.items():
        write_edits(path, places)
        server.open_again(path.relative_to(Path.cwd()))


def print_texts(renames: list[Rename]) -> None:
    """Print where pyright has not looked and an old name may still stand, for each row, with its place.

    That is in texts (strings, docstrings, comments, pages) as a dotted or quoted name, and in keywords of `replace` and `_replace`.
    """
    keywords = list(find_replaced_keywords())
    for each in renames:
        pattern = (
            rf"\b{each.path.stem}\.{each.old}\b|`{each.old}(\(|`)|attr\(.*[\"']{each.old}[\"']"
        )
        asked = subprocess.run(
            ["git", "grep", "-nE", pattern], capture_output=True, text=True, check=False
        )
        places = [place for place, keyword in keywords if keyword == each.old]
        for line in [*asked.stdout.splitlines(), *places]:
            print(f"text: {each.old} -> {each.new}: {line[:160]}", file=sys.stderr)


def find_replaced_keywords() -> Iterator[tuple[str, str]]:
    """Yield `FILE:LINE` and the name of each keyword that `replace` or `_replace` is called with, in the files that git tracks.

    Files that are no valid Python, such as fixtures, are left out.
    """
    for file in _git("ls-files", "*.py").splitlines():
        try:
            tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Name(id="replace") | ast.Attribute(attr="replace" | "_replace")
                ):
                    for keyword in node.keywords:
                        yield f"{file}:{keyword.value.lineno}", keyword.arg or ""
                case _:
                    pass


def check(commit: str) -> int:
    """Print what a commit of renames changes beyond its list, and return how many files that is."""
    message = _git("log", "-1", "--format=%B", commit)
    names = set(re.findall(r"^(\w+) -> (\w+)$", message, re.MULTILINE))
    wrong = 0
    for line in _git("diff", "--name-status", "-M30", f"{commit}~", commit).splitlines():
        status, before, *after = line.split("\t")
        if not before.endswith(".py"):
            continue
        places = [f"{commit}~:{before}", f"{commit}:{(after or [before])[0]}"]
        if status[0] not in "MR" or not _equal(_tree(places[0]), _tree(places[1]), names):
            print(f"{before} changes more than names")
            wrong += 1
    return wrong


def _git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def _tree(place: str) -> ast.Module:
    """Return the syntax tree of a file of a commit, given as `COMMIT:PATH`."""
    return ast.parse(_git("show", place))


def _equal(old: object, new: object, names: set[tuple[str, str]]) -> bool:
    """Whether two parts of syntax trees differ in nothing but listed names, alone or within texts."""
    if isinstance(old, ast.AST):
        return type(old) is type(new) and all(
            _equal(getattr(old, field, None), getattr(new, field, None), names)
            for field in old._fields
        )
    if isinstance(old, list) and isinstance(new, list):
        return _equal_lists(cast("list[object]", old), cast("list[object]", new), names)
    if isinstance(old, str) and isinstance(new, str) and old != new:
        words, others = re.findall(r"\w+|\W+", old), re.findall(r"\w+|\W+", new)
        pairs: list[tuple[str, str]] = list(zip(words, others, strict=False))
        return len(words) == len(others) and all(a == b or (a, b) in names for a, b in pairs)
    return old == new


def _equal_lists(old: list[object], new: list[object], names: set[tuple[str, str]]) -> bool:
    """Whether two lists of parts are equal, part by part; the formatter sorts the names of an import anew."""
    if len(old) != len(new):
        return False
    if not all(isinstance(each, ast.alias) for each in old):
        return all(_equal(*pair, names) for pair in zip(old, new, strict=True))
    rest = list(new)
    for each in old:
        same = next((other for other in rest if _equal(each, other, names)), None)
        if same is None:
            return False
        rest.remove(same)
    return True


def main(arguments: list[str]) -> int:
    """Do what the command line says, and return 0 if all went well."""
    match arguments:
        case ["apply", table]:
            return min(apply(Path(table)), 1)
        case ["check"]:
            return min(check("HEAD"), 1)
        case ["check", commit]:
            return min(check(commit), 1)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
