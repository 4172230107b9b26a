"""The cursors of `*/list` requests: every list is one page, so no server has given any."""

from __future__ import annotations

import mcp.types as t
from mcp.shared.exceptions import MCPError


def check_cursor(params: t.PaginatedRequestParams | None) -> None:
    """Reject a cursor.

    Raises:
        MCPError: There is one.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(
            t.INVALID_PARAMS, "Unknown `cursor`: this list is one page. Leave `cursor` out."
        )
