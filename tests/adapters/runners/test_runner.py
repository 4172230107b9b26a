"""Definitions of test runners, and which of them a file is for."""

from pathlib import Path

import pytest

from dapeer.adapters.choice.choice import typed
from dapeer.adapters.definition.loading import load_all, shipped
from dapeer.adapters.runners.building import at
from dapeer.adapters.runners.recognition import recognise
from dapeer.adapters.runners.runner import Runner, load_runners
from dapeer.base.errors import DefinitionError
from tests.adapters.definition.test_documentation import example

RUNNERS = load_runners(shipped())


def wrote(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("runner", RUNNERS, ids=[runner.id for runner in RUNNERS])
def test_every_runner_of_ours_is_run_by_an_adapter_of_ours(runner: Runner) -> None:
    assert typed(load_all(shipped()), runner.type) is not None


def test_the_documented_example_has_every_key(tmp_path: Path) -> None:
    wrote(tmp_path / "tests" / "toy.toml", example(2))
    (toy,) = load_runners(tmp_path)
    assert toy.naming.of(["a b", "c.d"]) == r"a_b c\.d"
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
    assert at(told, "properties.name=Y.value") == 2
    assert at(told, "properties.name=Z.value") is None
    assert (at(told, "command.0"), at(told, "command.3"), at(told, "command.1:")) == ("a", None, [])
