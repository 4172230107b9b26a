"""Attached Neovims, and the people who use them: sessions, breakpoints, starts and consent."""

from dapeer.peers.consent import Action
from dapeer.peers.lua_tool import OTHERS, LuaTool, read_tools
from dapeer.peers.lua_tools import ProgressCallback
from dapeer.peers.peer import Peer
from dapeer.peers.peers import ConnectedClients, Peers
from dapeer.peers.shared_breakpoints import unsaved_changes_error

__all__ = [
    "OTHERS",
    "Action",
    "ConnectedClients",
    "LuaTool",
    "Peer",
    "Peers",
    "ProgressCallback",
    "read_tools",
    "unsaved_changes_error",
]
