"""The environment variables of integrations, which a start reads before it loads anything of these."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

OPENCODE_URL: Final = "DAPEER_OPENCODE_URL"
"""The address of an OpenCode server."""
OPENCODE_PASSWORD: Final = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 - its name
"""The password of an OpenCode server. OpenCode reads the same variable."""

SECRETS: Final = (OPENCODE_PASSWORD,)
"""They are taken out of the environment first of all."""
OF_SERVERS: Final = (OPENCODE_URL,)
"""With one of them, a server offers more than its own tools."""
