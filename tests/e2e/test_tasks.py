"""launch.json as VS Code reads it: tasks before and after, compounds, inputs, files of variables."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from dapeer.launch import tasks
from tests.e2e.running import listening
from tests.harness import ask, call, client, evaluate, has_all, read, refusal, text
from tests.processes import LIMIT
from tests.programs import program

PYTHON = {"type": "debugpy", "request": "launch", "program": "${workspaceFolder}/a.py"}


def project(folder: Path, *configurations: object, tasks: object = (), **more: object) -> Path:
    """Write a project with a program, a launch.json and a tasks.json."""
    target = folder / ".vscode"
    target.mkdir()
    (folder / "a.py").write_text("import os\nname = os.environ.get('NAME')\nprint(name)\n", "utf-8")
    launch = {"configurations": [{**PYTHON, **each} for each in configurations], **more}  # type: ignore[dict-item]
    (target / "launch.json").write_text(json.dumps(launch), "utf-8")
    (target / "tasks.json").write_text(json.dumps({"tasks": tasks}), "utf-8")
    return folder


def names(folder: Path) -> set[str]:
    """Return the names of what tasks have left."""
    return {each.name for each in folder.iterdir()} - {".vscode", "a.py"}


async def test_tasks_run_before_and_after_and_are_named(tmp_path: Path) -> None:
    project(
        tmp_path,
        {"name": "A", "preLaunchTask": "both", "postDebugTask": "after"},
        tasks=[
            {"label": "both", "dependsOn": ["one", "two"], "dependsOrder": "sequence"},
            {"label": "one", "command": "touch one.txt"},
            {"label": "two", "type": "process", "command": "cp", "args": ["one.txt", "two.txt"]},
            {"label": "after", "command": "touch after.txt"},
        ],
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "runs one: touch one.txt; two: cp one.txt two.txt; after:" in await read(
            c, "dap_configurations"
        )
        assert names(tmp_path) == set(), "a look runs nothing"
        said = await read(c, "dap_run", configuration="A", stop_on_entry=True)
        assert has_all(said, "task one (`touch one.txt`) ended with exit code 0", "task two (")
        assert names(tmp_path) == {"one.txt", "two.txt"}
        await read(c, "dap_terminate")
        after = ""
        while "after" not in after:
            after = await read(c, "dap_wait_until_paused", timeout_ms=200)
        assert "task after (`touch after.txt`) ended with exit code 0" in after
        assert "after.txt" in names(tmp_path)


async def test_a_start_whose_task_fails_does_not_begin(tmp_path: Path) -> None:
    failing = [{"label": "bad", "command": "echo the reason; exit 3"}]
    project(tmp_path, {"name": "A", "preLaunchTask": "bad"}, tasks=failing)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await refusal(c, "dap_run", configuration="A")
        assert has_all(
            said, "The task `bad`", "failed with exit code 3", "not started", "the reason"
        )
        assert (await ask(c, "dap_status"))["sessions"] == []
        config = {"preLaunchTask": ""}
        assert "Ended" in await read(c, "dap_run", configuration="A", config=config)


async def test_what_a_task_leaves_running_may_go_on_to_print(tmp_path: Path) -> None:
    leaves = "{ cat go; echo printed && echo alive > back; } &"
    project(
        tmp_path,
        {"name": "A", "preLaunchTask": "leaves"},
        tasks=[{"label": "leaves", "command": leaves}],
    )
    go, back = tmp_path / "go", tmp_path / "back"
    os.mkfifo(go)
    os.mkfifo(back)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", configuration="A", stop_on_entry=True)
        assert "ended with exit code 0" in said
        await asyncio.to_thread(go.write_text, "go\n")
        assert await asyncio.to_thread(back.read_text) == "alive\n"


async def test_a_background_task_goes_on_until_its_session_ends(tmp_path: Path) -> None:
    matcher = {"background": {"beginsPattern": "^begin", "endsPattern": "^ready (\\d+)$"}}
    watch = "trap 'touch ended.txt' EXIT; echo begin; echo ready 3; sleep 1000"
    project(
        tmp_path,
        {"name": "A", "preLaunchTask": "watch"},
        {"name": "B", "preLaunchTask": "ends"},
        tasks=[
            {"label": "watch", "command": watch, "isBackground": True, "problemMatcher": matcher},
            {
                "label": "ends",
                "command": "echo too soon",
                "isBackground": True,
                "problemMatcher": matcher,
            },
        ],
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", configuration="A", stop_on_entry=True)
        assert "is ready, and ends with the session" in said
        assert "Ended" in await read(c, "dap_continue")
        ends = await refusal(c, "dap_run", configuration="B")
        assert has_all(ends, "ended with exit code 0 before it was ready", "too soon")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("^ready", "has not printed a line like '^ready' within 0.5 s"),
        ("^(([a-z ]+)+)+!$", "has a problem matcher that takes more than 1 s for a line of it"),
    ],
    ids=["no line", "no end"],
)
async def test_a_background_task_that_is_never_ready_is_ended(
    pattern: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "within" in why:
        monkeypatch.setattr(tasks, "SECONDS_TO_BE_READY", 0.5)
    matcher = {"background": {"beginsPattern": "^begin", "endsPattern": pattern}}
    watch = "echo begin; echo working on what is never ready at all; sleep 1000"
    task = {"label": "watch", "command": watch, "isBackground": True, "problemMatcher": matcher}
    project(tmp_path, {"name": "A", "preLaunchTask": "watch"}, tasks=[task])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await refusal(c, "dap_run", configuration="A")
        assert has_all(said, why, "not started", "working on what")
        assert (await ask(c, "dap_status"))["sessions"] == []


async def test_a_background_task_may_print_any_line_before_it_is_ready(tmp_path: Path) -> None:
    matcher = {"background": {"beginsPattern": "^begin", "endsPattern": "^ready"}}
    long = "echo begin; head -c 300000 /dev/zero | tr '\\0' x; printf '\\rthe end\\nready\\n'; sleep 1000"
    task = {"label": "watch", "command": long, "isBackground": True, "problemMatcher": matcher}
    project(tmp_path, {"name": "A", "preLaunchTask": "watch"}, tasks=[task])
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert (await ask(c, "dap_run", configuration="A"))["exit_code"] == 0


async def test_a_task_that_asks_or_cannot_run_is_refused_with_what_to_give(tmp_path: Path) -> None:
    project(
        tmp_path,
        {"name": "Asks", "preLaunchTask": "asks"},
        {"name": "Circle", "preLaunchTask": "one"},
        {"name": "Nowhere", "preLaunchTask": "nowhere"},
        {"name": "Input", "env": {"NAME": "${input:who}"}, "args": ["${fileBasename}"]},
        tasks=[
            {"label": "asks", "command": "touch ${input:file}.txt"},
            {"label": "one", "command": "true", "dependsOn": "two"},
            {"label": "two", "command": "true", "dependsOn": "one"},
        ],
        inputs=[{"id": "who", "type": "pickString", "options": ["ada", "bob"]}],
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert 'inputs={"file": …}' in await refusal(c, "dap_run", configuration="Asks")
        assert "one → two → one" in await refusal(c, "dap_run", configuration="Circle")
        assert "no task `nowhere`" in await refusal(c, "dap_run", configuration="Nowhere")
        asked = await refusal(c, "dap_run", configuration="Input")
        assert has_all(asked, "one of ada, bob", 'inputs={"who": …, "file": …}')
        answers = {"who": "bob", "file": "src/x.py"}
        await read(c, "dap_run", configuration="Input", inputs=answers, stop_on_entry=True)
        assert await evaluate(c, "__import__('os').environ['NAME']") == "'bob'"
        assert await evaluate(c, "__import__('sys').argv[1]") == "'x.py'"


async def test_an_env_file_is_the_programs_environment(tmp_path: Path) -> None:
    project(tmp_path, {"name": "A", "envFile": "${workspaceFolder}/.env", "env": {"OWN": "1"}})
    (tmp_path / ".env").write_text("NAME='of the file'\nOWN=2\n", "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "of the file" in await read(c, "dap_run", configuration="A")


async def test_a_compound_starts_its_members_as_a_group(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("import time\nfor _ in range(600): time.sleep(0.1)\n", "utf-8")
    project(
        tmp_path,
        {"name": "A"},
        {"name": "B", "program": "${workspaceFolder}/b.py"},
        tasks=[{"label": "first", "command": "touch first.txt"}],
        compounds=[
            {
                "name": "Both",
                "configurations": ["A", "B"],
                "stopAll": True,
                "preLaunchTask": "first",
            }
        ],
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "Both (compound): A, B" in await read(c, "dap_configurations")
        at = [{"filename": "a.py", "line": 3}]
        said = await read(c, "dap_run", configuration="Both", breakpoints=at, env={"NAME": "x"})
        assert has_all(
            said,
            "Stopped (breakpoint) at a.py:3",
            "task first (",
            "group Both: A stopped; B running",
        )
        assert "`program` is for one program" in await refusal(
            c, "dap_run", configuration="Both", program="a.py"
        )
        assert "Ended" in await read(c, "dap_continue")
        state = ""
        while "A and B ended" not in state:
            state = text(await call(c, "dap_continue", group="Both"))


async def test_what_is_not_supported_is_named_where_its_configuration_is_listed(
    tmp_path: Path,
) -> None:
    project(
        tmp_path,
        {"name": "Lints", "preLaunchTask": "lint"},
        {"name": "Asks", "args": ["${input:branch}"]},
        {"name": "Watches", "preLaunchTask": "tsc"},
        {"name": "Attaches", "request": "attach", "processId": "${command:pickProcess}"},
        tasks=[
            {
                "label": "lint",
                "command": "a",
                "isBackground": True,
                "problemMatcher": "$eslint-stylish",
            },
            {
                "label": "tsc",
                "command": "tsc -w",
                "isBackground": True,
                "problemMatcher": "$tsc-watch",
            },
        ],
        inputs=[{"id": "branch", "type": "command", "command": "git.branch"}],
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_configurations")
        assert has_all(
            said,
            "`Lints` has a task that cannot be run: ",
            "the problem matcher $eslint-stylish is not known here",
            "args[0]: ${input:branch} (inputs of type `command` are not supported)",
            "runs tsc: tsc -w",
            "processId: ${command:pickProcess} (give `pid`: the process to attach to)",
        )
        assert "Give `pid`." in await refusal(c, "dap_run", configuration="Attaches")


async def test_a_group_that_cannot_be_prepared_ends_no_earlier_program(tmp_path: Path) -> None:
    project(
        tmp_path,
        {"name": "A"},
        {"name": "Missing", "program": "${workspaceFolder}/none.py"},
        compounds=[{"name": "Half", "configurations": ["A", "Missing"]}],
    )
    async with (
        asyncio.timeout(LIMIT),
        client(tmp_path) as c,
        listening(program("endless_loop.py").path) as (_, port),
    ):
        assert "Stopped" in await read(c, "dap_run", program="a.py", stop_on_entry=True)
        half = await refusal(c, "dap_run", configuration="Half", fresh=True)
        assert "none.py does not exist" in half
        several = await refusal(c, "dap_run", port=port, processes=2, fresh=True)
        assert "Leave `processes` out" in several
        sessions = (await ask(c, "dap_status"))["sessions"]
        assert [each["state"] for each in sessions] == ["stopped"]
