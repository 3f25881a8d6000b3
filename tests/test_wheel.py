"""What is installed: every file of the package, templates and data too."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def tracked(*folders):
    """The files that git knows there; links are not files."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.split("\0") if name and not (ROOT / name).is_symlink()]


@pytest.mark.slow
def test_a_wheel_holds_every_file_of_the_package(tmp_path):
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("needs setuptools")
    packaged = tracked("lego_emit", "printers", "targets")
    source, built = tmp_path / "source", tmp_path / "built"
    for name in [*packaged, "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    # The tree that a wheel is packed from; to pack it takes a newer setuptools than some have.
    setup = "from setuptools import setup; setup()"
    subprocess.run(
        [sys.executable, "-c", setup, "-q", "build", "--build-lib", built],
        cwd=source,
        capture_output=True,
        check=True,
        timeout=120,
    )
    found = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    wanted = {name if name.startswith("lego_emit/") else f"lego_emit/{name}" for name in packaged}
    assert found == wanted
