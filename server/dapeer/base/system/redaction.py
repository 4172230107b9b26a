"""Masks secrets in results and logs. Pure.

Two kinds of rules. *Forms* are texts that are credentials anywhere: the keys of well-known services, private
keys, JSON Web Tokens, passwords in addresses. *Names* are variables, keys and options such as `DB_PASSWORD`,
whose values are masked if they look like credentials: a single word; for a password at least four characters
in quotes, for a token or key at least twelve letters and digits. So the `token` of a parser is shown. There
is no rule by entropy: it would mask digests, identifiers and test data.

Megabytes of output are checked, so a rule is tried only if one of its words is in the text, and no rule
backtracks far.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

NOTE: Final = "(<redacted: …> is masked here, not in the program. A person shows it with `dapeer … --no-redact`.)"

_PASSWORDS = r"password|passwd|passphrase|secret"
_TOKENS = (
    r"token|api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?key(?:[_-]?base)?|private[_-]?key|auth[_-]?key|signing[_-]?key"
    r"|encryption[_-]?key|credentials?|authorization"
)
_LONG: Final = 12
"""Characters that a token or key has at least."""

# Names of secrets end in one of these words; the value follows.
_NAMED = re.compile(
    rf"""
    (?:(?P<password>(?i:{_PASSWORDS}))|(?P<token>(?i:{_TOKENS})))
    \\{{0,2}}["'`]?[\])]?                                    # the end of a quoted key, or of an index
    (?:\s{{0,2}}(?::[^=:\n"'`]{{0,40}}=|=>|:=|[=!]={{1,2}}|=|:)\s{{0,2}}|(?P<apart>["']?,?\ {{1,2}}))
    (?:0x[0-9a-fA-F]{{1,16}}\s)?
    (?:
      [bBrRuUfF&]{{0,2}}\\{{0,2}}["'`](?:(?<=")['`]|(?<=')["`])?(?P<scheme>(?i:bearer|basic|token)\s)?(?P<quoted>(?:[^\s"'`\\]|\\(?!["'`]))++)
      |(?P<bare_scheme>(?i:bearer|basic|token)\s)?(?P<bare>[^\s"'`,;(){{}}\[\]<>$\\&=%]++)(?![(\[])
    )
    """,
    re.VERBOSE,
)
_FLAG = re.compile(r"--[\w-]*$")
_NAME = re.compile(rf"""(?:(?P<password>{_PASSWORDS})|(?:{_TOKENS}))["'`\])\s]*$""", re.IGNORECASE)
_VALUE = re.compile(
    r"""^(?:0x[0-9a-fA-F]{1,16}\s)?[bBrRuUfF&]{0,2}(?P<quote>["'`])(?P<scheme>(?i:bearer|basic|token)\s)?(?P<body>[^\s"'`]++)"""
)
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[*x•.]+", re.ASCII)
"""Values that are no credentials: attributes, and what is masked already."""
_NUMBERED = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?\d{1,3}")
"""Values that are names, not tokens: `identifier_12`."""
_WORD_AGAIN = re.compile(rf"{_PASSWORDS}|token|string|optional|required|undefined|none|null|true|false|redacted", re.IGNORECASE)  # fmt: skip
_NO_BEGINNING = ("/", "./", "~/", "<", "$", "{", "%")
"""Paths, and places where a value is to be put."""


class _Form(NamedTuple):
    label: str
    words: tuple[str, ...]
    """One of them is in every match, in lower case."""
    pattern: re.Pattern[str]
    """The match of its group 1 is masked."""


_FORMS: Final = tuple(
    _Form(label, tuple(words.split()), re.compile(pattern))
    for label, words, pattern in (
        ("private key", "-----begin", r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[rn]|\s)*+[A-Za-z0-9+/=]{4,}+)*+(?:(?:\\[rn]|\s)*+-----END[A-Z0-9 ]{0,40}-----)?)"),
        ("AWS key", "akia asia", r"(?<![A-Za-z0-9])((?:AKIA|ASIA)[A-Z0-9]{12,16})(?![A-Za-z0-9])"),
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?<![A-Za-z0-9])((?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,255})"),
        ("GitLab token", "glpat-", r"(?<![A-Za-z0-9])(glpat-[\w-]{16,255})"),
        ("key", "sk-", r"(?<![A-Za-z0-9_-])(sk-(?:(?:ant|proj|svcacct|admin|or)-[\w-]{16,255}|[A-Za-z0-9]{24,255}))"),
        ("Stripe key", "k_live_ k_test_ whsec_", r"(?<![A-Za-z0-9])((?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,255})"),
        ("Slack token", "xox xapp-", r"(?<![A-Za-z0-9])((?:xox[abeoprs]|xapp)-[\w-]{16,255})"),
        ("Google key", "aiza ya29.", r"(?<![A-Za-z0-9])(AIza[\w-]{30,40}|ya29\.[\w-]{20,255})"),
        ("npm token", "npm_", r"(?<![A-Za-z0-9])(npm_[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
        ("PyPI token", "pypi-ag", r"(?<![A-Za-z0-9])(pypi-Ag[\w-]{30,255})"),
        ("Hugging Face token", "hf_", r"(?<![A-Za-z0-9])(hf_[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
        ("SendGrid key", "sg.", r"(?<![A-Za-z0-9])(SG\.[\w-]{16,64}\.[\w-]{16,64})"),
        ("JSON Web Token", "eyj", r"(?<![A-Za-z0-9])(eyJ[\w-]{8,}+(?:\.eyJ[\w-]*+(?:\.[\w-]*+)?|(?=…|\.\.\.)))"),
        ("authorization", "bearer basic", r"(?i:\b(?:Bearer|Basic) )((?=[A-Za-z._~+/-]{0,99}[0-9])[\w.~+/-]{16,}+=*)"),
        ("password", "://", r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>{}$*]{3,200})@"),
    )
)  # fmt: skip
_NAME_WORDS: Final = (
    "passw", "passphrase", "secret", "token", "key", "credential", "authorization",
)  # fmt: skip
_WORDS: Final = (*_NAME_WORDS, *itertools.chain.from_iterable(form.words for form in _FORMS))

_NAMING: Final = ("name", "path", "expression")
"""Keys of an object whose value names the object's other values."""
_VALUES: Final = frozenset({"value", "result", "was"})


def redacted(text: str) -> str:
    """Return a text with its secrets masked.

    >>> redacted("DB_PASSWORD=hunter2 and token = tokens[3]")
    'DB_PASSWORD=<redacted: password> and token = tokens[3]'
    """
    plain = _ANSI.sub("", text) if "\x1b" in text else text
    spans = sorted(_spans(plain))
    if not spans:
        return text
    places = _places(text) if plain is not text else None
    pieces: list[str] = []
    done = 0
    for start, end, label in spans:
        if places is not None:
            start, end = places.of(start), places.of(end - 1) + 1  # noqa: PLW2901
        if start >= done:
            pieces += text[done:start], mask(label)
        done = max(done, end)
    return "".join(pieces) + text[done:]


def mask(label: str) -> str:
    """Return the placeholder for a secret."""
    return f"<redacted: {label}>"


@dataclass(slots=True)
class Redaction:
    """Masks one answer: its text, and its data, in which a value is known by its name."""

    found: dict[str, str] = field(default_factory=dict[str, str])
    """Values that were masked because of their name, and the placeholder; they are masked everywhere in the answer."""

    def data(self, value: Any, name: str = "") -> Any:
        """Return data with its secrets masked; `name` is the name of its value."""
        if not may_hold_secrets(name, value):
            return value
        masked = self._walk(value, name)
        return self._walk(masked, name) if self.found else masked

    def text(self, text: str) -> str:
        """Return the text that goes with the data, masked."""
        for secret, instead in self.found.items():
            text = text.replace(secret, instead)
        return redacted(text)

    def _walk(self, value: Any, name: str) -> Any:
        match value:
            case str():
                return self.text(self._named(value, name) if name else value)
            case list():
                return [self._walk(one, name) for one in cast("list[Any]", value)]
            case dict():
                fields = cast("dict[str, Any]", value)
                whose = next((str(fields[key]) for key in _NAMING if fields.get(key)), name)
                return {
                    key: self._walk(one, whose if key in _VALUES else key)
                    for key, one in fields.items()
                }
            case _:
                return value

    def _named(self, value: str, name: str) -> str:
        named = _NAME.search(name[-80:])
        if named is None:
            return value
        quoted = _VALUE.match(value)
        body = quoted["body"] if quoted else value
        label = named[0].strip("\"'`]) ").lower()
        password = bool(named["password"] or (quoted and quoted["scheme"]))
        if not _is_credential(body, password, quoted=bool(quoted)):
            return value
        self.found[body] = mask(label)
        return value.replace(body, mask(label))


def may_hold_secrets(text: str, data: object = None) -> bool:
    """Return whether anything in a text, or in the data that belongs to it, can be masked; where nothing can, it is quick."""
    all_of_it = text if data is None else f"{text}{data!r}"
    escaped = "\x1b" in all_of_it or "\\x1b" in all_of_it
    return escaped or _has(all_of_it.lower(), _WORDS)


def _has(lowered: str, words: Iterable[str]) -> bool:
    return any(map(lowered.__contains__, words))


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lowered = text.lower()
    for form in _FORMS:
        if _has(lowered, form.words):
            for found in form.pattern.finditer(text):
                yield *found.span(1), form.label
    if _has(lowered, _NAME_WORDS):
        for found in _NAMED.finditer(text):
            if found["apart"] and not _FLAG.search(
                text[max(found.start() - 40, 0) : found.start()]
            ):
                continue
            kind = "quoted" if found["quoted"] else "bare"
            # Environment variables and headers have their values without quotes.
            scheme = found["scheme"] or found["bare_scheme"]
            plain = kind == "quoted" or scheme or _is_of_environment(text, found)
            password = bool(found["password"] or scheme)
            if _is_credential(found[kind], password, quoted=bool(plain)):
                yield *found.span(kind), (found["password"] or found["token"]).lower()


def _is_of_environment(text: str, found: re.Match[str]) -> bool:
    name = found["password"] or found["token"]
    return (
        name.isupper()
        and text[found.end("password" if found["password"] else "token") :][:1] == "="
    )


def _is_credential(body: str, password: bool, *, quoted: bool) -> bool:
    """Return whether a value looks like the kind of secret that its name suggests."""
    if body.startswith(_NO_BEGINNING) or _CODE.fullmatch(body) or " " in body:
        return False
    if _WORD_AGAIN.search(body) and len(body) < 2 * _LONG:
        return False
    mixed = any(map(str.isdigit, body)) and any(map(str.isalpha, body))
    if password:
        return len(body) >= 4 if quoted else len(body) >= 6 and mixed
    return len(body) >= _LONG and mixed and not _NUMBERED.fullmatch(body)


class _Places(NamedTuple):
    """Where the characters of a text without escape sequences are in the text with them."""

    plain: list[int]
    shift: list[int]

    def of(self, position: int) -> int:
        return position + self.shift[bisect.bisect_right(self.plain, position) - 1]


def _places(text: str) -> _Places:
    places = _Places([0], [0])
    removed = 0
    for code in _ANSI.finditer(text):
        removed += code.end() - code.start()
        places.plain.append(code.end() - removed)
        places.shift.append(removed)
    return places


def field_names(arguments: Mapping[str, Any]) -> str:
    """Return the name of the variable that a call asks for, from its arguments; empty if there is none."""
    return next((str(arguments[key]) for key in _NAMING if arguments.get(key)), "")
