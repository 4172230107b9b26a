"""The protocol's types that dapeer reads or writes, under the specification's own names.

Source: https://microsoft.github.io/debug-adapter-protocol/specification, "Types". Only the fields
that are used here are named; the others are still there at run time. Each is `NotRequired` where
the specification marks it optional. A test holds every one against the protocol's JSON schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class Source(TypedDict):
    """Where code is: a file on disk, or text that only the adapter has (`sourceReference`)."""

    name: NotRequired[str]
    path: NotRequired[str]
    sourceReference: NotRequired[int]
    presentationHint: NotRequired[str]


class StackFrame(TypedDict):
    """One call on a thread's stack."""

    id: int
    name: str
    line: int
    column: int
    source: NotRequired[Source]
    instructionPointerReference: NotRequired[str]
    presentationHint: NotRequired[str]


class Scope(TypedDict):
    """A named container of variables of a frame: locals, arguments, registers and the like."""

    name: str
    variablesReference: int
    expensive: bool
    presentationHint: NotRequired[str]


class VariablePresentationHint(TypedDict):
    """Facts about a variable besides its value."""

    kind: NotRequired[str]
    attributes: NotRequired[list[str]]
    lazy: NotRequired[bool]
    """Its value is computed by code of the program, on request."""


class Variable(TypedDict):
    """A name and the adapter's rendering of its value."""

    name: str
    value: str
    variablesReference: int
    type: NotRequired[str]
    namedVariables: NotRequired[int]
    indexedVariables: NotRequired[int]
    evaluateName: NotRequired[str]
    presentationHint: NotRequired[VariablePresentationHint]
    memoryReference: NotRequired[str]


class Thread(TypedDict):
    """A thread of the debuggee."""

    id: int
    name: str


class SourceBreakpoint(TypedDict):
    """A breakpoint as a client wants it."""

    line: int
    condition: NotRequired[str]
    hitCondition: NotRequired[str]
    logMessage: NotRequired[str]


class DataBreakpoint(TypedDict):
    """A breakpoint on a place in memory."""

    dataId: str
    accessType: NotRequired[str]
    condition: NotRequired[str]
    hitCondition: NotRequired[str]


class InstructionBreakpoint(TypedDict):
    """A breakpoint on a machine instruction."""

    instructionReference: str
    offset: NotRequired[int]
    condition: NotRequired[str]
    hitCondition: NotRequired[str]


class Breakpoint(TypedDict):
    """A breakpoint as the adapter made it."""

    verified: bool
    id: NotRequired[int]
    message: NotRequired[str]
    reason: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]
    source: NotRequired[Source]
    instructionReference: NotRequired[str]


class BreakpointLocation(TypedDict):
    """A place where a breakpoint may be."""

    line: int


class ExceptionBreakpointsFilter(TypedDict):
    """A kind of exception that an adapter can stop at."""

    filter: str
    label: str
    default: NotRequired[bool]


class SetExceptionBreakpointsArguments(TypedDict):
    """The kinds of exceptions to stop at."""

    filters: Sequence[str]
    filterOptions: NotRequired[Sequence[Mapping[str, Any]]]
    exceptionOptions: NotRequired[Sequence[Mapping[str, Any]]]


class ExceptionDetails(TypedDict):
    """More about an exception."""

    message: NotRequired[str]
    typeName: NotRequired[str]
    fullTypeName: NotRequired[str]
    stackTrace: NotRequired[str]


class GotoTarget(TypedDict):
    """A place where execution may be continued."""

    id: int
    label: str
    line: int


class StepInTarget(TypedDict):
    """A call on the current line that a step may enter."""

    id: int
    label: str


class CompletionItem(TypedDict):
    """A completion of an expression."""

    label: str
    text: NotRequired[str]
    type: NotRequired[str]
    start: NotRequired[int]
    length: NotRequired[int]


class DisassembledInstruction(TypedDict):
    """A machine instruction."""

    address: str
    instruction: str
    instructionBytes: NotRequired[str]
    symbol: NotRequired[str]
    location: NotRequired[Source]
    line: NotRequired[int]


class Capabilities(TypedDict):
    """The capabilities of an adapter; an absent one is not supported."""

    supportsConfigurationDoneRequest: NotRequired[bool]
    supportsFunctionBreakpoints: NotRequired[bool]
    supportsConditionalBreakpoints: NotRequired[bool]
    supportsHitConditionalBreakpoints: NotRequired[bool]
    supportsLogPoints: NotRequired[bool]
    supportsGotoTargetsRequest: NotRequired[bool]
    supportsSetVariable: NotRequired[bool]
    supportsSetExpression: NotRequired[bool]
    supportsRestartRequest: NotRequired[bool]
    supportsTerminateRequest: NotRequired[bool]
    supportTerminateDebuggee: NotRequired[bool]
    supportsExceptionInfoRequest: NotRequired[bool]
    supportsEvaluateForHovers: NotRequired[bool]
    exceptionBreakpointFilters: NotRequired[list[ExceptionBreakpointsFilter]]


# The bodies of messages that dapeer reads, under the specification's names; `types` has the rest.
#
# Source: https://microsoft.github.io/debug-adapter-protocol/specification, "Events", "Requests" and "Reverse Requests".
# Only the fields that are used here are named. A test holds every one against the protocol's JSON schema.


class StoppedEventBody(TypedDict):
    """The debuggee, or one of its threads, has stopped."""

    reason: str
    description: NotRequired[str]
    threadId: NotRequired[int]
    text: NotRequired[str]
    allThreadsStopped: NotRequired[bool]
    hitBreakpointIds: NotRequired[list[int]]


class ContinuedEventBody(TypedDict):
    """The debuggee, or one of its threads, runs."""

    threadId: int
    allThreadsContinued: NotRequired[bool]


class ThreadEventBody(TypedDict):
    """A thread has started or ended."""

    reason: str
    threadId: int


class BreakpointEventBody(TypedDict):
    """The adapter has changed a breakpoint."""

    reason: str
    breakpoint: Breakpoint


class CapabilitiesEventBody(TypedDict):
    """The adapter can do more or less than it said."""

    capabilities: Capabilities


class ProcessEventBody(TypedDict):
    """The debuggee's process."""

    name: str
    systemProcessId: NotRequired[int]
    isLocalProcess: NotRequired[bool]
    startMethod: NotRequired[str]


class OutputEventBody(TypedDict):
    """The debuggee, or the adapter, has printed."""

    category: NotRequired[str]
    output: str
    source: NotRequired[Source]
    line: NotRequired[int]


class ExitedEventBody(TypedDict):
    """The debuggee has ended."""

    exitCode: int


class ModuleEventBody(TypedDict):
    """A module was loaded, changed or unloaded."""

    reason: str
    module: Mapping[str, Any]


class LoadedSourceEventBody(TypedDict):
    """A source was loaded, changed or removed."""

    reason: str
    source: Source


class ThreadsResponseBody(TypedDict):
    """All threads."""

    threads: list[Thread]


class StackTraceResponseBody(TypedDict):
    """A part of a thread's stack."""

    stackFrames: list[StackFrame]
    totalFrames: NotRequired[int]


class ScopesResponseBody(TypedDict):
    """The scopes of a frame."""

    scopes: list[Scope]


class VariablesResponseBody(TypedDict):
    """The children of a scope or a variable."""

    variables: list[Variable]


class SetVariableResponseBody(TypedDict):
    """A variable's new value."""

    value: str
    type: NotRequired[str]
    variablesReference: NotRequired[int]


class SetExpressionResponseBody(TypedDict):
    """An expression's new value."""

    value: str
    type: NotRequired[str]
    variablesReference: NotRequired[int]


class EvaluateResponseBody(TypedDict):
    """The value of an expression."""

    result: str
    type: NotRequired[str]
    variablesReference: int
    namedVariables: NotRequired[int]
    indexedVariables: NotRequired[int]
    memoryReference: NotRequired[str]


class ExceptionInfoResponseBody(TypedDict):
    """The exception that a thread is stopped at."""

    exceptionId: str
    description: NotRequired[str]
    details: NotRequired[ExceptionDetails]


class SetBreakpointsResponseBody(TypedDict):
    """The states of the breakpoints that were sent, in their order."""

    breakpoints: list[Breakpoint]


class BreakpointLocationsResponseBody(TypedDict):
    """Where breakpoints may be."""

    breakpoints: list[BreakpointLocation]


class DataBreakpointInfoResponseBody(TypedDict):
    """Whether a variable can be watched, and how."""

    dataId: str
    description: str
    accessTypes: NotRequired[list[str]]


class GotoTargetsResponseBody(TypedDict):
    """Places where execution may be continued."""

    targets: list[GotoTarget]


class StepInTargetsResponseBody(TypedDict):
    """Calls that a step may enter."""

    targets: list[StepInTarget]


class CompletionsResponseBody(TypedDict):
    """Completions of an expression."""

    targets: list[CompletionItem]


class SourceResponseBody(TypedDict):
    """The text of a source."""

    content: str
    mimeType: NotRequired[str]


class ModulesResponseBody(TypedDict):
    """The modules that the debuggee has loaded."""

    modules: list[Mapping[str, Any]]


class LoadedSourcesResponseBody(TypedDict):
    """The sources that the debuggee has loaded."""

    sources: list[Source]


class DisassembleResponseBody(TypedDict):
    """Machine instructions."""

    instructions: list[DisassembledInstruction]


class ReadMemoryResponseBody(TypedDict):
    """A piece of memory, in Base64."""

    address: str
    data: NotRequired[str]


class WriteMemoryResponseBody(TypedDict):
    """The number of bytes that were written."""

    bytesWritten: NotRequired[int]


class RunInTerminalRequestArguments(TypedDict):
    """A program that is to run in a terminal."""

    args: list[str]
    cwd: str
    env: NotRequired[Mapping[str, Any]]


class StartDebuggingRequestArguments(TypedDict):
    """A child process that is to be debugged."""

    configuration: Mapping[str, Any]
    request: str


EVENTS: Mapping[str, type] = {
    "breakpoint": BreakpointEventBody,
    "capabilities": CapabilitiesEventBody,
    "continued": ContinuedEventBody,
    "exited": ExitedEventBody,
    "loadedSource": LoadedSourceEventBody,
    "module": ModuleEventBody,
    "output": OutputEventBody,
    "process": ProcessEventBody,
    "stopped": StoppedEventBody,
    "thread": ThreadEventBody,
}
"""By event."""

RESPONSES: Mapping[str, type] = {
    "completions": CompletionsResponseBody,
    "dataBreakpointInfo": DataBreakpointInfoResponseBody,
    "disassemble": DisassembleResponseBody,
    "evaluate": EvaluateResponseBody,
    "exceptionInfo": ExceptionInfoResponseBody,
    "gotoTargets": GotoTargetsResponseBody,
    "initialize": Capabilities,
    "loadedSources": LoadedSourcesResponseBody,
    "modules": ModulesResponseBody,
    "readMemory": ReadMemoryResponseBody,
    "scopes": ScopesResponseBody,
    "setBreakpoints": SetBreakpointsResponseBody,
    "setDataBreakpoints": SetBreakpointsResponseBody,
    "setExpression": SetExpressionResponseBody,
    "setFunctionBreakpoints": SetBreakpointsResponseBody,
    "setInstructionBreakpoints": SetBreakpointsResponseBody,
    "setVariable": SetVariableResponseBody,
    "source": SourceResponseBody,
    "stackTrace": StackTraceResponseBody,
    "stepInTargets": StepInTargetsResponseBody,
    "threads": ThreadsResponseBody,
    "variables": VariablesResponseBody,
    "writeMemory": WriteMemoryResponseBody,
}
"""By command."""

REQUESTS: Mapping[str, type] = {
    "runInTerminal": RunInTerminalRequestArguments,
    "startDebugging": StartDebuggingRequestArguments,
}
"""The arguments of an adapter's request, by command."""
