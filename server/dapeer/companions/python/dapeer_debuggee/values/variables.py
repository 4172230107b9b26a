"""Patches how pydevd shows variables.

pydevd cuts nested data at the second level, however short it is. It cuts a string in its middle without its length,
runs every property of an expanded object, and leaves functions and classes out of a frame.
"""

from __future__ import annotations

import importlib
import inspect
from types import CodeType
from typing import Any

from .. import patching
from . import contents, forms, objects, plain, values

SHOWN = "_pydevd_bundle.pydevd_safe_repr:SafeRepr.__call__"
PROVIDED = "_pydevd_bundle.pydevd_xml:_str_from_providers"
ATTRIBUTES = "_pydevd_bundle.pydevd_resolver:DefaultResolver._get_py_dictionary"
FRAMES = "_pydevd_bundle.pydevd_suspended_frames"
GROUP = f"{FRAMES}:_FrameVariable._group_entries"
CHILDREN = f"{FRAMES}:_FrameVariable.get_children_variables"
DATA = f"{FRAMES}:_ObjectVariable.get_var_data"

RENDERED = patching.Row(
    "values",
    "debugpy",
    "Nested data is cut at its second level, and long strings in their middle.",
    replaces={SHOWN: "self obj"},
)
TABLES = patching.Row(
    "tables-of-pandas",
    "debugpy",
    "Tables of pandas are shown by debugpy's own texts.",
    replaces={PROVIDED: "o type_object type_name context="},
)
OPENED = patching.Row(
    "attributes",
    "debugpy",
    "Looking into an object runs its properties, which may change the program.",
    replaces={ATTRIBUTES: "self var names= used___dict__="},
)
MEMBERS = f"{FRAMES}:_ObjectVariable.get_children_variables"
LISTED = patching.Row(
    "contents",
    "debugpy",
    "Looking at a value asks it for its class, and runs the `repr` of each key; one odd value hides all others.",
    replaces={MEMBERS: "self fmt= scope=", DATA: "self fmt= context= **safe_repr_custom_attrs"},
    uses=(f"{FRAMES}:_AbstractVariable._group_entries(self lst handle_return_values)",),
)
KINDS = patching.Row(
    "kinds-of-variables",
    "debugpy",
    "Functions and classes are left out of a frame's variables, and arguments are not marked.",
    replaces={
        GROUP: "self lst handle_return_values",
        CHILDREN: "self fmt= scope=",
        DATA: "self fmt= context= **safe_repr_custom_attrs",
    },
)


@RENDERED
def render(row: Any) -> None:
    """Patch pydevd so that it shows values by `values.shown`.

    If the client wants a whole or hexadecimal value, pydevd's own function makes it. `row` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.
    """
    kind: Any = importlib.import_module("_pydevd_bundle.pydevd_safe_repr").SafeRepr
    whole: Any = getattr(kind, "maxother_outer", None)

    @row.replace(SHOWN)
    def call(stock: Any, self: Any, obj: Any, *rest: Any, **named: Any) -> str:
        """Return the text of `obj`; `self` is pydevd's `SafeRepr`, whose settings tell what the client wants."""
        if self.raw_value or self.convert_to_hex or whole != getattr(self, "maxother_outer", None):
            return stock(self, obj, *rest, **named)
        try:
            text: str = values.shown(obj)
        except Exception:  # a class of the program
            return stock(self, obj, *rest, **named)
        return text


@TABLES
def present(row: Any) -> None:
    """Patch pydevd so that pandas tables are shown by this package, not by its own plug-in.

    `row` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @row.replace(PROVIDED)
    def from_providers(
        stock: Any,
        o: Any,
        type_object: Any,
        type_name: str,
        context: Any = None,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Return None for a pandas table, so that no plug-in of pydevd's shows it; else what pydevd returns."""
        ours = (
            context != "clipboard"
            and type_name in forms.frames.FRAMES
            and type_object.__module__.startswith("pandas")
        )
        if ours:
            return None
        return stock(o, type_object, type_name, context, *rest, **named)


@OPENED
def open_objects(row: Any) -> None:
    """Patch pydevd so that it reads the attributes of objects without running code.

    `row` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @row.replace(ATTRIBUTES)
    def get_dictionary(
        stock: Any,
        self: Any,
        var: Any,
        names: Any = None,
        used___dict__: bool = False,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Return the attributes of `var` by name, and False, since its `__dict__` was not used.

        With `used___dict__` pydevd's function (`stock`) does it.
        """
        if used___dict__:
            return stock(self, var, names, used___dict__, *rest, **named)
        return dict(objects.attributes(var, names or objects.names_of(var))), False


@LISTED
def list_contents(row: Any) -> None:
    """Patch pydevd so that values are described, and their contents listed, by this package.

    `row` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    frames: Any = importlib.import_module(FRAMES)
    group: Any = frames._AbstractVariable._group_entries

    @row.replace(MEMBERS)
    def children(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's variables for the contents of a value; `self` is pydevd's `_ObjectVariable`."""
        if contents.is_theirs(self.value) or wants_hexadecimal(*rest, **named):
            return stock(self, *rest, **named)
        hidden = objects.inherited(self.value)
        listed, groups = grouped(group, self.py_db, contents.named_children(self.value), hidden)
        return [
            frames._ObjectVariable(
                self.py_db,
                name,
                each,
                self._register_variable,
                evaluate_name=expression(self.evaluate_name, behind),
                frame=self.frame,
            )
            for name, each, behind in [*groups, *listed]
        ]

    @row.replace(DATA)
    def get_var_data(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Return the DAP `Variable` of a value; `self` is pydevd's `_ObjectVariable`."""
        # An evaluation for the clipboard asks for whole texts.
        whole = any(each.startswith("max") for each in named)
        if contents.is_theirs(self.value) or wants_hexadecimal(*rest, **named) or whole:
            return stock(self, *rest, **named)
        return described(self)


def wants_hexadecimal(fmt: Any = None, *_: Any, **__: Any) -> bool:
    """Return whether a client's DAP `ValueFormat` asks for hexadecimal numbers or raw strings.

    None: it does not.
    """
    return bool(fmt) and bool(fmt.get("hex") or fmt.get("rawString"))


def described(variable: Any) -> dict[str, Any]:
    """Return the DAP `Variable` of a variable of pydevd's, with name, value, type, reference and hints."""
    value: Any = variable.value
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    data: dict[str, Any] = {
        "name": f"(return) {variable.name}" if variable._is_return_value else variable.name,
        "value": plain.text_of(value),
        "type": objects.name_of(kind),
        "variablesReference": 0 if contents.is_leaf(value) else id(value),
    }
    if variable.evaluate_name is not None:
        data["evaluateName"] = variable.evaluate_name
    hints = ["rawString"] if kind is str or kind is bytes or kind is bytearray else []
    if variable._is_return_value or variable.name == contents.SIZE:
        hints.append("readOnly")
    if hints:
        data["presentationHint"] = {"attributes": hints}
    return data


def expression(parent: str | None, behind: Any) -> str | None:
    """Return the expression of a child of a container whose expression is `parent`; None if it has none.

    `behind` is the text that follows the parent's, a function that makes the expression from that, or None.
    """
    if not parent or behind is None:
        return None
    return str(behind(parent)) if callable(behind) else f"{parent}{behind}"


PLACEHOLDERS = {"function": len, "class": int}
"""What pydevd groups in place of a value of a kind: it would ask the value itself for its class."""


class Stand:
    """Stands for a variable whose entries pydevd groups."""

    def __init__(self, debugger: Any) -> None:
        self.py_db, self.value = debugger, None


def grouped(group: Any, debugger: Any, lst: Any, inherited: Any = ()) -> Any:
    """Return entries as pydevd groups them by names: those outside of groups, and the groups.

    `group` is pydevd's function, `debugger` its `PyDB`, `lst` tuples of name, value and expression. Names in `inherited` go to the groups
    of functions and classes.
    """
    held: dict[str, Any] = {}
    entries: list[Any] = []
    for number, each in enumerate(lst):
        # Otherwise pydevd puts a name with an underscore among the attributes that are shown.
        hidden = each[0] in inherited and not each[0].startswith("__")
        name = f"inherited {number}" if hidden else each[0]
        held[name] = each
        entries.append((name, PLACEHOLDERS[objects.kind_of(each[1])] if hidden else None, None))
    listed, groups = group(Stand(debugger), entries, handle_return_values=True)
    for _, each, _ in groups:
        inside = each.contents_debug_adapter_protocol
        inside[:] = [held[name] for name, *_ in inside]
    return [held[name] for name, *_ in listed], groups


def mark_kinds(found: Any, code: Any) -> None:
    """Set `kind` of a frame's variables: `function`, `class`, `module`, `argument`; empty for data.

    `found` are these variables of pydevd, `code` is the code of the frame. Functions and classes are marked in a module's frame only.
    """
    of_module = code.co_name == "<module>"
    arguments: tuple[str, ...] = ()
    # The frame of a template has a code of pydevd's own.
    if isinstance(code, CodeType):
        starred = (
            bool(code.co_flags & inspect.CO_VARARGS),
            bool(code.co_flags & inspect.CO_VARKEYWORDS),
        )
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + sum(starred)]
    for each in found:
        kind = objects.kind_of(each.value)
        each.kind = kind if of_module or kind == "module" else ""
        if each.name in arguments:
            each.kind = "argument"


@KINDS
def list_frames(row: Any) -> None:
    """Patch pydevd so that functions and classes stay among a frame's variables, with a hint.

    The hint is their kind. `row` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what
    was replaced by it.
    """

    @row.replace(GROUP)
    def group(
        stock: Any, self: Any, lst: Any, handle_return_values: Any, *rest: Any, **named: Any
    ) -> Any:
        return grouped(stock, self.py_db, lst)

    @row.replace(CHILDREN)
    def children(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        found = plain.list_plainly(stock, self, *rest, **named)
        mark_kinds(found, self.frame.f_code)
        return found

    @row.replace(DATA)
    def get_var_data(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Return the DAP `Variable` of a value with its kind.

        A property's is `lazy`, and its value is not computed.
        """
        try:
            data = stock(self, *rest, **named)
        except Exception:
            return plain.PlainVariable(self.name, self.value).get_var_data()
        if type(self.value) is objects.Property:
            data.update(variablesReference=0, type="property", presentationHint={"lazy": True})
        elif getattr(self, "kind", ""):
            data["presentationHint"] = {"kind": self.kind}
        return data
