"""What to do about what an adapter and its program say."""

import sys

import pytest

from dapeer.adapters.definition.sections import first_hint
from dapeer.base.errors import RequestFailed
from dapeer.mirror.output import OutputLog
from dapeer.view.advice import Advice
from dapeer.view.snapshot import Snapshot
from tests.harness import OURS


def hint(at: str, text: str) -> str | None:
    """Know what to do about one text, where an expression says it."""
    return "Say it aloud." if (at, text) == ("evaluate", "mute") else None


def failure(context: str, message: str) -> RequestFailed:
    with pytest.raises(RequestFailed) as failed, Advice(hint).on_failure(context):
        raise RequestFailed("evaluate", message)
    return failed.value


def test_a_failed_evaluation_gets_a_hint_where_there_is_one() -> None:
    assert "Say it aloud." in str(failure("watch", "mute"))
    assert "Say it aloud." not in str(failure("watch", "loud"))
    assert "Say it aloud." not in str(failure("repl", "mute"))


def cause(view: Snapshot, why: str | None) -> str | None:
    advice = Advice(missing=lambda _printed: why)
    return advice.add_hints(view, OutputLog()).get("cause")


def test_why_a_program_has_done_nothing_is_told_at_its_end_alone() -> None:
    assert cause({"session_id": 1, "state": "ended"}, "no tests") == "no tests"
    assert cause({"session_id": 1, "state": "ended"}, None) is None
    assert cause({"session_id": 1, "state": "running"}, "no tests") is None
    assert cause({"session_id": 1, "state": "ended", "cause": "killed"}, "no tests") == "killed"


@pytest.mark.parametrize(
    ("named", "option"),
    [
        ("module gunicorn\n-m gunicorn -w 2 app:app", "--timeout 0"),
        ("uvicorn\nfrom multiprocessing.spawn", "--timeout-worker-healthcheck"),
        ("module celery", "--time-limit"),
        ("worker.py\n[ERROR/MainProcess] Hard time limit (4.0s) exceeded for add", "--time-limit"),
        ("shop.py\nworker.py", None),
    ],
)
def test_a_supervisor_that_kills_workers_has_an_option_against_that(
    named: str, option: str | None
) -> None:
    said = first_hint(OURS["debugpy"].hints, {}, "killed", named)
    assert (said is None) if option is None else (option in str(said))


def test_what_fails_in_a_build_is_told_with_the_names_that_it_may_need() -> None:
    for file, known in (("src/cart.ts", True), ("src/Cart.vue", True), ("cart.js", False)):
        note = f"condition `sku` failed 3 times at {file}:6: sku is not defined"
        view: Snapshot = {"session_id": 1, "state": "stopped", "notes": [note]}
        advice = Advice(lambda at, text: first_hint(OURS["js-debug"].hints, {}, at, text))
        assert (
            any(
                "if the build is minified" in each
                for each in advice.add_hints(view, OutputLog()).get("notes", ())
            )
            is known
        )


def test_a_rejection_and_an_optimised_program_are_explained_once() -> None:
    rejected: Snapshot = {
        "session_id": 1, "state": "stopped", "description": "promise rejection", "exception": "Error: a",
    }  # fmt: skip
    lost = {
        "gdb": "<optimized out>",
        "lldb-dap": "<error: could not evaluate DW_OP_entry_value: no parent frame with reg ctx>",
        "codelldb": "<variable not available>",
        "delve": "(unreadable could not find loclist entry at 0xde5 for address 0x481245)",
    }
    optimised: list[tuple[str, Snapshot, str]] = [
        (adapter, {"session_id": 1, "state": "stopped", "source": "→ 1 f(x);", "locals": {"x": "3", "y": value}},
         "the program is optimised")
        for adapter, value in lost.items()
    ]  # fmt: skip
    for adapter, view, words in (
        ("js-debug", rejected, "V8 stops where a promise is rejected that nothing handles yet"),
        *optimised,
    ):
        advice = Advice(lambda at, text, of=adapter: first_hint(OURS[of].hints, {}, at, text))
        notes = advice.add_hints(view, OutputLog()).get("notes", ())
        assert [note[: len(words)] for note in notes] == [words]
        assert "notes" not in advice.add_hints(view, OutputLog())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("@njit\ndef f(x):\n    y = x\n\n    return y\n", True),
        ("    @numba.jit(nopython=True)\n    @other\n    def f(x):\n        return x\n", True),
        ("@njit\ndef f(x):\n    return x\n\ndef g(x):\n    return x\n", False),
        ("def f(x):\n    return x\n", False),
    ],
)
def test_a_line_that_numba_compiles_is_told(text: str, says: bool) -> None:
    said = first_hint(OURS["debugpy"].hints, {}, "not_hit", f"/shop.py\nimport numba\n{text}")
    assert (said is not None and "NUMBA_DISABLE_JIT" in said) == says


def test_what_a_program_has_printed_first_is_told_once_unless_the_answer_shows_it() -> None:
    said = "While they are debugged, the tests run without -n."
    for shown, notes in (("", [said]), (said, [])):
        log = OutputLog()
        log.append("stderr", f"{said}\nmore\n")
        view: Snapshot = {"session_id": 1, "state": "stopped", "output": shown}
        advice = Advice(lambda at, text: first_hint(OURS["debugpy"].hints, {}, at, text))
        assert advice.add_hints(view, log).get("notes", []) == notes
        view["output"] = ""
        assert "notes" not in advice.add_hints(view, log)


@pytest.mark.parametrize(
    ("at", "text", "told"),
    [
        ("not_hit", "/app/queue.py\ndef push(a):\n", True),
        ("not_hit", "/app/orders.py\n# json.py\n", False),
        ("exception", "AttributeError: module 'json' has no attribute 'push'", True),
        ("exception", "ImportError: cannot import name 'push' from 'queue' (/lib/queue.py)", True),
        ("exception", "AttributeError: module 'orders' has no attribute 'push'", False),
    ],
)
def test_a_module_of_the_programs_that_pythons_own_hides_under_the_debugger_is_told(
    at: str, text: str, told: bool
) -> None:
    said = first_hint(OURS["debugpy"].hints, {"python": sys.executable}, at, text)
    assert ("the debugger has imported" in str(said)) is told


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("my $sum = 0;\n", True),
        (
            "#!/usr/bin/perl\nuse strict;\n\nuse lib qw(\n  lib\n);  # ours\nsub f {\n  return 1;\n}\nprint f();\n",
            True,
        ),
        ("use strict;\nmy $sum = 0;\nprint $sum;\n", False),
        ("sub f {\n  my $n = shift;\n  return $n;\n", False),
    ],
)
def test_the_first_statement_of_a_perl_program_is_said_to_be_passed(text: str, first: bool) -> None:
    said = first_hint(OURS["perl"].hints, {}, "not_hit", f"/shop.pl\n{text}")
    assert bool(said) == first
    assert not first_hint(OURS["perl"].hints, {}, "not_hit", f"/Shop.pm\n{text}")
