"""Names of secrets, such as `DB_PASSWORD`, and what their values look like. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PASSWORDS = (
    r"(?:password|passphrase)(?:_?hash)?|passwd|passcode|secret|(?<![a-z])pwd(?![a-z])|(?-i:(?<=[a-z])P(?:wd|ass))(?![a-z])"
    r"|(?<![a-z])pass_?(?![a-z_])|(?<![a-z])(?:pin|otp|cvv|cvc)(?:_?code)?(?![a-z_])"
)
_TOKENS = (
    r"token|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|secret[_-]?key(?:[_-]?base)?|private[_-]?key|auth[_-]?key"
    r"|signing[_-]?key|encryption[_-]?key|credentials?|authorization|sess(?:ion)?id"
)
# The first look, at one letter, is what makes it quick.
_NAME = re.compile(rf"(?=[aceopstACEOPST])(?:(?P<password>(?i:{_PASSWORDS}))|(?i:{_TOKENS}))")
"""Names of secrets end in one of these words."""
_MAX_PREFIX_CHARS: Final = 60
"""Characters that a name has before that word, at most."""
_OF_NAMES: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_MIN_TOKEN_CHARS: Final = 12
"""Characters that a token or key has at least."""
_NUMBERS = re.compile(r"(?:pin|otp|cvv|cvc)(?:_?code)?", re.IGNORECASE)
"""Names of secrets that are a number of three to eight digits."""
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[*x•.]+", re.ASCII)
"""Values that are no credentials: attributes, and what is masked already."""
_NUMBERED = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?\d{1,3}")
"""Values that are names, not tokens: `identifier_12`."""
_WORD_AGAIN = re.compile(
    r"password|passwd|passphrase|secret|token|string|optional|required|undefined|none|null|true|false|redacted|varchar|object",
    re.IGNORECASE,
)
_NO_BEGINNING = ("/", "./", "~/", "<", "$", "{", "%")
"""Paths, and places where a value is to be put."""


Span = tuple[int, int, str]
"""Where a secret begins and ends, and what it is called."""


class SecretName(NamedTuple):
    """A name of a secret in a text."""

    begin: int
    end: int
    word: str
    """The word by which it is known."""
    is_password: bool

    def credential_at(self, span: tuple[int, int], text: str, *, sure: bool) -> Iterator[Span]:
        """Yield the place `span` of the name's value, with its label, if the value looks like a credential.

        It yields at most once. `sure` says that only values can stand at that place, so less is asked of the value.
        """
        if is_credential(text[slice(*span)], self.word, password=self.is_password, sure=sure):
            yield *span, self.word.lower()


def names(text: str) -> Iterator[SecretName]:
    """Yield the names of secrets in a text, from its beginning to its end."""
    for found in _NAME.finditer(text):
        start = found.start()
        least = max(start - _MAX_PREFIX_CHARS, 0)
        begin = least + len(text[least:start].rstrip(_OF_NAMES))
        yield SecretName(begin, found.end(), found[0], bool(found["password"]))


def is_word(text: str) -> bool:
    """Return whether a value is code, a path or a placeholder, and so no secret."""
    return bool(
        _CODE.fullmatch(text) or text.startswith(_NO_BEGINNING) or _WORD_AGAIN.fullmatch(text)
    )


def is_number(word: str) -> bool:
    """Return whether a secret of this name is a number of few digits, as a PIN is."""
    return _NUMBERS.fullmatch(word) is not None


def is_mixed(text: str) -> bool:
    """Return whether a text has both letters and digits."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def is_credential(body: str, name: str, *, password: bool, sure: bool) -> bool:
    """Return whether the value `body` looks like the secret that `name` names, by length and characters.

    A `password` may be shorter than a token. With `sure` the value stands where only values can, so a password needs four
    characters and no digit.
    """
    if is_number(name):
        return body.isdecimal() and 4 - ("cv" in name.lower()) <= len(body) <= 8
    if body.startswith(_NO_BEGINNING) or _CODE.fullmatch(body) or " " in body:
        return False
    if _WORD_AGAIN.search(body) and len(body) < 2 * _MIN_TOKEN_CHARS:
        return False
    mixed = is_mixed(body)
    if password:
        return len(body) >= 4 if sure else len(body) >= 6 and mixed
    return len(body) >= _MIN_TOKEN_CHARS and mixed and not _NUMBERED.fullmatch(body)
