"""`dapeer doctor` names each adapter that does not work, whatever is wrong with it, and debugs a program under the others."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import load_all, read_with_shared, shipped
from dapeer.cli.main import main
from tests.processes import LIMIT

Definition = dict[str, Any]
"""A definition file."""
NEVER = 10_000
"""More processes than any machine has ready, for each processor."""
NOBODYS = "missing-program-of-nobody"
READY = {name: detect(each).ready for name, each in load_all(shipped()).items()}
"""By adapter: whether it is there."""


def broken(settings: Path, breaks: Callable[[Definition], None]) -> None:
    """Give the user a broken definition of each adapter, which is used in place of dapeer's own."""
    folder = settings / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    for name in READY:
        definition = read_with_shared(shipped() / f"{name}.toml")
        breaks(definition)
        (folder / f"{name}.toml").write_text(tomlkit.dumps(definition), encoding="utf-8")


def misses_a_program(definition: Definition) -> None:
    definition["detect"].setdefault("all", []).append({"executable": NOBODYS})


def started_by(definition: Definition, *command: str) -> None:
    """Start another program in the adapter's place, with its arguments."""
    variants = [each.get("transport", {}) for each in definition.get("launch_variant", [])]
    for transport in (definition["transport"], *variants):
        if "command" in transport:
            transport["command"] = [*command, *transport["command"]]


def exits(definition: Definition) -> None:
    started_by(definition, "false")


def hangs(definition: Definition) -> None:
    started_by(definition, "sh", "-c", "sleep 600")


def has_a_patch_that_does_not_fit(definition: Definition) -> None:
    definition["detect"]["patches"] = ["echo", "its speed"]
    exits(definition)


@pytest.mark.parametrize(
    ("breaks", "told", "seconds"),
    [
        (misses_a_program, rf"missing +{{name}} +{NOBODYS} was not found", LIMIT),
        (exits, r"failed +{name}.* (ended at once, with exit code 1|it ended first)\.", LIMIT),
        (hangs, r"failed +{name}.* did not start within 2 s", 2.0),
        (has_a_patch_that_does_not_fit, r"note +{name} +not changed: its speed", LIMIT),
    ],
)
def test_each_adapter_that_is_broken_is_named_with_what_is_wrong(
    breaks: Callable[[Definition], None],
    told: str,
    seconds: float,
    settings: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("dapeer.cli.doctor.SECONDS_FOR_ALL", seconds)
    monkeypatch.setattr("dapeer.cli.doctor.MAX_READY_PROCESSES", NEVER)
    broken(settings, breaks)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    for name, ready in READY.items():
        expected = told.format(name=re.escape(name)) if ready else rf"missing +{re.escape(name)} "
        assert re.search(expected, said), f"{name}: {said}"


def test_an_adapter_that_a_busy_machine_leaves_no_time_is_not_said_to_have_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dapeer.cli.doctor.SECONDS_FOR_ALL", 0.0)
    monkeypatch.setattr("dapeer.cli.doctor.MAX_READY_PROCESSES", -1)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert not re.search(r"^ +failed", said, re.MULTILINE)
    for name in (name for name, ready in READY.items() if ready):
        alone = f"busy: did not start within 0 s; `dapeer doctor {name}` tries it alone"
        assert re.search(rf"slow +{name} .*{alone}\n", said), said


def test_a_real_program_is_debugged_under_each_adapter_that_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dapeer.cli.doctor.SECONDS_FOR_ALL", LIMIT)
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    for name in (name for name, ready in READY.items() if ready):
        assert re.search(rf"ready +{re.escape(name)} .*debugged a program in [\d.]+ s\n", said), (
            said
        )


def test_an_adapter_for_programs_that_cannot_be_compiled_here_is_only_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not READY["gdb"]:
        pytest.skip("needs gdb: pip install gdb")
    monkeypatch.setattr("dapeer.cli.doctor.SECONDS_FOR_ALL", LIMIT)
    monkeypatch.setattr("dapeer.cli.doctor.COMPILERS", (NOBODYS,))
    assert main(["doctor", "gdb"]) == 0
    told = f"starts; not tried with a program: needs a compiler: {NOBODYS}"
    assert told in capsys.readouterr().out
