"""A tool: a typed function with a docstring, and its properties."""

from __future__ import annotations

import errno
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import ModuleType

from pydantic import BaseModel, ValidationError

from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.json_types import Json
from dapeer.base.schemas import convert_arguments, notes, without_filled
from dapeer.peers import Action
from dapeer.peers.consent_kinds import CallKinds, kinds_of
from dapeer.tools.base import names, schema
from dapeer.tools.base.answer_pages import PAGE_ARGUMENTS, Page, limit_reply, split_page_arguments
from dapeer.tools.base.call import Call, ConsentNeeded, Reply, run_with_consent, with_notes
from dapeer.tools.base.deadline import run_with_deadline, seconds_for
from dapeer.tools.base.groups import Asked, GroupCall, check_group_or_session
from dapeer.tools.base.schema import Narrows, Needs, ToolFunction, Unlisted, marked_arguments

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
    narrowing: frozenset[str]
    """Arguments without which it removes or ends more."""
    starts: bool
    """It starts programs, which have time-outs of their own, each by its definition."""
    asks: Asked
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
            Refused: The person did not allow it; nothing has happened.
            DapeerError: Any error of the tool; it has the notes of the call.
        """
        page = Page()
        if self._is_paged:
            arguments, page = split_page_arguments(arguments, self.input_schema["properties"])
        unfilled = without_filled(arguments, self.input_schema)
        if widening := unfilled.empty & self.narrowing:
            raise self._refusal(min(widening))
        understood = convert_arguments(unfilled.arguments, self.input_schema)
        checked = self._check_arguments(call, understood)
        await names.check_file_systems(understood, call.debugger.project)
        try:
            with call.debugger.doings.by(call.focus.doer(call.client)):
                reply = await self._run_with_consent(call, checked)
        except DapeerError as error:
            error.add_notes([*call.notes, *self._unread_notes(call)])
            raise
        if "dap" in self.groups:
            reply = limit_reply(reply, page, repeats=self._is_paged, folds=self._is_paged)
        said = [
            *notes(arguments, understood),
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
        return [*call.focus.take_news(), *call.debugger.triggers.take_lines(call.focus.key)]

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

        If a read-only tool finds that it needs consent for more, the person is asked for that kind, and the tool is run again.

        Raises:
            Refused: The person does not consent, the server is read-only, or nobody can be asked.
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
            if need.kind == "read" and not call.peers.can_ask(need.kind):
                raise need.refusal from need
            given = checked.model_dump(exclude_unset=True)
            action = Action(self.name, (need.kind,), given, call.client)
            granted = replace(call, allowed=need.kind)
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

        `values` are the checked arguments by name, defaults included.

        Raises:
            ArgumentError: Both a group and a session are given.
            DapeerError: Any error of the tool.
        """
        if self.asks and (name := values.get("group")) is not None:
            check_group_or_session(name, values.get("session_id"))
            group = call.debugger.groups.named(str(name))
            return await GroupCall(call, group, self.asks, self.resumes).run_for_members(
                lambda session: self._run_for_session(call, {**values, "session_id": session.id})
            )
        return await self._run_for_session(call, values)

    async def _run_for_session(self, call: Call, values: Json) -> Reply:
        """Call the tool's function for one session; a debugging tool that starts no program has a deadline.

        `values` are the checked arguments by name, defaults included.

        Raises:
            ArgumentError: A file's name is longer than the system allows.
            Overdue: The deadline has passed.
            DapeerError: Any error of the tool.
        """
        try:
            work = self.function(call, **schema.keyword_arguments(self.function, values))
            if self.starts or "dap" not in self.groups:
                return await work
            return await run_with_deadline(self.name, seconds_for(values), work)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            which = (
                names.quoted_name(os.fsdecode(error.filename))
                if error.filename
                else "A file's name"
            )
            raise ArgumentError(
                f"{which} is longer than this system allows.", "Give a shorter name."
            ) from error

    def _check_arguments(self, call: Call, given: Json) -> BaseModel:
        """Return the arguments as an object of the tool's pydantic model, with defaults.

        `given` are the arguments by name, already converted where their meaning is clear.

        Raises:
            ArgumentError: An argument is unknown, missing, of a wrong type, or cannot be a file name where it must be one. Its text only
                names arguments that the client's list of tools has.
        """
        try:
            names.check_names(given)
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
    asks: Asked = "",
    explain: Explain | None = None,
) -> Callable[[ToolFunction], Tool]:
    """Make a tool of a function whose first parameter is the `Call`.

    This is the one place that says anything of a tool: lists, pages, schemas and tables are made of it. Its name, docstring and
    parameters are the tool's; a parameter that is a dataclass stands for its fields. `section` is the heading under which people
    find it, `kinds` for what they are asked first, else everything, and `explain` what the question adds. `output` is the TypedDict
    of its data: only tools that list things have one, as several clients compile a schema anew for every result. One that `needs`
    something is listed while a live adapter supports it. One that `starts` programs has no deadline but theirs. One that `asks`
    members of a group takes `group` beside `session_id`.
    """

    def made(function: ToolFunction) -> Tool:
        return Tool(
            function=function,
            name=function.__name__,
            title=title,
            description=inspect.cleandoc(function.__doc__ or ""),
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
            narrowing=frozenset(name for name, _ in marked_arguments(function, Narrows)),
            starts=starts,
            asks=asks,
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
