"""What the sessions of one server share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dapeer.adapters.definition.definition import Definition
from dapeer.base.secrets.files import SecretFiles
from dapeer.collecting.row_files import RowFolders


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What the sessions of one server share, and the number of a new one."""

    number: int
    project: Path
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    """Of all adapters; they tell whose a source file is."""
    secret_files: SecretFiles = field(default_factory=SecretFiles)
    """Files whose text is not shown."""
    rows: RowFolders | None = None
    """Where programs write what they collect by themselves; None: nowhere."""
