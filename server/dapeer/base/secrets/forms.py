"""The table of forms in which secrets are written: each finds what is masked in a text. Pure.

*Sure* forms are credentials anywhere: keys of well-known services, private keys, passwords in addresses and commands. In the
other forms a name such as `DB_PASSWORD` stands beside a value, and the value is masked if it looks like a
credential: a single word; for a password at least four characters in quotes, for a token or key at least twelve letters and
digits. So the `token` of a parser is shown. There is no rule by entropy: it would mask digests, identifiers and test data.

Megabytes of output are checked, so a form is tried only if one of its words is in the text, and none backtracks far.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from dapeer.base.secrets.names import Name, Span, is_mixed, is_number, is_word, names
from dapeer.base.secrets.neighbours import secrets_near
from dapeer.base.secrets.tables import column_secrets


class Form(NamedTuple):
    """A way in which secrets are written."""

    words: tuple[str, ...]
    """One of them is in every text that has the form, in lower case."""
    find: Callable[[str], Iterable[Span]]


def spans(text: str) -> Iterator[Span]:
    """Yield the secrets of a text, each with its start, end and label, form by form; they may overlap."""
    lowered = text.lower()
    for form in FORMS:
        if any(map(lowered.__contains__, form.words)):
            yield from form.find(text)


_NAMED = re.compile(
    r"""
    \\{0,2}["'`]?[\])]?                                    # the end of a quoted key, or of an index
    (?P<by>\s{0,2}(?::[^=:\n"'`]{0,40}=|=>|:=|[=!]={1,2}|=|:)\s{0,2}|\ is:?\ |(?P<apart>["']?,?\ {1,2}))
    (?:0x[0-9a-fA-F]{1,16}\s)?
    (?:
      [bBrRuUfF&]{0,2}\\{0,2}["'`](?:(?<=")['`]|(?<=')["`])?(?P<scheme>(?i:bearer|basic|token)\s)?(?P<quoted>(?:[^\s"'`\\]|\\(?!["'`]))++)
      |(?P<bare_scheme>(?i:bearer|basic|token)\s)?(?P<bare>[^\s"'`,;(){}\[\]<>$\\&=%]++)(?![(\[])
    )
    """,
    re.VERBOSE,
)
"""What follows a name: the value."""
_FLAG = re.compile(r"--[\w-]*\Z")
_PASS = re.compile(r"pass_?", re.IGNORECASE)
_SPOKEN = re.compile(r"password|passwd|token|secret", re.IGNORECASE)
"""Names after which a sentence tells a secret: `the password is …`."""


def _by_names(text: str) -> Iterator[Span]:
    """Yield the secrets of a text that a name such as `DB_PASSWORD` identifies, wherever the name stands."""
    found = list(names(text))
    for name in found:
        yield from _named(text, name)
        yield from secrets_near(text, name)
        if is_number(name.word):
            yield from _ends_of_range(text, name)
    yield from column_secrets(text, found)


def _named(text: str, name: Name) -> Iterator[Span]:
    """Yield the value that follows a name in `text`, as in `name = value`, if it looks like its secret.

    It yields at most once: start, end and label. `name` is a place in `text`, as `names` yields it.
    """
    found = _NAMED.match(text, name.end)
    if found is None:
        return
    by, quoted = found["by"], bool(found["quoted"])
    no_option = found["apart"] and not _FLAG.search(text, max(name.end - 40, 0), name.end)
    unspoken = by.startswith(" is") and not _SPOKEN.fullmatch(name.word)
    # `PASS: test_2` is told of a test.
    no_name = _PASS.fullmatch(name.word) and not quoted and "=" not in by
    if no_option or unspoken or no_name:
        return
    # Environment variables and headers have their values without quotes.
    scheme = found["scheme"] or found["bare_scheme"]
    # Of several words it is a text for people.
    one_word = text[found.end("quoted") : found.end("quoted") + 1] != " "
    of_environment = name.word.isupper() and text[name.end] == "="
    sure = (quoted and one_word) or bool(scheme) or of_environment
    named = name._replace(is_password=name.is_password or bool(scheme))
    yield from named.credential_at(found.span("quoted" if quoted else "bare"), text, sure=sure)


_RANGE = re.compile(
    r":[^\n]{0,120}?(?<![\w.,])(\d[\d,]{2,9})(?:…| [ ▁-█]{1,200} )(\d[\d,]{2,9})(?![\w.,])"
)
"""The least and the greatest number of a column, in a summary of it or around its plot."""


def _ends_of_range(text: str, name: Name) -> Iterator[Span]:
    """Yield the two numbers of a range that follows a name, as the least and greatest PIN of a column."""
    if found := _RANGE.match(text, name.end):
        for group in (1, 2):
            yield *found.span(group), name.word.lower()


_COOKIES = re.compile(
    r"(?i:(?:set-?)?cookies?(?:_?jar)?|morsel)[\"'\])]{0,2}(?::[^=:;\n\"'`]{0,40}\s=\s|\s=|[:=,(\[]|\s(?=[\w.$-]{1,80}=))(?P<jar>[^\n]{4,4000})"
)
"""A header, a jar, or a variable of cookies."""
_COOKIE = re.compile(
    r"(?<![\w.$-])[\"']?(?!(?i:set-)?(?i:cookie))(?P<name>[\w.$-]{1,80})[\"']?(?:=|:\s)[\"']?(?P<value>[^\s\"',;(){}<>\\]{4,4000})(?![(\[.])"
)
_ATTRIBUTES: Final = frozenset(
    ("path", "domain", "expires", "max-age", "samesite", "version", "comment", "comment_url", "name", "port", "priority", "timeout")
)  # fmt: skip
_OF_SESSION = re.compile(r"sess|sid$|auth|csrf|token|login|remember", re.IGNORECASE)


def _cookies(text: str) -> Iterator[Span]:
    """Yield the values of cookies in a text that identify a session or look like tokens.

    Looked at are the contents of cookie headers, jars and variables; attributes such as `Path` are no values.
    """
    for jar in _COOKIES.finditer(text):
        end = jar.end() if "\\n" not in jar["jar"] else text.index("\\n", jar.start("jar"))
        for found in _COOKIE.finditer(text, jar.start("jar"), end):
            name, value = found["name"].lower(), found["value"]
            if name in _ATTRIBUTES or is_word(value):
                continue
            if (len(value) >= 8 and is_mixed(value)) or _OF_SESSION.search(name):
                yield *found.span("value"), "cookie"


def _form(label: str, words: str, pattern: str) -> Form:
    """Return a form whose matches are credentials in any text.

    `label` is what a secret is called, `words` are words in lower case of which every such text has one, separated by spaces. Group
    1 of `pattern` is the secret.
    """
    compiled = re.compile(pattern)

    def find(text: str) -> Iterator[Span]:
        """Yield where group 1 of the pattern matches in `text`, with the label."""
        for found in compiled.finditer(text):
            yield *found.span(1), label

    return Form(tuple(words.split()), find)


def _option(programs: str, words: str, option: str, *, user: bool = False) -> Form:
    """Return the form of a password that a command line gives to a program as an option.

    `programs` and `option` are patterns, `words` are words of which every such text has one. With `user` the option's value is
    `user:password`.
    """
    then = r"[^\s\"',:]{1,100}:" if user else ""
    return _form(
        "password",
        words,
        rf"(?<![\w-])(?:{programs})[\"']?[\s,][^\n;|&]{{0,300}}?(?<=[\s\"']){option}{then}([^\s\"',\]\\;|&${{<%-][^\s\"',\]\\;|&]{{2,200}})",
    )


_APART = r"[\"']?,?[ =][\"']?"
_NAME_WORDS: Final = (
    "passw", "passphrase", "passcode", "pass", "pwd", "pin", "otp", "cvv", "cvc", "secret", "token", "key", "credential", "authorization", "sessid", "sessionid",
)  # fmt: skip

FORMS: Final = (
    _form("private key", "-----begin", r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[rn]|\s)*+[A-Za-z0-9+/=]{4,}+)*+(?:(?:\\[rn]|\s)*+-----END[A-Z0-9 ]{0,40}-----)?)"),
    _form("AWS key", "akia asia", r"(?<![A-Za-z0-9])((?:AKIA|ASIA)[A-Z0-9]{12,16})(?![A-Za-z0-9])"),
    _form("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?<![A-Za-z0-9])((?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,255})"),
    _form("GitLab token", "glpat-", r"(?<![A-Za-z0-9])(glpat-[\w-]{16,255})"),
    _form("key", "sk-", r"(?<![A-Za-z0-9_-])(sk-(?:(?:ant|proj|svcacct|admin|or)-[\w-]{16,255}|[A-Za-z0-9]{24,255}))"),
    _form("Stripe key", "k_live_ k_test_ whsec_", r"(?<![A-Za-z0-9])((?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,255})"),
    _form("Slack token", "xox xapp-", r"(?<![A-Za-z0-9])((?:xox[abeoprs]|xapp)-[\w-]{16,255})"),
    _form("Google key", "aiza ya29.", r"(?<![A-Za-z0-9])(AIza[\w-]{30,40}|ya29\.[\w-]{20,255})"),
    _form("npm token", "npm_", r"(?<![A-Za-z0-9])(npm_[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
    _form("PyPI token", "pypi-ag", r"(?<![A-Za-z0-9])(pypi-Ag[\w-]{30,255})"),
    _form("Hugging Face token", "hf_", r"(?<![A-Za-z0-9])(hf_[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
    _form("SendGrid key", "sg.", r"(?<![A-Za-z0-9])(SG\.[\w-]{16,64}\.[\w-]{16,64})"),
    _form("JSON Web Token", "eyj", r"(?<![A-Za-z0-9])(eyJ[\w-]{8,}+(?:\.eyJ[\w-]*+(?:\.[\w-]*+)?|(?=…|\.\.\.)))"),
    _form("authorization", "bearer basic", r"(?i:\b(?:Bearer|Basic) )((?=[A-Za-z._~+/-]{0,99}[0-9])[\w.~+/-]{16,}+=*)"),
    _form("password hash", "$2a$ $2b$ $2y$ $5$ $6$ $y$ $argon2 $scrypt$", r"(\$(?:2[aby]|5|6|y|argon2(?:i|d|id)|scrypt)\$[\w./$=,+-]{20,200})"),
    _form("signature", "sig= signature=", r"(?i:[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=)([\w%+/.=~-]{8,400})"),
    _form("token", "x-amz-security-token=", r"(?i:[?&;]x-amz-security-token=)([\w%+/.=~-]{16,4000})"),
    _form("password", "://", r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>{}$*]{3,200})@"),
    _form("password", "pass:", r"(?<=[\s\"'=])pass:([^\s\"',]{4,200})"),
    _option(r"mysql\w{0,8}|mysql-\w{1,9}|mariadb[\w-]{0,9}|7z[ar]?|sshpass", "mysql mariadb 7z sshpass", "-p"),
    _option(r"sshpass|mongo(?:sh|dump|restore|export|import)?|(?:docker|podman)[\"']?[\s,]{1,2}[\"']?login", "sshpass mongo login", rf"-p{_APART}"),
    _option(r"redis-cli", "redis-cli", rf"-a(?:{_APART})?"),
    _option(r"ldap(?:search|add|modify|delete|whoami)", "ldap", rf"-w(?:{_APART})?"),
    _option(r"sqlcmd|bcp|zip|unzip", "sqlcmd bcp zip", rf"-P(?:{_APART})?"),
    _option(r"curl|wget", "curl wget", rf"(?:-u(?:{_APART})?|--(?:proxy-)?user{_APART})", user=True),
    Form(("cookie", "morsel"), _cookies),
    Form(_NAME_WORDS, _by_names),
)  # fmt: skip
"""Read from the first on: where two find the same, the first names it."""
WORDS: Final = tuple(dict.fromkeys(word for form in FORMS for word in form.words))
