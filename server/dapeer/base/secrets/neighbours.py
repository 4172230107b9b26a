"""Secrets named beside them, not as `name = value`: in pairs, objects, elements, lists, tables. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dapeer.base.secrets.names import Name, Span

_OPENED = re.compile(r"[(\[]\s?[bBrRuU]?\\?[\"']\Z")
_SECOND = re.compile(
    r"\\?[\"'],\s{0,2}[bBrRuU]?\\?[\"'](?P<scheme>(?i:bearer|basic|token)\s)?(?P<value>[^\s\"'\\]{4,400})\\?[\"']\s?[)\]]"
)
"""The rest of `("password", "…")`, `["x-api-key", "…"]`: two texts and no third."""
_AS = r"\\?[\"']?(?::\s?[\w.]{0,40})?\s{0,2}[:=]\s{0,2}"
_KEY = re.compile(
    rf"(?i:(?<![a-z])(?:name|key|field|header|param(?:eter)?|option|setting|variable|attribute|k|id|0)(?![a-z0-9])){_AS}\\?[\"']?\Z"
)
_ITS = (
    rf"(?i:(?<![a-z])(?:value|val|v|content|data|text|string_?value|1)(?![a-z0-9])){_AS}"
    r"(?:\\?[\"'](?P<quoted>[^\s\"'\\]{4,400})(?=\\?[\"'])|(?P<bare>[^\s\"',;(){}\[\]<>]{4,400}))"
)
_BETWEEN = r"(?:[\s,;]|\\n)(?:[^{}()\[\]<>]{0,120}?[\s,;])??"
_ITS_LATER = re.compile(rf"(?![\w-])\\?[\"']?{_BETWEEN}\\?[\"']?{_ITS}")
_ITS_BEFORE = re.compile(rf"{_ITS}\\?[\"']?{_BETWEEN}\\?[\"']?\Z")
"""`{"name": "password", "value": "…"}`, either first; also the lines of an opened object or pair."""
_IN_ELEMENT = re.compile(r"(?:\s[^<>]{0,100})?>(?P<value>[^<>\s]{4,400})</")
"""`<password>…</password>`."""
_APART = re.compile(r"[ \t]{2,40}(?P<value>\S{6,400})(?:[ \t]+\[[^\]\n]*\])?[ \t]*(?:\n|\Z)")
"""A row of two columns: a name, and its value apart from it."""
_SEVERAL = (
    re.compile(
        r"s?\\?[\"']?\s?(?::[^=:\n\"'`]{0,40}=|[=:])\s{0,2}(?:\w{1,20}\()?[\[({](?P<all>[^\[\](){}]{4,4000})"
    ),
    re.compile(r":\s(?P<all>[\"'][^\n]{0,4000}?[\"'] (?:→|\u00d7|\d+ times)[^\n]{0,4000})"),
)
"""`passwords = […]`, `"password": {0: …}`, and what a column of rows is like: `password: '…' → '…'`."""
_ONE = re.compile(r"[\"']([^\s\"'\\]{6,400})[\"'](?!\s?:)")


def secrets_near(text: str, name: Name) -> Iterator[Span]:
    """Yield the secrets that stand near a name, but not as `name = value`.

    Such are the other text of a pair, the value of an object or element, the next column, and the values of a list with that name.
    """
    before = text[max(name.begin - 1, 0) : name.begin]
    if before in {'"', "'"}:
        yield from _pair(text, name)
    if before in {'"', "'", "=", ":", " "}:
        yield from _object(text, name)
    if before in {"<", ":"}:
        yield from _rest(text, name, _IN_ELEMENT, sure=True)
    if text[max(name.begin - 80, 0) : name.begin].rstrip(" \t")[-1:] in {"", "\n"}:
        yield from _rest(text, name, _APART, sure=False)
    for form in _SEVERAL:
        several = form.match(text, name.end)
        for one in _ONE.finditer(text, *several.span("all")) if several else ():
            yield from name.credential_at(one.span(1), text, sure=False)


def _pair(text: str, name: Name) -> Iterator[Span]:
    """Yield the second text of a pair of two texts whose first is the name."""
    opened = _OPENED.search(text, max(name.begin - 5, 0), name.begin)
    if opened:
        # Among pairs the second is a value; else both may be names: ("password", "email").
        among = text[: opened.start()][-3:].rstrip()[-1:] in {"[", ",", "("}
        yield from _rest(text, name, _SECOND, sure=among)


def _object(text: str, name: Name) -> Iterator[Span]:
    """Yield the value of an object that has the name as the value of a key such as `name` or `key`."""
    key = _KEY.search(text, max(name.begin - 80, 0), name.begin)
    if not key:
        return
    value = _ITS_LATER.match(text, name.end) or _ITS_BEFORE.search(
        text, max(key.start() - 300, 0), key.start()
    )
    if value:
        group = "quoted" if value["quoted"] else "bare"
        yield from name.credential_at(value.span(group), text, sure=group == "quoted")


def _rest(text: str, name: Name, form: re.Pattern[str], *, sure: bool) -> Iterator[Span]:
    """Yield group `value` of the pattern `form`, matched behind the name, if it looks like a credential.

    `sure` says that only values can stand there.
    """
    found = form.match(text, name.end)
    if found:
        scheme = found.groupdict().get("scheme")
        named = name._replace(is_password=True) if scheme else name
        yield from named.credential_at(found.span("value"), text, sure=sure or bool(scheme))
