"""All that is public of a session's state, for comparing two of them."""

from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import OutputIntake, OutputLog, PrintedLogPoints
from dapeer.mirror.stops import ShownStop, Stack, Stop, StopHistory
from dapeer.mirror.values import Values
from dapeer.view.activations import compare_locals


def public(value: object) -> object:
    """Return all that is public of a mirror, a stop or a log, as plain values."""
    match value:
        case (
            Mirror()
            | Stop()
            | Stack()
            | Values()
            | ShownStop()
            | OutputIntake()
            | PrintedLogPoints()
        ):
            return _attributes(value)
        case OutputLog():
            return {**_attributes(value), "pieces": list(value.pieces())}
        case StopHistory():
            return [
                (public(stop), compare_locals(value, stop).changes, value.output_end(stop))
                for stop in value
            ]
        case _:
            return value


def _attributes(value: object) -> dict[str, object]:
    named = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    return {name: public(each) for name, each in named.items() if not callable(each)}
