"""What is true of single requests of the protocol."""

from __future__ import annotations

from collections.abc import Mapping

NEEDS: Mapping[str, str] = {
    "configurationDone": "supportsConfigurationDoneRequest",
    "exceptionInfo": "supportsExceptionInfoRequest",
    "goto": "supportsGotoTargetsRequest",
    "gotoTargets": "supportsGotoTargetsRequest",
    "restart": "supportsRestartRequest",
    "setExceptionBreakpoints": "exceptionBreakpointFilters",
    "setExpression": "supportsSetExpression",
    "setFunctionBreakpoints": "supportsFunctionBreakpoints",
    "setVariable": "supportsSetVariable",
    "terminate": "supportsTerminateRequest",
}
"""The capability that a request needs. What is not here every adapter answers."""

RESUMES = frozenset(
    {"continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto", "restartFrame"}
)
"""Requests after which the program runs, and everything known about the stop is past."""

CONTROL = RESUMES | {
    "configurationDone",
    "disconnect",
    "pause",
    "restart",
    "setBreakpoints",
    "terminate",
}
"""Requests that a healthy adapter answers at once, whatever the program does."""

INSPECTIONS = frozenset({"stackTrace", "scopes", "variables", "exceptionInfo"})
"""Requests whose answers are true of one stop only."""
