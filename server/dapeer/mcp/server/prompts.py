"""The debugging jobs that people ask for most, as prompts that a client can offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from string import Template
from typing import Any, Final

import mcp.types as t
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from dapeer.base.text.fitting import shortened
from dapeer.mcp.server.clients import client_of
from dapeer.mcp.server.integration import Integration
from dapeer.mcp.server.results import LONGEST_NAME, check_cursor

Context = ServerRequestContext[Any, Any]

STARTS: Final = "dap_run"
"""The tool that each of our prompts begins with."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A task, what it needs to know, and how to do it with dapeer's tools."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    """The meaning of each argument; all are required."""
    text: str
    """The text for the assistant, with `$name` for each argument."""

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the prompt's text with the values of its arguments in place of `$name`; others are ignored.

        Raises:
            MCPError: An argument is missing or empty.
        """
        if missing := [name for name in self.arguments if not values.get(name)]:
            raise MCPError(t.INVALID_PARAMS, f"Prompt {self.name} needs: {', '.join(missing)}.")
        return Template(self.text).substitute(values)


PROMPTS: Final = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "debug_failing_test",
            "Debug a failing test",
            "Run one test under the debugger and find out why it fails.",
            {"test": "The test as its runner names it, such as tests/test_cart.py::test_total"},
            "Find out why the test $test fails, with the debugger and not by guessing.\n"
            "1. Read the test and the code that it calls.\n"
            '2. dap_run program="$test" (Python; unittest by name: module="unittest", args=[name]): '
            "it stops at the assertion that fails. With a breakpoint on the first line of the "
            "function that the test checks it stops there first. Other languages alike "
            "(cart.test.ts::cart::adds); where dap_run knows no runner, run the test's file with a "
            "breakpoint on the line that fails.\n"
            "3. At the stop compare the locals with what the test expects. Walk with dap_step_over "
            "and dap_step_into, watch what changed, and check each assumption with dap_evaluate.\n"
            "4. Name the first line where a value is wrong, and why. dap_terminate, then propose "
            "the smallest fix, and run the test again.",
        ),
        Prompt(
            "explain_crash",
            "Explain a crash",
            "Run a program until it crashes and explain what led to it.",
            {"program": "The program to run, and its arguments if it needs any"},
            "Explain why this program crashes: $program\n"
            "1. dap_run it: it stops where the uncaught exception or the signal is raised.\n"
            "2. At the stop read the exception, the stack and the locals; dap_exception_info has "
            "the details. Look at the callers with dap_scopes and dap_variables: which value is "
            "wrong, and which frame made it so?\n"
            "3. Set a breakpoint where that value comes from, dap_restart, and confirm it there.\n"
            "4. dap_terminate. Say what happened, where, why, and how to fix it.",
        ),
        Prompt(
            "find_where_value_changes",
            "Find where a value changes",
            "Find the line at which an expression gets the value that it should not have.",
            {
                "program": "The program to run, and its arguments if it needs any",
                "expression": "The expression to watch, such as order.total",
            },
            "Run $program and find the line that gives $expression its wrong value.\n"
            "1. dap_run with breakpoints that collect $expression where it is written and read (search the code): "
            "nothing stops, and the answer sums all rows up, the odd ones named; dap_collected shows more.\n"
            '   Then stop there: where $expression exists, dap_run_until expression="$expression", on="write" stops at each '
            "write; else the same line without collect, with a condition, and dap_restart.\n"
            "2. At each stop read what changed, and dap_evaluate $expression; go on with "
            "dap_continue, or with dap_step_over when it is near.\n"
            "3. Ran past it? dap_history shows every stop with the variables that changed; "
            "dap_restart with a breakpoint between the last good and the first bad stop.\n"
            "4. dap_terminate. Name the line, the value before and after, and why it is wrong.",
        ),
    )
}


class Prompts:
    """Answers the `prompts/*` requests: dapeer's prompts, and those of integrations."""

    def __init__(
        self, integrations: Sequence[Integration], note: Callable[[str], str | None]
    ) -> None:
        """Serve them; `note` says which tools that a text names are not offered."""
        self._integrations = integrations
        self._note_for = note
        self._own_prompts = {} if note(STARTS) else PROMPTS

    async def list(
        self, context: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListPromptsResult:
        """Answer `prompts/list`: dapeer's prompts, and those of integrations that are for the client.

        dapeer's own are left out where the server does not offer the tool `STARTS`.

        Raises:
            MCPError: The request has a cursor, though all is one page.
        """
        check_cursor(params)
        own = [_listed(prompt) for prompt in self._own_prompts.values()]
        client = client_of(context)
        others = (each.prompts() for each in self._integrations if each.is_for(client))
        return t.ListPromptsResult(prompts=[*own, *chain.from_iterable(others)])

    async def get(self, _context: Context, params: t.GetPromptRequestParams) -> t.GetPromptResult:
        """Answer `prompts/get`: return the prompt of this name, filled with the request's arguments.

        The integrations are asked first, also for a client that is not offered their prompts; the first one that has the
        prompt answers. A prompt of dapeer's own comes as one message of the user. If its text names tools that the client
        is not offered, a last line in parentheses says which.

        Raises:
            MCPError: There is no such prompt, or an argument is missing or empty.
        """
        values = params.arguments or {}
        for each in self._integrations:
            if found := each.prompt(params.name, values):
                return found
        prompt = self._own_prompts.get(params.name)
        if prompt is None:
            others = chain.from_iterable(each.prompts() for each in self._integrations)
            known = [*self._own_prompts, *(one.name for one in others)]
            shown = shortened(params.name, LONGEST_NAME)
            raise MCPError(
                t.INVALID_PARAMS,
                f"Unknown prompt: {shown}. There are: {', '.join(known) or 'none'}.",
            )
        note = self._note_for(prompt.text)
        text = prompt.filled(values) + (f"\n({note})" if note else "")
        message = t.PromptMessage(role="user", content=t.TextContent(text=text))
        return t.GetPromptResult(description=prompt.description, messages=[message])


def _listed(prompt: Prompt) -> t.Prompt:
    """Return a prompt as `prompts/list` has it, with all of its arguments as required ones."""
    return t.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            t.PromptArgument(name=name, description=meaning, required=True)
            for name, meaning in prompt.arguments.items()
        ],
    )
