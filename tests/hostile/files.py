"""Files that somebody else has written: launch.json of a repository, definitions of adapters."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from dapeer.adapters.definition.definition import load, shipped
from dapeer.base.errors import DapeerError
from tests.harness import FAKE_PROGRAM, fake
from tests.hostile.harmless import Bait, aimed
from tests.hostile.judge import Judge
from tests.hostile.odd import ODD, Json, examples, mutated
from tests.hostile.server import attacked, place
from tests.hostile.sick_adapters import bait

TRACE = "traces-of-a-task"
"""A file that what a launch.json asks to be run would leave; nothing of it may run unless a program is started."""
RUNS = f"touch {TRACE}"

CONFIGURATION = st.fixed_dictionaries(
    {"name": st.sampled_from(["one", "two", ""]), "type": st.sampled_from(["fake", "debugpy", "node"])},
    optional={
        "request": st.sampled_from(["launch", "attach"]),
        "program": st.sampled_from([FAKE_PROGRAM, "${file}", "${workspaceFolder}/x", "${command:pick}", "${env:HOME}"]),
        "args": st.one_of(st.just(["a", "${input:which}"]), st.just("a b"), ODD),
        "env": st.dictionaries(st.text(max_size=4), ODD, max_size=2),
        "envFile": st.sampled_from(["${workspaceFolder}/.env", "/nowhere", ""]),
        "preLaunchTask": st.just("evil"),
        "postDebugTask": st.just("evil"),
        "serverReadyAction": st.just({"action": "openExternally", "pattern": "(a+)+$"}),
        "port": st.integers(1, 65535),
        "presentation": ODD,
        "linux": st.fixed_dictionaries({"program": st.just("x")}),
    },
)  # fmt: skip
FILE = mutated(
    st.fixed_dictionaries(
        {"version": st.just("0.2.0"), "configurations": st.lists(CONFIGURATION, min_size=1, max_size=4)},
        optional={
            "compounds": st.just([{"name": "all", "configurations": ["one", "two", "all"]}]),
            "inputs": st.just([{"id": "which", "type": "command", "command": RUNS, "default": "x"}]),
        },
    )
)  # fmt: skip
TASKS: Json = {"version": "2.0.0", "tasks": [{"label": "evil", "type": "shell", "command": RUNS}]}
TEXTS = (
    "", "{", "[]", "null", "// only a comment", '{"configurations": [' * 500, '{"a": ' + "9" * 5000 + "}", "\ufeff{}", "\0",
    '{"configurations": [{"name": "' + '"\\\\' * 50_000, "/*" * 50_000, "/* " + "*" * 200_000,
)  # fmt: skip


async def launch_json(judge: Judge, seed: int, count: int) -> None:
    """Have configurations listed, and started without tasks; nothing of what they name beside a program is run."""
    drawn = [json.dumps(each) for each in examples(FILE, count, seed)]
    async with place() as where, bait() as target:
        fake(where.settings)
        folder = where.project / ".vscode"
        folder.mkdir()
        (folder / "tasks.json").write_text(json.dumps(TASKS), encoding="utf-8")
        async with attacked(where, judge) as server:
            for text in [*drawn, *TEXTS]:
                judge.count("rounds: launch.json")
                (folder / "launch.json").write_text(_aimed(text, target), "utf-8", "replace")
                await server.call("dap_configurations")
                without = {"preLaunchTask": "", "postDebugTask": ""}
                for name in ("one", "two", "all"):
                    run = {"configuration": name, "config": without, "timeout_ms": 500}
                    await server.call("dap_run", run)
                await server.call("dap_terminate")
                if not server.alive:
                    return judge.fault("deaths", f"launch.json, seed {seed}: {text[:500]}")
        if traces := [*where.folder.rglob(TRACE)]:
            judge.fault("consents passed", f"a task of launch.json ran: {traces}")
    return None


def _aimed(text: str, target: Bait) -> str:
    try:
        return json.dumps(aimed(json.loads(text), target))
    except (ValueError, RecursionError):
        return text


def definitions(judge: Judge, seed: int, count: int) -> None:
    """Read definitions that are spoilt: each is refused in a sentence, or read."""
    random = Random(seed)
    texts = [path.read_text(encoding="utf-8") for path in sorted(shipped().glob("*.toml"))]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.toml"
        values = examples(ODD, 60, seed)
        for _ in range(count):
            judge.count("rounds: definitions")
            text = _spoilt(random.choice(texts), random.choice(values), random)
            path.write_text(text, "utf-8", "backslashreplace")
            try:
                load(path)
            except DapeerError:
                pass
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                judge.fault(
                    "internal errors", f"{error!r} of a definition, seed {seed}: {text[:1500]}"
                )


def _spoilt(text: str, value: object, random: Random) -> str:
    """Spoil a line or three: leave it out, write it twice, give it another value or another name."""
    lines = text.splitlines()
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(lines))
        key, equals, _ = lines[at].partition("=")
        lines[at : at + 1] = random.choice(
            [[], [lines[at]] * 2, [f"{key}{equals} {json.dumps(value)}"], [lines[at][::-1]],
             [f"{key}{equals} {'[' * 2000}{']' * 2000}"], [f"odd {equals} 1"], [re.sub(r"\w", "9", lines[at])]]
        )  # fmt: skip
    return "\n".join(lines)
