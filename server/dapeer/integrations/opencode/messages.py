"""What was said, asked and done in an OpenCode session: read from its messages, and told to a model."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.text.fitting import shortened

GOES_ON: Final = ("tool-calls", "unknown")
"""How a message of a model's has finished after which OpenCode asks it again."""


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """A prompt and the messages that answer it."""

    messages: Sequence[Json]
    """The prompt's own message first; empty if it has none yet."""

    @property
    def replies(self) -> list[Json]:
        """The assistant's messages of the turn, oldest first, without OpenCode's own summaries."""
        infos = ((one, one["info"]) for one in self.messages)
        return [
            one for one, info in infos if info["role"] == "assistant" and not info.get("summary")
        ]

    @property
    def ended(self) -> bool:
        """Whether the assistant's last message is complete or failed; the session may go on all the same."""
        last: Json = self.replies[-1]["info"] if self.replies else {}
        return bool(last.get("error") or last.get("time", {}).get("completed"))

    @property
    def answered(self) -> bool:
        """Whether its answer is final: the last message has ended, and OpenCode does not ask the model again.

        The session may be busy with another prompt.
        """
        return bool(self.replies) and self.ended and _is_last(self.replies[-1]["info"])

    @property
    def answer(self) -> str:
        """The text of the assistant's last message that has one; empty: none has."""
        texts = [text_of(reply) for reply in self.replies]
        return next(filter(None, reversed(texts)), "")

    @property
    def calls(self) -> list[Json]:
        """The parts of the assistant's messages that are calls of tools, oldest first, as OpenCode sends them."""
        return [call for reply in self.replies for call in calls_of(reply)]

    @property
    def error(self) -> str:
        """Why the last message has failed; empty: it has not, or there is none."""
        return error_of(self.replies[-1]["info"].get("error")) if self.replies else ""


State = Literal["idle", "done", "failed", "needs_input", "running"]


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """How far a prompt has come."""

    state: State
    turn: PromptTurn
    questions: Sequence[Json] = ()
    """What it waits for: permissions and questions, as OpenCode sends them."""
    error: str = ""


def new_id() -> str:
    """Return a new id for a message: time and chance, as in OpenCode's own ids."""
    since = int(time.time() * 1000) << 12
    return f"msg_{since & (1 << 48) - 1:012x}{secrets.token_hex(7)}"


def turn_of(messages: Sequence[Json], prompt: str) -> PromptTurn:
    """Return a prompt, by the id of its message, with the messages that answer it.

    `messages` are as OpenCode sends them, oldest first; the turn is empty if the prompt is not among them. A reply names its prompt, and
    the replies that name this one are the turn if they end with a final answer. Without that, another prompt, or OpenCode's summary, has
    come between, whose replies answer this one, too: then all later prompts with their replies are in the turn.
    """
    ids = [one["info"]["id"] for one in messages]
    if prompt not in ids:
        return PromptTurn(())
    since = messages[ids.index(prompt) :]
    own = PromptTurn(_with_replies(since, {prompt}))
    return (
        own
        if own.answered
        else PromptTurn(_with_replies(since, {one["info"]["id"] for one in since}))
    )


def last_prompt(messages: Sequence[Json]) -> str | None:
    """Return the id of the last message that a user has written; None: there is none."""
    return next((one["info"]["id"] for one in reversed(messages) if is_prompt(one)), None)


def is_prompt(message: Json) -> bool:
    """Return whether a user has written this message, and not OpenCode itself in the user's name.

    OpenCode's own have only parts that are marked as `synthetic`, or as a compaction; a user's message without parts yet is a prompt.
    """
    own = all(part.get("synthetic") or part["type"] == "compaction" for part in message["parts"])
    return message["info"]["role"] == "user" and not (own and message["parts"])


def text_of(message: Json) -> str:
    """Return the text of a message, without what OpenCode has added itself."""
    parts = [part for part in message["parts"] if part["type"] == "text"]
    return "\n".join(part["text"] for part in parts if not part.get("synthetic")).strip()


def calls_of(message: Json) -> list[Json]:
    """Return the parts of a message that are calls of tools."""
    return [part for part in message["parts"] if part["type"] == "tool"]


def call_of(part: Json, max_chars: int) -> Json:
    """Return a tool's call as data: `tool`, `status`, `input`, and `output` or `error` if there is one.

    `part` is the call as OpenCode sends it. `input` is the object that the tool got, `{}` if none is
    known; if its JSON is longer than `max_chars`, it is that JSON as a text, cut. `output` and `error`
    are texts, cut likewise; empty ones are left out. A text that is cut has `max_chars` characters, and
    then a note of its length.
    """
    state: Json = part["state"]
    given: Json = state.get("input") or {}
    as_text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    call: Json = {
        "tool": part["tool"],
        "status": state["status"],
        "input": given if len(as_text) <= max_chars else shortened(as_text, max_chars),
    }
    for name in ("output", "error"):
        if state.get(name):
            call[name] = shortened(str(state[name]), max_chars)
    return call


def error_of(error: Any) -> str:
    """Return an error of a message or session as text, such as `ProviderAuthError: no key`.

    `error` is as OpenCode sends it: an object with `name` and maybe `data.message`, or anything else, of which the text is returned.
    Empty: there is none.
    """
    match error:
        case {"name": str(name), "data": {"message": str(message)}}:
            return f"{name}: {message}"
        case {"name": str(name)}:
            return name
        case _:
            return str(error) if error else ""


def _with_replies(messages: Sequence[Json], prompts: set[str]) -> list[Json]:
    """Return the messages with these ids, and the replies to them, in their order."""
    infos = ((one, one["info"]) for one in messages)
    return [one for one, info in infos if info.get("parentID", info["id"]) in prompts]


def _is_last(reply: Json) -> bool:
    """Whether OpenCode does not ask the model again after this reply (the `info` of a message)."""
    return bool(reply.get("error") or reply.get("finish") not in GOES_ON)


# The permissions and questions of an OpenCode session, and their answers.

LONGEST_DETAILS: Final = 2_000

Decision = Literal["once", "always", "reject"]


def ask_data(ask: Json, session: str) -> Json:
    """Return a permission or question as data, with `request_id` and `kind`.

    A question has `questions`. A permission has `permission` and `patterns`; only where they say more than `patterns`,
    it also has `always` (those patterns that `patterns` lacks) and `details` (all metadata as JSON in a text, which is
    shortened to `LONGEST_DETAILS`).

    Args:
        ask: The permission or question as OpenCode sends it, with its `kind` added.
        session: The id of the caller's session; if a subagent's session asks, the data has its `session_id`.
    """
    known: Json = {"request_id": ask["id"], "kind": ask["kind"]}
    if ask["sessionID"] != session:
        known["session_id"] = ask["sessionID"]
    if ask["kind"] == "question":
        return known | {"questions": ask["questions"]}
    patterns: list[str] = ask.get("patterns") or []
    lasting: list[str] = ask.get("always") or []
    known |= {"permission": ask["permission"], "patterns": patterns}
    if always := [one for one in lasting if one not in patterns]:
        known["always"] = always
    details: Json = ask.get("metadata") or {}
    if any(value not in patterns for value in details.values()):
        known["details"] = shortened(json.dumps(details, ensure_ascii=False), LONGEST_DETAILS)
    return known


def ask_lines(facts: Json) -> Iterable[str]:
    """Yield the lines in which a person or model reads a permission or a question of OpenCode.

    `facts` is the request's data, as `ask_data` returns it. A permission gives a line with its id and the possible
    decisions, and a second one if it has `details`. A question gives a line with its id, and one for each question
    in it, numbered from 1, with the choices.
    """
    who = f" (of the subagent {facts['session_id']})" if "session_id" in facts else ""
    if facts["kind"] == "permission":
        what = " ".join([facts["permission"], ", ".join(facts["patterns"])]).strip()
        always = f"; always means {', '.join(facts['always'])}" if "always" in facts else ""
        yield f"  {facts['request_id']}{who}: may it {what}? decision once, always or reject{always}"
        if "details" in facts:
            yield f"    {facts['details']}"
        return
    yield f"  {facts['request_id']}{who}: {len(facts['questions'])} questions:"
    for number, one in enumerate(facts["questions"], 1):
        yield f"    {number}. {one['question']} {_choices(one)}"


def ask_to_answer(asks: Sequence[Json], request: str | None) -> Json:
    """Return the permission or question that a call answers, from those that wait.

    It has the id `request`, or is the only one if that is None or empty. `asks` are those that wait, as OpenCode sends them. Nothing is requested.

    Raises:
        ArgumentError: There is none, none has the id, or there are several and the call names none.
    """
    fitting = [ask for ask in asks if not request or request == ask["id"]]
    if len(fitting) == 1:
        return fitting[0]
    if not asks:
        raise ArgumentError(
            "The session is not waiting for an answer.",
            "Another client may have answered; see opencode_status.",
        )
    what = f"does not wait for {request}" if request else "waits for several answers"
    waiting = ", ".join(ask["id"] for ask in asks)
    raise ArgumentError(f"The session {what}.", f"Give `request_id`: {waiting}.")


def reply_request(
    ask: Json,
    decision: Decision | None,
    answers: Sequence[Sequence[str]] | None,
    message: str | None,
) -> tuple[str, Json]:
    """Check an answer to a permission or question, and return path and body of the request that sends it.

    Nothing is sent.

    Args:
        ask: The permission or question, as OpenCode sends it, with its `kind`.
        decision: For a permission `once`, `always` or `reject`. For a question `reject`, which ignores
            `answers`; any other value sends them.
        answers: For each question a list of chosen labels, or free text; None: there are none.
        message: A reason to reject a permission; None or empty: there is none.

    Raises:
        ArgumentError: A permission lacks `decision` or has `answers`, `message` is for no rejected permission,
            the number of answers is not that of the questions, or an answer does not fit.
    """
    path = f"/{ask['kind']}/{ask['id']}"
    if message and (decision != "reject" or ask["kind"] == "question"):
        raise ArgumentError("`message` is only for a permission that is rejected.", "Leave it out.")
    if ask["kind"] == "permission":
        if decision is None or answers:
            raise ArgumentError("This asks for a permission.", "Give `decision`, and no `answers`.")
        return f"{path}/reply", {"reply": decision, **({"message": message} if message else {})}
    if decision == "reject":
        return f"{path}/reject", {}
    questions: list[Json] = ask["questions"]
    if len(answers or ()) != len(questions):
        raise ArgumentError(
            f"{len(questions)} answers are needed, one for each question.",
            "Give `answers`, or decision reject.",
        )
    return f"{path}/reply", {
        "answers": [_check_answer(*both) for both in zip(questions, answers or (), strict=True)]
    }


def _check_answer(question: Json, given: Sequence[str]) -> list[str]:
    """Check the answer to one question, and return it as a list of texts, in the order given.

    `given` are the caller's choices for the question, option labels or free text; none is allowed, too. `question` is
    as OpenCode sends it.

    Raises:
        ArgumentError: `given` has several, but the question takes one; or one of them is no option, but the question
            takes no free text.
    """
    several = list(given)
    if len(several) > 1 and not question.get("multiple"):
        raise ArgumentError(
            f"This question takes one answer: {question['question']}", "Give only one."
        )
    labels = _labels(question)
    if question.get("custom") is False and (wrong := [one for one in several if one not in labels]):
        raise ArgumentError(
            f"`{wrong[0]}` is not one of the options.", f"They are: {_quote_labels(labels)}."
        )
    return several


def _choices(question: Json) -> str:
    """Return the choices of a question as text in parentheses, such as `(one of: yes, no, or free text)`.

    `question` is as OpenCode sends it. The text begins with `any of` where several may be chosen (`multiple`).
    `or free text` is left out if `custom` is False. A question without options gives `(free text)`, whatever `custom`
    is.
    """
    labels = _labels(question)
    if not labels:
        return "(free text)"
    how = "any of" if question.get("multiple") else "one of"
    free = "" if question.get("custom") is False else ", or free text"
    return f"({how}: {_quote_labels(labels)}{free})"


def _labels(question: Json) -> list[str]:
    options: list[Json] = question.get("options") or []
    return [option["label"] for option in options]


def _quote_labels(labels: Sequence[str]) -> str:
    return ", ".join(labels)


# The result of a prompt and the messages of a session, as data and as text for a model.
#
# Both have a limit, and say how to read the rest.

LONGEST_LINE: Final = 160
LONGEST_OUTPUT: Final = 1_000
LONGEST_ANSWER: Final = 30_000
LONGEST_TEXT: Final = 60_000
MOST_CALLS: Final = 30


def outcome_data(session: str, outcome: PromptOutcome) -> Json:
    """Return the outcome of a prompt as data: `session_id`, `state`, `answer` and `tool_calls`.

    `state` is `idle`, `done`, `failed`, `needs_input` or `running`. `answer` has its first `LONGEST_ANSWER`
    characters, and `tool_calls` the last `MOST_CALLS` calls, oldest first, each as of `call_of`. `answer_cut` is
    the number of characters left out, `earlier_calls` that of calls; each is there only if something is left out.
    `error`, a text, and `asks`, a list of the permissions and questions that it waits for, are there only if there
    are some. `session` is the session's id.
    """
    calls = outcome.turn.calls
    known: Json = {
        "session_id": session,
        "state": outcome.state,
        "answer": outcome.turn.answer[:LONGEST_ANSWER],
        "tool_calls": [call_of(call, LONGEST_OUTPUT) for call in calls[-MOST_CALLS:]],
    }
    if (cut := len(outcome.turn.answer) - LONGEST_ANSWER) > 0:
        known["answer_cut"] = cut
    if len(calls) > MOST_CALLS:
        known["earlier_calls"] = len(calls) - MOST_CALLS
    if outcome.error:
        known["error"] = outcome.error
    if outcome.questions:
        known["asks"] = [ask_data(ask, session) for ask in outcome.questions]
    return known


def outcome_text(facts: Json) -> str:
    """Return the outcome of a prompt as text for a model.

    The lines are, as far as there is something: the state, with the error, or with what the session asks and how to
    reply; the answer, with a note on how much of it was cut; then one line for each tool call, after a note on
    earlier ones. `facts` is the outcome's data, as `outcome_data` returns it.
    """
    lines = [*_beginning(facts)]
    if facts["answer"]:
        lines.append(facts["answer"])
    if "answer_cut" in facts:
        lines.append(
            f"… ({facts['answer_cut']} more characters: opencode_messages with count 1 and a larger `length`)"
        )
    if facts["tool_calls"]:
        lines.append("Tool calls:")
    if "earlier_calls" in facts:
        lines.append(f"  ({facts['earlier_calls']} earlier ones: opencode_messages)")
    lines += map(call_line, facts["tool_calls"])
    return "\n".join(lines)


def _beginning(facts: Json) -> Sequence[str]:
    """Return the lines with which the text begins, by the outcome's state; empty: the answer says all.

    `facts` is the outcome's data, as `outcome_data` returns it.
    """
    match facts["state"]:
        case "failed":
            return (f"The prompt failed: {facts['error'].rstrip('.')}.",)
        case "running":
            return (
                f"It runs in {facts['session_id']}: opencode_status shows its progress, opencode_abort stops it.",
            )
        case "idle":
            return ("Idle.",)
        case "needs_input":
            questions = (line for ask in facts["asks"] for line in ask_lines(ask))
            whom = f"session_id {facts['session_id']}"
            return (f"Needs input; answer with opencode_reply, {whom}:", *questions)
        case _:
            return () if facts["answer"] else ("Done, without an answer.",)


def call_line(call: Json) -> str:
    """Return the data of a tool's call as one line, with a shortened input and output."""
    outcome = " ".join(str(call.get("error") or call.get("output") or "").split())
    line = f"  {call['tool']}({shortened(_input(call), LONGEST_LINE)}) {call['status']}"
    return f"{line}: {shortened(outcome, LONGEST_LINE)}" if outcome else line


def message_data(message: Json, length: int) -> Json:
    """Return a message as data: `message_id`, `role`, `text`, `tool_calls`, and `error` if it has failed.

    `message` is as OpenCode sends it, with `parts` and an `info` that has `id` and `role`; without one of these it
    is a `KeyError`. `tool_calls` lists the calls as `call_of` returns them: `tool`, `status`, `input`, and `output`
    or `error` if there is one. `text`, which may be empty, and a call's `output` and `error` are cut to `length`
    characters; an `input` whose JSON is longer becomes that JSON, cut. The message's own `error`, a text, is whole.
    """
    info: Json = message["info"]
    known: Json = {
        "message_id": info["id"],
        "role": info["role"],
        "text": shortened(text_of(message), length),
        "tool_calls": [call_of(call, length) for call in calls_of(message)],
    }
    return known | {"error": error_of(info["error"])} if info.get("error") else known


def conversation_text(messages: Sequence[Json]) -> tuple[str, int]:
    """Return the newest messages that fit as text, oldest first, and how many these are.

    `messages` are data as `message_data` makes it, oldest first. The text has about `LONGEST_TEXT` characters at
    most, but always the newest message, uncut. A message without text, error and calls is counted, but has no
    line. Without `messages` the result is an empty text and 0.
    """
    blocks: list[str] = []
    room = LONGEST_TEXT
    for one in reversed(messages):
        block = _message_text(one)
        if blocks and len(block) > room:
            break
        blocks.append(block)
        room -= len(block)
    return "\n".join(filter(None, reversed(blocks))), len(blocks)


def _message_text(message: Json) -> str:
    """Return the data of a message as text, with its calls of tools.

    `message` is what `message_data` returns. The first line is the role and the text, if there is a text; then comes a
    line on the message's error, if it has failed. Each call of a tool has a line with name, input and status, and
    below it the call's error or else its output. The result is empty if there is none of these.
    """
    lines = [f"{message['role']}: {message['text']}"] if message["text"] else []
    if "error" in message:
        lines.append(f"{message['role']} failed: {message['error']}")
    for call in message["tool_calls"]:
        output = call.get("error") or call.get("output")
        lines.append(f"  {call['tool']}({_input(call)}) {call['status']}{':' if output else ''}")
        if output:
            lines.append(output.rstrip("\n"))
    return "\n".join(lines)


def _input(call: Json) -> str:
    """Return a call's input as text: JSON, or the text that it was shortened to."""
    given = call["input"]
    if isinstance(given, str):
        return given
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def patch_of(change: Json) -> str:
    """Return the patch of a file's change from its first hunk on; empty: there is none.

    The lines above only repeat the file's name.
    """
    patch = str(change.get("patch") or "")
    return patch[max(0, patch.find("@@")) :].rstrip("\n")


def change_text(row: Json) -> str:
    """Return a change of a file as text: what has happened, lines added and deleted, and the patch."""
    what = f"{row.get('status', 'modified')} {row.get('file')}"
    return f"{what} +{row['additions']} -{row['deletions']}\n{row['patch']}".rstrip()
