"""What tasks.json says is run, in which order, and what cannot be run says why."""

import json
from typing import Any

import pytest

from dapeer.launch.launch_json import MalformedJson, VariableValues, read_env_file
from dapeer.launch.tasks_json import NoTask, Task, TasksFile, label_in, npm_task, parse

AROUND = VariableValues("/srv/shop", "/home/ada", {"USER": "ada"}, "linux", {"target": "web"})


def tasks(*written: object, **more: object) -> TasksFile:
    return parse(json.dumps({"version": "2.0.0", "tasks": written, **more}).encode(), "linux")


def only(written: dict[str, Any], **more: object) -> Task:
    return tasks({"label": "one", **written}, **more).stage("one", AROUND).task


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ({"command": "make && echo done"}, "make && echo done"),
        ({"type": "shell", "command": "make", "args": ["a b", "c"]}, "make 'a b' c"),
        ({"command": "make", "args": [{"value": "a b", "quoting": "weak"}]}, 'make "a b"'),
        ({"command": "make", "args": [{"value": "$A", "quoting": "strong"}]}, "make '$A'"),
        ({"command": "make", "args": [{"value": "a b", "quoting": "escape"}]}, "make a\\ b"),
        ({"type": "process", "command": "make", "args": ["a b", "$HOME"]}, "make 'a b' '$HOME'"),
        ({"type": "npm", "script": "build"}, "npm run build"),
        ({"type": "npm", "script": "build", "path": "web"}, "npm --prefix=web run build"),
        ({"command": "x", "linux": {"command": "y"}, "osx": {"command": "z"}}, "y"),
        ({"command": "${env:USER} ${input:target} ${workspaceFolderBasename}"}, "ada web shop"),
    ],
)
def test_each_kind_of_task_has_its_command(written: dict[str, Any], line: str) -> None:
    assert only(written).line == line


def test_a_task_has_the_options_of_the_file_under_its_own() -> None:
    common = {"options": {"cwd": "${workspaceFolder}/a", "env": {"A": "1"}}}
    task = only({"command": "x", "options": {"env": {"B": "2"}}}, **common)
    assert (task.cwd, task.env) == ("/srv/shop/a", {"B": "2"})
    assert only({"command": "x"}).cwd == "/srv/shop"


def test_tasks_run_after_those_that_they_depend_on() -> None:
    file = tasks(
        {"label": "all", "dependsOn": ["b", "c"], "dependsOrder": "sequence"},
        {"label": "b", "command": "b", "dependsOn": "a"},
        {"label": "c", "command": "c", "dependsOn": ["a"]},
        {"label": "a", "command": "a"},
    )
    stage = file.stage("all", AROUND)
    assert [each.line for each in stage.tasks] == ["a", "b", "a", "c"]
    assert (stage.is_sequential, stage.stages_before[0].is_sequential) == (True, False)


@pytest.mark.parametrize(
    ("label", "why"),
    [
        (
            "nowhere",
            "no task `nowhere` in tasks.json, which has: one, two, mine, empty, scriptless, bg, eslint, based",
        ),
        ("one", "depend on each other: one → two → one"),
        ("mine", "of type `gulp`"),
        ("empty", "has no command"),
        ("scriptless", "has no command"),
        ("bg", "nothing says when it is ready"),
        ("eslint", r"the problem matcher \$eslint-stylish is not known here"),
        ("based", r"the problem matcher \$gulp-tsc is not known here"),
    ],
)
def test_a_task_that_cannot_be_run_says_why(label: str, why: str) -> None:
    file = tasks(
        {"label": "one", "command": "a", "dependsOn": "two"},
        {"label": "two", "command": "a", "dependsOn": "one"},
        {"label": "mine", "type": "gulp", "task": "x"},
        {"label": "empty", "type": "shell"},
        {"label": "scriptless", "type": "npm"},
        {"label": "bg", "command": "a", "isBackground": True},
        {
            "label": "eslint",
            "command": "a",
            "isBackground": True,
            "problemMatcher": ["$eslint-stylish"],
        },
        {
            "label": "based",
            "command": "a",
            "isBackground": True,
            "problemMatcher": {"base": "$gulp-tsc"},
        },
    )
    with pytest.raises(NoTask, match=why):
        file.stage(label, AROUND)


def test_a_background_task_is_ready_by_its_matcher() -> None:
    background = {
        "activeOnStart": True,
        "beginsPattern": {"regexp": "^begin"},
        "endsPattern": "^end",
    }
    own = {"owner": "x", "pattern": {"regexp": "."}, "background": background}
    task = only({"command": "a", "isBackground": True, "problemMatcher": own})
    assert (task.begins, task.ends, task.active) == ("^begin", "^end", True)
    known = only({"command": "tsc -w", "isBackground": True, "problemMatcher": "$tsc-watch"})
    assert "Watching for file changes" in known.ends


def test_what_a_task_asks_is_named_with_its_answer() -> None:
    file = tasks(
        {"label": "one", "command": "${input:port}", "dependsOn": "two"},
        {"label": "two", "command": "${input:target} ${input:port}"},
        inputs=[{"id": "port", "type": "promptString", "description": "which port?"}],
    )
    assert [str(each) for each in file.missing_variables("one", AROUND)] == [
        "task `one`: ${input:port} (which port?)"
    ]


def test_a_script_of_npm_is_a_task_by_its_name() -> None:
    package = {"scripts": {"build": "tsc"}}
    assert npm_task("npm: build", package, "/srv")
    assert npm_task("npm: test", package, "/srv") is None
    assert npm_task("build", package, "/srv") is None


def test_what_is_no_tasks_json_is_told_with_its_place() -> None:
    with pytest.raises(MalformedJson, match="`tasks` must be a list"):
        parse(b'{"tasks": {}}', "linux")


def test_an_env_file_is_read_as_dotenv_writes_it() -> None:
    text = "# comment\nA=1\nexport B=two words # no\nC='${A}'\nD=\"x\\ny${A}\"\nE=${HOME}/${A}\nF=\n G = g \nbad line\n"
    found = read_env_file(text, {"HOME": "/home/ada"})
    assert found == {
        "A": "1",
        "B": "two words",
        "C": "${A}",
        "D": "x\ny1",
        "E": "/home/ada/1",
        "F": "",
        "G": "g",
    }


@pytest.mark.parametrize(
    ("named", "label"),
    [
        ("build", "build"),
        ({"label": "build"}, "build"),
        ({"label": 3, "taskName": "build"}, "build"),
        ({"label": [], "command": {"value": "make", "quoting": "strong"}}, "make"),
        ({"type": "npm", "script": None}, "npm: "),
        ({"command": None}, ""),
        ({"command": {}}, ""),
        ({"command": {"value": 3}}, ""),
        ({}, ""),
        (None, ""),
        (["build"], ""),
    ],
)
def test_a_label_that_is_no_text_is_none(named: object, label: str) -> None:
    assert label_in(named) == label


def test_a_task_depends_on_nothing_that_is_no_label() -> None:
    file = tasks(
        {"label": "all", "dependsOn": [None, 3, {"command": None}, "a"]},
        {"label": "a", "command": "a"},
    )
    assert [each.line for each in file.stage("all", AROUND).tasks] == ["a"]
