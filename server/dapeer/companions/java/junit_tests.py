"""Prints how JUnit selects the tests of a Java file: `junit_tests.py FILE [NAME::…]`.

JUnit finds a method only with the types of its parameters, and a nested class only below its own, so
both are read from the source. One line of JSON: `test` and the arguments `select`. Where there is no
such test, one line for each that there is.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LEFT_OUT = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
_ANNOTATION = re.compile(r"@(?!interface\b)[\w.]+(?:\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?")
_TEST = re.compile(r"@(?:[\w.]+\.)?(?:\w*Test|TestFactory|TestTemplate)\b")
_CLASS = re.compile(r"\b(?:class|interface|record|enum)\s+(\w+)")
_EXTENDS = re.compile(r"\bextends\b")
_METHOD = re.compile(r"\b(\w+)\s*\(([^()]*)\)\s*(?:throws\b[^()]*)?$")
_PLAIN = {"boolean", "byte", "char", "double", "float", "int", "long", "short"}
_OF_THE_LANGUAGE = {
    "Boolean", "Byte", "Character", "CharSequence", "Class", "Comparable", "Double", "Enum", "Exception",
    "Float", "Integer", "Iterable", "Long", "Number", "Object", "Record", "Runnable", "RuntimeException",
    "Short", "String", "StringBuilder", "Thread", "Throwable", "Void",
}  # fmt: skip


@dataclass(frozen=True)
class Test:
    """A test class, or a test method in one."""

    path: tuple[str, ...]
    """Its classes, from the outermost, and its own name."""
    select: str
    inherits: bool = False
    """It is a class that another one is above of, so it may have tests that are written elsewhere."""


def read_tests(text: str) -> list[Test]:
    """Return a `Test` for each class of a Java source and each test method, in the order of the text.

    `text` is the source. A method counts if an annotation before it ends with `Test`, or is `TestFactory` or
    `TestTemplate`. Every class, interface, record and enum counts, also without tests, unless it is declared within
    a method or initializer. The list is empty for a text without classes. Nothing is raised for what is no Java.
    """
    text = _LEFT_OUT.sub('""', text)
    found: list[Test] = []
    classes: list[str] = []
    types = _TypeResolver(text, set(_CLASS.findall(text)))
    for head, opens, inside in _declarations(text, classes):
        declared = _CLASS.search(_ANNOTATION.sub("", head))
        binary = types.package + "$".join(inside)
        if declared and opens:
            classes.append(declared[1])
            name = f"{binary}${declared[1]}" if inside else f"{types.package}{declared[1]}"
            above = _EXTENDS.search(head, head.index(declared[1])) is not None
            found.append(Test((*inside, declared[1]), f"--select-class={name}", above))
        elif inside and _TEST.search(head):
            method = _METHOD.search(_ANNOTATION.sub("", head).strip())
            if method:
                taken = ",".join(types.parameter_types(method[2], "$".join(inside)))
                signature = f"{binary}#{method[1]}" + (f"({taken})" if taken else "")
                found.append(Test((*inside, method[1]), f"--select-method={signature}"))
    return found


def _declarations(text: str, classes: list[str]) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Yield each declaration of a file, or in a class's body: its text, if `{` follows, classes around.

    The text is what stands before the declaration's `{` or `;`, not stripped, and blank for a single `;`;
    the third part has the names of the classes around, outermost first. What stands in methods and
    initializers is skipped. `text` is the source without comments and literals. `classes` is shared with
    the caller: when a yielded declaration is a class, the caller appends its name before it asks for the
    next; it is removed here at the class's `}`.
    """
    blocks: list[bool] = []
    round_, begin = 0, 0
    for each in re.finditer(r"[(){};]", text):
        mark = each[0]
        round_ += (mark == "(") - (mark == ")")
        if round_ > 0 or mark in "()":
            continue
        if mark == "}":
            if blocks and blocks.pop():
                classes.pop()
        elif all(blocks):
            before = len(classes)
            yield text[begin : each.start()], mark == "{", tuple(classes)
            if mark == "{":
                blocks.append(len(classes) > before)
        elif mark == "{":
            blocks.append(False)
        begin = each.end()


class _TypeResolver:
    """Completes the names of the types that a Java source names, by its package and imports."""

    def __init__(self, text: str, classes: set[str]) -> None:
        package = re.search(r"^\s*package\s+([\w.]+)\s*;", text, re.MULTILINE)
        self.package = f"{package[1]}." if package else ""
        imports = re.findall(r"^\s*import\s+([\w.]+(?:\.\*)?)\s*;", text, re.MULTILINE)
        self._imported_types = {
            name.rpartition(".")[2]: name for name in imports if name[-1] != "*"
        }
        self._wildcard_packages = [name[:-1] for name in imports if name[-1] == "*"]
        self._classes = classes

    def parameter_types(self, text: str, outer_class: str) -> Iterator[str]:
        """Yield the types of a method's parameters as JUnit's `--select-method` wants them, in their order.

        One is for instance `java.lang.String[]`; a parameter with `...` is an array, too. `text` is what stands between
        the method's parentheses; annotations, generics, `final` and the parameters' names are left out. Names are
        qualified by `_qualified_name`. Nothing is yielded for a method without parameters. `outer_class` is the class around the method, as `Outer$Inner`.
        """
        text = _ANNOTATION.sub("", text)
        while re.search(r"<[^<>]*>", text):
            text = re.sub(r"<[^<>]*>", "", text)
        for each in filter(str.strip, text.split(",")):
            kind, rows = re.subn(r"\[\s*\]|\.\.\.", " ", each)
            words = [word for word in kind.split() if word != "final"]
            if words:  # what is no Java may have none
                yield self._qualified_name(words[0], outer_class) + "[]" * rows

    def _qualified_name(self, name: str, outer_class: str) -> str:
        """Return the qualified name of the type that is written as `name` in `outer_class` (`Outer$Inner`).

        It is looked for among imports, this file's classes (taken for members of `outer_class`) and `java.lang`; else it
        belongs to the first `.*` import, or without one to this package. Primitive and qualified names are returned
        unchanged; of a member of a type, such as `Map.Entry`, the type's name is qualified.
        """
        if name[0].isupper() and "." in name:
            outer, _, members = name.partition(".")
            return f"{self._qualified_name(outer, outer_class)}${members.replace('.', '$')}"
        if name in _PLAIN or "." in name:
            return name
        if name in self._imported_types:
            return self._imported_types[name]
        if name in self._classes:
            # Of the same file: most often a member of the class around.
            return f"{self.package}{outer_class}${name}"
        if name in _OF_THE_LANGUAGE:
            return f"java.lang.{name}"
        return f"{self._wildcard_packages[0] if self._wildcard_packages else self.package}{name}"


def selection_objects(
    tests: Sequence[Test], file: Path, name: str
) -> Iterator[Mapping[str, object]]:
    """Yield the objects that are printed for a name; each has `test` and `select`.

    `test` is names joined by `::`, `select` a list of JUnit's options. `tests` are those of `read_tests`,
    `file` is their source. `name` is `NAME::…`, the last names of a class or test; empty: the class that is
    named as the file. Where it exists, one object is yielded, which selects all of that name, and has the
    name as given in `test`. A name that is not written here may be an inherited method: then its last part
    is selected in the file's first class that extends another and is named as the parts before. Otherwise, also
    for an unknown name, there is one object for each test method of the file.
    """
    parts = tuple(part for part in name.split("::") if part) or (file.stem,)
    length = len(parts)
    hits = [each for each in tests if each.path[-length:] == parts]
    around = "::".join(("", *parts[:-1]))
    above = [
        each for each in tests if each.inherits and f"::{'::'.join(each.path)}".endswith(around)
    ]
    if not hits and name and above:
        top = above[0]
        method = top.select.replace("--select-class=", "--select-method=") + f"#{parts[-1]}"
        hits = [Test((*top.path, parts[-1]), method)]
    if hits:
        yield {"test": "::".join(parts), "select": [each.select for each in hits]}
        return
    methods = [each for each in tests if "#" in each.select]
    yield from ({"test": "::".join(each.path), "select": [each.select]} for each in methods)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    for line in selection_objects(
        read_tests(source.read_text("utf-8", "replace")), source, "".join(sys.argv[2:3])
    ):
        sys.stdout.write(f"{json.dumps(line)}\n")
