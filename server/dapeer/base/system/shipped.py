"""Where the files that dapeer brings along are: inside the package of a wheel, else in the checkout."""

from __future__ import annotations

from pathlib import Path


def shipped_folder(packed: str, place: str) -> Path:
    """Return the folder of files that dapeer brings along: in the installed package, else in the checkout.

    Args:
        packed: The folder's name in the package of a wheel; `pyproject.toml` puts it there.
        place: Where the folder is in the checkout.
    """
    package = Path(__file__).parents[2]
    folder = package / packed
    return folder if folder.is_dir() else package.parents[1] / place
