"""Variables of a frame that are shown without pydevd: one that pydevd cannot show hides no other."""

from __future__ import annotations

import copy
from typing import Any

from . import objects, values


class PlainVariable:
    """A variable in place of pydevd's own, with a text and a type, and no children."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def get_var_data(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Return the DAP `Variable`: name, text, type and no reference.

        Arguments of pydevd's method are ignored.
        """
        kind = objects.name_of(type(self.value))
        return {
            "name": self.name,
            "value": text_of(self.value),
            "type": kind,
            "variablesReference": 0,
        }


class FrameStandIn:
    """Stands for a frame, with other variables."""

    def __init__(self, frame: Any, held: dict[str, Any]) -> None:
        self.f_code, self.f_locals, self.f_globals = frame.f_code, held, held


def list_plainly(stock: Any, variable: Any, *rest: Any, **named: Any) -> list[Any]:
    """Return pydevd's variables of a frame, and a `PlainVariable` for each that it cannot list.

    What a namespace holds by a key that is no name, as `locals()[3] = 4` makes it, comes last: pydevd compares the keys as texts.

    Args:
        stock: Pydevd's function.
        variable: Pydevd's variable for the frame.
        rest: The function's other arguments: a format, and the scope whose variables are wanted.
        named: The same.
    """
    items = list(namespace(variable.frame, *rest, **named).items())
    held: dict[str, Any] = {key: each for key, each in items if type(key) is str}
    others = [PlainVariable(text_of(key), each) for key, each in items if type(key) is not str]
    shown = variable
    if others:
        shown = copy.copy(variable)
        shown.frame = FrameStandIn(variable.frame, held)
    try:
        found: list[Any] = list(stock(shown, *rest, **named))
    except Exception:
        # Pydevd would show one variable then: `<error>`.
        found = [
            PlainVariable(name, held[name]) for name in sorted(held) if not name.startswith("__")
        ]
    for each in found:
        each.frame = variable.frame
    return found + others


def namespace(frame: Any, fmt: Any = None, scope: Any = None, *_: Any, **__: Any) -> Any:
    """Return the variables of a frame as a dict: the global ones if `scope` is that, else the local ones."""
    return frame.f_globals if getattr(scope, "scope", None) == "globals" else frame.f_locals


def text_of(value: Any) -> str:
    """Return the text of a value; where that cannot be made, the name of its type in `<…>`."""
    try:
        return str(values.shown(value))
    except Exception:
        return f"<{objects.name_of(type(value))}>"
