"""A method for each tool: made by `python -m tools.script_methods`, not to be edited.

An argument that is None is left out. Each method returns what the tool answers, and raises `ToolError` where it fails.
"""

# ruff: noqa: A002, D301

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
        """List the debug sessions: state, place, exit code, and which one is the default."""
        return self.call_tool("dap_status", session_id=session_id)

    def adapters(self) -> Answer:
        """List the debug adapters: what they debug, whether they are ready, how to install them."""
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
        """End the program and start it again as it was, as a new session."""
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
        """End the program; output and history stay."""
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
        """End the session; an attached program runs on, a launched one ends."""
        return self.call_tool(
            "dap_disconnect", terminate_debuggee=terminate_debuggee, session_id=session_id
        )

    def configurations(self) -> Answer:
        """List what can be started by its name, from launch.json and Neovim, and what each asks for."""
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
        """Run to the next stop or the end."""
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
        """Run the line, calls included."""
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
        """Enter the function called on the current line."""
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
        """Run until the current function has returned."""
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
        """Run on to a line, or to a stop before it."""
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
        """Move execution to a line without running what lies between."""
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
        """Stop the program, or show where it is blocked."""
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
        """Wait for the next stop or the end."""
        return self.call_tool(
            "dap_wait_until_paused",
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
        """Run until an expression holds or changes, or until a variable, attribute or item is written."""
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
        """Run backwards by one line, or to the previous breakpoint, and return the snapshot."""
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
        """Restart a function call with its current arguments, and return the snapshot there."""
        return self.call_tool(
            "dap_restart_frame",
            frame_id=frame_id,
            evaluate=evaluate,
            show=show,
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
        """Set a breakpoint, in running and later sessions; log_message prints {expressions}."""
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
        self, *, filename: str | None = None, line: int | None = None, function: str | None = None
    ) -> Answer:
        """Remove the breakpoint on a line, or of functions, if there is one."""
        return self.call_tool(
            "dap_remove_breakpoint", filename=filename, line=line, function=function
        )

    def clear_breakpoints(self, *, filename: str | None = None) -> Answer:
        """Remove all breakpoints of a file, or of all files; exception filters stay."""
        return self.call_tool("dap_clear_breakpoints", filename=filename)

    def breakpoints(self) -> Answer:
        """List all breakpoints with their conditions, and their state in each adapter."""
        return self.call_tool("dap_breakpoints")

    def set_exception_breakpoints(
        self, filters: Sequence[str], *, session_id: int | None = None
    ) -> Answer:
        """Choose the exceptions to stop at, by the adapter's filters (debugpy: raised, uncaught, userUnhandled); [] for none."""
        return self.call_tool(
            "dap_set_exception_breakpoints", filters=filters, session_id=session_id
        )

    def set_function_breakpoints(self, names: Sequence[str]) -> Answer:
        """Stop when one of these functions (`f`, `f if n > 3`) is entered; replaces earlier ones, [] removes them."""
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
        """Sum up collected rows, or list them; also after the end."""
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
        """Run the program again to list the lines that collected call #n executed, and what each changed."""
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
        """Stop when a variable is written, or read. It lasts as long as the session."""
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
        """Stop at a machine instruction. It lasts as long as the session."""
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
        """Return where the program is: reason, source, stack, locals, changes, output; or how it ended."""
        return self.call_tool("dap_snapshot", session_id=session_id)

    def current_location(
        self, *, context_lines: int | None = None, session_id: int | None = None
    ) -> Answer:
        """Return file, line and function of the stop, with the source around it."""
        return self.call_tool(
            "dap_current_location", context_lines=context_lines, session_id=session_id
        )

    def threads(self, *, session_id: int | None = None) -> Answer:
        """List the threads and asyncio tasks, and where each is in the user's code."""
        return self.call_tool("dap_threads", session_id=session_id)

    def scopes(self, *, frame_id: int | None = None, session_id: int | None = None) -> Answer:
        """List the scopes of a frame with the variables_reference of each."""
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
        """List the variables in a container given by reference or path; default the locals of the frame."""
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
        """Return type, message and traceback of the exception."""
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
        """List a thread's frames, innermost first, with their frame_id; of a running one where the adapter can."""
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
        timeout_ms: int | None = None,
        session_id: int | None = None,
        group: str | None = None,
    ) -> Answer:
        """Evaluate in a frame, default the one shown. Context repl: statements, gdb's commands."""
        return self.call_tool(
            "dap_evaluate",
            expressions=expressions,
            frame_id=frame_id,
            context=context,
            timeout_ms=timeout_ms,
            session_id=session_id,
            group=group,
        )

    def set_variable(
        self, path: str, value: str, *, frame_id: int | None = None, session_id: int | None = None
    ) -> Answer:
        """Give a variable a value."""
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
        """List completions of an expression, such as `order.`, in a frame (default the one shown)."""
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
        """Return numbered source lines of a file, default around the stop."""
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
        """List what the program has loaded: modules (libraries), or sources with their source_reference for dap_source."""
        return self.call_tool(
            "dap_modules",
            kind=kind,
            matching=matching,
            start=start,
            count=count,
            session_id=session_id,
        )

    def compare(self, a: int, b: int) -> Answer:
        """Tell where two runs (session ids) that `collect` the same part: control flow or values, and the rows before."""
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
        """Return `count` bytes of the program's memory as a hex dump."""
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
        """Write bytes into the program's memory."""
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
        """Return machine instructions with their source lines, `before` of them before the address."""
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
        """Send a Debug Adapter Protocol request that no other tool sends, and return its answer. Use the ids that other tools return."""
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
        """Return the last lines that the program printed, or those after cursor `since`; after its end, too."""
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
        """List the stops so far with place, reason and changed variables, or show one in full."""
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
        """Type a line for a program started with `terminal`, and return what it prints or where it stops next. `\x04` alone, without `enter`, ends its input."""
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
        """List this user's running Neovims: address, process, working directory, which are attached."""
        return self.call_tool("nvim_targets")

    def nvim_connect(self, *, target: str | None = None) -> Answer:
        """Attach to a Neovim, to share its sessions, breakpoints and tools; auto: all of this project."""
        return self.call_tool("nvim_connect", target=target)

    def nvim_disconnect(self, *, target: str | None = None) -> Answer:
        """Detach from a Neovim; its sessions run on."""
        return self.call_tool("nvim_disconnect", target=target)

    def nvim_lua_tools(self, *, name: str | None = None) -> Answer:
        """List tools of attached Neovims, which may be missing from your tool list."""
        return self.call_tool("nvim_lua_tools", name=name)

    def nvim_lua_call(self, name: str, *, arguments: Mapping[str, Any] | None = None) -> Answer:
        """Call a tool of nvim_lua_tools by its name."""
        return self.call_tool("nvim_lua_call", name=name, arguments=arguments)
