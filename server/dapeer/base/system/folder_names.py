"""Where the user's folders are, as text, how a private one is made, and where dapeer's files are.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def folder_of_variable(variable: str) -> str:
    """Return the absolute folder that an environment variable such as `XDG_CONFIG_HOME` names; "" if none.

    A relative path is ignored, as the XDG Base Directory Specification says.
    """
    folder = os.environ.get(variable, "")
    return folder if os.path.isabs(folder) else ""


def home() -> str:
    """Return the absolute path of the user's home folder.

    It is `$HOME` without slashes at its end, or the user database's where `$HOME` is missing, empty or relative;
    for a user whom that database lacks it is a folder `~` in the current one, which should not exist.
    """
    if os.path.isabs(os.environ.get("HOME", "")):
        return os.path.expanduser("~")
    import pwd  # noqa: PLC0415 - rarely needed

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.abspath("~")


def settings() -> str:
    """Return the folder of the user's settings of all programs (`$XDG_CONFIG_HOME`); it need not exist."""
    return folder_of_variable("XDG_CONFIG_HOME") or os.path.join(home(), ".config")


def data() -> str:
    """Return the folder of the user's data of all programs (`$XDG_DATA_HOME`); it need not exist."""
    return folder_of_variable("XDG_DATA_HOME") or os.path.join(home(), ".local/share")


def cache() -> str:
    """Return dapeer's cache folder, for what dapeer can make again; it need not exist."""
    return os.path.join(
        folder_of_variable("XDG_CACHE_HOME") or os.path.join(home(), ".cache"), "dapeer"
    )


def configuration() -> str:
    """Return the folder of the user's settings for dapeer; it need not exist."""
    return os.path.join(settings(), "dapeer")


def adapters() -> str:
    """Return the folder of the debug adapters that `dapeer adapters install` gets; it need not exist."""
    return os.path.join(data(), "dapeer", "adapters")


def state() -> str:
    """Return the user's folder for what dapeer keeps beyond the end of a process; it need not exist."""
    return os.path.join(
        folder_of_variable("XDG_STATE_HOME") or os.path.join(home(), ".local/state"), "dapeer"
    )


def session() -> str | None:
    """Return the folder of the user's login session, such as `$XDG_RUNTIME_DIR`; None without one."""
    usual = f"/run/user/{os.getuid()}"
    return folder_of_variable("XDG_RUNTIME_DIR") or (usual if os.path.isdir(usual) else None)


def runtime() -> str:
    """Return the user's folder for what ends with a process: sockets and announcements; it need not exist."""
    base = session()
    return os.path.join(base, "dapeer") if base else state()


def make_private(folder: Path) -> Path:
    """Make a folder, with its parents, that only its owner can enter, and return it; it may exist.

    Raises:
        OSError: It cannot be made, or another user owns it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def shipped_folder(packed: str, place: str) -> Path:
    """Return the folder of files that dapeer brings along: in the installed package, else in the checkout.

    Args:
        packed: The folder's name in the package of a wheel; `pyproject.toml` puts it there.
        place: Where the folder is in the checkout.
    """
    from pathlib import Path  # noqa: PLC0415 - slow to import

    package = Path(__file__).parents[2]
    folder = package / packed
    return folder if folder.is_dir() else package.parents[1] / place
