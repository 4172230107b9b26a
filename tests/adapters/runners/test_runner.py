"""Definitions of test runners, and which of them a file is for."""

import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice.choice import find_definition
from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.adapters.launch_request import NamedTests
from dapeer.adapters.named_tests import as_tests
from dapeer.adapters.runner import (
    ProgramLookup,
    Runner,
    load_runners,
    look_up_programs,
    recognise,
    value_at,
)
from dapeer.base.errors import AdapterFailed, ArgumentError, DefinitionError
from tests.adapters.definition.test_documentation import example

RUNNERS = load_runners(shipped())


def wrote(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("runner", RUNNERS, ids=[runner.id for runner in RUNNERS])
def test_every_runner_of_ours_is_run_by_an_adapter_of_ours(runner: Runner) -> None:
    assert find_definition(load_all(shipped()), runner.type) is not None


def test_the_documented_example_has_every_key(tmp_path: Path) -> None:
    wrote(tmp_path / "tests" / "toy.toml", example(2))
    (toy,) = load_runners(tmp_path)
    assert toy.naming.name_of(["a b", "c.d"]) == r"a_b c\.d"
    assert toy.build is not None
    assert toy.lookup is not None


def test_an_unknown_key_is_refused_with_its_file(tmp_path: Path) -> None:
    wrote(tmp_path / "tests" / "toy.toml", 'id = "toy"\ntype = "toy"\nworkers = 1\n')
    with pytest.raises(DefinitionError, match=r"toy\.toml: unknown key `workers`"):
        load_runners(tmp_path)


@pytest.mark.parametrize(
    ("files", "runner"),
    [
        ({"package.json": '{"devDependencies": {"jest": "30"}}'}, "jest"),
        ({"package.json": '{"devDependencies": {"vitest": "3"}}'}, "vitest"),
        ({"package.json": '{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "11"}}'}, "mocha"),
        ({"vitest.config.ts": "", "package.json": "{}"}, "vitest"),
        ({"package.json": '{"devDependencies": {"jest": "30"}}', "packages/a/.mocharc.json": "{}"}, "mocha"),
    ],
)  # fmt: skip
def test_the_nearest_sign_decides(tmp_path: Path, files: dict[str, str], runner: str) -> None:
    for name, text in files.items():
        wrote(tmp_path / name, text)
    test = wrote(tmp_path / "packages" / "a" / "src" / "cart.test.ts", "test('a', () => {});")
    assert recognise(RUNNERS, test).runner.id == runner


def test_what_a_file_imports_decides_before_its_project(tmp_path: Path) -> None:
    wrote(tmp_path / "package.json", '{"devDependencies": {"jest": "30"}}')
    test = wrote(tmp_path / "cart.test.mjs", "import test from 'node:test';")
    assert recognise(RUNNERS, test).runner.id == "node-test"


def test_a_key_leads_through_lists() -> None:
    told = {"properties": [{"name": "X", "value": 1}, {"name": "Y", "value": 2}], "command": ["a"]}
    assert value_at(told, "properties.name=Y.value") == 2
    assert value_at(told, "properties.name=Z.value") is None
    assert (
        value_at(told, "command.0"),
        value_at(told, "command.3"),
        value_at(told, "command.1:"),
    ) == ("a", None, [])


TESTS = 'package cart\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {}\n'
LIBRARY = "// Package cart is no program; package main would be.\npackage cart\n"


@pytest.mark.parametrize(
    ("files", "program"),
    [
        ({"cart_test.go": TESTS}, "cart::"),
        ({"cart_test.go": TESTS, "cart.go": LIBRARY}, "cart::"),
        ({"cart_test.go": TESTS, "main.go": "package main\n"}, "cart"),
        ({"main.go": "//go:build linux\n\npackage main\n"}, "cart"),
        ({"cart.go": LIBRARY, "below/cart_test.go": TESTS}, "is a library"),
    ],
)
def test_a_folder_of_go_is_a_program_or_a_library_whose_tests_run(
    tmp_path: Path, files: dict[str, str], program: str
) -> None:
    for name, text in files.items():
        wrote(tmp_path / "cart" / name, text)
    wrote(tmp_path / "go.mod", "module cart\n")
    folder = str(tmp_path / "cart")
    try:
        told = str(as_tests(load_all(shipped()).values(), {"program": folder})["program"])
    except ArgumentError as error:
        told = str(error)
    assert program in told
    assert told.endswith(program) or program == "is a library"


def test_a_test_file_that_cannot_be_read_is_left_to_what_starts_it(tmp_path: Path) -> None:
    """The memory of this process is a regular file, and its first page is nobody's."""
    unreadable = tmp_path / "test_memory.py"
    unreadable.symlink_to("/proc/self/mem")
    known = load_all(shipped()).values()
    for program in (unreadable, tmp_path):
        assert as_tests(known, {"program": str(program)}) == {"program": str(program)}


PASSED = "=== RUN   TestSum\n=== RUN   TestSum/of_one\n--- PASS: TestSum (0.00s)\nPASS\n"


@pytest.mark.parametrize(
    ("name", "printed", "missing"),
    [
        ("TestSum/of one", PASSED, False),
        ("TestSum::of one", f"no newline{PASSED}", False),
        ("TestSum/of", PASSED, True),
        ("TestSu", "testing: warning: no tests to run\nPASS\n", True),
        ("BenchmarkSum", "goos: linux\nBenchmarkSum\nBenchmarkSum-2   \t 37 ns/op\nPASS\n", False),
        ("TestSum/none", "=== RUN   TestSum\npanic: boom\n", False),
    ],
)  # fmt: skip
def test_a_test_of_go_that_has_not_begun_is_unknown(name: str, printed: str, missing: bool) -> None:
    naming = next(each for each in RUNNERS if each.id == "go-test").naming
    parts = naming.parts(name)
    assert naming.name_of(parts).replace("_", " ") == "/".join(f"^{one}$" for one in parts)
    assert (
        NamedTests(Path("sum_test.go"), parts, naming).why_unknown(printed) is not None
    ) is missing


LAST_LINES = [
    ("go-test", "=== RUN   TestSum\n--- SKIP: TestSum (0.00s)\nPASS\n", True),
    ("go-test", "=== RUN   TestSum\nsum--- PASS: TestSum (0.00s)\n    --- SKIP: TestSum/of (0.00s)\nPASS\n", False),
    ("go-test", "goos: linux\nBenchmarkSum-2   \t 37 ns/op\nPASS\n", False),
    ("googletest", "[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 0 tests.\n", True),
    ("googletest", "[==========] 12 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 10 tests.\n", False),
    ("jest", "Tests:       1 skipped, 1 todo, 2 total\n", True),
    ("jest", "Tests:       1 skipped, 1 passed, 2 total\n", False),
    ("junit", "[         1 tests aborted         ]\n[         0 tests successful      ]\n[         0 tests failed          ]\n", True),
    ("junit", "[        10 tests successful      ]\n[         0 tests failed          ]\n", False),
    ("minitest", "2 runs, 0 assertions, 0 failures, 0 errors, 2 skips\n", True),
    ("minitest", "12 runs, 3 assertions, 0 failures, 0 errors, 2 skips\n", False),
    ("mocha", "  0 passing (17ms)\n  3 pending\n", True),
    ("mocha", "  1 passing (17ms)\n  3 pending\n", False),
    ("rspec", "1 example, 0 failures, 1 pending\n", True),
    ("rspec", "11 examples, 0 failures, 1 pending\n", False),
    ("vitest", "      Tests  1 skipped | 1 todo (2)\n", True),
    ("vitest", "      Tests  1 passed | 1 skipped (2)\n", False),
]  # fmt: skip
"""By runner: how what it prints of tests that are skipped, or not, ends."""


@pytest.mark.parametrize(("runner", "printed", "none_ran"), LAST_LINES)
def test_where_every_test_was_skipped_no_test_has_run(
    runner: str, printed: str, none_ran: bool
) -> None:
    naming = next(each for each in RUNNERS if each.id == runner).naming
    assert NamedTests(Path("a"), (), naming).none_ran(printed) is none_ran


async def test_programs_that_are_not_listed_as_json_are_an_error_with_what_was_said(
    tmp_path: Path,
) -> None:
    asks = [sys.executable, "-c", "print('No test   is configured')"]
    lookup = ProgramLookup(command=asks, at="tests", where={}, take={}, tests=[], listed=None)
    with pytest.raises(AdapterFailed, match="not listed as JSON: No test is configured"):
        await look_up_programs(lookup, "", {}, tmp_path, {})


PANICS = "#[test]\n#[should_panic]\nfn fails() {}\n"
PASSES = "#[test]\nfn fails() {}\n#[test]\nfn fails_too() {}\n"


def test_a_test_that_is_to_fail_is_told_from_its_namesake_in_another_file(tmp_path: Path) -> None:
    cargo = next(runner for runner in RUNNERS if runner.id == "cargo-test")
    for name, text in (
        ("src/lib.rs", "mod bank;\nmod cart;\nmod shop;\n"),
        ("src/bank.rs", PANICS),
        ("src/cart.rs", PASSES),
        ("src/shop/mod.rs", "mod tests;"),
        ("src/shop/tests.rs", PANICS.replace("fails", "fails_too")),
    ):
        wrote(tmp_path / name, text)
    named = ["bank::fails", "cart::fails", "cart::fails_too", "shop::tests::fails_too", "x::y"]
    awaited = ["bank::fails", "shop::tests::fails_too"]
    assert cargo.tests_expected_to_fail(tmp_path, named) == awaited
    # What no path tells apart counts as marked.
    assert cargo.tests_expected_to_fail(tmp_path, ["fails"]) == ["fails"]
    assert cargo.tests_expected_to_fail(tmp_path / "src/cart.rs", ["cart::fails"]) == []
