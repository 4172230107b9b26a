"""Which members of a value are data. Pure."""

from __future__ import annotations

from dapeer.dap.types import Variable


def is_aside(variable: Variable) -> bool:
    """Whether a member is not data: js-debug lists internal properties, getters and methods; rdbg the class."""
    name, value = variable["name"], variable["value"]
    computed = variable.get("presentationHint", {}).get("lazy")
    # debugpy adds the length, and puts methods into groups.
    if name == "len()" or not (value or variable.get("type")):
        return True
    internal = name.startswith("[[") or name == "#class"
    return bool(computed) or internal or value.startswith(("ƒ ", "async ƒ ", "class "))
