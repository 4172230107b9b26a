"""Ways to attach: to a process, to a port, to the core dump that a process has left. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping

from dapeer.base.errors import ArgumentError

WAYS = ("pid", "tcp", "core")
_INPUT = {"tcp": "port"}


def way_of(inputs: Mapping[str, object]) -> str | None:
    """Return which of `[attach.*]` is meant; None: only the user's config says it.

    Raises:
        ArgumentError: More than one is.
    """
    given = [way for way in WAYS if inputs.get(_INPUT.get(way, way)) is not None]
    if len(given) > 1:
        both = " and ".join(f"`{_INPUT.get(way, way)}`" for way in given)
        raise ArgumentError(f"Both {both} are given.", "Attach by one of them.")
    if not given and inputs.get("host") is not None:
        raise ArgumentError("`host` is given without `port`.", "Give the port to attach to.")
    return given[0] if given else None


def check_way(way: str | None, adapter: str, offered: Container[str]) -> str | None:
    """Return the way, if an adapter knows it.

    Raises:
        ArgumentError: It does not.
    """
    if way is None or way in offered:
        return way
    known = ", ".join(each for each in WAYS if each in offered) or "none"
    what = "look at core dumps" if way == "core" else f"attach by {way}"
    hint = "gdb, lldb-dap and codelldb can." if way == "core" else f"Ways that it knows: {known}."
    raise ArgumentError(f"{adapter} cannot {what}.", hint)
