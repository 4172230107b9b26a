"""A tool: a typed function with a docstring, and its properties."""

from __future__ import annotations

import asyncio
import errno
import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from dapeer.errors import ArgumentError, DapeerError, Refused
from dapeer.json_types import Json
from dapeer.opencode.catalogue import Catalogue
from dapeer.peers import Action, Peers, Progress
from dapeer.peers.kinds import ActionKind, kinds_of
from dapeer.schemas import unpacked
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.focus import Focus
from dapeer.tools.base import names
from dapeer.tools.base.deadline import bounded, seconds_for
from dapeer.tools.base.shortening import short


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: its context, and its progress."""

    debugger: Debugger
    progress: Progress
    """Sends the client the newest progress while it waits."""
    peers: Peers
    """The attached Neovims, with the people who use them."""
    focus: Focus
    """The client's default session."""
    client: str = ""
    """Name and version of the client, if it has sent them."""
    of_neovim: Mapping[str, AnyTool] = field(default_factory=dict[str, "AnyTool"])
    """The tools of the attached Neovims that this client may use, by name."""
    opencode: Catalogue | None = None
    """The known OpenCode server with its lists; None if none is known."""
    read_only: bool = False
    """Whether the server is read-only, which no consent overrides."""
    allowed: ActionKind | None = None
    """The kind that a read-only tool may do in this call, after consent."""

    def need(self, kind: ActionKind, what: str, instead: str) -> None:
        """Return if the call may do something of a kind; a read-only tool calls this before.

        Raises:
            ConsentNeeded: It may not yet.
        """
        if self.allowed != kind:
            raise ConsentNeeded(kind, what, instead)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a tool: text for a model, and the same facts as data."""

    text: str
    data: Json | None = None
    content: Sequence[Json] | None = None
    """MCP's content blocks, where text is not all."""
    failed: bool = False
    """It is an error with the message of an external tool."""

    @property
    def outcome(self) -> str:
        """Its first line."""
        return self.text.partition("\n")[0]


class ConsentNeeded(Exception):
    """A read-only tool needs more: `what` says why, `instead` what to do without."""

    def __init__(self, kind: ActionKind, what: str, instead: str) -> None:
        super().__init__(what)
        self.kind: ActionKind = kind
        self.refusal = Refused(what, instead)


ToolFunction = Callable[..., Awaitable[Reply]]
Mark = TypeVar("Mark")


@dataclass(frozen=True, slots=True)
class Needs:
    """Marks an argument that is of use only where an adapter supports a request, or an option of requests."""

    supported: str


class Unlisted:
    """Marks an argument that callers may give, and of which no model has to read: another one says the same."""


class AnyTool(Protocol):
    """A tool as a client sees it."""

    @property
    def name(self) -> str:
        """The name by which it is called."""
        ...

    @property
    def title(self) -> str:
        """The title for people."""
        ...

    @property
    def description(self) -> str:
        """The description for a model."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        ...

    @property
    def destructive(self) -> bool:
        """Whether something may be lost."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether calling it again changes nothing more."""
        ...

    @property
    def input_schema(self) -> Json:
        """Its arguments."""
        ...

    @property
    def output_schema(self) -> Json | None:
        """The schema of its data; None: any data."""
        ...

    @property
    def groups(self) -> Sequence[str]:
        """The names by which `--tools` selects it."""
        ...

    async def __call__(self, call: Call, arguments: Json) -> Reply:
        """Check the arguments, get the person's consent where needed, and run it."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is a Python function. Made by `@tool`.

    Its schemas are made when they are first needed: many tools are never listed.
    """

    function: ToolFunction
    name: str
    title: str
    description: str
    read_only: bool
    destructive: bool
    idempotent: bool
    output: Any
    """The type of its data; None: unspecified."""
    needs: Sequence[str] | None
    """Requests (or `OPTIONS` of requests), one of which an adapter must support for the tool to be useful; None: it always is."""
    argument_needs: Mapping[str, str]
    """The same, for single arguments."""
    unlisted: frozenset[str]
    """Arguments of which no model has to read."""
    starts: bool
    """It starts programs, which have time-outs of their own, each by its definition."""

    @property
    def input_schema(self) -> Json:
        """Its arguments, as a model reads them."""
        return _input_schema(self.function)

    @property
    def output_schema(self) -> Json | None:
        """Its data."""
        return _output_schema(self.output)

    @property
    def all_needs(self) -> frozenset[str]:
        """All that an adapter must support to use every part of it."""
        return frozenset({*(self.needs or ()), *self.argument_needs.values()})

    def is_of_use(self, supported: frozenset[str]) -> bool:
        """Whether it is useful with adapters that support these requests."""
        return self.needs is None or not supported.isdisjoint(self.needs)

    def schema_for(self, supported: frozenset[str]) -> Json:
        """Return the arguments for the tool list: those that an adapter supports, without the unlisted ones.

        `additionalProperties` is left out to save bytes: the tool itself rejects an unknown argument.
        """
        useless = {name for name, need in self.argument_needs.items() if need not in supported}
        useless |= self.unlisted
        properties = cast("Json", self.input_schema["properties"])
        kept = {name: each for name, each in properties.items() if name not in useless}
        listed = {**self.input_schema, "properties": kept, "additionalProperties": None}
        return {key: each for key, each in listed.items() if each is not None}

    @property
    def groups(self) -> Sequence[str]:
        """The part of the name before the first underscore: `dap`, `nvim`, `opencode`."""
        return (self.name.partition("_")[0],)

    async def __call__(self, call: Call, arguments: Json) -> Reply:
        """Check the arguments, then run the tool.

        Raises:
            ArgumentError: An argument is unknown, missing or of a wrong type; nothing has happened.
            Refused: The person did not allow it; nothing has happened.
            DapeerError: Any error of the tool.
        """
        checked = self._checked(arguments)
        values = {name: getattr(checked, name) for name in type(checked).model_fields}
        action = self._action(checked, call.client)
        # The time that a person needs to consent is the person's.
        try:
            return await witnessed(call.peers, action, lambda: self._done(call, values))
        except ConsentNeeded as need:
            if call.read_only and need.kind != "read":
                raise need.refusal from need
            if need.kind == "read" and not call.peers.can_ask(need.kind):
                raise need.refusal from need
            given = checked.model_dump(exclude_unset=True)
            action = Action(self.name, (need.kind,), given, call.client)
            granted = replace(call, allowed=need.kind)
        return await witnessed(call.peers, action, lambda: self._done(granted, values))

    def _action(self, checked: BaseModel, client: str) -> Action | None:
        """Return the action of a call, if it is one that people see or consent to."""
        kinds = kinds_of(self.name, checked.model_dump(), read_only=self.read_only)
        given = checked.model_dump(exclude_unset=True)
        return Action(self.name, kinds, given, client) if kinds else None

    async def _done(self, call: Call, values: Json) -> Reply:
        """Run it; a tool that talks to adapters has a deadline."""
        try:
            if self.starts or "dap" not in self.groups:
                return await self.function(call, **values)
            work = functools.partial(self.function, call, **values)
            return await bounded(self.name, seconds_for(values), work)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise ArgumentError(
                "The name of a file is longer than this system allows.", "Give a shorter one."
            ) from error

    def _checked(self, arguments: Json) -> BaseModel:
        try:
            given = unpacked(arguments, self.input_schema)
            names.check(given)
            return _model(self.function).model_validate(given)
        except ValidationError as error:
            raise ArgumentError(_sentence(error, self.input_schema)) from error


class People(Protocol):
    """The people who consent before an action, and see it afterwards."""

    async def consent(self, action: Action) -> None:
        """Return when they allow it."""
        ...

    def told(self, action: Action, outcome: str, *, ok: bool) -> None:
        """Show them the action."""
        ...


async def witnessed(
    people: People, action: Action | None, work: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Do something that people see, and may have to consent to before.

    Raises:
        Refused: The person did not allow it; nothing has happened.
        DapeerError: Any error of the work.
    """
    if action is None:
        return await work()
    try:
        await people.consent(action)
        reply = await work()
    except asyncio.CancelledError:
        people.told(action, "The assistant did not wait for the outcome.", ok=False)
        raise
    except Exception as error:
        fault = "It failed because of a bug in dapeer."
        people.told(action, str(error) if isinstance(error, DapeerError) else fault, ok=False)
        raise
    people.told(action, reply.outcome, ok=not reply.failed)
    return reply


def tool(
    title: str,
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    output: Any = None,  # noqa: ANN401 - pydantic takes any type form
    needs: Sequence[str] | None = None,
    starts: bool = False,
) -> Callable[[ToolFunction], Tool]:
    """Make a tool of a function whose first parameter is the `Call`.

    Its name, docstring and parameters are the tool's name, description and input schema. `output` is
    the TypedDict of its data, told to clients as the output schema. Only tools that list things have
    one: several clients compile a schema anew for every single result, and a schema for the snapshot
    that fifteen tools return would cost more time than the debugger does.

    A tool that `needs` something of an adapter is listed while a live session's adapter supports it.
    One that `starts` programs has no deadline of its own but those of what it starts.
    """

    def made(function: ToolFunction) -> Tool:
        return Tool(
            function=function,
            name=function.__name__,
            title=title,
            description=inspect.cleandoc(function.__doc__ or ""),
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent or read_only,
            output=output,
            needs=needs,
            argument_needs={name: each.supported for name, each in _marked(function, Needs)},
            unlisted=frozenset(name for name, _ in _marked(function, Unlisted)),
            starts=starts,
        )

    return made


def _marked(function: ToolFunction, kind: type[Mark]) -> Iterator[tuple[str, Mark]]:
    """Yield the arguments that are marked so, with their marks."""
    for name, hint in get_type_hints(function, include_extras=True).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, kind):
                yield name, mark


@cache
def _model(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (
            hints[name],
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "call"
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


@cache
def _input_schema(function: ToolFunction) -> Json:
    return short(_model(function).model_json_schema())


@cache
def _output_schema(output: Any) -> Json | None:  # noqa: ANN401 - any type form
    return output and short(TypeAdapter(output).json_schema())


def _sentence(error: ValidationError, schema: Json) -> str:
    """Return one sentence on the first invalid argument, with the allowed values."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "extra_forbidden":
        for part in first["loc"][:-1]:
            schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
        allowed = ", ".join(cast("Json", schema.get("properties", {}))) or "none"
        return f"Unknown argument `{where}`; allowed are: {allowed}."
    if first["type"] == "missing":
        return f"Argument `{where}` is required."
    said = _IN_JSON_TERMS.get(first["type"], first["msg"])
    return f"Argument `{where}`: {said[0].lower()}{said[1:]}."


_IN_JSON_TERMS = {
    "is_instance_of": "Input should be a valid list",
    "dict_type": "Input should be a valid object",
    "mapping_type": "Input should be a valid object",
    "model_type": "Input should be a valid object",
}
"""Messages in JSON's terms for pydantic's in Python's, by type of error; `is_instance_of` is only used for Sequence."""
