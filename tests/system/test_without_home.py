"""What a user has who is in no table of users, and whose environment names no home."""

import os
import pwd
import subprocess
import sys

import pytest

from tests.programs import ROOT

HOME = "from dapeer.base.system import folder_names; print(folder_names.home())"
IMPORT_ALL = """
import importlib, os, pkgutil, pwd
def unknown(uid):
    raise KeyError(uid)
pwd.getpwuid = unknown
import dapeer
for module in pkgutil.walk_packages(dapeer.__path__, "dapeer."):
    if ".companions." not in module.name and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
from dapeer.cli.install.command import places_of_process
from dapeer.launch.configurations import read_project
places_of_process()
print("done")
"""
"""The companions run inside of other programs, and some of them only there."""


def test_every_module_is_imported_for_a_user_without_a_home() -> None:
    without = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        env=without,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("home", ["", "here", None])
def test_a_home_that_is_no_path_is_that_of_the_table_of_users(home: str | None) -> None:
    others = {name: value for name, value in os.environ.items() if name != "HOME"}
    environment = others if home is None else {**others, "HOME": home}
    command = [sys.executable, "-c", HOME]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == pwd.getpwuid(os.getuid()).pw_dir
