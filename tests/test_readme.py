"""The README and the pages say what is true: links, tables, tools, options and configurations."""

import io
import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from dapeer.cli import command_line as cli
from dapeer.mcp.server.prompts import PROMPTS
from tests.programs import ROOT
from tools import known_answers, languages_page
from tools.pages import PARTS, lua_tools, made, pitfalls, with_part

FOLDERS = (".", "docs", "docs/design", ".github", ".github/ISSUE_TEMPLATE")
PAGES = sorted(
    str(path.relative_to(ROOT)) for each in FOLDERS for path in (ROOT / each).glob("*.md")
)
LONGEST_README = 200
"""Lines."""
HISTORY = "CHANGELOG.md"
"""Names what there was, too."""

OF_NEOVIM = {"nvim_get_mode"}
"""Functions of Neovim's own that are named."""

FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
CALL = re.compile(r"\b((?:dap|nvim|opencode)_\w+)\(([^()]*)\)")
TOOL = re.compile(r"`((?:dap|nvim|opencode)_\w+)[`(]")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
PLACE = re.compile(r"`((?:server|lua|tests|docs|adapters|fixtures|\.ci)/[\w/.-]*)`")
COMMANDS = "stdio|serve|demo|doctor|adapters|rtp|opencode (?:register|install|remove)"
COMMAND = re.compile(rf"(?<![\w/.@-])dapeer ({COMMANDS})\b([^`\n#&|)]*)")


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    plain = (
        re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(FENCE.sub("", text))
    )
    return {title.replace(" ", "-") for title in plain}


def broken(page: str) -> Iterator[str]:
    """Yield the links of a page to files or headings that do not exist."""
    for link in LINK.findall(FENCE.sub("", text_of(page))):
        if re.match(r"\w+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (ROOT / page).parent / file if file else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            yield link


@cache
def arguments_of_tools() -> dict[str, set[str]]:
    """Return the arguments of every tool, by its name."""
    ours = {one.name: one.input_schema for one in known_answers.EVERY}
    of_lua = {f"nvim_{one.name}": one.input_schema for one in lua_tools()}
    return {name: set(schema["properties"]) for name, schema in (ours | of_lua).items()}


@cache
def options(command: str) -> set[str]:
    """Return the options that the help of a command names."""
    told = io.StringIO()
    with redirect_stdout(told), pytest.raises(SystemExit):
        cli.run([*command.split(), "--help"])
    return set(OPTION.findall(told.getvalue()))


def test_the_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) <= LONGEST_README


@pytest.mark.parametrize("page", PARTS)
def test_the_tables_are_those_that_the_code_makes(page: str) -> None:
    assert made(page) == text_of(page), "run: uv run python -m tools.pages"


def test_the_table_of_tools_names_each_argument_that_is_required() -> None:
    table = text_of("docs/tools.md")
    for one in known_answers.EVERY:
        [row] = re.findall(rf"^\| `{one.name}`°? \| (.*?) \|", table, re.MULTILINE)
        assert set(re.findall(r"`(\w+)`", row)) == set(
            one.schema_for(frozenset()).get("required", ())
        ), row


@pytest.mark.parametrize("page", [one for one in PAGES if one.startswith("docs/")])
def test_each_page_says_first_for_whom_it_is(page: str) -> None:
    _title, _blank, first, *_rest = text_of(page).splitlines()
    assert first.startswith("For ")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings_that_exist(page: str) -> None:
    assert not [*broken(page)]


@pytest.mark.parametrize("page", PAGES)
def test_every_configuration_is_valid_json(page: str) -> None:
    for block in re.findall(r"```json\n(.*?)```", text_of(page), re.DOTALL):
        assert isinstance(json.loads(block), dict)


@pytest.mark.parametrize("page", [one for one in PAGES if one != HISTORY])
def test_the_tools_that_are_named_are_served_and_take_the_arguments(page: str) -> None:
    known = arguments_of_tools()
    assert not set(TOOL.findall(text_of(page))) - known.keys() - OF_NEOVIM
    for name, given in CALL.findall(text_of(page)):
        named = set(re.findall(r"(?:^|, )(\w+)=", given))
        assert not named - known[name], name


@pytest.mark.parametrize("page", [one for one in PAGES if one != HISTORY])
def test_the_options_that_are_named_are_taken_by_the_command(page: str) -> None:
    for command, rest in COMMAND.findall(text_of(page)):
        assert not set(OPTION.findall(rest)) - options(command), command


def test_the_page_on_languages_has_each_limit_as_it_is_written_down() -> None:
    """That its other cells are shown by tests is seen after all suites only."""
    reasons = tomllib.loads(languages_page.REASONS.read_text(encoding="utf-8"))
    limits = reasons.pop("limits")
    shown = languages_page.without_reason(reasons)
    page = text_of("docs/languages.md")
    table = languages_page.table(shown, reasons, limits)
    assert with_part(page, "shown", table) == page, "run: uv run python -m tools.languages_page"


def test_every_pitfall_has_a_test_and_every_one_that_a_test_names_is_explained() -> None:
    explained = re.findall(r"^(\d+)\. \*\*", text_of("docs/pitfalls.md"), re.MULTILINE)
    assert [int(number) for number in explained] == sorted(pitfalls())


@pytest.mark.parametrize("page", [one for one in PAGES if one != HISTORY])
def test_the_files_that_are_named_exist(page: str) -> None:
    named = PLACE.findall(FENCE.sub("", text_of(page)))
    bases = (ROOT, ROOT / "server" / "dapeer")
    there = {
        one
        for one in named
        for base in bases
        for end in ("", ".py")
        if (base / f"{one}{end}").exists()
    }
    assert not set(named) - there


def test_the_prompts_that_are_named_are_served() -> None:
    named = re.search(r"\*\*Prompts\*\*: (.*)\.", text_of("docs/tools.md"))
    assert named
    assert sorted(re.findall(r"`(\w+)`", named[1])) == sorted(PROMPTS)


def test_every_page_of_the_folder_is_found_from_the_readme() -> None:
    seen: set[Path] = set()
    new = {ROOT / "README.md"}
    while new:
        seen |= new
        links = {
            (page.parent / link.partition("#")[0]).resolve()
            for page in new
            for link in LINK.findall(page.read_text("utf-8"))
        }
        new = {link for link in links if link.suffix == ".md" and link.is_file()} - seen
    assert not {*(ROOT / "docs").glob("*.md")} - seen
