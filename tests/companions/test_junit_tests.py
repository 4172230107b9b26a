"""How JUnit selects the tests of a Java source."""

from pathlib import Path

import pytest

from dapeer.companions.java.junit_tests import read_tests, selection_objects

SOURCE = """
package shop;
import java.util.*;
import shop.money.Price;
/* @Test void old() { */
class CartTest extends Base {
    record Row(String name) {}
    static int of(int a) { if (a > 1) { return a; } return 1; }  // @Test void no(int a) {}
    @Test void adds() { run(() -> { String s = "{ @Test void text() {"; }); }
    @ParameterizedTest(name = "{0}") @CsvSource({"1, (", "2, )"})
    void cash(int n, final long[] want, String... names) throws Exception { char c = '{'; }
    @ParameterizedTest @MethodSource("rows") void rows(Row row, Map<String, List<Price>> at, Price p) {}
    @ParameterizedTest @MethodSource("rows") void pairs(Map.Entry<String, Row> one, java.time.Instant at) {}
    @Nested class Cards {
        @RepeatedTest(2) void adds() {}
        @TestFactory Stream<DynamicTest> made() { return null; }
    }
    @Deprecated void helper(int a) {}
}
class Other { @Test public void last() {} }
class Late extends Base {}
"""
METHOD = "--select-method=shop.CartTest"


@pytest.mark.parametrize(
    ("name", "selected"),
    [
        ("", ["--select-class=shop.CartTest"]),
        ("adds", [f"{METHOD}#adds", f"{METHOD}$Cards#adds"]),
        ("Cards::adds", [f"{METHOD}$Cards#adds"]),
        ("CartTest::Cards", ["--select-class=shop.CartTest$Cards"]),
        ("made", [f"{METHOD}$Cards#made"]),
        ("cash", [f"{METHOD}#cash(int,long[],java.lang.String[])"]),
        ("rows", [f"{METHOD}#rows(shop.CartTest$Row,java.util.Map,shop.money.Price)"]),
        ("pairs", [f"{METHOD}#pairs(java.util.Map$Entry,java.time.Instant)"]),
        ("last", ["--select-method=shop.Other#last"]),
        # It may be written in the class above.
        ("inherited", [f"{METHOD}#inherited"]),
        ("CartTest::inherited", [f"{METHOD}#inherited"]),
        ("Late::inherited", ["--select-method=shop.Late#inherited"]),
    ],
)
def test_a_test_is_selected_with_its_classes_and_the_types_of_its_parameters(
    name: str, selected: list[str]
) -> None:
    (found,) = selection_objects(read_tests(SOURCE), Path("CartTest.java"), name)
    assert found["select"] == selected


def test_where_there_is_no_such_test_all_are_listed() -> None:
    alone = read_tests(SOURCE.replace("extends Base", ""))
    for tests, name in ((alone, "helper"), (read_tests(SOURCE), "Other::helper")):
        listed = [found["test"] for found in selection_objects(tests, Path("CartTest.java"), name)]
        assert listed == [
            "CartTest::adds", "CartTest::cash", "CartTest::rows", "CartTest::pairs",
            "CartTest::Cards::adds", "CartTest::Cards::made", "Other::last",
        ]  # fmt: skip


@pytest.mark.parametrize("parameters", ["final", "...", "int, []"])
def test_parameters_that_are_no_java_are_left_out(parameters: str) -> None:
    source = f"class CartTest {{ @Test void adds({parameters}) {{}} }}"
    assert [each.path for each in read_tests(source)][-1] == ("CartTest", "adds")
