"""Masks secrets in results and logs: what `forms` finds, in texts and in data. Pure."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from dapeer.base.json_types import is_array, is_object

# Names of secrets, such as `DB_PASSWORD`, and what their values look like. Pure.

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
    label: str
    """The word by which it is known."""
    is_password: bool

    def credential_at(self, span: tuple[int, int], text: str, *, sure: bool) -> Iterator[Span]:
        """Yield the place `span` of the name's value, with its label, if the value looks like a credential.

        It yields at most once. `sure` says that only values can stand at that place, so less is asked of the value.
        """
        if is_credential(text[slice(*span)], self.label, password=self.is_password, sure=sure):
            yield *span, self.label.lower()


def secret_names(text: str) -> Iterator[SecretName]:
    """Yield the names of secrets in a text, from its beginning to its end."""
    for found in _NAME.finditer(text):
        start = found.start()
        least = max(start - _MAX_PREFIX_CHARS, 0)
        begin = least + len(text[least:start].rstrip(_OF_NAMES))
        yield SecretName(begin, found.end(), found[0], bool(found["password"]))


def is_code_or_placeholder(text: str) -> bool:
    """Return whether a value is code, a path or a placeholder, and so no secret."""
    return bool(
        _CODE.fullmatch(text) or text.startswith(_NO_BEGINNING) or _WORD_AGAIN.fullmatch(text)
    )


def is_pin_name(word: str) -> bool:
    """Return whether a secret of this name is a number of few digits, as a PIN is."""
    return _NUMBERS.fullmatch(word) is not None


def is_mixed(text: str) -> bool:
    """Return whether a text has both letters and digits."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def is_credential(body: str, name: str, *, password: bool, sure: bool) -> bool:
    """Return whether the value `body` looks like the secret that `name` names, by length and characters.

    If `name` is that of a PIN, `body` must be 4 to 8 digits, if of a card's code 3 to 8, and the other
    arguments do not count. Code, paths, placeholders, texts with spaces, and short ones with a word such as
    `password` or `string` are no secrets. With `password` (`name` is a password's), six characters or more
    with letters and digits are needed, or, with `sure` (`body` stands where only values can), any four or more.
    Otherwise it must be a token: at least `_MIN_TOKEN_CHARS` characters, with letters and digits, and no name
    with a number such as `identifier_12`.
    """
    if is_pin_name(name):
        return body.isdecimal() and 4 - ("cv" in name.lower()) <= len(body) <= 8
    if body.startswith(_NO_BEGINNING) or _CODE.fullmatch(body) or " " in body:
        return False
    if _WORD_AGAIN.search(body) and len(body) < 2 * _MIN_TOKEN_CHARS:
        return False
    mixed = is_mixed(body)
    if password:
        return len(body) >= 4 if sure else len(body) >= 6 and mixed
    return len(body) >= _MIN_TOKEN_CHARS and mixed and not _NUMBERED.fullmatch(body)


# Secrets named beside them, not as `name = value`: in pairs, objects, elements, lists, tables. Pure.

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
_NEIGHBOURS_APART = re.compile(
    r"[ \t]{2,40}(?P<value>\S{6,400})(?:[ \t]+\[[^\]\n]*\])?[ \t]*(?:\n|\Z)"
)
"""A row of two columns: a name, and its value apart from it."""
_SEVERAL = (
    re.compile(
        r"s?\\?[\"']?\s?(?::[^=:\n\"'`]{0,40}=|[=:])\s{0,2}(?:\w{1,20}\()?[\[({](?P<all>[^\[\](){}]{4,4000})"
    ),
    re.compile(r":\s(?P<all>[\"'][^\n]{0,4000}?[\"'] (?:→|\u00d7|\d+ times)[^\n]{0,4000})"),
)
"""`passwords = […]`, `"password": {0: …}`, and what a column of rows is like: `password: '…' → '…'`."""
_ONE = re.compile(r"[\"']([^\s\"'\\]{6,400})[\"'](?!\s?:)")


def secrets_near(text: str, name: SecretName) -> Iterator[Span]:
    """Yield the secrets that stand near a name, but not as `name = value`: start, end and label of each.

    `name` is a place in `text`. Looked at are the second text of a pair such as `("password", "…")`, the value of an object that has the
    name as a value, the content of an XML element, the next column of a line that begins with the name, and the items of a list. Only what
    looks like a credential is yielded; a secret may come twice.
    """
    before = text[max(name.begin - 1, 0) : name.begin]
    if before in {'"', "'"}:
        yield from _secret_of_pair(text, name)
    if before in {'"', "'", "=", ":", " "}:
        yield from _secret_of_object(text, name)
    if before in {"<", ":"}:
        yield from _credential_after(text, name, _IN_ELEMENT, sure=True)
    if text[max(name.begin - 80, 0) : name.begin].rstrip(" \t")[-1:] in {"", "\n"}:
        yield from _credential_after(text, name, _NEIGHBOURS_APART, sure=False)
    for form in _SEVERAL:
        several = form.match(text, name.end)
        for one in _ONE.finditer(text, *several.span("all")) if several else ():
            yield from name.credential_at(one.span(1), text, sure=False)


def _secret_of_pair(text: str, name: SecretName) -> Iterator[Span]:
    """Yield the second text of a pair of two texts whose first is the name."""
    opened = _OPENED.search(text, max(name.begin - 5, 0), name.begin)
    if opened:
        # Among pairs the second is a value; else both may be names: ("password", "email").
        among = text[: opened.start()][-3:].rstrip()[-1:] in {"[", ",", "("}
        yield from _credential_after(text, name, _SECOND, sure=among)


def _secret_of_object(text: str, name: SecretName) -> Iterator[Span]:
    """Yield the value of an object that has the name as the value of a key such as `name` or `key`.

    That is `{"name": "password", "value": "…"}` for instance, in any order. It yields start, end and label, at most once, and only a value
    that looks like a credential.
    """
    key = _KEY.search(text, max(name.begin - 80, 0), name.begin)
    if not key:
        return
    value = _ITS_LATER.match(text, name.end) or _ITS_BEFORE.search(
        text, max(key.start() - 300, 0), key.start()
    )
    if value:
        group = "quoted" if value["quoted"] else "bare"
        yield from name.credential_at(value.span(group), text, sure=group == "quoted")


def _credential_after(
    text: str, name: SecretName, form: re.Pattern[str], *, sure: bool
) -> Iterator[Span]:
    """Yield group `value` of the pattern `form`, matched behind the name, if it looks like a credential.

    `sure` says that only values can stand there.
    """
    found = form.match(text, name.end)
    if found:
        scheme = found.groupdict().get("scheme")
        named = name._replace(is_password=True) if scheme else name
        yield from named.credential_at(found.span("value"), text, sure=sure or bool(scheme))


# Secrets in the columns of tables: CSV, lines with `|`, tables of SQL clients and of pandas. Pure.

MAX_TABLE_ROWS: Final = 1000
"""Rows below a heading that are looked at."""
MAX_LINE_CHARS: Final = 4000
"""Characters of a line that can be of a table."""
_BREAK = re.compile(r"[\r\n]+|(?:\\r)?\\n")
"""Ends a line of a text, or of a text in the `repr` of one."""
_RULE = re.compile(r"[\s|+=:─-╿-]*|[\s│┆-]*(?:(?:str|i64|f64|bool|date|datetime)[\s│┆]*)+")
"""A line of a table that holds no values."""
_DELIMITERS = (re.compile(r"[|│┆]"), re.compile(r"\t|\\t"), re.compile(r"[,;]"))
_CELL = re.compile(r"\S+")
_PLAIN = re.compile(r"\s*[\w.\"'-]+\s*")
_WORD = re.compile(r"[^\s\"',;()\[\]{}|<>]{6,400}")
_SIZE = re.compile(r"(?<!\d)\(\d+, ?\d*\) [^|\n]{0,400}\Z")
"""Begins a table of pandas as dapeer shows it."""
_BELOW = re.compile(
    r"[^|\n]{0,400}(?P<rows> \| [^\n]{4,4000}|\n(?:[ ]+\S[^\n]{0,400}(?:\n|\Z)){1,60})"
)
"""Its rows, which stand in one line where there is little room."""


@dataclass(frozen=True, slots=True)
class _SecretHeading:
    """The heading of a column of secrets: its number, the number of cells, and its place in its line."""

    name: SecretName
    index: int
    count: int
    place: tuple[int, int]
    split: re.Pattern[str] | None


def column_secrets(text: str, names: Sequence[SecretName]) -> Iterator[Span]:
    """Yield the values below headings that are names of secrets, in tables of any of the known forms.

    Each is a start, an end and a label; only values that look like the secret are yielded. `names` are the names
    of secrets in `text`, in their order. Values of pandas columns with such a name are yielded, too, also those
    that stand before it. A table ends at the first line of another form, at a line longer than `MAX_LINE_CHARS`,
    or after `MAX_TABLE_ROWS`.
    """
    heads: Sequence[_SecretHeading] = ()
    rows = position = following = 0
    while position < len(text) and (heads or following < len(names)):
        if not heads:
            position = max(position, _line_start(text, names[following].begin))
        found = _BREAK.search(text, position, position + MAX_LINE_CHARS)
        line = position, found.start() if found else min(position + MAX_LINE_CHARS, len(text))
        first = following
        while following < len(names) and names[following].begin < line[1]:
            yield from _pandas_column_secrets(text, names[following])
            following += 1
        headings = list(_secret_headings(text, line, names[first:following]))
        if headings:
            heads, rows = headings, 0
        elif heads:
            rows += 1
            fits = rows <= MAX_TABLE_ROWS and (found or line[1] == len(text))
            held = _row_secrets(text, line, heads) if fits else None
            yield from held or ()
            heads = heads if held is not None else ()
        position = found.end() if found else max(line[1], position + 1)


def _line_start(text: str, position: int) -> int:
    """Return where the line that contains a position begins; at most `MAX_LINE_CHARS` before it."""
    least = max(position - MAX_LINE_CHARS, 0)
    ends = ((text.rfind(each, least, position), len(each)) for each in ("\n", "\\n"))
    return max([least, *(at + length for at, length in ends if at >= 0)])


def _secret_headings(
    text: str, line: tuple[int, int], names: Sequence[SecretName]
) -> Iterator[_SecretHeading]:
    """Yield the headings in a line that are names of secrets; none if the line is no heading of a table.

    `line` is the line's start and end in `text`, `names` are the names in it. A heading counts only if the name
    is all of its cell, but for quotes and spaces, and the line has two cells at least. Of bars, tabs, commas or
    semicolons, and white space as delimiters, only the first counts that gives a heading.
    """
    if not names:
        return
    begins = {each.begin: each for each in names}
    for split in (*_DELIMITERS, None):
        cells = _cells(text, line, split)
        if len(cells) < 2 or not _is_heading(text, line, cells, split):
            continue
        bare = ((index, cell, _trim_cell(text, cell)) for index, cell in enumerate(cells))
        found = [
            _SecretHeading(
                begins[start], index, len(cells), (cell[0] - line[0], cell[1] - line[0]), split
            )
            for index, cell, (start, end) in bare
            if start in begins and begins[start].end == end
        ]
        if found:
            yield from found
            return


def _trim_cell(text: str, cell: tuple[int, int]) -> tuple[int, int]:
    """Return where the text of a cell begins and ends, without spaces and quotes around it."""
    body = text[slice(*cell)]
    start = cell[0] + len(body) - len(body.lstrip(" \"'`"))
    return start, max(cell[0] + len(body.rstrip(" \"'`")), start)


def _cells(
    text: str, line: tuple[int, int], split: re.Pattern[str] | None
) -> list[tuple[int, int]]:
    """Return where the cells of a line begin and end; `split` separates them, None: white space does."""
    if split is None:
        return [each.span() for each in _CELL.finditer(text, *line)]
    cuts = [each.span() for each in split.finditer(text, *line)]
    edges = [(line[0], line[0]), *cuts, (line[1], line[1])]
    return [(before[1], after[0]) for before, after in pairwise(edges)]


def _is_heading(
    text: str,
    line: tuple[int, int],
    cells: Sequence[tuple[int, int]],
    split: re.Pattern[str] | None,
) -> bool:
    """Return whether a line looks like the heading of a table, and not like a sentence or code.

    `cells` are the places of its cells, one at least; `split` is the delimiter's pattern, or None for columns
    that white space separates. Bars and tabs always make a heading. With commas or semicolons each cell must be a
    plain name, and none but the first may begin with a space. With white space two spaces must stand side by
    side.
    """
    if split is None:
        # Columns stand apart; a sentence has single spaces.
        return "  " in text[slice(*line)]
    if split in _DELIMITERS[:2]:
        return True
    # Of CSV each is a plain name, without a space after the comma.
    first, *others = [text[slice(*each)] for each in cells]
    return all(map(_PLAIN.fullmatch, [first, *others])) and not any(
        each[:1] == " " for each in others
    )


def _row_secrets(
    text: str, line: tuple[int, int], heads: Sequence[_SecretHeading]
) -> list[Span] | None:
    """Return start, end and label of a line's secrets below headings; None: it is no row of the table.

    `line` is the line's start and end in `text`; `heads`, at least one, are of one table. A rule between rows
    has no values. With delimiters a row must have as many cells as the heading; without them every line is a
    row, and a value is below a heading where both begin or end in the same column.
    """
    split = heads[0].split
    if _RULE.fullmatch(text, *line):
        return []
    cells = _cells(text, line, split)
    if split is not None and len(cells) != heads[0].count:
        return None
    below = [
        (place, head)
        for head in heads
        for place in ([cells[head.index]] if split else cells)
        if split or place[0] - line[0] == head.place[0] or place[1] - line[0] == head.place[1]
    ]
    return [span for place, head in below for span in _cell_secret(text, place, head)]


def _cell_secret(text: str, place: tuple[int, int], head: _SecretHeading) -> Iterator[Span]:
    """Yield the place of a cell's value if it looks like the secret that its heading names."""
    span = _trim_cell(text, place)
    if not set(text[slice(*span)]) & set("()[]{}"):
        yield from head.name.credential_at(span, text, sure=head.split is not None)


def _pandas_column_secrets(text: str, name: SecretName) -> Iterator[Span]:
    """Yield the words in a pandas column of secrets that look like the secret that `name` names.

    `name` is a place in `text`: either the name below a printed series, whose rows stand before it, or a
    column's heading in a table as dapeer shows it, whose rows follow. In such a table the words of all
    columns count. Each item is a start, an end and a label; nothing is yielded if `name` is in neither place.
    """
    before = text[max(name.begin - 6, 0) : name.begin]
    if before == "Name: ":
        rows = text.rfind("\n\n", max(name.begin - MAX_LINE_CHARS, 0), name.begin), name.begin
        yield from _credentials_between(
            text, (max(rows[0], name.begin - MAX_LINE_CHARS, 0), rows[1]), name
        )
    elif before.endswith((") ", ", ")) and _SIZE.search(text, max(name.begin - 400, 0), name.begin):
        found = _BELOW.match(text, name.end)
        in_line = found is not None and found["rows"].startswith(" | ")
        if found and (in_line or before.endswith(",) ")):
            yield from _credentials_between(text, found.span("rows"), name)


def _credentials_between(text: str, place: tuple[int, int], name: SecretName) -> Iterator[Span]:
    """Yield the words between two positions of `text` that look like credentials, in whichever column."""
    for word in _WORD.finditer(text, *place):
        yield from name.credential_at(word.span(), text, sure=False)


# The table of forms in which secrets are written: each finds what is masked in a text. Pure.
#
# *Sure* forms are credentials anywhere: keys of well-known services, private keys, passwords in addresses and commands. In the
# other forms a name such as `DB_PASSWORD` stands beside a value, and the value is masked if it looks like a
# credential: a single word; for a password at least four characters in quotes, for a token or key at least twelve letters and
# digits. So the `token` of a parser is shown. There is no rule by entropy: it would mask digests, identifiers and test data.
#
# Megabytes of output are checked, so a form is tried only if one of its words is in the text, and none backtracks far.


class SecretForm(NamedTuple):
    """A way in which secrets are written."""

    required_words: tuple[str, ...]
    """One of them is in every text that has the form, in lower case."""
    find: Callable[[str], Iterable[Span]]


def secret_spans(text: str) -> Iterator[Span]:
    """Yield the secrets of a text, each with its start, end and label, form by form; they may overlap."""
    lowered = text.lower()
    for form in FORMS:
        if any(map(lowered.__contains__, form.required_words)):
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


def _secrets_by_name(text: str) -> Iterator[Span]:
    """Yield the secrets of a text that a name such as `DB_PASSWORD` identifies, wherever the name stands.

    Each is a start, an end and a label; they may overlap. The name may stand before the value, beside it, or above it in a table.
    """
    found = list(secret_names(text))
    for name in found:
        yield from _secret_after_name(text, name)
        yield from secrets_near(text, name)
        if is_pin_name(name.label):
            yield from _ends_of_range(text, name)
    yield from column_secrets(text, found)


def _secret_after_name(text: str, name: SecretName) -> Iterator[Span]:
    """Yield the value that follows a name in `text`, as in `name = value`, if it looks like its secret.

    It yields at most once: start, end, and the label in lower case. `name` is a place in `text`, as
    `secret_names` yields it. A value that is only set apart by a blank or comma counts only for an option such as
    `--password`; one behind `is` only for a plain `password`, `passwd`, `token` or `secret`; a plain `pass` needs
    quotes or `=`.
    """
    found = _NAMED.match(text, name.end)
    if found is None:
        return
    by, quoted = found["by"], bool(found["quoted"])
    no_option = found["apart"] and not _FLAG.search(text, max(name.end - 40, 0), name.end)
    unspoken = by.startswith(" is") and not _SPOKEN.fullmatch(name.label)
    # `PASS: test_2` is told of a test.
    no_name = _PASS.fullmatch(name.label) and not quoted and "=" not in by
    if no_option or unspoken or no_name:
        return
    # Environment variables and headers have their values without quotes.
    scheme = found["scheme"] or found["bare_scheme"]
    # Of several words it is a text for people.
    one_word = text[found.end("quoted") : found.end("quoted") + 1] != " "
    of_environment = name.label.isupper() and text[name.end] == "="
    sure = (quoted and one_word) or bool(scheme) or of_environment
    named = name._replace(is_password=name.is_password or bool(scheme))
    yield from named.credential_at(found.span("quoted" if quoted else "bare"), text, sure=sure)


_RANGE = re.compile(
    r":[^\n]{0,120}?(?<![\w.,])(\d[\d,]{2,9})(?:…| [ ▁-█]{1,200} )(\d[\d,]{2,9})(?![\w.,])"
)
"""The least and the greatest number of a column, in a summary of it or around its plot."""


def _ends_of_range(text: str, name: SecretName) -> Iterator[Span]:
    """Yield the two numbers of a range that follows a name, as the least and greatest PIN of a column."""
    if found := _RANGE.match(text, name.end):
        for group in (1, 2):
            yield *found.span(group), name.label.lower()


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


def _cookie_secrets(text: str) -> Iterator[Span]:
    """Yield start, end and label of the values of cookies that identify a session or look like tokens.

    Start and end are offsets in `text`, without the end itself; the label is `cookie`. Looked at are the
    contents of cookie headers, jars and variables in `text`. Left out are attributes such as `Path`, and
    values that are code or placeholders, or shorter than 4 characters. A value looks like a token if it has at
    least 8 characters, letters and digits among them.
    """
    for jar in _COOKIES.finditer(text):
        end = jar.end() if "\\n" not in jar["jar"] else text.index("\\n", jar.start("jar"))
        for found in _COOKIE.finditer(text, jar.start("jar"), end):
            name, value = found["name"].lower(), found["value"]
            if name in _ATTRIBUTES or is_code_or_placeholder(value):
                continue
            if (len(value) >= 8 and is_mixed(value)) or _OF_SESSION.search(name):
                yield *found.span("value"), "cookie"


def _secret_form(label: str, words: str, pattern: str) -> SecretForm:
    """Return a form whose matches are credentials in any text; nothing is searched yet.

    `label` is what a secret is called. `words` are words in lower case, separated by spaces: `secret_spans`
    searches only texts that have one of them, in capitals or not, so none if `words` is empty. Group 1 of
    `pattern` is the secret.
    """
    compiled = re.compile(pattern)

    def find(text: str) -> Iterator[Span]:
        """Yield where group 1 of the pattern matches in `text`, with the label."""
        for found in compiled.finditer(text):
            yield *found.span(1), label

    return SecretForm(tuple(words.split()), find)


def _password_option(programs: str, words: str, option: str, *, user: bool = False) -> SecretForm:
    """Return the form of a password that a command line gives to a program as an option.

    `programs` and `option` are regular expressions. `words` are words in lower case, separated by spaces,
    of which every such text has one. The option must follow within 300 characters, before the command ends.
    The secret has at least 3 characters, and begins with none of `$`, `{`, `<`, `%`, `-`. With `user` the
    option's value is `user:password`, of which only the password is the secret.
    """
    then = r"[^\s\"',:]{1,100}:" if user else ""
    return _secret_form(
        "password",
        words,
        rf"(?<![\w-])(?:{programs})[\"']?[\s,][^\n;|&]{{0,300}}?(?<=[\s\"']){option}{then}([^\s\"',\]\\;|&${{<%-][^\s\"',\]\\;|&]{{2,200}})",
    )


_APART = r"[\"']?,?[ =][\"']?"
_NAME_WORDS: Final = (
    "passw", "passphrase", "passcode", "pass", "pwd", "pin", "otp", "cvv", "cvc", "secret", "token", "key", "credential", "authorization", "sessid", "sessionid",
)  # fmt: skip

FORMS: Final = (
    _secret_form("private key", "-----begin", r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[rn]|\s)*+[A-Za-z0-9+/=]{4,}+)*+(?:(?:\\[rn]|\s)*+-----END[A-Z0-9 ]{0,40}-----)?)"),
    _secret_form("AWS key", "akia asia", r"(?<![A-Za-z0-9])((?:AKIA|ASIA)[A-Z0-9]{12,16})(?![A-Za-z0-9])"),
    _secret_form("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?<![A-Za-z0-9])((?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,255})"),
    _secret_form("GitLab token", "glpat-", r"(?<![A-Za-z0-9])(glpat-[\w-]{16,255})"),
    _secret_form("key", "sk-", r"(?<![A-Za-z0-9_-])(sk-(?:(?:ant|proj|svcacct|admin|or)-[\w-]{16,255}|[A-Za-z0-9]{24,255}))"),
    _secret_form("Stripe key", "k_live_ k_test_ whsec_", r"(?<![A-Za-z0-9])((?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,255})"),
    _secret_form("Slack token", "xox xapp-", r"(?<![A-Za-z0-9])((?:xox[abeoprs]|xapp)-[\w-]{16,255})"),
    _secret_form("Google key", "aiza ya29.", r"(?<![A-Za-z0-9])(AIza[\w-]{30,40}|ya29\.[\w-]{20,255})"),
    _secret_form("npm token", "npm_", r"(?<![A-Za-z0-9])(npm_[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
    _secret_form("PyPI token", "pypi-ag", r"(?<![A-Za-z0-9])(pypi-Ag[\w-]{30,255})"),
    _secret_form("Hugging Face token", "hf_", r"(?<![A-Za-z0-9])(hf_[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
    _secret_form("SendGrid key", "sg.", r"(?<![A-Za-z0-9])(SG\.[\w-]{16,64}\.[\w-]{16,64})"),
    _secret_form("JSON Web Token", "eyj", r"(?<![A-Za-z0-9])(eyJ[\w-]{8,}+(?:\.eyJ[\w-]*+(?:\.[\w-]*+)?|(?=…|\.\.\.)))"),
    _secret_form("authorization", "bearer basic", r"(?i:\b(?:Bearer|Basic) )((?=[A-Za-z._~+/-]{0,99}[0-9])[\w.~+/-]{16,}+=*)"),
    _secret_form("password hash", "$2a$ $2b$ $2y$ $5$ $6$ $y$ $argon2 $scrypt$", r"(\$(?:2[aby]|5|6|y|argon2(?:i|d|id)|scrypt)\$[\w./$=,+-]{20,200})"),
    _secret_form("signature", "sig= signature=", r"(?i:[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=)([\w%+/.=~-]{8,400})"),
    _secret_form("token", "x-amz-security-token=", r"(?i:[?&;]x-amz-security-token=)([\w%+/.=~-]{16,4000})"),
    _secret_form("password", "://", r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>{}$*]{3,200})@"),
    _secret_form("password", "pass:", r"(?<=[\s\"'=])pass:([^\s\"',]{4,200})"),
    _password_option(r"mysql\w{0,8}|mysql-\w{1,9}|mariadb[\w-]{0,9}|7z[ar]?|sshpass", "mysql mariadb 7z sshpass", "-p"),
    _password_option(r"sshpass|mongo(?:sh|dump|restore|export|import)?|(?:docker|podman)[\"']?[\s,]{1,2}[\"']?login", "sshpass mongo login", rf"-p{_APART}"),
    _password_option(r"redis-cli", "redis-cli", rf"-a(?:{_APART})?"),
    _password_option(r"ldap(?:search|add|modify|delete|whoami)", "ldap", rf"-w(?:{_APART})?"),
    _password_option(r"sqlcmd|bcp|zip|unzip", "sqlcmd bcp zip", rf"-P(?:{_APART})?"),
    _password_option(r"curl|wget", "curl wget", rf"(?:-u(?:{_APART})?|--(?:proxy-)?user{_APART})", user=True),
    SecretForm(("cookie", "morsel"), _cookie_secrets),
    SecretForm(_NAME_WORDS, _secrets_by_name),
)  # fmt: skip
"""Read from the first on: where two find the same, the first names it."""
WORDS: Final = tuple(dict.fromkeys(word for form in FORMS for word in form.required_words))


NOTE: Final = "(<redacted: …> is masked here, not in the program. A person shows it with `dapeer … --no-redact`.)"

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)")
_NAMING: Final = ("name", "path", "expression")
"""Keys of an object whose value names the object's other values."""
_VALUES: Final = frozenset({"value", "result", "was"})
_BESIDE: Final = {"value": "name", "val": "key", "1": "0"}
"""Names of variables that hold a value, and of those beside them that name it."""


def redacted(text: str, placeholders: dict[str, str] | None = None) -> str:
    """Return a text with its secrets replaced by placeholders such as `<redacted: password>`.

    If `placeholders` is given, each secret that is replaced is added to it as a key, without escape sequences,
    with its placeholder as the value, so that the caller can mask it elsewhere. Secrets that overlap are
    replaced together, by the placeholder of the one that begins first, and only that one is added. Escape
    sequences of a terminal do not hide a secret, and those in it are replaced with it. Without secrets `text`
    itself is returned.

    >>> redacted("DB_PASSWORD=hunter2 and token = tokens[3]")
    'DB_PASSWORD=<redacted: password> and token = tokens[3]'
    """
    plain = _ANSI.sub("", text) if "\x1b" in text else text
    secrets = sorted(secret_spans(plain))
    if not secrets:
        return text
    places = _position_map(text) if plain is not text else None
    pieces: list[str] = []
    done = 0
    for first, last, label in secrets:
        start, end = (
            (first, last)
            if places is None
            else (places.original_position(first), places.original_position(last - 1) + 1)
        )
        if start >= done:
            pieces += text[done:start], mask(label)
            if placeholders is not None:
                placeholders[plain[first:last]] = mask(label)
        done = max(done, end)
    return "".join(pieces) + text[done:]


def mask(label: str) -> str:
    """Return the placeholder for a secret that `label` names, such as `<redacted: password>`."""
    return f"<redacted: {label}>"


@dataclass(slots=True)
class Redaction:
    """Masks one answer: its text, and its data, in which a value is known by its name."""

    placeholders: dict[str, str] = field(default_factory=dict[str, str])
    """Values that were masked by their name, each with its placeholder; they are masked everywhere."""

    def data(self, value: Any, name: str = "") -> Any:
        """Return a copy of JSON data with its secrets masked; `name` is the name of the variable that it is.

        Secrets that are found are masked in all later data and texts of this object, too.
        """
        if not may_hold_secrets(name, value):
            return self._masked_copy(value, "") if self.placeholders else value
        masked = self._masked_copy(value, name)
        return self._masked_copy(masked, "") if self.placeholders else masked

    def text(self, text: str) -> str:
        """Return a text with its secrets and all those found before masked.

        Secrets that are found are masked in later data and texts of this object, too.
        """
        return redacted(self._mask_known(text), self.placeholders)

    def _mask_known(self, text: str) -> str:
        """Return a text in which the secrets that were found before are masked where they are whole words."""
        for secret, instead in self.placeholders.items():
            if secret in text:
                # A short one may be a part of a number or of a word.
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda _, it=instead: it, text)
        return text

    def _masked_copy(self, value: Any, name: str) -> Any:
        """Return a copy of JSON data with the secrets of all texts masked; they are added to `self.found`.

        `name` is the name under which the data stands (empty: none), such as a variable's. Within an object it
        is replaced by the key; for `value`, `result` and `was` by the object's own `name`, `path` or
        `expression`, if it has one. In a list with an object `name` beside an object `value` (or `key` beside
        `val`, `0` beside `1`), the text of the first names that of the second. Keys are not masked; numbers
        and None stay.
        """
        match value:
            case str():
                return self.text(self._mask_variable(value, name) if name else value)
            case _ if is_array(value):
                beside = _named_beside(value)
                return [
                    self._masked_copy(one, beside if isinstance(one, dict) and beside else name)
                    for one in value
                ]
            case _ if is_object(value):
                own = next((str(value[key]) for key in _NAMING if value.get(key)), name)
                whose = name if _BESIDE.get(own.strip("'\"")) and name else own
                return {
                    key: self._masked_copy(one, whose if key in _VALUES else key)
                    for key, one in value.items()
                }
            case _:
                return value

    def _mask_variable(self, value: str, name: str) -> str:
        """Return a value with its secrets masked as if `NAME = ` stood before it; they are added to `found`.

        `name` is the variable's; of a long one only the last 80 characters count.
        """
        head = f"{name[-80:]} = "
        masked = redacted(f"{head}{value}", self.placeholders)
        return masked.removeprefix(head) if masked.startswith(head) else value


def _named_beside(items: list[Any]) -> str:
    """Return the text of the variable in a list that names the value of another one; empty without one.

    Such are `name` beside `value`, `key` beside `val`, and the first beside the second of a pair; only the first 20 variables are
    looked at.
    """
    entries = [one for one in items[:20] if is_object(one)]
    held = {str(one.get("name", "")).strip("'\""): str(one.get("value", "")) for one in entries}
    return next((held[name] for value, name in _BESIDE.items() if {value, name} <= held.keys()), "")


def may_hold_secrets(text: str, data: object = None) -> bool:
    """Return whether a text or JSON data can contain anything to mask; a quick check before the search."""
    all_of_it = text if data is None else f"{text}{data!r}"
    escaped = "\x1b" in all_of_it or "\\x1b" in all_of_it
    return escaped or any(map(all_of_it.lower().__contains__, WORDS))


class _PositionMap(NamedTuple):
    """Where the characters of a text without escape sequences are in the text with them."""

    plain: list[int]
    shift: list[int]

    def original_position(self, position: int) -> int:
        """Return the position in the text with escape sequences of a position in the text without them."""
        return position + self.shift[bisect.bisect_right(self.plain, position) - 1]


def _position_map(text: str) -> _PositionMap:
    """Return the table by which a position in `text` is found from one in it without escape sequences.

    Terminals' escape sequences are meant. Positions are indices of characters; `original_position` of the
    result converts one of the text without the sequences to the one in `text`.
    """
    places = _PositionMap([0], [0])
    removed = 0
    for code in _ANSI.finditer(text):
        removed += code.end() - code.start()
        places.plain.append(code.end() - removed)
        places.shift.append(removed)
    return places


def field_names(arguments: Mapping[str, Any]) -> str:
    """Return the name or expression that a tool call's arguments ask for; empty if they name none."""
    return next((str(arguments[key]) for key in _NAMING if arguments.get(key)), "")
