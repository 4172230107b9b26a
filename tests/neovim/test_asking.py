"""Questions of an assistant to the person: they wait, they are answered, they leave nothing behind."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

from mcp import Client

from tests.harness import Json, ask, read, refusal
from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached
from tests.neovim.test_editor_tools import LOOK, POEM, at_work, text_of, types
from tests.neovim.test_following import comes_true
from tests.processes import LIMIT

T = TypeVar("T")

COLOUR: Json = {"question": "Which colour?", "choices": ["red", "green", "blue"]}
WHY: Json = {"question": "Why?"}

ROWS: list[tuple[Json, str, object]] = [
    (COLOUR, "<CR>", "red"),
    (COLOUR, "2<CR>", "green"),
    (COLOUR, "jj<CR>", "blue"),
    (COLOUR, "kk<CR>", "blue"),
    ({**COLOUR, "default": 9}, "<CR>", "blue"),
    ({**COLOUR, "multiple": True}, "13<CR>", ["red", "blue"]),
    ({**COLOUR, "multiple": True}, "<Space>j<Space>k<Space><CR>", ["green"]),
    ({**COLOUR, "multiple": True}, "2<CR>", ["green"]),
    (WHY, "it is<C-j>so<CR>", "it is\nso"),
    ({**COLOUR, "other": False}, "k<CR>", "blue"),
    ({"question": "Which\0?", "choices": ["a\0b"]}, "<CR>", "a\0b"),
]
"""Questions, the keys that answer them, and the answers."""


def asking(c: Client, *questions: Json) -> asyncio.Task[Json]:
    """Ask the person; the task ends with their answer."""
    return soon(ask(c, "nvim_ask_user", questions=list(questions)))


def soon(call: Coroutine[None, None, T]) -> asyncio.Task[T]:
    """Start a call; it fails when nothing answers it."""
    return asyncio.create_task(asyncio.wait_for(call, LIMIT))


async def desk(editor: Editor) -> Json:
    """Return what is the person's own, but for the registers of what they typed last."""
    look: Json = await editor.lua(LOOK)
    for register in ".:":
        del look["desk"]["registers"][register]
    return look


def answers(result: Json) -> list[object]:
    assert result["answered"]
    return [one["answer"] for one in result["answers"]]


async def test_a_question_is_answered_by_keys_and_nothing_is_left(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('vsplit | normal! 3G2l')")
        before = await desk(editor)
        for question, keys, expected in ROWS:
            waiting = asking(c, question)
            title, lines = await editor.wait_for_notification("asked")
            assert title == " The assistant asks "
            asked = question["question"].replace("\0", r"\x00")
            assert "".join(lines).startswith(asked) or "choices" not in question
            await editor.keys(keys)
            assert answers(await waiting) == [expected], keys
            assert await desk(editor) == before, keys


async def test_the_person_may_answer_in_their_own_words(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        waiting = asking(c, COLOUR)
        await editor.wait_for_notification("asked")
        await editor.keys("4<CR>")
        await editor.wait_for_notification("asked")
        await editor.keys("pink<CR>")
        (answer,) = (await waiting)["answers"]
        assert answer == {"question": "Which colour?", "answer": "pink", "written": True}
        waiting = asking(c, {**COLOUR, "multiple": True})
        await editor.wait_for_notification("asked")
        await editor.keys("14<CR>")
        await editor.wait_for_notification("asked")
        await editor.keys("pink<CR>")
        assert answers(await waiting) == [["red", "pink"]]


SCREEN = """
  vim.cmd('redraw')
  local lines = {}
  for row = 1, vim.o.lines do
    local line = {}
    for column = 1, vim.o.columns do
      line[column] = vim.fn.screenstring(row, column)
    end
    lines[row] = table.concat(line)
  end
  return table.concat(lines, '\\n')
"""


async def test_the_question_stays_in_sight_while_the_answer_is_written(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        long = "Why is it to be done in this way, which is longer than any other that we know of?"
        waiting = asking(c, {"question": long})
        await editor.wait_for_notification("asked")
        await types(editor, "uno<C-j>two<C-j>three<Esc>", "n")
        for keys in ("gg0iZero, <Esc>", "GA!<Esc>"):
            await types(editor, keys, "n")
            screen = await editor.lua(SCREEN)
            order = [screen.find(words) for words in ("Why is it", "know of?", "uno", "three")]
            assert -1 not in order, screen
            assert order == sorted(order), screen
        await editor.keys("<CR>")
        assert answers(await waiting) == ["Zero, uno\ntwo\nthree!"]


async def test_no_answer_is_a_result(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        for question, keys in (
            (COLOUR, "<Esc>"),
            (COLOUR, ":q<CR>"),
            (COLOUR, ":tabnew<CR>:tabclose 1<CR>:silent edit poem.txt<CR>"),
            (WHY, "hm<Esc><Esc>"),
        ):
            before = await desk(editor)
            waiting = soon(read(c, "nvim_ask_user", questions=[question]))
            await editor.wait_for_notification("asked")
            await editor.keys(keys)
            assert await waiting == "The person gave no answer."
            if "tabnew" not in keys:
                assert await desk(editor) == before, keys
        waiting = soon(read(c, "nvim_ask_user", questions=[COLOUR, WHY]))
        await editor.wait_for_notification("asked")
        await editor.keys("<CR>")
        assert (await editor.wait_for_notification("asked"))[0] == " The assistant asks, 2 of 2 "
        await editor.keys("<C-\\><C-n><Esc>")
        assert await waiting == "Which colour? → red\nThe person gave no answer."


async def test_a_question_waits_until_the_person_has_stopped_typing(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        for keys, mode, rest, result in (
            ("Go", "i", "<CR>1<CR>2<Esc>", [*POEM, "", "1", "2"]),
            ("gg:s/T/", "c", "t/<CR>", ["the sea", *POEM[1:], "", "1", "2"]),
            ("d", "no", "d", [*POEM[1:], "", "1", "2"]),
            ("Vj", "V", "d", [*POEM[3:], "", "1", "2"]),
        ):
            await types(editor, keys, mode)
            waiting = asking(c, COLOUR)
            assert (
                "a question for you when you have stopped typing: Which"
                in (await editor.wait_for_notification("said"))[0]
            )
            await editor.keys(rest)
            await editor.wait_for_notification("asked")
            assert await text_of(editor) == result
            await editor.keys("<CR>")
            assert answers(await waiting) == ["red"]


async def test_what_is_no_character_stops_no_question(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await types(editor, "i", "i")
        waiting = asking(c, {**COLOUR, "question": "Odd\0\x1b?"})
        assert r"typing: Odd\x00" in (await editor.wait_for_notification("said"))[0]
        await editor.keys("<Esc>")
        await editor.wait_for_notification("asked")
        await editor.keys("<CR>")
        assert answers(await waiting) == ["red"]


async def test_a_question_that_cannot_be_shown_is_not_one_that_the_person_leaves_open(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.api.nvim_create_buf, CREATE = nil, vim.api.nvim_create_buf")
        odd = await soon(refusal(c, "nvim_ask_user", questions=[COLOUR]))
        assert odd.startswith("The person was not asked: the question cannot be shown:")
        await editor.lua("vim.api.nvim_create_buf = CREATE")


async def test_a_macro_gets_what_was_typed_for_it(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.keys("qaA!<Esc>")
        waiting = asking(c, COLOUR)
        await editor.wait_for_notification("said")
        await editor.keys("q")
        await editor.wait_for_notification("asked")
        await editor.keys("<CR>")
        assert answers(await waiting) == ["red"]
        assert await editor.lua("return vim.fn.getreg('a')") == "A!\x1b"


async def test_a_terminal_gets_what_was_typed_for_it(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('terminal cat')")
        await types(editor, "i", "t")
        waiting = asking(c, COLOUR)
        await editor.wait_for_notification("said")
        await editor.keys("hello<CR><C-\\><C-n>")
        await editor.wait_for_notification("asked")
        await editor.keys("<CR>")
        assert answers(await waiting) == ["red"]
        assert await editor.lua("return vim.bo.buftype") == "terminal"


async def test_who_is_asked_in_a_terminal_types_on_there_afterwards(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("vim.cmd('terminal cat')")
        await types(editor, "i", "t")
        waiting = asking(c, COLOUR, WHY)
        await editor.wait_for_notification("asked")
        await editor.keys("<CR>")
        await editor.wait_for_notification("asked")
        await types(editor, "so<CR>", "t")
        assert answers(await waiting) == ["red", "so"]
        await editor.keys("words")
        await comes_true(editor, "vim.fn.getline(1) == 'words'")


async def test_questions_come_one_after_another(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        first = asking(c, COLOUR, WHY)
        await editor.wait_for_notification("asked")
        second = asking(c, {"question": "Second?", "choices": ["yes"]})
        assert (
            "a question for you after this one: Second?"
            in (await editor.wait_for_notification("said"))[0]
        )
        third = asking(c, {"question": "Third?", "choices": ["yes"]})
        await editor.wait_for_notification("said")
        await editor.keys("3<CR>")
        await editor.wait_for_notification("asked")
        third.cancel()
        await editor.keys("because<CR>")
        assert answers(await first) == ["blue", "because"]
        assert (await editor.wait_for_notification("asked"))[1][0] == "Second?"
        await editor.keys("<CR>")
        assert answers(await second) == ["yes"]
        assert await editor.lua("return #vim.api.nvim_list_wins()") == 1


async def test_a_cancelled_question_goes_without_a_trace(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (c, editor):
        await editor.lua("""
          vim.api.nvim_create_autocmd('WinClosed', { callback = vim.schedule_wrap(function()
            vim.rpcnotify(vim.g.test_channel, 'closed')
          end) })
        """)
        before = await desk(editor)
        waiting = asking(c, COLOUR)
        await editor.wait_for_notification("asked")
        waiting.cancel()
        await editor.wait_for_notification("closed")
        assert await desk(editor) == before
        # Whoever is writing their answer does not write the rest of it into their file.
        waiting = asking(c, WHY)
        await editor.wait_for_notification("asked")
        await types(editor, "dd", "i")
        waiting.cancel()
        await retitled(editor)
        await editor.keys("dd<Esc>")
        await editor.wait_for_notification("closed")
        assert await desk(editor) == before
        # One that is not shown yet never is.
        await types(editor, "i", "i")
        waiting = asking(c, COLOUR)
        await editor.wait_for_notification("said")
        waiting.cancel()
        again = asking(c, {"question": "Again?", "choices": ["yes"]})
        await editor.wait_for_notification("said")
        await editor.keys("<Esc>")
        assert (await editor.wait_for_notification("asked"))[1][0] == "Again?"
        await editor.keys("<CR>")
        assert answers(await again) == ["yes"]


async def retitled(editor: Editor) -> None:
    """Wait until the question on the screen says that nobody asks it any more."""
    title = "return vim.api.nvim_win_get_config(0).title[1][1]"
    async with asyncio.timeout(LIMIT):
        while await editor.lua(title) != " No longer asked ":
            pass


async def test_with_nobody_there_it_says_so_at_once(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, setup={}) as editor, attached(editor) as (c, _):
        assert "no user interface" in await refusal(c, "nvim_ask_user", questions=[COLOUR])
        assert "is required" in await refusal(c, "nvim_ask_user")
        assert "`questions`" in await refusal(c, "nvim_ask_user", questions=[])


async def test_the_road_is_tried_out_with_the_persons_own_prompt(tmp_path: Path) -> None:
    rc = """vim.ui.select = function(items, options, done) PICK = done vim.rpcnotify(vim.g.test_channel, "picking") end"""
    async with at_work(tmp_path, rc, setup={"tools": {"test": True}}) as (c, editor):
        for picked, expected in (
            ("'b', 2", {"selected": "b", "index": 2}),
            ("", {"cancelled": True}),
        ):
            waiting = soon(ask(c, "nvim_test_async_prompt", prompt="Which?", options=["a", "b"]))
            await editor.wait_for_notification("picking")
            await editor.lua(f"PICK({picked})")
            assert await waiting == expected
