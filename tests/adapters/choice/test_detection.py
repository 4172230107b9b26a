"""What is installed, and how to get what is not."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice import detection
from dapeer.adapters.choice.detection import detect, patches, printed_rows
from dapeer.adapters.definition.definition import Definition, load, load_all, shipped

DEFINITIONS = load_all(shipped())
BESIDE = Path(sys.executable).parent


def program(folder: Path, name: str, prints: str = "") -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)
    return str(path)


def toy(folder: Path, detection: str, install: str = "") -> Definition:
    path = folder / "toy.toml"
    path.write_text(f"""
        id = "toy"
        adapter_id = "toy"
        [detect]
        {detection}
        [transport]
        command = ["toy"]
        {install}
    """)
    return load(path)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that comes first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))
    return folder


def test_debugpy_is_ready_for_it_is_a_dependency() -> None:
    assert detect(DEFINITIONS["debugpy"], python="/nowhere/python").ready


def test_all_that_is_changed_in_debugpy_fits_the_installed_one_and_nothing_else_is_told() -> None:
    found = patches(DEFINITIONS["debugpy"], {})
    assert len(found) > 40
    assert [(each.name, each.off) for each in found if each.off] == []


@pytest.mark.parametrize("before", ['{"level": "warn"}', '"a text"', "3", "warning: old", "{}"])
def test_the_register_is_the_first_array_that_a_command_prints(before: str) -> None:
    row = '[{"name": "conditions", "lost": "speed", "off": null}]'
    [found] = printed_rows(["printf", "%s\\n", before, row])
    assert (found.name, found.lost, found.off) == ("conditions", "speed", "")


@pytest.mark.skipif(shutil.which("setsid") is None, reason="needs setsid, of util-linux")
def test_a_process_that_has_left_the_session_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detection, "SECONDS_FOR_PATCHES", 1.0)
    [row] = printed_rows(["sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & exit"])
    # It holds the pipe still.
    os.kill(int(row.lost), signal.SIGKILL)


def test_what_is_beside_our_interpreter_is_found_without_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not (BESIDE / "bash-dap").exists():
        pytest.skip("needs bash-dap: uv sync --group dev")
    monkeypatch.setenv("PATH", "/bin")
    detection = detect(DEFINITIONS["bash-dap"])
    assert detection.ready
    assert detection.found["bash-dap"] == str(BESIDE / "bash-dap")


@pytest.mark.skipif(not (BESIDE / "gdb").exists(), reason="needs: pip install gdb-for-pwndbg")
def test_a_gdb_without_the_protocol_is_passed_over(path: Path) -> None:
    program(path, "gdb", "GNU gdb (Debian 13.1-3) 13.1")
    detection = detect(DEFINITIONS["gdb"])
    assert detection.ready
    assert detection.found["gdb"] != str(path / "gdb")
    assert detection.version.partition(".")[0] >= "14"


def test_one_that_is_too_old_is_told_with_both_versions(path: Path, tmp_path: Path) -> None:
    program(path, "toy-dap", "toy 2.9.1")
    definition = toy(
        tmp_path,
        """all = [{ executable = "toy-dap" }]
        version = { command = ["${toy-dap}", "-V"], regex = 'toy (\\S+)', min = "2.10" }""",
    )
    detection = detect(definition)
    assert not detection.ready
    assert detection.missing == "toy 2.9.1 is too old, 2.10 is needed"


def test_a_version_is_asked_again_when_the_program_has_changed(path: Path, tmp_path: Path) -> None:
    definition = toy(
        tmp_path,
        """all = [{ executable = "toy-dap" }]
        version = { command = ["${toy-dap}"], regex = 'toy (\\S+)' }""",
    )
    for version in ("1.0", "2.0"):
        os.utime(program(path, "toy-dap", f"toy {version}"), (1, float(version)))
        assert detect(definition).version == version


def test_what_is_installed_meanwhile_is_found_though_its_program_is_the_same(
    path: Path, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    Path(program(path, "toy-perl")).write_text(f"#!/bin/sh\ncat {library} 2>&1\n")
    definition = toy(
        tmp_path,
        """all = [{ executable = "toy-perl" }]
        version = { command = ["${toy-perl}"], regex = '^toy (\\S+)', min = "2.2" }""",
    )
    assert detect(definition).missing == "toy does not tell its version, 2.2 is needed"
    library.write_text("toy 2.5")
    assert detect(definition).ready


def test_a_program_that_floods_or_never_ends_when_asked_for_its_version_costs_little(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detection, "SECONDS_FOR_VERSION", 1)
    definition = DEFINITIONS["gdb"]
    for name, script in {"floods": "yes 8", "hangs": "sleep 1000 & sleep 1000"}.items():
        program(path, name, f"8'\n{script}\n: '")
        definition = toy(
            tmp_path,
            f"""all = [{{ executable = "{name}" }}]
            version = {{ command = ["${{{name}}}"], regex = '(\\d+)', min = "7" }}""",
        )
        found = detect(definition)
        assert (found.ready, found.version) == (True, "8")
    program(path, "hangs", "'\nsleep 1000\n: '")
    assert detect(definition).missing == (
        "toy did not tell its version within 1 s; the machine may be busy, so try again"
    )


def test_the_first_of_several_names_is_the_placeholder(path: Path, tmp_path: Path) -> None:
    newer = program(path, "toy-dap-2")
    detection = detect(toy(tmp_path, 'any = [{ executable = ["toy-dap", "toy-dap-2"] }]'))
    assert detection.found == {"executable": newer, "toy-dap": newer}


def test_what_is_missing_is_named_with_the_command_that_gets_it(tmp_path: Path) -> None:
    detection = detect(
        toy(
            tmp_path,
            'all = [{ executable = "sh" }, { executable = "toy-dap-that-nobody-has" }]',
            "[[install]]\nmanager = 'pip'\ncommand = 'pip install toy-dap'",
        )
    )
    assert not detection.ready
    assert detection.missing == "toy-dap-that-nobody-has was not found"
    assert detection.install.endswith("dapeer adapters install toy")


def test_one_of_any_is_enough_and_a_missing_module_is_none(tmp_path: Path) -> None:
    missing = '{ python_module = ["a_module_that_nobody_has", "nor.this"] }'
    assert detect(toy(tmp_path, f'any = [{missing}, {{ executable = "sh" }}]')).ready
    assert not detect(toy(tmp_path, f"any = [{missing}]")).ready


def test_files_are_found_by_pattern_and_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_HOME", str(tmp_path))
    (tmp_path / "toy-1").mkdir()
    server = tmp_path / "toy-1" / "server.js"
    server.touch()
    detection = detect(toy(tmp_path, "any = [{ file = '$TOY_HOME/toy-*/server.js' }]"))
    assert detection.found == {"file": str(server), "file_dir": str(server.parent)}


def test_an_installer_that_is_there_is_preferred(path: Path, tmp_path: Path) -> None:
    program(path, "toy-installer")
    install = """
        [[install]]
        manager = "installer-that-nobody-has"
        command = "no"
        [[install]]
        manager = "toy-installer"
        command = "toy-installer get toy"
    """
    assert detect(toy(tmp_path, "", install)).install == "toy-installer get toy"


def test_what_is_missing_of_several_things_says_how_to_get_it(path: Path, tmp_path: Path) -> None:
    definition = toy(
        tmp_path,
        'all = [{ executable = "toy-dap" }, { executable = ["toy-browser", "other-browser"] }]',
        """[[install]]
        manager = "sh"
        command = "get toy"
        [[install]]
        manager = "sh"
        gets = "toy-browser"
        command = "get browser"
        """,
    )
    assert detect(definition).install == "get toy"
    program(path, "toy-dap")
    found = detect(definition)
    assert (found.missing, found.install) == ("toy-browser was not found", "get browser")
    program(path, "other-browser")
    assert detect(definition).ready
