"""Frames of a deep stack from dapeer's part in a Python program: those at one place once. Pure.

The body of such an answer to `stackTrace` has a frame for each place, and in `dapeerFrames` all frames: their `ids`,
and `like`, the number of the frame at their place (`in_debuggee/stacks/dapeer_levels.py`).
"""

from __future__ import annotations

from dapeer.base.json_types import as_array, as_object
from dapeer.dap.messages import Body

FRAMES = "dapeerFrames"


def unfolded(body: Body) -> Body:
    """Return an answer to `stackTrace` with all its frames.

    Raises:
        LookupError: A frame is like none that is told.
    """
    if FRAMES not in body:
        return body
    places, folded = as_array(body.get("stackFrames")), as_object(body[FRAMES])
    ids, like = as_array(folded.get("ids")), as_array(folded.get("like"))
    frames = [{**places[place], "id": number} for number, place in zip(ids, like, strict=True)]
    return {**{key: item for key, item in body.items() if key != FRAMES}, "stackFrames": frames}
