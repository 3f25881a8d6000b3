"""The pytest plug-in: golden files beside a user's tests, through whole runs of pytest.

Those of xdist are cold; the others are forks, as tests/commands.py has them."""

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

SUITE = """
import pytest
from lego_emit import Col, GroupBy, generate

def test_text(lego_golden):
    lego_golden("int f();\\n", extension=".h")

@pytest.mark.parametrize("target", ["cuda", "javascript"])
def test_unit(lego_golden, target):
    lego_golden(generate(GroupBy([4, 6]), target))

class TestTables:
    def test_layout(self, lego_golden):
        layout = GroupBy([6, 4]).OrderBy(Col(6, 4))
        lego_golden(layout)
        lego_golden(layout[1, :], name="row")
"""
FILES = [
    "TestTables.test_layout.row.table.txt",
    "TestTables.test_layout.table.txt",
    "test_text.h",
    "test_unit-cuda.cuh",
    "test_unit-javascript.d.mts",
    "test_unit-javascript.mjs",
]


@pytest.fixture
def suite(pytester, monkeypatch, lego_emit_command):
    monkeypatch.delenv("CI", raising=False)
    program = pytester.path / "bin" / "pytest"
    program.parent.mkdir()
    program.write_text(lego_emit_command)
    program.chmod(0o755)
    pytester.makepyfile(test_it=SUITE)

    class Suite:
        folder = pytester.path / "test_it.golden"
        module = pytester.path / "test_it.py"

        def run(self, *arguments):
            # hypothesispytest: which is slow to import
            plain = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", *arguments]
            if "-n" in arguments:
                return pytester.runpytest_subprocess(*plain)
            return pytester.run(program, *plain)

        def files(self):
            return sorted(p.name for p in self.folder.iterdir()) if self.folder.exists() else []

        def change(self, old, new):
            text = self.module.read_text()
            assert old in text
            self.module.write_text(text.replace(old, new))

    return Suite()


@pytest.mark.slow
def test_files_are_missing_then_written_then_equal(suite):
    result = suite.run()
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*test_it.golden/test_text.h is missing; what was made is in "
            "test_it.golden/test_text.h.new. If it is right, run "
            "`pytest test_it.py::test_text --lego-update-new`",
            "*add `[*].golden/[*].new` to .gitignore",
        ]
    )
    assert set(suite.files()) == {f"{name}.new" for name in FILES} - {f"{FILES[0]}.new"}
    suite.run("--lego-update-new").assert_outcomes(passed=4)
    assert suite.files() == FILES
    result = suite.run()
    result.assert_outcomes(passed=4)
    assert "golden files" not in result.stdout.str()


@pytest.mark.slow
def test_a_mismatch_shows_the_diff_and_keeps_the_new_text(suite, monkeypatch):
    suite.run("--lego-update")
    suite.change("int f();", "long f();")
    result = suite.run()
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "--- test_it.golden/test_text.h (golden)",
            "+++ test_it.golden/test_text.h (made now)",
            "-int f();",
            "+long f();",
            "*differs*run `pytest test_it.py::test_text --lego-update`*",
            "rejected: test_it.golden/test_text.h.new",
        ]
    )
    assert (suite.folder / "test_text.h.new").read_text() == "long f();\n"
    with monkeypatch.context() as patch:
        patch.setenv("CI", "1")
        result = suite.run()
    assert result.stdout.str().count("+long f();") == 1
    result.stdout.fnmatch_lines(
        ["FAILED test_it.py::test_text*test_text.h differs*commit the file"]
    )
    suite.run("--lego-update-new").assert_outcomes(passed=3, failed=1)
    suite.run("--lego-update").assert_outcomes(passed=4)
    assert suite.files() == FILES  # and the rejected text is gone
    assert (suite.folder / "test_text.h").read_text() == "long f();\n"


@pytest.mark.slow
def test_a_table_is_compared_index_by_index(suite):
    suite.run("--lego-update")
    suite.change("Col(6, 4)", "Col(2, 2), Col(3, 2)")
    result = suite.run()
    result.stdout.fnmatch_lines(["apply[[]0, 1[]]: 6 -> 3", "apply[[]5, 2[]]: 17 -> 20"])


@pytest.mark.slow
def test_under_ci_nothing_is_written_and_missing_files_fail(suite, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = suite.run()
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["*is missing; run `pytest *` on your machine and commit*"])
    assert suite.files() == []
    result = suite.run("--lego-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*write nothing under CI*"])
    assert suite.files() == []


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.deep)])
def test_orphans_fail_a_full_run(suite, workers):
    suite.run("--lego-update", *workers).assert_outcomes(passed=4)
    assert suite.files() == FILES
    (suite.folder / "test_old.txt").write_text("x\n")
    gone = suite.folder.with_name("test_gone.golden")
    gone.mkdir()
    (gone / "test_a.txt").write_text("x\n")
    result = suite.run(*workers)
    result.assert_outcomes(passed=4)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(
        ["orphaned: test_it.golden/test_old.txt", "orphaned: test_gone.golden/test_a.txt"]
    )
    suite.run("--lego-update", "-k", "text").assert_outcomes(passed=1, deselected=3)
    assert (suite.folder / "test_old.txt").exists()
    result = suite.run("--lego-update", *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["removed: test_it.golden/test_old.txt"])
    assert suite.files() == FILES
    assert not list(gone.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        ["-k", "text"],
        ["-k", "text", "-n", "2"],
        ["test_it.py::test_text"],
        ["--deselect", "test_it.py::test_text"],
        ["--co"],
    ],
)
def test_orphans_are_no_matter_of_a_partial_run(suite, part):
    suite.run("--lego-update")
    (suite.folder / "test_old.txt").write_text("x\n")
    result = suite.run(*part)
    assert result.ret == 0
    assert "orphaned" not in result.stdout.str()


@pytest.mark.slow
@pytest.mark.deep
def test_a_run_that_stops_judges_no_orphans(suite):
    suite.run("--lego-update")
    suite.change("def test_text(lego_golden):", "def test_text(lego_golden):\n    assert 0")
    for workers in ((), ("-n", "2")):
        result = suite.run("-x", *workers)
        assert "orphaned" not in result.stdout.str()
    assert "orphaned" not in suite.run().stdout.str()  # a failed test may still want its file


@pytest.mark.slow
@pytest.mark.deep
def test_last_failed_judges_no_orphans(suite, pytester):
    suite.run("--lego-update")
    (suite.folder / "test_old.txt").write_text("x\n")
    suite.change("int f();", "long f();")
    pytester.runpytest_subprocess()
    assert "orphaned" not in pytester.runpytest_subprocess("--lf").stdout.str()


@pytest.mark.slow
@pytest.mark.deep
def test_files_of_skipped_tests_are_no_orphans(suite):
    suite.run("--lego-update")
    suite.change("def test_text(", "@pytest.mark.skip\ndef test_text(")
    suite.run().assert_outcomes(passed=3, skipped=1)
    suite.run("--lego-update").assert_outcomes(passed=3, skipped=1)
    assert suite.files() == FILES
    suite.change("import pytest", "import pytest; pytest.skip(allow_module_level=True)")
    result = suite.run("--lego-update")
    assert suite.files() == FILES
    assert "orphaned" not in result.stdout.str()


@pytest.mark.slow
def test_ids_make_safe_names(suite):
    suite.module.write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('x', ['a/b', 'a:b', '../../up', 'é', 'A' * 300, '1.5', 'CON'])\n"
        "def test_a(lego_golden, x): lego_golden(x)\n"
    )
    suite.run("--lego-update").assert_outcomes(passed=7)
    names = suite.files()
    assert len(names) == 7
    assert {"test_a-1.5.txt", "test_a-CON.txt"} <= set(names)
    assert all(len(n) < 130 and n.startswith("test_a-") for n in names)
    suite.run().assert_outcomes(passed=7)


WRONG = [
    ("g('a'); g('b')", "*two results of this test are for *test_0.txt; *name='..'*"),
    ("g(1.5)", "*takes an emitted unit, a layout, an array of integers or text, not a float"),
    ("g('a', name='../x')", "*name '../x' is not letters*"),
    ("g(None)", "*takes an emitted unit*not a NoneType"),
    ("g(float('nan'))", "*takes an emitted unit*not a float"),
    ("g([[1, 2], [3]])", "*takes an emitted unit*not a list"),
    ("g([1.5])", "*takes an emitted unit*not a list"),
    ("g([float('nan')])", "*takes an emitted unit*not a list"),
    ("g([])", "*takes an emitted unit*not a list"),
    ("g({'a': 1})", "*takes an emitted unit*not a dict"),
    ("g('a', name='a\\nb')", "*name 'a\\nb' is not letters*"),
    ("g('a', name='a\\u202eb')", "*is not letters*"),
    ("g('a', name=3)", "*name 3*"),
    ("g('a', extension='.*/')", "*extension '.*/' is not*"),
    ("g('a', extension=3)", "*extension 3*"),
    ("g('\\ud800')", "*no file holds '?ud800', half a character*at 0;*"),
    ("g('a', extension='h')", "*extension 'h' is not of the form '.txt'"),
]


@pytest.mark.slow
def test_wrong_use_is_said(suite):
    tests = (
        f"def test_{k}(lego_golden):\n    g = lego_golden\n    {body}\n"
        for k, (body, _) in enumerate(WRONG)
    )
    suite.module.write_text("".join(tests))
    result = suite.run("--lego-update")
    result.assert_outcomes(failed=len(WRONG))
    result.stdout.fnmatch_lines([message for _, message in WRONG])
    assert suite.files() == ["test_0.txt"]


@pytest.mark.slow
def test_ids_that_differ_only_in_case_are_refused(suite):
    suite.module.write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('x', ['a', 'A'])\n"
        "def test_a(lego_golden, x): lego_golden(x)\n"
    )
    result = suite.run("--lego-update")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*have golden files of one name*pytest.param(.., id='..')"])


@pytest.mark.slow
@pytest.mark.deep
def test_windows_line_ends_are_the_same_text(suite):
    suite.run("--lego-update")
    for path in suite.folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    suite.run().assert_outcomes(passed=4)


def test_loading_the_plugin_is_quick():
    code = (
        "import sys; before = set(sys.modules); import pytest; with_pytest = set(sys.modules);"
        "import lego_emit.pytest_plugin; print(*sorted(set(sys.modules) - with_pytest))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = done.stdout.split()
    own = {".".join(n.split(".")[:2]) for n in names if n.startswith("lego_emit")}
    light = ("algebra", "errors", "methods", "numeric", "pytest_plugin", "table_lookup")
    assert own == {"lego_emit", *(f"lego_emit.{n}" for n in light)}
    assert not {n.partition(".")[0] for n in names} & {"numpy", "sympy", "z3", "click", "jinja2"}
