"""Patches how pydevd shows variables.

pydevd cuts nested data at the second level, however short it is. It cuts a string in its middle without its length,
runs every property of an expanded object, and leaves functions and classes out of a frame.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

forms: Any = importlib.import_module("in_debuggee.dapeer_forms")
objects: Any = importlib.import_module("in_debuggee.dapeer_objects")
values: Any = importlib.import_module("in_debuggee.dapeer_values")


def improve(*, prints: bool) -> None:
    """Patch pydevd.

    Raises:
        AttributeError: pydevd has another structure.
    """
    render(importlib.import_module("_pydevd_bundle.pydevd_safe_repr").SafeRepr)
    present(importlib.import_module("_pydevd_bundle.pydevd_xml"))
    open_objects(importlib.import_module("_pydevd_bundle.pydevd_resolver").DefaultResolver)
    list_frames(importlib.import_module("_pydevd_bundle.pydevd_suspended_frames"))


def render(safe_repr: Any) -> None:
    """Make pydevd show values by `values.shown`, unless the client asks for a whole value or for hexadecimal numbers."""
    stock = safe_repr.__call__
    whole = safe_repr.maxother_outer

    def call(self: Any, value: Any) -> str:
        if self.raw_value or self.convert_to_hex or self.maxother_outer != whole:
            return stock(self, value)
        try:
            text: str = values.shown(value)
        except Exception:
            return stock(self, value)
        return text

    safe_repr.__call__ = call


def present(presentation: Any) -> None:
    """Show pandas objects by this package, not by pydevd's own plug-in."""
    stock = presentation._str_from_providers

    def from_providers(value: Any, kind: Any, name: str, context: Any = None) -> Any:
        ours = (
            context != "clipboard"
            and name in forms.frames.FRAMES
            and kind.__module__.startswith("pandas")
        )
        return None if ours else stock(value, kind, name, context)

    presentation._str_from_providers = from_providers


def open_objects(resolver: Any) -> None:
    """Make pydevd read attributes without running code."""
    stock = resolver._get_py_dictionary

    def get_dictionary(
        self: Any,
        value: Any,
        names: Any = None,
        used___dict__: bool = False,
    ) -> Any:
        if used___dict__:
            return stock(self, value, names, used___dict__)
        return dict(objects.attributes(value, names or objects.names_of(value))), False

    resolver._get_py_dictionary = get_dictionary


def list_frames(suspended: Any) -> None:
    """Keep functions and classes among a frame's variables, and mark them as such."""
    variable, of_frame = suspended._ObjectVariable, suspended._FrameVariable
    stock_group = of_frame._group_entries
    stock_children = of_frame.get_children_variables
    stock_data = variable.get_var_data

    def group(self: Any, entries: Any, handle_return_values: bool) -> Any:
        plain = [each for each in entries if objects.kind_of(each[1])]
        named_so = {each[0] for each in plain}
        others = [each for each in entries if each[0] not in named_so]
        listed, grouped = stock_group(self, others, handle_return_values)
        return listed + [each for each in plain if not each[0].startswith("__")], grouped

    def children(self: Any, *arguments: Any, **named_: Any) -> Any:
        found = stock_children(self, *arguments, **named_)
        code = self.frame.f_code
        of_module = code.co_name == "<module>"
        flags = bool(code.co_flags & inspect.CO_VARARGS) + bool(
            code.co_flags & inspect.CO_VARKEYWORDS
        )
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags]
        for each in found:
            kind = objects.kind_of(each.value)
            each.kind = kind if of_module or kind == "module" else ""
            if each.name in arguments:
                each.kind = "argument"
        return found

    def get_var_data(self: Any, *arguments: Any, **named_: Any) -> Any:
        data = stock_data(self, *arguments, **named_)
        if type(self.value) is objects.Property:
            data.update(variablesReference=0, type="property", presentationHint={"lazy": True})
        elif getattr(self, "kind", ""):
            data["presentationHint"] = {"kind": self.kind}
        return data

    of_frame._group_entries = group
    of_frame.get_children_variables = children
    variable.get_var_data = get_var_data
