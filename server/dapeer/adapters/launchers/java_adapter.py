"""Run our adapter for Java, compiled once for the Java that is here. Only the standard library; run with `-I -S`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent / "java"
EXPORTS = ["--add-exports", "jdk.jdi/com.sun.tools.example.debug.expr=ALL-UNNAMED"]
"""The parser of expressions that Java's own debugger `jdb` has."""
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"]
"""Options that have a small program start soon."""


def main(java: str, javac: str, built: str) -> None:
    """Become the adapter, which may compile programs into the folder `built`."""
    Path(built).mkdir()
    command = [java, *QUICK, *EXPORTS, "-cp", str(classes(javac)), "Adapter", built]
    if os.name == "nt":  # where nothing takes the place of a process
        sys.exit(subprocess.call(command))
    os.execv(java, command)  # noqa: S606


def classes(javac: str) -> Path:
    """Return the folder of the compiled adapter, which is kept for the next time."""
    sources = sorted(SOURCES.glob("*.java"))
    compiler = Path(javac).resolve()
    key = hashlib.sha256(f"{compiler} {compiler.stat().st_mtime}".encode())
    for source in sources:
        key.update(source.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dapeer"
    target = cache / f"java-{key.hexdigest()[:16]}"
    if not target.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=cache))
        command = [javac, "-nowarn", *EXPORTS, "-d", str(folder), *map(str, sources)]
        try:
            subprocess.run(command, check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL)
            folder.rename(target)
        except OSError:
            # Somebody else was quicker.
            if not target.is_dir():
                raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return target


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError:
        sys.exit(
            "The adapter for Java does not compile here. It needs a JDK of version 11 or later."
        )
