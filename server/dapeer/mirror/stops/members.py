"""Which members of a value are data. Pure."""

from __future__ import annotations

import re

from dapeer.dap.types import Variable

_ELEMENT = re.compile(r"""-?\d|\[(?!\[|raw\])|[bru]{0,2}['"]|[(:](?=.)|(?:None|True|False)\Z""")
"""How the name of an element begins: its index or its key, as the languages write them."""


def is_element(variable: Variable) -> bool:
    """Whether a child is an element of its container, by its name; the others are members.

    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("007", "[7]", "'key'", "(1, 2)")]
    [True, True, True, True]
    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("len()", "[[Prototype]]", "@a", "[raw]")]
    [False, False, False, False]
    """
    return bool(_ELEMENT.match(variable["name"]))


def is_aside(variable: Variable) -> bool:
    """Whether a member is not data: js-debug's internal properties, getters, methods; rdbg's class."""
    name, value = variable["name"], variable["value"]
    computed = variable.get("presentationHint", {}).get("lazy")
    # debugpy adds the length, and puts methods into groups.
    if name == "len()" or not (value or variable.get("type")):
        return True
    internal = name.startswith("[[") or name == "#class"
    return bool(computed) or internal or value.startswith(("ƒ ", "async ƒ ", "class "))
