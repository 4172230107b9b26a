"""A typed function with a docstring becomes a tool: its schema, and what it says to mistakes."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from dapeer.base.errors import ArgumentError
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.schema import Needs
from dapeer.tools.base.tool import tool


class Cup(BaseModel):
    """A cup as a caller gives it."""

    model_config = ConfigDict(extra="forbid")

    size: Annotated[int, Field(ge=1)]
    title: str | None = None


class Brewed(TypedDict):
    """What came out."""

    cups: list[str]
    note: NotRequired[str]


brewed: list[dict[str, Any]] = []
"""The arguments of the calls that came through."""


@pytest.fixture(autouse=True)
def nothing_brewed() -> None:
    brewed.clear()


@tool("Brew", destructive=True, output=Brewed)
async def toy_brew(
    call: Call,  # noqa: ARG001 - what every tool takes first
    kind: Literal["tea", "coffee"],
    amount: Annotated[int, Field(ge=1, le=10, description="how many")] = 2,
    sugar: float | None = None,
    hot: bool = True,
    label: str | None = None,
    cups: Sequence[Cup] = (),
    words: list[str] | None = None,
    extras: Mapping[str, str] | None = None,
) -> Reply:
    """Brew something.

    It takes a while.
    """
    facts = {"kind": kind, "amount": amount, "sugar": sugar, "hot": hot, "label": label}
    brewed.append({**facts, "cups": list(cups), "words": words, "extras": extras})
    return Reply("done", {"cups": []})


@tool("Look", read_only=True)
async def toy_look(call: Call) -> Reply:  # noqa: ARG001
    """Look."""
    return Reply("nothing")


@dataclass(frozen=True, slots=True)
class Milk:
    """Arguments that several tools share."""

    fat: Annotated[float, Needs("milk")]
    foam: bool = False


@dataclass(frozen=True, slots=True)
class HotMilk(Milk):
    """The same, without one that is always the same."""

    foam: bool = field(default=True, init=False)
    degrees: int = 60


@tool("Add milk")
async def toy_milk(call: Call, cup: int, *, milk: HotMilk, stir: bool = False) -> Reply:  # noqa: ARG001
    """Add milk."""
    brewed.append({"cup": cup, "milk": milk, "stir": stir})
    return Reply("done")


async def brew(**arguments: object) -> dict[str, Any]:
    """Call the tool, and return what its function was given."""
    await toy_brew(a_call(), arguments)
    return brewed.pop()


async def refusal(**arguments: object) -> str:
    """Call the tool with a mistake; return what it says. Its function must not have run."""
    with pytest.raises(ArgumentError) as caught:
        await toy_brew(a_call(), arguments)
    assert brewed == []
    return str(caught.value)


def a_call() -> Call:
    async def progress(
        text: str, done: float | None = None, total: float | None = None
    ) -> None: ...

    debugger = Debugger({}, Path("/project"))
    return Call(debugger, progress, Peers(debugger), Focus(debugger))


# -- what is made of the function


def test_name_title_and_description_come_from_the_function() -> None:
    assert (toy_brew.name, toy_brew.title, toy_brew.groups) == ("toy_brew", "Brew", ("toy",))


def test_what_follows_the_first_paragraph_of_a_docstring_is_not_for_models() -> None:
    assert toy_brew.description == "Brew something."
    assert inspect.getdoc(toy_brew.function) == "Brew something.\n\nIt takes a while."


def test_hints_are_as_they_were_given_and_looking_is_idempotent() -> None:
    hints = [(t.read_only, t.destructive, t.idempotent) for t in (toy_brew, toy_look)]
    assert hints == [(False, True, False), (True, False, True)]


def test_the_schema_is_made_from_the_signature_and_says_no_more_than_it_must() -> None:
    assert toy_brew.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["kind"],
        "properties": {
            "kind": {"type": "string", "enum": ["tea", "coffee"]},
            "amount": {
                "type": "integer",
                "default": 2,
                "minimum": 1,
                "maximum": 10,
                "description": "how many",
            },
            "sugar": {"type": "number"},
            "hot": {"type": "boolean", "default": True},
            "label": {"type": "string"},
            "cups": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["size"],
                    "properties": {
                        "size": {"type": "integer", "minimum": 1},
                        "title": {"type": "string"},
                    },
                },
            },
            "words": {"type": "array", "items": {"type": "string"}},
            "extras": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }


async def test_a_parameter_that_is_a_dataclass_stands_for_its_fields() -> None:
    properties = toy_milk.input_schema["properties"]
    assert [*properties] == ["cup", "fat", "degrees", "stir"]
    assert toy_milk.input_schema["required"] == ["cup", "fat"]
    assert toy_milk.argument_needs == {"fat": "milk"}
    await toy_milk(a_call(), {"cup": 1, "fat": 1.5})
    milk = HotMilk(1.5)
    assert brewed.pop() == {"cup": 1, "milk": milk, "stir": False}
    assert milk.foam
    with pytest.raises(ArgumentError, match="Argument `fat` is required"):
        await toy_milk(a_call(), {"cup": 1})


def test_a_tool_without_arguments_allows_none() -> None:
    assert toy_look.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {},
    }


def test_an_output_schema_is_that_of_its_typed_dict() -> None:
    assert toy_look.output_schema is None
    assert toy_brew.output_schema == {
        "type": "object",
        "description": "What came out.",
        "required": ["cups"],
        "properties": {
            "cups": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
        },
    }


# -- what is taken


async def test_what_is_left_out_has_its_default() -> None:
    assert await brew(kind="tea") == {
        "kind": "tea",
        "amount": 2,
        "sugar": None,
        "hot": True,
        "label": None,
        "cups": [],
        "words": None,
        "extras": None,
    }


async def test_null_counts_as_left_out() -> None:
    given = await brew(kind="tea", amount=None, hot=None, cups=None, extras=None, nonsense=None)
    assert given == await brew(kind="tea")


async def test_lists_and_objects_may_come_as_a_json_string() -> None:
    given = await brew(
        kind="tea", words='["a", "b"]', extras='{"milk": "oat"}', cups='[{"size": 3}]'
    )
    assert given["words"] == ["a", "b"]
    assert given["extras"] == {"milk": "oat"}
    assert given["cups"] == [Cup(size=3)]


async def test_a_string_that_is_json_stays_a_string_where_a_string_is_wanted() -> None:
    assert (await brew(kind="tea", label="[1]"))["label"] == "[1]"
    assert (await brew(kind="tea", label=7))["label"] == "7"


async def test_numbers_may_come_as_text() -> None:
    assert (await brew(kind="tea", amount="3"))["amount"] == 3


async def test_a_single_value_for_a_list_is_a_list_of_one() -> None:
    given = await brew(kind="tea", words="a b", cups={"size": 3}, extras={"milk": 1})
    assert given["words"] == ["a b"]
    assert given["cups"] == [Cup(size=3)]
    assert given["extras"] == {"milk": "1"}


async def test_null_in_a_nested_object_counts_as_left_out() -> None:
    assert (await brew(kind="tea", cups=[{"size": 1, "title": None}]))["cups"] == [Cup(size=1)]


# -- what is refused


async def test_an_unknown_argument_is_named_with_those_that_are_allowed() -> None:
    assert await refusal(kind="tea", colour="red") == (
        "Unknown argument `colour`; allowed are: "
        "kind, amount, sugar, hot, label, cups, words, extras."
    )


async def test_an_unknown_argument_of_a_tool_without_any_says_so() -> None:
    with pytest.raises(ArgumentError, match="Unknown argument `x`; allowed are: none"):
        await toy_look(a_call(), {"x": 1})


async def test_an_unknown_argument_deep_inside_is_named_with_those_allowed_there() -> None:
    assert await refusal(kind="tea", cups=[{"size": 1}, {"size": 1, "colour": "red"}]) == (
        "Unknown argument `cups.1.colour`; allowed are: size, title."
    )


@pytest.mark.parametrize(("wrong", "meant"), [("amount_ms", "amount"), ("lable", "label")])
async def test_an_unknown_argument_names_the_one_that_may_be_meant(wrong: str, meant: str) -> None:
    said = f"Unknown argument `{wrong}`; did you mean `{meant}`?"
    assert await refusal(kind="tea", **{wrong: 3}) == said


async def test_a_missing_argument_is_named() -> None:
    assert await refusal() == "Argument `kind` is required."
    assert await refusal(kind="tea", cups="[{}]") == "Argument `cups.0.size` is required."


async def test_a_required_argument_that_is_null_is_missing() -> None:
    assert await refusal(kind=None) == "Argument `kind` is required."


async def test_a_choice_that_is_none_names_those_there_are() -> None:
    assert await refusal(kind="water") == "Argument `kind`: input should be 'tea' or 'coffee'."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"amount": "many"}, "Argument `amount`: input should be a valid integer"),
        ({"amount": -1}, "Argument `amount`: input should be greater than or equal to 1."),
        ({"amount": 11}, "Argument `amount`: input should be less than or equal to 10."),
        ({"amount": 1.5}, "Argument `amount`: input should be a valid integer"),
        ({"sugar": "much"}, "Argument `sugar`: input should be a valid number"),
        ({"hot": "perhaps"}, "Argument `hot`: input should be a valid boolean"),
        ({"label": [5]}, "Argument `label`: input should be a valid string."),
        ({"words": True}, "Argument `words`: input should be a valid list."),
        ({"words": '["a", "b"'}, "Argument `words`: input should be a valid list."),
        ({"words": ["a", True]}, "Argument `words.1`: input should be a valid string."),
        ({"extras": [1]}, "Argument `extras`: input should be a valid object."),
        ({"extras": {"milk": True}}, "Argument `extras.milk`: input should be a valid string."),
        ({"cups": 5}, "Argument `cups`: input should be a valid list."),
        ({"cups": [5]}, "Argument `cups.0`: give an object with some of size"),
    ],
)
async def test_a_wrong_value_is_named_with_what_is_allowed(
    arguments: dict[str, object], sentence: str
) -> None:
    said = await refusal(kind="tea", **arguments)
    assert said.startswith(sentence)
    assert said.endswith(".")
    assert "\n" not in said


async def test_of_several_mistakes_one_is_named() -> None:
    assert (await refusal(kind="water", colour="red")).count(".") == 1


@tool("Bake", needs=["bake", "roast"])
async def toy_bake(
    call: Call,  # noqa: ARG001
    what: str,
    slowly: Annotated[bool | None, Needs("patience"), Field(description="low heat")] = None,
) -> Reply:
    """Bake something."""
    return Reply(f"{what} {slowly}")


@pytest.mark.parametrize(
    ("supported", "of_use"), [((), False), (("patience",), False), (("roast", "boil"), True)]
)
def test_a_tool_is_of_use_where_one_of_its_needs_is_supported(
    supported: Sequence[str], of_use: bool
) -> None:
    assert toy_bake.is_of_use(frozenset(supported)) is of_use
    assert toy_brew.is_of_use(frozenset(supported))


async def test_an_argument_is_shown_where_its_need_is_supported_and_taken_everywhere() -> None:
    assert toy_bake.all_needs == {"bake", "roast", "patience"}
    listed = toy_bake.schema_for(frozenset({"patience"}))
    assert {**listed, "additionalProperties": False} == toy_bake.input_schema
    without = toy_bake.schema_for(frozenset())
    assert list(without["properties"]) == ["what"]
    assert without["required"] == ["what"]
    assert (await toy_bake(a_call(), {"what": "bread", "slowly": True})).text == "bread True"


def test_the_listed_schema_leaves_out_what_the_tool_checks_itself() -> None:
    assert toy_bake.schema_for(frozenset()) == {
        "type": "object",
        "properties": {"what": {"type": "string"}},
        "required": ["what"],
    }
