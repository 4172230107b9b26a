"""The requests that dapeer sends: their arguments, and how one is sent so that it cannot be mistyped.

Only the fields that are used here are named. A test holds every one against the protocol's JSON schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Never, NotRequired, Protocol, TypeAlias, TypedDict, overload

from dapeer.dap.messages import Body
from dapeer.dap.types import (
    BreakpointLocationsResponseBody,
    CompletionsResponseBody,
    DataBreakpointInfoResponseBody,
    DisassembleResponseBody,
    EvaluateResponseBody,
    ExceptionInfoResponseBody,
    GotoTargetsResponseBody,
    LoadedSourcesResponseBody,
    ModulesResponseBody,
    ReadMemoryResponseBody,
    ScopesResponseBody,
    SetBreakpointsResponseBody,
    SetExceptionBreakpointsArguments,
    SetExpressionResponseBody,
    SetVariableResponseBody,
    Source,
    SourceResponseBody,
    StackTraceResponseBody,
    StepInTargetsResponseBody,
    ThreadsResponseBody,
    VariablesResponseBody,
    WriteMemoryResponseBody,
)

Nothing: TypeAlias = Mapping[str, Never]
"""The arguments of a request that takes none: an empty object."""
ResumingCommand: TypeAlias = Literal[
    "continue", "goto", "next", "restartFrame", "reverseContinue", "stepBack", "stepIn", "stepOut"
]
"""Requests that make the program run."""


class BreakpointLocationsArguments(TypedDict):
    """Lines of a source where breakpoints may be."""

    source: Source
    line: int
    endLine: NotRequired[int]


class CompletionsArguments(TypedDict):
    """A text to complete in a frame."""

    text: str
    column: int
    frameId: NotRequired[int]


class ContinueArguments(TypedDict):
    """The thread to resume."""

    threadId: int
    singleThread: NotRequired[bool]


class DataBreakpointInfoArguments(TypedDict):
    """A variable or an expression that may be watched."""

    name: str
    variablesReference: NotRequired[int]
    frameId: NotRequired[int]


class DisassembleArguments(TypedDict):
    """Instructions at an address."""

    memoryReference: str
    instructionCount: int
    offset: NotRequired[int]
    instructionOffset: NotRequired[int]
    resolveSymbols: NotRequired[bool]


class DisconnectArguments(TypedDict):
    """Whether the debuggee ends with its session."""

    terminateDebuggee: NotRequired[bool]


class EvaluateArguments(TypedDict):
    """An expression to evaluate, in a frame or without one."""

    expression: str
    frameId: NotRequired[int]
    context: NotRequired[str]
    format: NotRequired[Mapping[str, Any]]


class ExceptionInfoArguments(TypedDict):
    """The thread that is stopped at the exception."""

    threadId: int


class GotoArguments(TypedDict):
    """Where a thread is to go on."""

    threadId: int
    targetId: int


class GotoTargetsArguments(TypedDict):
    """A line to go on at."""

    source: Source
    line: int


class NextArguments(TypedDict):
    """The thread that steps over a line."""

    threadId: int
    singleThread: NotRequired[bool]
    granularity: NotRequired[str]


class PauseArguments(TypedDict):
    """The thread to stop."""

    threadId: int


class ReadMemoryArguments(TypedDict):
    """A piece of memory to read."""

    memoryReference: str
    count: int
    offset: NotRequired[int]


class RestartFrameArguments(TypedDict):
    """The frame to begin again."""

    frameId: int


class ReverseContinueArguments(TypedDict):
    """The thread to resume backwards."""

    threadId: int
    singleThread: NotRequired[bool]


class ScopesArguments(TypedDict):
    """The frame whose scopes are wanted."""

    frameId: int


class SetBreakpointsArguments(TypedDict):
    """All breakpoints of a source."""

    source: Source
    breakpoints: NotRequired[Sequence[Mapping[str, Any]]]
    lines: NotRequired[Sequence[int]]
    sourceModified: NotRequired[bool]


class SetDataBreakpointsArguments(TypedDict):
    """All breakpoints at data."""

    breakpoints: Sequence[Mapping[str, Any]]


class SetExpressionArguments(TypedDict):
    """A new value for what an expression names."""

    expression: str
    value: str
    frameId: NotRequired[int]


class SetFunctionBreakpointsArguments(TypedDict):
    """All breakpoints at functions."""

    breakpoints: Sequence[Mapping[str, Any]]


class SetInstructionBreakpointsArguments(TypedDict):
    """All breakpoints at instructions."""

    breakpoints: Sequence[Mapping[str, Any]]


class SetVariableArguments(TypedDict):
    """A new value for a child of a scope or a variable."""

    variablesReference: int
    name: str
    value: str


class SourceArguments(TypedDict):
    """A source whose text the adapter has."""

    source: NotRequired[Source]
    sourceReference: int


class StackTraceArguments(TypedDict):
    """A part of a thread's stack."""

    threadId: int
    startFrame: NotRequired[int]
    levels: NotRequired[int]


class StepBackArguments(TypedDict):
    """The thread that steps back."""

    threadId: int
    singleThread: NotRequired[bool]
    granularity: NotRequired[str]


class StepInArguments(TypedDict):
    """The thread that steps into a call."""

    threadId: int
    singleThread: NotRequired[bool]
    granularity: NotRequired[str]
    targetId: NotRequired[int]


class StepInTargetsArguments(TypedDict):
    """The frame whose calls a step may enter."""

    frameId: int


class StepOutArguments(TypedDict):
    """The thread that steps out of its function."""

    threadId: int
    singleThread: NotRequired[bool]
    granularity: NotRequired[str]


class TerminateArguments(TypedDict):
    """Whether the debuggee is to begin again."""

    restart: NotRequired[bool]


class TerminateThreadsArguments(TypedDict):
    """The threads to end."""

    threadIds: NotRequired[Sequence[int]]


class VariablesArguments(TypedDict):
    """The children of a scope or a variable, or some of them."""

    variablesReference: int
    filter: NotRequired[str]
    start: NotRequired[int]
    count: NotRequired[int]


class WriteMemoryArguments(TypedDict):
    """Bytes to write, in Base64."""

    memoryReference: str
    data: str
    offset: NotRequired[int]
    allowPartial: NotRequired[bool]


class SendRequest(Protocol):
    """Sends a request to an adapter and returns the body of its response, both typed by the command.

    `seconds` is how long the adapter may take; None: as long as usual. `Session.send` takes any other command.

    Raises:
        Unsupported: The adapter does not advertise it; nothing was sent.
        RequestFailed: The adapter answered that it cannot.
        RequestTimeout: It has not answered in time.
        ChannelClosed: The session ended first.
    """

    @overload
    async def __call__(
        self,
        command: Literal["breakpointLocations"],
        arguments: BreakpointLocationsArguments,
        *,
        seconds: float | None = None,
    ) -> BreakpointLocationsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["completions"],
        arguments: CompletionsArguments,
        *,
        seconds: float | None = None,
    ) -> CompletionsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["configurationDone"],
        arguments: Nothing | None = None,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["continue"],
        arguments: ContinueArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["dataBreakpointInfo"],
        arguments: DataBreakpointInfoArguments,
        *,
        seconds: float | None = None,
    ) -> DataBreakpointInfoResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["disassemble"],
        arguments: DisassembleArguments,
        *,
        seconds: float | None = None,
    ) -> DisassembleResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["disconnect"],
        arguments: DisconnectArguments | None = None,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["evaluate"],
        arguments: EvaluateArguments,
        *,
        seconds: float | None = None,
    ) -> EvaluateResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["exceptionInfo"],
        arguments: ExceptionInfoArguments,
        *,
        seconds: float | None = None,
    ) -> ExceptionInfoResponseBody: ...
    @overload
    async def __call__(
        self, command: Literal["goto"], arguments: GotoArguments, *, seconds: float | None = None
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["gotoTargets"],
        arguments: GotoTargetsArguments,
        *,
        seconds: float | None = None,
    ) -> GotoTargetsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["loadedSources"],
        arguments: Nothing | None = None,
        *,
        seconds: float | None = None,
    ) -> LoadedSourcesResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["modules"],
        arguments: Nothing | None = None,
        *,
        seconds: float | None = None,
    ) -> ModulesResponseBody: ...
    @overload
    async def __call__(
        self, command: Literal["next"], arguments: NextArguments, *, seconds: float | None = None
    ) -> Body: ...
    @overload
    async def __call__(
        self, command: Literal["pause"], arguments: PauseArguments, *, seconds: float | None = None
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["readMemory"],
        arguments: ReadMemoryArguments,
        *,
        seconds: float | None = None,
    ) -> ReadMemoryResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["restartFrame"],
        arguments: RestartFrameArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["reverseContinue"],
        arguments: ReverseContinueArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["scopes"],
        arguments: ScopesArguments,
        *,
        seconds: float | None = None,
    ) -> ScopesResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["setBreakpoints"],
        arguments: SetBreakpointsArguments,
        *,
        seconds: float | None = None,
    ) -> SetBreakpointsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["setDataBreakpoints"],
        arguments: SetDataBreakpointsArguments,
        *,
        seconds: float | None = None,
    ) -> SetBreakpointsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["setExceptionBreakpoints"],
        arguments: SetExceptionBreakpointsArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["setExpression"],
        arguments: SetExpressionArguments,
        *,
        seconds: float | None = None,
    ) -> SetExpressionResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["setFunctionBreakpoints"],
        arguments: SetFunctionBreakpointsArguments,
        *,
        seconds: float | None = None,
    ) -> SetBreakpointsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["setInstructionBreakpoints"],
        arguments: SetInstructionBreakpointsArguments,
        *,
        seconds: float | None = None,
    ) -> SetBreakpointsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["setVariable"],
        arguments: SetVariableArguments,
        *,
        seconds: float | None = None,
    ) -> SetVariableResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["source"],
        arguments: SourceArguments,
        *,
        seconds: float | None = None,
    ) -> SourceResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["stackTrace"],
        arguments: StackTraceArguments,
        *,
        seconds: float | None = None,
    ) -> StackTraceResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["stepBack"],
        arguments: StepBackArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["stepIn"],
        arguments: StepInArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["stepInTargets"],
        arguments: StepInTargetsArguments,
        *,
        seconds: float | None = None,
    ) -> StepInTargetsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["stepOut"],
        arguments: StepOutArguments,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["terminate"],
        arguments: TerminateArguments | None = None,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["terminateThreads"],
        arguments: TerminateThreadsArguments | None = None,
        *,
        seconds: float | None = None,
    ) -> Body: ...
    @overload
    async def __call__(
        self,
        command: Literal["threads"],
        arguments: Nothing | None = None,
        *,
        seconds: float | None = None,
    ) -> ThreadsResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["variables"],
        arguments: VariablesArguments,
        *,
        seconds: float | None = None,
    ) -> VariablesResponseBody: ...
    @overload
    async def __call__(
        self,
        command: Literal["writeMemory"],
        arguments: WriteMemoryArguments,
        *,
        seconds: float | None = None,
    ) -> WriteMemoryResponseBody: ...
