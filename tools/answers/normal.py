"""What differs from run to run, made the same. Pure."""

import re
from collections.abc import Callable

PROJECT = "/home/ada/project"
ADDRESS = re.compile(r"0x[0-9a-f]{8,}")
CUT_ADDRESS = re.compile(r"0x[0-9a-f]*(?=…)")
IN_A_FOLDER = re.compile(r"(\w+/\S+\.py):\d+")
VERSION = re.compile(r"\d+\.\d+\.\d+")


def normal(text: str, project: str) -> str:
    """Return the text as it is on every run: the project's folder and addresses have fixed names of their length.

    >>> normal("at 0x7fc84a6256d0, at 0x7fc84a625610, at 0x7fc84a6256d0, at 0x7fc… in /srv/x", "/srv/x")
    'at 0x700000000010, at 0x700000000020, at 0x700000000010, at 0x700… in /home/ada/project'
    """
    text = ADDRESS.sub(_numbered(), text.replace(project, PROJECT))
    return CUT_ADDRESS.sub(lambda found: "0x7".ljust(len(found[0]), "0")[: len(found[0])], text)


def _numbered() -> Callable[[re.Match[str]], str]:
    """Return what names each address by the order in which it comes."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        address = found[0]
        names.setdefault(address, f"0x7{16 * (len(names) + 1):0{len(address) - 3}x}")
        return names[address]

    return name


def blurred(text: str) -> str:
    """Return a text without what depends on the machine: versions, and lines of files in folders, as libraries are.

    >>> blurred("Python 3.11.7, main fetch.py:43, run asyncio/runners.py:118")
    'Python N, main fetch.py:43, run asyncio/runners.py:N'
    """
    return IN_A_FOLDER.sub(r"\1:N", VERSION.sub("N", text))
