"""Facts about single requests of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dapeer.dap.types import SetExceptionBreakpointsArguments

NEEDS: Mapping[str, str] = {
    "breakpointLocations": "supportsBreakpointLocationsRequest",
    "cancel": "supportsCancelRequest",
    "completions": "supportsCompletionsRequest",
    "configurationDone": "supportsConfigurationDoneRequest",
    # Not DAP's: it is answered behind all output that the program had printed.
    "dapeerDrain": "dapeerDrains",
    "dataBreakpointInfo": "supportsDataBreakpoints",
    "disassemble": "supportsDisassembleRequest",
    "exceptionInfo": "supportsExceptionInfoRequest",
    "goto": "supportsGotoTargetsRequest",
    "gotoTargets": "supportsGotoTargetsRequest",
    "loadedSources": "supportsLoadedSourcesRequest",
    "modules": "supportsModulesRequest",
    "readMemory": "supportsReadMemoryRequest",
    "restart": "supportsRestartRequest",
    "restartFrame": "supportsRestartFrame",
    "reverseContinue": "supportsStepBack",
    "setDataBreakpoints": "supportsDataBreakpoints",
    "setExceptionBreakpoints": "exceptionBreakpointFilters",
    "setExpression": "supportsSetExpression",
    "setFunctionBreakpoints": "supportsFunctionBreakpoints",
    "setInstructionBreakpoints": "supportsInstructionBreakpoints",
    "setVariable": "supportsSetVariable",
    "stepBack": "supportsStepBack",
    "stepInTargets": "supportsStepInTargetsRequest",
    "terminate": "supportsTerminateRequest",
    "terminateThreads": "supportsTerminateThreadsRequest",
    "writeMemory": "supportsWriteMemoryRequest",
}
"""The capability that a request needs; one neither here nor in `EVERYWHERE` is not specified."""

OPTIONS: Mapping[str, str] = {
    "condition": "supportsConditionalBreakpoints",
    "exceptionFilterOptions": "supportsExceptionFilterOptions",
    "granularity": "supportsSteppingGranularity",
    "hitCondition": "supportsHitConditionalBreakpoints",
    "logMessage": "supportsLogPoints",
    # Not an adapter's: a session has it once something is collected in it.
    "collected": "dapeerCollects",
    # Not an adapter's: a session has it if its program runs in a terminal of dapeer.
    "terminal": "dapeerTerminal",
}
"""The capability that an argument needs, where an adapter may have the request without it."""

EVERYWHERE = frozenset(
    {
        "attach",
        "continue",
        "disconnect",
        "evaluate",
        "initialize",
        "launch",
        "next",
        "pause",
        "scopes",
        "setBreakpoints",
        "source",
        "stackTrace",
        "stepIn",
        "stepOut",
        "threads",
        "variables",
    }
)
"""Requests that every adapter answers."""


def is_supported(capabilities: Mapping[str, object], name: str) -> bool:
    """Return whether an adapter supports a request, or an option that is a key of `OPTIONS`.

    `capabilities` is the body of the adapter's response to `initialize`, with later `capabilities` events. A `name` that neither
    `NEEDS`, `OPTIONS` nor `EVERYWHERE` has is not supported.
    """
    capability = NEEDS.get(name) or OPTIONS.get(name)
    return name in EVERYWHERE if capability is None else bool(capabilities.get(capability))


RESUMES = frozenset(
    {"continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto", "restartFrame"}
)
"""Requests after which the program runs, and everything known about the stop is past."""

STEPS = frozenset({"next", "stepIn", "stepOut", "stepBack"})
"""Those of them after which the program stops by itself."""

CONTROL = RESUMES | {
    "configurationDone",
    "disconnect",
    "pause",
    "restart",
    "setBreakpoints",
    "terminate",
}
"""Requests that a working adapter answers at once, whatever the program does."""

NEED_PROCESS = RESUMES | {
    "pause",
    "restart",
    "setBreakpoints",
    "setDataBreakpoints",
    "setExceptionBreakpoints",
    "setExpression",
    "setFunctionBreakpoints",
    "setInstructionBreakpoints",
    "setVariable",
    "terminate",
    "terminateThreads",
    "writeMemory",
}
"""Requests that have no sense where no program runs: in a core dump."""

ENDS = frozenset({"disconnect", "terminate"})
"""Requests that end a session; an adapter that does not answer them is killed."""

INSPECTIONS = frozenset({"stackTrace", "scopes", "variables", "exceptionInfo"})
"""Requests whose answers are valid at one stop only."""


def exception_arguments(
    filters: Sequence[str], conditions: Mapping[str, str]
) -> SetExceptionBreakpointsArguments:
    """Return the arguments of `setExceptionBreakpoints` for filter names, some of which have conditions.

    `conditions` maps a filter's name to its condition; a filter with one goes into `filterOptions`, every other into `filters`.
    Conditions of filters that are not in `filters` are ignored. `filterOptions` is absent if no filter has a condition.

    >>> exception_arguments(["all", "uncaught"], {"uncaught": "x > 1"})
    {'filters': ['all'], 'filterOptions': [{'filterId': 'uncaught', 'condition': 'x > 1'}]}
    """
    options = [{"filterId": f, "condition": conditions[f]} for f in filters if f in conditions]
    plain = [name for name in filters if name not in conditions]
    return {"filters": plain, "filterOptions": options} if options else {"filters": plain}
