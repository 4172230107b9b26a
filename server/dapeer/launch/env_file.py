"""Reads an `envFile`: `NAME=value` lines, as dotenv has them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*"""
    r"""(?:'([^']*)'|"((?:\\.|[^"\\])*)"|([^\r\n#]*(?:(?<![ \t])#[^\r\n#]*)*))[ \t]*(?:\#[^\r\n]*)?$""",
    re.MULTILINE,
)
_NAMED = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_ESCAPED: Final[Mapping[str, str]] = {"n": "\n", "r": "\r", "t": "\t"}


def variables(text: str, around: Mapping[str, str]) -> dict[str, str]:
    r"""Return the variables of an `envFile` by name, from its text; other lines are skipped.

    `${NAME}` in a value stands for a variable above, or for one of the environment `around`; in single quotes it does not.

    >>> variables("A=1 # one\nexport B='a b'\nC=\"${A}\\n\"\n# D=2\nE = x#y", {})
    {'A': '1', 'B': 'a b', 'C': '1\n', 'E': 'x#y'}
    """
    found: dict[str, str] = {}

    def known(name: re.Match[str]) -> str:
        """Return the value of the variable that was matched; empty if it is unknown."""
        return found.get(name[1], around.get(name[1], ""))

    for line in _LINE.finditer(text):
        name, single, double, plain = line.groups()
        if single is not None:
            found[name] = single
        elif double is not None:
            escaped = re.sub(r"\\(.)", lambda sign: _ESCAPED.get(sign[1], sign[1]), double)
            found[name] = _NAMED.sub(known, escaped)
        else:
            found[name] = _NAMED.sub(known, plain.strip())
    return found
