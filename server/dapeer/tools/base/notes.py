"""Notes that an answer adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dapeer.base.text.lines import continued, escaped
from dapeer.sessions.core.session import Session
from dapeer.tools.base.call import Call, Reply


def noted(reply: Reply, notes: Sequence[str]) -> Reply:
    """Return a reply with these notes, a line each."""
    if not notes:
        return reply
    # A reply that shows a text as it is has nothing else of others.
    notes = [escaped(note) for note in notes]
    data = dict(reply.data or {})
    data["notes"] = [*data.get("notes", ()), *notes]
    return replace(
        reply, text="\n".join([reply.text, *(continued(f"({note})") for note in notes)]), facts=data
    )


def located(call: Call, session: Session) -> list[str]:
    """Return in which of several Neovims a session runs, as notes."""
    peer = call.peers.of(session)
    return [f"it runs in Neovim {peer.id} (pid {peer.pid}, in {peer.cwd})"] if peer else []
