"""Adds what an evaluation prints to its result. pydevd sends it as output of the program."""

from __future__ import annotations

import contextlib
import importlib
import io
import threading
from collections.abc import Generator
from typing import Any

heard = threading.local()
"""`text`: what the current evaluation of this thread has printed."""


def taken() -> str:
    """Return what was printed, and forget it."""
    text: Any = getattr(heard, "text", None)
    if text is None:
        return ""
    printed = text.getvalue()
    text.seek(0)
    text.truncate()
    return printed


@contextlib.contextmanager
def listening() -> Generator[None]:
    """Keep what is printed."""
    heard.text = io.StringIO()
    try:
        with contextlib.redirect_stdout(heard.text), contextlib.redirect_stderr(heard.text):
            yield
    finally:
        heard.text = None


def improve(*, prints: bool) -> None:
    """Put what was printed in front of the result or error.

    Raises:
        AttributeError: pydevd has another structure; it stays unchanged.
    """
    requests: Any = importlib.import_module("_pydevd_bundle.pydevd_comm")
    answer = requests.pydevd_schema.EvaluateResponseBody
    stock_init, stock_response = answer.__init__, requests._evaluate_response
    commands: Any = importlib.import_module("_pydevd_bundle.pydevd_api")
    evaluate = commands.internal_evaluate_expression_json

    def init(self: Any, result: str, *rest: Any, **named: Any) -> None:
        stock_init(self, taken() + result, *rest, **named)

    def response(
        debugger: Any,
        request: Any,
        result: str,
        error_message: str = "",
    ) -> None:
        if error_message:
            error_message = taken() + error_message
        stock_response(debugger, request, result=result, error_message=error_message)

    def evaluate_and_listen(debugger: Any, request: Any, thread_id: Any) -> None:
        with listening() if request.arguments.context == "repl" else contextlib.nullcontext():
            evaluate(debugger, request, thread_id)

    answer.__init__ = init
    requests._evaluate_response = response
    commands.internal_evaluate_expression_json = evaluate_and_listen
