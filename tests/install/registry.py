"""A registry of packages, of npm and of PyPI at once, at a port of this machine."""

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME, VERSION = "toy-dap", "1.0.0"
WHEEL = "toy_dap-1.0.0-py3-none-any.whl"
ARCHIVE = f"{NAME}-{VERSION}.tgz"


def _wheel() -> bytes:
    info = "toy_dap-1.0.0.dist-info"
    files = {
        "toy_dap.py": "def main(): print('toy')\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: toy-dap\nVersion: 1.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: toy\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntoy-dap = toy_dap:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*files, f"{info}/RECORD"])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def _archive() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        told = json.dumps({"name": NAME, "version": VERSION})
        for name, text in (
            ("package.json", told),
            ("dist/toy/server.js", "1\n"),
            ("other.js", "2\n"),
        ):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


@contextmanager
def registry(*, honest: bool = True) -> Generator[str]:
    """Serve one package, by its address; one that is not honest tells the checksums of something else."""
    served = {WHEEL: _wheel(), ARCHIVE: _archive()}

    class Answer(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            name = self.path.rstrip("/").rpartition("/")[2]
            here = f"http://{self.headers['Host']}"
            sums = {key: value if honest else b"other" for key, value in served.items()}
            if name in served:
                kind, body = "application/octet-stream", served[name]
            elif self.path.startswith("/simple/"):
                digest = hashlib.sha256(sums[WHEEL]).hexdigest()
                kind = "text/html"
                body = f'<a href="{here}/{WHEEL}#sha256={digest}">{WHEEL}</a>'.encode()
            else:
                digest = base64.b64encode(hashlib.sha512(sums[ARCHIVE]).digest()).decode()
                dist = {"tarball": f"{here}/{NAME}/-/{ARCHIVE}", "integrity": f"sha512-{digest}"}
                version = {"name": NAME, "version": VERSION, "dist": dist}
                told = {
                    "name": NAME,
                    "dist-tags": {"latest": VERSION},
                    "versions": {VERSION: version},
                }
                kind, body = "application/json", json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
