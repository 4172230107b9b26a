"""A file system that answers nothing, such as a network mount whose server is gone: other calls go on, and the end comes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.wire import call, opening, request
from tests.processes import LIMIT

pytestmark = pytest.mark.hostile

STALLED = r"""
import ctypes, json, os, select, struct, subprocess, sys, threading
folder, messages, inside = sys.argv[1], json.loads(sys.argv[2]), len(sys.argv) > 3
kernel = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
options = f"fd={kernel},rootmode=40000,user_id=0,group_id=0".encode()
if ctypes.CDLL(None).mount(b"stalled", folder.encode(), b"fuse", 0, options):
    sys.exit(77)
def answer(bodies):
    operation, unique = struct.unpack_from("<IQ", os.read(kernel, 1 << 17), 4)
    body = bodies.get(operation, b"")
    os.write(kernel, struct.pack("<IiQ", 16 + len(body), 0 if body else -38, unique) + body)
    return operation
LOOKUP, GETATTR, INIT = 1, 3, 26
# Several may ask in one folder at once.
answer({INIT: struct.pack("<IIIIHHIIHHII24x", 7, 31, 1 << 16, 1 << 18, 9, 9, 1 << 16, 1, 16, 0, 0, 0)})
def stall():
    # The folder itself is there; at the first name in it, the kernel is told nothing any more.
    root = struct.pack("<QII6Q10I", 3600, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
    while select.select([kernel], [], []) and answer({GETATTR: root}) != LOOKUP:
        pass
stalling = threading.Thread(target=stall, daemon=True)
if inside:
    stalling.start()
server = subprocess.Popen(
    [sys.executable, "-P", "-m", "dapeer", "stdio", "--no-bridge", "--nvim", "none"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    cwd=folder if inside else None,
)
for each in messages:
    server.stdin.write(json.dumps(each).encode() + b"\n")
server.stdin.flush()
answered = set()
while not answered & {1 if inside else 99}:
    answered.add(json.loads(server.stdout.readline()).get("id"))
if inside:
    stalling.join()
server.stdin.close()
print(json.dumps([sorted(each for each in answered if each), server.wait()]))
"""
PLACES = {
    "program": {"program": "MOUNT/a.py"},
    "folder": {"program": "a.py", "cwd": "MOUNT/a"},
    "interpreter": {"program": "a.py", "python": "MOUNT/python"},
    "virtual environment": {"program": "a.py"},
    "breakpoint": {"program": "a.py", "breakpoints": [{"filename": "MOUNT/a.py", "line": 1}]},
    "project": {"program": "a.py"},
}


@pytest.mark.parametrize("place", PLACES)
def test_a_server_goes_on_and_ends_whatever_hangs(place: str, tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-m", "true"], check=False).returncode:
        pytest.skip("needs namespaces: run as root on Linux, with unshare (util-linux)")
    mount, project = tmp_path / "mount", tmp_path / "project"
    mount.mkdir()
    project.mkdir()
    (project / "a.py").write_text("print(1)\n", "utf-8")
    if place == "virtual environment":
        (project / ".venv").symlink_to(mount / "venv")
    run = json.loads(json.dumps(PLACES[place]).replace("MOUNT", str(mount)))
    messages = [
        request("initialize", 1, **opening("2025-11-25")),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(2, "dap_run", **run),
        call(3, "dap_source", filename=str(mount / "b.py")),
        call(99, "dap_status"),
    ]
    command = [unshare, "-m", "--propagation", "private", sys.executable, "-c", STALLED]
    inside = ["inside"] if place == "project" else []
    done = subprocess.run(
        [*command, str(mount), json.dumps(messages), *inside],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("needs FUSE: /dev/fuse, and the right to mount")
    answered, code = json.loads(done.stdout)
    # Where its own project hangs, what hangs may be the server's first thread.
    assert code in ({0, 1} if inside else {0}), done.stderr
    assert ({1} if inside else {1, 99}) <= set(answered)
