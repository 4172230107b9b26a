"""Write the digests of the code that rows replace in the installed debugpy, beside those of versions that were tried before.

`python -m tools.patch_digests` does it once the tests have passed with that version. A row is on in a version that was not tried if
its functions have one of these digests.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dapeer.companions.python import dapeer_debuggee
from dapeer.companions.python.dapeer_debuggee.tried_code import DIGESTS

FILE = Path(dapeer_debuggee.__file__).parent / "tried_code.py"
WHOSE = "debugpy"
HEAD = '''\
"""The code that rows were tried with. `python -m tools.patch_digests` writes it."""

from __future__ import annotations

DIGESTS: dict[str, dict[str, tuple[str, ...]]] = {
'''
PRINT_DIGESTS = """
import json
from dapeer.companions.python import debugpy_fits
from dapeer.companions.python.debugpy_launcher import patching
patching.setting[:] = ["off"]  # their modules are imported, and nothing is replaced
debugpy_fits.apply_everything()
digest, attribute = patching.digest, patching.attribute
print(json.dumps({
    target: digest(attribute(target))
    for row in patching.rows.values() if row.whose == "debugpy"
    for target in row.signatures
}))
"""


def digests_of_installed() -> dict[str, str]:
    """Return, by target, the digest of each function of the installed debugpy that a row replaces or calls."""
    command = [sys.executable, "-P", "-c", PRINT_DIGESTS]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def text_with(found: Mapping[str, str]) -> str:
    """Return the text of the file with these digests added, without targets that no row has any more."""
    known = DIGESTS.get(WHOSE, {})
    lines = [
        f'        "{target}": ({" ".join(f"{each!r}," for each in sorted({*known.get(target, ()), digest}))}),'
        for target, digest in sorted(found.items())
    ]
    body = "\n".join([f'    "{WHOSE}": {{', *lines, "    }"]).replace("'", '"')
    return f"{HEAD}{body}\n}}  # fmt: skip\n"


if __name__ == "__main__":
    FILE.write_text(text_with(digests_of_installed()), encoding="utf-8")
