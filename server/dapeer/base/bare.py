"""What a bridge needs of `json`, `signal` and `socket`: the C modules beneath them, which load in half a millisecond.

`json` loads `re`, and `signal` and `socket` load `enum`: that takes longer than all that a bridge does. A socket of this kind
is no context manager. Where Python has other modules beneath, the usual ones are loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from collections.abc import Callable
    from typing import Any

    make_scanner: Callable[[object], Callable[[str, int], tuple[Any, int]]] | None
else:
    try:
        import _signal as signal
        import _socket as socket
        from _json import make_scanner
    except ImportError:
        import signal
        import socket

        make_scanner = None

__all__ = ["loads", "signal", "socket"]


class _Rules:
    """How `json.loads` reads."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


def _scanner() -> Callable[[str, int], tuple[Any, int]] | None:
    try:
        return make_scanner(_Rules()) if make_scanner else None
    except AttributeError:
        # A later Python asks for more.
        return None


_scan = _scanner()


def loads(data: bytes) -> Any:  # noqa: ANN401 - as `json.loads`
    """Read JSON in UTF-8, as `json.loads` does.

    Raises:
        ValueError: It is none.
        RecursionError: It is nested too deep.
    """
    text = data.decode().strip(" \t\n\r")
    if _scan is None:
        import json  # noqa: PLC0415 - see above

        return json.loads(text)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one value")
    return value
