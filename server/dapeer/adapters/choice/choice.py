"""Which adapter debugs a program, a running process, or a port, and what prevents attaching."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.sections import Attach
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.system import foreign_files, process_table
from dapeer.base.system.ownership import check_listeners, listening_processes
from dapeer.base.system.program_files import has_section, holds, is_binary, shebang
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.base.text.fitting import shortened
from dapeer.base.text.likeness import did_you_mean

Definitions = Mapping[str, Definition]
Ready = Callable[[Definition], bool]

NOTEBOOK = ".ipynb"


def choose(
    definitions: Definitions,
    *,
    type: str | None,  # noqa: A002 - the word of launch.json
    program: str | None,
    module: str | None,
    code: str | None,
    url: str | None = None,
    ready: Ready = lambda _: True,
) -> Definition:
    """Return the definition of the adapter for a program: the named one, or one that fits the program.

    `type` is an id, an alias, a type that the definition stands in for, or a language; None: what runs decides,
    a `program` first of all. One of `program`, `module`, `code` and `url` says what runs. `ready` says whether
    the adapter of a definition is installed: where several fit, the first that is ready is returned, and the
    first of all if none is; it is not called where only one fits.

    Raises:
        AdapterUnknown: None fits; the hint lists the types that there are, or says what to do instead with
            source code to compile or a notebook.
        ArgumentError: The program is a folder that no adapter, or not the named one, can run.
    """
    if type is not None:
        found = require_definition(definitions, type, ready)
    elif program is not None:
        found = _for_program(definitions, program, ready)
    else:
        targets = {"module": module, "code": code, "url": url}
        name = next((name for name, given in targets.items() if given is not None), "")
        able = [d for d in _ranked(definitions.values()) if d.uses(name)] if name else []
        found = _first_ready(able, ready)
        if found is None:
            raise AdapterUnknown(
                "Without a program dapeer cannot choose the adapter.", _types(definitions)
            )
    if program is not None and not foreign_files.is_file(program):
        check_folder(found, program)
    return found


def require_definition(
    definitions: Definitions, kind: str, ready: Ready = lambda _: True
) -> Definition:
    """Return the definition that a type means: an id, alias, type that it stands in for, or language.

    `kind` is that type. Definitions with this id or alias come first, then those that stand in for the type;
    only if there are none, those that have it as a language, id or alias without regard to case. Of several
    definitions, the first for which `ready` returns True is returned, and the first of all if there is none.
    `ready` gets a definition and says whether its adapter is installed.

    Raises:
        AdapterUnknown: No definition is meant by `kind`; the hint names the nearest type, and all that there
            are.
    """
    found = find_definition(definitions, kind, ready)
    if found is None:
        names = [each for d in definitions.values() for each in (*d.names, *d.languages)]
        hint = f"{did_you_mean(kind, names)} {_types(definitions)}".strip()
        raise AdapterUnknown(f"There is no adapter of type `{kind}`.", hint)
    return found


def find_definition(
    definitions: Definitions, kind: str, ready: Ready = lambda _: True
) -> Definition | None:
    """Return the definition that a type means, as `require_definition` does; None if there is none.

    A name comes before types that a definition stands in for, and these before languages; of several, the first that is
    `ready` is taken, and the first of all if none is.
    """
    called = [d for d in definitions.values() if kind in d.names]
    others = [d for d in definitions.values() if kind in d.stands_in_for]
    speaking = [d for d in definitions.values() if kind.lower() in {*d.names, *d.languages}]
    # An adapter with this name comes before others, whatever its rank.
    return _first_ready(called + _ranked(others), ready) or _first_ready(_ranked(speaking), ready)


def can_debug(definitions: Definitions, definition: Definition, path: str) -> bool:
    """Return whether an adapter debugs source files like this.

    One that no definition names may be anybody's.
    """
    # One without extensions accepts every file, which names none.
    naming = (other for other in definitions.values() if other.extensions)
    return definition.accepts(path) or not any(other.accepts(path) for other in naming)


def others_with_argument(
    definitions: Definitions, definition: Definition, name: str, ready: Ready = lambda _: True
) -> list[str]:
    """Return ids of other adapters for the same languages whose launch has a use for argument `name`.

    Only those that are `ready` are among them, the best first.
    """
    languages = {*definition.languages}
    others = [d for d in _ranked(definitions.values()) if languages & {*d.languages}]
    return [d.id for d in others if d is not definition and d.uses(name) and ready(d)]


def check_folder(definition: Definition, program: str) -> None:
    """Raise if the program is a folder that the adapter cannot run; any other path passes.

    Raises:
        ArgumentError: It is one.
    """
    if foreign_files.is_folder(program) and not holds(program, definition.folders):
        raise _folder_error(program)


def _for_program(definitions: Definitions, program: str, ready: Ready) -> Definition:
    """Return the definition that fits the program at a path.

    `ready` says whether the adapter of a definition is installed; of several that fit, the first that is ready is
    returned, or, if none is, the first. `ready` is not asked about one that fits alone.

    Raises:
        AdapterUnknown: None does; the error says why for a source file to compile and a notebook.
        ArgumentError: It is a folder that no adapter can run.
    """
    known = _ranked(definitions.values())
    found = _first_ready(_definitions_fitting(known, program), ready)
    if found:
        return found
    if foreign_files.is_folder(program):
        raise _folder_error(program)
    suffix = Path(program).suffix.lower()
    if compiler := _first_ready([d for d in known if d.binaries and suffix in d.extensions], ready):
        raise AdapterUnknown(
            f"{program} is source code; {compiler.id} debugs the program compiled from it.",
            "Compile it with debug information (-g -O0; `cargo build`) and give the executable.",
        )
    if suffix == NOTEBOOK:
        raise AdapterUnknown(
            f"{program} is a notebook, which a kernel runs cell by cell.",
            "Run its code as a script (`jupyter nbconvert --to script`), or attach to the kernel's process by its pid.",
        )
    raise AdapterUnknown(f"No adapter is known for {program}.", _types(definitions))


def _definitions_fitting(ranked: list[Definition], program: str) -> list[Definition]:
    """Return the definitions that fit a program, in the order of `ranked`; empty: none fits.

    A folder is decided only by its files, a compiled program only by its sections and by which adapters debug
    binaries (those that know a section come first). Any other program is decided by its file name; only if no
    definition has that, by its extension; only if none has that, by its first line (`#!`). `ranked` are all
    definitions, the preferred ones first; `program` is a path. Its file may be read.
    """
    path = Path(program)
    if foreign_files.is_folder(path):
        return [d for d in ranked if holds(program, d.folders)]
    if is_binary(program):
        return definitions_for_compiled(ranked, program)
    named = [d for d in ranked if d.is_named(path.name)]
    suffix = path.suffix.lower()
    interpreter = shebang(program)
    return (
        named
        or [d for d in ranked if d.runs(suffix)]
        or [d for d in ranked if interpreter in d.shebangs]
    )


def definitions_for_compiled(known: Iterable[Definition], program: str) -> list[Definition]:
    """Return the definitions for a compiled program, first those that know a section of it by its name."""
    marked = [d for d in known if d.sections and has_section(program, d.sections)]
    return marked + [d for d in known if d.binaries and d not in marked]


def _ranked(definitions: Iterable[Definition]) -> list[Definition]:
    """Return definitions in the order of preference, the lowest rank first."""
    return sorted(definitions, key=lambda definition: definition.rank)


def _first_ready(candidates: Sequence[Definition], ready: Ready) -> Definition | None:
    """Return the first candidate that is ready; the first of all if none is; None if there is none.

    `ready` is not called for a single candidate.
    """
    alone = len(candidates) == 1
    return next((each for each in candidates if alone or ready(each)), next(iter(candidates), None))


def _folder_error(program: str) -> ArgumentError:
    return ArgumentError(f"`program`: {program} is a directory.", "Give the file to run in it.")


def _types(definitions: Definitions) -> str:
    return f"Give a type: {', '.join(sorted(definitions)) or 'none is defined'}."


# Attaching to running processes: which adapter fits, and what prevents it.

MAY_TRACE = 1 << 19
"""The capability CAP_SYS_PTRACE."""
SCOPE_OF_NOBODY = 3
"""The `ptrace_scope` with which nobody may attach, and which stays until the next boot."""

SECONDS_TO_CONNECT = 3.0
"""Seconds in which a port must accept a connection."""


def choose_for_process(
    definitions: Mapping[str, Definition],
    *,
    pid: int | None,
    port: int | None = None,
    host: str | None = None,
    ready: Ready = lambda _: True,
) -> Definition:
    """Return the definition whose adapter can attach to a process by id, or to what listens at a port.

    With a `pid`, the process's executable decides: definitions whose interpreter it is (whether they attach
    by id is not checked), else those that attach to compiled programs by id. Without one, the command line of
    the process that listens at `port` of `host` (None: the loopback) decides, else the port's number. Of
    several that fit, the one of the lowest rank for which `ready` is true is returned, and the first of all
    if there is none; for a compiled program, those that know a section of it come before the others. `ready`
    is called with a definition, and says whether its adapter is installed; it is not called where only one
    fits. Nothing is sent to the process, and it is not checked that a process `pid` exists. Resolving the
    name of the host may block.

    Raises:
        AdapterUnknown: None fits.
        ArgumentError: Nobody listens at the port.
    """
    ranked = sorted(definitions.values(), key=lambda each: each.rank)
    if pid is None:
        able = [each for each in ranked if "tcp" in each.attach]
        return _require_ready(_for_port(able, host or LOOPBACK, port or 0), ready, "port")
    name = _name(pid)
    interpreters = [each for each in ranked if name in each.shebangs]
    if interpreters:
        return _require_ready(interpreters, ready, "pid")
    able = definitions_for_compiled(
        [each for each in ranked if "pid" in each.attach], process_table.program_file(pid)
    )
    return _require_ready(able, ready, "pid")


def _for_port(able: list[Definition], host: str, port: int) -> list[Definition]:
    """Return those of the definitions that fit what listens at a port; nothing is sent there.

    These are the definitions whose `served_by` matches the executable and command line of a process that listens there; if there is none,
    or it cannot be seen, as on another machine, those that name the port as a usual one. Any byte sent would end gdbserver's program.
    `able` are definitions that attach by port, in the order of preference, which is kept. Resolving the name `host` may block.

    Raises:
        AdapterUnknown: None fits.
        ArgumentError: Nothing listens there.
    """
    owners = listening_processes(host, port)
    if owners is None:
        raise _nothing_listens_error(host, port)
    served = [
        f"{process_table.executable(owner)} {process_table.command_line(owner)}" for owner in owners
    ]
    for each in served:
        if fitting := [d for d in able if _matches(d.attach["tcp"].served_by, each)]:
            return fitting
    if usual := [each for each in able if port in each.attach["tcp"].usual_ports]:
        return usual
    whose = f": it is {_name(owners[0])}'s, process {owners[0]}" if owners else ""
    raise AdapterUnknown(
        f"It is not known which debugger listens at {host}:{port}{whose}.",
        f"Give its `type`: {', '.join(each.id for each in able)}.",
    )


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern is in a text; an empty pattern never is."""
    return bool(pattern) and re.search(pattern, text) is not None


def port_of(definition: Definition, pid: int) -> int | None:
    """Return the port where a process listens for a debugger that attaches by port only.

    It is the port in the command line of `pid`, by the definition's pattern `port_in`, or else the first of its usual ports, if the process
    listens there on loopback. That a debugger listens there is not checked. None: it listens at none of these, though perhaps at another,
    or the definition's adapter attaches by process id, or not by port.
    """
    attach = definition.attach.get("tcp")
    if "pid" in definition.attach or attach is None:
        return None
    port = command_line(pid, attach.port_in)
    ports = (*([int(port)] if port else []), *attach.usual_ports)
    return next((p for p in ports if pid in (listening_processes(LOOPBACK, p) or ())), None)


def _require_ready(able: list[Definition], ready: Ready, way: str) -> Definition:
    """Return the first definition that is ready, or the first of all; a single one is not asked.

    Raises:
        AdapterUnknown: There is none; the error names the `way` to attach.
    """
    if not able:
        raise AdapterUnknown(f"No adapter is known that attaches by {way}.", "Give a type.")
    alone = len(able) == 1
    return next((each for each in able if alone or ready(each)), able[0])


def check_process(definition: Definition, pid: int) -> None:
    """Raise if an adapter cannot attach to a process by its id; some would never answer then.

    A program that attaching needs, and the system's permission to trace the process where the adapter needs
    that, are checked, too; nothing is attached to.

    Raises:
        ArgumentError: There is no process `pid`, it is dapeer itself, or it is suspended where the adapter
            needs another program to attach; the adapter has no way to attach by an id; that other program is
            not found on PATH; or the process must not be traced.
    """
    if not process_table.is_running(pid):
        raise ArgumentError(f"`pid`: there is no process {pid}.", "Give the id of a running one.")
    attach = definition.attach.get("pid")
    if attach is None:
        raise ArgumentError(
            f"Process {pid} runs {_name(pid) or 'something'}, and {definition.id} cannot "
            "attach to a process by its id.",
            _other_way(definition.attach.get("tcp"), pid),
        )
    if pid == os.getpid():
        raise ArgumentError("`pid` is dapeer itself.", "It cannot debug itself.")
    helper = attach.helper.get(sys.platform)
    if helper and shutil.which(helper) is None:
        raise ArgumentError(
            f"Attaching to a running process needs {helper}, which was not found on PATH.",
            f"Install {helper}, or start the program so that it listens for a debugger at a port.",
        )
    if helper and process_table.is_held(pid):
        raise ArgumentError(
            f"Process {pid} is stopped (state T, as by Ctrl-Z or `kill -STOP`), and {definition.id} attaches only to one that runs.",
            f"`kill -CONT {pid}` continues it; then attach.",
        )
    if attach.ptrace:
        _check_trace(pid)


def _other_way(attach: Attach | None, pid: int) -> str:
    """Return as a sentence how a process can be debugged that its adapter cannot attach to by its id."""
    if attach is None or not attach.listen:
        return "Start the program with dap_run."
    command = attach.listen.replace("${pid}", str(pid))
    return f"`{command}` makes it listen for a debugger; then attach with port={attach.usual_ports[0]}."


def check_port(host: str, port: int, attach: Attach | None) -> None:
    """Raise if another user listens at a port, or, for an adapter with `knock`, if nobody does.

    `attach` is the definition's `[attach.tcp]`, or None. The system's tables of sockets tell the users. Only if
    `attach` has `knock`, the port is then connected to, which may take `SECONDS_TO_CONNECT` for each address, and
    the connection is closed at once. Otherwise nothing is sent, and a port at which nobody listens raises nothing.

    Raises:
        ArgumentError: `attach` has `knock`, and the port cannot be connected to.
        ForeignListener: Another user of this machine listens there.
    """
    check_listeners(host, port)
    if attach and attach.knock:
        try:
            socket.create_connection((host, port), timeout=SECONDS_TO_CONNECT).close()
        except OSError as error:
            raise _nothing_listens_error(host, port) from error


def page_at(host: str, port: int, listing_path: str, url: str) -> dict[str, str]:
    """Return the `url` and the id, `page`, of the one page at a browser's port that fits a URL.

    `*` in the URL is any text, and slashes at its end do not matter; an id of a page fits, too. An empty one fits
    all. `listing_path` is the path under which the browser lists its pages by HTTP. The list is requested from
    the browser, which blocks.

    Raises:
        ArgumentError: None fits, or several, or nothing lists pages there, or the list is too long.
    """
    pages = [
        each for each in _listed_targets(host, port, listing_path) if each.get("type") == "page"
    ]
    pattern = re.compile(".*".join(map(re.escape, (url or "*").rstrip("/").split("*"))) + "/?")
    fitting = [each for each in pages if pattern.fullmatch(each["url"]) or each["id"] == url]
    if len(fitting) == 1:
        return {"url": fitting[0]["url"], "page": fitting[0]["id"]}
    shown = [
        f"{shortened(each['url'], _LONGEST_URL)} ({each['id']})"
        for each in (fitting or pages)[:_MOST_PAGES]
    ]
    raise ArgumentError(
        f"{len(fitting) or 'None'} of the pages at {host}:{port} fit{'' if fitting else 's'} "
        f"{url or '*'}, so none was taken. There are: {', '.join(shown) or 'none'}.",
        "Choose one by `program`: its URL, in which * is any text, or its id.",
    )


def _listed_targets(host: str, port: int, path: str) -> list[dict[str, str]]:
    """Return `id`, `type` and `url` of each thing that a browser lists at a path by HTTP.

    A missing value is an empty text. `path` is the one at which the browser lists its pages, workers and
    others. At most `_MOST_LISTED` bytes are read. It blocks, for `SECONDS_TO_CONNECT` at most at each step:
    connecting, sending, and each read.

    Raises:
        ArgumentError: What listens there lists no pages, nothing does, or the list is longer.
    """
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS_TO_CONNECT)
    try:
        connection.request("GET", path)
        listed: list[dict[str, str]] = json.loads(connection.getresponse().read(_MOST_LISTED))
        return [{key: str(each.get(key) or "") for key in ("id", "type", "url")} for each in listed]
    except (OSError, http.client.HTTPException, ValueError, TypeError, AttributeError) as error:
        raise ArgumentError(
            f"What listens at {host}:{port} lists no pages, as a browser does.",
            f"Start the browser with --remote-debugging-port={port}.",
        ) from error
    finally:
        connection.close()


_MOST_PAGES = 20
_LONGEST_URL = 200
_MOST_LISTED = 1 << 22


def check_page_is_served(url: str) -> None:
    """Raise if `url` is a page of this machine and nothing listens at its port; others pass.

    The host counts as this machine if it is `localhost`, 127.0.0.1 or ::1. Then the port of the URL (80 for `http`
    or 443 for `https` if the URL has none) is connected to, and the connection is closed at once. That blocks, for
    at most `SECONDS_TO_CONNECT` for each address of the host. Nothing is connected to for another host, or for
    another scheme without a port.

    Raises:
        ArgumentError: Nothing accepts a connection there in time, or `url` cannot be parsed.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ArgumentError(f"`program`: {url} is no URL: {error}.", "Correct it.") from error
    if host in _HERE and port:
        try:
            socket.create_connection((host, port), timeout=SECONDS_TO_CONNECT).close()
        except OSError as error:
            raise ArgumentError(
                f"`program`: nothing listens at {host}:{port}, so there is no page.",
                "Start its server first, by dap_run with timeout_ms=0 or in a terminal.",
            ) from error


_HERE = ("localhost", LOOPBACK, "::1")
_PORTS = {"http": 80, "https": 443}


def _nothing_listens_error(host: str, port: int) -> ArgumentError:
    """Return the error that nothing accepts connections at an address."""
    return ArgumentError(
        f"Nothing accepts connections at {host}:{port}.",
        "Start the program so that it listens there for a debugger, then attach.",
    )


def _check_trace(pid: int) -> None:
    """Raise if the system does not let dapeer trace a process.

    With the capability to trace any process (CAP_SYS_PTRACE), only a tracer that the process has already and 3 as
    the setting `kernel.yama.ptrace_scope` prevent it: the process's user is not checked then. Without it, a setting
    other than 0 counts as forbidden. Where nothing is known of the process, only the setting decides.

    Raises:
        ArgumentError: The process is traced already, is another user's, or the setting forbids tracing.
    """
    status = process_table.status(pid)
    tracer = status.get("TracerPid", "0")
    if tracer != "0":
        name = process_table.status(int(tracer)).get("Name", "another program")
        raise ArgumentError(
            f"Process {pid} is debugged already, by {name} ({tracer}).", "End that first."
        )
    may_trace = bool(int(process_table.status(os.getpid()).get("CapEff", "0"), 16) & MAY_TRACE)
    owner = status.get("Uid", "").split()[:1]
    if owner and owner != [str(os.geteuid())] and not may_trace:
        raise ArgumentError(
            f"Process {pid} belongs to another user ({owner[0]}).",
            "Only that user, or the administrator, may debug it.",
        )
    check_ptrace_scope(process_table.ptrace_scope(), may_trace=may_trace)


def check_ptrace_scope(scope: int, *, may_trace: bool) -> None:
    """Raise if Linux's `ptrace_scope` forbids to attach to a process, also to one's own.

    `may_trace` is whether dapeer has the capability CAP_SYS_PTRACE, with which only 3 forbids it.

    Raises:
        ArgumentError: It forbids that.
    """
    if scope == 0 or (may_trace and scope < SCOPE_OF_NOBODY):
        return
    raise ArgumentError(
        f"This system does not let processes debug others: kernel.yama.ptrace_scope is {scope}.",
        "Nothing can change that until the next boot."
        if scope >= SCOPE_OF_NOBODY
        else "`sudo sysctl kernel.yama.ptrace_scope=0` allows it until the next boot; or start the "
        "program under the debugger.",
    )


def _name(pid: int) -> str:
    """Return the name of a process's executable without its version; empty if unknown."""
    return re.sub(r"[\d.]+$", "", Path(process_table.executable(pid)).name)


def command_line(pid: int, pattern: str) -> str:
    """Return the first group of a pattern in a process's command line.

    The result is empty if it does not match, or is empty.
    """
    found = re.search(pattern, process_table.command_line(pid), re.DOTALL) if pattern else None
    return found[1] if found else ""
