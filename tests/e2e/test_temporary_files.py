"""What sessions leave in the temporary folder: nothing. test_languages and test_languages_withstand look, too."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.conftest import names_in
from tests.harness import ask, client, evaluate
from tests.languages import named, program_of, ready
from tests.processes import LIMIT


@pytest.mark.parametrize(
    ("kind", "variable"), [("js-debug", "process.env.TMPDIR"), ("bash-dap", "$TMPDIR")]
)
async def test_the_program_has_the_users_own_temporary_folder_though_its_adapter_has_another(
    kind: str, variable: str, build: Path, temporary: Path
) -> None:
    ready(named(kind))
    p = program_of(named(kind), build)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type=kind, program=str(p), breakpoints=[p.at("inner")])
        assert str(temporary) == (await evaluate(c, variable)).strip("'\"")
        assert len(names_in(temporary)) == 1
        await ask(c, "dap_terminate")
    assert not names_in(temporary)
