"""Bugs in C++, Rust, Go and Java, found as an assistant would."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import needs
from tests.programs import tool
from tests.real.assistant import assistant, broken, line_of, run
from tests.real.software import package, source
from tests.shown import Shows

SECONDS = 120

CMAKE = """
cmake_minimum_required(VERSION 3.5)
project(areas CXX)
add_library(clipper STATIC clipper/clipper.cpp)
add_executable(areas main.cpp)
target_link_libraries(areas clipper)
"""
AREAS = """
#include "clipper/clipper.hpp"
#include <cstdio>

using namespace ClipperLib;

int main() {
  Path square;
  square << IntPoint(0, 0) << IntPoint(10, 0) << IntPoint(10, 20) << IntPoint(0, 20);
  std::printf("%g\\n", Area(square));
}
"""


@pytest.fixture(scope="module")
def clipper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a CMake project whose library calculates areas wrongly."""
    folder = tmp_path_factory.mktemp("areas")
    broken(
        source("pyclipper") / "src", folder / "clipper", "clipper.cpp",
        "a += ((double)poly[j].X + poly[i].X) * ((double)poly[j].Y - poly[i].Y);",
        "a += ((double)poly[j].X + poly[i].X) * ((double)poly[j].Y + poly[i].Y);",
    )  # fmt: skip
    (folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    (folder / "main.cpp").write_text(AREAS, encoding="utf-8")
    run(folder, tool("cmake"), "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug")
    run(folder, tool("cmake"), "--build", "build")
    return folder


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_cmake_project_shows_its_structs(clipper: Path, adapter: str, shows: Shows) -> None:
    needs(adapter)
    line = line_of(clipper / "clipper" / "clipper.cpp", "(double)poly[j].Y + poly[i].Y")
    async with asyncio.timeout(SECONDS), assistant(clipper) as a:
        stop = await a.run(
            program="build/areas", type=adapter,
            breakpoints=[{"filename": "clipper/clipper.cpp", "line": line, "condition": "i == 2"}],
        )  # fmt: skip
        assert f"clipper/clipper.cpp:{line} in ClipperLib::Area" in stop.splitlines()[0], stop
        assert "i = 2" in stop
        assert "j = 1" in stop
        assert "poly = " in stop
        # Its points, whatever the adapter calls them.
        assert "20" in stop.partition("poly = ")[2].partition("\n")[0], stop
        assert a.calls == 1
        assert "30" in await a.read("dap_evaluate", expression="poly[i].X + poly[i].Y")
        await a.read("dap_terminate")
    shows(adapter, "breakpoint", "condition")
    shows(f"c++/{adapter}", "values")


SEMVER = """
[package]
name = "semver"
version = "1.0.14"
edition = "2018"
"""
VERSIONS = """
[package]
name = "versions"
version = "0.1.0"
edition = "2021"

[dependencies]
semver = { path = "semver" }

[profile.dev]
opt-level = 0
"""
MAIN_RS = """
use semver::{Version, VersionReq};

fn main() {
    let wanted = VersionReq::parse(">1.2.3").unwrap();
    let names = vec![String::from("1.2.4"), String::from("1.3.0")];
    for name in &names {
        let version = Version::parse(name).unwrap();
        println!("{} {}", name, wanted.matches(&version));
    }
}
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Rust crate whose dependency compares versions wrongly."""
    folder = tmp_path_factory.mktemp("versions")
    broken(
        package("librust-semver-dev"), folder / "semver", "src/eval.rs",
        "ver.patch > patch", "patch > ver.patch",
    )  # fmt: skip
    manifest = folder / "semver" / "Cargo.toml"
    manifest.unlink()
    manifest.write_text(SEMVER, encoding="utf-8")
    (folder / "Cargo.toml").write_text(VERSIONS, encoding="utf-8")
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(MAIN_RS, encoding="utf-8")
    run(folder, tool("cargo"), "build", "--offline", "--quiet")
    return folder


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_rust_crate_shows_strings_and_vectors(
    versions: Path, adapter: str, shows: Shows
) -> None:
    needs(adapter)
    main, evaluated = versions / "src" / "main.rs", versions / "semver" / "src" / "eval.rs"
    line, wrong = line_of(main, "println!"), line_of(evaluated, "patch > ver.patch")
    async with asyncio.timeout(SECONDS), assistant(versions) as a:
        stop = await a.run(
            program="target/debug/versions", type=adapter,
            breakpoints=[
                {"filename": "src/main.rs", "line": line},
                {"filename": "semver/src/eval.rs", "line": wrong},
            ],
        )  # fmt: skip
        assert f"src/main.rs:{line}" in stop.splitlines()[0], stop
        assert '"1.2.4"' in stop, stop
        assert '"1.3.0"' in stop, stop
        stop = await a.read("dap_continue")
        assert f"semver/src/eval.rs:{wrong}" in stop.splitlines()[0], stop
        assert "patch = 3" in stop
        await a.read("dap_terminate")
    shows(f"rust/{adapter}", "breakpoint", "values")


GROUP_GO = """
package main

import (
	"errors"
	"fmt"

	"example.com/group/errgroup"
)

func main() {
	var group errgroup.Group
	for n := 0; n < 3; n++ {
		n := n
		group.Go(func() error {
			if n == 1 {
				return errors.New("no such shop")
			}
			return nil
		})
	}
	err := group.Wait()
	prices := map[string]int{"tea": 4}
	fmt.Println(err, prices)
}
"""


async def test_a_go_module_shows_errors_maps_and_goroutines(tmp_path: Path, shows: Shows) -> None:
    needs("delve")
    group = broken(
        package("golang-golang-x-sync-dev") / "errgroup", tmp_path / "errgroup", "errgroup.go",
        "g.err = err", "_, g.err = err, nil",
    )  # fmt: skip
    for example in group.parent.glob("*_test.go"):
        example.unlink()
    main = tmp_path / "main.go"
    main.write_text(GROUP_GO, encoding="utf-8")
    (tmp_path / "go.mod").write_text("module example.com/group\n\ngo 1.19\n", encoding="utf-8")
    wrong, line = line_of(group, "_, g.err = err, nil"), line_of(main, "fmt.Println")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            program=".",
            breakpoints=[
                {"filename": str(group), "line": wrong}, {"filename": "main.go", "line": line},
            ],
        )  # fmt: skip
        assert f"errgroup/errgroup.go:{wrong}" in stop.splitlines()[0], stop
        assert "no such shop" in stop, stop
        stop = await a.read("dap_continue")
        assert f"main.go:{line}" in stop.splitlines()[0], stop
        assert "err = error nil" in stop or "err = nil" in stop, stop
        assert '"tea": 4' in stop
        await a.read("dap_terminate")
    shows("go", "values")


MAIN_JAVA = """
package shop;

import org.apache.commons.lang3.StringUtils;

public class Main {
    static class Order {
        String name;
        Order(String name) { this.name = name; }
        String title() {
            String title = StringUtils.uncapitalize(name);
            return title;
        }
    }

    public static void main(String[] args) {
        Order order = new Order("kettle");
        System.out.println(order.title());
    }
}
"""
MANIFEST = "Main-Class: shop.Main\nClass-Path: {library}\n"


async def test_a_java_jar_stops_in_a_nested_class(tmp_path: Path, shows: Shows) -> None:
    needs("jdi")
    library = package("libcommons-lang3-java")
    main = tmp_path / "src" / "shop" / "Main.java"
    main.parent.mkdir(parents=True)
    main.write_text(MAIN_JAVA, encoding="utf-8")
    run(tmp_path, tool("javac"), "-g", "-cp", str(library), "-d", "classes", str(main))
    (tmp_path / "manifest").write_text(MANIFEST.format(library=library.as_uri()), encoding="utf-8")
    run(tmp_path, tool("jar"), "cfm", "shop.jar", "manifest", "-C", "classes", ".")
    line = line_of(main, "return title")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program="shop.jar", breakpoints=[{"filename": str(main), "line": line}])
        assert f"src/shop/Main.java:{line}" in stop.splitlines()[0], stop
        assert 'title = "kettle"' in stop
        end = await a.read("dap_continue")
        assert "kettle" in end
    shows("java", "values")
