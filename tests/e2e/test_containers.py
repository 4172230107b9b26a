"""Containers in fields and locals, in Java, JavaScript and Ruby: their length, their ends, and what is beside them."""

import asyncio

import pytest

from tests.harness import Json, ask, client, evaluate, is_version, needs
from tests.processes import LIMIT
from tests.programs import program

SHOWN = {
    "jdi": {
        "this": ("Cart@", "stock=TreeMap (size 2) {", "items=ArrayList (size 100) ["),
        "groups": ('(size 1) {first=ArrayList.SubList (size 1) [Cart.Item {id=0, name="item 0"}]}',),
    },
    "js-debug": {
        "this": ("Cart {", "tags: Set(2) {x, y}"),
        "items": ("(100) [Item {id: 0, name: 'item 0'}, Item {",),
        "stock": ("Map(2) {bolt => 3, nut => 4}",),
        "empty": ("Map(0) {}",),
    },
    "rdbg": {
        "%self": ("#<Cart @", '@stock={"bolt"=>3, :nut=>4}', '@tags=#<Set: {"x", "y"}>', "@items=[#<Item"),
        "item": ('#<Item @id=99, @name="item 99">',),
    },
}  # fmt: skip
WHOLE = {
    "jdi": ("this", "{bolt=3, nut=4}", 'name="item 1"}, ', ", …, ", '{id=99, name="item 99"}]', 'tags=TreeSet (size 2) ["x", "y"]'),
    "js-debug": ("this", "{id: 4, name: 'item 4'}, …]", "stock: Map(2) {bolt => 3, nut => 4}"),
    "rdbg": ("self", '@name="item 1">', ", …]", '@tags=#<Set: {"x", "y"}>'),
}  # fmt: skip
"""What is evaluated, and parts of the answer."""


@pytest.mark.parametrize(
    ("adapter", "file"), [("jdi", "Cart.java"), ("js-debug", "cart.js"), ("rdbg", "cart.rb")]
)
async def test_containers_in_fields_tell_their_length_their_ends_and_what_is_beside_them(
    adapter: str, file: str
) -> None:
    needs(adapter)
    p = program(f"carts/{file}")
    async with asyncio.timeout(LIMIT), client(p.source.parent) as c:
        stop = await ask(c, "dap_run", program=str(p), breakpoints=[p.at("here")])
        assert not missing(stop["locals"], SHOWN[adapter])
        expression, *parts = WHOLE[adapter]
        # Later ones cut a value themselves, and this one's is cut by dapeer, which tells the last element.
        if adapter == "rdbg" and is_version("rdbg", "1.4."):
            parts[parts.index(", …]")] = ', …, #<Item @id=99, @name="item 99">]'
        whole = await evaluate(c, expression)
        assert not [part for part in parts if part not in whole], whole


def missing(shown: Json, wanted: dict[str, tuple[str, ...]]) -> dict[str, object]:
    """Return the variables that lack a part of what is wanted."""
    return {
        name: shown.get(name)
        for name, parts in wanted.items()
        if not all(part in shown.get(name, "") for part in parts)
    }
