"""Has a debugger remove its breakpoints and leave the program when its client has died.

A debugger may stop the program by a signal to let go of it. Where a thread meets a breakpoint at that moment, the signal stays behind,
and kills the program (Delve). So a process of its own holds the connection, too: at the end of stdin it sends the requests of the last
line there, a JSON array of commands and arguments, and ends the connection once the program has taken all such signals. An
empty array: there is nothing to say. Only the standard library; run with `-I -S DESCRIPTOR PID`, the connection and the program.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time

if __name__ == "__main__":
    # `-I` and `-S` leave out where this package is.
    sys.path.append(os.path.abspath(f"{__file__}/../../../.."))
from dapeer.companions.process.detaching import numbers, status_fields

FIRST_NUMBER = 1_000_000_000
"""The `seq` of the first request, which the client has not come to."""
SECONDS_TO_TAKE_STOP = 600.0
"""Seconds in which a debugger has the program go on, which takes the signal that has stopped it.

A debugger for which a busy machine has no time needs more than a minute.
"""
SECONDS_BETWEEN_LOOKS = 0.01
"""Nothing tells that a signal was taken."""
STOPS = 1 << (signal.SIGTRAP - 1)


def send_requests(connection: socket.socket, requests: list[tuple[str, object]]) -> None:
    """Send DAP requests to a debugger; wait until all are answered, or it closes the connection.

    There is no time limit. The connection's reads and writes wait from now on, in all processes that hold it. `requests` are pairs of a
    command and its arguments; their numbers count from `FIRST_NUMBER`. The responses are not judged, only their `request_seq` is read;
    other messages are dropped.

    Raises:
        OSError: The connection has failed.
    """
    # The client's event loop had them fail where they would wait.
    connection.settimeout(None)
    awaited = set[int]()
    for number, (command, arguments) in enumerate(requests, FIRST_NUMBER):
        request = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        awaited.add(number)
    # The client may have read a part of a message, so the rest of it comes first.
    heard = b""
    while awaited and (data := connection.recv(65536)):
        heard += data
        awaited -= {int(each) for each in re.findall(rb'"request_seq":\s*(\d+)\b', heard)}


def wait_for_stop_taken(pid: int) -> None:
    """Wait until no thread of the program has a pending SIGTRAP, for `SECONDS_TO_TAKE_STOP` at most."""
    until = time.monotonic() + SECONDS_TO_TAKE_STOP
    while has_stop(pid) and time.monotonic() < until:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def has_stop(pid: int) -> bool:
    """Return whether a SIGTRAP is pending for the program or a thread of it; False if it has ended."""
    tasks = (status_fields(f"{pid}/task/{each}") for each in numbers(f"/proc/{pid}/task"))
    names = "SigPnd", "ShdPnd"
    return any(int(task.get(name, "0"), 16) & STOPS for task in tasks for name in names)


def main() -> None:
    """Read stdin until it ends; then send the requests of its last whole line, and wait for their answers.

    The line is a JSON array of pairs of command and arguments. After the answers, this process waits until no
    SIGTRAP is pending in the program, for `SECONDS_TO_TAKE_STOP` at most. If the array is empty, or there is no
    whole line, nothing is sent or awaited. `sys.argv[1]` is the file descriptor of the connection, `sys.argv[2]`
    the program's process id. SIGINT, SIGTERM and SIGHUP are ignored, since this process outlives its client.

    Raises:
        OSError: The connection has failed.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    connection, last = socket.socket(fileno=int(sys.argv[1])), "[]"
    for line in sys.stdin:
        # The client may have died as it wrote one.
        last = line if line.endswith("\n") else last
    if requests := json.loads(last):
        send_requests(connection, requests)
        wait_for_stop_taken(int(sys.argv[2]))


if __name__ == "__main__":
    main()
