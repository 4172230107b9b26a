"""Keeps a thread that goes on late from reporting that, where the program has stopped again meanwhile.

pydevd suspends all threads at a stop, and each wakes by itself when the program goes on. Where one wakes after the next stop was
told, pydevd tells that the program goes on, and forgets the variables of that stop. With hundreds of threads this is usual.
"""

from __future__ import annotations

import importlib
from typing import Any

from .. import patching

STOPS = "pydevd:AbstractSingleNotificationBehavior.on_thread_suspend"
TELLS = "pydevd:ThreadsSuspendedSingleNotification.send_resume_notification"
LATE = patching.Row(
    "late-threads",
    "debugpy",
    "A program of many threads may be said to run although it has stopped again.",
    replaces={STOPS: "self thread_id thread stop_reason", TELLS: "self thread_id"},
    uses=(
        "pydevd:AbstractSingleNotificationBehavior._suspend_time_request",
        "pydevd:AbstractSingleNotificationBehavior._last_suspend_notification_time",
        "pydevd:AbstractSingleNotificationBehavior._last_resume_notification_time",
        "pydevd:AbstractSingleNotificationBehavior._suspended_thread_id_to_thread",
        "_pydevd_bundle.pydevd_constants:STATE_SUSPEND",
    ),
)


@LATE
def report_the_latest_stop(patch: Any) -> None:
    """Patch pydevd so that a late thread reports no resume once the program has stopped again.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    own: Any = {}
    """By thread, the number of the stop for which it has stopped."""

    @patch.replace(STOPS)
    def stops(stock: Any, self: Any, thread_id: Any, *rest: Any, **named: Any) -> None:
        own[thread_id] = self._suspend_time_request
        stock(self, thread_id, *rest, **named)

    stays: Any = importlib.import_module("_pydevd_bundle.pydevd_constants").STATE_SUSPEND

    # pydevd calls it with its lock, for the first thread that goes on after a stop was told.
    @patch.replace(TELLS)
    def tells(stock: Any, self: Any, thread_id: Any, *rest: Any, **named: Any) -> None:
        """Report the resume as pydevd does, unless the thread was stopped for an earlier stop than the last.

        It is reported also then if no thread is suspended any more.
        """
        latest, stopped = self._last_suspend_notification_time, self._suspended_thread_id_to_thread
        before = own.get(thread_id, latest)
        if before < latest and any(
            each.additional_info.pydev_state == stays for each in stopped.values()
        ):
            # pydevd has noted that this stop is over. The next thread that goes on tells it.
            self._last_resume_notification_time = before
            return
        stock(self, thread_id, *rest, **named)
        for each in [each for each in own if each not in stopped]:
            del own[each]
