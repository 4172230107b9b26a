"""What compiles the adapter for Java leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.processes import LIMIT
from tests.programs import ROOT

LAUNCHER = ROOT / "server/dapeer/companions/java/java_adapter.py"


def test_a_compiler_that_nobody_waits_for_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    cache, built, javac = tmp_path / "cache", tmp_path / "built", tmp_path / "javac"
    cache.mkdir()
    javac.write_text("#!/bin/sh\necho compiles\nexec sleep 1000\n", encoding="utf-8")
    javac.chmod(0o700)
    command = [sys.executable, "-I", "-S", LAUNCHER, "/bin/true", javac, built, cache]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"compiles\n"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(LIMIT)
    assert [*cache.iterdir()] == []
