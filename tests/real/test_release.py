"""What is released: the same bytes from each build, and a demo from nothing but the wheel, or the sdist."""

import os
import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.programs import ROOT, tool


def built(folder: Path, umask: int) -> dict[str, Path]:
    """Build a copy of the project's commit; return the files by their names."""
    project, made = folder / "project", folder / "dist"
    clone = [tool("git"), "clone", "--quiet", "--no-hardlinks", ROOT, project]
    subprocess.run(clone, umask=umask, check=True)
    subprocess.run(
        [tool("uv"), "build", "--quiet", "--out-dir", made], cwd=project, umask=umask, check=True
    )
    return {path.name: path for path in made.iterdir() if path.suffix in {".whl", ".gz"}}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone: an archive has no commit")
    return built(tmp_path_factory.mktemp("one"), 0o022)


def test_two_builds_of_a_commit_have_the_same_bytes(
    released: dict[str, Path], tmp_path: Path
) -> None:
    other = built(tmp_path, 0o077)
    assert len(released) == 2
    assert {name: sha256(path.read_bytes()).hexdigest() for name, path in released.items()} == {
        name: sha256(path.read_bytes()).hexdigest() for name, path in other.items()
    }


@pytest.mark.parametrize("kind", [".whl", ".gz"])
def test_the_demo_runs_where_only_the_released_file_is_installed(
    released: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    (file,) = (path for name, path in released.items() if name.endswith(kind))
    made, home = tmp_path / "env", tmp_path / "home"
    home.mkdir()
    subprocess.run([tool("uv"), "venv", "--quiet", "--python", sys.executable, made], check=True)
    install = [tool("uv"), "pip", "install", "--quiet", "--python", made / "bin/python", file]
    subprocess.run(install, check=True)
    environment = {"PATH": f"{made / 'bin'}:{os.environ['PATH']}", "HOME": str(home)}
    demo = [made / "bin/dapeer", "demo"]
    done = subprocess.run(
        demo, cwd=home, env=environment, capture_output=True, text=True, check=True
    )
    assert "Stopped" in done.stdout


def test_the_long_description_has_no_link_that_a_package_index_cannot_follow(
    released: dict[str, Path],
) -> None:
    (wheel,) = (path for name, path in released.items() if name.endswith(".whl"))
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    links = re.findall(r"\]\(([^)\s]+)\)", metadata)
    assert len(links) > 20
    assert not [link for link in links if not link.startswith(("https://", "#"))]
    assert "Classifier: Topic :: Software Development :: Debuggers" in metadata
    assert "Project-URL: Issues" in metadata
