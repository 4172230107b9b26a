"""Which adapter a program is given to."""

import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice.choice import can_debug, choose
from dapeer.adapters.definition.definition import (
    conditions_hold,
    load,
    load_all,
    program_parts,
    shipped,
)
from dapeer.adapters.definition.sections import Variant
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.system.program_files import starts_others

DEFINITIONS = load_all(shipped())


def chosen(
    kind: str | None = None,
    program: str | None = None,
    module: str | None = None,
    code: str | None = None,
    url: str | None = None,
) -> str:
    return choose(DEFINITIONS, type=kind, program=program, module=module, code=code, url=url).id


@pytest.mark.parametrize(
    ("kind", "adapter"),
    [
        ("gdb", "gdb"),
        ("python", "debugpy"),
        ("cppdbg", "gdb"),
        ("gdbtarget", "gdb"),
        ("cdt-gdb", "gdb"),
        ("Rust", "gdb"),
        ("sh", "bash-dap"),
    ],
)
def test_an_id_or_another_name_or_a_language_names_the_adapter(kind: str, adapter: str) -> None:
    assert chosen(kind, program="whatever.xyz") == adapter


def test_an_unknown_type_is_answered_with_those_that_exist() -> None:
    with pytest.raises(AdapterUnknown) as caught:
        chosen("cobol")
    assert str(caught.value) == (
        f"There is no adapter of type `cobol`. Give a type: {', '.join(sorted(DEFINITIONS))}."
    )


def test_an_extension_tells_even_when_the_file_is_missing() -> None:
    assert chosen(program="/nowhere/a.py") == "debugpy"
    assert chosen(program="/nowhere/a.sh") == "bash-dap"
    assert chosen(program="/nowhere/a.pyz") == "debugpy"


def test_a_page_is_opened_in_a_browser_and_its_sources_are_no_programs() -> None:
    assert chosen(url="http://localhost:5173/cart") == "chrome"
    assert chosen(program="/nowhere/index.html") == "chrome"
    assert chosen(program="/nowhere/cart.ts") == "js-debug"
    with pytest.raises(AdapterUnknown, match=r"No adapter is known for /nowhere/Cart\.vue"):
        chosen(program="/nowhere/Cart.vue")
    # A template of Python has such a name, too.
    assert can_debug(DEFINITIONS, DEFINITIONS["debugpy"], "/nowhere/page.html")
    assert can_debug(DEFINITIONS, DEFINITIONS["chrome"], "/nowhere/page.html")


def test_an_adapter_without_extensions_takes_no_file_from_another(tmp_path: Path) -> None:
    own = tmp_path / "toy.toml"
    own.write_text('id = "toy"\nadapter_id = "toy"\ntransport = { command = ["toy"] }\n')
    known = {**DEFINITIONS, "toy": load(own)}
    assert can_debug(known, known["toy"], "/nowhere/page.html")
    assert can_debug(known, known["chrome"], "/nowhere/page.html")
    assert not can_debug(known, known["chrome"], "/nowhere/script.py")


@pytest.mark.parametrize(
    ("line", "adapter"),
    [
        ("#!/bin/bash", "bash-dap"),
        ("#!/bin/sh -e", "bash-dap"),
        ("#!/usr/bin/env python3", "debugpy"),
        ("#!/usr/bin/env -S FOO=1 python3.12 -u", "debugpy"),
    ],
)
def test_a_first_line_tells(tmp_path: Path, line: str, adapter: str) -> None:
    script = tmp_path / "tool"
    script.write_text(line + "\nx\n")
    assert chosen(program=str(script)) == adapter


def test_a_compiled_program_goes_to_gdb() -> None:
    assert chosen(program=sys.executable) == "gdb"


def test_a_class_of_java_is_no_universal_binary(tmp_path: Path) -> None:
    for name, rest, adapter in (
        ("A.class", b"\0\0\0\x3d", "jdi"),
        ("universal", b"\0\0\0\2", "gdb"),
    ):
        path = tmp_path / name
        path.write_bytes(b"\xca\xfe\xba\xbe" + rest)
        assert chosen(program=str(path)) == adapter


def test_source_of_a_compiled_language_is_told_to_be_compiled() -> None:
    with pytest.raises(AdapterUnknown, match="Compile it with debug information"):
        chosen(program="/x/a.c")


def test_what_nothing_tells_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\x00\xff")
    for program in (str(tmp_path / "data"), "/nowhere/x", "a.xyz"):
        with pytest.raises(AdapterUnknown, match="Give a type: bash-dap, "):
            chosen(program=program)
    with pytest.raises(AdapterUnknown):
        chosen()


def test_modules_and_code_go_to_an_adapter_that_takes_them() -> None:
    assert chosen(module="json.tool") == "debugpy"
    assert chosen(code="print(1)") == "debugpy"


def test_of_several_that_fit_the_first_that_is_ready_is_taken() -> None:
    def chosen_of(kind: str, *there: str) -> str:
        return choose(
            DEFINITIONS,
            type=kind,
            program=None,
            module=None,
            code=None,
            ready=lambda d: d.id in there,
        ).id

    assert chosen_of("c", "gdb", "lldb-dap") == "gdb"
    assert chosen_of("c", "lldb-dap") == "lldb-dap"
    assert chosen_of("cppdbg", "lldb-dap") == "lldb-dap"
    assert chosen_of("c") == "gdb"
    # Nobody else fits, so nobody is asked.
    assert chosen_of("debugpy") == "debugpy"


def test_a_folder_is_told_by_what_it_holds(tmp_path: Path) -> None:
    for file, adapter in (
        ("main.go", "delve"),
        ("CMakeLists.txt", "cmake"),
        ("__main__.py", "debugpy"),
    ):
        folder = tmp_path / adapter
        folder.mkdir()
        (folder / file).touch()
        assert chosen(program=str(folder)) == adapter
    assert chosen(program="/nowhere/CMakeLists.txt") == "cmake"
    with pytest.raises(ArgumentError, match="is a directory"):
        chosen(program=str(tmp_path))
    with pytest.raises(ArgumentError, match="is a directory"):
        chosen("gdb", program=str(tmp_path / "delve"))


def test_what_a_go_program_is_says_how_it_is_launched(tmp_path: Path) -> None:
    delve = DEFINITIONS["delve"]
    source = tmp_path / "main.go"
    source.touch()

    def launched(program: object) -> tuple[object, object]:
        told = delve.arguments("launch", {"program": str(program)}, {})
        return told["mode"], told["program"]

    assert launched(source) == ("debug", str(source))
    (tmp_path / "go.mod").touch()
    assert launched(source) == ("debug", str(tmp_path))
    assert launched(tmp_path) == ("debug", str(tmp_path))
    assert launched(tmp_path / "main_test.go") == ("test", str(tmp_path))
    assert launched(sys.executable) == ("exec", sys.executable)


def test_a_variant_wants_all_that_it_names() -> None:
    variant = Variant(binary=False, names=("*.go",), outside=(), given=("args",), arguments={})
    assert conditions_hold(variant, {"program": "a.go", "args": []})
    assert not conditions_hold(variant, {"program": "a.go"})
    assert not conditions_hold(variant, {"args": []})
    assert program_parts("/x/Main.class") == {"program_dir": "/x", "program_stem": "Main"}
    assert program_parts(None) == {}


def test_typescript_is_run_by_what_its_project_has_for_it(tmp_path: Path) -> None:
    node = DEFINITIONS["js-debug"]
    inputs = {"program": str(tmp_path / "src" / "main.ts")}
    assert "runtimeExecutable" not in node.arguments("launch", inputs, {})
    tools = tmp_path / "node_modules" / ".bin"
    tools.mkdir(parents=True)
    for tool in ("ts-node", "tsx"):
        (tools / tool).touch()
        told = node.arguments("launch", inputs, {})
        assert told["runtimeExecutable"] == str(tools / tool)
    chosen = {"runtimeArgs": ["--import", "tsx"]}
    assert "runtimeExecutable" not in node.arguments("launch", inputs, chosen)
    script = {"program": str(tmp_path / "main.js")}
    assert "runtimeExecutable" not in node.arguments("launch", script, {})


@pytest.mark.parametrize(
    ("adapter", "files", "program", "starts"),
    [
        ("delve", {"main.go": "package main\n", "run.go": 'import (\n\t"os/exec"\n)\n'}, ".", True),
        ("delve", {"main.go": "package main\n", "notes.txt": '"os/exec"\n'}, ".", False),
        ("rdbg", {"a.rb": "out = `ruby b.rb`\n"}, "a.rb", True),
        ("rdbg", {"a.rb": "Process.spawn('ruby')\n"}, "a.rb", True),
        ("rdbg", {"a.rb": "# `system` is said\ncart.system('ruby')\n"}, "a.rb", False),
        ("jdi", {"A.java": "new ProcessBuilder(\"java\").start();\n"}, "A.java", True),
        ("gdb", {"a.c": "system(\"ls\");\n"}, "a.c", False),
        ("rdbg", {}, "gone.rb", False),
    ],
)  # fmt: skip
def test_a_program_that_starts_others_is_known_by_its_source(
    tmp_path: Path, adapter: str, files: dict[str, str], program: str, *, starts: bool
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    known = load_all(shipped())[adapter]
    found = starts_others(str(tmp_path / program), known.extensions, known.quirks.starts_others)
    assert found is starts
