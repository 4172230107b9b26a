"""Bugs in Ruby, Perl, Bash and CMake, found as an assistant would."""

import asyncio
from pathlib import Path

from tests.harness import needs
from tests.real.assistant import assistant, broken, line_of
from tests.real.software import package
from tests.shown import Shows

SECONDS = 120

SHOP_RB = """
$LOAD_PATH.unshift(File.join(__dir__, 'addressable', 'lib'))
require 'addressable/uri'

shop = Addressable::URI.parse('https://shop.example:443/tea')
puts shop.normalize.to_s
"""


async def test_a_ruby_gem_shows_an_object_and_its_expressions(tmp_path: Path, shows: Shows) -> None:
    needs("rdbg")
    uri = broken(
        package("ruby-addressable"), tmp_path / "addressable", "lib/addressable/uri.rb",
        "if URI.port_mapping[self.normalized_scheme] == self.port",
        "if URI.port_mapping[self.normalized_scheme] != self.port",
    )  # fmt: skip
    (tmp_path / "shop.rb").write_text(SHOP_RB, encoding="utf-8")
    line = line_of(uri, "self.normalized_scheme] != self.port")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program="shop.rb", breakpoints=[{"filename": str(uri), "line": line}])
        assert f"addressable/lib/addressable/uri.rb:{line}" in stop.splitlines()[0], stop
        assert "https://shop.example:443/tea" in stop
        found = await a.read("dap_evaluate", expression="URI.port_mapping[normalized_scheme]")
        assert "443" in found
        assert "443" in await a.read("dap_evaluate", expression="self.port")
        end = await a.read("dap_clear_breakpoints") and await a.read("dap_continue")
        assert "https://shop.example:443/tea" in end
    shows("ruby", "values")


URI_TEST_RB = """
$LOAD_PATH.unshift(File.join(__dir__, 'addressable', 'lib'))
require 'minitest/autorun'
require 'addressable/uri'

class UriTest < Minitest::Test
  def test_the_usual_port_is_left_out
    shop = Addressable::URI.parse('https://shop.example:443/tea')
    normal = shop.normalize.to_s
    assert_equal 'https://shop.example/tea', normal
  end
end
"""


async def test_a_test_of_minitest_stops_at_its_assertion_in_one_call(
    tmp_path: Path, shows: Shows
) -> None:
    needs("rdbg")
    package("ruby-minitest")
    broken(
        package("ruby-addressable"), tmp_path / "addressable", "lib/addressable/uri.rb",
        "if URI.port_mapping[self.normalized_scheme] == self.port",
        "if URI.port_mapping[self.normalized_scheme] != self.port",
    )  # fmt: skip
    test = tmp_path / "uri_test.rb"
    test.write_text(URI_TEST_RB, encoding="utf-8")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program="uri_test.rb::UriTest::test_the_usual_port_is_left_out")
        assert f"uri_test.rb:{line_of(test, 'assert_equal')}" in stop.splitlines()[0], stop
        assert "https://shop.example:443/tea" in stop.partition("Locals:")[2]
        assert a.calls == 1
    shows("ruby", "test by id")


TOOL_PL = """
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Text::Wrap qw(wrap);

$Text::Wrap::columns = 20;
print wrap('', '  ', 'a kettle and a pot and a spoon'), "\\n";
"""


async def test_a_perl_module_shows_its_lexical_variables(tmp_path: Path, shows: Shows) -> None:
    needs("perl")
    wrap = broken(
        package("perl-modules-5.36") / "Text", tmp_path / "lib" / "Text", "Wrap.pm",
        "my $ll = $columns - _xlen(expand($ip)) - 1;", "my $ll = $columns + _xlen(expand($ip)) + 1;",
    )  # fmt: skip
    (tmp_path / "tool.pl").write_text(TOOL_PL, encoding="utf-8")
    line = line_of(wrap, "$ll = 0 if $ll < 0;")
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(program="tool.pl", breakpoints=[{"filename": str(wrap), "line": line}])
        assert f"lib/Text/Wrap.pm:{line}" in stop.splitlines()[0], stop
        assert "21" in await a.read("dap_evaluate", expression="$ll")
        assert "a kettle" in stop, stop
        await a.read("dap_terminate")
    shows("perl", "values")


async def test_a_bash_script_of_the_system_stops_in_its_loop(tmp_path: Path, shows: Shows) -> None:
    needs("bash-dap")
    ldd = tmp_path / "ldd.sh"
    code = package("libc-bin").read_text(encoding="utf-8")
    good, bad = "test $single_file = t || echo", "test $single_file = f || echo"
    assert good in code
    ldd.write_text(code.replace(good, bad), encoding="utf-8")
    line = line_of(ldd, bad)
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            program="ldd.sh", args=["/bin/ls"],
            breakpoints=[{"filename": "ldd.sh", "line": line}],
        )  # fmt: skip
        assert f"ldd.sh:{line}" in stop.splitlines()[0], stop
        assert "t" in await a.read("dap_evaluate", expression="$single_file")
        assert "/bin/ls" in await a.read("dap_evaluate", expression="$file")
        await a.read("dap_clear_breakpoints")
        end = await a.read("dap_continue")
        assert end.startswith("Ended, exit code 0"), end
        assert "/bin/ls:" in end or "/bin/ls:" in await a.read("dap_program_output")
    shows("bash", "values")


async def test_the_configuration_of_a_cmake_project_is_debugged(
    tmp_path: Path, shows: Shows
) -> None:
    needs("cmake")
    lists = broken(
        package("googletest"), tmp_path / "googletest", "CMakeLists.txt",
        "set(GOOGLETEST_VERSION 1.12.1)", "set(GOOGLETEST_VERSION 1.12.O)",
    )  # fmt: skip
    line = line_of(lists, "set(GOOGLETEST_VERSION") + 1
    wanted = next(
        number
        for number, text in enumerate(lists.read_text(encoding="utf-8").splitlines(), 1)
        if number >= line and text.strip() and not text.startswith("#")
    )
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await a.run(
            program="googletest", breakpoints=[{"filename": str(lists), "line": wanted}]
        )
        assert f"googletest/CMakeLists.txt:{wanted}" in stop.splitlines()[0], stop
        seen = await a.read("dap_variables", path="Locals.GOOGLETEST_VERSION")
        assert "1.12.O" in seen
        await a.read("dap_terminate")
    shows("cmake", "values")
