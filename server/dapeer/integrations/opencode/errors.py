"""Everything that is reported as a failure of an OpenCode server."""

from __future__ import annotations

from dapeer.base.errors import DapeerError


class OpenCodeError(DapeerError):
    """An error of the connection to an OpenCode server."""


class NoOpenCode(OpenCodeError):
    """No server listens there, or it has ended."""


class OpenCodeLocked(OpenCodeError):
    """It requires a password, or a different one."""


class OpenCodeFailed(OpenCodeError):
    """It rejected the request, or the request failed there."""


class OpenCodeMissing(OpenCodeFailed):
    """It does not know the name or id of the request."""
