"""The picture of the README is of today's dapeer."""

from pathlib import Path

from tests.neovim.editor import needs_nvim_dap
from tests.picture import PICTURE, drawn, scene, words


@needs_nvim_dap
async def test_the_picture_says_what_person_and_assistant_see_now(tmp_path: Path) -> None:
    shown = words(drawn(await scene(tmp_path)))
    assert words(PICTURE.read_text("utf-8")) == shown, "run: uv run python -m tests.picture"
