"""The relay plugin in a person's OpenCode: put there, and taken away.

It is put into OpenCode's own configuration folder, so no project changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dapeer.base.errors import ArgumentError
from dapeer.base.system import folder_names

SOURCE: Final = Path(__file__).with_name("relay.js")
FIRST_LINE: Final = "// dapeer's relay."
"""With this the file begins, in every version."""


def plugin_path() -> Path:
    """Return the path at which the plugin is, or would be."""
    return Path(folder_names.settings()) / "opencode" / "plugin" / "dapeer-relay.js"


def install() -> str:
    """Write the plugin's file into OpenCode's configuration folder; return in a sentence what was done.

    Raises:
        ArgumentError: There is a file that is not dapeer's, or the plugin cannot be written.
    """
    path, ours = plugin_path(), SOURCE.read_text(encoding="utf-8")
    there = _read(path)
    if there == ours:
        return f"The relay plugin is in {path} already; an OpenCode that was started before it must be restarted."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ours, encoding="utf-8")
    except OSError as error:
        raise _failed("write", path, error) from error
    done = "installed" if there is None else "brought up to date"
    return f"The relay plugin was {done} in {path}; restart OpenCode, which loads plugins when it starts."


def remove() -> str:
    """Delete the plugin's file; return in a sentence what was done.

    Raises:
        ArgumentError: There is a file that is not dapeer's, or the plugin cannot be deleted.
    """
    path = plugin_path()
    if _read(path) is None:
        return f"The relay plugin is not installed: there is no {path}."
    try:
        path.unlink()
    except OSError as error:
        raise _failed("remove", path, error) from error
    return f"The relay plugin was removed from {path}; restart OpenCode, which still has it loaded."


def _read(path: Path) -> str | None:
    """Return the text of the plugin's file; None: there is no file.

    Raises:
        ArgumentError: The file is not dapeer's, or cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed("read", path, error) from error
    if not text.startswith(FIRST_LINE):
        raise ArgumentError(
            f"{path} is not a file of dapeer's, so it was left alone.", "Move it away first."
        )
    return text


def _failed(what: str, path: Path, error: OSError) -> ArgumentError:
    return ArgumentError(
        f"Cannot {what} {path}: {error.strerror}.", "Fix the cause, and try again."
    )
