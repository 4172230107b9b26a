"""What Claude Code asks of an IDE, by the tools that the person's Neovim has."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from dapeer.base.errors import DapeerError
from dapeer.base.json_types import Json
from dapeer.tools.base.call import Reply

SECONDS_FOR_DIAGNOSTICS: Final = 0.35
"""Claude Code waits 0.5 s, and asks no more after three late answers."""

Run = Callable[[str, Json], Awaitable[Reply]]
"""Runs a tool of Neovim's by its name there."""

SEVERITIES: Final = {"error": "Error", "warn": "Warning", "info": "Info", "hint": "Hint"}


@dataclass(slots=True)
class Editor:
    """One Neovim, as Claude Code sees it.

    Args:
        run: Runs one of its tools.
        cwd: Returns its working directory.
    """

    run: Run
    cwd: Callable[[], str]
    selection: Json | None = None
    """What was selected last, as Neovim has told it."""
    _diagnostics: dict[str | None, str] = field(default_factory=dict[str | None, str])
    """The last answer for each file that was asked for."""

    def select(self, selection: Json | None) -> None:
        """Keep what the person has selected in Neovim, as a notification has it; None: nothing is known."""
        self.selection = selection

    async def open_diff(self, arguments: Json) -> list[str]:
        """Show a proposed text of a file as a diff in Neovim; return once the person has decided.

        `arguments` are those of Claude Code's `openDiff`. The result has two texts: `FILE_SAVED` and what Claude Code is to write, or
        `DIFF_REJECTED` and the name of the tab. Without the second one Claude Code would ask again by itself. `TAB_CLOSED` is never said:
        it would take that for a yes. There is no timeout.

        Raises:
            DapeerError: Neovim's tool has failed.
        """
        reply = await self.run("open_diff", arguments)
        texts = [str(block.get("text", "")) for block in reply.content or ()]
        return texts[:2] or [reply.text]

    async def close_tab(self, arguments: Json) -> list[str]:
        """Close the diff with this `tab_name`; one that nobody has decided counts as rejected."""
        return [(await self.run("close_tab", arguments)).text]

    async def close_all_diff_tabs(self, _: Json) -> list[str]:
        """Close all diffs that this client has opened; the argument is ignored."""
        return [(await self.run("close_all_diff_tabs", {})).text]

    async def open_file(self, arguments: Json) -> list[str]:
        """Show the file `filePath` in Neovim, with the text `startText` in it marked, if there is one.

        Neovim's window gets the focus unless `makeFrontmost` is False. Return the text of Neovim's answer, in a list.

        Raises:
            DapeerError: Neovim cannot show it, or the person does not allow it.
        """
        request: dict[str, Any] = {"filename": arguments["filePath"]}
        if text := arguments.get("startText"):
            request["text"] = text
        if arguments.get("makeFrontmost", True):
            request["focus"] = True
        return [(await self.run("open_file", request)).text]

    async def get_diagnostics(self, arguments: Json) -> list[str]:
        """Return as JSON the diagnostics of the file at `uri`, or of all files without one.

        The result is a list of one text. The JSON is a list of objects with `uri` and `diagnostics`, as VS Code's extension gives them. If
        Neovim fails, or does not answer within `SECONDS_FOR_DIAGNOSTICS`, its last answer to the same question is returned, or an empty
        list.
        """
        uri = arguments.get("uri")
        request: Json = {"filename": _path(str(uri))} if uri else {"workspace": True}
        with anyio.move_on_after(SECONDS_FOR_DIAGNOSTICS):
            try:
                reply = await self.run("diagnostics_list", request)
            except DapeerError:
                return [self._diagnostics.get(uri, "[]")]
            self._diagnostics[uri] = json.dumps(_by_file(reply.data or {}))
        return [self._diagnostics.get(uri, "[]")]

    async def get_current_selection(self, _: Json) -> list[str]:
        """Return as JSON what is selected in Neovim now."""
        return [json.dumps((await self.run("get_selection", {})).data)]

    async def get_latest_selection(self, _: Json) -> list[str]:
        """Return as JSON what was selected last, from memory: what Neovim has notified, with `success` true.

        If nothing is known, `success` is false and alone. The result is a list of one text.
        """
        known = {"success": True, **self.selection} if self.selection else {"success": False}
        return [json.dumps(known)]

    async def get_open_editors(self, _: Json) -> list[str]:
        """Return as JSON the files that are open in Neovim."""
        return [json.dumps((await self.run("get_open_editors", {})).data)]

    async def get_workspace_folders(self, _: Json) -> list[str]:
        """Return as JSON the working directory of this Neovim, the only folder of the workspace."""
        folder = Path(self.cwd())
        known = [{"name": folder.name, "uri": folder.as_uri(), "path": str(folder)}]
        return [json.dumps({"success": True, "folders": known, "rootPath": str(folder)})]

    async def check_document_dirty(self, arguments: Json) -> list[str]:
        """Return as JSON whether the file `filePath` has unsaved changes in Neovim."""
        return [await self._of_file("check_document_dirty", arguments)]

    async def save_document(self, arguments: Json) -> list[str]:
        """Have Neovim write the unsaved changes of the file `filePath`; return its answer as JSON."""
        return [await self._of_file("save_document", arguments)]

    async def _of_file(self, name: str, arguments: Json) -> str:
        """Run a tool of Neovim on the file `filePath`, and return its data as JSON."""
        reply = await self.run(name, {"filename": arguments["filePath"]})
        return json.dumps(reply.data)


def _path(uri: str) -> str:
    return uri.removeprefix("file://")


def _by_file(data: Json) -> list[Json]:
    """Return the diagnostics of Neovim's tool as VS Code's extension gives them: one entry a file.

    An entry has `uri` and `diagnostics`, those of `_diagnostic`. `data` has the key `diagnostics`, a list; without it the result is empty.
    """
    files: dict[str, list[Json]] = {}
    for one in data.get("diagnostics", ()):
        files.setdefault(str(one.get("path", "")), []).append(_diagnostic(one))
    return [{"uri": f"file://{path}", "diagnostics": found} for path, found in files.items()]


def _diagnostic(diagnostic: Mapping[str, Any]) -> Json:
    """Return a diagnostic of Neovim's tool in VS Code's form.

    Positions are 1-based in `diagnostic`, and 0-based in the result. Where `diagnostic` has no end, the range has one character. The keys
    are `message`, `severity` (a word, `Error` where Neovim's is unknown), `range`, `source`, and `code`, a text, if there is one.
    """
    line, column = int(diagnostic["line"]) - 1, int(diagnostic.get("column") or 1) - 1
    end = {
        "line": int(diagnostic.get("end_line") or line + 1) - 1,
        "character": int(diagnostic.get("end_column") or column + 1) - 1,
    }
    return {
        "message": diagnostic.get("message", ""),
        "severity": SEVERITIES.get(str(diagnostic.get("severity")), "Error"),
        "range": {"start": {"line": line, "character": column}, "end": end},
        "source": diagnostic.get("source", ""),
        **({"code": str(diagnostic["code"])} if diagnostic.get("code") else {}),
    }
