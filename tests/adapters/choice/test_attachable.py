"""Which adapter debugs a process that runs, and what keeps it from doing so."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapeer.adapters.choice.choice import (
    check_process,
    check_ptrace_scope,
    choose_for_process,
)
from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.system.process_table import is_running, ptrace_scope

DEFINITIONS = load_all(shipped())
NOBODY = 65534


@contextmanager
def waiting(*command: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a program that waits for its input to end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process


@contextmanager
def another_user() -> Generator[None]:
    """Be somebody without rights, if this is the administrator."""
    if os.geteuid() != 0:
        pytest.skip("needs root, who can be another user for a moment")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_process_tells_by_its_executable_which_adapter_it_needs() -> None:
    with waiting(sys.executable, "-c", "input()") as python:
        assert choose_for_process(DEFINITIONS, pid=python.pid).id == "debugpy"
    with waiting(shutil.which("cat") or "cat") as compiled:
        assert choose_for_process(DEFINITIONS, pid=compiled.pid).id == "gdb"
        # Of several that fit, the first that is there.
        found = choose_for_process(DEFINITIONS, pid=compiled.pid, ready=lambda d: d.id != "gdb")
        assert found.id == "lldb-dap"


ELSEWHERE = "192.0.2.1"
"""An address of nobody (RFC 5737): who listens there is not known."""


@pytest.mark.parametrize(("port", "adapter"), [(5678, "debugpy"), (9229, "js-debug")])
def test_a_port_elsewhere_tells_by_its_number_what_usually_listens_there(
    port: int, adapter: str
) -> None:
    assert choose_for_process(DEFINITIONS, pid=None, port=port, host=ELSEWHERE).id == adapter


def test_a_port_of_which_nothing_is_known_needs_a_type() -> None:
    with pytest.raises(AdapterUnknown, match=r"Give its `type`: debugpy, "):
        choose_for_process(DEFINITIONS, pid=None, port=1, host=ELSEWHERE)


def test_an_interpreter_that_cannot_be_attached_to_is_told() -> None:
    with waiting("bash", "-c", "read x; exit") as process:
        chosen = choose_for_process(DEFINITIONS, pid=process.pid)
        with pytest.raises(ArgumentError, match=f"Process {process.pid} runs bash, and bash-dap"):
            check_process(chosen, process.pid)


def test_a_process_that_has_ended_is_none_before_its_parent_knows() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(process.pid)


def test_a_process_of_another_user_is_refused() -> None:
    with waiting("cat") as process, another_user(), pytest.raises(ArgumentError) as refused:
        check_process(DEFINITIONS["gdb"], process.pid)
    assert refused.value.problem == f"Process {process.pid} belongs to another user (0)."


def test_the_system_tells_who_may_attach(tmp_path: Path) -> None:
    scope = tmp_path / "ptrace_scope"
    scope.write_text("1\n")
    assert ptrace_scope(scope) == 1
    assert ptrace_scope(tmp_path / "nothing") == 0


@pytest.mark.parametrize(("scope", "may_trace"), [(0, False), (0, True), (1, True), (2, True)])
def test_a_ptrace_scope_allows_to_attach(scope: int, may_trace: bool) -> None:
    check_ptrace_scope(scope, may_trace=may_trace)


@pytest.mark.parametrize(
    ("scope", "may_trace", "told"),
    [
        (1, False, "is 1. `sudo sysctl kernel.yama.ptrace_scope=0` allows it"),
        (2, False, "is 2. `sudo sysctl kernel.yama.ptrace_scope=0` allows it"),
        (3, False, "is 3. Nothing can change that until the next boot."),
        (3, True, "is 3. Nothing can change that until the next boot."),
    ],
)
def test_a_ptrace_scope_forbids_to_attach(scope: int, may_trace: bool, told: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(told)):
        check_ptrace_scope(scope, may_trace=may_trace)
