"""What collected calls look like: a tree, folded where it is alike, in which the odd one shows."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dapeer.mirror.collected import Collected
from dapeer.mirror.row_blocks import Part
from dapeer.view.summary import section

PROJECT = Path("/p")

Call = tuple[str, int, str, str, str]
"""Function, depth, arguments, result, changed."""


def told(calls: list[Call], *, threads: tuple[str, ...] = ("MainThread",)) -> list[str]:
    """Return the section of calls, as they began; each takes until the next one of its depth begins."""
    collected = Collected()
    collected.point((), function="shop.*", calls=True)
    rows: list[str] = []
    for number, (function, depth, *rest) in enumerate(calls):
        inner = next(
            (n for n, each in enumerate(calls[number + 1 :], 1) if each[1] <= depth), len(calls)
        )
        thread = threads[number % len(threads)]
        head = (1, number + 1, f"{number * 1000}e-9", thread, "", "main shop.py:9", function, depth)
        rows.append("\t".join(map(str, (*head, f"{inner * 1000 - 1}e-9", *rest))))
    collected.take(1, Part.of_text("".join(f"{row}\n" for row in reversed(rows))), "tracer")
    return section(collected.collections.values(), PROJECT)


def test_calls_are_a_tree_with_what_each_was_given_gave_back_and_changed() -> None:
    cart = "Cart(items=[1])"
    lines = told([
        ("checkout", 0, f"cart={cart}", "8", ""),
        ("Cart.total", 1, f"self={cart}", "8", ""),
        ("Cart.clear", 1, f"self={cart}", "None", f"self: {cart} → Cart(items=[])"),
        ("Cart.total", 0, "self=Cart(items=[])", "\x15ValueError: empty", ""),
    ])  # fmt: skip
    assert lines == [
        "calls of shop.*: 4 calls, tracer",
        "  #1 checkout(cart=Cart(items=[1])) → 8  from main shop.py:9",
        "    #2 Cart.total(self=Cart(items=[1])) → 8  from main shop.py:9",
        "    #3 Cart.clear(self=Cart(items=[1])) → None; changes self to Cart(items=[])"
        "  from main shop.py:9",
        "  #4 Cart.total(self=Cart(items=[])) raises ValueError: empty  from main shop.py:9",
    ]


def test_what_repeats_is_folded_and_the_odd_call_shows_with_the_ones_around_it() -> None:
    calls: list[Call] = [("total", 0, "", "10", "")]
    for n in range(300):
        calls += [("Cart.add", 1, f"n={n}", "True", "")]
        calls += [("price", 1, f"n={n}", "None" if n == 211 else f"{n + 1}.5", "")]
    lines = told(calls)
    assert "  price: 300 calls → fraction (299), None (1); 1.5…300.5; mostly each +1" in lines
    assert "    #4…423 alike (210, 2 calls each)" in lines
    odd = next(line for line in lines if "← result the only None" in line)
    assert odd.strip().startswith("#425 price(n=211) → None")
    assert "    #426…601 like #2 (88, 2 calls each)" in lines
    assert len(lines) < 15


def test_a_deep_recursion_and_many_different_calls_are_bounded() -> None:
    deep = told([("deep", n, f"n={n}", f"{n}", "") for n in range(3000)])
    assert len(deep) < 40
    assert "  deep: 3,000 calls → 0…2,999; each +1" in deep
    assert deep[-1].endswith(" within)")
    wide = told([(f"f{n * n % 97}", 0, "", f"{'x' * (n % 5)}", "") for n in range(2000)])
    assert any(line.strip().startswith("… ") for line in wide)
    assert len(wide) < 50


def test_each_thread_has_a_tree_of_its_own() -> None:
    lines = told([("f", n // 2, "", "1", "") for n in range(4)], threads=("main", "worker"))
    assert [line.strip().partition("(")[0] for line in lines[1:]] == [
        "main:", "#1 f", "#3 alike", "worker:", "#2 f", "#4 f",
    ]  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["f", "g", "C.h"]), st.integers(0, 5), st.text(max_size=9),
            st.sampled_from(["1", "None", "'a'", "\x15E: x"]), st.sampled_from(["", "a: 1 → 2"]),
        ),
        max_size=60,
    )
)  # fmt: skip
def test_whatever_was_called_every_line_names_a_call_or_counts_some(calls: list[Call]) -> None:
    plain = [(name, depth, a if a.isprintable() else "", *rest) for name, depth, a, *rest in calls]
    lines = told(plain)  # type: ignore[arg-type]
    assert len(lines) <= len(calls) + 5 or len(lines) < 60
