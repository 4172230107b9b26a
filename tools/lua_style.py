"""The style of all Lua here: StyLua formats it, luacheck reads it for mistakes.

`python -m tools.lua_style` formats the files; with `--check` it changes nothing, and fails where something is amiss;
`--install` gets luacheck from the system's packages, as CI does before.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

from tests import npm
from tests.programs import ROOT

FOLDERS = ("lua", "plugin", "tests", "server")
SECONDS_TO_INSTALL = 300
DRIVER = ROOT / "tools" / "stylua.cjs"
HOW_TO_GET_LUACHECK = (
    "run `python -m tools.lua_style --install` (Debian: apt-get install lua-check)"
)


def files() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.lua"))


def formatted(mode: str) -> bool:
    """Format all files, or with `check` only look; return whether they were formatted already.

    Where StyLua cannot be had, say why.
    """
    try:
        node, package = npm.stylua()
    except npm.MissingError as missing:
        sys.stderr.write(f"SKIPPED: Lua is not formatted here: {missing}.\n")
        return True
    options = json.dumps(tomllib.loads((ROOT / "stylua.toml").read_text(encoding="utf-8")))
    names = [str(path.relative_to(ROOT)) for path in files()]
    done = subprocess.run([node, DRIVER, package, mode, options, *names], cwd=ROOT, check=False)
    return done.returncode == 0


def checked() -> bool:
    """Return whether luacheck finds nothing; where it is missing, say how to get it."""
    luacheck = shutil.which("luacheck")
    if luacheck is None:
        sys.stderr.write(f"SKIPPED: Lua is not checked here: {HOW_TO_GET_LUACHECK}.\n")
        return True
    return subprocess.run([luacheck, "--quiet", *FOLDERS], cwd=ROOT, check=False).returncode == 0


def installed() -> bool:
    """Get luacheck where the system has packages and it is not there yet; return whether it is."""
    if shutil.which("luacheck"):
        return True
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    for words in ["update"], ["install", "--yes", "lua-check"]:
        command = [*root, "apt-get", "-qq", *words]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                timeout=SECONDS_TO_INSTALL,
                check=False,
            )
    return shutil.which("luacheck") is not None


def main(arguments: list[str]) -> int:
    if "--install" in arguments:
        if not installed():
            sys.stderr.write("luacheck cannot be installed here: Lua is not checked.\n")
        return 0
    if "--check" not in arguments:
        formatted("write")
        return 0 if checked() else 1
    well = formatted("check")
    if not well:
        sys.stderr.write("Not formatted: run `python -m tools.lua_style`.\n")
    return 0 if checked() and well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
