"""`dapeer adapters install` gets adapters into folders of dapeer's own, verified, and `uninstall` removes them."""

import shutil
from pathlib import Path

import pytest

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.cli.adapters import MARK
from tests.install.person import Person
from tests.install.registry import registry

WAYS = {
    "pip": ('executable = "toy-dap"', 'command = "pip install toy-dap"'),
    "npm": (
        'file = "${adapters}/toy/server.js"',
        'packages = ["toy-dap@1.0.0"]\ntake = "dist/toy"',
    ),
    "npm with its needs": (
        'file = "${adapters}/toy/node_modules/toy-dap/other.js"',
        'packages = ["toy-dap@1.0.0"]',
    ),
}
"""By how it is got: what must be there, and what gets it."""


def defined(person: Person, way: str) -> None:
    """Give the person a definition of a toy adapter."""
    folder = person.home / ".config/dapeer/adapters"
    folder.mkdir(parents=True)
    there, get = WAYS[way]
    text = f'id = "toy"\nadapter_id = "toy"\n[detect]\nall = [{{ {there} }}]\n[transport]\ncommand = ["toy"]\n'
    install = f'[[install]]\nmanager = "{way.partition(" ")[0]}"\n{get}\n'
    (folder / "toy.toml").write_text(text + install, encoding="utf-8")


def using(address: str, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have uv and npm ask a registry, and nothing that was kept before."""
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{address}/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(person.home / "uv"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_update_notifier", "false")
    monkeypatch.setenv("npm_config_registry", address)
    monkeypatch.setenv("npm_config_cache", str(person.home / "npm"))
    monkeypatch.setenv("npm_config_userconfig", str(person.home / ".npmrc"))
    for name in ("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX"):
        monkeypatch.delenv(name, raising=False)


def needs(way: str) -> None:
    program = "uv" if way == "pip" else "npm"
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")


@pytest.mark.parametrize("way", WAYS)
def test_an_adapter_is_got_verified_and_given_back(
    way: str, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(way)
    defined(person, way)
    folder = person.home / ".local/share/dapeer/adapters/toy"
    assert "toy was not found" not in person.installs("toy", command="doctor", code=1)
    with registry() as address:
        using(address, person, monkeypatch)
        told = person.installs("install", "toy", command="adapters")
    assert (
        told.splitlines()[0]
        == f"toy: getting toy-dap{'' if way == 'pip' else '@1.0.0'} by {way[:3]} …"
    )
    assert told.endswith(f"; it is in {folder}\ntoy: ready\n")
    assert "checksums" in told
    with registry(honest=False) as address:
        using(address, person, monkeypatch)
        shutil.rmtree(person.home / "uv", ignore_errors=True)
        shutil.rmtree(person.home / "npm", ignore_errors=True)
        failed = person.installs("install", "toy", command="adapters", code=1)
    assert "toy: not installed, and nothing has changed: " in failed
    assert "ready" in person.installs(command="adapters").partition("toy")[0][-12:]
    assert f"removed {folder}" in person.installs("uninstall", "toy", command="adapters")
    assert not folder.exists()
    assert [*folder.parent.iterdir()] == []
    again = person.installs("uninstall", "toy", command="adapters")
    assert again == "toy: `dapeer adapters install` has not got it, so nothing was removed.\n"


def test_what_is_no_adapter_or_not_dapeers_is_left(person: Person) -> None:
    defined(person, "npm")
    assert "There is no adapter of type `nobody`." in person.installs(
        "install", "nobody", command="adapters", code=2
    )
    assert "No adapter is named." in person.installs("install", command="adapters", code=2)
    mine = person.home / ".local/share/dapeer/adapters/toy/mine"
    mine.parent.mkdir(parents=True)
    mine.touch()
    assert "Move it away first." in person.installs("install", "toy", command="adapters", code=1)
    person.installs("uninstall", "--all", command="adapters")
    assert mine.exists()


def test_an_adapter_that_shares_a_folder_says_whose_it_is(person: Person) -> None:
    folder = person.home / ".local/share/dapeer/adapters/js-debug"
    folder.mkdir(parents=True)
    (folder / MARK).write_text("{}", encoding="utf-8")
    said = person.installs("uninstall", "chrome", command="adapters")
    assert said.endswith("nothing was removed. Run: dapeer adapters uninstall js-debug\n")
    assert folder.exists()
    moved = folder.rename(person.home / "moved")
    folder.symlink_to(moved)
    said = person.installs("uninstall", "--all", command="adapters")
    assert said == f"js-debug: {folder} is a link, so nothing was removed. Remove it yourself.\n"
    assert (moved / MARK).exists()


def test_what_comes_with_dapeer_is_not_installed_again(person: Person) -> None:
    said = person.installs("install", "debugpy", command="adapters")
    assert said == (
        "debugpy: ready. It comes with dapeer or your system, so nothing was installed.\n"
    )


def test_each_adapter_is_listed_in_80_columns(person: Person) -> None:
    for line in person.installs(command="adapters").splitlines():
        assert len(line) <= 80


@pytest.mark.parametrize("name", ["js-debug", "codelldb", "bash-dap"])
def test_what_dapeer_gets_itself_is_named_by_one_command(
    name: str, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = person.home / "bin"
    nothing.mkdir()
    Path(nothing / "dapeer").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(nothing))
    assert detect(load_all(shipped())[name]).install == f"dapeer adapters install {name}"
