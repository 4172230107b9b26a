"""The file that holds the token: nobody but its owner may know or choose what is in it."""

import os
from pathlib import Path

import pytest

from dapeer.base.errors import ArgumentError
from dapeer.mcp.transports import http_access

NOBODY = 65534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("a-token-of-a-test\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def test_a_token_that_is_its_owners_alone_is_used(file: Path) -> None:
    assert http_access.read_or_create_token(file) == "a-token-of-a-test"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o602, 0o666])
def test_a_token_that_others_can_read_or_change_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(
        ArgumentError, match=r"Other users can read or change the token file .* `chmod 600`"
    ):
        http_access.read_or_create_token(file)


@pytest.mark.skipif(os.getuid() != 0, reason="needs a file of another user: run as root")
def test_a_token_of_another_user_is_refused(file: Path) -> None:
    os.chown(file, NOBODY, NOBODY)
    with pytest.raises(ArgumentError, match="another user owns it"):
        http_access.read_or_create_token(file)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, Path("/dev/zero")):
        with pytest.raises(
            ArgumentError, match=r"Cannot use the token file .*: it is not a regular file"
        ):
            http_access.read_or_create_token(path)


def test_what_is_long_or_no_text_is_no_token(file: Path) -> None:
    for content in (b"x" * (1 << 20) + b" y", b"\xff" * 20):
        file.write_bytes(content)
        with pytest.raises(ArgumentError):
            http_access.read_or_create_token(file)
