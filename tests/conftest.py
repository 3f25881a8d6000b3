"""Fixtures shared by all tests."""

import gc
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

import commands
import pytest
from cpu_times import CpuTimes
from marks import golden_lowered, some_slow

from lego_emit.errors import LegoError, ToolchainError
from lego_emit.plugins import entries
from lego_emit.run import registry


def pytest_addoption(parser):
    """--cpu-times FILE: what tests/cpu_times.py says."""
    parser.addoption("--cpu-times", metavar="FILE", type=Path, help="write CPU seconds by test")


def pytest_configure(config):
    """Starts counting, in the workers too, where --cpu-times asks for it."""
    if path := config.getoption("--cpu-times"):
        config.pluginmanager.register(CpuTimes(path, not hasattr(config, "workerinput")))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """What tests/schedule.py says, for ci/test."""
    if config.getoption("dist") != "loadgroup":
        return None
    from schedule import Schedule

    return Schedule(config, log)


def later(item):
    """Whether a test is none of ci/test --quick."""
    return item.get_closest_marker("slow") or item.get_closest_marker("deep")


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Cases that -m leaves out are not made, but for one where a test has no other: 9,000 of ci/test --quick
    would take each worker a second."""
    yield
    words = metafunc.config.option.markexpr.split(" and ")
    if not all(re.fullmatch(r"(not )?\w+", word) for word in words):
        return
    out = {word.removeprefix("not ") for word in words if word.startswith("not ")}
    own = {mark.name for mark in metafunc.definition.iter_markers()}
    if not TOOLCHAINS.isdisjoint(metafunc.fixturenames):
        own.add("slow")
    made = getattr(metafunc, "_calls", [])  # pytest's own: without it all are made
    calls = [c for c in made if out.isdisjoint(own.union(m.name for m in c.marks))]
    if out >= {"slow", "deep"} and (mark := metafunc.definition.get_closest_marker("quick")):
        calls = calls[: mark.args[0]]
    if made:
        metafunc._calls = calls or made[:1]


@pytest.hookimpl(tryfirst=True)  # before marks decide what runs
def pytest_collection_modifyitems(config, items):
    """Tests that ask for a toolchain are slow, as are cases after those that a test's mark quick
    counts; one worker does those of all golden cases, which share what is lowered. Those marked gpu
    are skipped, with the reason, where no GPU can be used."""
    quick = Counter()
    for item in items:
        if not TOOLCHAINS.isdisjoint(item.fixturenames):
            item.add_marker(pytest.mark.slow)
        elif (mark := item.get_closest_marker("quick")) and not later(item):
            quick[item.function] += 1
            if quick[item.function] > mark.args[0]:
                item.add_marker(pytest.mark.slow)
        if not CASES.isdisjoint(item.fixturenames):
            item.add_marker(golden_lowered)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from lego_emit.targets import gpu

    try:
        gpu.ready()
    except LegoError as error:
        if os.environ.get("LEGO_NEEDS_GPU"):
            raise pytest.UsageError(str(error)) from None
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=str(error)))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is collected is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Modules and tests stay to the end: the garbage collector leaves them alone, and comes less often.
    To look first for the tests that are left out, which are garbage, takes half a second."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


# Our own, without plug-ins that happen to be installed.
TARGETS = sorted(
    name
    for name, entry in entries("lego_emit.printers").items()
    if entry.value.startswith("lego_emit.")
)


# A printer of another's kind, or the like of one that the quick run has.
NEAR = ("hip", "julia", "metal", "mlir", "numpy", "opencl", "triton", "wgsl")
CASES = {"cases", "all_cases"}
TOOLCHAINS = {"toolchain", "toolchain_of", "triton", "need"}


@pytest.fixture(params=some_slow(TARGETS, NEAR))
def target(request):
    """Each target in turn, printed only; those near to another are slow."""
    return request.param


@pytest.fixture(params=TARGETS)
def toolchain(request):
    """Each target whose toolchain this machine has; the others are skipped with the reason, and
    fail under CI."""
    return _found(request.param)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """What jit keeps on disk is this session's: a test may change what another run takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEGO_EMIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def triton():
    """Triton's toolchain; where it is missing the test is skipped, and fails under CI."""
    return _found("triton")


@pytest.fixture(scope="session")
def toolchain_of():
    """toolchain_of("cpp"): the toolchain of a target; where it is missing as toolchain has it."""
    return _found


def _found(target):
    if error := _missing(target):
        if os.environ.get("CI"):
            raise error
        pytest.skip(str(error))
    return registry.toolchain(target)


@cache
def _missing(target):
    """What the toolchain lacks, asked once in a process; None where it is here."""
    try:
        registry.toolchain(target).find()
    except ToolchainError as error:
        return error


NUMBERS = count()


@pytest.fixture
def tmp_path(request, tmp_path_factory):
    """An empty folder of the test's own. pytest's fixture lists all others for a number and links to the newest."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}_{next(NUMBERS)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(scope="session")
def lego_emit_command(tmp_path_factory):
    """The text of a program lego-emit, as tests/commands.py has it."""
    return commands.server(tmp_path_factory.mktemp("commands"))


class Site(NamedTuple):
    """A built site, and the lines that the command said."""

    folder: Path
    said: list[str]


@pytest.fixture(scope="session")
def built_site(tmp_path_factory):
    """The site, built once: by ci/site where Node.js is here, else its pages alone, as ci/site does."""
    for module, package in (("mkdocs", "mkdocs"), ("material", "mkdocs-material")):
        if importlib.util.find_spec(module) is None:
            reason = f"needs {package}: pip install '.[docs]'"
            if os.environ.get("LEGO_NEEDS_DOCS"):
                pytest.fail(reason)
            pytest.skip(reason)
    folder, root = tmp_path_factory.mktemp("site"), Path(__file__).parent.parent
    if shutil.which("node") and shutil.which("npm"):
        command = [root / "ci" / "site", "--build", "--out", folder]
    else:
        config = ("--config-file", root / "mkdocs.yml", "--site-dir", folder)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", *config]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return Site(folder, done.stdout.splitlines())


@pytest.fixture
def need():
    """need("clang++", "apt-get install clang"): a program's path; where it is missing the test is
    skipped with the command that installs it, and fails under CI."""

    def find(program, install):
        path = shutil.which(program)
        if path is None:
            reason = f"needs {program}, which is not on PATH; on Debian: {install}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return find
