"""What is true of every tool that lives in the Neovim plugin."""

import json
import re

import pytest

from dapeer.base.schemas import flaw_of
from dapeer.peers import LuaTool
from dapeer.tools.neovim import GROUPS, NeovimTool
from tools.pages import OFF, lua_tools

BUILT_IN = lua_tools()

each_tool = pytest.mark.parametrize("one", BUILT_IN, ids=[one.name for one in BUILT_IN])

ASKS_THE_PERSON = {"ask_user", "open_diff", "test_async_prompt"}
CLOSES = {"close_tab", "close_all_diff_tabs"}
SHOWS = {"open_file"}


def test_what_a_model_reads_of_them_is_short() -> None:
    served = [NeovimTool(f"nvim_{one.name}", one, ()) for one in BUILT_IN if one.group not in OFF]
    read = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in served
    ]
    text = json.dumps(read, ensure_ascii=False, separators=(",", ":"))
    assert len(text.encode()) < 14_500


@each_tool
def test_a_name_is_one_that_every_client_accepts(one: LuaTool) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,34}", one.name)
    assert one.group in GROUPS


@each_tool
def test_a_description_is_one_to_three_plain_sentences_that_begin_with_a_verb(one: LuaTool) -> None:
    assert 0 < len(one.title) <= 30
    assert re.match(r"[A-Z][a-z]+\b", one.description)
    assert not one.description.split()[0].endswith("s")
    assert one.description.endswith(".")
    assert 1 <= len(re.findall(r"\.(?=\s|$)", one.description)) <= 3


@each_tool
def test_a_schema_is_one_and_takes_no_unknown_argument(one: LuaTool) -> None:
    assert flaw_of(one.input_schema) is None
    assert one.input_schema["additionalProperties"] is False


@each_tool
def test_what_is_read_only_is_no_action_and_what_acts_is_not_read_only(one: LuaTool) -> None:
    if one.read_only:
        assert not one.kinds
        assert not one.destructive
    elif one.name not in ASKS_THE_PERSON | CLOSES | SHOWS:
        assert "write" in one.kinds
