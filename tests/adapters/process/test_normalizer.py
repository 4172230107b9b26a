"""What is odd on an adapter's wire, and comes to us as if it were not."""

from collections.abc import Iterable

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.adapters.definition.quirks import Quirks, SentBreakpoints
from dapeer.adapters.process.normalized_transport import OURS, Normalizer
from dapeer.adapters.process.tail import OutputFilter
from dapeer.dap.messages import Event, Message, Request, Response
from tests.harness import OURS as DEFINITIONS


def tamed(
    quirks: Quirks, *messages: Message, stop_on_entry: bool = False
) -> list[tuple[str, object]]:
    """Return the messages that come out: names and what matters of them."""
    tamer = Normalizer(quirks, stop_on_entry=stop_on_entry)
    return [short(each) for message in messages for each in tamer.normalize(message)]


def short(message: Message) -> tuple[str, object]:
    match message:
        case Event(event="output", body=body):
            return "output", body["output"]
        case Event(event="exited", body=body):
            return "exited", body["exitCode"]
        case Event(event="stopped", body=body):
            return "stopped", body["reason"]
        case Event(event=name):
            return name, None
        case Request(command=command, arguments=arguments):
            return command, arguments
        case Response(command=command):
            return command, None


def stopped(reason: str, **more: object) -> Event:
    return Event("stopped", {"reason": reason, "threadId": 1, **more})


CONFIGURED = Response(1, "configurationDone", success=True)


def output(text: str, category: str = "stdout") -> Event:
    return Event("output", {"category": category, "output": text})


def test_a_first_stop_that_is_told_twice_is_left_once() -> None:
    quirks = Quirks(skip_first_stop="pause")
    left = Response(OURS, "continue", success=True)
    pause = stopped("pause")
    told = tamed(quirks, CONFIGURED, pause, left, pause, stopped("breakpoint"), pause)
    assert [name for name, _ in told] == ["configurationDone", "continue", "stopped", "stopped"]


def test_a_first_stop_that_nobody_wanted_is_continued() -> None:
    quirks = Quirks(skip_first_stop="pause")
    answer = Response(OURS, "continue", success=True)
    tamer = Normalizer(quirks, stop_on_entry=False)
    told = [each for one in (CONFIGURED, stopped("pause"), answer) for each in tamer.normalize(one)]
    tamer.record_sent(Request(2, "pause", {"threadId": 1}))
    told += tamer.normalize(stopped("pause"))
    assert [short(each) for each in told[1:]] == [
        ("continue", {"threadId": 1}),
        ("stopped", "pause"),
    ]
    assert tamed(quirks, CONFIGURED, stopped("breakpoint"), answer)[1:] == [
        ("stopped", "breakpoint")
    ]


def test_nobody_runs_on_before_the_breakpoints_are_set() -> None:
    quirks = Quirks(skip_first_stop="pause")
    assert tamed(quirks, stopped("pause")) == []
    assert tamed(Quirks(), stopped("")) == [("stopped", "")]
    # rdbg tells the same stop twice, the first time maybe as a breakpoint of its own.
    for reason in ("pause", "breakpoint"):
        early = tamed(quirks, stopped(reason), CONFIGURED, stopped("pause"))
        assert early[1:] == [("continue", {"threadId": 1})]


def test_a_first_stop_that_somebody_wants_is_the_entry() -> None:
    quirks = Quirks(skip_first_stop="pause")
    told = tamed(quirks, CONFIGURED, stopped("pause"), stop_on_entry=True)
    assert told[1:] == [("stopped", "entry")]


def test_a_signal_at_the_entry_is_the_entry() -> None:
    quirks = Quirks(pause_reads="SIGSTOP")
    stop = stopped("exception", description="signal SIGSTOP")
    assert tamed(quirks, stop, stop, stop_on_entry=True) == [
        ("stopped", "entry"),
        ("stopped", "pause"),
    ]


def test_a_pause_is_no_exception() -> None:
    quirks = Quirks(pause_reads="SIGSTOP")
    assert tamed(
        quirks,
        stopped("exception", description="signal SIGSTOP"),
        stopped("exception", text="signal SIGSTOP"),
        stopped("exception", description="signal SIGSEGV"),
    ) == [("stopped", "pause"), ("stopped", "pause"), ("stopped", "exception")]


def test_lines_end_as_the_program_has_ended_them() -> None:
    quirks = Quirks(terminal_output=True)
    pieces = [output("a\r\nb\r"), output("e", "stderr"), output("\nc\rd")]
    told = tamed(quirks, *pieces)
    assert [text for _, text in told] == ["a\nb", "e", "\nc\rd"]


def test_an_exit_code_is_found_in_the_output() -> None:
    quirks = Quirks(exit_code_in_output=r"exited with status (-?\d+)")
    assert tamed(quirks, output("Process 1 has exited with status 3\n")) == [
        ("output", "Process 1 has exited with status 3\n"),
        ("exited", 3),
    ]


def test_output_from_a_crash_report_on_is_the_adapters_but_what_the_program_prints_is_not() -> None:
    quirks = Quirks(crash_report="^Stack dump:")
    crash = output("careful\nStack dump:\n0. Program arguments", "console")
    after = output("#0 crash", "stderr"), output("printed\n")
    assert tamed(quirks, output("a Stack dump:", "stderr"), crash, *after) == [
        ("output", "a Stack dump:"),
        ("output", "careful\n"),
        ("output", "printed\n"),
    ]
    assert quirks.without_own("b\nStack dump:\n0.") == "b\n"


def test_how_an_adapter_crashes_is_not_what_the_program_prints() -> None:
    quirks = Quirks(last_words_of_adapter=True)
    end = Event("terminated")
    assert tamed(
        quirks, output("a", "stderr"), end, output("#0 crash", "console"), output("b")
    ) == [
        ("output", "a"),
        ("terminated", None),
        ("output", "b"),
    ]
    assert len(tamed(Quirks(), end, output("late", "stderr"))) == 2


def test_what_an_adapter_only_says_that_it_can_it_cannot() -> None:
    said = {"supportsModulesRequest": True, "supportsSetVariable": True}
    hello = Response(1, "initialize", success=True, body=said)
    (told,) = Normalizer(Quirks(refuses=("modules",)), stop_on_entry=False).normalize(hello)
    assert isinstance(told, Response)
    assert told.body == {"supportsSetVariable": True}


def test_an_adapters_own_lines_are_left_out() -> None:
    quirks = Quirks(own_words=r"Detaching|Process \d+ exited", exit_code_in_output=r"(\d+) exited")
    pieces = [output("Detaching\n"), output("round 0\nDetaching\n"), output("Process 7 exited\n")]
    assert tamed(quirks, *pieces, output("")) == [
        ("output", "round 0\n"),
        ("exited", 7),
        ("output", ""),
    ]


def test_what_debugpy_says_while_it_attaches_is_no_output_of_the_program() -> None:
    said = [output(f"Attaching to PID: 42 (elapsed: {n}.00s).\n", "stderr") for n in range(3)]
    program = "Attaching to PID 42\n"
    assert tamed(load_all(shipped())["debugpy"].quirks, *said, output(program)) == [
        ("output", program)
    ]


def heard(hide: Iterable[str], *pieces: bytes) -> list[str]:
    told: list[str] = []
    words = OutputFilter(list(hide))
    words.pass_on(pieces[0])
    words.listen(told.append)
    for piece in pieces[1:]:
        words.pass_on(piece)
    words.pass_on(b"", final=True)
    return told


def test_what_was_printed_before_anybody_listens_is_not_lost() -> None:
    assert heard([], b"one\n", b"two\n") == ["one\n", "two\n"]


def test_a_servers_own_lines_are_hidden_in_whatever_pieces_they_come() -> None:
    assert heard(["DAP server"], b"DAP ser", b"ver listening\nround 0\nDA", b"P serves\n") == [
        "round 0\n",
        "DAP serves\n",
    ]
    assert heard(["DAP server"], b"x\nDAP server ends here") == ["x\n"]


def test_the_beginning_of_a_line_is_told_at_once() -> None:
    assert heard(["DAP"], b"name? ", b"DAP\n", b"D") == ["name? ", "DAP\n", "D"]


def test_a_character_in_two_pieces_is_one() -> None:
    assert heard([], b"gr\xc3", b"\xbc\xc3\x9f\n") == ["gr", "üß\n"]


def test_what_an_adapter_says_on_the_console_is_told_from_what_a_program_prints() -> None:
    quirks = Quirks(own_console="/.*")
    assert tamed(quirks, output("/bin/node a.js\n", "console"), output("/bin/node a.js\n")) == [
        ("output", "/bin/node a.js\n")
    ]
    assert tamed(quirks, Event("output", {"output": "/bin/node a.js\nhello\n"})) == [
        ("output", "hello\n")
    ]


def failures(*messages: Message, **patterns: str) -> list[object]:
    """Return the output that comes out, and the failures of breakpoints with all that is told of each."""
    tamer = Normalizer(Quirks(failed=patterns), stop_on_entry=False)
    told: list[object] = []
    for message in messages:
        if isinstance(message, Request):
            tamer.record_sent(message)
            continue
        told += [
            short(each) if is_output(each) else body(each) for each in tamer.normalize(message)
        ]
    return told + list(map(short, tamer.take_held()))


def is_output(message: Message) -> bool:
    return isinstance(message, Event) and message.event == "output"


def body(message: Message) -> object:
    assert isinstance(message, Event)
    return tuple(message.body.values())


def with_conditions(*conditions: str) -> Request:
    breakpoints = [{"line": n, "condition": each} for n, each in enumerate(conditions, 1)]
    return Request(3, "setBreakpoints", {"source": {"path": "/a"}, "breakpoints": breakpoints})


def test_what_an_adapter_prints_of_a_wrong_condition_is_an_event_and_no_output() -> None:
    pattern = r"^Wrong: (?P<error>.*)\n"
    said = output("one\nWrong: no n\ntwo\n")
    known = ("condition", "n > 3", "/a", 1, "no n")
    assert failures(with_conditions("n > 3"), said, condition=pattern) == [
        known,
        ("output", "one\ntwo\n"),
    ]
    # Of two it is not known which one is meant, so both are named.
    several = failures(with_conditions("n > 3", "n"), said, condition=pattern)
    assert several[0] == ("condition", "", "", 0, "no n (at a:1 or a:2)")


def test_what_comes_in_several_pieces_is_told_when_it_is_all_there_and_shown_when_it_never_is() -> (
    None
):
    patterns = {
        "begins": "^Wrong:",
        "condition": r"^Wrong:\n(?P<error>.*)\nof (?P<expression>.*)\n",
    }
    pieces = [output("one\nWrong:\n"), output("no n\n"), output("of n > 3\ntwo\nWrong:\n")]
    assert failures(with_conditions("n > 3", "n"), *pieces, **patterns) == [
        ("output", "one\n"),
        ("condition", "n > 3", "/a", 1, "no n"),
        ("output", "two\n"),
        ("output", "Wrong:\n"),
    ]


def test_no_pattern_is_tried_on_a_line_that_nobody_could_read() -> None:
    """This one would take the cube of the line's length in steps: hours."""
    quirks = Quirks(exit_code_in_output=r"(a+)+(a+)+b(\d+)", own_words=r"(a+)+(a+)+b")
    line = "a" * 100_000
    assert tamed(quirks, output(line)) == [("output", line)]


def test_a_number_is_told_once() -> None:
    tamer = Normalizer(Quirks(value_tail=" = 0x[0-9a-f]+"), stop_on_entry=False)
    values = ["KC (2) = 0x0", "200 = 0xc8", '"2 = 0x2"']
    variables = [{"name": "v", "value": value, "variablesReference": 0} for value in values]
    answers = [
        Response(1, "variables", success=True, body={"variables": variables}),
        Response(2, "evaluate", success=True, body={"result": "7 = 0x7", "variablesReference": 0}),
    ]
    [listed, one] = [each for answer in answers for each in tamer.normalize(answer)]
    assert isinstance(listed, Response)
    assert isinstance(one, Response)
    assert [each["value"] for each in listed.body["variables"]] == ["KC (2)", "200", '"2 = 0x2"']
    assert one.body == {"result": "7", "variablesReference": 0}


def test_a_thread_has_its_name_without_the_mark_of_the_selected_one() -> None:
    tamer = Normalizer(Quirks(thread_mark=r"\* "), stop_on_entry=False)
    names = ["* [Go 1] main.main", "[Go 18] main.* x"]
    threads = [{"id": number, "name": name} for number, name in enumerate(names)]
    [told] = tamer.normalize(Response(1, "threads", success=True, body={"threads": threads}))
    assert isinstance(told, Response)
    assert [each["name"] for each in told.body["threads"]] == ["[Go 1] main.main", names[1]]


def test_a_breakpoint_that_is_a_watchpoint_is_a_data_breakpoint() -> None:
    tamer = Normalizer(Quirks(write_reads=r"\bwatchpoint \d+"), stop_on_entry=False)
    stops = [
        stopped("breakpoint", description=f"{kind} 1") for kind in ("watchpoint", "breakpoint")
    ]
    told = [short(each) for stop in stops for each in tamer.normalize(stop)]
    assert told == [("stopped", "data breakpoint"), ("stopped", "breakpoint")]


def test_only_the_first_process_of_a_program_stops_at_its_entry() -> None:
    known = SentBreakpoints()
    first, child = (Normalizer(Quirks(), stop_on_entry=True, sent=known) for _ in range(2))
    assert [short(each) for each in first.normalize(stopped("entry"))] == [("stopped", "entry")]
    assert [short(each) for each in child.normalize(stopped("entry"))] == [
        ("continue", {"threadId": 1})
    ]
    # A breakpoint of somebody's is there, too.
    both = stopped("entry", hitBreakpointIds=[3])
    assert [short(each) for each in child.normalize(both)] == [("stopped", "entry")]


def test_a_condition_that_codelldb_cannot_parse_has_failed_and_is_no_output() -> None:
    tamer = Normalizer(DEFINITIONS["codelldb"].quirks, stop_on_entry=False)
    wanted = {
        "source": {"path": "/a.rs"},
        "breakpoints": [{"line": 6, "condition": "arr[1] == 5 && v[0] == 7"}],
    }
    tamer.record_sent(Request(1, "setBreakpoints", wanted))
    said = output(
        "Could not parse breakpoint condition:\nSyntax error: arr[1] == 5 && v[0] == 7\n            ^\n"
    )
    [failed] = tamer.normalize(said)
    assert isinstance(failed, Event)
    assert failed.body.items() >= {
        ("expression", "arr[1] == 5 && v[0] == 7"), ("path", "/a.rs"), ("line", 6), ("error", "Syntax error"),
    }  # fmt: skip
