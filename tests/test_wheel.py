"""What is built: a wheel of every file of the package, an sdist of every file of the repository."""

import email
import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lego_emit

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = (".ci/",)  # how the project's own machines run it

pytestmark = pytest.mark.slow


def tracked(*folders):
    """The files and links that git knows there."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


def built(kind, names, folder):
    """The distribution of a copy of these files."""
    source = folder / "source"
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    code = "from setuptools import setup; setup()"
    command = [sys.executable, "-c", code, "-q", kind, "--dist-dir", folder]
    subprocess.run(command, cwd=source, capture_output=True, check=True)
    (found,) = [path for path in folder.iterdir() if path.is_file()]
    return found


def test_a_wheel_holds_every_file_of_the_package(tmp_path):
    packaged = tracked("lego_emit", "printers", "targets")
    wheel = built("bdist_wheel", [*packaged, "pyproject.toml", "README.md", "LICENSE"], tmp_path)
    with zipfile.ZipFile(wheel) as held:
        found = {name for name in held.namelist() if ".dist-info/" not in name}
        (about,) = [name for name in held.namelist() if name.endswith(".dist-info/METADATA")]
        fields = email.message_from_bytes(held.read(about))
        assert any(name.endswith("/licenses/LICENSE") for name in held.namelist())
    files = [name for name in packaged if not (ROOT / name).is_symlink()]
    assert found == {n if n.startswith("lego_emit/") else f"lego_emit/{n}" for n in files}
    assert "lego_emit/py.typed" in found
    assert fields["License-Expression"] == "MIT" and fields["Author"] and fields["Keywords"]
    assert "Typing :: Typed" in fields.get_all("Classifier")


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pinned(name):
    """The packages of a file of exact versions."""
    lines = (ROOT / name).read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(str(r.specifier).startswith("==") and r.url is None for r in found)
    here = [r for r in found if r.marker is None or r.marker.evaluate()]
    return {canonicalize_name(r.name): str(r.specifier)[2:] for r in here}


@pytest.mark.parametrize("extra", [None, "test", "docs", "triton"])
def test_what_is_tried_with_is_what_is_allowed(extra):
    about = project()
    wanted = about["optional-dependencies"][extra] if extra else about["dependencies"]
    locked = pinned("ci/constraints.txt")
    for requirement in map(Requirement, wanted):
        assert locked[canonicalize_name(requirement.name)] in requirement.specifier, requirement
        assert ">=" in str(requirement.specifier), f"{requirement}: which is the oldest?"
        if extra is None:  # it would keep a user from a newer version of another library
            assert "<" not in str(requirement.specifier)


def test_the_page_carries_what_lego_emit_needs_there():
    """A new dependency is put into web/requirements.txt, or here: the page does without these."""
    without = {"cffi", "click", "numpy", "rich", "sympy"}
    carried = {**pinned("web/requirements.txt"), **pinned("web/requirements-wasm.txt")}
    wanted = {canonicalize_name(Requirement(r).name) for r in project()["dependencies"]}
    assert wanted == without | wanted & carried.keys()


def test_the_version_stands_in_one_place_and_others_say_the_same():
    about = project()
    assert "version" in about["dynamic"] and lego_emit.__version__
    for name in ("CITATION.cff", "ci/recipe.yaml"):
        found = re.findall(r"^ *version: (.*)$", (ROOT / name).read_text(), re.M)
        assert found == [lego_emit.__version__], name


def test_the_changelog_has_each_release_in_four_parts():
    heads = re.findall(r"^(#+) (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads[:2] == [("#", "Changes"), ("##", "Not released")]
    parts: list[list[str]] = []
    for level, words in heads[1:]:
        if level == "##":
            assert words == "Not released" or re.match(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$", words)
            parts.append([])
        else:
            parts[-1].append(words)
    wanted = ["Added", "Changed", "Fixed", "Removed"]
    assert all(part == [name for name in wanted if name in part] for part in parts)


def test_the_recipe_needs_what_the_package_needs():
    text = (ROOT / "ci" / "recipe.yaml").read_text()
    run = text.partition("  run:\n")[2].partition("\n\n")[0]
    needed = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    about = project()
    wanted = {r.replace("docstring-parser", "docstring_parser") for r in about["dependencies"]}
    assert needed == wanted | {f"python{about['requires-python']}"}


@pytest.mark.deep
def test_a_release_installs_into_a_clean_environment(tmp_path):
    """The last commit's wheel and sdist, as ci/release makes them; the tree stays as it is."""
    before = tree()
    url = "https://example.org/lego-emit"
    command = [
        sys.executable,
        "ci/release",
        "--untagged",
        "--offline",
        "--url",
        url,
        "--out",
        tmp_path,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("installed into a clean environment, and it emits") == 2
    if importlib.util.find_spec("twine"):
        assert done.stdout.count("PASSED") == 2
    assert tree() == before
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        (name,) = [name for name in held.namelist() if name.endswith(".dist-info/METADATA")]
        fields = email.message_from_bytes(held.read(name))
    assert f"Repository, {url}" in fields.get_all("Project-URL")
    assert fields["Version"] == lego_emit.__version__
    links = re.findall(r"\]\(([^)#]*)", fields.get_payload())
    assert links and all(link.startswith("https://") for link in links)
    assert any(link.startswith(f"{url}/raw/") for link in links)


def tree():
    """What git sees beside what is committed."""
    tracked()
    command = ["git", "status", "--porcelain", "--ignored"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.deep
def test_an_sdist_holds_every_file_of_the_repository_and_its_tests_run(tmp_path):
    names = [name for name in tracked() if not name.startswith(LEFT_OUT)]
    with tarfile.open(built("sdist", names, tmp_path)) as held:
        held.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("lego_emit-*/")
    assert [name for name in names if not (unpacked / name).exists()] == []
    for name in ("ci/test", "examples/kernels/check"):
        assert (unpacked / name).stat().st_mode & 0o100
    code = "import lego_emit.targets.cpp as m; print(m.__file__)"
    command = [sys.executable, "-c", code]
    where = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=True).stdout
    assert Path(where.strip()).is_relative_to(unpacked)
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_pattern.py"]
    subprocess.run(command, cwd=unpacked, capture_output=True, check=True)
