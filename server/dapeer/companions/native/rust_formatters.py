"""Where the Rust toolchain keeps its formatters for GDB and LLDB. Runs inside of these debuggers."""

from __future__ import annotations

import mmap
import os
import subprocess

RUST = b"rust_eh_personality"
"""A symbol of every Rust program."""
SECONDS_FOR_RUSTC = 5
"""Timeout for asking rustc for its folder."""


def folder_for(program: str) -> str | None:
    """Return the folder of Rust's formatters for GDB and LLDB, for the compiled file `program`.

    For a Rust program, `rustc --print sysroot` is run; that blocks for `SECONDS_FOR_RUSTC` at most. None: the
    file is no Rust program or cannot be read, then nothing is run; or rustc is missing, fails or takes
    longer, or it has no such folder.
    """
    if not _is_rust(program):
        return None
    try:
        done = subprocess.run(
            ["rustc", "--print", "sysroot"],
            capture_output=True,
            check=True,
            # A project may name its toolchain, which would be run to debug it.
            cwd=os.sep,
            timeout=SECONDS_FOR_RUSTC,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    folder = os.path.join(os.fsdecode(done.stdout.strip()), "lib", "rustlib", "etc")
    return folder if os.path.isdir(folder) else None


def _is_rust(program: str) -> bool:
    """Return whether the file `program` contains the symbol `RUST`; False also if it cannot be read."""
    try:
        with (
            open(program, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.find(RUST) >= 0
    except (OSError, ValueError):
        return False
