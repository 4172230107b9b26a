"""What the person is told of the assistant's actions, and what happens only with consent."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.neovim.consenting import ANSWERS
from tests.neovim.editor import Editor, neovim

PERSON = (
    ANSWERS
    + """
vim.notify = (function(notify)
  return function(text, level)
    vim.rpcnotify(vim.g.test_channel, 'said', text)
    notify(text, level)
  end
end)(vim.notify)
vim.api.nvim_create_autocmd('User', {
  pattern = 'DapeerAction',
  callback = function(event) vim.rpcnotify(vim.g.test_channel, 'action', event.data) end,
})
"""
)
FREE = {"run": False, "evaluate": False, "write": False, "read": True}
"""Which kinds need a question where the person has said nothing."""


async def attach(editor: Editor) -> Any:  # noqa: ANN401 - what Lua returns
    """Take the place of a core; return the kinds of actions that need a question."""
    facts = await editor.lua("return require('dapeer.core.attach').attach(vim.g.test_channel, {})")
    return facts["approve"]


async def note(editor: Editor, **action: object) -> None:
    whole = {"tool": "dap_evaluate", "kind": "evaluate", "arguments": "{}", "at": 0, **action}
    await editor.lua("require('dapeer.person.actions').note(...)", whole)


async def ask(
    editor: Editor, number: int, *kinds: str, arguments: str = "{}", tool: str = ""
) -> None:
    kinds = kinds or ("evaluate",)
    action = {"tool": tool or f"dap_{kinds[0]}", "kind": kinds[0], "kinds": kinds}
    action["arguments"] = arguments
    await editor.lua("require('dapeer.person.approvals').ask(...)", number, action)


async def told(editor: Editor) -> Sequence[Any]:
    """Return the next thing that a core is told."""
    return await editor.wait_for_notification("dapeer")


async def answered(editor: Editor, number: int, *, yes: bool) -> str | None:
    """Wait for the answer to a question; return its reason."""
    kind, asked, allowed, *reason = await told(editor)
    assert (kind, asked, allowed) == ("consent", number, yes)
    return reason[0] if reason else None


async def asked(editor: Editor, about: str = "evaluate") -> str:
    """Wait until the person sees a question about some kinds; return it."""
    [lines] = await editor.wait_for_notification("asked")
    choices = ["", "[d] Deny", "[a] Allow once", f"[s] Allow {about} for this session"]
    assert lines[-4:] == choices
    return " ".join(lines[:-4])


async def test_every_action_is_logged_and_an_event(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=PERSON, ui=True) as editor:
        await editor.lua("vim.cmd('Dapeer log')")
        lines = "return vim.api.nvim_buf_get_lines(0, 0, -1, false)"
        assert await editor.lua(lines) == ["The assistant has done nothing yet."]
        await note(editor, arguments='{"expression":"a\\nb"}', outcome="3", ok=True, client=None)
        [event] = await editor.wait_for_notification("action")
        assert event == {
            "tool": "dap_evaluate",
            "kind": "evaluate",
            "arguments": '{"expression":"a\\nb"}',
            "outcome": "3",
            "ok": True,
            "at": 0,
        }
        for number in range(200):
            outcome = f"No {number}.\nNever."
            await note(editor, tool="dap_run", outcome=outcome, ok=False, client="claude")
        await editor.lua("vim.cmd('Dapeer log')")
        shown = await editor.lua(lines)
        assert len(shown) == 200
        assert shown[0][8:] == "  failed  dap_run  [claude]  → No 0. Never."
        assert shown[-1].endswith("→ No 199. Never.")
        # One window, that goes with its text, and cannot be changed by accident.
        state = await editor.lua("""
          local cursor = vim.api.nvim_win_get_cursor(0)[1]
          local state = { #vim.api.nvim_list_wins(), vim.bo.modifiable, vim.bo.buftype, cursor }
          vim.cmd.close()
          return vim.list_extend(state, { vim.fn.bufnr('dapeer://log') })
        """)
        assert state == [2, False, "nofile", 200, -1]


async def test_notifications_take_one_line_and_never_wait_for_a_key(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=PERSON, ui=True, setup={"notify": True}) as editor:
        await note(editor, arguments="ü" * 500, ok=True)
        [text] = await editor.wait_for_notification("said")
        assert text.startswith("dapeer: dap_evaluate ü")
        assert text.endswith("…")
        assert len(text) < 80
        await editor.lua("""
          for number = 1, 5 do
            local action = { tool = 'dap_next', kind = 'run', arguments = '{}', ok = number < 5 }
            require('dapeer.person.actions').note(action)
          end
        """)
        assert await editor.wait_for_notification("said") == [
            "dapeer: failed: dap_next (and 4 more)"
        ]
        for _ in range(5):
            await note(editor, ok=True)
            assert await editor.wait_for_notification("said") == ["dapeer: dap_evaluate"]
        assert await editor.mode() == {"mode": "n", "blocking": False}


async def test_without_a_rule_everything_is_allowed_at_once(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=PERSON) as editor:
        assert await attach(editor) == FREE
        await ask(editor, 1)
        assert await answered(editor, 1, yes=True) is None


async def test_the_person_allows_once_for_the_session_or_not(tmp_path: Path) -> None:
    setup = {"approve": {"evaluate": True, "write": "ask"}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        assert await attach(editor) == {**FREE, "evaluate": True, "write": True}
        for number, keys, yes, reason in (
            (1, ":Dapeer allow<CR>", True, None),
            (2, ":Dapeer deny<CR>", False, "The person denied it."),
            (3, ":Dapeer answer<CR><Esc>", False, "The person gave no consent."),
        ):
            await ask(editor, number, arguments='{"expression":"f()"}')
            assert (
                await asked(editor)
                == "The assistant wants dap_evaluate (evaluate): expression: f()"
            )
            await editor.keys(keys)
            assert await answered(editor, number, yes=yes) == reason
        await ask(editor, 4)
        await asked(editor)
        await editor.keys(":Dapeer allow session<CR>")
        wants = {**FREE, "write": True}
        assert await told(editor) == ["approve", wants]
        await answered(editor, 4, yes=True)
        await ask(editor, 5)
        await answered(editor, 5, yes=True)
        # The person thinks again.
        await editor.lua("require('dapeer').setup({ approve = { evaluate = true } })")
        assert await told(editor) == ["approve", {**wants, "evaluate": True}]
        assert await editor.mode() == {"mode": "n", "blocking": False}


async def test_s_within_the_question_allows_for_the_session(tmp_path: Path) -> None:
    setup = {"approve": {"evaluate": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1)
        await asked(editor)
        await editor.keys(":Dapeer answer<CR>s")
        assert await told(editor) == ["approve", FREE]
        await answered(editor, 1, yes=True)
        await ask(editor, 2)
        await answered(editor, 2, yes=True)


ANSWERING = {
    "allow": (True, None),
    "allow-session": (True, None),
    "deny": (False, "The person denied it."),
}


@pytest.mark.parametrize("answer", ANSWERING)
async def test_a_mapping_of_the_persons_answers_and_none_is_there_by_itself(
    tmp_path: Path, answer: str
) -> None:
    yes, reason = ANSWERING[answer]
    setup = {"approve": {"evaluate": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        plug = f"<Plug>(dapeer-{answer})"
        assert await editor.lua("return vim.fn.hasmapto(..., 'nvoict')", plug) == 0
        await editor.lua("vim.keymap.set('i', '<F2>', ...)", plug)
        await attach(editor)
        await ask(editor, 1)
        await asked(editor)
        await editor.keys("ione<F2>")
        if answer == "allow-session":
            assert await told(editor) == ["approve", FREE]
        assert await answered(editor, 1, yes=yes) == reason
        await editor.keys(" two")
        assert await editor.lua("return vim.api.nvim_get_current_line()") == "one two"


async def test_an_action_of_several_kinds_is_asked_about_once_and_allowed_for_those_kinds_only(
    tmp_path: Path,
) -> None:
    setup = {"approve": {"evaluate": True, "write": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "run", "evaluate")
        assert await asked(editor) == "The assistant wants dap_run (run, evaluate):"
        await editor.keys(":Dapeer allow session<CR>")
        assert await told(editor) == ["approve", {**FREE, "write": True}]
        await answered(editor, 1, yes=True)
        await ask(editor, 2, "write", "evaluate")
        assert await asked(editor, "write") == "The assistant wants dap_write (write, evaluate):"
        await editor.keys(":Dapeer deny<CR>")
        assert await answered(editor, 2, yes=False) == "The person denied it."
        await ask(editor, 3, "run", "evaluate")
        await answered(editor, 3, yes=True)


async def test_a_rule_for_one_kind_refuses_an_action_that_has_it_beside_others(
    tmp_path: Path,
) -> None:
    rule = """
    require('dapeer').setup({ approve = { evaluate = function(action)
      return action.kind == 'evaluate' and action.arguments ~= 'evil'
    end } })
    """
    async with neovim(tmp_path, dap=False, rc=PERSON + rule, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, "write", "evaluate", arguments="good")
        await answered(editor, 1, yes=True)
        await ask(editor, 2, "write", "evaluate", arguments="evil")
        reason = await answered(editor, 2, yes=False)
        assert reason == "The function approve.evaluate of Neovim refused."


async def test_a_function_of_the_person_decides_or_leaves_it_to_the_person(
    tmp_path: Path,
) -> None:
    rule = """
    require('dapeer').setup({ approve = { run = function(action)
      if action.arguments == 'error' then error('broken') end
      return ({ yes = true, no = false })[action.arguments]
    end } })
    """
    async with neovim(tmp_path, dap=False, rc=PERSON + rule, ui=True) as editor:
        assert (await attach(editor))["run"]
        await ask(editor, 1, "run", arguments="yes")
        await answered(editor, 1, yes=True)
        await ask(editor, 2, "run", arguments="no")
        assert await answered(editor, 2, yes=False) == (
            "The function approve.run of Neovim refused."
        )
        await ask(editor, 3, "run", arguments="error")
        assert "broken" in (await answered(editor, 3, yes=False) or "")
        await ask(editor, 4, "run", arguments="perhaps")
        assert await asked(editor, "run") == "The assistant wants dap_run (run): perhaps"
        await editor.keys(":Dapeer allow session<CR>")
        # Still asked each time: it may refuse what is allowed otherwise.
        assert (await told(editor))[1]["run"]
        await answered(editor, 4, yes=True)
        await ask(editor, 5, "run", arguments="perhaps")
        await answered(editor, 5, yes=True)
        await ask(editor, 6, "run", arguments="no")
        await answered(editor, 6, yes=False)


async def test_questions_come_one_by_one_and_go_when_nobody_waits(tmp_path: Path) -> None:
    setup = {"approve": {"evaluate": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        await attach(editor)
        for number in (1, 2, 3):
            await ask(editor, number, arguments=str(number))
        assert await asked(editor) == "The assistant wants dap_evaluate (evaluate): 1"
        await editor.lua("for id = 1, 2 do require('dapeer.person.approvals').forget(id) end")
        # The second one is never asked.
        assert await asked(editor) == "The assistant wants dap_evaluate (evaluate): 3"
        await editor.keys(":Dapeer deny<CR>")
        # Nothing was said about the first two.
        assert await answered(editor, 3, yes=False) == "The person denied it."
        assert await editor.lua("return #vim.api.nvim_list_wins()") == 1


async def test_a_question_that_is_asked_anew_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    setup = {"approve": {"evaluate": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, arguments="harmless")
        assert await asked(editor) == "The assistant wants dap_evaluate (evaluate): harmless"
        # Another core, after the first one has died.
        await ask(editor, 1, arguments="evil")
        assert await asked(editor) == "The assistant wants dap_evaluate (evaluate): evil"
        await editor.keys(":Dapeer deny<CR>")
        assert await answered(editor, 1, yes=False) == "The person denied it."


KEYS = [
    *map(chr, range(33, 127)),
    *("<CR>", "<Esc>", "<Space>", "<Tab>", "<BS>", "<Up>", "<Down>", "<Left>", "<Right>"),
]
MODES = ["", "i", "R", "v", "V", "<C-v>", "d", ":", "/", "gh", "qa", ":terminal cat<CR>i"]


@pytest.mark.parametrize("enter", MODES)
async def test_no_key_that_is_meant_for_a_text_answers_a_question(
    tmp_path: Path, enter: str
) -> None:
    setup = {"approve": {"run": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True, cwd=tmp_path) as editor:
        await attach(editor)
        await ask(editor, 1, "run")
        assert await asked(editor, "run") == "The assistant wants dap_run (run):"
        window = await editor.lua("return vim.api.nvim_get_current_win()")
        await editor.keys(enter)
        for key in KEYS:
            await editor.keys("<lt>" if key == "<" else key)
        await editor.keys("<C-\\><C-n><Esc>jj<CR>kk<CR>")
        await editor.lua("return 1")
        await editor.keys(":Dapeer deny<CR>")
        assert await answered(editor, 1, yes=False) == "The person denied it."
        assert await editor.lua("return vim.api.nvim_win_is_valid(...)", window)


async def test_all_that_is_asked_for_is_there_to_read(tmp_path: Path) -> None:
    setup = {"approve": {"evaluate": True}}
    code = "\n".join([f"line_{number} = {number}" for number in range(100)] + ["evil('\u202e')"])
    # A picker of the person's never comes into it.
    rc = PERSON + "vim.ui.select = error"
    async with neovim(tmp_path, dap=False, rc=rc, setup=setup, ui=True) as editor:
        await attach(editor)
        await ask(editor, 1, arguments=json.dumps({"expression": code, "wide": "x" * 5000 + "end"}))
        [lines] = await editor.wait_for_notification("asked")
        assert lines[2:102] == [f"  {line}" for line in code.splitlines()[:100]]
        assert lines[102] == r"  evil('\u202e')"
        assert "end" in lines[103]
        # Deny comes first, and nothing leads from there to the others but a step down.
        await editor.keys(":Dapeer answer<CR>")
        await editor.keys("GG")
        # Its last line is in sight, below lines that are wrapped.
        assert await editor.lua(
            "return { vim.fn.line('w0') > 1, vim.fn.line('w$'), vim.wo.wrap }"
        ) == [
            True,
            len(lines),
            True,
        ]
        await editor.keys("jj<CR>")
        assert await told(editor) == ["approve", {**FREE, "evaluate": False}]
        await answered(editor, 1, yes=True)
        await ask(editor, 2, arguments="again")
        await answered(editor, 2, yes=True)


async def test_what_one_core_was_allowed_no_other_core_is(tmp_path: Path) -> None:
    setup = {"approve": {"run": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        await attach(editor)
        question = """
          local action = { tool = 'dap_run', kind = 'run', kinds = { 'run' }, arguments = '{}' }
          require('dapeer.person.approvals').ask(select(1, ...), action, select(2, ...))
        """
        await editor.lua(question, 1, 100)
        await asked(editor, "run")
        await editor.keys(":Dapeer allow session<CR>")
        await answered(editor, 1, yes=True)
        await editor.lua(question, 2, 100)
        await answered(editor, 2, yes=True)
        await editor.lua(question, 3, 200)
        await asked(editor, "run")
        # Its core ends: so does the question.
        await editor.lua("require('dapeer.person.approvals').left(200)")
        assert await editor.lua("return #vim.api.nvim_list_wins()") == 1
        await editor.keys(":Dapeer allow<CR>")
        await editor.lua(question, 4, 300)
        await asked(editor, "run")


async def test_a_question_waits_until_the_person_has_stopped_typing(tmp_path: Path) -> None:
    setup = {"approve": {"write": True}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup, ui=True) as editor:
        await attach(editor)
        await editor.keys("ix = 1")
        await ask(editor, 1, "write")
        [said] = await editor.wait_for_notification("said")
        assert said.startswith("dapeer: a question for you when you have stopped typing: dap_write")
        await editor.keys("<CR>y = 1<CR><Esc>")
        await asked(editor, "write")
        assert await editor.lua("return vim.api.nvim_buf_get_lines(1, 0, -1, false)") == [
            "x = 1",
            "y = 1",
            "",
        ]
        await editor.keys(":Dapeer allow<CR>")
        await answered(editor, 1, yes=True)


@pytest.mark.parametrize("rule", [True, "ask"])
async def test_where_nobody_sits_the_answer_is_no(tmp_path: Path, rule: object) -> None:
    setup = {"approve": {"evaluate": rule}}
    async with neovim(tmp_path, dap=False, rc=PERSON, setup=setup) as editor:
        await attach(editor)
        await ask(editor, 1)
        reason = await answered(editor, 1, yes=False)
        assert reason == "No person can answer in this Neovim: it has no user interface."
