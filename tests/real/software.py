"""Real software, pinned: found in a cache where it has been installed, else the test is skipped.

Everything is named once, in the tables here; `tests.real.install` installs all of them.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.npm import CACHE as NPM_CACHE
from tests.npm import MissingError, installed, only_one

CACHE = NPM_CACHE.with_name("real")
SECONDS_TO_INSTALL = 600

ENVIRONMENTS = {
    "web": (
        "django==5.2.19",
        "fastapi==0.165.0",
        "flask==3.1.3",
        "uvicorn==0.54.0",
        "gunicorn==27.0.1",
    ),
    "aiohttp": ("aiohttp==3.14.5",),
    "grpc": ("grpcio==1.85.3",),
    "networkx": ("networkx==3.6.1", "pytest==9.0.2", "pytest-xdist==3.8.0"),
    "pandas": ("pandas==2.3.3",),
    "trio": ("trio==0.35.0", "anyio==4.16.0"),
    "twisted": ("twisted==26.10.0",),
    "click": ("click==8.3.1",),
    "dap-mcp": ("dap-mcp==0.1.5", "mcp==1.30.0"),
    "polybugger": ("polybugger-mcp==1.8.0", "mcp==1.30.0", "debugpy==1.8.22"),
}
"""Virtual environments: what of PyPI each one holds."""

SOURCES = {"pyclipper": "pyclipper==1.4.0"}
"""Source archives of PyPI, unpacked."""

MODULES = {
    "express": ("express@5.2.1",),
    "typescript": ("typescript@5.9.3", "esbuild@0.28.2", "vite@7.3.1", "tsx@4.21.0"),
    "jest": ("jest@30.5.2",),
    "vitest-3": ("vitest@3.2.4",),
    "vitest-4": ("vitest@4.1.12",),
    "vitest-5": ("vitest@5.1.1",),
    "mocha-11": ("mocha@11.7.5",),
    "mocha-12": ("mocha@12.0.3",),
}
"""Folders `node_modules`: what of npm each one holds."""

PACKAGES = {
    "golang-golang-x-sync-dev": "/usr/share/gocode/src/golang.org/x/sync",
    "googletest": "/usr/src/googletest",
    "junit5": "/usr/share/java/junit-platform-console-standalone.jar",
    "libc-bin": "/usr/bin/ldd",
    "libgtest-dev": "/usr/include/gtest/gtest.h",
    "libcommons-lang3-java": "/usr/share/java/commons-lang3.jar",
    "librust-semver-dev": "/usr/share/cargo/registry/semver-1.0.14",
    "lua-busted": "/usr/share/lua/5.1/busted/runner.lua",
    "neovim": "/usr/bin/nvim",
    "perl-modules-5.36": "/usr/share/perl/5.36",
    "puma": "/usr/bin/puma",
    "ruby-addressable": "/usr/share/rubygems-integration/all/gems/addressable-2.8.1",
    "ruby-minitest": "/usr/share/rubygems-integration/all/gems/minitest-5.17.0",
    "ruby-rack": "/usr/bin/rackup",
    "ruby-webrick": "/usr/share/rubygems-integration/all/gems/webrick-1.8.1",
    "ruby-rspec": "/usr/share/rubygems-integration/all/gems/rspec-3.12.0",
}
"""Packages of Debian, which pins them, and a path that each one brings."""


def environment(name: str) -> Path:
    """Return the folder of a virtual environment."""
    return _or_skip(environment_of, name)


def source(name: str) -> Path:
    """Return the folder of an unpacked source archive."""
    return _or_skip(_source, name)


def node_modules(name: str) -> Path:
    """Return a folder `node_modules`."""
    return _or_skip(_node_modules, name)


def package(name: str) -> Path:
    """Return the path that a package of Debian brings."""
    path = Path(PACKAGES[name])
    if not path.exists():
        pytest.skip(f"needs {name}: apt-get install {name}")
    return path


def site_packages(folder: Path) -> Path:
    """Return where a virtual environment has its packages."""
    return next(folder.glob("lib/python*/site-packages"))


@cache
def _or_skip(find: Callable[[str], Path], name: str) -> Path:
    try:
        return find(name)
    except MissingError as missing:
        pytest.skip(str(missing))


def environment_of(name: str) -> Path:
    """Return the folder of a virtual environment.

    Raises:
        MissingError: It cannot be had.
    """
    return environment_with(name, sys.executable, *ENVIRONMENTS[name])


def environment_with(name: str, python: str, *wanted: str) -> Path:
    """Return the folder of a virtual environment of an interpreter, with these packages of PyPI.

    Raises:
        MissingError: It cannot be had.
    """

    def make(folder: Path) -> None:
        uv = _uv(name)
        _run(name, uv, "venv", "--quiet", "--clear", "--python", python, str(folder))
        inside = str(folder / "bin" / "python")
        _run(name, uv, "pip", "install", "--quiet", "--python", inside, *wanted)

    return _made(name, (python, *wanted), make)


def _source(name: str) -> Path:
    wanted = SOURCES[name]

    def make(folder: Path) -> None:
        download = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        _run(name, _uv(name), "tool", "run", *download, "--dest", str(folder), wanted)
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")

    return next(_made(name, (wanted,), make).glob("*/"))


def _uv(name: str) -> str:
    uv = shutil.which("uv")
    if uv is None:
        raise MissingError(f"needs uv, for {name}: pip install uv")
    return uv


def _node_modules(name: str) -> Path:
    return installed(*MODULES[name])


def _made(name: str, wanted: tuple[str, ...], make: Callable[[Path], None]) -> Path:
    """Return a folder of the cache, which one process makes for all."""
    digest = hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:8]
    folder = CACHE / f"{name}-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with only_one(folder.with_name(f"{folder.name}.lock")):
        complete = folder.with_name(f"{folder.name}.complete")
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            complete.touch()
    return folder


def _run(name: str, *command: str) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_INSTALL,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise MissingError(f"{name} did not arrive in {SECONDS_TO_INSTALL} s") from late
    if done.returncode:
        raise MissingError(f"cannot get {name}: {done.stderr.strip()[-300:]}")


def install() -> list[str]:
    """Install everything; return what could not be had, and why."""
    problems = [_debian()]
    for find, names in (
        (environment_of, ENVIRONMENTS),
        (_source, SOURCES),
        (_node_modules, MODULES),
    ):
        for name in names:
            try:
                find(name)
            except MissingError as missing:
                problems.append(str(missing))
    return [problem for problem in problems if problem]


def _debian() -> str:
    missing = [name for name, path in PACKAGES.items() if not Path(path).exists()]
    if not missing:
        return ""
    try:
        _run("apt-get", "apt-get", "install", "-y", "--no-install-recommends", *missing)
    except (MissingError, OSError) as error:
        return f"{', '.join(missing)}: {error}"
    return ""
