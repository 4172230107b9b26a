"""At which exceptions to stop, as a caller says it and as adapters are told."""

from collections.abc import Mapping
from typing import Any

import pytest

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.base.errors import ArgumentError
from dapeer.dap.exception_filters import Filters

DEFINITIONS = load_all(shipped())
OFFERED = {
    "debugpy": {"raised": False, "uncaught": True, "userUnhandled": False},
    "js-debug": {"all": False, "uncaught": False},
    "gdb": {"assert": False, "throw": False, "catch": False},
    "codelldb": {"cpp_throw": True, "cpp_catch": False},
    "lldb-dap": {"cpp_throw": False},
}
"""What the adapters tell of themselves."""


def filters(adapter: str) -> Filters:
    return DEFINITIONS[adapter].stopping.filters


def told(adapter: str, *texts: str) -> Mapping[str, Any]:
    filters(adapter).check(texts, OFFERED[adapter], adapter)
    return filters(adapter).arguments(texts, OFFERED[adapter])


@pytest.mark.parametrize(
    ("adapter", "default"),
    [
        ("debugpy", ["uncaught"]),
        ("js-debug", ["uncaught"]),
        ("gdb", ["sanitizer", "panic"]),
        ("codelldb", ["sanitizer", "panic"]),
    ],
)
def test_uncaught_errors_stop_by_default_and_caught_ones_do_not(
    adapter: str, default: list[str]
) -> None:
    assert filters(adapter).filters_at_start(None, OFFERED[adapter]) == default


def test_of_what_is_wanted_later_an_adapter_is_told_what_it_can() -> None:
    wanted = ["uncaught", "throw", "KeyError", "all: error.code"]
    assert filters("debugpy").filters_at_start(wanted, OFFERED["debugpy"]) == [
        "uncaught",
        "KeyError",
    ]
    assert filters("js-debug").filters_at_start(wanted, OFFERED["js-debug"]) == [
        "uncaught", "KeyError", "all: error.code",
    ]  # fmt: skip
    assert filters("lldb-dap").filters_at_start(wanted, OFFERED["lldb-dap"]) == []
    assert filters("bash-dap").filters_at_start(wanted, {}) is None


def test_filters_alone_are_told_as_they_are() -> None:
    assert told("debugpy", "raised", "uncaught") == {"filters": ["raised", "uncaught"]}
    assert told("gdb", "throw", "panic") == {"filters": ["throw"]}
    assert filters("gdb").functions(["throw", "panic"])[0] == "rust_panic"


def test_a_type_is_a_path_of_names_where_the_adapter_wants_that() -> None:
    root = {"names": ["Python Exceptions"]}
    assert told("debugpy", "KeyError", "uncaught", "userUnhandled: shop.CartError") == {
        "filters": [],
        "exceptionOptions": [
            {"path": [root, {"names": ["KeyError"]}], "breakMode": "always"},
            {"path": [root], "breakMode": "unhandled"},
            {"path": [root, {"names": ["shop.CartError"]}], "breakMode": "userUnhandled"},
        ],
    }


def test_a_type_is_a_condition_where_the_adapter_wants_that() -> None:
    made = told("js-debug", "uncaught", "TypeError", "all: error.code == 7")
    assert made["filters"] == ["uncaught"]
    ((only,),) = [made["filterOptions"]]
    assert only["filterId"] == "all"
    assert "'TypeError'" in only["condition"]
    assert only["condition"].endswith("|| (error.code == 7)")


def test_a_filter_without_a_condition_needs_none_beside_it() -> None:
    assert told("js-debug", "all", "TypeError") == {"filters": ["all"], "filterOptions": []}


@pytest.mark.parametrize(
    ("adapter", "text", "said"),
    [
        (
            "debugpy",
            "sometimes",
            "It offers: raised, uncaught, userUnhandled, or the name of a type",
        ),
        ("debugpy", "raised: x > 3", "no exception filter 'raised: x > 3'"),
        (
            "lldb-dap",
            "std::out_of_range",
            "cpp_throw, sanitizer, panic; it cannot stop at one type",
        ),
        ("js-debug", "", "It offers: all, uncaught"),
    ],
)
def test_what_an_adapter_cannot_is_refused_with_what_it_can(
    adapter: str, text: str, said: str
) -> None:
    with pytest.raises(ArgumentError, match=adapter) as error:
        filters(adapter).check([text], OFFERED[adapter], adapter)
    assert said in str(error.value)


def test_the_filters_that_are_the_default_ask_for_their_environment() -> None:
    post_mortem = {"RUBY_DEBUG_POSTMORTEM": "1"}
    assert filters("rdbg").environment(None) == post_mortem
    assert filters("rdbg").environment(["uncaught"]) == post_mortem
    assert filters("rdbg").environment([]) == {}
    assert filters("debugpy").environment(None) == {}


@pytest.mark.parametrize(
    "texts", [["raised:KeyError", "uncaught"], ["userUnhandled:a.B", "raised"], ["raised:A"]]
)
def test_options_of_another_client_have_the_names_that_a_caller_gives_them(
    texts: list[str],
) -> None:
    assert filters("debugpy").texts_of_options(told("debugpy", *texts)["exceptionOptions"]) == texts


def test_options_that_a_caller_cannot_name_have_no_names() -> None:
    category = {"names": ["Python Exceptions"]}
    assert filters("debugpy").texts_of_options([{"path": [category], "breakMode": "never"}]) == []
    refused: tuple[object, ...] = (
        {"breakMode": "always"},
        {"path": [category, {"names": ["A"], "negate": True}], "breakMode": "always"},
        {"path": [{"names": ["Java Exceptions"]}], "breakMode": "always"},
        {"path": [category], "breakMode": "sometimes"},
        {"path": [category], "breakMode": ["always"]},
        {"path": [category, {"names": list[str]()}], "breakMode": "always"},
        {"path": [category, {"names": 3}], "breakMode": "always"},
        {"path": [category, {"names": [None]}], "breakMode": "always"},
        {"path": [category, "A"], "breakMode": "always"},
        {"path": ["Python Exceptions"], "breakMode": "always"},
        {"path": "Python Exceptions", "breakMode": "always"},
        "raised",
        None,
        ["raised"],
    )
    for option in refused:
        assert filters("debugpy").texts_of_options([option]) is None
    assert filters("gdb").texts_of_options([{"path": [category], "breakMode": "always"}]) is None


@pytest.mark.parametrize("options", [None, "raised", 3, {"raised": True}])
def test_options_that_are_no_list_have_no_names(options: object) -> None:
    assert filters("debugpy").texts_of_options(options) is None
