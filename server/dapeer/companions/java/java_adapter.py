"""Compile dapeer's adapter for Java once, and run it. Only the standard library; run with `-I -S`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent
EXPORTS = ["--add-exports", "jdk.jdi/com.sun.tools.example.debug.expr=ALL-UNNAMED"]
"""Makes the parser of the JDK's own debugger `jdb` accessible."""
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"]
"""Options that shorten the start of a small program."""


def main(java: str, javac: str, built: str, cache: str) -> None:
    """Compile the adapter if needed, and replace this process by it; it never returns.

    On Windows it is run as a child, and this process exits with its code. `java` and `javac` are paths of these programs. The folder
    `built` is created here, and must not exist: the adapter compiles programs there. `cache` is the folder that keeps compiled adapters.

    Raises:
        subprocess.CalledProcessError: The adapter's sources did not compile.
        OSError: A folder cannot be made, or a program cannot be run.
    """
    Path(built).mkdir()
    command = [
        java,
        *QUICK,
        *EXPORTS,
        "-cp",
        str(ensure_compiled(javac, Path(cache), Path(built))),
        "Adapter",
        built,
    ]
    if os.name == "nt":  # Windows cannot replace a process
        sys.exit(subprocess.call(command))
    os.execv(java, command)


def ensure_compiled(javac: str, cache: Path, built: Path) -> Path:
    """Return the folder of the compiled adapter, which is compiled if `cache` does not have it yet.

    `javac` is the path of the compiler. The folder's name has a hash of the sources and of the compiler (path and
    time). The adapter is compiled in a new folder in `built`, which stays there if that fails. The result is
    copied into a temporary folder in `cache`, and then renamed: the returned folder is always complete.

    Raises:
        subprocess.CalledProcessError: The sources did not compile.
        OSError: The compiler or `built` is not there, or the folder cannot be put into `cache`.
    """
    sources = sorted(SOURCES.glob("*.java"))
    compiler = Path(javac).resolve()
    key = hashlib.sha256(f"{compiler} {compiler.stat().st_mtime}".encode())
    for source in sources:
        key.update(source.read_bytes())
    target = cache / f"java-{key.hexdigest()[:16]}"
    if not target.is_dir():
        made = Path(tempfile.mkdtemp(dir=built))
        command = [javac, "-nowarn", *EXPORTS, "-d", str(made), *map(str, sources)]
        subprocess.run(command, check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL)
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=cache))
        try:
            shutil.copytree(made, folder, dirs_exist_ok=True)
            shutil.rmtree(made)
            folder.rename(target)
        except OSError:
            # Another process has put it there meanwhile.
            if not target.is_dir():
                raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return target


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError:
        sys.exit("The Java adapter failed to compile. Install a JDK of version 11 or later.")
