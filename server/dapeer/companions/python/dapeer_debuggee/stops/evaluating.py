"""Adds what an evaluation prints to its result, and completes names without reading their values.

pydevd sends that print as output of the program.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import threading
import types
from collections.abc import Generator
from typing import Any

from .. import patching

captured = threading.local()
"""`text`: what the current evaluation of this thread has printed."""


def take_printed() -> str:
    """Return what this thread's evaluation has printed up to now, and forget it; empty outside of one.

    An evaluation is the body of `capture_printed`.
    """
    text: Any = getattr(captured, "text", None)
    if text is None:
        return ""
    printed = text.getvalue()
    text.seek(0)
    text.truncate()
    return printed


@contextlib.contextmanager
def capture_printed() -> Generator[None]:
    """Capture what is printed to `sys.stdout` and `sys.stderr` in the body; `take_printed` returns it.

    Both are replaced for all threads meanwhile. What is not taken by the end is lost.
    """
    captured.text = io.StringIO()
    try:
        with contextlib.redirect_stdout(captured.text), contextlib.redirect_stderr(captured.text):
            yield
    finally:
        captured.text = None


ANSWER = "_pydevd_bundle.pydevd_comm:pydevd_schema.EvaluateResponseBody.__init__"
RESPONSE = "_pydevd_bundle.pydevd_comm:_evaluate_response"
EVALUATE = "_pydevd_bundle.pydevd_api:internal_evaluate_expression_json"
PRINTED = patching.Row(
    "evaluation-prints",
    "debugpy",
    "What an evaluated expression prints is not in its result, but in the output of the program.",
    replaces={
        ANSWER: "self result variablesReference type= presentationHint= namedVariables= indexedVariables= "
        "memoryReference= update_ids_from_dap= **kwargs",
        RESPONSE: "py_db request result error_message=",
        EVALUATE: "py_db request thread_id",
    },
)


@PRINTED
def add_printed(patch: Any) -> None:
    """Patch pydevd so that what an evaluation in a REPL prints is put before its result or error.

    It is no output of the program then. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo`
    puts back what was replaced by it.
    """

    @patch.replace(ANSWER)
    def init(stock: Any, self: Any, result: str, *rest: Any, **named: Any) -> None:
        stock(self, take_printed() + result, *rest, **named)

    @patch.replace(RESPONSE)
    def response(
        stock: Any,
        py_db: Any,
        request: Any,
        result: Any,
        error_message: str = "",
        *rest: Any,
        **named: Any,
    ) -> Any:
        if error_message:
            error_message = take_printed() + error_message
        return stock(py_db, request, result, error_message, *rest, **named)

    @patch.replace(EVALUATE)
    def evaluate(stock: Any, py_db: Any, request: Any, *rest: Any, **named: Any) -> Any:
        with capture_printed() if request.arguments.context == "repl" else contextlib.nullcontext():
            return stock(py_db, request, *rest, **named)


COMPLETE = "_pydev_bundle._pydev_completer:generate_completions"
TIPS = "_pydev_bundle._pydev_imports_tipper"
NAMES = patching.Row(
    "completions-of-names",
    "debugpy",
    "Completing a name asks the value of each name that the frame knows for its class and its text, which may run code of the program.",
    replaces={COMPLETE: "frame act_tok"},
    uses=[f"{TIPS}:TYPE_{each}" for each in ("IMPORT", "CLASS", "FUNCTION", "ATTR")],
)


@NAMES
def complete_names(patch: Any) -> None:
    """Patch pydevd so that completing names of a frame runs no code of their values.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    tips: Any = importlib.import_module(TIPS)

    def kind(value: Any) -> str:
        """Return pydevd's number for the kind of a value: function, module, class or other."""
        real: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
        if issubclass(real, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
            return tips.TYPE_FUNCTION
        if issubclass(real, types.ModuleType):
            return tips.TYPE_IMPORT
        return tips.TYPE_CLASS if issubclass(real, type) else tips.TYPE_ATTR

    @patch.replace(COMPLETE)
    def complete(stock: Any, frame: Any, act_tok: str, *rest: Any, **named: Any) -> Any:
        """Return a tuple (name, "", "", kind) for each name of a frame, its globals and the built-in ones.

        pydevd's own function (`stock`) answers without a frame, and completes attributes (`act_tok` is what is before the dot).
        """
        if frame is None or act_tok:
            return stock(frame, act_tok, *rest, **named)
        names: dict[str, Any] = {**vars(builtins), **frame.f_globals, **frame.f_locals}
        return [(name, "", "", kind(value)) for name, value in names.items()]
