"""Decides which files may contain secrets: no tool shows their text to an assistant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

DEFAULT: Final = (
    ".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.jks", "*.keystore",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd",
    ".git-credentials", "credentials", "credentials.*", "secrets.*", ".ssh/*", ".gnupg/**", ".aws/*",
    ".kube/config", ".docker/config.json", "/etc/shadow", "/etc/gshadow", "/proc/**/environ",
)  # fmt: skip
"""The default of the plugin's option `secrets`; a test compares the two."""

HIDDEN: Final = "(this file may hold secrets: its text is not shown)"

_COPIES = re.compile(r"(?:~|\.bak|\.orig|\.old|\.save|\.swp)+$")
"""Suffixes that editors and people give to copies of a file."""
_COMMA = re.compile(r",(?![^\[]*\])")
"""A comma between alternatives, not one in a set in brackets."""
_PARTS = re.compile(r"\*\*/?|\*|\?|\[[^]]*\]|\{[^}]*\}|.", re.DOTALL)


class SecretFiles:
    """Matches such files by glob patterns; a pattern without a slash matches names.

    Upper and lower case are the same. Where several Neovims have a list, all of them count.
    """

    def __init__(self) -> None:
        self._patterns: tuple[str, ...] = DEFAULT

    def set_patterns(self, lists: Iterable[Sequence[str]]) -> None:
        """Set the glob patterns to those of all lists, one per attached Neovim; to `DEFAULT` without a list."""
        given = list(lists)
        self._patterns = tuple(one for each in given for one in each) if given else DEFAULT

    def hides(self, path: str) -> bool:
        """Return whether a file's text must not be shown: its path, or its links' target, matches a pattern.

        Copies such as `.env.bak` and `.env~` match as well. Links are resolved on disk.
        """
        names = {path.lower(), os.path.realpath(path).lower()}
        names |= {_COPIES.sub("", name) for name in names}
        return any(map(_compiled(self._patterns).fullmatch, names))


@lru_cache(maxsize=16)
def _compiled(globs: Sequence[str]) -> re.Pattern[str]:
    """Return one regular expression for lower-case paths that match any of the glob patterns."""
    each = (_glob_pattern(glob.lower()) for glob in globs)
    return re.compile(f"(?:.*/)?(?:{'|'.join(each)})" if globs else r"(?!)", re.DOTALL)


def _glob_pattern(glob: str) -> str:
    r"""Return the regular expression for a glob pattern, or for one alternative in its braces.

    >>> _glob_pattern("{*.pem,id_?}"), _glob_pattern("{[a,b].key,c}")
    ('(?:[^/]*\\.pem|id_[^/])', '(?:[a,b]\\.key|c)')
    """
    return "".join(map(_glob_part_pattern, _PARTS.findall(glob)))


def _glob_part_pattern(part: str) -> str:
    """Return the regular expression for one piece of a glob pattern: a wildcard, a set, or a character.

    `part` is not empty: a wildcard such as `**/`, a set in brackets or braces, or any other character. A set in
    braces matches one of its texts between commas, in which wildcards and brackets have their meaning.
    """
    match part:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if part[0] == "{" and len(part) > 1:
            return f"(?:{'|'.join(map(_glob_pattern, _COMMA.split(part[1:-1])))})"
        case _ if part[0] == "[" and len(part) > 1:
            return _set_pattern(part)
        case _:
            return re.escape(part)


def _set_pattern(part: str) -> str:
    r"""Return the regular expression for a set in brackets, which a `!` at its beginning negates.

    `part` includes the brackets. In the set only `-` has a meaning; all else, such as `^`, is literal. A `part`
    that is no set, such as `[z-a]`, is taken literally as a whole.

    >>> _set_pattern("[!a-c]"), _set_pattern("[a!b]"), _set_pattern("[]"), _set_pattern("[z-a]")
    ('[^a-c]', '[a!b]', '\\[\\]', '\\[z\\-a\\]')
    """
    negation = "^" if part.startswith("[!") else ""
    pattern = f"[{negation}{re.escape(part[1 + len(negation) : -1])}]".replace(r"\-", "-")
    try:
        re.compile(pattern)
    except re.error:
        return re.escape(part)
    return pattern
