"""Which adapter a program is given to."""

import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice import choose
from dapeer.adapters.definition import load_all, shipped
from dapeer.errors import AdapterUnknown

DEFINITIONS = load_all(shipped())


def chosen(
    kind: str | None = None,
    program: str | None = None,
    module: str | None = None,
    code: str | None = None,
) -> str:
    return choose(DEFINITIONS, type=kind, program=program, module=module, code=code).id


@pytest.mark.parametrize(
    ("kind", "adapter"),
    [("gdb", "gdb"), ("python", "debugpy"), ("cppdbg", "gdb"), ("Rust", "gdb"), ("sh", "bash-dap")],
)
def test_an_id_or_another_name_or_a_language_names_the_adapter(kind: str, adapter: str) -> None:
    assert chosen(kind, program="whatever.xyz") == adapter


def test_an_unknown_type_is_answered_with_those_that_exist() -> None:
    with pytest.raises(AdapterUnknown) as caught:
        chosen("cobol")
    assert str(caught.value) == (
        "There is no adapter of type `cobol`. Give a type: bash-dap, debugpy, gdb."
    )


def test_an_extension_tells_even_when_the_file_is_missing() -> None:
    assert chosen(program="/nowhere/a.py") == "debugpy"
    assert chosen(program="/nowhere/a.sh") == "bash-dap"


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


def test_source_of_a_compiled_language_is_told_to_be_compiled() -> None:
    with pytest.raises(AdapterUnknown, match="Compile it with debug information"):
        chosen(program="/x/a.c")


def test_what_nothing_tells_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\x00\xff")
    for program in (str(tmp_path / "data"), str(tmp_path), "/nowhere/x", "a.xyz"):
        with pytest.raises(AdapterUnknown, match="Give a type: bash-dap, debugpy, gdb"):
            chosen(program=program)
    with pytest.raises(AdapterUnknown):
        chosen()


def test_modules_and_code_go_to_an_adapter_that_takes_them() -> None:
    assert chosen(module="json.tool") == "debugpy"
    assert chosen(code="print(1)") == "debugpy"
