"""The pytest plug-in: golden files beside the tests.

    def test_tiled(lego_golden):
        lego_golden(generate(layout, "cuda"))   # test_layouts.golden/test_tiled.cuh
        lego_golden(layout)                     # its table: test_layouts.golden/test_tiled.table.txt
        lego_golden(text, extension=".h")       # any text

A file belongs to one case; a parametrised case has its id in the name. Nothing heavy is imported
before a test asks for it.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

FOLDER = ".golden"  # test_layouts.py has its files in test_layouts.golden/
REJECTED = ".new"
IGNORE = f"*{FOLDER}/*{REJECTED}"
LONGEST = 100  # characters of a case's name
SHARE = "lego_golden"  # what an xdist worker reports under
STATE = pytest.StashKey["State"]()
PASSED = pytest.StashKey[bool]()
WRONG = pytest.StashKey[tuple[str, str]]()  # how a mismatch is told, and without its diff


@dataclass
class State:
    """What a run met, all paths as text: xdist's workers send theirs to the controller."""

    modules: set[str] = field(default_factory=set)  # that were collected without an error
    cases: set[str] = field(default_factory=set)  # FOLDER/STEM of every collected test
    passed: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)  # golden files that a test compared or wrote
    written: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    orphaned: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    partial: bool = False

    def add(self, other: dict[str, Any]) -> None:
        """Take in what another process met."""
        for name, value in other.items():
            mine = getattr(self, name)
            setattr(self, name, mine or value if isinstance(mine, bool) else mine | set(value))

    def orphans(self) -> list[Path]:
        """Golden files of the collected modules, and of modules that are gone, that no test has
        asked for. Those of a test that did not pass may still be wanted."""
        open_cases = self.cases - self.passed
        found = []
        for folder in self._folders():
            for path in sorted(folder.iterdir()):
                kept = path.name.startswith(".") or path.name.endswith(REJECTED)
                owned = any(str(path).startswith(f"{case}.") for case in open_cases)
                if path.is_file() and not kept and not owned and str(path) not in self.used:
                    found.append(path)
        return found

    def _folders(self) -> list[Path]:
        modules = [Path(module) for module in sorted(self.modules)]
        own = [folder_of(module) for module in modules]
        gone = [
            folder
            for parent in dict.fromkeys(module.parent for module in modules)
            for folder in sorted(parent.glob(f"*{FOLDER}"))
            if not folder.with_suffix(".py").exists()
        ]
        return [folder for folder in dict.fromkeys([*own, *gone]) if folder.is_dir()]


def folder_of(module: Path) -> Path:
    """The folder of a test module's golden files."""
    return module.with_suffix(FOLDER)


def stem_of(item: pytest.Item) -> str:
    """The name of a test's golden files: safe in every file system, one for each case.

    "TestTiles::test_a[3-x/y]" gives "TestTiles.test_a-3-x_y-" and eight digits of a hash, as
    something had to be replaced.
    """
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    test, bracket, rest = item.name.partition("[")
    whole = ".".join([*classes, test]) + ("-" + rest.removesuffix("]") if bracket else "")
    safe = re.sub(r"[^A-Za-z0-9_.=+-]", "_", whole)[:LONGEST]
    if safe == whole:
        return safe
    from hashlib import sha256

    return f"{safe}-{sha256(whole.encode()).hexdigest()[:8]}"


def in_ci() -> bool:
    """Whether this is a CI run: golden files are not written there."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


# -- the fixture ---------------------------------------------------------------------------------


class Golden:
    """Compares what a test makes with the files in the folder beside it."""

    def __init__(self, item: pytest.Item):
        self._item = item
        self._state = item.config.stash[STATE]
        self._folder = folder_of(item.path)
        self._mine: set[str] = set()

    def __call__(self, made: Any, *, name: str = "", extension: str = "") -> None:
        """Compare with the golden file; the test fails with a diff where they differ.

        made: an emitted unit; a layout, or an array of integers, for its table; or text.
        name: tells several files of one test apart.
        extension: of a text's file, default ".txt"; units and tables have their own.
        """
        __tracebackhide__ = True
        if not re.fullmatch(r"[A-Za-z0-9_+-]*", str(name)) or not isinstance(name, str):
            raise ValueError(f"lego_golden: name {name!r} is not letters, digits, _, + and -")
        base = self._folder / ".".join(filter(None, (self._stem(), name)))
        problems: list[tuple[str, str]] = []  # (what differs, what is wrong)
        for path, text in _texts(made, base, extension).items():
            if str(path).casefold() in self._mine:
                pytest.fail(
                    f"lego_golden: two results of this test are for {path}; tell them apart with "
                    f"lego_golden(.., name='..')",
                    pytrace=False,
                )
            self._mine.add(str(path).casefold())
            problems.append(self._compare(path, text))
        if any(wrong for _, wrong in problems):
            text = "\n".join(diff + wrong for diff, wrong in problems if wrong)
            self._item.stash[WRONG] = text, "; ".join(wrong for _, wrong in problems if wrong)
            pytest.fail(text, pytrace=False)

    def _stem(self) -> str:
        stem = stem_of(self._item)
        twins = self._item.config.stash[TWINS].get((str(self._folder), stem.casefold()), ())
        others = [nodeid for nodeid in twins if nodeid != self._item.nodeid]
        if others:
            pytest.fail(
                f"lego_golden: {self._item.nodeid} and {others[0]} have golden files of one name, "
                f"{stem}, where case does not count; give them other ids: pytest.param(.., id='..')",
                pytrace=False,
            )
        return stem

    def _compare(self, path: Path, text: str) -> tuple[str, str]:
        """A diff, and what is wrong; two empty strings where nothing is."""
        self._state.used.add(str(path))
        options, shown = self._item.config.option, os.path.relpath(path)
        there = path.is_file()
        old = path.read_bytes().decode("utf-8", errors="replace") if there else ""
        rejected = path.with_name(path.name + REJECTED)
        if there and _lines(old) == _lines(text):
            if not in_ci():
                rejected.unlink(missing_ok=True)
            return "", ""
        if options.lego_update or (options.lego_update_new and not there):
            self._write(path, text)
            rejected.unlink(missing_ok=True)
            self._state.written.add(str(path))
            return "", ""
        command = f"pytest {shlex.quote(self._item.nodeid)} --lego-update{'-new' * (not there)}"
        problem = "differs from what the test made" if there else "is missing"
        diff = _diff(old, text, shown) if there else ""
        if in_ci():
            return diff, f"{shown} {problem}; run `{command}` on your machine and commit the file"
        self._write(rejected, text)
        self._state.rejected.add(str(rejected))
        made = f"what was made is in {shown}{REJECTED}. If it is right, run `{command}`"
        return diff, f"{shown} {problem}; {made}"

    def _write(self, path: Path, text: str) -> None:
        from .files import write_if_changed

        path.parent.mkdir(exist_ok=True)
        write_if_changed(path, text)


def _texts(made: Any, base: Path, extension: str) -> dict[Path, str]:
    """The golden files of something, with their texts."""
    from .algebra.block import Block
    from .numeric import is_array

    def at(suffix: str) -> Path:
        return base.with_name(base.name + suffix)

    if isinstance(made, str):
        if extension and not re.fullmatch(r"(\.[A-Za-z0-9_+-]+)+", str(extension)):
            raise ValueError(f"lego_golden: extension {extension!r} is not of the form '.txt'")
        try:
            made.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"lego_golden: no file holds {made[error.start]!r}, half a character, which the text "
                f"has at {error.start}; replace it first"
            ) from None
        return {at(extension or ".txt"): made}
    table = isinstance(made, Block) or (is_array(made) and made.dtype.kind in "iu" and made.size)
    printer, files = getattr(made, "printer", None), getattr(made, "files", None)
    unit = printer is not None and files is not None
    if extension and (table or unit):
        raise ValueError("lego_golden: extension is for text; a unit and a table have their own")
    if printer is not None and files is not None:
        return files(at(printer.extension))
    if not table:
        raise TypeError(
            f"lego_golden takes an emitted unit, a layout, an array of integers or text, not a "
            f"{type(made).__name__}"
        )
    from .tables import Table

    if isinstance(made, Block):
        from .algebra.reference import table as layout_table

        found = Table.of("apply", layout_table(made).reshape(made.dims))
    else:
        found = Table.of("at", made.reshape(made.shape or (1,)))
    return {at(".table.txt"): found.text()}


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _diff(old: str, new: str, path: str) -> str:
    if path.endswith(".table.txt"):
        from .tables import changes

        if found := changes(old, new, path):
            return "\n".join(found) + "\n"
    from difflib import unified_diff

    was, now = (_lines(text).splitlines(keepends=True) for text in (old, new))
    diff = unified_diff(was, now, f"{path} (golden)", f"{path} (made now)")
    return "".join(x if x.endswith("\n") else f"{x}\n\\ No newline at end of file\n" for x in diff)


@pytest.fixture
def lego_golden(request: pytest.FixtureRequest) -> Golden:
    """lego_golden(made): compare a unit, a layout's table or text with the golden file beside the
    test; `pytest --lego-update` writes it."""
    return Golden(request.node)


# -- the run -------------------------------------------------------------------------------------

TWINS = pytest.StashKey[dict[tuple[str, str], list[str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --lego-update and the other options of the plug-in to pytest."""
    group = parser.getgroup("lego-emit", "golden files (lego-emit)")
    group.addoption(
        "--lego-update",
        action="store_true",
        help="write golden files anew and, on a full run, remove orphaned ones",
    )
    group.addoption(
        "--lego-update-new", action="store_true", help="write the golden files that are missing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty state."""
    config.stash[STATE] = State(partial=_is_partial(config))
    config.stash[TWINS] = {}
    if in_ci() and (config.option.lego_update or config.option.lego_update_new):
        raise pytest.UsageError(
            "--lego-update and --lego-update-new write nothing under CI; run them on your machine "
            "and commit the files"
        )


def _is_partial(config: pytest.Config) -> bool:
    option = config.option
    asked = ("keyword", "markexpr", "lf", "stepwise", "collectonly", "deselect")
    return any(getattr(option, name, None) for name in asked) or any(
        "::" in argument for argument in config.args
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note every collected test, and those whose golden files would have one name."""
    state, twins = config.stash[STATE], config.stash[TWINS]
    folders = {module: str(folder_of(module)) for module in {item.path for item in items}}
    for item in items:
        folder, stem = folders[item.path], stem_of(item)
        state.cases.add(os.path.join(folder, stem))
        twins.setdefault((folder, stem.casefold()), []).append(item.nodeid)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Note every collected module."""
    parent.config.stash[STATE].modules.add(str(module_path))


def pytest_deselected(items: list[pytest.Item]) -> None:
    """A run that leaves tests out knows of no orphans."""
    for item in items[:1]:
        item.config.stash[STATE].partial = True


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    """A module that does not load keeps its golden files."""
    report = yield
    if not report.passed:
        state = collector.config.stash[STATE]
        if isinstance(collector, pytest.Module):
            state.modules.discard(str(collector.path))  # skipped or broken: its tests are unknown
        state.partial = state.partial or report.failed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Note the tests that passed. A CI run's summary has whole messages: of a mismatch it gets no diff."""
    report = yield
    text, short = item.stash.get(WRONG, ("", ""))
    crash = getattr(report.longrepr, "reprcrash", None)
    if text and crash is not None:
        crash.message = crash.message.replace(text, short)
    if report.when == "setup" and report.passed:
        item.stash[PASSED] = False
    if report.when == "call":
        item.stash[PASSED] = report.passed and not hasattr(report, "wasxfail")
    if report.when == "teardown" and item.stash.get(PASSED, False):
        item.config.stash[STATE].passed.add(str(folder_of(item.path) / stem_of(item)))
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A worker of xdist's hands its state over; all others look for orphans."""
    config = session.config
    state = config.stash[STATE]
    output = getattr(config, "workeroutput", None)  # of a worker of xdist's
    if output is not None:
        output[SHARE] = {
            name: value if isinstance(value, bool) else sorted(value)
            for name, value in asdict(state).items()
        }
        return
    stopped = config.getoption("maxfail", 0) and session.testsfailed
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if state.partial or stopped or not ended:
        return  # what was not asked for may belong to a test that did not run
    for path in state.orphans():
        if config.option.lego_update:
            path.unlink()
            path.with_name(path.name + REJECTED).unlink(missing_ok=True)
            state.removed.add(str(path))
        else:
            state.orphaned.add(str(path))
    if state.orphaned and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """A worker of xdist has ended, and sent what it met."""
    state = node.config.stash[STATE]
    sent = getattr(node, "workeroutput", {}).get(SHARE)
    if sent is None:
        state.partial = True
    else:
        state.add(sent)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was written, removed, rejected and orphaned."""
    state = config.stash[STATE]
    if not (state.written or state.removed or state.orphaned or state.rejected):
        return
    terminalreporter.section("golden files (lego-emit)")
    for what in ("written", "removed", "orphaned", "rejected"):
        for path in sorted(getattr(state, what)):
            terminalreporter.write_line(f"{what}: {os.path.relpath(path)}")
    if state.orphaned:
        terminalreporter.write_line(
            "no test asks for the orphaned files; `pytest --lego-update`, all tests, removes them"
        )
    ignored = config.rootpath / ".gitignore"
    if state.rejected and not (ignored.is_file() and IGNORE in ignored.read_text(errors="replace")):
        terminalreporter.write_line(f"rejected files are for review: add `{IGNORE}` to .gitignore")
