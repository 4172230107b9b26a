"""What collected calls look like: a tree, folded where it is alike, in which the odd one shows."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import BlockPart
from dapeer.collecting.text.row_listing import RowSelection, listing
from dapeer.collecting.text.timeline import news_lines
from tests.collecting.conftest import every

PROJECT = Path("/p")

Call = tuple[str, int, str, str, str] | tuple[str, int, str, str, str, str]
"""Function, depth, arguments, result, changed, and perhaps the number of the call around it."""


def told(calls: list[Call], *, threads: tuple[str, ...] = ("MainThread",)) -> list[str]:
    """Return the section of calls, as they began; each takes until the next one of its depth begins."""
    collected = Collected()
    collected.ensure_point((), function="shop.*", calls=True)
    rows: list[str] = []
    around: dict[int, int] = {}
    for number, (function, depth, *of_call) in enumerate(calls):
        inner = next(
            (n for n, each in enumerate(calls[number + 1 :], 1) if each[1] <= depth), len(calls)
        )
        thread = threads[number % len(threads)]
        head = (1, number + 1, f"{number * 1000}e-9", thread, "", "main shop.py:9", function, depth)
        around[depth] = number + 1
        rest, given = of_call[:3], of_call[3:]
        within = given[0] if given else around.get(depth - 1, "?") if depth else ""
        rows.append("\t".join(map(str, (*head, f"{inner * 1000 - 1}e-9", *rest, within))))
    collected.add_part(
        1, BlockPart.of_text("".join(f"{row}\n" for row in reversed(rows))), "tracer"
    )
    return news_lines(collected.collections.values(), PROJECT)


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
    assert "    #4…423 alike (210, 2 calls each), but for n of Cart.add, n of price" in lines
    odd = next(line for line in lines if "← result the only None" in line)
    assert odd.strip().startswith("#425 price(n=211) → None")
    assert "    #426…601 like #2 (88, 2 calls each), but for n of Cart.add, n of price" in lines
    assert len(lines) < 15


def test_functions_are_told_by_the_time_that_they_take_themselves() -> None:
    collected = Collected()
    collected.ensure_point((), function="shop.*", calls=True)
    calls = [("report", 0, 0, 5e8), ("unique", 1, 1e7, 3e8)]
    calls += [("check", 1, 3.2e8 + number * 1e6, 9e5) for number in range(100)]
    for number, (function, depth, start, took) in enumerate(calls, 1):
        times = f"{start:.0f}e-9\tMainThread\t\t\t{function}\t{depth}\t{took:.0f}e-9"
        within = 1 if depth else ""
        row = f"1\t{number}\t{times}\t\t1\t\t{within}\n"
        collected.add_part(1, BlockPart.of_text(row), "tracer")
    (rows,) = collected.collections.values()
    told = listing(
        rows.table, rows.point.columns, RowSelection(by="function"), calls=True, search=every
    )
    assert told == [
        "unique: 1 call, 300 ms in all → 1 (1)",
        "report: 1 call, 500 ms in all, 110 ms without the calls within → 1 (1)",
        "check: 100 calls, 90 ms in all → 1 (100)",
        "(Recording makes calls slower: compare these times with each other.)",
    ]


def test_a_deep_recursion_and_many_different_calls_are_bounded() -> None:
    deep = told([("deep", n, f"n={n}", f"{n}", "") for n in range(3000)])
    assert len(deep) < 40
    assert "  deep: 3,000 calls → 0…2,999; each +1" in deep
    assert deep[-1] == (
        "    #2…3000 deep(n=1 … 2999) → 1 … 2999, each within the one before (2,999)"
    )
    odd: list[Call] = [(f"f{n % 7}", n, "", "None" if n == 2500 else "1", "") for n in range(3000)]
    lines = told(odd)
    assert any(line.strip().endswith("calls further within:") for line in lines)
    assert any("← result the only None" in line for line in lines)
    assert len(lines) < 40
    wide = told([(f"f{n * n % 97}", 0, "", f"{'x' * (n % 5)}", "") for n in range(2000)])
    assert any(line.strip().startswith("… ") for line in wide)
    assert len(wide) < 50


def test_a_call_stands_below_the_one_that_it_was_called_in_though_others_began_between() -> None:
    lines = told(
        [
            ("gen", 0, "n=1", "None", ""),
            ("gen", 0, "n=2", "None", ""),
            ("lookup", 1, "n=1", "1", "", "1"),
            ("lookup", 1, "n=2", "2", "", "2"),
            ("lookup", 1, "n=3", "\x15KeyError: 3", "", "1"),
        ]
    )
    assert [line.strip().partition(")")[0] for line in lines[1:]] == [
        "#1 gen(n=1", "#3 lookup(n=1", "#5 lookup(n=3", "#2 gen(n=2", "#4 lookup(n=2",
    ]  # fmt: skip


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
