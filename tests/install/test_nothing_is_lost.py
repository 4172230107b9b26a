"""Whatever is in a client's file, `dapeer install` and `--remove` change their own entry and nothing else.

10,000 cases: `DAPEER_INSTALL_CASES=10000 uv run pytest tests/install/test_nothing_is_lost.py`.
"""

import os
import stat
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dapeer.cli.install import command
from dapeer.cli.install.clients import CLIENTS, Client
from tests.install.configurations import Configuration, found, json_files, toml_files
from tests.install.person import FILES, Person

CASES = int(os.environ.get("DAPEER_INSTALL_CASES", "60"))
CONFIGURATIONS = settings(
    max_examples=CASES,
    deadline=None,
    # On a busy machine, files are written slowly, and not every mixture of lines is valid TOML.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
OLD = ("/old/dapeer", "stdio", "--read-only")
MINE = {"env": {"A": "b"}, "timeout": 9, "enabled": False}
"""What a person has added to dapeer's entry."""


def others(data: bytes, client: Client) -> dict[str, Any]:
    """Return all that a file holds but dapeer's entry; no servers are as good as none."""
    whole = found(data, toml=client.id == "codex")
    servers = dict(whole.get(client.key) or {})
    servers.pop("dapeer", None)
    rest = {key: value for key, value in whole.items() if key != client.key}
    return {**rest, client.key: servers} if servers else rest


def entry(data: bytes, client: Client) -> dict[str, Any]:
    return found(data, toml=client.id == "codex")[client.key]["dapeer"]


class File:
    """The file of a client's servers, which may be a link."""

    def __init__(self, path: Path, before: bytes, mode: int, *, linked: bool) -> None:
        self.path, self.mode, self.linked = path, mode, linked
        self.path.parent.mkdir(parents=True, exist_ok=True)
        target = path.with_name("target") if linked else path
        target.write_bytes(before)
        target.chmod(mode)
        if linked:
            path.symlink_to(target)

    def read(self) -> bytes:
        """Return its bytes; it is the kind of file that it was."""
        assert self.path.is_symlink() == self.linked
        assert stat.S_IMODE(self.path.stat().st_mode) == self.mode
        return self.path.read_bytes()


def runs(client: Client, *, remove: bool = False) -> str:
    """Do as `dapeer install CLIENT --yes` does, without its command line, which takes longer than all else."""
    with redirect_stdout(StringIO()) as told:
        assert command.run(client.id, "user", remove=remove, agreement="yes") == 0
    return told.getvalue()


def is_kept(person: Person, client: Client, given: Configuration, file: File) -> None:
    """Install, install again, update and remove; all else stays."""
    before, rest = given.data, others(given.data, client)
    runs(client)
    installed = file.read()
    assert others(installed, client) == rest
    if given.has_dapeer:
        assert "--read-only" in str(entry(installed, client))
        assert {k: v for k, v in entry(installed, client).items() if k in MINE} == {
            k: v for k, v in entry(before, client).items() if k in MINE
        }
    assert "nothing to change" in runs(client)
    elsewhere = person.home / "bin" / "dapeer"
    elsewhere.parent.mkdir(exist_ok=True)
    elsewhere.touch(mode=0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(elsewhere.parent))
        runs(client)
    updated = file.read()
    assert str(elsewhere) in str(entry(updated, client))
    assert others(updated, client) == rest
    runs(client, remove=True)
    if given.has_dapeer and not rest and not file.path.exists():
        return  # as if the file had been made for dapeer
    assert others(file.read(), client) == rest
    if not given.has_dapeer:
        assert file.read() == before


def tried(client: Client, given: Configuration, mode: int, *, linked: bool) -> None:
    """Give a person this file, and try it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        person = Person(Path(folder), patch)
        file = File(person.home / FILES[client.id], given.data, mode, linked=linked)
        is_kept(person, client, given, file)


def written_by_a_person(client: Client) -> dict[str, object]:
    return {**client.entry_for(OLD), **MINE}


@CONFIGURATIONS
@given(
    data=st.data(),
    client=st.sampled_from([one for one in CLIENTS.values() if one.id != "codex"]),
    mode=st.sampled_from([0o600, 0o644]),
    linked=st.booleans(),
)
def test_nothing_is_lost_in_a_json_file(
    data: st.DataObject, client: Client, mode: int, linked: bool
) -> None:
    given = data.draw(json_files(client.key, written_by_a_person(client)))
    whole = found(given.data, toml=False)
    assume(isinstance(whole.get(client.key, {}), dict))
    tried(client, given, mode, linked=linked)


@CONFIGURATIONS
@given(given=toml_files(), mode=st.sampled_from([0o600, 0o644]), linked=st.booleans())
def test_nothing_is_lost_in_a_toml_file(given: Configuration, mode: int, linked: bool) -> None:
    tried(CLIENTS["codex"], given, mode, linked=linked)
