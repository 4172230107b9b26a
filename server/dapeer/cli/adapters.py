"""`dapeer adapters install`: gets debug adapters into folders of dapeer's, which outlive upgrades.

npm and PyPI tell the checksum of each file; what does not have it is not unpacked.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dapeer.adapters.choice.choice import require_definition
from dapeer.adapters.choice.detection import detect, way_to_get
from dapeer.adapters.definition.definition import Definition, load_all, shipped, user_folder
from dapeer.adapters.definition.sections import Install
from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.system import folder_names

# Unpacks archives that others have made, with the same checks on every Python.

_OWNER_READS_AND_WRITES: Final = stat.S_IRUSR | stat.S_IWUSR
_NOT_FOR_OTHERS: Final = 0o755
"""Group and others may not write, and nothing runs as somebody else."""
_MAY_RUN: Final = 0o111


def unpack(archive: Path, subfolder: str, folder: Path) -> bool:
    """Unpack what is below `subfolder` in a tar archive into `folder`; return whether anything is there.

    The paths in the archive are kept, so the files are in `folder/subfolder`. What Python's filter `data` rejects
    is rejected: names and links that lead out of `folder`, devices, named pipes. The user owns every file, and
    only they may write to it.

    Raises:
        TarError, EOFError, zlib.error: The archive is damaged, or holds such a thing; what came before such a
            thing is unpacked.
        OSError: The archive is not there, or a file cannot be written.
    """
    with tarfile.open(archive) as tar:
        members = [each for each in tar if each.name.removeprefix("./").startswith(f"{subfolder}/")]
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, members, filter="data")
        else:  # before Python 3.11.4
            folder.mkdir(parents=True, exist_ok=True)
            for each in members:
                tar.extract(check_and_restrict(each, folder), folder, set_attrs=not each.isdir())
        return bool(members)


def check_and_restrict(member: tarfile.TarInfo, folder: Path) -> tarfile.TarInfo:
    """Check that an archive's member may be unpacked into `folder`; change its mode and owner; return it.

    `member` itself is changed; nothing is unpacked. The current user becomes the owner, and the names of user and
    group are emptied. The mode of a file or a hard link is changed so that the owner may read and write, and
    nobody else may write; unless the owner may run the file, nobody may; setuid, setgid and sticky bits are
    removed. The modes of folders and symbolic links stay.

    Raises:
        TarError: Its name or its link leads out of the folder, or it is neither a file nor a folder nor a
            link.
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


MARK: Final = ".dapeer.json"
"""In a folder that dapeer has made, what it has put there; other folders it does not remove."""


BY_NPM: Final = "npm has compared the checksums of its registry"
"""It does so by itself, and fails where one differs."""


class InstallFailed(DapeerError):
    """An adapter could not be installed; nothing has changed."""


def install(names: Sequence[str], *, every: bool) -> int:
    """Install adapters into folders of dapeer's, print what was done, and return the exit code.

    `names` are ids of adapters; one that is ready already is installed anew if dapeer can get it. With `every`
    all missing ones that dapeer can get are installed instead, and `names` are only checked. It runs npm, uv or
    pip; an adapter that fails keeps what it had, and the others are still installed. The code is 1 if installing
    one of them has failed, or one is not ready afterwards, else 0.

    Raises:
        AdapterUnknown: There is no adapter of a name.
        ArgumentError: `names` is empty, and `every` is False.
        DefinitionError: A definition file is wrong, or two in one folder have the same id.
    """
    done = [
        _install_adapter(each)
        for each in _definitions_named(names, every=every)
        if not every or _gettable(each)
    ]
    return 0 if all(done) else 1


def uninstall(names: Sequence[str], *, every: bool) -> int:
    """Remove the folders of adapters that `install` has got, or with `every` all of them, and return 0.

    It prints what was removed, or why nothing was; with `every` it is silent on adapters that are not there.
    Links and folders that dapeer has not made stay. So do files that an adapter shares with another one, in
    whose folder they are, unless that is removed, too. `names` are ids, aliases, types or languages of
    adapters; with `every` they are only checked.

    Raises:
        AdapterUnknown: There is no adapter of a name.
        ArgumentError: No adapter is named, and `every` is False.
        OSError: A folder cannot be removed; adapters before it are gone.
    """
    for each in _definitions_named(names, every=every):
        folder = Path(folder_names.adapters()) / each.id
        shared = {way.into for way in each.install if way.into not in ("", each.id)}
        others = [name for name in shared if (folder.parent / name / MARK).is_file()]
        if folder.is_symlink():
            _say(f"{each.id}: {folder} is a link, so nothing was removed. Remove it yourself.")
        elif (folder / MARK).is_file():
            shutil.rmtree(folder)
            _say(f"{each.id}: removed {folder}")
        elif others and not every:
            _say(
                f"{each.id}: it shares the files of {others[0]}, so nothing was removed. Run: dapeer adapters uninstall {others[0]}"
            )
        elif not every:
            _say(f"{each.id}: `dapeer adapters install` has not got it, so nothing was removed.")
    return 0


def _definitions_named(names: Sequence[str], *, every: bool) -> list[Definition]:
    """Return the definitions of these adapters, each once; with `every` those of all.

    Raises:
        AdapterUnknown: There is no adapter of a name.
        ArgumentError: No adapter is named.
    """
    known = load_all(shipped(), user_folder())
    if not (names or every):
        raise ArgumentError("No adapter is named.", "Name some, or give --all.")
    meant = {each.id: each for each in (require_definition(known, name) for name in names)}
    return [*(known if every else meant).values()]


def _gettable(definition: Definition) -> bool:
    """Whether `--all` gets it: it is missing, and dapeer can get it."""
    found = detect(definition)
    return not found.ready and found.install_way is not None and bool(found.install_way.packages)


def _install_adapter(definition: Definition) -> bool:
    """Install one adapter, print how that went, and return whether it is ready.

    Nothing is installed if the adapter comes with dapeer or the system; in the latter case it may not be ready.
    Else its packages are downloaded, which blocks, and its folder is filled anew, also if it was ready. If
    installing fails, that is printed, what was there before is there again, and the result is False.
    """
    name, found = definition.id, detect(definition)
    way = way_to_get(definition) if found.ready else found.install_way
    if found.ready and (way is None or not way.packages):
        _say(f"{name}: ready. It comes with dapeer or your system, so nothing was installed.")
        return True
    if way is None or not way.packages:
        _say(
            f"{name}: it comes with your system. {f'Run: {found.install}' * bool(found.install)}".rstrip()
        )
        return False
    folder = Path(folder_names.adapters()) / (way.into or definition.id)
    _say(f"{name}: getting {', '.join(way.packages)} by {way.manager} …")
    try:
        verified = _reinstall(folder, way)
    # An archive that is cut off, or damaged.
    except (InstallFailed, OSError, ValueError, tarfile.TarError, EOFError, zlib.error) as error:
        _say(f"{name}: not installed, and nothing has changed: {error}")
        return False
    _say(f"{name}: {verified}; it is in {folder}")
    found = detect(definition)
    get = f". Run: {found.install}" * bool(found.install)
    _say(f"{name}: ready" if found.ready else f"{name}: {found.missing}{get}")
    return found.ready


def _reinstall(folder: Path, way: Install) -> str:
    """Fill a folder of dapeer's anew with an adapter, and return how it was verified.

    `way` is the definition's way to get the adapter. It is downloaded, which blocks. A file `MARK` in the
    folder then tells that the folder is dapeer's. A `folder` that does not exist is made, with those above.
    If anything fails, what was in the folder comes back.

    Raises:
        InstallFailed: The folder is there and is not dapeer's, a command fails, or the package manager is
            unknown.
        OSError: A file cannot be written, or a command not be started.
        TarError, EOFError, zlib.error: A downloaded archive is not usable.
    """
    if folder.exists() and not (folder / MARK).is_file():
        raise InstallFailed(f"{folder} is not dapeer's.", "Move it away first.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as aside:
        before = Path(aside) / "before"
        if folder.exists():
            folder.rename(before)
        try:
            verified = _install_into(folder, way, Path(aside))
            mark = {"packages": way.packages, "verified": verified}
            (folder / MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            if before.exists():
                before.rename(folder)
            raise
    return verified


def _install_into(folder: Path, way: Install, aside: Path) -> str:
    """Fill a new folder by the package manager of `way`, and return how it was verified.

    `aside` is a folder for temporary files.

    Raises:
        InstallFailed: A command fails, or the manager is unknown.
    """
    if way.manager == "pip":
        return _by_pip(folder, way.packages, aside)
    if way.manager != "npm":
        raise InstallFailed(f"Packages of {way.manager} are not known.")
    return _install_from_npm(folder, way, aside) if way.take else _by_npm(folder, way.packages)


def _by_pip(folder: Path, packages: Sequence[str], aside: Path) -> str:
    """Make a virtual environment in `folder` with packages of PyPI, and return how they were verified.

    `packages` are requirements as pip reads them. uv makes the environment if it is on PATH, else venv and
    pip do, with the Python that dapeer's own environment is based on, so upgrades of dapeer keep it. The
    result is a clause without a period, for a person. `aside` is an existing folder for temporary files,
    which are left there. It downloads, and blocks without a limit; after an error `folder` may be there in
    part.

    Raises:
        InstallFailed: A command fails.
        OSError: A temporary file cannot be written, or a command cannot be started.
    """
    base, python = getattr(sys, "_base_executable", sys.executable), folder / "bin" / "python"
    uv = shutil.which("uv")
    if uv is None:
        _run(base, "-m", "venv", folder)
        # pip compares with the checksums of the index by itself.
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        return "pip has compared the checksums of PyPI"
    required, locked = aside / "wanted.txt", aside / "locked.txt"
    required.write_text("\n".join(packages), encoding="utf-8")
    _run(uv, "venv", "--quiet", "--python", base, folder)
    lock = ("pip", "compile", "--quiet", "--generate-hashes", "--python", python)
    _run(uv, *lock, "--output-file", locked, required)
    _run(uv, "pip", "install", "--require-hashes", "--python", python, "-r", locked)
    return "uv has compared the checksums of PyPI"


def _by_npm(folder: Path, packages: Sequence[str]) -> str:
    """Install packages of npm with what they need into a new folder, and return how they were verified.

    Raises:
        InstallFailed: npm is missing or fails.
    """
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
    folder.mkdir()
    _run(_npm(), "install", *quiet, "--prefix", folder, *packages)
    return BY_NPM


def _install_from_npm(folder: Path, way: Install, aside: Path) -> str:
    """Download packages of npm, and move their folder `way.take` to `folder`; return how it was verified.

    `way.packages` are the packages; the folders of several are merged. Their scripts are not run. `folder` must
    not exist yet, but the folder around it must. `aside` is a folder for temporary files, which stay there for
    the caller to remove. It blocks.

    Raises:
        InstallFailed: npm is missing or fails, or a package has no such folder.
        TarError, EOFError, zlib.error: A downloaded archive is damaged, or holds something that is rejected.
        OSError: A file cannot be written, or the folder cannot be moved.
    """
    for package in way.packages:
        _run(_npm(), "pack", "--silent", "--ignore-scripts", "--pack-destination", aside, package)
    for archive in aside.glob("*.tgz"):
        if not unpack(archive, f"package/{way.take}", aside / "all"):
            raise InstallFailed(f"{archive.name} has no folder package/{way.take}.")
    (aside / "all" / "package" / way.take).rename(folder)
    return BY_NPM


def _npm() -> str:
    """Return the path of npm.

    Raises:
        InstallFailed: It is not on PATH.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise InstallFailed("npm was not found.", "Install Node.js, which brings it.")
    return npm


def _run(*command: str | Path) -> None:
    """Run a program, whose progress on stderr a person sees.

    Raises:
        InstallFailed: It fails.
    """
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        what = " ".join(map(str, [Path(command[0]).name, *command[1:3]]))
        raise InstallFailed(f"`{what} …` has failed with exit code {done.returncode}.")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
