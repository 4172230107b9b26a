"""Java programs as people have them: in packages, in jars, in classes within classes."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.running import free_port, started
from tests.harness import ask, client, evaluate, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import Program, program
from tests.shown import Shows

SHOP = "java/shop/Shop.java"


@pytest.fixture(autouse=True)
def java() -> None:
    """Skip the tests where there is no JDK."""
    needs("jdi")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with sources and compiled classes where Maven has them, and a jar."""
    needs("jdi")
    folder = tmp_path_factory.mktemp("java")
    sources, classes = folder / "src/main/java", folder / "target/classes"
    shutil.copytree(program(SHOP).source.parent, sources / "shop")
    classes.mkdir(parents=True)
    run("javac", "-g", "-d", classes, sources / "shop/Shop.java")
    run("jar", "cfe", folder / "shop.jar", "shop.Shop", "-C", classes, ".")
    return folder


def run(command: str, *arguments: object) -> None:
    subprocess.run([shutil.which(command) or command, *map(str, arguments)], check=True)


def shop(project: Path) -> Program:
    source = project / "src/main/java/shop/Shop.java"
    return Program(source, source)


async def test_breakpoints_bind_in_classes_of_all_kinds(project: Path) -> None:
    p = shop(project)
    places = ["sibling", "sibling", "anonymous", "lambda", "nested", "lambda", "nested", "inner"]
    async with asyncio.timeout(LIMIT), client(project) as c:
        breakpoints = [p.at(place) for place in dict.fromkeys(places)]
        stop = await ask(c, "dap_run", program=str(p), breakpoints=breakpoints)
        for place in places:
            assert (stop["reason"], stop["line"]) == ("breakpoint", p.line(place)), stop
            assert stop["file"] == str(p.source)
            if place != "inner":
                stop = await ask(c, "dap_continue")
        assert "pending" not in await read(c, "dap_breakpoints")
        # What the class itself has not, but its outer one has; and methods, more than once.
        assert await evaluate(c, "stock.get(item.name)") == "2"
        assert await evaluate(c, "stock") == "LinkedHashMap (size 2) {tea=2, mug=1}"
        assert (await ask(c, "dap_variables", path="item"))["value"].endswith(
            '{name="tea", price=5}'
        )
        assert await evaluate(c, "items.size() + items.size()") == "4"


@pytest.mark.parametrize("what", ["shop.jar", "target/classes/shop/Shop.class", "shop.Shop"])
async def test_a_jar_a_class_file_and_a_class_run(project: Path, what: str) -> None:
    p = shop(project)
    how = {"module": what, "type": "java"} if what == "shop.Shop" else {"program": what}
    async with asyncio.timeout(LIMIT), client(project) as c:
        stop = await ask(c, "dap_run", **how, breakpoints=[p.at("inner")])
        assert (stop["file"], stop["line"]) == (str(p.source), p.line("inner"))
        await read(c, "dap_clear_breakpoints")
        stop = await ask(c, "dap_continue")
        assert (stop["reason"], stop["line"]) == ("exception", p.line("null"))
        assert "nothing" in await read(c, "dap_exception_info")
        assert (await ask(c, "dap_continue"))["exit_code"] == 1


async def test_a_source_file_that_nobody_has_compiled_runs(tmp_path: Path) -> None:
    source = tmp_path / "shop" / "Shop.java"
    shutil.copytree(program(SHOP).source.parent, source.parent)
    p = Program(source, source)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program=str(source), breakpoints=[p.at("nested")])
        assert (stop["file"], stop["line"]) == (str(source), p.line("nested"))


async def test_a_class_that_is_loaded_already_takes_a_log_point(
    project: Path, shows: Shows
) -> None:
    p = shop(project)
    async with asyncio.timeout(LIMIT), client(project) as c:
        stop = await ask(c, "dap_run", program=str(p), stop_on_entry=True)
        assert (stop["reason"], stop["line"]) == ("entry", p.line("main") - 1)
        await ask(c, "dap_set_breakpoint", **p.at("lambda", hit_condition="2"))
        await ask(c, "dap_continue")
        assert await evaluate(c, "item.name") == '"mug"'
        # The nested class has run, the inner one has not been loaded.
        await ask(c, "dap_set_breakpoint", **p.at("nested", log_message="{item.name} {nix}"))
        await ask(c, "dap_set_breakpoint", **p.at("inner", condition="item.price == 7"))
        stop = await ask(c, "dap_continue")
        assert stop["logged"][-1].endswith("mug {Name unknown: nix}")
        assert await evaluate(c, "sum") == "10"
    shows("java", "log point")


async def test_collected_texts_keep_their_quotes_and_a_name_that_is_unknown_is_an_error(
    project: Path,
) -> None:
    p = shop(project)
    at = p.at("lambda", collect=["item.name", "item.name.length()", "nix"])
    async with asyncio.timeout(LIMIT), client(project) as c:
        said = await read(c, "dap_run", program=str(p), breakpoints=[at])
        assert '#2 item.name = "mug"\n' in said
        assert "nix = (Name unknown: nix)" in said


async def test_a_program_that_listens_is_attached_to_and_lives_on(shows: Shows) -> None:
    p = program("Endless.java")
    port = free_port()
    agent = f"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:{port}"
    async with (
        asyncio.timeout(LIMIT),
        client(p.source.parent) as c,
        started(shutil.which("java") or "java", agent, str(p)) as process,
    ):
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(
            c, "dap_run", request="attach", type="java", port=port, breakpoints=[p.at("turn")]
        )
        assert (stop["file"], stop["line"]) == (str(p.source), p.line("turn"))
        await read(c, "dap_disconnect")
        assert await process.stdout.readline()
    shows("java", "attach")


async def test_a_program_says_why_it_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "Wrong.java"
    source.write_text("class Wrong { int x = ; }\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "Wrong.java:1" in await refusal(c, "dap_run", program=str(source))


ROUND = """\
import java.util.*;
public class Round {
    enum Level { LOW, HIGH { int rank() { return 2; } }; int rank() { return 1; } }
    static int calls = 3;
    int[] data = {4, 5, 6};
    String name = "loop";
    Object none;
    long twice(int n) { return n * 2; }
    long twice(long n) { return n * 20; }
    int read(String text) {
        try { return Integer.parseInt(text); }
        catch (NumberFormatException e) { throw new IllegalStateException("no row", e); }
    }
    void run() {
        Integer boxed = 7;
        Level level = Level.HIGH;
        List<String> words = List.of("a", "bb");
        for (int i = 0; i < 4; i++) {
            System.out.print("");
        }
        read("zz");
    }
    public static void main(String[] args) { new Round().run(); }
}
"""
VALUES = {
    'i == 2 && name.startsWith("lo")': "true",
    "none != null || !words.isEmpty()": "true",
    "none != null && none.hashCode() > 0": "false",
    "this instanceof Round && !(none instanceof String)": "true",
    "level == Level.HIGH ? level.rank() : -1": "2",
    'Level.valueOf("LOW")': "LOW",
    'Math.max(boxed, 3) + Integer.parseInt("1")': "8",
    "calls + data[1] + data.length": "11",
    "words.get(1).length() + 7 / 2 + 7 % 4 + (1 << 2)": "12",
    "twice(4) + twice(4L)": "88",
    "(double) i / 4": "0.5",
    '"n" + i + level': '"n2HIGH"',
    'String.format("%s-%d", name, boxed)': '"loop-7"',
    "java.util.Arrays.toString(data)": '"[4, 5, 6]"',
    "Objects.equals(name, null)": "false",
    "name.charAt(0) == 'l'": "true",
    "i = 2": "2",
}
WRONG = {
    "data[3]": "Index 3 out of bounds for length 3",
    "none.toString()": "null has no toString",
    "words[0]": "This is no array: write .get(0) for a list.",
    "name.length": "has no field length: a method is called as length()",
    "nix > 1": "Name unknown: nix",
    "i && true": "This is no boolean: 2",
}


async def test_java_is_evaluated_in_its_own_words_and_the_causes_of_an_exception_are_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "Round.java").write_text(ROUND)
    both = "i == 2 && Level.HIGH.rank() > 1"
    at = [{"filename": "Round.java", "line": 19, "condition": both}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="Round.java", breakpoints=at)
        assert (stop["line"], stop["locals"]["i"], stop["locals"]["level"]) == (19, "2", "HIGH")
        told = await read(c, "dap_evaluate", expressions=[*VALUES, *WRONG])
        for expression, value in VALUES.items():
            assert f"{expression} = {value}" in told, told
        for expression, error in WRONG.items():
            [line] = [each for each in told.splitlines() if each.startswith(f"{expression}: ")]
            assert error in line
        await read(c, "dap_clear_breakpoints")
        stop = await ask(c, "dap_continue")
        assert stop["exception"].splitlines() == [
            "IllegalStateException: no row",
            'caused by java.lang.NumberFormatException: For input string: "zz" at Round.java:11 in read',
        ]


async def test_what_java_cannot_evaluate_here_is_said_and_has_no_value(tmp_path: Path) -> None:
    source = tmp_path / "Hi.java"
    source.write_text(
        'public class Hi {\n  public static void main(String[] args) {\n    String s = "new -> ::";\n'
        "    System.out.println(s);\n  }\n}\n"
    )
    at = {"filename": str(source), "line": 4}
    unsupported = {
        "new int[3]": "new",
        "s.chars().map(x -> x)": "->",
        "s.chars().map(Hi::of)": "::",
    }
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await ask(c, "dap_run", program=str(source), breakpoints=[at])
        for expression, what in unsupported.items():
            said = await refusal(c, "dap_evaluate", expression=expression)
            assert f"cannot evaluate `{what}`" in said
        assert await evaluate(c, 's.equals("new -> ::")') == "true"
