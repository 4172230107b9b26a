"""A package that is executed late is the same package, only later."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.base import lazy

PACKAGE = "of_a_test"
FILES = {
    "__init__.py": "from of_a_test import module\nfrom of_a_test.other import TIMES\nTIMES.append(1)",
    "module.py": "NAME = __name__",
    "other.py": "TIMES = []",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / PACKAGE
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield PACKAGE
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_a_module_of_a_package_loads_without_it_and_a_name_of_the_package_with_it(
    package: str,
) -> None:
    lazy.packages(package, "no_such_package_at_all")
    module = importlib.import_module(f"{package}.module")
    assert module.NAME.startswith(package)
    found = importlib.import_module(package)
    assert not hasattr(found, "__nothing__")
    assert "TIMES" not in vars(found)
    assert (found.TIMES, found.module) == ([1], module)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = found.nothing
    assert found.TIMES == [1]


def test_a_package_that_is_loaded_stays_as_it_is(package: str) -> None:
    loaded = importlib.import_module(package)
    lazy.packages(package)
    assert sys.modules[package] is loaded
