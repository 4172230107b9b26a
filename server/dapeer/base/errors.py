"""Everything that dapeer reports as a failure.

All errors of dapeer, but for those of its integrations. Each is one sentence on what happened and one on what to do next.

    DapeerError
    ├── ArgumentError          the caller's arguments cannot be used
    ├── AdapterError
    │   ├── AdapterUnknown     no definition has this name, or fits this file
    │   ├── AdapterMissing     the definition is there, the adapter is not installed
    │   ├── AdapterFailed      the adapter did not start, or refused to launch or attach
    │   ├── AdapterRequestRejected  the adapter wants what is not its business
    │   └── DefinitionError    a definition file is wrong: which file, which key
    ├── ChannelError
    │   ├── ChannelClosed      the adapter is gone
    │   ├── ProtocolError      what it sends is no message any more
    │   ├── RequestFailed      the adapter answered `success: false`
    │   └── RequestTimeout     the adapter did not answer in time
    ├── NeovimError
    │   ├── NoNeovim           there is no such Neovim, or none is attached
    │   ├── NeovimBusy         it does not answer now: it waits for a key, or works
    │   ├── NeovimFailed       what it was asked to do failed there
    │   └── NeovimGone         it has ended
    ├── ForeignListener        another user of this machine is at the other end
    ├── SystemUnsupported      the system gives no descriptor, no room, no folder
    ├── RefusedByPerson        the person did not allow it
    ├── ToolTimeout            a tool was not done in time
    └── SessionError
        ├── NoSession          there is no such session
        ├── NotStopped         the program runs or has ended; there is nothing to look at
        ├── StaleReference     an id that belongs to an earlier stop
        └── Unsupported        the adapter does not offer this
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

MAX_ERROR_CHARS = 4_000
"""Characters of a sentence, which may repeat an argument or an adapter's message of any length."""


def _bounded(sentence: str) -> str:
    """Return `sentence`; a longer one than `MAX_ERROR_CHARS` has its middle replaced by how much was cut.

    Its first and last `MAX_ERROR_CHARS // 2` characters stay, with ` … (N characters) … ` between them, so the result is a little longer
    than the limit.
    """
    if len(sentence) <= MAX_ERROR_CHARS:
        return sentence
    half = MAX_ERROR_CHARS // 2
    return (
        f"{sentence[:half]} … ({len(sentence) - MAX_ERROR_CHARS} characters) … {sentence[-half:]}"
    )


class DapeerError(Exception):
    """What happened, and what to do next."""

    def __init__(self, problem: str, hint: str = "") -> None:
        """Set `problem` (what happened) and `hint` (what to do next), each shortened if it is very long."""
        super().__init__(problem, hint)
        self.problem = _bounded(problem)
        self.hint = _bounded(hint)

    def __str__(self) -> str:
        return f"{self.problem} {self.hint}".rstrip()

    def add_notes(self, notes: Iterable[str]) -> None:
        """Append the notes of the call in which the error happened to `hint`, each in parentheses."""
        self.hint = " ".join([self.hint, *(f"({note})" for note in notes)]).strip()


class ArgumentError(DapeerError):
    """The caller's arguments cannot be used; nothing has been changed."""


class AdapterError(DapeerError):
    """An error of a debug adapter or its definition."""


class AdapterUnknown(AdapterError):
    """No definition has this name, or fits this program."""


class AdapterMissing(AdapterError):
    """The adapter is not installed."""


class AdapterFailed(AdapterError):
    """The adapter did not start, or could not launch or attach."""


class AdapterRequestRejected(AdapterError):
    """An adapter's request was rejected: only an adapter that dapeer has started may send it."""


class DefinitionError(AdapterError):
    """A definition file is wrong."""


class SystemUnsupported(DapeerError):
    """The operating system lacks something that dapeer needs."""


_REMEDIES: Final[Mapping[int, str]] = MappingProxyType(
    {
        errno.EMFILE: "End unused sessions, or raise the limit (`ulimit -n`).",
        errno.ENFILE: "End unused programs.",
        errno.ENOSPC: "Make room there.",
        errno.EDQUOT: "Make room there.",
        errno.EROFS: "Name a writable place.",
        errno.ENOMEM: "End unused programs, or raise the limit (`ulimit -v`).",
        errno.EAGAIN: "End unused programs, or raise the limit (`ulimit -u`).",
    }
)


_NO_THREAD = "can't start new thread"
"""What Python says, without a number, where the system lets a user start nothing more."""
_NO_ROOM = ("failed to map segment", "cannot allocate memory")
"""What the system's loader says, where there is no memory for a library that Python imports."""


def system_error(error: BaseException) -> SystemUnsupported | None:
    """Return an error that says which resource the system lacks, and what helps; None for any other error.

    Resources are memory, threads or processes, file descriptors, room on a disk, and a file system that can be
    written. `error` may be an exception group with a single error. Nothing is raised here: the caller raises what
    is returned.
    """
    error = unwrap_group(error)
    if isinstance(error, MemoryError) or (
        isinstance(error, ImportError) and any(each in str(error).lower() for each in _NO_ROOM)
    ):
        return SystemUnsupported("There is too little memory.", _REMEDIES[errno.ENOMEM])
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return from_os_error(BlockingIOError(errno.EAGAIN, "There is no room for another thread"))
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        return from_os_error(error)
    return None


def from_os_error(error: OSError) -> SystemUnsupported:
    """Convert an `OSError` to dapeer's error: the system's text, the file's name, and a known remedy."""
    where = f": {error.filename}" if error.filename is not None else ""
    remedy = _REMEDIES.get(error.errno or 0, "")
    return SystemUnsupported(
        f"The operating system reports: {error.strerror or error}{where}.", remedy
    )


def unwrap_group(error: BaseException) -> BaseException:
    """Return the error inside of exception groups that hold only one; a group of several stays a group."""
    match error:
        case BaseExceptionGroup(exceptions=[BaseException() as inner]):
            return unwrap_group(inner)
        case _:
            return error


class ForeignListener(DapeerError):
    """Another user of this machine listens where one of our own programs should; nothing was sent."""


class ChannelError(DapeerError):
    """A request has no usable response."""


class ChannelClosed(ChannelError):
    """The adapter has closed its connection."""


class ProtocolError(ChannelError):
    """The adapter's stream is broken: the beginning of the next message cannot be found."""


class RequestFailed(ChannelError):
    """The adapter answered `success: false`."""

    def __init__(self, command: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.command = command
        self.message = message


class RequestTimeout(ChannelError):
    """The adapter did not answer in time."""

    def __init__(
        self,
        command: str,
        seconds: float,
        *,
        outcome: str = "",
        killed: bool = False,
        cancelled: bool = False,
        forced: bool = False,
        owed: Sequence[str] = (),
    ) -> None:
        """Explain a request that was not answered.

        Args:
            command: The request.
            seconds: How long its answer was waited for.
            outcome: What became of the session by that, as a part of a sentence.
            killed: The program was killed with its adapter.
            cancelled: The adapter was asked to break the request off, and has done so.
            forced: The adapter does not advertise the request.
            owed: Earlier requests that the adapter has not answered either.
        """
        hint = "The session continues, but the program may hang: try dap_pause, or end it with dap_terminate."
        if killed:
            hint = "dap_program_output shows what it printed; dap_run starts it again."
        elif cancelled:
            outcome = "so it was broken off, and what it had called in the program was not finished"
            hint = "The session is usable; a larger `timeout_ms` gives it more time."
        elif outcome:
            hint = "dap_run with its pid attaches to it again, if it runs."
        elif forced:
            hint = "The adapter does not advertise this request, and may hang now: end it with dap_terminate."
        elif owed:
            hint = (
                f"It has not answered `{owed[0]}` either: a value may take long to compute, or the program may block the "
                "debugger. Try again, or end it with dap_terminate."
            )
        super().__init__(
            f"The adapter did not answer `{command}` within {seconds:g} s"
            + (f", {outcome}." if outcome else "."),
            hint,
        )
        self.command = command


class NeovimError(DapeerError):
    """An error of the connection to a Neovim."""


class NoNeovim(NeovimError):
    """There is no such Neovim, or none is attached."""


class NeovimBusy(NeovimError):
    """It does not answer in time: it waits for a key, or it works."""


class NeovimFailed(NeovimError):
    """A request failed in Neovim."""


class NeovimGone(NeovimError):
    """It has ended, or hung up."""


class RefusedByPerson(DapeerError):
    """The person did not allow it."""


class ToolTimeout(DapeerError):
    """A tool was not done in time; nothing was killed."""


class SessionError(DapeerError):
    """The session is not in a state for this."""


class SourceChanged(SessionError):
    """The program has loaded another edition of a source file, so a line of now is another one there."""


class NoSession(SessionError):
    """There is no such session."""


class NotStopped(SessionError):
    """The program runs, or has ended."""


class StaleReference(SessionError):
    """An id that belongs to an earlier stop."""


class Unsupported(SessionError):
    """The adapter does not offer this."""
