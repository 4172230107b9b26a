"""The picture of the README is of today's dapeer."""

from pathlib import Path

from tests.drawing import drawn, words
from tests.neovim.editor import needs_nvim_dap
from tests.picture import PICTURE, TITLE, WIDTH, scene


@needs_nvim_dap
async def test_the_picture_says_what_person_and_assistant_see_now(tmp_path: Path) -> None:
    shown = words(drawn(TITLE, await scene(tmp_path), WIDTH))
    assert words(PICTURE.read_text("utf-8")) == shown, "run: uv run python -m tests.picture"
