"""Where threads are, as another program prints it."""

from dapeer.adapters.definition.definition import load, shipped

PRINTED = """\
Process 7: python gil.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 7 (active+gil): "MainThread"
    match (/usr/lib/python3.11/re/__init__.py:166)
    parse (/app/a (old)/gil.py:3)
    run_file (/dapeer/launchers/debugpy_launcher.py:179)
Thread 8 (idle): "pydevd.Writer"
    _on_run (/lib/debugpy/_vendored/pydevd/_pydevd_bundle/pydevd_comm.py:5)
Thread 9 (idle)
    work (/app/gil.py:5)
"""


def test_what_py_spy_prints_is_read_without_the_debuggers_frames() -> None:
    outside = load(shipped() / "debugpy.toml").sight.outside
    assert outside is not None
    read = outside.read(PRINTED)
    assert [each.name for each in read] == ["MainThread", "pydevd.Writer", ""]
    assert [[f"{frame['name']}:{frame['line']}" for frame in each.frames] for each in read] == [
        ["match:166", "parse:3"],
        [],
        ["work:5"],
    ]
    assert [each.blocks_others for each in read] == [True, False, False]
    assert read[0].frames[1].get("source", {}).get("path") == "/app/a (old)/gil.py"
    assert outside.read("Error: Permission Denied") == []
