"""dapeer: a debugger that a person and their AI share."""

__version__ = "0.1.0"

__all__ = ["Debugger", "ServerGone", "ToolError"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapeer.scripting.debugger import Debugger
    from dapeer.scripting.wire import ServerGone, ToolError


def __getattr__(name: str) -> object:
    """Load the library of scripts when it is asked for: most of dapeer's processes never do.

    Raises:
        AttributeError: There is nothing of this name.
    """
    if name not in __all__:
        raise AttributeError(name)
    from dapeer.scripting import debugger, wire  # noqa: PLC0415 - `import dapeer` stays light

    return getattr(debugger if name == "Debugger" else wire, name)
