"""The picture of the README is of today's dapeer."""

from pathlib import Path

import pytest

NEEDS = "needs rich: uv sync --group dev"
drawing = pytest.importorskip("tools.drawing", reason=NEEDS)
picture = pytest.importorskip("tools.picture", reason=NEEDS)


async def test_the_picture_says_what_person_and_assistant_see_now(tmp_path: Path) -> None:
    now = drawing.drawn(picture.TITLE, await picture.scene(tmp_path), picture.WIDTH)
    kept = drawing.words(picture.PICTURE.read_text("utf-8"))
    assert kept == drawing.words(now), "run: uv run python -m tools.picture"
