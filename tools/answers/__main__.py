"""Write docs/answers.md, and the picture of the README, from what the adapters of this machine answer now."""

import asyncio
import sys

from tests.neovim.editor import NVIM_DAP
from tests.programs import ROOT
from tools.answers.page import page
from tools.answers.read import before, read_all
from tools.answers.scenarios import SCENARIOS
from tools.picture import PICTURE, take

PAGE = ROOT / "docs" / "answers.md"


def main() -> int:
    """Write the page if every scenario can be lived through here, and the picture; return the exit code."""
    if NVIM_DAP is not None:
        PICTURE.write_text(take(), "utf-8")
    now = asyncio.run(read_all())
    if len(now) < len(SCENARIOS):
        return 1
    PAGE.write_text(page(SCENARIOS, before(), now), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
