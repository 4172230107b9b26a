"""The quick suite as on a machine that has only uv and Python: `python -m tests.bare_machine [ARGUMENT ...]`.

Only what `uv run` installs by itself is there: HOME is empty, PATH has the commands of every Debian, and there is no
network but loopback. Arguments are pytest's. Skipping is not passing: the run fails where too few tests are left.
"""

import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.programs import ROOT

FEWEST = 3000
"""Tests that a whole run passes at least."""
INSIDE = "--inside"
SHORT = "--short"
"""Only the tests that start little."""
LITTLE = (
    "adapters",
    "companions",
    "dap",
    "install",
    "launch",
    "mirror",
    "schemas",
    "sessions",
    "system",
    "text",
    "tools",
    "view",
)
ESSENTIAL = "${Essential} ${Priority} ${Package}\n"
"""What dpkg-query prints of each package."""
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
"""See netdevice(7)."""


def main(arguments: Sequence[str]) -> int:
    """Run the suite there; print how many tests ran, and return the exit code."""
    whole = all(each.startswith("-") for each in arguments)
    if SHORT in arguments:
        folders = [f"tests/{each}" for each in LITTLE]
        arguments = [*(each for each in arguments if each != SHORT), *folders]
    if reason := missing():
        sys.stdout.write(f"Skipped: {reason}.\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="bare-") as folder:
        place = Path(folder)
        # Tests of a second user start this Python as that user.
        place.chmod(0o755)
        environment = around(place)
        uv = ["uv", "sync", "--quiet", "--frozen", "--compile-bytecode"]
        venv = {"UV_PROJECT_ENVIRONMENT": str(place / "python")}
        subprocess.run(uv, cwd=ROOT, env={**os.environ, **venv}, check=True)
        python = str(place / "python" / "bin" / "python")
        command = ["unshare", "--net", python, "-m", "tests.bare_machine", INSIDE, *arguments]
        lines: list[str] = []
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ) as suite:
            for line in suite.stdout or ():
                sys.stdout.write(line)
                sys.stdout.flush()
                lines.append(line)
    return judged(suite.returncode, lines, whole=whole)


def judged(code: int, lines: Sequence[str], *, whole: bool) -> int:
    """Print how many tests passed, and return the exit code; a whole run fails with too few."""
    passed = next((int(match[1]) for each in reversed(lines) if (match := PASSED.search(each))), 0)
    sys.stdout.write(f"{passed} tests passed with uv and Python alone.\n")
    if whole and passed < FEWEST:
        sys.stdout.write(f"That is fewer than {FEWEST}: find out what skips them.\n")
        return code or 1
    return code


PASSED = re.compile(r"(\d+) passed")


def missing() -> str | None:
    """Return what this machine lacks to look like a bare one."""
    if not (shutil.which("dpkg-query") and shutil.which("unshare")):
        return "needs a Debian with unshare (util-linux)"
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode:
        return "needs network namespaces: run as root"
    return None


def around(place: Path) -> dict[str, str]:
    """Make a HOME, and a PATH of uv, Python and the commands of every Debian; return the environment."""
    commands = place / "bin"
    commands.mkdir()
    for each in base_system():
        commands.joinpath(each.name).symlink_to(each)
    # `uv run` says in $UV where it is, which may be hidden behind a shim on PATH.
    commands.joinpath("uv").symlink_to(os.environ.get("UV") or shutil.which("uv") or "uv")
    commands.joinpath("python3").unlink(missing_ok=True)
    commands.joinpath("python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    place.joinpath("home").mkdir(mode=0o700)
    return {
        "HOME": str(place / "home"),
        "LANG": "C.UTF-8",
        "VIRTUAL_ENV": str(place / "python"),
        "PATH": f"{place / 'python' / 'bin'}{os.pathsep}{commands}",
    }


def base_system() -> Iterator[Path]:
    """Yield the commands of the packages that every Debian has."""
    rows = subprocess.check_output(["dpkg-query", "--show", "--showformat", ESSENTIAL], text=True)
    words = [line.split() for line in rows.splitlines()]
    names = [each[-1] for each in words if each[0] == "yes" or "required" in each]
    files = subprocess.check_output(["dpkg", "--listfiles", *names], text=True).splitlines()
    seen: set[str] = set()
    for path in map(Path, files):
        if path.parent.name in {"bin", "sbin"} and path.is_file() and path.name not in seen:
            seen.add(path.name)
            yield path


def inside(arguments: Sequence[str]) -> None:
    """Bring loopback up, and run pytest."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        row = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, row))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
    sys.exit(pytest.main(["-p", "no:cacheprovider", *arguments]))


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        inside(sys.argv[2:])
    sys.exit(main(sys.argv[1:]))
