"""Unpacks archives that others have made, with the same checks on every Python."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path
from typing import Final

_OWNER_READS_AND_WRITES: Final = stat.S_IRUSR | stat.S_IWUSR
_NOT_FOR_OTHERS: Final = 0o755
"""Group and others may not write, and nothing runs as somebody else."""
_MAY_RUN: Final = 0o111


def unpack(archive: Path, inside: str, folder: Path) -> bool:
    """Unpack the folder `inside` of a tar archive into `folder`; return whether the archive has it.

    The paths in the archive are kept, so the files are below `folder/inside`. What Python's filter `data` rejects is rejected:
    names and links that lead out of `folder`, devices, named pipes. The user owns every file, and only they may write to it.

    Raises:
        TarError: The archive cannot be read, or holds such a thing; what came before it is unpacked.
        OSError: A file cannot be written.
    """
    with tarfile.open(archive) as tar:
        members = [each for each in tar if each.name.startswith(f"{inside}/")]
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, members, filter="data")
        else:  # before Python 3.11.4
            folder.mkdir(parents=True, exist_ok=True)
            for each in members:
                tar.extract(check_and_restrict(each, folder), folder, set_attrs=not each.isdir())
        return bool(members)


def check_and_restrict(member: tarfile.TarInfo, folder: Path) -> tarfile.TarInfo:
    """Check that an archive's member may be unpacked into `folder`; change its mode and owner; return it.

    Others may not write to the file, and the current user owns it.

    Raises:
        TarError: Its name or its link leads out of the folder, or it is neither a file nor a folder nor a link.
    """
    if not (member.isreg() or member.isdir() or member.islnk() or member.issym()):
        raise tarfile.ExtractError(f"{member.name} is neither a file, a folder nor a link")
    _check_inside(member, folder, member.name)
    if member.issym():
        _check_inside(member, folder, str(Path(member.name).parent), member.linkname)
    elif member.islnk():
        _check_inside(member, folder, member.linkname)
    if member.isreg() or member.islnk():
        mode = member.mode & _NOT_FOR_OTHERS
        runs = mode & stat.S_IXUSR
        member.mode = (mode if runs else mode & ~_MAY_RUN) | _OWNER_READS_AND_WRITES
    member.uid, member.gid = os.getuid(), os.getgid()
    member.uname = member.gname = ""
    return member


def _check_inside(member: tarfile.TarInfo, folder: Path, *parts: str) -> None:
    """Check that a path in the archive stays in the folder, also by the links that are there.

    `parts` are joined to the path, relative to the folder.

    Raises:
        TarError: It leads out of the folder.
    """
    root = folder.resolve()
    goal = root.joinpath(*parts).resolve()
    if Path(parts[-1]).is_absolute() or not goal.is_relative_to(root):
        raise tarfile.ExtractError(f"{member.name} leads out of the folder")
