"""What bash-dap does otherwise than others, with the right values."""

import asyncio
from pathlib import Path

from tests.harness import ask, client, evaluate, needs, read, refusal
from tests.processes import LIMIT

BLANKS = """\
name="two  blanks"
list=("a b" c)
star="*"
path="x/y z"
echo "$name"
"""

VALUES = {
    "$name": "two  blanks", "${list[0]}": "a b", "${list[*]}": "a b c", "$star": "*", "${path%/*}": "x",
    '"$name"': "two  blanks", "name": "two  blanks", "$((1 + 2))": "3", "${#list[@]}": "2",
}  # fmt: skip


async def test_a_value_keeps_its_blanks_and_stars(tmp_path: Path) -> None:
    needs("bash-dap")
    source = tmp_path / "blank.sh"
    source.write_text(BLANKS)
    at = {"filename": str(source), "line": 5}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(source), breakpoints=[at])
        assert {each: await evaluate(c, each) for each in VALUES} == VALUES
        # All elements at once come without blanks, and nobody could tell where one ends.
        assert "${name[*]}" in await refusal(c, "dap_evaluate", expression="${list[@]}")
        assert "two  blanks" in await read(c, "dap_continue")
