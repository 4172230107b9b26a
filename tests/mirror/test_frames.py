"""Whose code a stack frame runs."""

from pathlib import Path

import pytest

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.dap.types import Source, StackFrame
from dapeer.mirror.frames import Frames

DEFINITIONS = load_all(shipped())


def frame(path: str = "", name: str = "f", **more: str) -> StackFrame:
    made = StackFrame(id=1, name=name, line=1, column=1)
    if path:
        made["source"] = Source(path=path)
    if "hint" in more:
        made["presentationHint"] = more["hint"]
    return made


def owner(adapter: str, *described: str, project: Path = Path("/home/me/shop")) -> str:
    return DEFINITIONS[adapter].stopping.frames(project).owner(frame(*described))


@pytest.mark.parametrize(
    ("adapter", "path", "name", "of"),
    [
        ("debugpy", "/usr/lib/python3.11/json/decoder.py", "raw_decode", "Python's library"),
        ("debugpy", "/home/me/shop/.venv/lib/python3.11/site-packages/flask/app.py", "f",
         "installed packages"),
        ("debugpy", "<frozen runpy>", "_run_code", "Python's library"),
        ("debugpy", "/home/me/shop/cart.py", "total", ""),
        ("delve", "/usr/lib/go-1.19/src/runtime/panic.go", "runtime.gopanic", "the Go runtime"),
        ("delve", "/usr/local/go/src/net/http/server.go", "http.serve", "Go's library"),
        ("delve", "/home/me/go/pkg/mod/github.com/x/y@v1.2.3/y.go", "y.F", "Go modules"),
        ("delve", "/home/me/go/src/github.com/me/shop/main.go", "main.main", ""),
        ("js-debug", "<node_internals>/internal/modules/cjs/loader", "load", "Node.js"),
        ("js-debug", "/home/me/shop/node_modules/express/lib/router.js", "f", "installed packages"),
        ("gdb", "", "__libc_start_main", "the C library"),
        ("gdb", "", "std::terminate()", "the C++ library"),
        ("gdb", "./nptl/pthread_kill.c", "__pthread_kill_implementation", "the C library"),
        ("gdb", "/usr/include/c++/12/bits/stl_vector.h", "std::vector<int>::at", "the C++ library"),
        ("gdb", "/rustc/4eb161250e340c8f48f66e2b929ef4a5bed7c181/library/std/src/panicking.rs",
         "std::panicking::begin_panic_handler", "the Rust runtime"),
        ("gdb", "/home/me/shop/hash.hpp", "std::hash<Item>::operator()(Item const&) const", ""),
        ("gdb", "", "compress", "code without source"),
        ("codelldb", "@7ffff7e6986a..7ffff7e698d5", "free_it", "code without source"),
        ("gdb", "/home/me/shop/malloc.c", "__libc_free", "the C library"),
        ("lldb-dap", "csu/libc-start.c", "__libc_start_main_impl", "the C library"),
        ("rdbg", "/usr/lib/ruby/vendor_ruby/minitest/assertions.rb", "assert", "Ruby's library"),
        ("rdbg", "/var/lib/gems/3.1.0/gems/rack-2.2.4/lib/rack.rb", "call", "gems"),
        ("perl", "/usr/share/perl/5.36/Carp.pm", "Carp::croak", "Perl's library"),
        ("jdi", "", "java.util.ArrayList.get", "the Java library"),
    ],
)  # fmt: skip
def test_a_definition_tells_whose_a_frame_is(adapter: str, path: str, name: str, of: str) -> None:
    assert owner(adapter, path, name) == of


def test_a_file_of_the_project_is_judged_by_its_path_there() -> None:
    json = Path("/usr/lib/python3.11/json")
    assert owner("debugpy", f"{json}/decoder.py", project=json) == ""
    assert owner("debugpy", f"{json}er/decoder.py", project=json) == "Python's library"
    assert owner("debugpy", f"{json}/decoder.py", project=Path("/")) == "Python's library"


@pytest.mark.parametrize("hint", ["subtle", "label"])
def test_what_an_adapter_sets_aside_is_not_the_users(hint: str) -> None:
    assert Frames().is_users(frame("/a.toy", hint="normal"))
    assert not Frames().is_users(frame("/a.toy", hint=hint))
    shaded = StackFrame(
        id=1, name="f", line=1, column=1,
        source=Source(path="/a.toy", presentationHint="deemphasize"),
    )  # fmt: skip
    assert Frames().owner(shaded) == "a library"


def test_text_that_only_the_adapter_has_may_be_the_users() -> None:
    made = StackFrame(id=1, name="f", line=1, column=1, source=Source(sourceReference=7))
    assert Frames().is_users(made)


def test_the_foremost_frame_is_the_users_innermost() -> None:
    stack = [frame("", "abort"), frame("/home/me/a.c", "f"), frame("/home/me/a.c", "main")]
    assert Frames().innermost_users_frame(stack) is stack[1]
    assert Frames().innermost_users_frame(stack[:1]) is None


def test_frames_of_others_lie_side_by_side_and_are_named() -> None:
    frames = DEFINITIONS["gdb"].stopping.frames(Path("/home/me"))
    stack = [
        frame("./nptl/pthread_kill.c", "__pthread_kill_implementation"),
        frame("", "???"),
        frame("", "__cxa_throw"),
        frame("/home/me/a.cpp", "pick"),
        frame("/home/me/a.cpp", "main"),
        frame("", "zip_close"),
    ]
    runs = list(frames.runs(stack))
    assert [len(run.frames) for run in runs] == [3, 1, 1, 1]
    assert runs[0].describe() == "3 frames of the C library and the C++ library"
    assert [run.owners for run in runs[1:3]] == [(), ()]
    assert runs[3].describe() == "1 frame of code without source"
