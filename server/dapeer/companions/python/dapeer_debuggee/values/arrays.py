"""Shows arrays and tensors: shape, type, the number of missing elements, and as many elements as fit.

The time depends only on the characters that are shown, not on the array's size or the program's print options.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

MAX_COUNTED_CELLS = 1_000_000
"""Size of the largest array in which missing elements are counted."""
MIN_ALONE_CHARS = 1000
"""With this many characters or more, a value is shown as if it were alone."""
ELEMENT_CHARS = 40
"""Characters of an element."""
MAX_ELEMENTS = 1000
"""Elements that are shown at most."""

if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Show = Callable[[Any, int], str]
    """Shows a value in at most that many characters."""


def describe_array(value: Any, kind: Any, room: int, show: Show) -> str | None:
    """Return the text of an array, tensor or NumPy number: shape, type, missing elements, elements.

    Of many elements those at the ends are shown; those on another device are not fetched. None: it is no array. `show` makes the text of an
    element that is an object.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.generic):
        plain = kind.__module__ == "numpy" and value.dtype.kind in "biufcMm"
        return str(value) if plain else None
    if not hasattr(value, "dtype") or not isinstance(getattr(value, "shape", None), tuple):
        return None
    if kind.__module__.partition(".")[0] == "torch":
        return tensor(value, room)
    if not value.shape:
        objects = getattr(value.dtype, "hasobject", False) is True
        return f"() {value.dtype} {show(value.item(), room)}" if objects else None
    at_hand = is_at_hand(value)
    if at_hand and numpy is not None and kind.__module__.startswith("jaxlib"):
        value, kind = numpy.asarray(value), numpy.ndarray
    lost = missing_elements(value, kind, numpy) if at_hand else ""
    body = written(value, room, show, numpy) if at_hand else "(not fetched)"
    return f"{tuple(value.shape)} {value.dtype} {lost}{body}"


def is_at_hand(value: Any) -> bool:
    """Return whether an array's elements are in this process's memory: not lazy, not on another device."""
    ready = getattr(value, "is_ready", None)
    devices = getattr(value, "devices", None)
    if ready is None or devices is None:
        return True
    return all(each.platform == "cpu" for each in devices()) and ready()


def edges(room: int) -> tuple[int, int]:
    """Return up to how many elements an array is shown whole, and else the number of elements at each end.

    `room` is how many characters the array may have.
    """
    return (max(room // 8, 20), 3) if room >= MIN_ALONE_CHARS else (10, 2)


def corner(value: Any, room: int) -> tuple[Any, int]:
    """Return the part of an array at its first indices that is small enough, and its depth.

    The depth is how many dimensions of the array were left out.
    """
    threshold, edge = edges(room)
    deep, shape = 0, tuple(value.shape)
    while (
        shape and size(shape) > threshold and size(min(n, 2 * edge) for n in shape) > MAX_ELEMENTS
    ):
        value, shape, deep = value[0], shape[1:], deep + 1
    return value, deep


def size(shape: Any) -> int:
    """Return how many elements an array of this shape (a sequence of numbers) has."""
    product = 1
    for each in shape:
        product *= each
    return product


def written(value: Any, room: int, show: Show, numpy: Any) -> str:
    """Return the elements of an array as NumPy writes them; objects and strings as `show` does.

    `room` tells how many elements are shown; `numpy` is the module.
    """
    value, deep = corner(value, room)
    threshold, edge = edges(room)
    formats = dict.fromkeys(("object", "numpystr"), lambda each: element_text(each, show))  # type: ignore[reportUnknownLambdaType]
    with numpy.printoptions(threshold=threshold, edgeitems=edge, formatter=formats):
        exact = type(value) is numpy.ndarray
        text = numpy.array2string(value, separator=", ") if exact else repr(value)
    text = " ".join(text.split()).replace("...,", "…,").replace("[ ", "[").replace(" ]", "]")
    return nested(text[text.find("[") : text.rfind("]") + 1], deep)


def element_text(each: Any, show: Show) -> str:
    """Return the text of an array's element that is an object or a string, by `show`.

    NumPy's own values, such as the one for a masked element, are written as they are.
    """
    if isinstance(each, (str, bytes)):
        return show(bytes(each) if isinstance(each, bytes) else str(each), ELEMENT_CHARS)
    # Such as what stands for an element that is masked.
    own = type(each).__module__.partition(".")[0] == "numpy"
    return str(each) if own and not hasattr(each, "shape") else show(each, ELEMENT_CHARS)


def nested(text: str, deep: int) -> str:
    """Return the text of an array's first part within `deep` more dimensions, each with `…` behind."""
    return "[" * deep + text + ", …]" * deep


def missing_elements(value: Any, kind: Any, numpy: Any) -> str:
    """Return how many elements of an array are NaN or NaT, as `(N missing) `; empty: none, or not counted.

    `numpy` is the module, or None. Only an exact `numpy.ndarray` of at most `MAX_COUNTED_CELLS` elements is counted.
    """
    if numpy is None or kind is not numpy.ndarray or value.size > MAX_COUNTED_CELLS:
        return ""
    if value.dtype.kind not in "fcMm":
        return ""
    is_missing = numpy.isnat if value.dtype.kind in "Mm" else numpy.isnan
    count = int(is_missing(value).sum())
    return f"({count} missing) " if count else ""


# -- PyTorch's tensors


def tensor(value: Any, room: int) -> str:
    """Return shape, type, device, `requires_grad`, missing and other elements of a PyTorch tensor.

    Elements on another device are not fetched.
    """
    held = value.detach()
    at_hand = held.device.type == "cpu" and str(held.layout) == "torch.strided"
    facts = [str(tuple(value.shape)), str(value.dtype)] if value.ndim else [str(value.dtype)]
    if held.device.type != "cpu":
        facts.append(str(held.device))
    if str(held.layout) != "torch.strided":
        facts.append(str(held.layout))
    if value.requires_grad:
        facts.append("requires_grad")
    if not at_hand or held.is_quantized:
        return f"tensor({', '.join(facts)})"
    if count := not_numbers(held):
        facts.append(f"({count} missing)")
    part, deep = corner(held, room)
    threshold, edge = edges(room)
    elements = "".join(array_parts(part, part.numel() <= threshold, edge))
    return f"{' '.join(facts)} {nested(elements, deep)}"


def not_numbers(held: Any) -> int:
    """Return how many elements of a tensor are NaN; 0 also if they are not counted."""
    if not held.is_floating_point() or held.numel() > MAX_COUNTED_CELLS:
        return 0
    try:
        return int(held.isnan().sum())
    except RuntimeError:
        # Not of every type; such as are 8 bits long.
        return 0


def array_parts(value: Any, whole: bool, edge: int) -> Iterator[str]:
    """Yield the pieces of the text of a tensor's elements; of a long dimension only those at its ends.

    `whole`: all are shown; `edge`: how many at each end, if not.
    """
    if not value.ndim:
        yield number(value.item())
        return
    length: int = value.shape[0]
    cut = not whole and length > 2 * edge
    chosen = [*range(edge), *range(length - edge, length)] if cut else range(length)
    yield "["
    for place, index in enumerate(chosen):
        if place:
            yield ", …, " if cut and place == edge else ", "
        yield from array_parts(value[index], whole, edge)
    yield "]"


def number(each: Any) -> str:
    """Return a number with four digits, as the elements of tensors are shown."""
    return f"{each:.4g}" if isinstance(each, (float, complex)) else str(each)
