"""What a client gets, in MCP's form: answers, errors, progress, resources and news of commands.

All of it passes `ResultFinisher`, where its secrets are masked before what a reader does not see is escaped, and only then encoded.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final, TypeVar, cast

import mcp.types as t
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from dapeer.base.errors import DapeerError, RequestFailed
from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.redaction import NOTE, Redaction, field_names, may_hold_secrets, redacted
from dapeer.base.text.fitting import MAX_QUOTED_CHARS, quoted
from dapeer.base.text.lines import (
    escaped,
    escaped_in,
    indented,
    indented_after_first,
    with_changed_texts,
)
from dapeer.mcp.data_extension import NEWS
from dapeer.tools.base.call import AnyTool, Reply

LONGEST_NAME: Final = 128
"""Characters of the name of an unknown tool or prompt that are compared, and repeated."""
MAX_ECHOES: Final = 100
"""Long texts of a call, the longest ones, of which an answer is searched."""

T = TypeVar("T")

Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends progress: how far it is, the total if it is known, and a message."""


@dataclass(frozen=True, slots=True)
class ResultFinisher:
    """How one thing that a client gets is finished: it is masked, escaped and encoded, in this order.

    A tool has put its notes into its reply before (`with_notes`), so they are masked and escaped with it. An order the other way round
    would let a secret pass in which a character is escaped, and a mask in encoded JSON would have no names beside it. In a result of a
    call the long texts that the caller has given are cut at last, and the server's own note follows (`note`): both are about the text as
    the client gets it.
    """

    masks: bool = True
    """Whether secrets are masked."""
    escapes: bool = True
    """Whether what a reader does not see is escaped; a reply that is `raw` never is."""
    with_data: bool = False
    """Whether the client gets the data."""
    arguments: Mapping[str, Any] | None = None
    """Those of the call that is answered, which may name what is secret; None: it is no call."""
    cuts: bool = False
    """Whether long texts of the arguments are cut in the call's result."""
    note: Callable[[str], str | None] = lambda _text: None
    """Returns a sentence of the server's on a text of the call's result, or None."""

    def finish(
        self,
        reply: Reply,
        encode: Callable[[Reply, Json | None], T],
        *,
        says_masks: bool = False,
    ) -> T:
        """Mask and escape a copy of a reply and its data, and return what `encode` makes of both.

        What is done depends on `masks`, `escapes` and `with_data`; a reply that is `raw` is not escaped. `reply` itself stays as it is.

        Args:
            reply: It has its notes.
            encode: It gets the finished reply, and its data; None: the client gets none.
            says_masks: Whether the reply answers the call: then what its `arguments` name as secret is masked, too, and a last line of the
                text says that something is masked.
        """
        if self.masks and says_masks:
            reply = masked_reply(reply, self.arguments or {}, with_data=self.with_data)
        elif self.masks:
            known = reply.data
            facts = known and Redaction().data(known)
            reply = replace(reply, text=redacted(reply.text), facts=facts)
        data = reply.data if self.with_data else None
        if self.escapes and not reply.raw:
            reply, data = replace(reply, text=escaped(reply.text)), data and escaped_in(data)
        return encode(reply, data)

    def text(self, text: str) -> str:
        """Return a text that a client gets, masked and escaped as `masks` and `escapes` say."""
        return self.finish(Reply(text), lambda reply, _data: reply.text)

    def answer(self, reply: Reply) -> t.CallToolResult:
        """Return a tool's reply to the call as MCP's result, finished."""
        return self._with_last_changes(self.finish(reply, result_of, says_masks=True))

    def error(self, error: DapeerError) -> t.CallToolResult:
        """Return a tool's error as a failed result of MCP, masked and escaped as `masks` and `escapes` say.

        With `escapes`, lines that may have words of an adapter or program are indented: all lines of a
        `RequestFailed`, and those behind the first of another error. As in `answer`, long texts of the arguments
        are cut if `cuts` says so, and the server's note follows.
        """
        apart = indented if isinstance(error, RequestFailed) else indented_after_first
        return self._with_last_changes(
            self.finish(
                Reply(str(error)),
                lambda reply, _data: failed_result(
                    apart(reply.text) if self.escapes else reply.text
                ),
            )
        )

    def failed(self, sentence: str) -> t.CallToolResult:
        """Return a failure of the call that is no error of its tool as MCP's result, finished.

        `sentence` says why it has failed.
        """
        return self._with_last_changes(failed_result(self.text(sentence)))

    def _with_last_changes(self, result: t.CallToolResult) -> t.CallToolResult:
        """Return a call's result with its last changes: texts of the arguments cut, and the server's note."""
        if self.cuts:
            result = without_echo(result, self.arguments or {})
        return with_note(result, self.note)

    def progress(self, send: Send) -> Send:
        """Return a function that sends progress by `send`, its message escaped, and masked if `masks` is set.

        Invisible characters are escaped here even if `escapes` is False; an empty message, or None, is sent as it is.
        """
        finish = replace(self, escapes=True)

        async def finished(done: float, total: float | None, text: str | None) -> None:
            await send(done, total, text and finish.text(text))

        return finished

    def resource(self, contents: Iterable[t.TextResourceContents]) -> t.ReadResourceResult:
        """Return a resource's contents as MCP's result, masked and escaped as `masks` and `escapes` say.

        In a content of type `application/json`, which must be a valid JSON object, the texts within are masked, and
        texts and keys escaped; then the object is encoded anew, without spaces. Any other content is treated as one
        text. `contents` themselves are not changed.
        """
        return t.ReadResourceResult(
            contents=[
                one.model_copy(update={"text": self._shown(one.mime_type, one.text)})
                for one in contents
            ]
        )

    def _shown(self, mime_type: str | None, text: str) -> str:
        """Return the text of a content, masked and escaped; of `application/json`, within the JSON."""
        if mime_type != "application/json":
            return self.text(text)
        finish = replace(self, with_data=True)
        return finish.finish(Reply("", json.loads(text)), lambda _reply, data: _compact(data))


DOCUMENT: Final = ResultFinisher(masks=False, escapes=False)
"""Of what is no debugging: an assistant may write it back, and then a mask would replace a secret."""


def finisher_for(
    tool: AnyTool,
    arguments: Mapping[str, Any],
    note: Callable[[str], str | None],
    *,
    shows_secrets: bool,
    with_data: bool = False,
) -> ResultFinisher:
    """Return how the answer, error and progress of a call of a tool are finished for a client.

    Of a tool whose answers are about programs (group `dap`), secrets are masked, what a reader does not see is
    escaped, and long texts of the arguments are cut in the result; of other tools only progress is escaped.
    `arguments` are the call's, by name. `note` gets the text of the result, and returns what the server has to
    say on it, or None. `shows_secrets`: the person wants secrets to be shown, so they are not masked.
    `with_data`: the client gets the data of answers.
    """
    shows = shows_programs(tool)
    return ResultFinisher(
        masks=shows and not shows_secrets,
        escapes=shows,
        with_data=with_data,
        arguments=arguments,
        cuts=shows,
        note=note,
    )


def _compact(data: Json | None) -> str:
    """Return data as JSON without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def result_of(reply: Reply, data: Json | None) -> t.CallToolResult:
    """Return a tool's reply as MCP's result.

    `data` is its structured content; None: the client reads none. A reply with content blocks of its own gives those in place of its text.
    If these are not valid, the result is a failure that says what is wrong.
    """
    if reply.content is None:
        return t.CallToolResult(
            content=[t.TextContent(text=reply.text)],
            structured_content=None if data is None else dict(data),
            is_error=reply.failed,
            _meta=cast("Any", reply.meta),
        )
    result = {
        "content": reply.content,
        "structuredContent": data,
        "isError": reply.failed,
        "_meta": reply.meta,
    }
    try:
        return t.CallToolResult.model_validate(result)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False)[0]
        # The location also has names of pydantic's classes, between those of the fields.
        named = (str(part) for part in wrong["loc"])
        where = ".".join(part for part in named if not part[:1].isupper())
        return failed_result(f"The tool returned an invalid MCP result: {where}: {wrong['msg']}.")


def failed_result(sentence: str) -> t.CallToolResult:
    """Return the MCP result of a tool that has failed, with a sentence on why."""
    # Some clients show a model only the text of a failure, so it must say everything.
    return t.CallToolResult(content=[t.TextContent(text=sentence)], is_error=True)


def with_note(result: t.CallToolResult, note: Callable[[str], str | None]) -> t.CallToolResult:
    """Return a copy of a result with a line in parentheses below each text for which `note` gives one.

    `note` gets the whole text, and returns a sentence, or None for no line.
    """
    content = [
        each.model_copy(update={"text": f"{each.text}\n({remark})"})
        if isinstance(each, t.TextContent) and (remark := note(each.text))
        else each
        for each in result.content
    ]
    return result.model_copy(update={"content": content})


def with_news(result: t.CallToolResult, news: Sequence[str]) -> t.CallToolResult:
    """Return a copy of a result with news for a command in its `_meta`; without news the result itself."""
    return (
        result.model_copy(update={"meta": {**(result.meta or {}), NEWS: [*news]}})
        if news
        else result
    )


def without_echo(result: t.CallToolResult, arguments: Mapping[str, Any]) -> t.CallToolResult:
    """Return a copy of a result in which long texts that the caller has given as arguments are cut.

    A long text has more than `MAX_QUOTED_CHARS` characters. Where a text, data or a key of the result
    has one, or a long beginning of one, the first `MAX_QUOTED_CHARS` characters stay, with the length
    behind: the caller knows the rest. `arguments` are the call's, by name, of which nested texts and
    keys count, too. At most `MAX_ECHOES` different texts are cut, the longest. Without a long text the
    result itself is returned.
    """
    long = sorted({each for each in _texts(arguments) if len(each) > MAX_QUOTED_CHARS}, key=len)[
        -MAX_ECHOES:
    ]
    if not long:
        return result

    def cut(text: str) -> str:
        return _cut_long_texts(text, long)

    content = [
        each.model_copy(update={"text": cut(each.text)})
        if isinstance(each, t.TextContent)
        else each
        for each in result.content
    ]
    data = with_changed_texts(cut, result.structured_content)
    return result.model_copy(update={"content": content, "structured_content": data})


def _cut_long_texts(text: str, long: Sequence[str]) -> str:
    """Return a text in which each of some long texts is cut to its beginning, wherever the text has it.

    `long` are the texts to cut, each longer than `MAX_QUOTED_CHARS` and the shortest first; the longest is searched
    for first. Each is replaced by what `quoted` makes of it. Where the text has only the beginning of a long text, of
    at least `MAX_QUOTED_CHARS` + 1 characters, the characters that both have in common are replaced in the same way.
    """
    for each in reversed(long):
        start = each[: MAX_QUOTED_CHARS + 1]
        place = text.find(start)
        while place >= 0:
            there = zip(each, text[place : place + len(each)], strict=False)
            whole = text.startswith(each, place)
            end = place + (len(each) if whole else sum(1 for _ in takewhile(_alike, there)))
            instead = quoted(each)
            text = text[:place] + instead + text[end:]
            place = text.find(start, place + len(instead))
    return text


def _alike(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield all texts in some JSON, keys of objects included."""
    match value:
        case str():
            yield value
        case _ if is_object(value):
            for key, each in value.items():
                yield key
                yield from _texts(each)
        case _ if is_array(value):
            for each in value:
                yield from _texts(each)
        case _:
            pass


def shows_programs(tool: AnyTool) -> bool:
    """Whether a tool's answers are about programs, so that secrets are masked in them.

    Other answers are documents, which an assistant may write back: a mask would replace the secret.
    """
    return "dap" in tool.groups


def masked_reply(reply: Reply, arguments: Mapping[str, Any], *, with_data: bool) -> Reply:
    """Return a copy of a reply in which secrets are masked, with a last line that says so.

    A reply without secrets is returned itself. `arguments` of the call may name what is secret, such as a
    variable. `with_data`: the client gets the data. Without it, a secret that only the data has changes nothing:
    the reply is returned itself, with that secret. Data that a function makes (`facts`) are made only if the text
    or `arguments` may hold a secret; the copy has the masked data in place of the function.
    """
    name = field_names(arguments)
    # What is still to be made has no word that the text lacks.
    known = None if callable(reply.facts) else reply.facts
    if not may_hold_secrets(f"{reply.text} {name}", known):
        return reply
    redaction, facts = Redaction(), reply.data
    data = facts and redaction.data(dict(facts), name)
    text = redaction.text(reply.text)
    if text == reply.text and (data == facts or not with_data):
        return reply
    return replace(reply, text=f"{text}\n{NOTE}", facts=data)


def check_cursor(params: t.PaginatedRequestParams | None) -> None:
    """Reject a cursor: every list is one page, so no server has given any.

    Raises:
        MCPError: There is one.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(
            t.INVALID_PARAMS, "Unknown `cursor`: this list is one page. Leave `cursor` out."
        )
