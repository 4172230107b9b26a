"""Errors that programs print before they end."""

from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.inspection.arriving_output import PrintedErrors
from dapeer.view.snapshot import snapshot_of_end


@pytest.mark.parametrize(
    ("adapter", "printed", "place", "error"),
    [
        (
            "js-debug",
            "node:internal/modules/run_main:123\n    triggerUncaughtException(\n    ^\n\nAssertionError [ERR_ASSERTION]: "
            "Expected:\n+ actual\n  {\n+ 3\n    at f (file:///a/b%20c.mjs:5:10)\n    at async file:///a/b.mjs:7:11 {\n",
            ("/a/b c.mjs", 5),
            "AssertionError [ERR_ASSERTION]: Expected:",
        ),
        (
            "js-debug",
            "file:///a/b.mjs:1\nlet a = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n    at link (node:internal:1:2)\n",
            ("/a/b.mjs", 1),
            "SyntaxError: Unexpected token ';'",
        ),
        (
            "js-debug",
            "node:fs:573\n  return binding.open(\n                 ^\n\nError: ENOENT\n    at openSync (node:fs:573:18)\n"
            "    at Object.<anonymous> (/a/b.cjs:3:4) {\n  errno: -2\n}\n",
            ("/a/b.cjs", 3),
            "Error: ENOENT",
        ),
        ("js-debug", "/a/b.js:3\n  x\n  ^\nTypeError: told by a program that runs on\n    at /a/b.js:3:1\n", None, ""),
        (
            "jdi",
            'Exception in thread "main" java.lang.IllegalStateException: deep\n\tat Ex.f(Ex.java:2)\n'
            "Caused by: java.lang.RuntimeException: why\n\t... 42 more\n",
            None,
            "java.lang.IllegalStateException: deep",
        ),
        ("jdi", 'Exception in thread "pool-1" java.lang.Error: of a thread alone\n\tat A.f(A.java:2)\n', None, ""),
        (
            "delve",
            "panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.f(0x0)\n\t/a/p.go:8 +0x1\n",
            ("/a/p.go", 8),
            "panic: assignment to entry in nil map",
        ),
        (
            "delve",
            "panic: told by the program\n\npanic: odd [recovered]\n\tpanic: odder\n\ngoroutine 6 [running]:\ntesting.tRunner.func1.2({0x1, 0x2})\n"
            "\t/go/src/testing/testing.go:1396 +0x24e\npanic({0x1, 0x2})\n\t/go/src/runtime/panic.go:884 +0x2\n"
            "a.TestA(0x1)\n\t/a/p_test.go:5 +0x1\n",
            ("/a/p_test.go", 5),
            "panic: odder",
        ),
        ("perl", "careful at /a/b.pl line 2.\nno such sku at /a/b.pl line 3.\r\n", ("/a/b.pl", 3), "no such sku"),
        ("perl", "careful at /a/b.pl line 2.\nHASH(0x561a)\n", None, ""),
        (
            "perl",
            'syntax error at /a/b.pl line 2, near "= ;"\nExecution of /a/b.pl aborted due to compilation errors.\n',
            ("/a/b.pl", 2),
            "syntax error",
        ),
        ("perl", "deep at /a/b.pl line 2.\n\tmain::f(3) called at /a/b.pl line 3\n", ("/a/b.pl", 2), "deep"),
    ],
)  # fmt: skip
def test_the_error_that_ends_a_program_is_found_in_what_it_prints(
    adapter: str, printed: str, place: tuple[str, int] | None, error: str
) -> None:
    mirror, ends = Mirror(), "" if place is None or adapter != "js-debug" else "\nNode.js v22.1.0\n"
    mirror.output_intake.output.append("stderr", f"before\n{printed}{ends}")
    mirror.exit_code = 1
    pattern = load_all(shipped())[adapter].stopping.traceback
    errors = PrintedErrors(mirror.output_intake.output, pattern)
    end = snapshot_of_end(1, mirror, 0, None, Path("/a"), error=errors.last())
    assert (end.get("file"), end.get("line")) == (place or (None, None))
    assert end.get("exception", "") == error


def test_an_error_of_the_debugger_is_not_the_program_s() -> None:
    stopping, output = load_all(shipped())["rdbg"].stopping, Mirror().output_intake.output
    errors = PrintedErrors(output, stopping.traceback, stopping.debugger)
    own = "/usr/lib/ruby/gems/3.1.0/gems/debug-1.4.0/lib/debug/thread_client.rb"
    output.append(
        "stderr",
        f"/a/qu.rb:3:in `price': mine (RuntimeError)\n"
        f"#<Thread:0x1 run> terminated with exception (report_on_exception is true):\n{own}:189:in `pop': queue closed (ClosedQueueError)\n",
    )
    found = errors.last()
    assert found is not None
    assert (found["file"], found["error"]) == ("/a/qu.rb", "mine (RuntimeError)")
    assert errors.debugger_error_clause() == (
        "the debugger has failed, not the program, at thread_client.rb:189: queue closed (ClosedQueueError)"
    )
