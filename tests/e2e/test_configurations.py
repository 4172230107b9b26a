"""Starting by the names in a project's launch.json, without any editor."""

import json
import os
from pathlib import Path

import pytest

from tests.harness import ask, call, client, evaluate, fake, has_all, read, refusal, text
from tests.programs import compiled, copied

HEAD = {"type": "debugpy", "request": "launch"}


def project(folder: Path, *configurations: object, **more: object) -> Path:
    """Write a launch.json, as people do: with a comment and a last comma."""
    target = folder / ".vscode" / "launch.json"
    target.parent.mkdir(exist_ok=True)
    written = json.dumps({"configurations": configurations, **more}, indent=2)
    target.write_text(f"// Mine.\n{written[:-2]},\n}}\n", encoding="utf-8")
    return folder


async def test_a_configuration_starts_by_its_name_with_all_that_it_says(tmp_path: Path) -> None:
    copied("surroundings.py", tmp_path)
    shop = {
        **HEAD,
        "name": "Shop",
        "type": "python",
        "program": "${workspaceFolder}/surroundings.py",
        "args": ["one", "${workspaceFolderBasename}"],
        "env": {"FROM_FILE": "${env:HOME}", "BOTH": "file"},
        "console": "integratedTerminal",
        "preLaunchTask": "build",
        "stopOnEntry": True,
        "linux": {"args": ["linux", "${workspaceFolderBasename}"]},
    }
    tasks = {"tasks": [{"label": "build", "command": "touch built"}]}
    project(tmp_path, shop)
    (tmp_path / ".vscode" / "tasks.json").write_text(json.dumps(tasks), "utf-8")
    async with client(tmp_path) as c:
        listed = await ask(c, "dap_configurations")
        assert listed["configurations"] == [
            {"name": "Shop", "type": "python", "request": "launch", "origin": "launch.json",
             "where": ["direct"], "tasks": ["build: touch built"]}
        ]  # fmt: skip
        stop = await ask(c, "dap_run", configuration="Shop")
        assert (stop["state"], stop["reason"]) == ("stopped", "entry")
        argv = await evaluate(c, "__import__('sys').argv[1:]")
        assert argv == str(["linux", tmp_path.name])
        await ask(
            c, "dap_run", configuration="Shop", args=["mine"], env={"BOTH": "caller"}, name="Second"
        )
        assert await evaluate(c, "__import__('sys').argv[1:]") == "['mine']"
        both = "[__import__('os').environ[n] for n in ('BOTH', 'FROM_FILE')]"
        assert await evaluate(c, both) == str(["caller", os.environ["HOME"]])
        sessions = (await ask(c, "dap_status"))["sessions"]
        assert [each["name"] for each in sessions] == ["Shop", "Second"]


async def test_what_asks_says_so_and_starts_when_it_is_answered(tmp_path: Path) -> None:
    program = copied("steps.py", tmp_path)
    asking = {**HEAD, "name": "This file", "program": "${file}", "args": ["${input:which}"]}
    inputs = [{"id": "which", "type": "promptString", "description": "Which?", "default": "a"}]
    async with client(project(tmp_path, asking, inputs=inputs)) as c:
        (row,) = (await ask(c, "dap_configurations"))["configurations"]
        assert row["asks"] == ["program: ${file}", "args[0]: ${input:which} (Which?; default a)"]
        said = await refusal(c, "dap_run", configuration="This file")
        assert has_all(
            said, *row["asks"], 'Give `program`, `args` or inputs={"file": …, "which": …}.'
        )
        said = await refusal(c, "dap_run", configuration="This file", program="steps.py")
        assert said.endswith('Give `args` or inputs={"which": …}.')
        stop = await ask(
            c, "dap_run", configuration="This file", program="steps.py", args=["x"],
            stop_on_entry=True,
        )  # fmt: skip
        assert stop["file"] == str(program.path)


async def test_names_that_fit_nothing_or_several_are_answered_with_those_there_are(
    tmp_path: Path,
) -> None:
    here = project(
        tmp_path,
        {**HEAD, "name": "Twice", "program": "a.py"},
        {**HEAD, "name": "Twice", "type": "cppdbg", "program": "a"},
        {**HEAD, "name": "Foreign", "type": "cobol", "program": "a"},
        compounds=[{"name": "All", "configurations": ["Twice", "Foreign"]}],
    )
    async with client(here) as c:
        said = await refusal(c, "dap_run", configuration="Once")
        assert has_all(said, "`Once`", "Twice, Foreign")
        said = await refusal(c, "dap_run", configuration="Twice")
        assert has_all(
            said, "Twice (debugpy, launch.json)", "Twice (cppdbg, launch.json)", "`type`"
        )
        by_type = await refusal(c, "dap_run", configuration="Twice", type="debugpy")
        assert "a.py does not exist" in by_type
        assert "Choose one by `type`" in await refusal(c, "dap_run", configuration="All")
        assert "cobol" in await refusal(c, "dap_run", configuration="Foreign")
        assert "not attach" in await refusal(
            c, "dap_run", configuration="Foreign", request="attach"
        )
        assert "Foreign (cobol, launch) of launch.json: cannot be started" in await read(
            c, "dap_configurations"
        )


async def test_a_process_that_a_failed_compound_has_attached_to_runs_on(
    tmp_path: Path, settings: Path
) -> None:
    adapter = fake(settings)
    (tmp_path / "a.py").write_text("print(1)\n", "utf-8")
    here = project(
        tmp_path,
        {"type": "fake", "request": "attach", "name": "Server", "processId": os.getppid()},
        {**HEAD, "name": "Client", "program": "a.py", "preLaunchTask": "build"},
        compounds=[{"name": "All", "configurations": ["Server", "Client"]}],
    )
    tasks = {"tasks": [{"label": "build", "command": "false"}]}
    (here / ".vscode" / "tasks.json").write_text(json.dumps(tasks), "utf-8")
    async with client(here) as c:
        assert "`build`" in await refusal(c, "dap_run", configuration="All")
    ends = [each["arguments"] for each in adapter.requests() if each["command"] == "disconnect"]
    assert [each["terminateDebuggee"] for each in ends] == [False]
    assert "terminate" not in adapter.commands()


async def test_a_launch_json_with_a_mistake_is_named_with_its_place(tmp_path: Path) -> None:
    here = project(tmp_path)
    path = here / ".vscode" / "launch.json"
    path.write_text('{\n  "configurations": [\n    { "name": "a" "type": "b" }\n  ]\n}')
    async with client(here) as c:
        listed = await ask(c, "dap_configurations")
        assert listed["configurations"] == []
        assert listed["problem"] == f"{path}:3:19: Expecting ',' delimiter."
        assert f"{path}:3:19" in await refusal(c, "dap_run", configuration="a")


async def test_a_project_without_a_launch_json_has_none(tmp_path: Path) -> None:
    async with client(tmp_path) as c:
        assert await read(c, "dap_configurations") == "There are no configurations."
        assert await refusal(c, "dap_run", configuration="a") == (
            "There is no configuration `a`. There are: none."
        )


async def test_without_a_neovim_nothing_starts_in_one(tmp_path: Path) -> None:
    copied("steps.py", tmp_path)
    async with client(tmp_path) as c:
        said = await refusal(c, "dap_run", program="steps.py", where="nvim")
        assert said.startswith("No Neovim is attached.")
        result = await call(c, "dap_run", program="steps.py", stop_on_entry=True, where="direct")
        assert not result.is_error, text(result)


@pytest.mark.parametrize("given", [{"module": "steps"}, {"program": "steps.py"}])
async def test_another_target_replaces_that_of_the_configuration(
    tmp_path: Path, given: dict[str, str]
) -> None:
    copied("steps.py", tmp_path)
    here = project(tmp_path, {**HEAD, "name": "Module", "module": "http.server"})
    async with client(here) as c:
        stop = await ask(c, "dap_run", configuration="Module", stop_on_entry=True, **given)
        assert stop["file"] == str(tmp_path / "steps.py")


async def test_configurations_of_other_debuggers_start_in_the_one_that_stands_in(
    tmp_path: Path,
) -> None:
    program = compiled("loop.c", tmp_path)
    (tmp_path / "given.sh").write_text('echo "given: $1"\n')
    here = project(
        tmp_path,
        {
            "name": "C", "type": "cppdbg", "request": "launch", "stopAtEntry": True,
            "program": str(program), "environment": [{"name": "GIVEN", "value": "yes"}],
            "MIMode": "gdb", "setupCommands": [{"text": "-enable-pretty-printing"}],
            "externalConsole": False,
        },
        {
            "name": "Eclipse", "type": "gdbtarget", "request": "launch", "gdb": "gdb",
            "program": str(program), "target": {"type": "remote", "port": "2331"},
        },
        {
            "name": "Shell", "type": "bashdb", "request": "launch", "stopOnEntry": True,
            "program": "${workspaceFolder}/given.sh", "args": ["yes"], "pathBash": "bash",
            "terminalKind": "integrated",
        },
    )  # fmt: skip
    async with client(here) as c:
        stop = await ask(c, "dap_run", configuration="C")
        assert (stop["state"], stop["file"]) == ("stopped", str(program.source))
        assert "yes" in await evaluate(c, '(char *) getenv("GIVEN")')
        text = await read(c, "dap_run", configuration="Eclipse", breakpoints=[program.at("call")])
        assert "dapeer has no adapter `gdbtarget`: gdb stands in for it" in text
        stop = await ask(c, "dap_run", configuration="Shell")
        assert (stop["state"], stop["reason"]) == ("stopped", "entry")
        assert "given: yes" in await read(c, "dap_continue")


async def test_a_name_without_anything_to_run_leads_to_the_configuration(tmp_path: Path) -> None:
    for more in ({}, {"type": "python"}):
        async with client(project(tmp_path, {**HEAD, "name": "Launch file"})) as c:
            said = await refusal(c, "dap_run", name="Launch file", **more)
        assert said == (
            "`name` only names the new session: nothing says what 'Launch file' runs. "
            "To start the configuration of that name, give configuration='Launch file'."
        )
