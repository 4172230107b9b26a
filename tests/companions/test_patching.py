"""The register of what we change in other software: where a patch does not fit, or fails, the stock behaviour runs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from dapeer.adapters.definition.table import installation_values
from dapeer.companions.python.dapeer_debuggee import patching

THERE = "foreign_software:Stack.frames"
SHAPE = "self levels="
Function: TypeAlias = Callable[..., Any]


class Stack:
    """What other software has."""

    limit = 3

    def __init__(self) -> None:
        self.asked: list[int] = []

    def frames(self, levels: int = 0) -> list[int]:
        self.asked.append(levels)
        if levels < 0:
            raise LookupError(levels)
        return [*range(levels)]


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> Generator[types.ModuleType]:
    """Give a module of other software, version 1.5, and a register without rows."""
    module = types.ModuleType("foreign_software")
    kind = type("Stack", (), dict(Stack.__dict__))
    module.__dict__["Stack"] = kind
    monkeypatch.setitem(sys.modules, "foreign_software", module)
    monkeypatch.setattr(patching, "rows", {})
    monkeypatch.setattr(patching, "news", [])
    monkeypatch.setattr(patching, "setting", [""])
    monkeypatch.setitem(patching.versions, "foreign", lambda: "1.5")
    monkeypatch.setitem(patching.tried, "foreign", ("1.4", "1.5"))
    yield module
    patching.undo_all()


def row(tried: tuple[str, str] = ("1.4", "1.5"), **more: Any) -> patching.Row:  # noqa: ANN401 - whatever a row takes
    more = more or {"replaces": {THERE: SHAPE}}
    patching.tried["foreign"] = tried
    return patching.Row("frames", "foreign", "Frames are lost.", **more)


@pytest.mark.parametrize(
    ("since", "on", "reported"), [("1.6", False, 0), ("1.5", True, 0), ("", False, 1)]
)
def test_a_row_that_a_version_is_too_old_for_is_unused_and_no_news(
    since: str, on: bool, reported: int
) -> None:
    lacking = {} if on else {"replaces": {"foreign_software:Stack.missing": SHAPE}}
    replaces = lacking.get("replaces") or {THERE: SHAPE}
    one = row(replaces=replaces, since=since)
    assert one.apply() is on
    assert len(patching.news) == reported
    assert on or reported or one.off == "unused: foreign has what it needs since 1.6"


def patched(ours: Function, *, again: bool = False) -> patching.Row:
    made = row()

    @made
    def apply(it: patching.Row) -> None:  # pyright: ignore[reportUnusedFunction]
        it.replace(THERE, again=again)(ours)

    made.apply()
    return made


def test_a_patch_works_until_it_is_undone(there: types.ModuleType) -> None:
    def one_more(stock: Function, *given: object, **named: object) -> list[int]:
        return [*stock(*given, **named), 7]

    made = patched(one_more)
    assert made.off == ""
    assert there.Stack().frames(2) == there.Stack().frames(levels=2) == [0, 1, 7]
    made.undo()
    assert there.Stack().frames(2) == [0, 1]
    assert vars(there.Stack)["frames"] is Stack.frames


def before(_stock: Function, *_given: object, **_named: object) -> object:
    raise ValueError("before")


def after(stock: Function, *given: object, **named: object) -> object:
    raise KeyError(stock(*given, **named)[0])


def wrongly(stock: Function, *given: object, **named: object) -> object:
    return stock(*given, nothing="like this", **named)


@pytest.mark.parametrize("ours", [before, after, wrongly])
def test_where_a_patch_raises_the_stock_function_does_it_once_and_the_row_is_off(
    ours: Function, there: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, str]] = []

    def tell(body: dict[str, str]) -> bool:
        told.append(body)
        return True

    monkeypatch.setattr(patching, "reporters", [tell])
    made, stack = patched(ours), there.Stack()
    assert [stack.frames(2), stack.frames(levels=1)] == [[0, 1], [0]]
    assert stack.asked == [2, 1]
    assert made.off.startswith("failed: ")
    assert [(each["name"], each["lost"]) for each in told] == [("frames", "Frames are lost.")]


def test_what_the_stock_function_raises_is_raised_and_no_fault_of_the_row(
    there: types.ModuleType,
) -> None:
    def same(stock: Function, *given: object, **named: object) -> object:
        return stock(*given, **named)

    made = patched(same)
    with pytest.raises(LookupError):
        there.Stack().frames(-1)
    assert made.off == ""


def test_a_stand_in_that_the_stock_function_does_not_know_how_to_use_is_taken_back(
    there: types.ModuleType,
) -> None:
    def stand_in(stock: Function, _self: object, *given: object, **named: object) -> object:
        return stock(object(), *given, **named)

    made = patched(stand_in, again=True)
    assert there.Stack().frames(2) == [0, 1]
    assert "AttributeError" in made.off


def test_an_error_that_is_meant_is_raised(there: types.ModuleType) -> None:
    def refuse(_stock: Function, *_given: object, **_named: object) -> object:
        raise patching.IntendedError(PermissionError("no"))

    made = patched(refuse)
    with pytest.raises(PermissionError):
        there.Stack().frames(2)
    assert made.off == ""


class Alarm(Exception):
    """What a program's signal handler raises."""


def alarm(_number: int, _frame: object) -> None:
    raise Alarm


def test_what_a_signal_brings_into_a_patch_is_the_programs_and_no_fault_of_the_row(
    there: types.ModuleType,
) -> None:
    def interrupted(_stock: Function, *_given: object, **_named: object) -> None:
        signal.raise_signal(signal.SIGUSR1)

    made = patched(interrupted)
    before = signal.signal(signal.SIGUSR1, alarm)
    try:
        with pytest.raises(Alarm):
            there.Stack().frames(2)
        with pytest.raises(Alarm):
            made.guard(interrupted, print)(print)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert made.off == ""


def test_a_program_without_room_for_one_more_call_switches_no_row_off(
    there: types.ModuleType,
) -> None:
    def exhausted(_stock: Function, *_given: object, **_named: object) -> object:
        raise RecursionError

    made = patched(exhausted)
    assert there.Stack().frames(1) == [0]
    assert made.off == ""


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"replaces": {THERE: "self start levels="}}, f"{THERE} takes (self levels=), not"),
        ({"replaces": {"foreign_software:Stack.lines": ""}}, "there is no"),
        ({"replaces": {"foreign_software:Heap.lines": ""}}, "there is no"),
        ({"uses": ["foreign_software:Stack#told"]}, "sets no told"),
        ({"uses": [f"{THERE}(self)"]}, "takes (self levels=), not (self)"),
        ({"uses": ["no_such_software:Stack"]}, "ModuleNotFoundError"),
    ],
)
def test_a_row_whose_probe_does_not_hold_is_off_and_says_why(
    about: dict[str, Any], why: str
) -> None:
    made = row(**about)
    assert not made.apply()
    assert why in made.off
    assert [each["name"] for each in patching.news] == ["frames"]


def test_a_module_that_raises_while_it_is_imported_switches_its_row_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("raising_software.py").write_text("1 / 0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    made = row(uses=["raising_software:Stack"])
    assert not made.apply()
    assert "ZeroDivisionError" in made.off


def test_what_an_application_has_changed_before_it_raised_is_undone(
    there: types.ModuleType,
) -> None:
    made = row()

    @made
    def apply(it: patching.Row) -> None:  # pyright: ignore[reportUnusedFunction]
        it.set("foreign_software:Stack.limit", 5)
        it.set("foreign_software:Stack.new", 5)
        raise ValueError

    assert not made.apply()
    assert there.Stack.limit == 3
    assert not hasattr(there.Stack, "new")


@pytest.mark.parametrize(
    ("tried", "about", "on"),
    [
        (("1.4", "1.5"), {"uses": ["foreign_software:Stack.limit"]}, True),
        (("1.4", "1.4"), {"uses": ["foreign_software:Stack.limit"]}, False),
        (("1.6", "1.9"), {"uses": ["foreign_software:Stack.limit"]}, False),
        # Its probe is exact.
        (("1.4", "1.4"), {"replaces": {THERE: SHAPE}}, True),
        (("1.4", "1.4"), {"uses": [f"{THERE}({SHAPE})"]}, True),
    ],
)
def test_a_version_that_was_not_tried_gets_only_rows_whose_probe_is_exact(
    tried: tuple[str, str], about: dict[str, Any], on: bool
) -> None:
    assert row(tried, **about).apply() == on


@pytest.mark.parametrize(
    ("setting", "on"),
    [
        ("off", False),
        ("-frames", False),
        ("-others, -frames", False),
        ("-others", True),
        ("", True),
    ],
)
def test_the_user_can_switch_off_all_rows_or_one_and_is_not_told_of_it(
    setting: str, on: bool
) -> None:
    patching.setting.append(setting)
    assert row().apply() == on
    assert patching.news == []


def test_a_row_that_keeps_others_out_is_told_also_where_the_user_has_switched_it_off() -> None:
    patching.setting.append("off")
    made = row(replaces={THERE: SHAPE}, secures=True)
    assert not made.apply()
    why = "switched off by DAPEER_PATCHES"
    assert (
        patching.news
        == [made.off_note]
        == [{"name": "frames", "lost": "Frames are lost.", "why": why}]
    )


def fewer(stock: Function, self: object, levels: int = 0) -> object:
    return stock(self, levels)


def unnamed(stock: Function, *given: object) -> object:
    return stock(*given)


def misnamed(
    stock: Function, self: object, most: int = 0, *given: object, **named: object
) -> object:
    return stock(self, most, *given, **named)


@pytest.mark.parametrize("ours", [fewer, unnamed, misnamed])
def test_a_patch_that_takes_less_than_what_it_replaces_is_not_applied(
    ours: Function, there: types.ModuleType
) -> None:
    assert "pass on" in patched(ours).off or "names its arguments" in patched(ours).off
    assert vars(there.Stack)["frames"] is Stack.frames


def test_a_function_that_other_software_calls_may_raise_too() -> None:
    def inverse(each: int) -> int:
        return 1 // each

    def itself(each: int) -> int:
        return each

    made = row()
    made.apply()
    called = made.guard(inverse, itself)
    assert [called(1), called(0), called(5)] == [1, 0, 5]
    assert "ZeroDivisionError" in made.off


IN_RUBY = """
class Stack
  def frames(levels = 0)
    (@asked ||= []) << levels
    raise KeyError, 'none' if levels < 0
    (0...levels).to_a
  end
  attr_reader :asked
end

def tried(name, takes = 'levels=', &ours)
  kind = Object.const_set(name, Class.new(Stack))
  row = Dapeer::Row.new('frames', whose: 'Stack', tried: %w[1 1], lost: 'Frames are lost.', needs: { "#{name}#frames" => takes }) do
    replace(kind, :frames, &ours)
  end
  row.apply
  stack = kind.new
  p [stack.frames(2), stack.asked, row.off]
  stack.frames(-1) rescue p $!.class
end

tried('Works') { |stock, *given| stock.call(*given) + [7] }
tried('Before') { |stock, *| raise 'before' }
tried('After') { |stock, *given| raise stock.call(*given).to_s }
tried('Other', 'levels') { |stock, *given| [] }
"""


def test_ruby_s_register_falls_back_to_stock_methods_too() -> None:
    ruby = shutil.which("ruby")
    if ruby is None:
        pytest.skip("needs ruby: apt-get install ruby")
    register = f"{installation_values()['launchers']}/ruby/patching.rb"
    command, environment = [ruby, "-r", register, "-e", IN_RUBY], {**os.environ, patching.WORD: "w"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[[0, 1, 7], [2], nil]",
        "KeyError",
        '[[0, 1], [2], "failed: RuntimeError: before"]',
        "KeyError",
        '[[0, 1], [2], "failed: RuntimeError: [0, 1]"]',
        "KeyError",
        '[[0, 1], [2], "failed: Other#frames takes (levels=), not (levels)"]',
        "KeyError",
    ]
    told = [
        json.loads(line.removeprefix(f"{patching.MARK}w ")) for line in done.stderr.splitlines()
    ]
    assert [(each["name"], each["lost"]) for each in told] == [("frames", "Frames are lost.")] * 3
