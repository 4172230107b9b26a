"""Merges dapeer's breakpoints and exception filters with those of a Neovim, and keeps both in step."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import anyio

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import as_object, is_array
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.neovim.client import Neovim
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.forwarded import ForwardedSession
from dapeer.sessions.doings import PERSON

log = logging.getLogger(__name__)

APPLY = "require('dapeer.nvim_dap.breakpoints').apply(...)"
CHOOSE = "require('dapeer.nvim_dap.exceptions').take(...)"

Picture = dict[str, dict[int, RequestedBreakpoint]]
"""By path and line."""


def unsaved_changes_error(path: str) -> ArgumentError:
    """Return the error that no breakpoint is set in a file, as its buffer has unsaved changes."""
    return ArgumentError(
        f"{Path(path).name} has unsaved changes in Neovim, so its lines there differ from those on disk; nothing was set.",
        "Save it (nvim_save_document), or ask the person to.",
    )


class SharedBreakpoints:
    """Keeps dapeer's breakpoints and the signs of one Neovim equal, whichever changes.

    Each side tells the other what has changed, never what it has: so nobody erases what the other
    has set a moment ago. The Neovim sends its whole picture; what has changed is what differs from
    its picture before. Where it does not know yet what was done here, what was done here counts.
    """

    def __init__(
        self,
        breakpoints: Breakpoints,
        neovim: Neovim,
        names: dict[str, str],
        sessions: Mapping[int, ForwardedSession],
    ) -> None:
        """Begin to send dapeer's changes of breakpoints to `neovim`; `join` unites those that exist.

        `names` are the paths of files here, by Neovim's paths; it gets an entry for each file that is sent. `sessions` are
        those of this Neovim, by nvim-dap's number.
        """
        self.signs: dict[str, dict[int, int]] = {}
        """By path and line on disk: the line of the sign in a buffer with unsaved changes."""
        self._sessions = sessions
        self._breakpoints = breakpoints
        self._neovim = neovim
        self._known_signs: Picture = {}
        self._change_number = 0
        self._unapplied_changes: dict[tuple[str, int], int] = {}
        """By path and line: the number of dapeer's latest change there, until Neovim has applied it."""
        self._names = names
        self._picture_event = anyio.Event()
        """Replaced with each picture."""
        self._refused_places: set[tuple[str, int]] = set()
        """Path and line of breakpoints that Neovim has rejected, because the file has unsaved changes."""
        self._is_listening = True
        breakpoints.listeners.append(self._send_breakpoint_change)

    def close(self) -> None:
        """Stop sending changes to Neovim, and waiting for it; both sides keep the breakpoints that they have."""
        self._breakpoints.listeners.remove(self._send_breakpoint_change)
        self._unapplied_changes.clear()
        self._wake_waiters()

    async def wait_until_applied(self, seconds: float) -> None:
        """Wait until Neovim has applied or refused all changes that were sent, but at most `seconds`."""
        with anyio.move_on_after(seconds):
            while self._unapplied_changes:
                await self._picture_event.wait()

    def join(self, signs: object) -> list[str]:
        """Unite the breakpoints of both sides; return the sorted paths of files with changes in dapeer.

        `signs` is what Neovim has sent: lists of breakpoints by path. Breakpoints that only Neovim has are set here, as
        the person's; those that only dapeer has are sent to Neovim, without a wait for its answer. On a line that both
        have, the person's stays. The caller has to send the breakpoints of the returned files to the adapters.

        Raises:
            LookupError, TypeError, AttributeError: `signs` is an object, but not of lists of breakpoints with a `line`
                each.
        """
        picture = self._read_signs(signs)
        for path, lines in self._breakpoints.by_path.items():
            for line in lines.keys() - picture.get(path, {}).keys():
                self._send_breakpoint_change(
                    path, line, self._breakpoints.breakpoint_for_sign(path, line)
                )
        with self._breakpoints.doings.acting_as(None):
            return self._apply_sign_changes(signs, 0)

    def record_unapplied(self, number: int, unsaved: str = "") -> None:
        """Record that Neovim has not applied changes of dapeer, so that nobody waits for them.

        `number` is that of a change. With `unsaved`, the path of a file with unsaved changes, Neovim has refused this
        one change for that reason, and its places are kept as refused. Without `unsaved`, nvim-dap is not loaded, so no
        change up to this one was applied, and the breakpoints that Neovim was known to have at their places are
        forgotten. Those who wait for changes are woken in any case; with `unsaved`, an unknown number changes
        nothing else.
        """
        if unsaved:
            places = {place for place, sent in self._unapplied_changes.items() if sent == number}
            self._refused_places |= places
            self._unapplied_changes = {
                p: sent for p, sent in self._unapplied_changes.items() if p not in places
            }
            self._wake_waiters()
            return
        for (path, line), sent in list(self._unapplied_changes.items()):
            if sent <= number:
                del self._unapplied_changes[path, line]
                self._known_signs.get(path, {}).pop(line, None)
        self._wake_waiters()

    def take_refusal(self, place: tuple[str, int]) -> bool:
        """Return whether Neovim has refused dapeer's last breakpoint at a place, and forget that it has.

        `place` is path and line. It refuses where the file has unsaved changes. False also stands for no answer yet.
        """
        refused = place in self._refused_places
        self._refused_places.discard(place)
        return refused

    def apply_signs(self, signs: object, applied: int) -> list[str]:
        """Apply the person's changes to dapeer's breakpoints; return the files that changed here, sorted.

        `signs` is Neovim's whole set, which is compared with the last one. `applied` is the number of dapeer's latest change
        that it contains; where later ones were made, dapeer's breakpoints count.
        """
        with self._breakpoints.doings.acting_as(PERSON):
            return self._apply_sign_changes(signs, applied)

    def _apply_sign_changes(self, signs: object, applied: int) -> list[str]:
        """Apply what differs between Neovim's signs and those that it has sent before to dapeer's breakpoints.

        Return the paths of the files that changed, sorted. While that is done, changes are not sent back to Neovim. `applied` is the
        number of dapeer's last change that Neovim had applied when it sent `signs`: later changes of dapeer's count as if `signs` had
        them. Those in `wait_until_applied` are woken. `signs` is read as by `_read_signs`, which replaces `self.signs`.

        Raises:
            LookupError, TypeError, AttributeError: `signs` does not have lists of breakpoints with a `line` by path. One that is no object
                counts as empty.
        """
        before, now = self._known_signs, self._read_signs(signs)
        self._unapplied_changes = {
            place: sent for place, sent in self._unapplied_changes.items() if sent > applied
        }
        for path, line in self._unapplied_changes:
            requested = self._breakpoints.breakpoint_for_sign(path, line)
            lines = now.setdefault(path, {})
            lines.pop(line, None)
            if requested is not None:
                lines[line] = requested
        self._known_signs = now
        self._wake_waiters()
        changed: set[str] = set()
        self._is_listening = False
        try:
            for path in before.keys() | now.keys():
                if self._apply_file_changes(path, before.get(path, {}), now.get(path, {})):
                    changed.add(path)
        finally:
            self._is_listening = True
        return sorted(changed)

    def _wake_waiters(self) -> None:
        """Wake those who wait in `wait_until_applied`."""
        self._picture_event.set()
        self._picture_event = anyio.Event()

    def _apply_file_changes(
        self,
        path: str,
        before: Mapping[int, RequestedBreakpoint],
        now: Mapping[int, RequestedBreakpoint],
    ) -> bool:
        """Apply the differences of a file's signs to dapeer's breakpoints; return whether these changed.

        `before` and `now` have the signs of the file `path` by line. Where a sign is gone, all breakpoints of the line
        that stop or log are removed. A new or changed sign replaces all of them by one, which is recorded as the
        person's; a sign that already stands for what dapeer has on the line changes nothing. Nothing is sent to an
        adapter.
        """
        changed = False
        for line in before.keys() - now.keys():
            changed |= bool(self._breakpoints.remove(path, line))
        for line, requested in now.items():
            if requested not in (
                before.get(line),
                self._breakpoints.breakpoint_for_sign(path, line),
            ):
                self._breakpoints.replace_line(path, requested)
                changed = True
        return changed

    def _send_breakpoint_change(
        self, path: str, line: int, requested: RequestedBreakpoint | None
    ) -> None:
        """Send Neovim the change of one breakpoint of dapeer's, unless the change has come from there.

        `requested` is the breakpoint that stands at `path` and `line`, which becomes a sign there; None: the last one
        was removed. The change gets a number, by which Neovim reports it as applied or not; until then, or `close`,
        it counts as unapplied. An earlier rejection of this place by Neovim
        is forgotten. The answer is not awaited.
        """
        if not self._is_listening:
            return
        self._change_number += 1
        self._unapplied_changes[path, line] = self._change_number
        self._names[_path_in_neovim(path)] = path
        self._refused_places.discard((path, line))
        change: dict[str, Any] = {"path": path, "line": line, "edited": self._is_edited(path)}
        if requested is not None:
            change["breakpoint"] = dict(requested)
        self._neovim.send(APPLY, [change], self._neovim.channel, self._change_number)

    def _is_edited(self, path: str) -> bool:
        """Return whether a program that runs in this Neovim has an older text of a file than is on disk now.

        `path` is the file. Only changes that a session of this Neovim has noticed by now count, and only those for which
        it still has the older text.
        """
        return any(
            (change := each.inspect.source_versions.known_change(path)) is not None
            and change.old_lines is not None
            for each in self._sessions.values()
            if not each.mirror.has_ended
        )

    def _read_signs(self, signs: object) -> Picture:
        """Return the breakpoints that Lua has sent, by path here and line; replace `self.signs`.

        `signs` is an object of lists of breakpoints by the path that Neovim uses; if it is none, such as the
        list that an empty Lua table may arrive as, it counts as empty. Of several breakpoints of a line the
        last one counts. The breakpoints in the result are copies without their key `sign`. Where a breakpoint
        has that key, its sign in the buffer is on another line than on disk: `self.signs` gets the sign's line
        by path and line on disk.

        Raises:
            LookupError, TypeError, AttributeError: An entry has a wrong shape; `self.signs` then has no
                file after the one with that entry.
        """
        files = as_object(signs)
        picture: Picture = {}
        self.signs = {}
        for there, lines in files.items():
            path = self._names.get(there, there)
            # `signs` may be read again.
            copied: Any = [{**each} for each in lines]
            self.signs[path] = {each["line"]: each.pop("sign") for each in copied if "sign" in each}
            picture[path] = {each["line"]: each for each in copied}
        return picture


class SharedFilters:
    """Keeps dapeer's exception filters and those of one Neovim equal, whoever has chosen them last."""

    def __init__(self, breakpoints: Breakpoints, neovim: Neovim) -> None:
        self._breakpoints = breakpoints
        self._neovim = neovim
        self._is_listening = True
        breakpoints.filter_listeners.append(self._on_filters)

    def close(self) -> None:
        """Stop sending the choice to Neovim; both sides keep what they have."""
        self._breakpoints.filter_listeners.remove(self._on_filters)

    def choose_common_filters(self, sent: object) -> object:
        """Return the exception filters for `apply_choice` that both sides get; None: neither has chosen any.

        `sent` is what the person has chosen, or None; their choice comes first. Without it, the filters that were chosen here are sent to
        Neovim. dapeer's own filters are not changed.
        """
        if sent is None and self._breakpoints.exceptions is not None:
            self._on_filters(self._breakpoints.exceptions)
        return self._breakpoints.exceptions if sent is None else sent

    def apply_choice(self, sent: object) -> list[str] | None:
        """Set dapeer's exception filters to what the person has chosen; they count for programs that start.

        Return them if they are to be sent to running programs: None if nothing changed. `sent` is a list of texts, or
        an empty dict, which counts as an empty list; anything else but None changes nothing, and is logged. If it is
        None, for each adapter's own defaults, the result is None, too: running programs keep their filters. Once
        attached, a Neovim sends None only when a program starts for which nvim-dap has no filters but the defaults, and
        nvim-dap sends those to no other program.
        """
        # Lua's empty table may arrive as an object.
        given: object = [] if sent == {} else sent
        filters: list[str] | None = None
        if _is_list_of_texts(given):
            filters = given
        elif given is not None:
            log.warning("Neovim sent exception filters that are no list of texts: %.200r", sent)
            return None
        before = self._breakpoints.exceptions
        self._is_listening = False
        try:
            self._breakpoints.set_exception_filters(filters)
        finally:
            self._is_listening = True
        return filters if filters != before else None

    def show(self) -> None:
        """Send Neovim the exception filters that are chosen now."""
        self._neovim.send(CHOOSE, self._breakpoints.exceptions)

    def _on_filters(self, filters: list[str] | None) -> None:
        """Send Neovim a new choice of exception filters, unless it has come from there."""
        if self._is_listening:
            self._neovim.send(CHOOSE, filters)


def _is_list_of_texts(value: object) -> TypeGuard[list[str]]:
    return is_array(value) and all(isinstance(each, str) for each in value)


def _path_in_neovim(path: str) -> str:
    """Return Neovim's name of a file: it resolves links in the file's folder, but not the file itself."""
    return str(Path(path).parent.resolve() / Path(path).name)
