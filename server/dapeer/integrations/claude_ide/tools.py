"""The tools that Claude Code calls of an IDE: their schemas, and their calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import mcp.types as t
from mcp.shared.exceptions import MCPError

from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.json_types import Json
from dapeer.integrations.claude_ide.editor import Editor

_TEXT: Final = {"type": "string"}
_FILE: Final = {"type": "object", "properties": {"filePath": _TEXT}, "required": ["filePath"]}
_NOTHING: Final[Json] = {"type": "object", "properties": {}}

Method = Callable[[Editor, Json], Awaitable[list[str]]]

TOOLS: Final[dict[str, tuple[Method, str, Json]]] = {
    "openDiff": (
        Editor.open_diff,
        "Show a proposed text of a file in Neovim, and wait for the person's decision",
        {
            "type": "object",
            "properties": {
                "old_file_path": _TEXT,
                "new_file_path": _TEXT,
                "new_file_contents": _TEXT,
                "tab_name": _TEXT,
            },
            "required": ["new_file_path", "new_file_contents"],
        },
    ),
    "close_tab": (
        Editor.close_tab,
        "Close a diff",
        {"type": "object", "properties": {"tab_name": _TEXT}, "required": ["tab_name"]},
    ),
    "closeAllDiffTabs": (Editor.close_all_diff_tabs, "Close all diffs", _NOTHING),
    "openFile": (
        Editor.open_file,
        "Show a file in Neovim",
        {
            "type": "object",
            "properties": {
                "filePath": _TEXT,
                "startText": _TEXT,
                "endText": _TEXT,
                "makeFrontmost": {"type": "boolean"},
            },
            "required": ["filePath"],
        },
    ),
    "getDiagnostics": (
        Editor.get_diagnostics,
        "List errors and warnings that Neovim has of a file, or of all files",
        {"type": "object", "properties": {"uri": _TEXT}},
    ),
    "getCurrentSelection": (Editor.get_current_selection, "What is selected", _NOTHING),
    "getLatestSelection": (Editor.get_latest_selection, "What was selected last", _NOTHING),
    "getOpenEditors": (Editor.get_open_editors, "List the open files", _NOTHING),
    "getWorkspaceFolders": (Editor.get_workspace_folders, "Neovim's directory", _NOTHING),
    "checkDocumentDirty": (Editor.check_document_dirty, "Unsaved changes?", _FILE),
    "saveDocument": (Editor.save_document, "Save a file", _FILE),
}
"""By the name that Claude Code calls. Its model sees `getDiagnostics` alone."""


def listed() -> t.ListToolsResult:
    """Return the list of the tools of `TOOLS`, in MCP's form."""
    return t.ListToolsResult(
        tools=[
            t.Tool(name=name, description=description, input_schema=dict(schema))
            for name, (_, description, schema) in TOOLS.items()
        ]
    )


async def call_editor_tool(editor: Editor, name: str, arguments: Json) -> t.CallToolResult:
    """Run a tool of `TOOLS` on an editor, and return its texts as a result.

    An error of Neovim's is a failed result.

    Raises:
        MCPError: There is no such tool, or an argument is missing or wrong.
    """
    if name not in TOOLS:
        raise MCPError(t.INVALID_PARAMS, f"There is no tool {name}.")
    method, _, schema = TOOLS[name]
    missing = [one for one in schema.get("required", ()) if arguments.get(one) is None]
    if missing:
        raise MCPError(t.INVALID_PARAMS, f"{name} needs `{missing[0]}`.")
    try:
        return _result(await method(editor, arguments))
    except ArgumentError as error:
        raise MCPError(t.INVALID_PARAMS, str(error)) from error
    except DapeerError as error:
        return _result([str(error)], failed=True)


def _result(texts: Sequence[str], *, failed: bool = False) -> t.CallToolResult:
    """Return texts as the result of a tool's call."""
    return t.CallToolResult(
        content=[t.TextContent(type="text", text=text) for text in texts], is_error=failed
    )
