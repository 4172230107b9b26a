"""Cutting a stream of bytes into messages, whatever the chunks."""

import itertools
import tracemalloc

import pytest

from dapeer.dap.content_length import LONGEST_HEADER, Framing


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def fed(*chunks: bytes) -> list[bytes]:
    framing = Framing()
    return list(itertools.chain.from_iterable(framing.feed(chunk) for chunk in chunks))


TWO = frame(b'{"seq":1}') + frame('{"text":"żółw"}'.encode())
BODIES = [b'{"seq":1}', '{"text":"żółw"}'.encode()]


@pytest.mark.parametrize("cut", range(len(TWO) + 1))
def test_two_frames_cut_anywhere_are_two_bodies(cut: int) -> None:
    assert fed(TWO[:cut], TWO[cut:]) == BODIES


def test_bytes_that_come_one_by_one_are_the_same_bodies() -> None:
    assert fed(*(bytes([byte]) for byte in TWO)) == BODIES


def test_a_body_is_counted_in_bytes_not_in_characters() -> None:
    body = "🐢🐢".encode()
    assert fed(frame(body) + frame(b"{}")) == [body, b"{}"]


def test_an_empty_body_does_not_disturb_the_next() -> None:
    assert fed(frame(b"") + frame(b"{}")) == [b"", b"{}"]


def test_other_headers_may_stand_before_or_after_the_length() -> None:
    before = b"Content-Type: json\r\nContent-Length: 2\r\n\r\n{}"
    after = b"Content-Length: 2\r\nContent-Type: json\r\n\r\n[]"
    assert fed(before + after) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "noise",
    [
        b"warning: something\n",
        b"GNU gdb\r\n\r\nFor help\r\n\r\n",
        b"Content-Length",
        b"Content-Length: none of your business\r\n\r\n",
        b"\x00\xff\xfe\r\n",
    ],
)
def test_noise_before_a_header_is_skipped(noise: bytes) -> None:
    assert fed(noise, frame(b"{}")) == [b"{}"]
    assert fed(frame(b"[]") + noise + frame(b"{}")) == [b"[]", b"{}"]


def test_noise_without_end_does_not_grow_for_ever() -> None:
    framing = Framing()
    tracemalloc.start()
    for _ in range(1000):
        assert not list(framing.feed(b"x" * LONGEST_HEADER))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * LONGEST_HEADER
    assert list(framing.feed(frame(b"{}"))) == [b"{}"]


def test_a_body_of_20_megabytes_in_small_chunks_arrives_whole() -> None:
    body = b"y" * 20_000_000
    whole = frame(body)
    chunks = [whole[start : start + 65_536] for start in range(0, len(whole), 65_536)]
    assert fed(*chunks) == [body]


def test_a_frame_that_is_never_finished_yields_nothing() -> None:
    assert fed(b"Content-Length: 100\r\n\r\n{") == []
