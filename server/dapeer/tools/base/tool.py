"""A tool: a typed function with a docstring, and its properties."""

from __future__ import annotations

import errno
import inspect
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import anyio
from pydantic import BaseModel, ValidationError

from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.json_types import Json, is_array, is_object
from dapeer.base.schemas import convert_arguments, split_argument_notes, without_filled
from dapeer.base.sources import with_home_folder
from dapeer.base.system.foreign_files import exists
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import quoted, shortened
from dapeer.base.text.lines import escaped, indented_after_first
from dapeer.peers import Action
from dapeer.peers.consent_kinds import CallKinds, kinds_of
from dapeer.tools.base import schema
from dapeer.tools.base.call import (
    Call,
    ConsentNeeded,
    Reply,
    run_with_consent,
    run_with_deadline,
    seconds_for,
    with_notes,
)
from dapeer.tools.base.groups import Asked, GroupCall, check_group_or_session
from dapeer.tools.base.schema import Narrows, Needs, ToolFunction, Unlisted, marked_arguments

# Whether arguments that name files, folders, programs and functions can be such names.

PATHS: Final = frozenset({"filename", "program", "cwd", "core", "python", "directory"})
NAMES: Final = PATHS | {"module", "names", "target", "function", "calls"}

MAX_PATH_BYTES: Final = 4096
"""Bytes of a path; Linux has no longer ones."""
LONGEST_PART: Final = 255
"""Bytes of a file's name."""
SECONDS_TO_ANSWER: Final = 3.0
"""Seconds that a file system has to say whether a file exists."""


def check_names(arguments: Mapping[str, Any]) -> None:
    """Check that files, programs and functions among a call's arguments can have such names.

    Breakpoints among the arguments are checked, too. Nothing is looked up on the disk.

    Raises:
        ArgumentError: A name is empty, too long, or contains what no name of the system can have.
    """
    for argument, name in _named_values(arguments):
        _check_name(argument, name, is_path=_is_path(argument))


async def check_file_systems(arguments: Mapping[str, Any], project: Path) -> None:
    """Ask the file system, in another thread, whether the files exist that a call's arguments name.

    The answers are not used: a call that names a file on a stalled mount shall fail here, and not block the event loop
    later. `project` is the folder to which relative paths belong, as is the argument `cwd`. `arguments` are the call's,
    by name; without a file among them nothing is asked. The call waits for at most `SECONDS_TO_ANSWER`, in all; a
    thread that gets no answer is left behind.

    Raises:
        ArgumentError: A file system does not answer in that time; the error names the argument.
    """
    places = list(_places(arguments, project))
    looking = ["", ""]

    def look_for_all() -> None:
        """Ask for each place whether it exists; `looking` holds the one that is asked for now."""
        for place in places:
            looking[:] = place
            exists(place[1])

    with anyio.move_on_after(SECONDS_TO_ANSWER) as limit:
        if places:
            await in_thread(look_for_all)
    if limit.cancelled_caught:
        raise ArgumentError(
            f"`{looking[0]}`: the file system of {looking[1]} does not answer.",
            "Call again once it does; a stalled network mount is a usual cause.",
        )


def _places(arguments: Mapping[str, Any], project: Path) -> Iterator[tuple[str, str]]:
    """Yield (argument, path) for each argument that is a path.

    There is one path below the project, and another below the argument `cwd` if that is given.
    """
    folders = {project, project / with_home_folder(str(arguments.get("cwd") or ""))}
    for argument, name in _named_values(arguments):
        if _is_path(argument):
            yield from ((argument, str(folder / with_home_folder(name))) for folder in folders)


def _named_values(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (argument, value) for each text in an argument that names a file, module, test or function.

    `arguments` are those of a call, by name; only arguments in `NAMES` are looked at. A list yields each of its
    texts. In the objects of the argument `breakpoints` the same keys are looked at, and yielded with that prefix
    (`breakpoints.filename`, `a.py`). `prefix` is put before the names of arguments.
    """
    for key, value in arguments.items():
        for one in value if is_array(value) else [value]:
            if is_object(one) and key == "breakpoints":
                yield from _named_values(one, f"{key}.")
            elif isinstance(one, str) and key in NAMES:
                yield f"{prefix}{key}", one


def _is_path(argument: str) -> bool:
    return argument.rpartition(".")[2] in PATHS


def _check_name(argument: str, name: str, *, is_path: bool) -> None:
    """Raise `ArgumentError` if an argument cannot be the name of a file, program or function.

    Nothing is returned, and no file is looked up. `argument` is the name of the tool's argument, for the
    error; `name` is its value. With `is_path` each part of `name` between slashes may also have at most
    `LONGEST_PART` bytes.

    Raises:
        ArgumentError: `name` is empty, contains a NUL or half of a surrogate pair that the file system cannot
            encode, or has more than `MAX_PATH_BYTES` bytes; or a part of a path is too long.
    """
    size = len(name.encode("utf-8", "surrogatepass"))
    parts = name.split("/") if is_path else ()
    longest = max((len(part.encode("utf-8", "surrogatepass")) for part in parts), default=0)
    if not name:
        raise ArgumentError(f"`{argument}` is empty.", "Give it a value, or leave it out.")
    if "\0" in name:
        raise ArgumentError(
            f"`{argument}`: {quoted_name(name)} contains a NUL character.", "Remove it."
        )
    if not _can_be_encoded(name):
        raise ArgumentError(
            f"`{argument}`: {quoted_name(name)} contains half of a surrogate pair, which no name can have.",
            "Give the whole character.",
        )
    if size > MAX_PATH_BYTES or longest > LONGEST_PART:
        raise ArgumentError(
            f"`{argument}`: {quoted_name(name)} is too long for a name: {size} bytes.",
            f"A path has at most {MAX_PATH_BYTES} bytes, and each part of it {LONGEST_PART}.",
        )


def _can_be_encoded(name: str) -> bool:
    """Whether the file system's encoding has bytes for a name; it has none for half of a surrogate pair."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def quoted_name(name: str) -> str:
    """Return a name as an error message repeats it: quoted, shortened, and on one line."""
    return indented_after_first(escaped(quoted(name)))


# The limit of all answers of debugging tools: a longer one is folded, and shown by pages. Pure.

MAX_ANSWER_CHARS: Final = 12_000
"""Characters of an answer; a model reads all of them."""
MAX_NOTE_CHARS: Final = 1_000
"""Characters of it that are kept for notes below it."""
MAX_LINE_CHARS: Final = 4_000
"""Characters of one line of an answer that is too long."""
MIN_ALIKE: Final = 4
"""Lines in a row, alike but for their numbers, that are folded into one."""
PAGE_ARGUMENTS: Final = ("start", "count")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


@dataclass(frozen=True, slots=True)
class Page:
    """Which lines of an answer its caller asks for: `count` of them from line `start`, counted from 0."""

    start: int = 0
    count: int | None = None
    """None: as many as there is room for."""

    @property
    def is_asked(self) -> bool:
        """Whether the caller asks for a part of the answer."""
        return self.start > 0 or self.count is not None


def split_page_arguments(arguments: Json, properties: Json) -> tuple[dict[str, Any], Page]:
    """Split a call's arguments into the tool's own ones, and the page that `start` and `count` name.

    `arguments` are the call's, by name. `properties` are the properties of the tool's input schema, by name: a `start`
    or `count` among them is an argument of the tool's own, and stays. Without a `start`, the page begins at line 0;
    without a `count`, or with one of 0, it has as many lines as there is room for.

    Raises:
        ArgumentError: A `start` or `count` is not an integer of at least 0.
    """
    asked = {
        name: arguments[name]
        for name in PAGE_ARGUMENTS
        if name in arguments and name not in properties
    }
    rest = {name: value for name, value in arguments.items() if name not in asked}
    for name, value in asked.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ArgumentError(f"Argument `{name}`: input should be a number of lines.")
    return rest, Page(asked.get("start", 0), asked.get("count") or None)


def limit_reply(reply: Reply, page: Page, *, repeats: bool, folds: bool) -> Reply:
    """Return a reply with at most `MAX_ANSWER_CHARS` of text, or the page of it that the caller asks for.

    A greater `reply.max_value_chars`, the characters of one value that the caller has asked for, raises that
    limit and the one of a line. A reply that is short enough, and of which no page is asked for, is returned
    unchanged. Otherwise long lines are cut; the notes (lines in parentheses) at the end of the text are kept
    below each page, if they fit; a note counts the lines that are left; and lists in the reply's data are cut
    to as many elements as lines are shown, from the page's start on. The text is `No more lines.` if the page
    begins behind the end, and there are no notes to keep.

    Args:
        reply: The whole answer of the tool; it is not changed.
        page: The lines that the caller asks for.
        repeats: Whether the same call can be made for the next page, since the tool changes nothing: the note
            then gives its `start`.
        folds: Whether rows of lines that differ in numbers only are folded into one; not done where the
            caller asks for a page.
    """
    room = max(MAX_ANSWER_CHARS, reply.max_value_chars + MAX_NOTE_CHARS) - MAX_NOTE_CHARS
    if len(reply.text) <= room and not page.is_asked:
        return reply
    longest = max(MAX_LINE_CHARS, reply.max_value_chars)
    lines = [shortened(line, longest) for line in reply.text.split("\n")]
    below = _notes_below(lines, room // 2)
    del lines[len(lines) - len(below) :]
    room -= sum(len(each) + 1 for each in below)
    if page.is_asked:
        chosen = list(enumerate(lines))[page.start :][: page.count]
        shown, following = _fit_lines([(number + 1, line) for number, line in chosen], room)
        following = following or page.start
    else:
        folded = list(_folded(lines) if folds else _numbered(lines))
        shown, following = _fit_lines(folded, room)
    left = len(lines) - following
    notes: list[str] = []
    if left > 0:
        advice = f": start={following}" if repeats else ""
        notes.append(f"({left:,} more lines{advice})")
    facts = reply.data if reply.facts is not None else None
    return replace(
        reply,
        text="\n".join([*shown, *notes, *below]) or "No more lines.",
        facts=facts and _shortened_lists(facts, page.start, max(len(shown), 1)),
    )


def _notes_below(lines: Sequence[str], max_chars: int) -> list[str]:
    """Return the notes that end an answer: its last lines that are in brackets, if they fit.

    The result has as many of the last lines as fit in `max_chars` characters, of which each line end takes one;
    their order stays, and `lines` is not changed. Empty: the last line does not begin with `(`, does not end with
    `)`, or does not fit.
    """
    notes: list[str] = []
    for line in reversed(lines):
        max_chars -= len(line) + 1
        if not (line.startswith("(") and line.endswith(")")) or max_chars < 0:
            break
        notes.insert(0, line)
    return notes


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each line as (number of the line after it, line), numbers counted from 0."""
    yield from enumerate(lines, 1)


def _folded(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines to show, each behind the index, from 0, of the line that follows in `lines`.

    `MIN_ALIKE` or more lines in a row that are equal, or differ in numbers only, become two: the first one, and
    one that counts the others and names the `start` (an index, too) that shows them; with the latter comes the
    index of the line after all of them. Empty lines are not folded.
    """
    begin = 0
    while begin < len(lines):
        form, end = _NUMBER.sub("#", lines[begin]), begin + 1
        while end < len(lines) and _NUMBER.sub("#", lines[end]) == form:
            end += 1
        alike = end - begin
        if alike < MIN_ALIKE or not lines[begin].strip():
            yield from ((number + 1, lines[number]) for number in range(begin, end))
        else:
            yield begin + 1, lines[begin]
            yield end, f"  … and {alike - 1:,} lines like it (start={begin + 1})"
        begin = end


def _fit_lines(lines: Sequence[tuple[int, str]], max_chars: int) -> tuple[list[str], int]:
    """Return the first of some numbered lines that fit in `max_chars`, and the number to go on with.

    Each line counts with its line end. Each of `lines` is (number of the line after it, line). The number that
    is returned is that of the line after the last returned one; without `lines` it is 0. The first line is
    returned, whatever its length.
    """
    shown: list[str] = []
    following = 0
    for number, line in lines:
        max_chars -= len(line) + 1
        if max_chars < 0 and shown:
            break
        shown.append(line)
        following = number
    return shown, following


def _shortened_lists(facts: Json, start: int, count: int) -> Mapping[str, Any]:
    """Return a copy of a reply's data whose long lists have only the elements that belong to shown lines.

    A list that has more than `count` elements keeps `count` of them from index `start`; only lists that are direct values of `facts` are
    cut.
    """
    return {
        key: value[start : start + count] if is_array(value) and len(value) > count else value
        for key, value in facts.items()
    }


Explain = Callable[[Call, Json], Awaitable[Json]]


class Section(StrEnum):
    """The headings under which tools are listed for people, in their order."""

    START = "Start and end"
    RUN = "Run"
    STOP = "Stop"
    COLLECT = "Collect"
    LOOK = "Look"
    MEMORY = "Memory, and all else"
    OUTPUT = "What it printed, where it stopped"
    NEOVIM = "Neovim"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is a Python function. Made by `@tool`.

    Its schemas are made when they are first needed: many tools are never listed.
    """

    function: ToolFunction
    name: str
    title: str
    description: str
    section: str
    """The heading under which it is listed for people: a `Section`, or one of an integration's own."""
    kinds: CallKinds | None
    """The kinds of action of its calls, for consent; None: none if it is read-only, else every kind."""
    read_only: bool
    destructive: bool
    idempotent: bool
    resumes: bool
    """It resumes the program, and waits for the next stop unless it is told not to."""
    is_lean: bool
    """It belongs to the few tools with which an agent of its own finds a bug."""
    output: type | None
    """The type of its data; None: unspecified."""
    needs: Sequence[str] | None
    """Requests, or their `OPTIONS`, one of which an adapter must support for the tool; None: it need not."""
    argument_needs: Mapping[str, str]
    """The same, for single arguments."""
    unlisted: frozenset[str]
    """Arguments of which no model has to read."""
    narrowing_arguments: frozenset[str]
    """Arguments without which it removes or ends more."""
    starts: bool
    """It starts programs, which have time-outs of their own, each by its definition."""
    group_state: Asked
    """Which members of a group it can ask; empty: it takes none."""
    explain: Explain | None
    """Returns what a question adds to the arguments of a call: what it would run beside what they say."""

    @property
    def input_schema(self) -> Json:
        """The JSON Schema of its arguments, as a model reads it."""
        return schema.arguments_schema(self.function)

    @property
    def output_schema(self) -> Json | None:
        """The JSON Schema of its data; None: unspecified."""
        return schema.data_schema(self.function, self.output)

    @property
    def all_needs(self) -> frozenset[str]:
        """The requests, or options of requests, that every part of the tool needs of an adapter."""
        return frozenset({*(self.needs or ()), *self.argument_needs.values()})

    def is_of_use(self, supported: frozenset[str]) -> bool:
        """Whether adapters that support these requests and options have one that the tool needs.

        True for a tool that needs nothing of adapters.
        """
        return self.needs is None or not supported.isdisjoint(self.needs)

    def schema_for(self, supported: frozenset[str]) -> Json:
        """Return the JSON Schema of the arguments for the list of tools.

        It lacks arguments that need a request or option which is not `supported`, and unlisted ones. `additionalProperties` is left out to
        save bytes: the tool itself rejects an unknown argument.
        """
        useless = {name for name, need in self.argument_needs.items() if need not in supported}
        useless |= self.unlisted
        properties: Json = self.input_schema["properties"]
        kept = {name: each for name, each in properties.items() if name not in useless}
        listed = {
            **self.input_schema,
            "properties": schema.schema_for_list(kept),
            "additionalProperties": None,
        }
        return {key: each for key, each in listed.items() if each is not None}

    @property
    def groups(self) -> Sequence[str]:
        """The part of the name before the first underscore, such as `dap` or `nvim`."""
        return (self.name.partition("_")[0],)

    async def __call__(self, call: Call, arguments: Json) -> Reply:
        """Check the arguments, ask the person for consent where needed, run the tool, return its answer.

        Arguments that a client has only filled in (empty texts, nulls) are left out, and values of a wrong type are converted if their
        meaning is clear; notes say so. A long answer of a debugging tool is cut, or one page of it is returned.

        Raises:
            ArgumentError: An argument is unknown, missing or of a wrong type; nothing has happened.
            RefusedByPerson: The person did not allow it; nothing has happened.
            DapeerError: Any error of the tool; it has the notes of the call.
        """
        page = Page()
        if self._is_paged:
            arguments, page = split_page_arguments(arguments, self.input_schema["properties"])
        unfilled = without_filled(arguments, self.input_schema)
        if widening := unfilled.empty & self.narrowing_arguments:
            raise self._refusal(min(widening))
        understood = convert_arguments(unfilled.arguments, self.input_schema)
        checked = self._check_arguments(call, understood)
        await check_file_systems(understood, call.debugger.project)
        try:
            with call.debugger.doings.acting_as(call.focus.doer(call.client)):
                reply = await self._run_with_consent(call, checked)
        except DapeerError as error:
            error.add_notes([*call.notes, *self._unread_notes(call)])
            raise
        if "dap" in self.groups:
            reply = limit_reply(reply, page, repeats=self._is_paged, folds=self._is_paged)
        said = [
            *split_argument_notes(arguments, understood),
            *unfilled.notes(),
            *call.notes,
            *self._unread_notes(call),
        ]
        return with_notes(reply, said)

    def _unread_notes(self, call: Call) -> list[str]:
        """Return notes that the client has not had yet, each once.

        They say what other clients have done, and what became of the client's triggers. Reading them marks them as reported. Empty for a
        tool that is not for debugging.
        """
        if "dap" not in self.groups:
            return []
        return [
            *call.focus.take_actions_of_others(),
            *call.debugger.triggers.take_lines(call.focus.key),
        ]

    @property
    def _is_paged(self) -> bool:
        """Whether a caller may ask for lines of its answer by `start` and `count`.

        Only for a debugging tool that is read-only, and has no `start`, `count` or `lines` of its own.
        """
        own = {*PAGE_ARGUMENTS, "lines"} & self.input_schema["properties"].keys()
        return self.read_only and not own and "dap" in self.groups

    def _refusal(self, argument: str) -> ArgumentError:
        """Return the error for an empty argument without which the tool would remove or end more."""
        return ArgumentError(
            f"`{argument}` is empty, and without it {self.name} would do more.",
            "Give it a value; to do more, leave it out, or give null.",
        )

    async def _run_with_consent(self, call: Call, checked: BaseModel) -> Reply:
        """Run the tool with checked arguments, asking people for consent before, and return its reply.

        Nobody is asked if the call's kinds need no consent. If the tool finds while it runs that it needs consent
        for a further kind, the person is asked for that kind, and the tool is run again from its beginning, with
        consent for this kind alone.

        Raises:
            RefusedByPerson: The person does not consent, the server is read-only, or nobody can be asked.
            ConsentNeeded: The second run needs consent for yet another kind.
            DapeerError: Any error of the tool.
        """
        values = {name: getattr(checked, name) for name in type(checked).model_fields}
        action = self._action(checked, call.client)
        if action is not None and self.explain is not None:
            more = await self.explain(call, values)
            action = replace(action, arguments={**action.arguments, **more})
        # The time that a person needs to consent is the person's.
        try:
            return await run_with_consent(
                call.peers, action, lambda: self._run_for_members(call, values)
            )
        except ConsentNeeded as need:
            if call.read_only and need.kind != "read":
                raise need.refusal from need
            if need.kind == "read" and not call.peers.has_person_to_decide(need.kind):
                raise need.refusal from need
            given = checked.model_dump(exclude_unset=True)
            action = Action(self.name, (need.kind,), given, call.client)
            granted = replace(call, allowed_kind=need.kind)
        return await run_with_consent(
            call.peers, action, lambda: self._run_for_members(granted, values)
        )

    def _action(self, checked: BaseModel, client: str) -> Action | None:
        """Return the action that people see or consent to; None: the call needs no consent.

        The action has the arguments that the caller has set. `client` is the name and version of the client that calls.
        """
        kinds = kinds_of(self.kinds, checked.model_dump(), read_only=self.read_only)
        if not kinds:
            return None
        return Action(self.name, kinds, checked.model_dump(exclude_unset=True), client)

    async def _run_for_members(self, call: Call, values: Json) -> Reply:
        """Run the tool for the session that the arguments name, or for each member of their `group`.

        `values` are the checked arguments by name, defaults included. `group` is looked at only if the tool takes one
        (its `group_state` is not empty); the tool then runs for the members that are in the state that it needs.

        Raises:
            ArgumentError: Both a group and a session are given.
            NoSession: There is no such group.
            NotStopped: No member of the group is in the state that the tool needs.
            ToolTimeout: The deadline has passed.
            DapeerError: Any error of the tool; that of a member of a group, also ToolTimeout, is its answer instead.
        """
        if self.group_state and (name := values.get("group")) is not None:
            check_group_or_session(name, values.get("session_id"))
            group = call.debugger.groups.require_group(str(name))
            return await GroupCall(call, group, self.group_state, self.resumes).run_for_members(
                lambda session: self._run_for_session(call, {**values, "session_id": session.id})
            )
        return await self._run_for_session(call, values)

    async def _run_for_session(self, call: Call, values: Json) -> Reply:
        """Call the tool's function for one session; a debugging tool that starts no program has a deadline.

        `values` are the checked arguments by name, defaults included.

        Raises:
            ArgumentError: A file's name is longer than the system allows.
            ToolTimeout: The deadline has passed.
            DapeerError, OSError: Any other error of the tool.
        """
        try:
            work = self.function(call, **schema.keyword_arguments(self.function, values))
            if self.starts or "dap" not in self.groups:
                return await work
            return await run_with_deadline(self.name, seconds_for(values), work)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            which = quoted_name(os.fsdecode(error.filename)) if error.filename else "A file's name"
            raise ArgumentError(
                f"{which} is longer than this system allows.", "Give a shorter name."
            ) from error

    def _check_arguments(self, call: Call, given: Json) -> BaseModel:
        """Return the arguments as an object of the tool's pydantic model, with defaults.

        `given` are the arguments by name, already converted where their meaning is clear. Nothing is looked up on
        the disk.

        Raises:
            ArgumentError: An argument is unknown, missing or of a wrong type; then the error's text only names
                arguments that the client's list of tools has. Or the name of a file, program or function is
                empty, too long, or has what no such name can have.
        """
        try:
            check_names(given)
            return schema.arguments_model(self.function).model_validate(given)
        except ValidationError as error:
            # An error names no argument that the caller's list of tools does not have.
            listed = self.schema_for(call.debugger.sessions.supported(self.all_needs))
            raise ArgumentError(schema.describe_validation_error(error, listed)) from error


def tool(
    title: str,
    *,
    section: str = "",
    kinds: CallKinds | None = None,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    resumes: bool = False,
    is_lean: bool = False,
    output: type | None = None,
    needs: Sequence[str] | None = None,
    starts: bool = False,
    group_state: Asked = "",
    explain: Explain | None = None,
) -> Callable[[ToolFunction], Tool]:
    """Return a decorator that makes a `Tool` of a function whose first parameter is the `Call`.

    This is the one place that says anything of a tool: lists, pages, schemas and tables are made of it. The
    function's name and parameters are the tool's, and the first paragraph of its docstring is the tool's
    description, which models read; a parameter that is a dataclass stands for its fields.

    Args:
        title: A short name for people.
        section: The heading under which people find the tool.
        kinds: What people are asked to consent to before a call; None: nothing if it is read-only, else every kind.
        read_only: The tool changes nothing; this and the next two are MCP's annotations.
        destructive: It may remove or end something.
        idempotent: A second call with the same arguments changes nothing more; every read-only tool counts as such.
        resumes: It resumes the program, and waits for the next stop.
        is_lean: It belongs to the few tools with which an agent of its own finds a bug.
        output: The TypedDict of its data; None: unspecified. Only tools that list things have one, as several
            clients compile a schema anew for every result.
        needs: Requests, or options of requests; the tool is listed while a living adapter supports one of them.
            None: it is always listed.
        starts: It starts programs, which have timeouts of their own: the call has no deadline.
        group_state: For a tool that takes `group` beside `session_id`: which members of a group it runs for,
            `stopped`, `running` or `living`; empty: it takes no group.
        explain: Returns what a person is shown of a call beside its arguments; None: nothing.
    """

    def made(function: ToolFunction) -> Tool:
        """Return the `Tool` that calls this function, with its name, description and marked arguments."""
        return Tool(
            function=function,
            name=function.__name__,
            title=title,
            description=inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0],
            section=str(section),
            kinds=kinds,
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent or read_only,
            resumes=resumes,
            is_lean=is_lean,
            output=output,
            needs=needs,
            argument_needs={
                name: each.supported for name, each in marked_arguments(function, Needs)
            },
            unlisted=frozenset(name for name, _ in marked_arguments(function, Unlisted)),
            narrowing_arguments=frozenset(name for name, _ in marked_arguments(function, Narrows)),
            starts=starts,
            group_state=group_state,
            explain=explain,
        )

    return made


def tools_of(*modules: ModuleType) -> tuple[Tool, ...]:
    """Return the tools that these modules define, in the order of modules and definitions.

    Tools that a module only imports are not among them.
    """
    return tuple(
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, Tool) and each.function.__module__ == module.__name__
    )
