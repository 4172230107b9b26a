"""What a debugged Python program costs while nothing stops it, beside the same program alone.

`uv run python -m tools.bench.running [VERSION ...]` prints ratios to plain Python: without a breakpoint, with one in a function that runs
once, and with a false condition on a line that runs often; each beside debugpy without dapeer's row `untraced-until-needed`. The program
times its parts itself, so no start is in it: what all its threads compute, which other programs of the machine change little. All are
measured in turn, in one run.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness import ask, client
from tests.programs import Program
from tests.pythons import python_of
from tests.real.software import environment_with
from tools.bench.statistics import Measured, shuffled

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
ROUNDS = 5
WORK = 200_000
PACKAGES = ("pytest>=8.3", "django>=4.2")
MS_AT_MOST = 600_000
ALONE, FREE, STOCK, RARE, OFTEN = "alone", "free", "stock", "rare", "often"
WAYS: Mapping[str, str] = {
    FREE: "no breakpoint",
    STOCK: "no breakpoint, without the row",
    RARE: "one breakpoint in a function that runs once",
    OFTEN: "a false condition on a line that runs often",
}
"""What is measured beside the program alone."""
PARTS = (
    "calls",
    "methods",
    "generators",
    "exceptions",
    "files",
    "threads",
    "server",
    "pytest",
    "django",
)
TEXT = """
import asyncio
import json
import threading
import time

import django.conf
import django.http
import django.test
import django.urls
import pytest as runner


def add(x):
    return x + 1  # @often


class Cart:
    def total(self):
        return 1


def numbers(count):
    for each in range(count):
        yield each


def caught(x):
    try:
        raise KeyError(x)
    except KeyError:
        return 0


def calls(count):
    for each in range(count):
        add(each)


def methods(count):
    cart = Cart()
    for each in range(count):
        cart.total()


def generators(count):
    for each in numbers(count):
        pass


def exceptions(count):
    for each in range(count // 4):
        caught(each)


def files(count):
    with open("out.txt", "w") as stream:
        for each in range(count):
            stream.write("one line\\n")


def threads(count):
    each = [threading.Thread(target=calls, args=(count // 4,)) for _ in range(4)]
    [one.start() for one in each]
    [one.join() for one in each]


async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(line)
    writer.close()


async def ask(count):
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    for each in range(count // 100):
        writer.write(b"one line\\n")
        await reader.readline()
    writer.close()
    server.close()


def server(count):
    asyncio.run(ask(count))


def pytest(count):
    with open("test_much.py", "w") as stream:
        stream.write("import pytest\\n\\n\\n@pytest.mark.parametrize('n', range(%d))\\n" % (count // 100))
        stream.write("def test_one(n):\\n    assert n + 1 > 0\\n")
    assert runner.main(["-qq", "-p", "no:cacheprovider", "test_much.py"]) == 0


def view(request):
    return django.http.JsonResponse({"path": request.path})


def django_(count):
    client = django.test.Client()
    for each in range(count // 400):
        assert client.get("/shop").status_code == 200


django.conf.settings.configure(
    ROOT_URLCONF="__main__", ALLOWED_HOSTS=["*"], SECRET_KEY="of nothing",
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
)
django.setup()
urlpatterns = [django.urls.path("shop", view)]


def rare():
    return 0  # @rare


def main(count):
    rare()
    took = {}
    for part in (calls, methods, generators, exceptions, files, threads, server, pytest, django_):
        began = time.process_time()
        part(count)
        took[part.__name__.strip("_")] = time.process_time() - began
    with open("took.json", "w") as stream:
        json.dump(took, stream)


main(COUNT)
"""


async def measured(version: str, count: int = WORK, rounds: int = ROUNDS) -> Measured:
    """Measure the parts of the program in a Python, in each way: seconds.

    Raises:
        AssertionError: A run did not end as it should.
        MissingError: There is no environment with the packages that the program uses.
    """
    python = str(
        environment_with(f"running-{version}", python_of(version), *PACKAGES) / "bin" / "python"
    )
    found = Measured()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "work.py"
        path.write_text(TEXT.replace("COUNT", str(count)), encoding="utf-8")
        program = Program(path, path)
        for _ in range(rounds):
            for way in shuffled((ALONE, *WAYS)):
                await _run(program, python, way)
                took = json.loads((path.parent / "took.json").read_text(encoding="utf-8"))
                for part, seconds in took.items():
                    found.add(part, way, seconds)
    return found


async def _run(program: Program, python: str, way: str) -> None:
    if way == ALONE:
        alone = await asyncio.create_subprocess_exec(
            python,
            str(program),
            cwd=program.source.parent,
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await alone.wait() == 0
        return
    points = {RARE: [program.at("rare")], OFTEN: [program.at("often", condition="x < 0")]}
    started = {"program": str(program), "python": python, "breakpoints": points.get(way, [])}
    os.environ["DAPEER_PATCHES"] = "-untraced-until-needed" if way == STOCK else ""
    async with client(program.source.parent) as c:
        told = await ask(c, "dap_run", **started, timeout_ms=MS_AT_MOST)
        if way == RARE:
            told = await ask(c, "dap_continue", timeout_ms=MS_AT_MOST)
        assert told["state"] == "ended", told


def main(versions: Sequence[str]) -> None:
    """Measure, and print a table in Markdown."""
    lines = [f"| Python | | {' | '.join(PARTS)} |", f"|---|---|{'---:|' * len(PARTS)}"]
    for version in versions or VERSIONS:
        found = asyncio.run(measured(version))
        for way, title in WAYS.items():
            values = [found.of(part) for part in PARTS]
            ratios = (f"{each[way].median / each[ALONE].median:.1f}" for each in values)
            lines.append(f"| {version} | {title} | {' | '.join(ratios)} |")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
