"""The command line: what it writes, and that every bad input is one message and exit code 2."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from lego_emit import __version__, generate
from lego_emit.cli import main
from lego_emit.emit import registry
from lego_emit.emit.registry import targets
from lego_emit.errors import TargetError, ToolchainError

KERNEL = """
from lego_emit import Col, GroupBy, OrderBy, Row


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    offset = L[pid_m, pid_n, :, :]
    return offset


turned = GroupBy([6, 4]).OrderBy(Col(6, 4))
number = 7
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, with k.py in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "k.py").write_text(KERNEL)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def python(*arguments):
    """A real process: nothing catches what the command line leaves uncaught."""
    command = [sys.executable, "-c", "from lego_emit.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# -- generate ------------------------------------------------------------------------------------


def test_one_target_to_stdout(target):
    result = run("generate", "k.py:index_kernel", "--target", target)
    assert result.exit_code == 0
    namespace = {}
    exec(KERNEL, namespace)
    again = f"To regenerate: lego-emit generate k.py:index_kernel --target {target}"
    unit = generate(namespace["index_kernel"], target, header=["Source: k.py:index_kernel", again])
    assert result.stdout == unit.source
    again = run("generate", "k.py:index_kernel", "--target", target, "-o", "-")
    assert again.stdout == result.stdout


@pytest.mark.parametrize("names", [["*"], ["d", "e"], ["e"]])
def test_names_of_what_is_fixed_at_launch(folder, names):
    (folder / "apart.py").write_text("def apart(n, d, e):\n    return n // d + n % e\n")
    said = [word for name in names for word in ("--prepare", name)]
    ranges = ["--assume", "0 <= n < 4096", "--assume", "d >= 1", "--assume", "e >= 1"]
    result = run("generate", "apart.py:apart", "-t", "c", *said, *ranges)
    assert result.exit_code == 0, result.stderr
    taken = "d, int64_t e" if len(names) == 2 or names == ["*"] else "e"
    assert f"apart_prepare(int64_t {taken})" in result.stdout


def test_a_program_catches_what_it_prints():
    made = StringIO()
    with redirect_stdout(made):
        main(["generate", "k.py:index_kernel", "-t", "c"], standalone_mode=False)
    assert made.getvalue() == run("generate", "k.py:index_kernel", "-t", "c").stdout


def test_several_targets_to_stdout_in_the_order_asked():
    both = run("generate", "k.py:turned", "-t", "rust", "-t", "cpp", "-t", "rs")
    single = [run("generate", "k.py:turned", "-t", t).stdout for t in ("rust", "cpp")]
    assert both.stdout == "".join(single)
    assert "turned_apply" in both.stdout and "turned_inv" in both.stdout


def test_a_file_and_a_folder(folder):
    assert run("generate", "k.py:turned", "-t", "cuda", "-o", "x.cuh").exit_code == 0
    assert run("generate", "k.py:turned", "-t", "rust", "-o", "new/deep/").exit_code == 0
    assert run("generate", "k.py:turned", "-t", "julia", "-o", ".").exit_code == 0
    assert files(folder) == ["k.py", "new/deep/turned.rs", "turned.jl", "x.cuh"]


def test_all_targets_into_a_folder(folder):
    result = run("generate", "k.py:turned", "-t", "all", "-o", "out")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert len(files(folder)) == 1 + len(targets()) + 1  # JavaScript has declarations too


def test_a_plug_in_that_does_not_load_leaves_the_others(folder, monkeypatch):
    load = registry.printer

    def printer(name):
        if name == "zed":
            raise TargetError("the plug-in 'zed' does not load")
        return load(name)

    monkeypatch.setattr(registry, "targets", lambda: ["cpp", "rust", "zed"])
    monkeypatch.setattr(registry, "printer", printer)
    result = run("generate", "k.py:turned", "-t", "all", "-o", "out")
    assert result.exit_code == 0
    assert "warning: the plug-in 'zed' does not load; zed is left out" in result.stderr
    assert files(folder) == ["k.py", "out/turned.hpp", "out/turned.rs"]


def test_options_reach_the_generator():
    result = run(
        "generate", "k.py:index_kernel", "-t", "cpp", "--size", "BM=32", "--size", "BN=0x10",
        "--assume", "M < 1024", "--assume", "N < 1024", "--index-type", "int64", "--name", "mine",
    )  # fmt: skip
    namespace = {}
    exec(KERNEL, namespace)
    unit = generate(
        namespace["index_kernel"], "cpp", sizes={"BM": 32, "BN": 16},
        assume=["M < 1024", "N < 1024"], index_type="int64", name="mine",
    )  # fmt: skip
    command = (
        "lego-emit generate k.py:index_kernel --target cpp --size BM=32 --size BN=16 --assume "
        "'M < 1024' --assume 'N < 1024' --index-type int64 --name mine"
    )
    head, _, rest = unit.source.partition("//\n")
    head += f"// Source: k.py:index_kernel\n// To regenerate: {command}\n//\n"
    assert result.stdout == head + rest


def test_sizes_in_one_option(folder):
    both = run("generate", "k.py:index_kernel", "-t", "cpp", "-s", "BM=32,BN=16")
    each = run("generate", "k.py:index_kernel", "-t", "cpp", "--size", "BM=32", "--size", "BN=16")
    assert both.exit_code == 0 and both.stdout == each.stdout


def test_a_layout_file_from_standard_input(folder):
    (folder / "beside.py").write_text("value = 6\n")
    text = KERNEL.replace("GroupBy([6", "import beside\n\n\nturned = GroupBy([beside.value")
    text = text.replace("turned = import", "import")

    def piped(*arguments):
        return CliRunner().invoke(main, arguments, input=text)

    given = piped("generate", "-:turned", "-t", "cpp")
    assert given.exit_code == 0
    command = (
        "// Source: k.py:turned\n// To regenerate: lego-emit generate k.py:turned --target cpp\n"
    )
    assert given.stdout == run("generate", "k.py:turned", "-t", "cpp").stdout.replace(command, "")
    assert piped("compare", "-:turned", "-:turned").stdout == "equal at all 24 indices\n"
    (folder / "t.j2").write_text("{{ turned[1, 2] }}\n")
    assert piped("render", "t.j2", "--layouts", "-:turned").stdout == "13\n"
    failed = CliRunner().invoke(main, ["show", "-:f"], input="x = 1 / 0\n")
    assert failed.stderr == "Error: <stdin>, line 1: ZeroDivisionError: division by zero [LE0703]\n"


@pytest.mark.slow
def test_text_and_pictures_in_a_locale_of_few_characters(folder, monkeypatch):
    (folder / "u.py").write_text("def f(M):\n    'Größe …'\n    return M + 1\n", "utf-8")
    (folder / "w.py").write_text("from lego_emit import GroupBy\nw = GroupBy([2, 99])\n")
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    assert python("generate", "u.py:f", "-t", "cpp", "-o", "f.hpp").returncode == 0
    command = [sys.executable, "-m", "lego_emit"]
    done = subprocess.run([*command, "generate", "u.py:f", "-t", "cpp"], capture_output=True)
    assert done.stdout == (folder / "f.hpp").read_bytes() and not done.stderr
    done = python("show", "w.py:w")
    assert done.returncode == 0 and " ? " in done.stdout


def test_what_is_piped_has_no_trailing_blanks(monkeypatch):
    monkeypatch.setattr(registry, "targets", lambda: ["cpp", "python"])
    for command in (["show", "k.py:turned"], ["targets"], ["catalogue", "onednn.nChw16c"]):
        result = run(*command)
        assert result.exit_code == 0 and len(result.stdout.splitlines()) > 2
        assert not re.search(r"(?m)[ \t]$|\x1b", result.stdout)


@pytest.mark.slow
def test_a_table_on_a_terminal_fits_it(monkeypatch):
    import os
    import pty

    main_end, terminal = pty.openpty()
    rows = [("target", "toolchain"), ("cpp", "missing: [bold] " + "word " * 20)]
    code = f"from lego_emit.cli.output import print_table; print_table({rows!r})"
    environment = {**os.environ, "COLUMNS": "40", "TERM": "xterm", "NO_COLOR": "1"}
    subprocess.run([sys.executable, "-c", code], stdout=terminal, env=environment, check=True)
    lines = os.read(main_end, 1 << 16).decode().splitlines()
    assert "[bold]" in "".join(lines) and len(lines) > 5
    assert all(len(re.sub("\x1b[^m]*m", "", line)) <= 40 for line in lines)
    os.close(terminal)
    os.close(main_end)


def test_a_shell_can_complete_options_targets_and_files(monkeypatch):
    def completed(line):
        words = line.split(" ")
        environment = {
            "_LEGO_EMIT_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
        runner = CliRunner()
        return runner.invoke(main, [], "lego-emit", env=environment, prog_name="lego-emit").stdout

    assert completed("lego-emit generate k.py:f -t cu") == "plain,cuda\n"
    assert "plain,--target\n" in completed("lego-emit generate k.py:f --t")
    assert completed("lego-emit show k") == "file,k\n"


def test_what_the_file_prints_stays_out_of_the_text():
    Path("p.py").write_text(
        "print('loaded', flush=True)\n"  # click 8.2.0's runner does not flush
        "def f(M):\n    print('called', flush=True)\n    return M + 1\n"
    )
    result = run("generate", "p.py:f", "-t", "cpp")
    assert result.exit_code == 0
    assert "loaded" in result.stderr and "called" in result.stderr
    assert "loaded" not in result.stdout and "called" not in result.stdout


def test_modules_beside_the_file_are_found_and_forgotten(folder):
    for name, value in (("a", 3), ("b", 5)):
        (folder / name).mkdir()
        (folder / name / "helper_of_mine.py").write_text(f"value = {value}\n")
        (folder / name / "late_helper.py").write_text(f"value = {10 * value}\n")
        (folder / name / "f.py").write_text(
            "from __future__ import annotations\n"
            "from dataclasses import dataclass\n"
            "import helper_of_mine\n\n\n"
            "@dataclass\nclass Point:\n    x: int\n\n\n"
            "def f(M):\n    import late_helper\n"
            "    return M + helper_of_mine.value + late_helper.value\n"
        )
    path, modules = list(sys.path), set(sys.modules)
    assert "M + 33" in run("generate", "a/f.py:f", "-t", "cpp").stdout
    assert "M + 55" in run("generate", "b/f.py:f", "-t", "cpp").stdout
    assert sys.path == path
    new = set(sys.modules) - modules
    assert not {n for n in new if "helper" in n or "user_file" in n}


def test_a_module_that_changes_twice_in_a_second_is_read_again(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    module = Path("quickly.py")
    Path("f.py").write_text("import quickly\ndef f(M):\n    return M + quickly.value\n")
    for value in 3, 4:  # of one length; bytecode of the first would pass for the second's
        module.write_text(f"value = {value}\n")
        os.utime(module, (10**9, 10**9))
        assert f"M + {value}" in run("generate", "f.py:f", "-t", "cpp").stdout
    assert not Path("__pycache__").exists()


DOUBTFUL = "from lego_emit import GroupBy\ni = 2\ndef f(M, N):\n    return GroupBy([M, N])[i, j]\n"
TOLD = ["warning: f: nobody defined j", "warning: f: i is 2, a variable around the function"]


@pytest.mark.slow
def test_what_may_not_be_meant_is_one_line_each():
    """Once, however many languages; what is emitted is the same."""
    Path("d.py").write_text(DOUBTFUL)
    done = python("generate", "d.py:f", "-t", "cpp", "-t", "rust", "-o", "out")
    assert (done.returncode, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert [line[: len(start)] for line, start in zip(lines, TOLD, strict=False)] == TOLD
    assert lines[2:] == ["wrote out/f.hpp", "wrote out/f.rs"]
    text = Path("out/f.hpp").read_text()
    Path("d.py").write_text(DOUBTFUL.replace("i = 2\n", "").replace("[i, j]", "[2, j]"))
    done = python("generate", "d.py:f", "-t", "cpp")
    assert done.stdout == text and done.stderr.count("warning: ") == 1


@pytest.mark.slow
def test_strict_refuses_it():
    Path("d.py").write_text(DOUBTFUL)
    done = python("generate", "d.py:f", "-t", "cpp", "--strict", "-o", "out/")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: f: nobody defined j") and "f: i is 2" in done.stderr
    assert not Path("out").exists()
    for command in ("verify", "bench"):
        result = run(command, "d.py:f", "-t", "cpp", "--strict", "--size", "M=4", "--size", "N=3")
        assert result.exit_code == 2 and "nobody defined j" in result.stderr
    Path("d.py").write_text(DOUBTFUL.replace("(M, N)", "(M, N, i, j)"))
    done = python("generate", "d.py:f", "-t", "cpp", "--strict")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_golden_cases_may_have_free_names(folder):
    case = folder / "golden" / "f"
    case.mkdir(parents=True)
    sizes = "sizes = {'M': 4, 'N': 3}\ndomain = {'j': 3}\n"
    (case / "layout.py").write_text(DOUBTFUL + sizes)
    for command in ("update", "check"):
        done = python("golden", command)
        assert (done.returncode, done.stderr) == (0, "")


# -- bad input -----------------------------------------------------------------------------------

BAD_FILES = {
    "syntax.py": "x = 1\ndef f(:\n    pass\n",
    "fails.py": "import math\n\nx = 1 / 0\n",
    "exits.py": "raise SystemExit(3)\n",
    "layout.py": "from lego_emit import *\nL = GroupBy([6, 4]).OrderBy(Col(5, 5))\n",
    "imports.py": "import broken_helper\n",
    "broken_helper.py": "x = (\n",
    "binary.py": "\0\n",
    "calls.py": "def f(M):\n    return M[3]\n",
    "nothing.py": "def f(M):\n    pass\n",
    "leaves.py": "import sys\ndef f(M):\n    sys.exit(0)\n",
    "hostile.py": """
import itertools, random
from lego_emit import GenP, GroupBy
def same(i):
    return i
def turning(i):
    while True: pass
def counting(i):
    for _ in itertools.count():
        pass
def chance(i):
    return i + random.randrange(2**30)
def falling(i):
    raise RuntimeError("a\\nb" * 1000)
def nested(i):
    for _ in range(3000):
        i = [i]
    return i
def no_number(i):
    return float("nan")
def named(i):
    return {"a\\u202eb": i, "*/": i}
def of(function):
    return lambda: GroupBy([4]).OrderBy(GenP([4], function, same))
of_turning, of_counting, of_chance, of_falling = map(of, (turning, counting, chance, falling))
of_nested, of_no_number = of(nested), of(no_number)
""",
    "out.py": "from lego_emit import GroupBy\ndef f():\n    return GroupBy([4])[7]\n",
}

BAD = [
    ("nope.py:f -t cuda", "nope.py: no such file"),
    (".:f -t cuda", "is a folder"),
    ("k.py:index_kernal -t cuda", "no 'index_kernal'", "Did you mean 'index_kernel'?"),
    ("k.py:number -t cuda", "number is 7, an int", "index_kernel, turned"),
    ("k.py -t cuda", "not of the form FILE.py:NAME"),
    ("k.py: -t cuda", "not of the form FILE.py:NAME"),
    ("k.py:turned -t cudda", "no target 'cudda'", "Did you mean 'cuda'?"),
    ("k.py:turned -t cuda --frob", "--frob"),
    ("k.py:index_kernel -t cuda --size BM", "'BM' is not of the form BM=32"),
    ("k.py:index_kernel -t cuda --size BM=x", "'BM=x' is not of the form"),
    ("k.py:index_kernel -t cuda --size =3", "'=3' is not of the form"),
    ("k.py:index_kernel -t cuda --size BM=3 --size BM=4", "as 3 and as 4"),
    ("k.py:index_kernel -t cuda --size BMM=3", "BMM", "BM"),
    ("k.py:index_kernel -t cuda --size BM=0", "division by zero"),
    ("k.py:index_kernel -t cuda --index-type int23", "int23", "int32"),
    ("k.py:index_kernel -t cuda --assume M==", "M=="),
    ("k.py:index_kernel -t cuda --assume Q<3", "Q"),
    ("k.py:turned -t cuda -t rust -o k.py", "several targets need a folder"),
    ("k.py:turned -t cuda -o k.py/x", "k.py"),
    ("k.py:turned -t cuda -t rust -o made.hpp", "several targets need a folder", "made.hpp/"),
    ("k.py:turned -t cuda -size M=3", "No such option", "-size", "--size"),
    ("k.py:turned -t cuda -o ''", "-o '' is neither a file"),
    ("k.py:index_kernel -t cuda -s BM=3,BN", "'BN' is not of the form"),
    ("-:turned -t cuda", "<stdin>: no 'turned'"),
    ("syntax.py:f -t cuda", "syntax.py, line 2: SyntaxError"),
    ("fails.py:f -t cuda", "fails.py, line 3: ZeroDivisionError: division by zero"),
    ("exits.py:f -t cuda", "exits.py, line 1", "SystemExit: 3"),
    ("layout.py:L -t cuda", "layout.py, line 2: LayoutError", "make the products equal"),
    ("imports.py:f -t cuda", "imports.py, line 1", "broken_helper.py, line 1: SyntaxError"),
    ("binary.py:f -t cuda", "binary.py", "null bytes"),
    ("calls.py:f -t cuda", "f failed on symbols (line 2 of calls.py): TypeError"),
    ("nothing.py:f -t cuda", "None"),
    (
        "leaves.py:f -t cuda",
        "f failed on symbols (line 3 of leaves.py)",
        "ends the program (SystemExit: 0)",
    ),
    (f"k.py:index_kernel -t cuda --size BM=1{'0' * 5000}", "...' is too long"),
    (f"k.py:index_kernel -t cuda --size BM=0x1{'0' * 5000}", "sizes: BM is about 10**6020"),
    (f"k.py:index_kernel -t cuda --assume M<1{'0' * 5000}", "'M<1000", "digits"),
    ("out.py:f -t cuda", "7"),
    ("hostile.py:turning -t cuda", "turning has not ended after", "give its loops an end"),
    ("hostile.py:counting -t cuda", "counting has not ended after", "line 9"),
    ("hostile.py:chance -t cuda", "the same for the same arguments every time"),
    (
        "hostile.py:falling -t cuda",
        "falling failed on symbols (line 14 of hostile.py): RuntimeError: a ba b",
    ),
    ("hostile.py:nested -t cuda", "nested returns [[[", "return an index"),
    ("hostile.py:no_number -t cuda", "no_number returns nan", "return an index"),
    ("hostile.py:named -t cuda", r"returns 'a\u202eb', which is not a name"),
    ("hostile.py:of_turning -t cuda", "GenP([4], turning, same): apply(0) has not ended after"),
    ("hostile.py:of_counting -t cuda", "GenP([4], counting, same): apply(0) has not ended after"),
    ("hostile.py:of_chance -t cuda", "GenP([4], chance, same)", "outside 0..3: not a bijection"),
    (
        "hostile.py:of_falling -t cuda",
        "apply(0) raised RuntimeError (line 14 of hostile.py): a ba b",
    ),
    ("hostile.py:of_nested -t cuda", "GenP([4], nested, same): apply(0) gives [[[", "a list"),
    ("hostile.py:of_no_number -t cuda", "gives nan, a float, where an integer is wanted"),
    ("k.py:turned -t cuda --name 'a\nb'", r"name is 'a\nb'", "write one as"),
    ("k.py:turned -t cuda --name '*/'", "name is '*/'"),
    ("k.py:turned -t cuda --name 'a\u202eb'", r"name is 'a\u202eb'"),
    ("k.py:turned -t cuda --prefix 'a\\'", r"prefix is 'a\\'", "letters, digits"),
    ("k.py:turned -t cuda --prefix '??/'", "prefix is '??/'"),
    ("k.py:turned -t cuda --namespace 'a;b'", "namespace is 'a;b'", "acme::tiles"),
    ("k.py:turned -t cuda --namespace '\"'", "namespace is '\"'"),
    ("k.py:turned -t cuda --base 2", "--base", "'2' is not 0, 1, or of the form g=1,local=1"),
    ("k.py:turned -t cuda --base nan", "--base", "'nan' is not 0, 1, or of the form"),
    (
        "k.py:turned -t cuda --prepare -o made/",
        "--prepare",
        "'-o' is no name; write",
        "'*' for all",
    ),
    ("k.py:turned -t cuda --prepare --explain", "--prepare", "'--explain' is no name"),
    ("k.py:index_kernel -t cuda --size BM=nan", "'BM=nan' is not of the form"),
    ("k.py:index_kernel -t cuda --size BM=1e9", "'BM=1e9' is not of the form"),
    ("k.py:index_kernel -t cuda --size BM=-4", "-4"),
    ("k.py:index_kernel -t cuda --assume 'M < nan'", "nan"),
    ("k.py:index_kernel -t cuda --assume 'M < 1.5'", "'1.5'"),
    ("k.py:index_kernel -t cuda --assume 'M < \u202e3'", "cannot read"),
]


@pytest.mark.parametrize("case", BAD, ids=[b[0][:60] for b in BAD])
@pytest.mark.quick(8)
def test_bad_input_is_one_message_and_no_file(folder, case):
    arguments, *parts = case
    for name, text in BAD_FILES.items():
        (folder / name).write_text(text)
    before = files(folder)
    output = [] if " -o " in arguments else ["-o", "made/"]
    result = run("generate", *shlex.split(arguments), *output)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(re.findall("(?m)^Error: ", result.stderr)) == 1
    assert "Traceback" not in result.stderr
    assert len(result.stderr) < 600
    for part in parts:
        assert part in result.stderr
    assert [f for f in files(folder) if "__pycache__" not in f] == before
    assert not (folder / "made").exists()


OTHER = """
import sys
from lego_emit import GroupBy
def leaves(M):
    sys.exit(0)
large = GroupBy([10**6, 10**6])
small = GroupBy([4])
small_by_hand = (lambda i: sys.exit(0), None)
"""


@pytest.mark.parametrize(
    "case",
    [
        ("show o.py:leaves --size M=4", "o.py:leaves (line 5 of o.py): SystemExit: 0"),
        (
            "compare o.py:leaves o.py:small --size M=4",
            "o.py:leaves (line 5 of o.py): SystemExit: 0",
        ),
        ("verify o.py:leaves -t cpp", "leaves failed on symbols (line 5 of o.py)"),
        ("bench o.py:small -t cpp", "<lambda> (line 8 of o.py) cannot be spelled", "SystemExit: 0"),
        ("show o.py:small -order", "No such option", "-order", "--order"),
        ("compare o.py:large o.py:large", "a table of 1000000000000 positions is too large"),
        ("golden update large", "a table of 1000000000000 positions is too large"),
        ("golden update long", "a table of 1000000000000 indices is too large"),
        ("golden update leaving", "line 4: the file ends the program (SystemExit: 0)"),
        ("build -c digits.toml", "digits.toml: no TOML: ", "4300 digits"),
        ("build -c deep.toml", "deep.toml: no TOML: ", "recursion"),
        ("build -c leaves.toml", "leaves failed on symbols (line 5 of o.py)"),
        ("build -c shift.toml", "'M << -1 < 4'", "a shift distance is not negative"),
    ],
)
def test_bad_input_of_the_other_commands(folder, case, need):
    arguments, *parts = case
    if "-t cpp" in arguments:
        need("g++", "apt-get install g++")
    (folder / "o.py").write_text(OTHER)
    for name, text in {
        "large": "from lego_emit import GroupBy\nlayout = GroupBy([10**6, 10**6])\n",
        "long": "domain = {'i': 10**12}\ndef kernel(i):\n    return i\n",
        "leaving": "domain = {'i': 4}\nimport sys\ndef kernel(i):\n    sys.exit(0)\n",
    }.items():
        (folder / name / "case").mkdir(parents=True)
        (folder / name / "case" / "layout.py").write_text(text)
    head = "targets = ['cpp']\n"
    for name, text in {
        "digits": f"sizes = {{ M = 1{'0' * 5000} }}",
        "deep": f"layouts = {'[' * 5000}",
        "leaves": "layouts = ['o.py:leaves']",
        "shift": "layouts = ['k.py:index_kernel']\nassume = ['M << -1 < 4']",
    }.items():
        (folder / f"{name}.toml").write_text(head + text + "\n")
    before = files(folder)
    result = run(*arguments.split())
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert re.findall("(?m)^Error: ", result.stderr) == ["Error: "]
    assert "Traceback" not in result.stderr and "itself failed" not in result.stderr
    for part in parts:
        assert part in result.stderr
    kept = (".lego-emit", "__pycache__")
    assert [f for f in files(folder) if not any(k in f for k in kept)] == before


def test_all_or_nothing(folder):
    (folder / "out" / "turned.rs").mkdir(parents=True)
    (folder / "out" / "turned.hpp").write_text("old")
    result = run("generate", "k.py:turned", "-t", "cuda", "-t", "cpp", "-t", "rust", "-o", "out")
    assert result.exit_code == 2
    assert "turned.rs" in result.stderr
    assert files(folder) == ["k.py", "out/turned.hpp"]
    assert (folder / "out" / "turned.hpp").read_text() == "old"


def test_an_unforeseen_error_is_no_traceback(monkeypatch):
    import lego_emit.pipeline

    def fail(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(lego_emit.pipeline, "generate", fail)
    result = run("generate", "k.py:turned", "-t", "cpp")
    assert result.exit_code == 2
    assert "RuntimeError: boom" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_real_process(folder):
    done = python("generate", "k.py:turned", "-t", "cpp")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("// Code generated by lego-emit. DO NOT EDIT.\n")
    done = python("generate", "k.py:turnd", "-t", "cpp")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: k.py: no 'turnd'")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_verify_takes_the_domain_of_an_index(folder, need):
    need("g++", "apt-get install g++")
    (folder / "x.py").write_text("def f(x):\n    return x ^ (x >> 2)\n")
    result = run("verify", "x.py:f", "--domain", "x=8", "--claim", "bijective")
    assert result.exit_code == 0 and "(8 indices" in result.stdout
    assert "--domain x=8" in run("verify", "x.py:f").stderr
    assert "no parameter 'y'" in run("verify", "x.py:f", "--domain", "y=8").stderr
    result = run("verify", "k.py:turned", "--domain", "i=4")
    assert result.exit_code == 2 and "run over its sizes" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_one_message():
    command = [sys.executable, "-m", "lego_emit", "generate", "k.py:turned", "-t", "cpp"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "Error: No space left on device\n")
    closed = subprocess.run(["sh", "-c", f"{shlex.join(command)} | head -n 1"], capture_output=True)
    assert closed.stdout.startswith(b"// Code generated") and not closed.stderr
    for command in ("show -:x <&-", "build 2>&-"):
        whole = f"{shlex.quote(sys.executable)} -m lego_emit {command}"
        done = subprocess.run(whole, shell=True, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and len(done.stderr.splitlines()) <= 1


# -- golden, targets, version --------------------------------------------------------------------


def golden_root(folder):
    case = folder / "golden" / "turned"
    case.mkdir(parents=True)
    (case / "layout.py").write_text(KERNEL.replace("index_kernel", "other"))
    assert run("golden", "update").exit_code == 0
    return case


@pytest.mark.slow
def test_golden_check_and_update(folder):
    case = golden_root(folder)
    assert run("golden", "check").exit_code == 0
    assert run("golden", "check", folder / "golden").exit_code == 0
    (case / "turned.hpp").write_text("old\n")
    result = run("golden", "check")
    assert result.exit_code == 1
    assert "\n-old\n" in result.stdout
    assert "lego-emit golden update" in result.stdout and "1 difference" in result.stderr
    assert run("golden", "check", "-t", "rust").exit_code == 0
    assert "turned.hpp" in run("golden", "update").stdout
    assert run("golden", "check").exit_code == 0


def test_golden_update_is_refused_under_ci(folder, monkeypatch):
    case = golden_root(folder)
    (case / "turned.hpp").unlink()
    monkeypatch.setenv("CI", "true")
    result = run("golden", "update")
    assert result.exit_code == 2
    assert "CI" in result.stderr
    assert not (case / "turned.hpp").exists()


def test_golden_bad_input(folder):
    assert run("golden", "check").exit_code == 2
    assert "no such folder" in run("golden", "check", "nowhere").stderr
    golden_root(folder)
    result = run("golden", "verify", "--case", "turnd")
    assert result.exit_code == 2
    assert "Did you mean 'turned'?" in result.stderr
    (folder / "golden" / "turned" / "layout.py").write_text("x = (\n")
    result = run("golden", "check")
    assert result.exit_code == 2
    assert "layout.py, line 1: SyntaxError" in result.stderr


def missing(*_):
    raise ToolchainError("target 'cpp' needs g++, which is not on PATH; on Debian: apt-get it")


def test_golden_verify_says_what_it_skipped(folder, monkeypatch):
    from lego_emit.targets.cpp import CppTarget

    golden_root(folder)
    monkeypatch.setattr(CppTarget, "find", missing)
    result = run("golden", "verify", "-t", "cpp")
    assert result.exit_code == 0
    assert "skipped: target 'cpp' needs g++" in result.stdout


@pytest.mark.slow
def test_golden_verify_fails_on_a_wrong_table(folder):
    case = golden_root(folder)
    assert "equal" in run("golden", "verify", "-t", "cpp").stdout
    table = case / "table.txt"
    right, wrong = "\n[0, :] 0..18 by 6\n", "\n[0, :] 6, 0, 12, 18\n"
    text = table.read_text()
    assert right in text
    table.write_text(text.replace(right, wrong))
    result = run("golden", "verify", "-t", "cpp")
    assert result.exit_code == 1
    assert "turned_apply(i=0, j=0) gives 0, the table has 6" in result.stderr


@pytest.mark.slow
def test_targets_lists_what_is_there_and_what_is_missing(monkeypatch):
    from lego_emit.targets.cpp import CppTarget

    monkeypatch.setattr(CppTarget, "find", missing)
    result = run("targets")
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert set(targets()) < set(lines)
    assert "missing: target 'cpp' needs g++" in lines["cpp"] and "apt-get" in lines["cpp"]


def test_python_runs_the_package():
    command = [sys.executable, "-m", "lego_emit", "targets", "--help"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("Usage: lego-emit targets")


def test_version_and_help():
    assert __version__ in run("--version").stdout
    assert "FILE.py:NAME" in run("generate", "--help").stdout
    assert run("frobnicate").exit_code == 2


def test_click_is_loaded_by_the_command_line_alone():
    code = "import sys, lego_emit, lego_emit.pipeline; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_catalogue_by_family():
    every, family = run("catalogue").output, run("catalogue", "lapack").output
    assert family in every and family.count("lapack.") == 2
    assert run("catalogue", "lapac").exit_code == 2


@pytest.mark.parametrize("given", ["catalogue:arrays.AoSoA", "arrays.AoSoA"])
def test_a_name_of_the_catalogue_is_no_file(given):
    result = CliRunner().invoke(main, ["generate", given, "-t", "c"])
    typed = """'catalogue["arrays.AoSoA"](count, fields, vector)'"""
    assert result.exit_code == 2 and f"of the catalogue it is -e {typed}" in result.stderr
    made = CliRunner().invoke(main, ["generate", "-e", typed[1:-1], "-t", "c"])
    assert "int64_t count, int64_t fields, int64_t vector" in made.stdout


@pytest.mark.parametrize(
    ("command", "begins"),
    {
        "generate -e Row(4,6) -t c -o -": "// Code generated by lego-emit",
        "copy -e Row(4,6) -e Col(4,6) -t c -o -": "// Code generated by lego-emit",
        "render k.cu.j2 --layouts given.py -o -": "x[1]",
        "rewrite kernel.py -o -": "\n\n\n\ndef f(x, M):",
        "show -e Row(4,6) -o -": "<svg",
        "show -e Row(4,6) --animate -o -": "<svg",
        "catalogue intel.X -o -": "<svg",
        "conflicts -e Row(32,32) -e lambda(lane):(lane,0) -o -": "<svg",
        "recognize table.txt -o -": '"""',
    }.items(),
)
def test_a_dash_is_standard_output(command, begins, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("given.py").write_text("from lego_emit import Row\nA = Row(4, 6)\n")
    Path("k.cu.j2").write_text("x[{{ A[0, 1] }}]\n")
    Path("table.txt").write_text("0 2 4\n1 3 5\n")
    Path("kernel.py").write_text(
        "from lego_emit import Row, jit\n\n\n@jit(target='python')\ndef f(x, M):\n    return x[Row(M, 2)[0, 1]]\n"
    )
    before = {*tmp_path.iterdir()}
    words = [w.replace("lambda(lane)", "lambda lane") for w in command.split()]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(begins)
    assert {p for p in tmp_path.iterdir() if p.name != "__pycache__"} == before


@pytest.mark.parametrize(
    "command",
    ["generate -e Row(4,6) -t c", "recognize t.txt", "render k.j2 -t c --layouts layouts.py"],
)
def test_a_file_that_is_called_a_dash(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("0 2 4\n1 3 5\n")
    Path("k.j2").write_text("x[0]\n")
    Path("layouts.py").touch()
    result = CliRunner().invoke(main, [*command.split(), "-o", "./-"])
    assert result.exit_code == 0, result.output
    assert Path("-").read_text() not in ("", result.stdout)
