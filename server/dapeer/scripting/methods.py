"""A method for each tool: made by `python -m tools.script_methods`, not to be edited.

An argument that is None is left out. Each method returns what the tool answers, and raises `ToolError` where it fails.
"""

# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from dapeer.scripting.wire import Answer

OF_SESSION = frozenset(
    {
        "dap_call",
        "dap_collected",
        "dap_completions",
        "dap_continue",
        "dap_current_location",
        "dap_disassemble",
        "dap_disconnect",
        "dap_evaluate",
        "dap_exception_info",
        "dap_goto",
        "dap_history",
        "dap_modules",
        "dap_pause",
        "dap_program_output",
        "dap_read_memory",
        "dap_request",
        "dap_restart",
        "dap_restart_frame",
        "dap_run_to",
        "dap_run_until",
        "dap_scopes",
        "dap_send_input",
        "dap_set_data_breakpoint",
        "dap_set_exception_breakpoints",
        "dap_set_instruction_breakpoint",
        "dap_set_variable",
        "dap_snapshot",
        "dap_source",
        "dap_stacktrace",
        "dap_status",
        "dap_step_back",
        "dap_step_into",
        "dap_step_out",
        "dap_step_over",
        "dap_terminate",
        "dap_threads",
        "dap_variables",
        "dap_wait_until_paused",
        "dap_write_memory",
    }
)
"""Tools that act on a session, and take its `session_id`."""


class Methods(Protocol):
    """The tools, as methods of what calls them by their names."""

    def call_tool(self, tool: str, **arguments: Any) -> Answer:  # noqa: ANN401 - any argument of a tool
        """Call a tool with those of the arguments that are not None."""
        ...

    def status(self, *, session_id: int | None = None) -> Answer:
        """List the debug sessions: state, place, exit code, and which one is the default.

        `session_id` shows that one alone; an id of no session gives an empty list and no error. Without an id the
        sessions of living programs, of the default's, and of the last `LISTED_ENDED` programs that ended are
        listed; older ones are only counted. If no program lives, Neovims are searched for, and attached, unless
        only named ones are to be; each client is told of a new Neovim once. For the place of a session that has
        just stopped, the call waits `SECONDS_FOR_PLACE` at most. The data has `sessions` (a list of objects, see
        `StatusRow`), `breakpoints` (the number of those on lines, of all clients), and maybe `older` (the number of
        those left out) and `focused`, the id of the default session. Groups that live are only in the text.

        This calls the tool `dap_status` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_status", session_id=session_id)

    def adapters(self) -> Answer:
        """List the debug adapters: what they debug, whether they are ready, how to install them.

        Programs are started to ask for their versions, side by side, unless these are known already. The data has
        `adapters`, each with `type`, `languages`, `ready`, and maybe `version` (if ready), or `missing` and
        `install` (if not).

        This calls the tool `dap_adapters` of the server, and waits for its answer. The result is the tool's `Answer`; what
        is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_adapters")

    def restart(
        self,
        *,
        then: Sequence[Mapping[str, Any]] | None = None,
        ready: Mapping[str, Any] | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """End the program and start it again as it was, as a new session.

        A program that has ended is started again, too. Breakpoints in files that were edited move with their
        lines; notes say so. In `triggers`, `then` lists what is sent once the program is ready, as `ready` says.
        In `options`, `session_id` names the program (None: the default one), `evaluate` what is evaluated at the
        next stop, `show` how much of the stop is shown, and `wait_until_paused` and `timeout_ms` whether and for
        how many milliseconds to wait. The reply is the state of the new session, or of another one (a process
        of it, or what `then` has reached) that stops first, at that stop, the end or the timeout; without waiting,
        right after the start. The session that is shown becomes the default.

        This calls the tool `dap_restart` of the server, and waits for its answer. An argument that is None is left out; the
        tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_restart",
            then=then,
            ready=ready,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def terminate(
        self,
        *,
        thread_ids: Sequence[int] | None = None,
        detached: bool | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """End the program; output and history stay.

        With `thread_ids`, the adapter's, only these threads are asked to end, and their end is not awaited; the data has
        these ids. `detached` ends processes, too, that left the program's POSIX session;
        without it the reply notes those that run on. With `group` all of its programs are ended. A program that has
        ended already is no error, except with `thread_ids`, or where without an id another program could be meant.
        After `SECONDS_TO_END` the end is forced; an attached program is then detached from. The data has the session's
        summary, and `breakpoints` that did not work as requested, which count as reported from then on.

        `group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
        has `group` and `answers`, the data of each by its label.

        This calls the tool `dap_terminate` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_terminate",
            thread_ids=thread_ids,
            detached=detached,
            session_id=session_id,
            group=group,
        )

    def disconnect(
        self, *, terminate_debuggee: bool | None = None, session_id: int | None = None
    ) -> Answer:
        """End the session; an attached program runs on, a launched one ends.

        `terminate_debuggee` says whether the program is to end; None: as above. The session's child sessions are
        disconnected first. With `session_id` None the program that the client used last is meant; it is its first
        session that ends. The reply says whether the program was ended or what became of it, and notes processes that
        it has left running; the data is the session's summary. A request that is not answered in time forces dapeer's
        own adapter to end.

        This calls the tool `dap_disconnect` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_disconnect", terminate_debuggee=terminate_debuggee, session_id=session_id
        )

    def configurations(self) -> Answer:
        """List what can be started by its name, from launch.json and Neovim, and what each asks for.

        Programs are started to find which adapters are ready. The data has `configurations`, at most
        `MAX_LISTED_CONFIGURATIONS`, each with `name`, `type`, `request`, `origin`, `where` (a list of `nvim` and
        `direct`; empty: no adapter is ready), and maybe `asks` and `tasks` (lists of texts) and `problem`, why its
        tasks cannot be run. If there are compounds, `compounds` has the names of the members by the compound's name.
        A `problem` beside these says that a file cannot be read, that Neovim does not answer or tell its
        configurations, or that there is no Python interpreter, without which no adapter is known to be ready.

        This calls the tool `dap_configurations` of the server, and waits for its answer. The result is the tool's `Answer`;
        what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_configurations")

    def continue_(
        self,
        *,
        thread_id: int | None = None,
        then: Sequence[Mapping[str, Any]] | None = None,
        ready: Mapping[str, Any] | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """Run to the next stop or the end.

        The thread is `thread_id`, by default that of the stop; most debuggers resume all threads. `then` lists
        what is sent once the program runs and is ready, as `ready` says (it listens at a port, or has printed a
        pattern); if the program runs already, it is not resumed, and `then` is sent. The options say what is
        evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how
        many milliseconds to wait (`wait_until_paused`, `timeout_ms`). With `group` all of its sessions that are
        stopped are resumed. The next stop, or the state when the time is over, is returned.

        `group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
        has `group` and `answers`, the data of each by its label.

        This calls the tool `dap_continue` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_continue",
            thread_id=thread_id,
            then=then,
            ready=ready,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
            group=group,
        )

    def step_over(
        self,
        *,
        thread_id: int | None = None,
        granularity: Literal["statement", "line", "instruction"] | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Run the line, calls included.

        The thread is `thread_id`, by default that of the stop. Where the frame shown has called a library that still runs, that call runs to
        its end first. `granularity` is DAP's; None: the adapter's default. The options say what is evaluated at the next stop (`evaluate`), how
        much of the stop is shown (`show`), and whether and for how many milliseconds to wait (`wait_until_paused`, `timeout_ms`). The next
        stop, or the state when the time is over, is returned; notes say if the step was not done.

        This calls the tool `dap_step_over` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_step_over",
            thread_id=thread_id,
            granularity=granularity,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def step_into(
        self,
        *,
        thread_id: int | None = None,
        target: str | None = None,
        granularity: Literal["statement", "line", "instruction"] | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Enter the function called on the current line.

        The thread is `thread_id`, by default that of the stop. Where the frame shown has called a library that
        still runs, that call runs to its end first, if this call waits and neither `target` nor `granularity` is
        given; if it does not end in time, the step is not made. Where another thread's stop has interrupted an
        earlier step into, and the debugger goes on with that step by itself, the program is continued instead.
        `target` is a part of the text of the call to enter, where the line has several; None: the first that is
        called. `granularity` is DAP's; None: the adapter's default. The options say what is evaluated at the next
        stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how many milliseconds to wait
        (`wait_until_paused`, `timeout_ms`). The program's next stop, be it of another thread or process, or the
        state when the time is over, is returned; notes say if the step was not done.

        This calls the tool `dap_step_into` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_step_into",
            thread_id=thread_id,
            target=target,
            granularity=granularity,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def step_out(
        self,
        *,
        thread_id: int | None = None,
        granularity: Literal["statement", "line", "instruction"] | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Run until the current function has returned.

        The thread is `thread_id`, by default that of the stop. Where the frame shown has called a library that still runs, that call runs to
        its end first. `granularity` is DAP's. The options say what is evaluated at the next stop (`evaluate`), how much of the stop is shown
        (`show`), and whether and for how many milliseconds to wait (`wait_until_paused`, `timeout_ms`). The next stop, or the state when the
        time is over, is returned.

        This calls the tool `dap_step_out` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_step_out",
            thread_id=thread_id,
            granularity=granularity,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def run_to(
        self,
        filename: str,
        line: int,
        *,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Run on to a line, or to a stop before it.

        A breakpoint that lasts until the next stop is set on `line` (from 1) of `filename`, in place of any that is there, and the program is
        continued. The options say what is evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for
        how many milliseconds to wait (`wait_until_paused`, `timeout_ms`). The next stop, which may be another one, or the state when the time
        is over, is returned.

        This calls the tool `dap_run_to` of the server, and waits for its answer. An argument that is None is left out; the
        tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_run_to",
            filename=filename,
            line=line,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def goto(
        self,
        line: int,
        *,
        filename: str | None = None,
        thread_id: int | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Move execution to a line without running what lies between.

        The program stays stopped. `line` is a 1-based line of `filename`, by default the file of the thread's top frame;
        `thread_id` is by default the thread of the stop. The session becomes the client's default, unless it is of another
        program and no id is given. If the adapter offers several targets on the line, the first is taken. The new place is
        waited for, for 10 s at most, and returned as a snapshot: `evaluate` of `options` lists expressions that are
        evaluated there, and `show` says how much of it is shown; what is shown counts as shown.

        This calls the tool `dap_goto` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_goto",
            line=line,
            filename=filename,
            thread_id=thread_id,
            evaluate=evaluate,
            show=show,
            session_id=session_id,
        )

    def pause(
        self,
        *,
        thread_id: int | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """Stop the program, or show where it is blocked.

        It waits at most `timeout_ms` for the stop; where threads of a running program can be seen, and none stops
        soon, it returns where each of them is blocked. `thread_id` is the thread to pause; None: the first one.
        Most debuggers pause all threads with it. If any thread is stopped already, its stop is only shown, and
        `thread_id` is not paused. With `group` all of its sessions that run are paused. `evaluate` and `show` are
        for the stop.

        `group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
        has `group` and `answers`, the data of each by its label.

        This calls the tool `dap_pause` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_pause",
            thread_id=thread_id,
            evaluate=evaluate,
            show=show,
            timeout_ms=timeout_ms,
            session_id=session_id,
            group=group,
        )

    def wait_until_paused(
        self,
        *,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Wait for the next stop or the end.

        It waits at most `timeout_ms`; after that the reply shows the program running, which is no error. A session
        that is stopped, or whose program has ended, is shown at once. Nothing is resumed. `evaluate` and `show` are
        for the stop, which may be in another process of the program, or in another program that triggers (`then`)
        have reached. If `session_id` is left out and the whole program of the client's session has ended, a note
        names the programs that live, if any.

        This calls the tool `dap_wait_until_paused` of the server, and waits for its answer. An argument that is None is
        left out. Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used
        last. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is
        none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_wait_until_paused",
            evaluate=evaluate,
            show=show,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def step_back(
        self,
        *,
        to_breakpoint: bool | None = None,
        thread_id: int | None = None,
        granularity: Literal["statement", "line", "instruction"] | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Run backwards by one line, or to the previous breakpoint, and return the snapshot.

        The thread is `thread_id`, by default that of the stop. With `to_breakpoint` `granularity` (DAP's) does not count. The options say what
        is evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how many milliseconds to wait
        (`wait_until_paused`, `timeout_ms`).

        This calls the tool `dap_step_back` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `wait_until_paused` true. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_step_back",
            to_breakpoint=to_breakpoint,
            thread_id=thread_id,
            granularity=granularity,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def restart_frame(
        self,
        *,
        frame_id: int | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Restart a function call with its current arguments, and return the snapshot there.

        The frame is `frame_id`, by default the one shown. In `options`, `session_id` names the session (None: the
        default one, or a stopped one of its program), and `evaluate` and `show` are for the stop in the restarted
        call, for which this call waits `timeout_ms` milliseconds at most; at the timeout the reply is the state then.
        The code of the program runs, and what the reply tells counts as shown.

        This calls the tool `dap_restart_frame` of the server, and waits for its answer. An argument that is None is left
        out. Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_restart_frame",
            frame_id=frame_id,
            evaluate=evaluate,
            show=show,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def run_until(
        self,
        expression: str,
        *,
        on: Literal["true", "change", "write"] | None = None,
        scope: Sequence[str] | None = None,
        every: bool | None = None,
        last: bool | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        wait_until_paused: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Run until an expression holds or changes, or until a variable, attribute or item is written.

        With `on` "true" it stops where `expression` holds, with "change" where its value is another one within a
        call, with "write" where the variable, attribute or item is assigned. `scope` limits that to files and
        functions; without it all code but libraries counts. `every` records all such lines, and stops at none;
        dap_collected returns them. The options say what is evaluated at the next stop (`evaluate`), how much of
        the stop is shown (`show`), and whether and for how many milliseconds to wait (`wait_until_paused`,
        `timeout_ms`). The state is returned; its data has `until`, a list of sentences on the outcome, if there is
        one. `last` (with "write" alone) leaves the session at its stop, and runs the program a second time, to say
        who wrote the value last before this stop: no state is returned then, the data has `writes` (how often;
        None: not known), `same` (whether the second run came to this stop) and `told` (the lines of the text). A
        Python program mostly watches by itself; where a program cannot, as in other
        languages, watchpoints or conditions of the adapter are used, else single steps.

        This calls the tool `dap_run_until` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `on` "true", `wait_until_paused` true. Without `session_id` a `Session` means itself, and a
        `Debugger` the session that this client has used last. The result is the tool's `Answer`; what is called the data
        here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_run_until",
            expression=expression,
            on=on,
            scope=scope,
            every=every,
            last=last,
            evaluate=evaluate,
            show=show,
            wait_until_paused=wait_until_paused,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def set_breakpoint(
        self,
        *,
        filename: str | None = None,
        line: int | None = None,
        function: str | None = None,
        calls: Sequence[str] | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
        log_message: str | None = None,
        collect: Sequence[str] | None = None,
        max_hits: int | None = None,
        expect: str | None = None,
        more_lines: Sequence[int] | None = None,
        column: int | None = None,
        at: str | None = None,
    ) -> Answer:
        """Set a breakpoint, in running and later sessions; log_message prints {expressions}.

        The place is `filename` and `line` (from 1; `more_lines` are of the same file), or `function`, or
        `calls`: names or patterns of functions whose calls are recorded. The breakpoint replaces the one at its
        place, but one that collects on a whole line leaves a person's there. It counts at hits where
        `condition` holds, and that `hit_condition` names; with `expect` the program stops where that is false.
        With `log_message`, `collect` (expressions, recorded at up to `max_hits` hits) or `calls` it does not
        stop. `column`, or `at`, a text on the line, chooses a place on it, and goes without `more_lines`.
        Adapters are sent the change before this returns; if one fails to take it, a note says so. The data is
        the breakpoint with its `state`; with `more_lines` it has `set` (a number) and `breakpoints` (of many,
        only some that need attention); for a `function` at which programs stop it has `functions`, the first
        `MAX_LISTED_VALUES` names of all such functions. There is no data if another client has changed all of
        these breakpoints meanwhile.

        This calls the tool `dap_set_breakpoint` of the server, and waits for its answer. An argument that is None is left
        out. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is
        none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_set_breakpoint",
            filename=filename,
            line=line,
            function=function,
            calls=calls,
            condition=condition,
            hit_condition=hit_condition,
            log_message=log_message,
            collect=collect,
            max_hits=max_hits,
            expect=expect,
            more_lines=more_lines,
            column=column,
            at=at,
        )

    def remove_breakpoint(
        self,
        *,
        filename: str | None = None,
        line: int | None = None,
        function: str | None = None,
        column: int | None = None,
        at: str | None = None,
    ) -> Answer:
        """Remove the breakpoint on a line, or of functions, if there is one.

        The breakpoint is on `filename` and `line`, or at `function` (a name, or the title of what collects
        there). What stops there is removed whoever has set it; of what collects, only what the calling client
        itself has set. On a line all breakpoints are removed, or only those at the 1-based `column`, or where
        `at`, a text of the line, stands. Adapters are sent the change before this returns; the answer's notes
        name sessions that have not applied it. The data is `removed`: whether there was a breakpoint; False is
        no error.

        This calls the tool `dap_remove_breakpoint` of the server, and waits for its answer. An argument that is None is
        left out. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there
        is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_remove_breakpoint",
            filename=filename,
            line=line,
            function=function,
            column=column,
            at=at,
        )

    def clear_breakpoints(self, *, filename: str | None = None) -> Answer:
        """Remove all breakpoints of a file, or of all files; exception filters stay.

        With `filename` None or empty, those of functions, and those on data, instructions and in watches go, too.
        Breakpoints of other clients that collect stay; a note counts those on lines. Adapters are sent the change
        before this returns; a note names failures. The data is `removed`, how many.

        This calls the tool `dap_clear_breakpoints` of the server, and waits for its answer. An argument that is None is
        left out. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there
        is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_clear_breakpoints", filename=filename)

    def breakpoints(self) -> Answer:
        """List all breakpoints with their conditions, and their state in each adapter.

        Breakpoints that adapters have not got yet are sent first, and answers are awaited, from the first one on for
        at most `SECONDS_FOR_OTHERS`; an adapter's failure raises nothing. The data has `breakpoints` (on lines, each
        with `filename`, `line`, `state` and its options), `functions` (names, quoted, the first `MAX_LISTED_VALUES`)
        and `exception_filters` (names, quoted), and if there are any, `in_memory` (on data and instructions) and
        `collecting` (at functions, each with `function` or `calls` and its options).

        This calls the tool `dap_breakpoints` of the server, and waits for its answer. The result is the tool's `Answer`;
        what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_breakpoints")

    def set_exception_breakpoints(
        self, filters: Sequence[str], *, session_id: int | None = None
    ) -> Answer:
        """Choose the exceptions to stop at, by the adapter's filters (debugpy: raised, uncaught, userUnhandled); [] for none.

        `filters` are ids of the adapter's exception filters, as `FILTER`, `FILTER:TYPE` or `FILTER:CONDITION`, or a
        `TYPE` alone; types and conditions only where the adapter's definition knows how to ask for them. They replace
        the earlier filters in all living sessions, and count for later ones. With `session_id` only that session (its
        first child, where that has the program) gets them, later ones do not, and it becomes the client's default.
        Sessions whose adapters lack some of the filters get the others, and are named in notes, as is a session that
        has not applied the filters: its failure is no error. The data has `filters`, as the caller gave them. Without a
        living session nothing is checked.

        This calls the tool `dap_set_exception_breakpoints` of the server, and waits for its answer. An argument that is
        None is left out. Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has
        used last. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where
        there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_set_exception_breakpoints", filters=filters, session_id=session_id
        )

    def set_function_breakpoints(self, names: Sequence[str]) -> Answer:
        """Stop when one of these functions (`f`, `f if n > 3`) is entered; replaces earlier ones, [] removes them.

        This calls the tool `dap_set_function_breakpoints` of the server, and waits for its answer. An argument that is None
        is left out. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where
        there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_set_function_breakpoints", names=names)

    def collected(
        self,
        *,
        at: str | None = None,
        rows: str | None = None,
        where: str | None = None,
        changes: bool | None = None,
        by: Literal["thread", "task", "caller", "process", "function"] | None = None,
        plot: bool | None = None,
        timeline: bool | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Sum up collected rows, or list them; also after the end.

        The rows are those that the session's program has recorded for this client, or for nobody in particular;
        those written by now are read first. `at` chooses a place (`shop.py:12`, or a function), `rows` hits by
        number (`7`, `7-9` or `7-`; with `timeline` by the place in that), `where` those for which an expression
        over their columns holds; places whose columns it does not fit are left out, if it fits any. Without a
        choice each place is summed up; `changes` lists only rows that change something, `by` groups rows,
        `plot` draws the columns of numbers, `timeline` lists the rows of all places in the order of time, and
        goes with none of these three. All rows of the places that `at` chooses count as reported to this client
        then, also those that are not shown. The data has the lines as `collected`. `session_id` becomes the
        default; None: the default session.

        This calls the tool `dap_collected` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_collected",
            at=at,
            rows=rows,
            where=where,
            changes=changes,
            by=by,
            plot=plot,
            timeline=timeline,
            session_id=session_id,
        )

    def call(
        self,
        n: int,
        *,
        at: str | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Run the program again to list the lines that collected call #n executed, and what each changed.

        `n` is the number of the call among the rows of dap_collected; `at` is its function, needed where several
        functions have such a call. The program is started anew as it was, with all that it does outside, for at most
        `timeout_ms`, and is ended then; its earlier session stays as it is. The data has `call`, `run` (a sentence on the
        second run) and `lines`, which is empty if the second run recorded none.

        This calls the tool `dap_call` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_call", n=n, at=at, timeout_ms=timeout_ms, session_id=session_id)

    def set_data_breakpoint(
        self,
        path: str,
        *,
        access: Literal["read", "write", "readWrite"] | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
        remove: bool | None = None,
        frame_id: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Stop when a variable is written, or read. It lasts as long as the session.

        `path` is a variable in the frame `frame_id`, by default the one shown. `access` says at what the program
        stops; `condition` and `hit_condition` limit it. A breakpoint on the same data is replaced. With `remove`,
        those that were set with this very text as `path` are removed instead, whatever their `access`; the other
        arguments except `session_id` then do not count, and the program may run. The data is the breakpoint, or for
        `remove` `removed`: whether there was one.

        This calls the tool `dap_set_data_breakpoint` of the server, and waits for its answer. An argument that is None is
        left out; the tool takes then `access` "write". Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_set_data_breakpoint",
            path=path,
            access=access,
            condition=condition,
            hit_condition=hit_condition,
            remove=remove,
            frame_id=frame_id,
            session_id=session_id,
        )

    def set_instruction_breakpoint(
        self,
        address: str,
        *,
        condition: str | None = None,
        hit_condition: str | None = None,
        remove: bool | None = None,
        frame_id: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Stop at a machine instruction. It lasts as long as the session.

        `address` is a number, or a name or path in the frame `frame_id` (by default the one shown), such as a
        function, that has an address; to find it, the text may be evaluated, which may run code of the program.
        `condition` and `hit_condition` limit the breakpoint. One at the same address is replaced; `remove` removes it
        instead. The data is the breakpoint, whose `state` says whether the adapter has verified it; one that it has
        not verified stays. For `remove` the data is `removed`: whether there was one.

        This calls the tool `dap_set_instruction_breakpoint` of the server, and waits for its answer. An argument that is
        None is left out. Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has
        used last. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where
        there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_set_instruction_breakpoint",
            address=address,
            condition=condition,
            hit_condition=hit_condition,
            remove=remove,
            frame_id=frame_id,
            session_id=session_id,
        )

    def snapshot(self, *, session_id: int | None = None) -> Answer:
        """Return where the program is: reason, source, stack, locals, changes, output; or how it ended.

        This calls the tool `dap_snapshot` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_snapshot", session_id=session_id)

    def current_location(
        self, *, context_lines: int | None = None, session_id: int | None = None
    ) -> Answer:
        """Return file, line and function of the stop, with the source around it.

        The place is that of the frame shown: at a planned stop the innermost, unless data was written, else
        the innermost one of the user's code, if there is one. `context_lines` is the number of source lines
        before it and behind it. The data has `file`, `line`, `function` and `source`, a text that is empty if
        the source is not known, and one line that says so for a file that may hold secrets; `file` is empty if
        the frame has none. A note warns if the file is not what the frame runs, as it has changed since.

        This calls the tool `dap_current_location` of the server, and waits for its answer. An argument that is None is left
        out; the tool takes then `context_lines` 5. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_current_location", context_lines=context_lines, session_id=session_id
        )

    def threads(self, *, session_id: int | None = None) -> Answer:
        """List the threads and asyncio tasks, and where each is in the user's code.

        The threads of a running program are read now, where that is possible; this takes some seconds at most. The
        data has `threads`, each with `thread_id`, `name`, `state` (`stopped`, `running`, or `blocked`: it does not
        heed a pause) and maybe `function`, `file`, `line` and, for a stopped thread, `frame_id`. Where there are
        any, it has the lists of lines `tasks`, `deadlock` (on those that wait for each other) and `waits` (on other
        waits), and a `note`, a sentence on an adapter that does not answer. The session becomes the client's
        default, unless it is of another program and no id is given.

        This calls the tool `dap_threads` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_threads", session_id=session_id)

    def scopes(self, *, frame_id: int | None = None, session_id: int | None = None) -> Answer:
        """List the scopes of a frame with the variables_reference of each.

        The frame is `frame_id`, by default the one shown. The data has `scopes`, each with `name` and
        `variables_reference`; it is empty if the frame has none, or the adapter gives no frame. A frame of a thread
        that runs has one scope, `Locals`, with `frame_id` instead of a reference; that frame is not checked here. A
        session given by its id becomes the client's default.

        This calls the tool `dap_scopes` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_scopes", frame_id=frame_id, session_id=session_id)

    def variables(
        self,
        *,
        variables_reference: int | None = None,
        path: str | None = None,
        frame_id: int | None = None,
        filter: Literal["indexed", "named"] | None = None,
        start: int | None = None,
        count: int | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """List the variables in a container given by reference or path; default the locals of the frame.

        The container is `variables_reference` of an answer, with which `path` and `frame_id` are ignored; else the
        value at `path`, else the frame `frame_id`, by default the one shown. `filter` leaves only `indexed` or
        `named` ones; `count` of them are returned from index `start` (from 0) on. The data has `variables`, each with
        `name`, `value`, and maybe `type` and `variables_reference`, and `more`, how many follow, if any do; with
        `path` also the fields of that value, or only these if it holds nothing. A frame of a thread that is not
        stopped can be read with some adapters: then the data has `variables` alone, without references, and the value
        at `path` is only in the text. With consent to evaluation, a getter, or a `path` that is not among the
        variables, runs code of the program.

        `group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
        has `group` and `answers`, the data of each by its label.

        This calls the tool `dap_variables` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `start` 0, `count` 50. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_variables",
            variables_reference=variables_reference,
            path=path,
            frame_id=frame_id,
            filter=filter,
            start=start,
            count=count,
            session_id=session_id,
            group=group,
        )

    def exception_info(
        self, *, thread_id: int | None = None, session_id: int | None = None
    ) -> Answer:
        """Return type, message and traceback of the exception.

        The thread is `thread_id`, by default that of the stop. The data has `exception` (type and message as one
        text, shortened), `break_mode` (DAP's; None: the adapter gives none) and `traceback` (a text; empty: the
        adapter gives none), in which lines of secret files are hidden.

        This calls the tool `dap_exception_info` of the server, and waits for its answer. An argument that is None is left
        out. Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_exception_info", thread_id=thread_id, session_id=session_id)

    def stacktrace(
        self,
        *,
        thread_id: int | None = None,
        start_frame: int | None = None,
        levels: int | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """List a thread's frames, innermost first, with their frame_id; of a running one where the adapter can.

        The thread is `thread_id`, by default that of the stop; of a running program by default all threads and tasks
        are listed. `levels` frames are listed from number `start_frame` (0: the innermost); longer runs of library
        frames are folded into one line, and count as one. The data has `thread_id`, `total_frames` and `frames`, where
        folded frames are one object with their number, `folded`; of a running program `state` and `threads`, each
        with `thread_id` (None for a task), `name` and `frames`.

        `group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
        has `group` and `answers`, the data of each by its label.

        This calls the tool `dap_stacktrace` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `start_frame` 0, `levels` 20. Without `session_id` a `Session` means itself, and a `Debugger`
        the session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_stacktrace",
            thread_id=thread_id,
            start_frame=start_frame,
            levels=levels,
            session_id=session_id,
            group=group,
        )

    def evaluate(
        self,
        expressions: Sequence[str],
        *,
        frame_id: int | None = None,
        context: Literal["watch", "repl", "hover", "clipboard", "variables"] | None = None,
        max_chars: int | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """Evaluate in a frame, default the one shown. Context repl: statements, gdb's commands.

        The expressions are evaluated one after the other, within `timeout_ms` for all, in the frame `frame_id`; they
        may change the program. `context` is DAP's. Of several each one has its value or its error; at a stop, those
        behind one that takes too long, or has resumed or ended the program, are not evaluated. A frame of a thread or
        task that is not stopped is read, where that is possible: `frame_id`, or after a request to pause one of the
        user's; `context` and `group` do not count then, and a note says so of `context`; code of the program is awaited
        for two seconds at most. The data of one is `expression`, `result` and, if known, `type` and
        `variables_reference`; of several, or with `group`, `values` is the list of these, with `error` for a failed
        one. `frame` is the place. With `max_chars` and context `watch`, each value is shown as whole as the adapter
        gives it, up to `max_chars`; several share `MAX_WHOLE_CHARS` equally.

        `group` is the name of a group of programs, given instead of `session_id`: its members that can answer are all called, and the data
        has `group` and `answers`, the data of each by its label.

        This calls the tool `dap_evaluate` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `context` "watch". Without `session_id` a `Session` means itself, and a `Debugger` the session
        that this client has used last. The result is the tool's `Answer`; what is called the data here is its attribute
        `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_evaluate",
            expressions=expressions,
            frame_id=frame_id,
            context=context,
            max_chars=max_chars,
            timeout_ms=timeout_ms,
            session_id=session_id,
            group=group,
        )

    def set_variable(
        self, path: str, value: str, *, frame_id: int | None = None, session_id: int | None = None
    ) -> Answer:
        """Give a variable a value.

        `path`, such as `order.items[3].price`, is what is assigned to, in the frame `frame_id` (by default the
        one shown). An adapter with `setExpression` also gets a path that it shows no variable for: Python may make
        the variable then. `value` is an expression of the program's language, whose code runs in the program, and
        may run twice. The data has `path`, `value` as it is then (`value` as given where neither the adapter nor
        reading the path again tells), and `was` if the old value is known. Both values are shortened. A note says
        if the program has left the stop by the assignment. `session_id` is by default the client's session; the
        session becomes the client's default, unless it is of another program and no id is given.

        This calls the tool `dap_set_variable` of the server, and waits for its answer. An argument that is None is left
        out. Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_set_variable", path=path, value=value, frame_id=frame_id, session_id=session_id
        )

    def completions(
        self,
        text: str,
        *,
        column: int | None = None,
        frame_id: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """List completions of an expression, such as `order.`, in a frame (default the one shown).

        `text` is completed at `column` (from 1; None: its end), with the names of the frame `frame_id`. At most
        `MAX_COMPLETIONS` different texts are returned, those that begin with `_` last. The data has them as the
        list `completions`, and `more`, how many were left out; `more` is absent if none were.

        This calls the tool `dap_completions` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_completions", text=text, column=column, frame_id=frame_id, session_id=session_id
        )

    def source(
        self,
        *,
        filename: str | None = None,
        source_reference: int | None = None,
        line: int | None = None,
        count: int | None = None,
        column: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Return numbered source lines of a file, default around the stop.

        The source is the file `filename`, or the adapter's own one with the number `source_reference`, which counts
        if both are given; by default the one where the program has stopped. `count` lines are returned from `line`
        (from 1) on; without it, those around the place of the stop in that source, or the first ones. An arrow
        marks the place of the stop; with `column` it marks the first line instead, of which, if it is long, the
        part around that column is shown. A line behind them says from which line there are more. Notes name
        sessions that run an earlier edition of the file. The only data are `notes`. A session that is found becomes
        the client's default, unless it is of another program and no id is given.

        This calls the tool `dap_source` of the server, and waits for its answer. An argument that is None is left out; the
        tool takes then `count` 50. Without `session_id` a `Session` means itself, and a `Debugger` the session that this
        client has used last. The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty
        where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_source",
            filename=filename,
            source_reference=source_reference,
            line=line,
            count=count,
            column=column,
            session_id=session_id,
        )

    def modules(
        self,
        *,
        kind: Literal["modules", "sources"] | None = None,
        matching: str | None = None,
        start: int | None = None,
        count: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """List what the program has loaded: modules (libraries), or sources with their source_reference for dap_source.

        `kind` is by default `modules`, or `sources` if the adapter supports only these. `matching` leaves only
        those whose name or path contains the text, without regard to case; `count` of these are returned from index
        `start` (from 0) on. They are requested from the adapter, unless it has no such request and has sent them as
        events. The data has a list under `modules` or `sources`: objects with `name`, `path`, and of a module
        `version`, `address_range` and `symbols`, of a source `source_reference`, each as far as it is known; and if
        some follow, `more`, the number of them.

        This calls the tool `dap_modules` of the server, and waits for its answer. An argument that is None is left out; the
        tool takes then `start` 0, `count` 50. Without `session_id` a `Session` means itself, and a `Debugger` the session
        that this client has used last. The result is the tool's `Answer`; what is called the data here is its attribute
        `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_modules",
            kind=kind,
            matching=matching,
            start=start,
            count=count,
            session_id=session_id,
        )

    def compare(self, a: int, b: int) -> Answer:
        """Tell where two runs (session ids) that `collect` the same part: control flow or values, and the rows before.

        `a` and `b` are ids of sessions of two programs, also ended ones, whose rows are kept. Rows that the
        programs have written by now are read first. Rows are compared thread by thread, at points (places that
        collect) that both runs have; what was not compared is named in the text. The data has `a`, `b`, counts
        (`rows` of both, `alike`, `changed`, `only_a`, `only_b`), and if the runs differ, `kind` (`data` or
        `flow`) and `parting`, the rows of both at the first difference.

        This calls the tool `dap_compare` of the server, and waits for its answer. An argument that is None is left out. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_compare", a=a, b=b)

    def read_memory(
        self,
        address: str,
        *,
        count: int | None = None,
        offset: int | None = None,
        frame_id: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Return `count` bytes of the program's memory as a hex dump.

        `address` is a number, a pointer or `&variable` in the frame `frame_id`; `offset` bytes are added to it. An
        address that is no number may be evaluated, which may run code of the program. The data has `address` (in
        hex, such as `0x1000`), `hex` (two digits a byte), and if not all could be read, `unreadable`: how many of
        the `count` bytes are missing at the end. The session becomes the client's default, unless it is of another
        program and no id is given.

        This calls the tool `dap_read_memory` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `count` 64, `offset` 0. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_read_memory",
            address=address,
            count=count,
            offset=offset,
            frame_id=frame_id,
            session_id=session_id,
        )

    def write_memory(
        self,
        address: str,
        data: str,
        *,
        offset: int | None = None,
        frame_id: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Write bytes into the program's memory.

        `data` has the bytes in hex, such as `2a 00 ff`. `address` is a number, a pointer or `&variable` in the
        frame `frame_id` (None: the frame shown first); what is no number may be evaluated, which may run an
        overloaded operator of the program. `offset` bytes are added to the address. `session_id` names the
        session (None: the default one). The data has `address`, where the bytes are now, and `written`, the number of
        bytes written: the adapter's, or all of them if the adapter does not say. If `address` leads to a reference
        that only the adapter understands, the data has that, and the `offset` beside it.

        This calls the tool `dap_write_memory` of the server, and waits for its answer. An argument that is None is left
        out; the tool takes then `offset` 0. Without `session_id` a `Session` means itself, and a `Debugger` the session
        that this client has used last. The result is the tool's `Answer`; what is called the data here is its attribute
        `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_write_memory",
            address=address,
            data=data,
            offset=offset,
            frame_id=frame_id,
            session_id=session_id,
        )

    def disassemble(
        self,
        *,
        address: str | None = None,
        before: int | None = None,
        count: int | None = None,
        frame_id: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Return machine instructions with their source lines, `before` of them before the address.

        `address` is a number, a pointer or `&variable` in the frame `frame_id`; by default it is where that frame
        is. `count` instructions are returned from there on. The data has `instructions`, each with `address` and
        `instruction`, and maybe `symbol`, `file`, `line` and `current`; `instructions` is empty if the adapter
        gives none. A line says if the instructions before the address cannot be had.

        This calls the tool `dap_disassemble` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `before` 0, `count` 20. Without `session_id` a `Session` means itself, and a `Debugger` the
        session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_disassemble",
            address=address,
            before=before,
            count=count,
            frame_id=frame_id,
            session_id=session_id,
        )

    def request(
        self,
        command: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        force: bool | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Send a Debug Adapter Protocol request that no other tool sends, and return its answer. Use the ids that other tools return.

        `command` and `arguments` are DAP's, with frames and references as handles (the ids that tools give), which
        are replaced by the adapter's ids; in the answer it is the other way round. While the program is not
        stopped, ids are the adapter's own. `force` sends the request although the adapter does not advertise it.
        The adapter has `timeout_ms` to answer. The request may run code of the program or change it. The session
        becomes the client's default, unless it is of another program and no id is given. The data has `body`, or if
        that is longer than `ANSWER_CHARS` as text, `cut`: its beginning as text.

        This calls the tool `dap_request` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_request",
            command=command,
            arguments=arguments,
            force=force,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def program_output(
        self,
        *,
        category: Literal["all", "stdout", "stderr", "console", "log", "then"] | None = None,
        lines: int | None = None,
        since: int | None = None,
        wait_ms: int | None = None,
        include_metadata: bool | None = None,
        raw: bool | None = None,
        session_id: int | None = None,
    ) -> Answer:
        """Return the last lines that the program printed, or those after cursor `since`; after its end, too.

        At most `lines` lines of `category` are returned, with `since` the first ones after it; `log` has the
        messages of log points, `console` is the adapter's, `then` is what was answered to triggers. `since` is
        the `cursor` of an earlier answer; None: the last lines. `wait_ms` is how many milliseconds to wait at
        most for output to come, or the program's end. At a stop, what was printed before it is awaited in any
        case, for `SECONDS_OF_FLOOD` more. `include_metadata` puts time and category before each line; `raw`
        keeps colours and control characters. The data has `text`, `cursor`, `lines_total` (of the whole output)
        and `ended`, and maybe `exit_code`, `cause`, and `dropped` and `left_out`, the numbers of characters
        that are no longer kept, and that are not shown.

        This calls the tool `dap_program_output` of the server, and waits for its answer. An argument that is None is left
        out; the tool takes then `category` "all", `lines` 50, `wait_ms` 0. Without `session_id` a `Session` means itself,
        and a `Debugger` the session that this client has used last. The result is the tool's `Answer`; what is called the
        data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_program_output",
            category=category,
            lines=lines,
            since=since,
            wait_ms=wait_ms,
            include_metadata=include_metadata,
            raw=raw,
            session_id=session_id,
        )

    def history(self, *, number: int | None = None, session_id: int | None = None) -> Answer:
        """List the stops so far with place, reason and changed variables, or show one in full.

        If the session is at a stop that is not inspected yet, that one is inspected first, for `SECONDS_TO_LOOK`
        at most. `number` is that of a stop: its snapshot is returned as it was, without notes. Without a number
        the data has `stops`, the oldest first, each with `stop` (its number), `reason`, `thread_id`, `at` (the
        line of its first frame; empty: unknown), and maybe `exception`, `changed` (old and new value by name, the
        old one null if the variable is new), `perhaps_another_call` and `another_call` (variables by name, if the
        stop is in another call than the one before). The text is `No stops.` if there is none; a note names other
        processes of the program that have stopped. Old stops are dropped.

        This calls the tool `dap_history` of the server, and waits for its answer. An argument that is None is left out.
        Without `session_id` a `Session` means itself, and a `Debugger` the session that this client has used last. The
        result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("dap_history", number=number, session_id=session_id)

    def send_input(
        self,
        text: str,
        *,
        enter: bool | None = None,
        evaluate: Sequence[str] | None = None,
        show: Literal["full", "brief"] | None = None,
        timeout_ms: int | None = None,
        session_id: int | None = None,
    ) -> Answer:
        r"""Type a line for a program started with `terminal`, and return what it prints or where it stops next. `\x04` alone, without `enter`, ends its input.

        With `enter` a line end is typed behind `text`. If the program is stopped, the call returns once that is typed: the
        program reads the text later. Else it then waits for output or a stop, for at most `timeout_ms` milliseconds, by
        default one second, and returns the state; output from before counts as shown, and is not in it. `evaluate` lists
        expressions that are evaluated at the next stop, and `show` says how much of it is shown. The session becomes the
        client's default, unless it is of another program and no id is given.

        This calls the tool `dap_send_input` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `enter` true, `timeout_ms` 1000. Without `session_id` a `Session` means itself, and a `Debugger`
        the session that this client has used last. The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool(
            "dap_send_input",
            text=text,
            enter=enter,
            evaluate=evaluate,
            show=show,
            timeout_ms=timeout_ms,
            session_id=session_id,
        )

    def nvim_targets(self) -> Answer:
        """List this user's running Neovims: address, process, working directory, which are attached.

        This calls the tool `nvim_targets` of the server, and waits for its answer. The result is the tool's `Answer`; what
        is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("nvim_targets")

    def nvim_connect(self, *, target: str | None = None) -> Answer:
        """Attach to a Neovim, to share its sessions, breakpoints and tools; auto: all of this project.

        `target` is an address (a socket's path or `host:port`) or a process id as text; `auto` attaches to all Neovims
        of the project that respond. One that is attached already stays so, and is in the answer, too. If one of several
        cannot be attached to, the call fails; those before it stay attached. The data has `attached`, a list with a
        dict for each: `neovim_id`, `target`, `pid` and `cwd`.

        This calls the tool `nvim_connect` of the server, and waits for its answer. An argument that is None is left out;
        the tool takes then `target` "auto". The result is the tool's `Answer`; what is called the data here is its
        attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("nvim_connect", target=target)

    def nvim_disconnect(self, *, target: str | None = None) -> Answer:
        """Detach from a Neovim; its sessions run on.

        This calls the tool `nvim_disconnect` of the server, and waits for its answer. An argument that is None is left out.
        The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("nvim_disconnect", target=target)

    def nvim_lua_tools(self, *, name: str | None = None) -> Answer:
        """List tools of attached Neovims, which may be missing from your tool list.

        With `name` (its prefix `nvim_` may be left out) that tool alone is returned: the data has `name`,
        `description` and `input_schema`. Without, it has `tools`, each with `name`, `description` and `arguments`, a
        list of names in which an optional one ends with `?`; an empty list: no Neovim is attached, or it offers none.

        This calls the tool `nvim_lua_tools` of the server, and waits for its answer. An argument that is None is left out.
        The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("nvim_lua_tools", name=name)

    def nvim_lua_call(self, name: str, *, arguments: Mapping[str, Any] | None = None) -> Answer:
        """Call a tool of nvim_lua_tools by its name.

        This calls the tool `nvim_lua_call` of the server, and waits for its answer. An argument that is None is left out.
        The result is the tool's `Answer`; what is called the data here is its attribute `data`, empty where there is none.

        Raises:
            ToolError: The tool has failed, or a person has not consented.
            ServerGone: The server has ended.
        """
        return self.call_tool("nvim_lua_call", name=name, arguments=arguments)
