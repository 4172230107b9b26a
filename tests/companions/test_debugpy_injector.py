"""What debugpy's injector runs in a program lets that go on, whatever its debugger does."""

import importlib.util
import json
import socket
import subprocess
from pathlib import Path

import pytest

from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.companions.python.debugpy_injector import able_to_go_on, isolated_code, quiet
from tests.processes import LIMIT
from tests.pythons import python_of, versions

FOUND = importlib.util.find_spec("debugpy")
FOLDER = Path(FOUND.origin if FOUND and FOUND.origin else "").parent / "server"
CODE = """
import codecs;import json;import sys;sys.path.insert(0, {folder!r});import attach_pid_injected;del sys.path[0];
setup = json.loads({setup!r});attach_pid_injected.attach(setup);
"""
"""As debugpy's, but for how it writes texts."""
ON = """
import sys, threading
sys.stdout.write("on %r %s\\n" % (sys.gettrace(), [each.name for each in threading.enumerate()]))
"""


def injected(port: int, seconds: float) -> str:
    """Return what the injector runs, of debugpy that connects to a port."""
    setup = {"mode": "connect", "address": (LOOPBACK, port), "log_to": None}
    text = json.dumps({**setup, "adapter_access_token": None, "wait_for_client": False})
    code = CODE.format(folder=str(FOLDER), setup=text).replace("\n", "")
    return isolated_code(able_to_go_on(quiet(code), seconds))


@versions("3.8", "3.9", "3.10", "3.12", "3.13")
@pytest.mark.parametrize("leaves", [True, False])
def test_a_program_goes_on_whose_debugger_leaves_or_never_answers(
    version: str, *, leaves: bool
) -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        code = injected(server.getsockname()[1], LIMIT if leaves else 0.5)
        command = [python_of(version), "-c", f"{code}\n{ON}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            debugger, _ = server.accept()
            if leaves:
                debugger.close()
            assert process.stdout
            said = process.stdout.readline()
            debugger.close()
            assert process.wait(LIMIT) == 0
    assert said == "on None ['MainThread']\n"
