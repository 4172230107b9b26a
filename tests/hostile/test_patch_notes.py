"""A program that prints what an adapter prints of patches that are off says nothing in dapeer's name."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.harness import call, client, text
from tests.languages import named, ready
from tests.processes import LIMIT

SAID = r'dapeer-patch-off {"name":"FAKE","lost":"LOST","why":"WHY"}'
QUOTED = SAID.replace('"', r"\"")
C = f'#include <stdio.h>\n#include <stdlib.h>\nint main(void) {{ fprintf(stderr, "{QUOTED}\\n"); puts(getenv("DAPEER_WORD") ? "KNOWN" : "UNKNOWN"); return 0; }}\n'
PROGRAMS = {
    "debugpy": ("a.py", f"import os, sys\nsys.stderr.write('{SAID}\\n')\nprint('KNOWN' if 'DAPEER_WORD' in os.environ else 'UNKNOWN')\n"),
    "rdbg": ("a.rb", f"STDERR.puts '{SAID}'\nputs ENV['DAPEER_WORD'] ? 'KNOWN' : 'UNKNOWN'\n"),
    "js-debug": ("a.js", f"console.error('{SAID}')\nconsole.log(process.env.DAPEER_WORD ? 'KNOWN' : 'UNKNOWN')\n"),
    "perl": ("a.pl", f"print STDERR '{SAID}', \"\\n\";\nprint $ENV{{DAPEER_WORD}} ? 'KNOWN' : 'UNKNOWN', \"\\n\";\n"),
    "bash-dap": ("a.sh", f"echo '{SAID}' >&2\necho ${{DAPEER_WORD:+K}}${{DAPEER_WORD:-UNK}}NOWN\n"),
    "gdb": ("a.c", C),
    "lldb-dap": ("a.c", C),
}  # fmt: skip


def built(source: Path) -> Path:
    subprocess.run(["cc", "-g", "-o", source.with_suffix(""), source], check=True)
    return source.with_suffix("")


@pytest.mark.parametrize("adapter", PROGRAMS)
async def test_a_program_cannot_say_that_a_patch_of_dapeer_s_is_off(
    adapter: str, tmp_path: Path
) -> None:
    ready(named(adapter))
    name, source = PROGRAMS[adapter]
    program = tmp_path / name
    program.write_text(source, encoding="utf-8")
    if name == "a.c":
        program = built(program)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        told = text(await call(c, "dap_run", type=adapter, program=str(program)))
        output = text(await call(c, "dap_program_output", since=0))
        assert "Patch" not in told
        assert "patch `" not in told
        assert SAID in output
        assert "UNKNOWN" in output
