"""Each call that a page, a prompt, a hint, a text of the code or a demo shows is one that the lists of tools allow."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from tests.programs import ROOT
from tests.test_readme import CALL, HISTORY, PAGES, TOOL, text_of
from tools import known_answers
from tools.pages import lua_tools

SOURCES = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("adapters/**/*.toml", "server/dapeer/**/*.py", "docs/*.svg", "doc/*.txt")
    for path in ROOT.glob(pattern)
)
DEMOS = [each for each in SOURCES if "/demo" in each]
NAMED_BY_ANSWERS = {("dap_terminate", "detached"), ("dap_evaluate", "max_chars")}
"""Arguments that no list has: the answers in which they are of use name them."""
NAMED_BY_PAGES = {
    ("dap_run", "tree"),
    ("dap_run", "stdin"),
    ("dap_run", "processes"),
    ("dap_run", "core"),
    ("dap_run", "host"),
    ("dap_run", "python"),
    ("dap_run_until", "last"),
    ("dap_evaluate", "group"),
}
"""Rare arguments that no list has: it is to be short, and pages and the skill name them."""
IN_PYTHON = {"true": True, "false": False, "null": None}


@cache
def listed() -> dict[str, dict[str, Any]]:
    """Return the arguments of every tool, as a client reads them."""
    ours = {one.name: one.schema_for(one.all_needs)["properties"] for one in known_answers.EVERY}
    return ours | {f"nvim_{one.name}": dict(one.input_schema["properties"]) for one in lua_tools()}


def wrong(name: str, argument: str, value: Any = ...) -> str:  # noqa: ANN401 - any JSON value
    """Return what is wrong with an argument of a shown call; empty: nothing."""
    if name not in listed() or (name, argument) in NAMED_BY_ANSWERS | NAMED_BY_PAGES:
        return ""
    schema = listed()[name].get(argument)
    if schema is None:
        return f"{name} lists no `{argument}`"
    if value is ... or cast("Any", Draft202012Validator(schema)).is_valid(value):
        return ""
    return f"{name}({argument}={value!r}) is no {json.dumps(schema)}"


def shown(text: str) -> Iterator[str]:
    """Yield what is wrong with the calls that a text shows."""
    for name, given in CALL.findall(text):
        for argument in re.findall(r"(?:^|, )(\w+)=", given):
            yield wrong(name, argument)
        try:
            call = ast.parse(f"f({given})", mode="eval").body
        except SyntaxError:
            continue
        for each in call.keywords if isinstance(call, ast.Call) else ():
            yield wrong(name, each.arg or "", value_of(each.value))


def value_of(node: ast.expr) -> object:
    """Return the value that is written; `...`: it is only described."""
    if isinstance(node, ast.Name):
        return IN_PYTHON.get(node.id, ...)
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return ...
    return ... if "..." in repr(value) or "…" in repr(value) or "Ellipsis" in repr(value) else value


@pytest.mark.parametrize("page", [*PAGES, *SOURCES])
def test_the_calls_that_are_shown_are_as_the_lists_say(page: str) -> None:
    text = Path(ROOT, page).read_text("utf-8")
    assert not [each for each in shown(text) if each]


def test_what_is_new_names_tools_that_there_are() -> None:
    assert not set(TOOL.findall(text_of(HISTORY))) - listed().keys()


@pytest.mark.parametrize("demo", DEMOS)
def test_the_calls_of_a_demo_are_as_the_lists_say(demo: str) -> None:
    calls = [each for each in ast.walk(ast.parse(text_of(demo))) if isinstance(each, ast.Call)]
    for call in calls:
        names = [each.value for each in call.args if isinstance(each, ast.Constant)]
        for name in filter(listed().__contains__, names):
            given = [
                wrong(str(name), each.arg, value_of(each.value))
                for each in call.keywords
                if each.arg
            ]
            assert not [*filter(None, given)]


def test_an_example_that_no_list_allows_is_found() -> None:
    assert [*filter(None, shown('dap_snapshot(session_id="3"), dap_evaluate(expression="x")'))] == [
        'dap_snapshot(session_id=\'3\') is no {"type": "integer"}',
        "dap_evaluate lists no `expression`",
        "dap_evaluate lists no `expression`",
    ]
