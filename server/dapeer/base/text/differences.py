"""Finds the members of a value that have changed. Pure."""

from __future__ import annotations

import re

from dapeer.base.text.structure import LEFT_OUT, MAX_READ_CHARS, main_group, read

MAX_MEMBERS = 2
"""Members beyond which both values are shown whole instead."""

_MEMBER = re.compile(r"(@?[A-Za-z_]\w*)\s*(?:=|:(?!:))\s*(?!=)")
"""A name and what parts it from its value; a type's name, as Rust's `alloc::Global`, has none."""


def differences(before: str, now: str) -> dict[str, tuple[str | None, str]]:
    """Return the changed members of a value, each before and after; empty if unknown.

    >>> differences("Cart(total=3, name='a')", "Cart(total=4, name='a')")
    {'total': ('3', '4')}
    >>> differences("{'total': 3}", "{'total': 4}"), differences("Cart(total=3)", "0x1")
    ({}, {})
    >>> differences("{value = M<Vec<u32>, alloc::Global>> {s}}", "{value = M<Vec<u32>, alloc::Global>> {t}}")
    {}
    """
    old, new = _members(before), _members(now)
    if old is None or new is None or old.keys() - new.keys() or old[""] != new[""]:
        return {}
    changed = {name: (old.get(name), text) for name, text in new.items() if old.get(name) != text}
    whole = all("…" not in f"{was}{text}" for was, text in changed.values())
    return changed if whole and len(changed) <= MAX_MEMBERS else {}


def _members(text: str) -> dict[str, str] | None:
    """Return the members of a value by name, and the text before them; None if it has none."""
    value = read(text[:MAX_READ_CHARS])
    group = main_group(value, len(text))
    if group is None or not group.items:
        return None
    found = [_MEMBER.match(item.text) for item in group.items if item.text not in LEFT_OUT]
    members = {each[1]: each.string[each.end() :] for each in found if each is not None}
    return {"": text[: group.start], **members} if len(members) == len(found) else None
