"""Our launcher of debugpy's adapter: prompt where it can be, plain where it cannot."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from debugpy.common import messaging

from dapeer.adapters.definition import own_values
from dapeer.adapters.launchers.debugpy_quickack import acknowledge_promptly

QUICKACK = (socket.IPPROTO_TCP, getattr(socket, "TCP_QUICKACK", 0))
LAUNCHER = f"{own_values()['launchers']}/debugpy_quickack.py"


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="needs Linux")
def test_each_line_that_is_read_is_acknowledged_promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = cast("Any", messaging.JsonIOStream)
    monkeypatch.setattr(streams, "from_socket", streams.__dict__["from_socket"])
    acknowledge_promptly(streams, socket.TCP_QUICKACK)
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        with theirs:
            ours.setsockopt(*QUICKACK, 0)
            stream = streams.from_socket(ours, "test")
            body = json.dumps({"hello": 1}).encode()
            theirs.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            assert stream.read_json() == {"hello": 1}
            assert ours.getsockopt(*QUICKACK) == 1
        stream.close()


@pytest.mark.parametrize(
    "inside",
    [
        {},
        {"common/__init__.py": ""},
        {"common/__init__.py": "", "common/messaging.py": ""},
        {"common/__init__.py": "", "common/messaging.py": "class JsonIOStream: pass"},
    ],
)
def test_a_debugpy_that_is_not_as_expected_is_started_plainly(
    inside: dict[str, str], tmp_path: Path
) -> None:
    files = {
        "__init__.py": "",
        "adapter/__init__.py": "",
        "adapter/__main__.py": "import sys; print('plain', sys.argv[1:])",
        **inside,
    }
    for name, text in files.items():
        path = tmp_path / "debugpy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-P", LAUNCHER, "--log-stderr"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain ['--log-stderr']\n"
