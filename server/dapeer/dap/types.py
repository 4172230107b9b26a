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
