"""The adapters that CI requires: `python -m tests.required` installs what is missing of them.

Each is got by the command of its own definition, so that the hints that users see are tried, too.
`--check` installs nothing, and fails when one is missing.
"""

import os
import subprocess
import sys
from pathlib import Path

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import Definition, load_all, shipped

REQUIRED = (
    "debugpy", "gdb", "bash-dap", "cmake", "js-debug", "delve", "lldb-dap", "codelldb", "jdi",
    "perl", "rdbg",
)  # fmt: skip
WELCOME = ("chrome",)
"""Those that CI has where they can be had: without them their tests are skipped."""
SECONDS = 300
APT = Path(__file__).with_name("apt.conf")
"""CI needs no more than what it asks for."""


def main(arguments: list[str]) -> int:
    """Install what is missing, or say what is; return the exit code."""
    known = load_all(shipped())
    missing = [known[name] for name in REQUIRED + WELCOME if not detect(known[name]).ready]
    if missing and "--check" not in arguments:
        _update(missing)
        missing = [definition for definition in missing if not _installed(definition)]
    for definition in missing:
        detection = detect(definition)
        _say(f"{definition.id}: {detection.missing}. Get it: {detection.install}")
    return 1 if any(each.id in REQUIRED for each in missing) else 0


def _installed(definition: Definition) -> bool:
    """Get an adapter by its own command."""
    detection = detect(definition)
    if detection.install:
        _run(detection.install)
    return detect(definition).ready


def _update(missing: list[Definition]) -> None:
    """A fresh image of Debian knows no packages until it has asked once."""
    commands = [detect(definition).install for definition in missing]
    by_apt = next((command for command in commands if "apt-get install " in command), None)
    if by_apt is not None:
        _run(by_apt.partition("apt-get install ")[0] + "apt-get update")


def _run(command: str) -> None:
    try:
        done = subprocess.run(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "APT_CONFIG": str(APT)},
            check=False,
        )
    except subprocess.TimeoutExpired:
        _say(f"`{command}` did not end within {SECONDS} s")
        return
    if done.returncode:
        _say(f"`{command}` failed: {done.stderr.strip()[-500:]}")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
