"""lego-emit build: what it writes, what it leaves alone, and what it refuses."""

import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest
from click.testing import CliRunner
from conftest import TARGETS
from marks import rest_deep, rest_slow

import lego_emit
from lego_emit.cli import main
from lego_emit.emit import registry
from lego_emit.printers.rust import RustPrinter
from lego_emit.project.build import build, depfile
from lego_emit.project.config import load
from lego_emit.project.making import emit_all
from lego_emit.project.manifest import FOLDER, MANIFEST, file_digest, locked

LAYOUTS = """
from lego_emit import Col, GroupBy, OrderBy, Row


def tile(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[pid_m, pid_n, :, :]


turned = GroupBy([6, 4]).OrderBy(Col(6, 4))
"""
CONFIG = """
targets = ["cpp", "rust"]
layouts = ["layouts.py:tile", "layouts.py:turned"]
"""
MADE = [
    "generated/cpp/tile.hpp",
    "generated/cpp/turned.hpp",
    "generated/rust/tile.rs",
    "generated/rust/turned.rs",
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A project of one's own: two layouts in two languages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layouts.py").write_text(LAYOUTS)
    (tmp_path / "lego-emit.toml").write_text(CONFIG)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["build", *map(str, arguments)])


def built(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def process(*arguments, **options):
    command = [sys.executable, "-c", "from lego_emit.cli import main; main()", "build", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def files(root="."):
    """What there is beside the project's own files and the manifest."""
    own = {"layouts.py", "lego-emit.toml", "pyproject.toml"}
    found = (p for p in Path(root).rglob("*") if not p.is_dir() and FOLDER not in p.parts)
    return sorted(p.as_posix() for p in found if p.as_posix() not in own)


def text_of(path):
    return without_source(Path(path).read_text())


def without_source(text):
    """A file's text without what its head says of its source."""
    return re.sub(r"^// (Source|To regenerate): .*\n", "", text, flags=re.M)


def state():
    """Every file's content and time stamp."""
    return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in Path().rglob("*") if p.is_file()}


def config(text):
    Path("lego-emit.toml").write_text(text)


def change(old="Col(6, 4)", new="Row(6, 4)"):
    text = Path("layouts.py").read_text()
    assert old in text
    Path("layouts.py").write_text(text.replace(old, new))


# -- what is made --------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_layout_in_each_language(folder):
    result = built()
    assert files() == MADE
    assert "wrote 4 files" in result.stderr
    assert result.stdout == ""
    for name in ("tile", "turned"):
        wanted = CliRunner().invoke(main, ["generate", f"layouts.py:{name}", "-t", "rust"]).stdout
        assert text_of(f"generated/rust/{name}.rs") == without_source(wanted)


def test_every_option_reaches_the_generator():
    config(
        'targets = ["cpp"]\noutput = "{name}-{target}.{ext}"\nsizes = { BM = 1 }\nbase = 1\n'
        'cost = "ops"\n[[layouts]]\nsource = "layouts.py:tile"\nname = "mine"\n'
        'sizes = { BM = 32, BN = 16 }\nassume = ["M < 1024", "N < 1024"]\nindex-type = "int64"\n'
    )
    built()
    from lego_emit import generate

    namespace = {}
    exec(LAYOUTS, namespace)
    unit = generate(
        namespace["tile"], "cpp", name="mine", sizes={"BM": 32, "BN": 16}, base=1, cost="ops",
        assume=["M < 1024", "N < 1024"], index_type="int64",
    )  # fmt: skip
    assert text_of("mine-cpp.hpp") == unit.source


FILE = """
targets = ["cpp", "javascript"]

[[files]]
name = "tiles"
layouts = ["layouts.py:tile", { source = "layouts.py:turned", name = "flip" }]
sizes = { BM = 32 }
names = "camelCase"
index-type = ["auto", "int32"]
"""
ONE_FILE = [
    "generated/cpp/tiles.hpp",
    "generated/javascript/tiles.d.mts",
    "generated/javascript/tiles.mjs",
]


@pytest.mark.slow
def test_several_layouts_in_one_file():
    """Made as generate() makes it of a dict; stale when one of them is, or what they are called."""
    from lego_emit import generate

    config(FILE)
    built()
    assert files() == ONE_FILE
    namespace = {}
    exec(LAYOUTS, namespace)
    unit = generate(
        {"tile": namespace["tile"], "flip": namespace["turned"]}, "cpp", name="tiles",
        sizes={"BM": 32}, names="camelCase", index_type=["auto", "int32"],
    )  # fmt: skip
    assert "\n// Source: layouts.py:tile, turned\n" in Path(ONE_FILE[0]).read_text()
    assert text_of(ONE_FILE[0]) == unit.source
    assert "export function flipInv(" in Path(ONE_FILE[2]).read_text()
    assert "all 3 files up to date" in built().stderr
    change()
    check = run("--check")
    assert check.exit_code == 1
    assert all(f"{path} is out of date" in check.stderr for path in (ONE_FILE[0], ONE_FILE[2]))
    built()
    config(FILE.replace('"flip"', '"flop"'))
    assert run("--check").exit_code == 1
    built()
    assert "flopApply" in Path(ONE_FILE[0]).read_text()
    config(CONFIG)
    built()
    assert files() == MADE


def test_names_and_namespaces_in_the_configuration():
    config(
        'targets = ["cpp"]\nprefix = "ac_"\n[[layouts]]\nsource = "layouts.py:turned"\n'
        'namespace = "acme::tiles"\nnames = "PascalCase"\nindex-type = "size_t"\n'
    )
    built()
    text = Path("generated/cpp/turned.hpp").read_text()
    assert "namespace acme::tiles {" in text and "std::size_t AcTurnedApply(" in text
    words = "--prefix ac_ --namespace acme::tiles --names PascalCase --index-type size_t".split()
    command = ["generate", "layouts.py:turned", "-t", "cpp", *words]
    generated = CliRunner().invoke(main, command)
    assert without_source(generated.stdout) == without_source(text)


def test_pyproject_and_a_folder_further_down(folder, monkeypatch):
    Path("lego-emit.toml").rename("pyproject.toml")
    Path("pyproject.toml").write_text(f"[project]\nname = 'x'\n[tool.lego-emit]{CONFIG}")
    (folder / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(folder / "deep" / "er")
    (folder / "deep" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    built()
    monkeypatch.chdir(folder)
    assert files() == sorted(["deep/pyproject.toml", *MADE])


@pytest.mark.slow
def test_all_languages_and_declarations():
    config('targets = "all"\nlayouts = ["layouts.py:turned"]')
    built()
    assert len(files()) == len(registry.targets()) + 1
    assert "generated/javascript/turned.d.mts" in files()


def test_list_outputs(folder):
    assert built("--list-outputs").stdout.splitlines() == [
        MADE[0], MADE[2], MADE[1], MADE[3],
    ]  # fmt: skip
    assert files() == [] and not Path(FOLDER).exists()
    listed = built("--list-outputs", "--out-dir", "else where").stdout.splitlines()
    assert listed[0] == "else where/generated/cpp/tile.hpp"


def test_out_of_source(folder):
    built("--out-dir", folder / "out")
    assert files() == [f"out/{path}" for path in MADE]
    assert not Path(FOLDER).exists()


def test_what_a_file_prints_goes_to_standard_error():
    Path("layouts.py").write_text(LAYOUTS + "print('hello')\n")
    result = built()
    assert result.stdout == "" and "hello" in result.stderr


# -- incremental ---------------------------------------------------------------------------------


def test_nothing_changed():
    built()
    before = state()
    os.utime("layouts.py")
    assert "all 4 files up to date" in built().stderr
    after = state()
    assert {p: v for p, v in before.items() if p.name != "layouts.py"} == {
        p: v for p, v in after.items() if p.name != "layouts.py"
    }


def test_nothing_is_generated_twice(monkeypatch):
    built()
    monkeypatch.setattr("lego_emit.pipeline.generate", lambda *a, **k: pytest.fail("generated"))
    built()
    built("--check")


@pytest.mark.slow
def test_an_unchanged_file_keeps_its_time_stamp():
    built()
    before = state()
    change()
    assert "wrote 2 files" in built().stderr
    after = state()
    changed = {p.as_posix() for p in before if before[p] != after[p] and p.parts[0] == "generated"}
    assert changed == {"generated/cpp/turned.hpp", "generated/rust/turned.rs"}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("place", ["helper.py", "pack/__init__.py", "pack/inner.py"])
@pytest.mark.quick(4)
def test_a_module_of_the_project_is_an_input(place, late):
    module = place.removesuffix(".py").replace("/__init__", "").replace("/", ".")
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).write_text("N = 6\n")
    line = f"import {module} as own"
    body = f"def f(i):\n    {line}\n" if late else f"{line}\ndef f(i):\n"
    Path("layouts.py").write_text(body + "    return i + own.N\n")
    config('targets = ["cpp"]\nlayouts = ["layouts.py:f"]')
    built("--depfile", "d")
    assert place in Path("d").read_text()
    assert run("--check").exit_code == 0
    assert not list(Path().rglob("__pycache__"))
    Path(place).write_text("N = 7\n")
    assert run("--check").exit_code == 1
    built()
    assert "i + 7" in Path("generated/cpp/f.hpp").read_text()


def test_two_files_that_share_a_module():
    """Both see it, though it is loaded once."""
    Path("shared.py").write_text("N = 6\n")
    for name in "ab":
        Path(f"{name}.py").write_text(f"import shared\ndef {name}(i):\n    return i + shared.N\n")
    config('targets = ["cpp"]\nlayouts = ["a.py:a", "b.py:b"]')
    built("--jobs", 1)
    Path("shared.py").write_text("N = 9\n")
    assert "wrote 2 files" in built().stderr


def test_a_data_file_is_an_input_when_it_is_named():
    Path("sizes.json").write_text("[6, 4]")
    Path("layouts.py").write_text(
        "import json\nfrom pathlib import Path\nfrom lego_emit import GroupBy, Row\n"
        "n = json.loads((Path(__file__).parent / 'sizes.json').read_text())\n"
        "turned = GroupBy(n).OrderBy(Row(*n))\n"
    )
    config('targets = ["cpp"]\nlayouts = ["layouts.py:turned"]\ndepends = ["sizes.json"]')
    built()
    Path("sizes.json").write_text("[6, 5]")
    assert "wrote 1 file" in built().stderr


def test_the_file_of_a_table_is_an_input():
    Path("deal.csv").write_text("4, 0, 3, 5, 1, 2")
    Path("layouts.py").write_text(
        "from pathlib import Path\n"
        "from lego_emit import Lookup\n"
        "dealt = Lookup([6], Path(__file__).with_name('deal.csv'))\n"
    )
    config('targets = ["cpp"]\nlayouts = ["layouts.py:dealt"]')
    built("--depfile", "out.d")
    assert "deal.csv" in Path("out.d").read_text()
    Path("deal.csv").write_text("5, 0, 3, 4, 1, 2")
    assert run("--check").exit_code == 1
    assert "wrote 1 file" in built().stderr


@pytest.mark.slow
def test_a_changed_option_and_a_new_lego_emit(monkeypatch):
    built()
    config('index-type = "int64"\n' + CONFIG)
    assert run("--check").exit_code == 1
    built()
    monkeypatch.setattr("lego_emit.project.build._generator", lambda target: "another")
    emit = RustPrinter.emit
    monkeypatch.setattr(RustPrinter, "emit", lambda self, unit: f"// new\n{emit(self, unit)}")
    assert "wrote 2 files" in built().stderr


PRINTER = """
from lego_emit.printers.cpp import CppPrinter


class ShortPrinter(CppPrinter):
    name = "short"
    template = "short.jinja"
"""

SHORT = "// {{{{ unit }}}}, {}:{{% for f in functions %}} {{{{ f.name }}}}{{% endfor %}}\n"


@pytest.mark.slow
def test_a_changed_template_makes_files_stale(tmp_path):
    site = tmp_path / "site"
    info = site / "short-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: short\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[lego_emit.printers]\nshort = short_lego:ShortPrinter\n"
    )
    (site / "short_lego.py").write_text(PRINTER)
    (site / "short.jinja").write_text(SHORT.format("first"))
    (tmp_path / "short").mkdir()
    Path("short/lego-emit.toml").write_text(
        'targets = ["short"]\nlayouts = ["../layouts.py:turned"]'
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])

    def build_again():
        done = process(cwd="short", env={**os.environ, "PYTHONPATH": path})
        assert done.returncode == 0, done.stderr
        return Path("short/generated/short/turned.hpp").read_text(), done.stderr

    assert build_again()[0] == "// turned, first: turned_apply turned_inv\n"
    (site / "short.jinja").write_text(SHORT.format("second"))
    text, told = build_again()
    assert text == "// turned, second: turned_apply turned_inv\n" and "wrote 1 file" in told
    assert "wrote" not in build_again()[1]


def test_what_is_no_longer_asked_for_goes():
    built()
    config('targets = ["rust"]\nlayouts = ["layouts.py:tile"]')
    result = run("--check")
    assert result.exit_code == 1 and result.stderr.count("belongs to no layout") == 3
    assert "removed 3 files" in built().stderr
    assert files() == ["generated/rust/tile.rs"] and not Path("generated/cpp").exists()


def big(layouts):
    lines = ["from lego_emit import OrderBy, Row, RegP, TileBy"]
    for k in range(layouts):
        lines.append(
            f"def f{k}(M, N, BM, BN, pid_m, pid_n):\n    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))\n"
            f"    return L[pid_m, pid_n, :, :] + {k}"
            if k % 2
            else f"f{k} = TileBy([4, 3], [2, {k + 2}]).OrderBy(RegP([8, {3 * k + 6}], [1, 0]))"
        )
    Path("layouts.py").write_text("\n".join(lines))
    names = ", ".join(f'"layouts.py:f{k}"' for k in range(layouts))
    config(f'targets = "all"\nlayouts = [{names}]')


@pytest.mark.deep
def test_many_layouts_in_every_language(monkeypatch):
    """The second time each file is read once, no layout is made and nothing is written."""
    layouts = 10
    big(layouts)
    files = len(TARGETS) + 1  # and the types of JavaScript
    first = process()
    assert first.returncode == 0, first.stderr
    assert (
        first.stderr.strip() == f"wrote {layouts * files} files"
    )  # no progress bar: this is no terminal
    before, read, made = state(), Counter(), []
    monkeypatch.setattr(
        "lego_emit.project.build.file_digest", lambda path: read.update([path]) or file_digest(path)
    )
    monkeypatch.setattr(
        "lego_emit.project.build.emit_all", lambda *given: made.extend(given[1]) or emit_all(*given)
    )
    assert "up to date" in built().stderr
    assert state() == before and not made
    package = Path(lego_emit.__file__).parent
    own = [times for path, times in read.items() if not path.is_relative_to(package)]
    assert own == [1] * (layouts * files + 1)


@pytest.mark.slow
@pytest.mark.parametrize("layouts", rest_deep([6, 10]))
def test_processes_and_one_process_make_the_same(layouts):
    big(layouts)
    built("--jobs", 1)
    before = {path: Path(path).read_bytes() for path in files()}
    built("--clean")
    assert files() == []
    built("--jobs", 4)
    assert {path: Path(path).read_bytes() for path in files()} == before


@pytest.mark.slow
@pytest.mark.deep
def test_a_progress_bar_on_a_terminal_only():
    import pty

    big(10)

    def shown():
        main_end, terminal = pty.openpty()
        command = [sys.executable, "-c", "from lego_emit.cli import main; main()", "build"]
        subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True)
        os.close(terminal)
        text = b""
        with open(main_end, "rb", buffering=0) as stream, suppress(OSError):  # it is closed
            while part := stream.read(4096):
                text += part
        return text

    first = shown()
    assert b"building" in first and b"100%" in first
    assert b"building" not in shown()


# -- init, watch ---------------------------------------------------------------------------------


def test_init_starts_a_project_and_overwrites_nothing(folder):
    def init(*arguments):
        return CliRunner().invoke(main, ["init", *arguments])

    made = init("new/deep", "-t", "c++", "-t", "rust")
    assert made.exit_code == 0 and files("new") == [
        "new/deep/layouts.py",
        "new/deep/lego-emit.toml",
    ]
    built("-c", "new/deep/lego-emit.toml")
    assert Path("new/deep/generated/brick.rs").exists()
    before = state()
    for taken in (".", "new/deep"):
        result = init(taken)
        assert result.exit_code == 2 and "lego-emit.toml is there already" in result.stderr
    Path("lego-emit.toml").unlink()
    kept = Path("layouts.py").read_text()
    Path("layouts.py").write_text("from lego_emit import Row\n_own = Row(2)\n")
    assert "layouts.py is there already and defines no layout" in init().stderr
    Path("layouts.py").write_text(kept)
    assert init().exit_code == 0 and Path("layouts.py").read_text() == kept
    assert (
        'layouts = ["layouts.py:tile", "layouts.py:turned"]' in Path("lego-emit.toml").read_text()
    )
    built()
    Path("lego-emit.toml").unlink()
    Path("layouts.py").unlink()
    Path("pyproject.toml").write_text("[tool.lego-emit]\n")
    assert "pyproject.toml is there already" in init().stderr
    assert init("-t", "cudda").exit_code == 2 and init("pyproject.toml/x").exit_code == 2
    assert {path: state()[path] for path in state() if "new" in path.parts} == {
        path: before[path] for path in before if "new" in path.parts
    }
    assert not Path("lego-emit.toml").exists()


@pytest.mark.slow
def test_watch_builds_when_an_input_changes(folder):
    (folder / "sizes.py").write_text("rows = 6\n")
    layouts = folder / "layouts.py"
    layouts.write_text("from sizes import rows\n" + LAYOUTS.replace("6, 4", "rows, 4"))
    code = "from lego_emit.cli import main; main()"
    command = [sys.executable, "-c", code, "build", "--watch"]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background is deaf
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heard) as watching:

        def told():
            lines = []
            while "watching" not in (line := watching.stderr.readline()):
                assert line, lines
                lines.append(line)
            return "".join(lines)

        guard = threading.Timer(600, watching.kill)  # a change that is missed is waited for
        guard.start()
        try:
            assert told().endswith("wrote 4 files\n")
            (folder / "sizes.py").write_text("rows = 12\n")
            assert told().endswith("wrote 2 files\n")
            layouts.write_text("x = (\n")
            assert "layouts.py, line 1: SyntaxError" in told()
            layouts.write_text(LAYOUTS)
            assert told().endswith("wrote 2 files\n")
            (folder / "lego-emit.toml").write_text("targets = 3\n")
            assert told().startswith("Error: lego-emit.toml: targets is 3")
            watching.send_signal(signal.SIGINT)
            watching.stderr.read()
            assert watching.wait() == 0
        finally:
            guard.cancel()
            watching.kill()


# -- check, diff, clean --------------------------------------------------------------------------


def test_check_writes_nothing_and_says_how_to_fix_it():
    result = run("--check")
    assert result.exit_code == 1 and files() == [] and not Path(FOLDER).exists()
    assert (
        result.stderr.count("is missing") == 4
        and "run `lego-emit build` to fix that" in result.stderr
    )
    built()
    assert run("--check").exit_code == 0
    before = state()
    change()
    before[Path("layouts.py")] = state()[Path("layouts.py")]
    result = run("--check", "--out-dir", ".")
    assert result.exit_code == 1
    assert "generated/cpp/turned.hpp is out of date" in result.stderr
    assert "run `lego-emit build --out-dir .` to fix that" in result.stderr
    assert state() == before


@pytest.mark.slow
def test_check_on_a_fresh_clone():
    """Generated files are often committed, and the manifest never is."""
    built()
    for path in Path(FOLDER).iterdir():
        path.unlink()
    assert run("--check").exit_code == 0
    before = state()
    assert "up to date" in built().stderr
    assert {p: v for p, v in state().items() if FOLDER not in p.parts} == before
    change()
    assert run("--check").exit_code == 1
    built()
    assert run("--check").exit_code == 0


def test_a_fresh_clone_has_files_of_no_layout():
    """What a build made is known by its first lines; other projects' files and the user's stay."""
    built()
    shutil.rmtree(FOLDER)
    config('targets = ["rust"]\nlayouts = ["layouts.py:tile"]')
    mine, other = Path("generated/rust/mine.rs"), Path("generated/other/x.rs")
    mine.write_text(
        text_of("generated/rust/tile.rs").replace("lego-emit build", "lego-emit -t rust")
    )
    other.parent.mkdir()
    other.write_bytes(Path("generated/rust/turned.rs").read_bytes())
    (other.parent / "lego-emit.toml").touch()
    result = run("--check")
    gone = [path for path in MADE if path != "generated/rust/tile.rs"]
    assert result.exit_code == 1 and result.stderr.count("belongs to no layout") == len(gone) == 3
    assert all(f"{path} belongs" in result.stderr for path in gone)
    assert "removed 3 files" in built().stderr and run("--check").exit_code == 0
    assert files() == [
        "generated/other/lego-emit.toml",
        *map(str, (other, mine)),
        "generated/rust/tile.rs",
    ]
    Path("rows.py").write_text(Path("layouts.py").read_text())
    config('targets = ["rust"]\nlayouts = ["rows.py:tile"]')
    shutil.rmtree(FOLDER)
    assert run("--check").stderr.count("is out of date") == 1


@pytest.mark.slow
def test_diff_shows_a_unified_diff():
    built()
    change()
    result = run("--diff")
    assert result.exit_code == 1
    assert "--- generated/cpp/turned.hpp\n+++ generated/cpp/turned.hpp (new)\n@@" in result.stdout
    assert re.search(r"^-.*Col\(6, 4\)", result.stdout, re.M)
    assert re.search(r"^\+.*Row\(6, 4\)", result.stdout, re.M)


def test_clean_removes_only_what_is_ours():
    built()
    Path("generated/cpp/mine.hpp").write_text("mine")
    assert "removed 4 files" in built("--clean").stderr
    assert files() == ["generated/cpp/mine.hpp"] and not Path("generated/rust").exists()
    assert "removed 0 files" in built("--clean").stderr


@pytest.mark.slow
def test_clean_keeps_what_was_edited_and_what_no_manifest_says():
    built()
    Path(MADE[0]).write_text("edited")
    result = run("--clean")
    assert result.exit_code == 1 and files() == [MADE[0]] and "--clean --force" in result.stderr
    built("--clean", "--force")
    assert files() == []
    built()
    (Path(FOLDER) / "manifest.json").unlink()
    built("--clean")
    assert files() == MADE


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "\0", '{"format": 99}', '{"format": 1, "units": 3, "files": {}}',
     '{"format": 1, "owner": "lego-emit.toml", "units": {"x": 3}, "files": {"x": "y"}}'],
)  # fmt: skip
def test_a_broken_manifest_means_that_all_is_made_again(text):
    built()
    before = state()
    (Path(FOLDER) / "manifest.json").write_text(text)
    assert "up to date" in built().stderr
    after = state()
    assert all(after[Path(p)] == before[Path(p)] for p in MADE)
    assert json.loads((Path(FOLDER) / "manifest.json").read_text())["format"] == 1


def test_the_manifest_is_ignored_by_git():
    built()
    assert (Path(FOLDER) / ".gitignore").read_text() == "*\n"


# -- files that somebody edited ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("then", [lambda: None, change], ids=["layout kept", "layout changed"])
def test_a_file_edited_by_hand_is_kept(then):
    built()
    path = Path("generated/cpp/turned.hpp")
    path.write_text(path.read_text() + "// mine\n")
    then()
    for arguments in ([], [], ["--check"], ["--diff"]):
        result = run(*arguments)
        assert result.exit_code == 1
        assert "generated/cpp/turned.hpp was edited by hand" in result.stderr
        assert "`lego-emit build --force`" in result.stderr
        assert "up to date" not in result.stderr
        assert path.read_text().endswith("// mine\n")
    built("--force")
    assert "// mine" not in path.read_text()
    assert run("--check").exit_code == 0


def test_an_edit_that_is_undone_or_made_right():
    built()
    path = Path("generated/cpp/turned.hpp")
    old = path.read_text()
    path.write_text("edited")
    assert run().exit_code == 1
    path.write_text(old)
    built()


@pytest.mark.slow
def test_a_file_that_is_not_ours_is_kept():
    Path("generated/cpp").mkdir(parents=True)
    Path("generated/cpp/tile.hpp").write_bytes(b"// by hand\xff\n")
    result = run("--diff")
    assert result.exit_code == 1 and "-// by hand\N{REPLACEMENT CHARACTER}" in result.stdout
    result = run()
    assert result.exit_code == 1
    assert "generated/cpp/tile.hpp was not written by lego-emit" in result.stderr
    assert Path("generated/cpp/tile.hpp").read_bytes() == b"// by hand\xff\n"
    assert files() == MADE
    built("--force")
    assert run("--check").exit_code == 0


@pytest.mark.slow
def test_an_interrupted_build(monkeypatch):
    """It ends after the first file: the next one goes on, and takes nothing for an edit."""
    built()
    change()
    import lego_emit.files as writing

    real, calls = writing.write_if_changed, []

    def interrupted(path, text):
        calls.append(path)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return real(path, text)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(writing, "write_if_changed", interrupted)
        build(load(Path("lego-emit.toml")))
    assert len(calls) == 2 and run("--check").exit_code == 1
    change("Row(6, 4)", "RegP([6, 4], [1, 0])")
    change("import Col", "import RegP, Col")
    built()
    assert run("--check").exit_code == 0 and files() == MADE


def everything():
    """Every file's bytes, the manifest's too."""
    return {p.as_posix(): p.read_bytes() for p in Path().rglob("*") if p.is_file()}


KILLED_AT = """
import os, signal, sys
import lego_emit.project.build
from lego_emit import Row, generate
from lego_emit.cli import main

for language in ("cpp", "rust"):  # what is imported and read for it, once for all children
    generate(Row(6, 4), language)

def count(event, arguments):
    global left
    changes = event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod")
    if changes or event == "open" and arguments[2] & os.O_CREAT:
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        left = int(line)
        sys.addaudithook(count)
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def whole(states):
    """No file but a temporary one is other than in one of these states of the folder."""
    for path, content in everything().items():
        if path.endswith(MANIFEST):
            json.loads(content)
        elif not path.endswith(".lego-emit"):
            assert any(state.get(path) == content for state in states), path


def put(state):
    """Make the folder be so."""
    for name in ("generated", FOLDER):
        shutil.rmtree(name, ignore_errors=True)
    for path, content in state.items():
        Path(path).parent.mkdir(exist_ok=True, parents=True)
        Path(path).write_bytes(content)


@pytest.mark.deep
def test_killed_at_each_change_of_a_file():
    """A first build, one after a change and one with a layout less: nothing is half-written or
    taken for somebody's edit, and nothing is left over after the next build."""
    options = ["--depfile", "generated/d.mk"]
    own = [{"layouts.py": LAYOUTS.encode(), "lego-emit.toml": CONFIG.encode()}]
    own.append({**own[0], "layouts.py": LAYOUTS.replace("Col(6", "Row(6").encode()})
    own.append({**own[1], "lego-emit.toml": CONFIG.replace(', "layouts.py:turned"', "").encode()})
    states = []
    for files in own:
        put({**(states[-1] if states else {}), **files})
        built(*options)
        states.append(everything())
    moments = 0
    command = [sys.executable, "-B", "-c", KILLED_AT, "build", *options]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True) as killed:
        for before, after in ((own[0], 0), (states[0], 1), (states[1], 2)):
            for moment in itertools.count():
                put({**before, **own[after]})
                print(moment, file=killed.stdin, flush=True)
                code = int(killed.stdout.readline())
                if code == 0:
                    break
                assert code == -signal.SIGKILL
                whole([before, states[after]])
                built(*options)
                assert everything() == states[after], moment
            moments += moment
    assert moments > 40


@pytest.mark.deep
def test_killed_at_random_moments():
    """Its own process only: the others end by themselves. LEGO_KILLS=50 kills at 50 moments."""
    command = [sys.executable, "-c", "from lego_emit.cli import main; main()", "build", "-j2"]
    big(2)
    own = everything()
    states, took = [], []
    for column in ("[1, 0]", "[0, 1]"):
        own["layouts.py"] = own["layouts.py"].replace(b"[1, 0]", column.encode())
        put(own)
        start = time.monotonic()
        subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
        took.append(time.monotonic() - start)
        states.append(everything())
    draw = random.Random(1)
    for k in range(int(os.environ.get("LEGO_KILLS", 4))):
        before, after = states[k % 2], states[(k + 1) % 2]
        put({**before, "layouts.py": after["layouts.py"]})
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.1, 1.1) * min(took))
        child.kill()
        child.wait()
        whole(states)
        done = process()
        assert done.returncode == 0, done.stderr
        assert everything() == after


# -- two at once ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_build_waits(folder):
    command = [sys.executable, "-c", "from lego_emit.cli import main; main()", "build"]
    with locked(folder / FOLDER, lambda: pytest.fail("nobody else")):
        child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert "waiting for another build" in child.stderr.readline()
        assert files() == []
    assert child.wait() == 0
    assert "wrote 4 files" in child.stderr.read()


@pytest.mark.deep
def test_many_builds_at_once():
    big(10)
    command = [sys.executable, "-c", "from lego_emit.cli import main; main()", "build"]
    children = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [child.communicate()[1] for child in children]
    assert [child.returncode for child in children] == [0] * 4, said
    assert sum(f"wrote {10 * (len(TARGETS) + 1)} files" in x for x in said) == 1


# -- kernels -------------------------------------------------------------------------------------

KERNEL = """{% names i, j %}
{% include 'part.cuh' %}
s[{{ S[i, j] }}];
"""


def kernels(more=""):
    Path("layouts.py").write_text(
        "from lego_emit import Col, GroupBy\nS = GroupBy([4, 8]).OrderBy(Col(4, 8))\n"
    )
    Path("k.cu.j2").write_text(KERNEL)
    Path("part.cuh").write_text("// part\n")
    config(f'[[kernels]]\ntemplate = "k.cu.j2"\nlayouts = "layouts.py"\ntarget = "cuda"\n{more}')


def test_kernels_are_built_and_stale_by_content(folder):
    kernels()
    made = Path("generated/k.cu")
    assert "wrote 1 file" in built().stderr and made.read_text() == "// part\ns[4 * j + i];\n"
    assert "up to date" in built().stderr
    for changed, text in (
        ("part.cuh", "// other\n"),
        ("k.cu.j2", KERNEL + "// end\n"),
        (
            "layouts.py",
            "from lego_emit import Row, GroupBy\nS = GroupBy([4, 8]).OrderBy(Row(4, 8))\n",
        ),
    ):
        Path(changed).write_text(text)
        assert "wrote 1 file" in built().stderr, changed
    assert made.read_text() == "// other\ns[8 * i + j];\n// end\n"
    (rule,) = [x for x in depfile(load(Path("lego-emit.toml"))).splitlines() if "k.cu:" in x]
    assert {"part.cuh", "k.cu.j2", "layouts.py"} <= {*rule.split()}


@pytest.mark.parametrize("first", ["", "// Code generated by lego-emit from k.cu.j2\n"])
def test_a_kernel_in_a_fresh_clone(folder, first):
    """Its text does not say who wrote it, unless its template's first line does."""
    kernels()
    change("import Col", "import Row, Col")
    Path("k.cu.j2").write_text(first + KERNEL)
    built()
    made = Path("generated/k.cu")
    old = made.read_text()
    shutil.rmtree(".lego-emit")
    assert run("--check").exit_code == 0
    change("Col(4, 8)", "Row(4, 8)")
    if first:
        assert "k.cu is out of date\n" in run("--check").stderr
        assert "wrote 1 file" in built().stderr
        return
    for arguments in ([], ["--check"]):
        done = run(*arguments)
        assert done.exit_code == 1 and made.read_text() == old
        assert (
            "k.cu is not what k.cu.j2 gives, and nothing shows whether it was edited" in done.stderr
        )
        assert "run `lego-emit build --force`" in done.stderr
        assert "first line has" in done.stderr and "edited files" not in done.stderr
    built("--force")
    made.write_text("edited\n")
    assert "k.cu was edited by hand" in run().stderr


def test_a_kernel_takes_numbers_and_texts(folder):
    kernels('given = { T = 3, kind = "star" }')
    Path("k.cu.j2").write_text("{{ kind }}[{{ S[T, 1] }}] {{ T + 1 }}\n")
    built()
    assert Path("generated/k.cu").read_text() == "star[7] 4\n"
    kernels('given = { T = 2, kind = "star" }')
    Path("k.cu.j2").write_text("{{ kind }}[{{ S[T, 1] }}] {{ T + 1 }}\n")
    assert "wrote 1 file" in built().stderr
    assert Path("generated/k.cu").read_text() == "star[6] 3\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("given = { T = 1.5 }", "give integers and texts by name"),
        ('given = { "a b" = 1 }', "'a b' is no name"),
        ("given = { S = 1 }", "S is given, and"),
        ('names = "p"', "k.cu.j2, line 3"),
        ("namse = 3", "kernel 1: no key 'namse'.*Did you mean 'names'"),
        ('output = "k.cu.j2"', "k.cu.j2 is an input"),
        ('output = "../k.cu"', "lies outside of"),
        ('index-type = "int23"', "Did you mean 'int"),
    ],
)
def test_what_is_wrong_with_a_kernel(folder, more, said):
    kernels(more)
    if "names" in more and "p" in more:
        Path("k.cu.j2").write_text("\n\ns[{{ S[i, 0] }}]")
    done = CliRunner().invoke(main, ["build"])
    assert done.exit_code == 2 and re.search(said, done.output.replace("\n", " ")), done.output
    assert not Path("generated/k.cu").exists()


# -- depfile -------------------------------------------------------------------------------------

ODD = "a $b #c: d"  # in file names; Make and Ninja take all of them escaped


@pytest.mark.slow
def test_depfile_is_understood_by_make(folder, need):
    make = need("make", "apt-get install make")
    Path(ODD).mkdir()
    Path(ODD, "helper.py").write_text("N = 6\n")
    Path(ODD, "my $layouts.py").write_text("import helper\ndef f(i):\n    return i + helper.N\n")
    config(
        f'targets = ["cpp"]\noutput = "out $#/{{name}} x.{{ext}}"\n'
        f'layouts = ["{ODD}/my $layouts.py:f"]'
    )
    python = f"{sys.executable} -c 'from lego_emit.cli import main; main()'"
    escaped = "out\\ $$\\#/f\\ x.hpp"
    Path("Makefile").write_text(f"{escaped}:\n\t@{python} build --depfile d.mk\n-include d.mk\n")

    def make_says():
        done = subprocess.run([make], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    assert "wrote 1 file" in make_says()
    assert Path("out $#/f x.hpp").is_file()
    assert "up to date" in make_says() and "lego-emit" not in make_says()
    Path(ODD, "helper.py").write_text("N = 7\n")
    later = time.time() + 5
    os.utime(Path(ODD, "helper.py"), (later, later))
    assert "wrote 1 file" in make_says()


@pytest.mark.slow
def test_depfile_is_understood_by_ninja(need):
    ninja = need("ninja", "apt-get install ninja-build")
    Path(ODD).mkdir()
    Path(ODD, "helper.py").write_text("N = 6\n")
    Path(ODD, "my layouts.py").write_text("import helper\ndef f(i):\n    return i + helper.N\n")
    config(
        f'targets = ["cpp", "javascript"]\noutput = "out $#/{{name}} x.{{ext}}"\n'
        f'layouts = ["{ODD}/my layouts.py:f"]'
    )
    python = f"{sys.executable} -c 'from lego_emit.cli import main; main()'"
    outputs = built("--list-outputs").stdout.splitlines()
    escaped = " ".join(re.sub(r"([$ :])", r"$\1", path) for path in outputs)
    Path("build.ninja").write_text(
        f"rule lego\n  command = {python} build --depfile d\n  depfile = d\n  restat = 1\n"
        f"build {escaped}: lego\n"
    )

    def ninja_says():
        done = subprocess.run([ninja, "-d", "explain"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    ninja_says()
    assert all(Path(path).is_file() for path in outputs)
    assert "no work to do" in ninja_says()
    Path(ODD, "helper.py").write_text("N = 7\n")
    later = time.time() + 5
    os.utime(Path(ODD, "helper.py"), (later, later))
    assert "wrote 2 files" in ninja_says()  # the declarations are the same


def test_depfile_for_one_name_and_where_nothing_is_stale():
    built()
    built("--depfile", "new/d", "--depfile-target", "my stamp")
    first, *rest = Path("new/d").read_text().splitlines()
    assert first.startswith("my\\ stamp: lego-emit.toml layouts.py ")
    assert rest[:2] == ["lego-emit.toml:", "layouts.py:"]


# -- what may not be meant -----------------------------------------------------------------------


@pytest.mark.slow
def test_free_names_are_told_when_their_layout_is_made(folder):
    line = "warning: layouts.py: tile: nobody defined pid_m, pid_n"
    done = process("--jobs", "1")
    assert done.returncode == 0 and done.stderr.count("warning: ") == 1
    assert done.stderr.startswith(line) and files() == MADE
    assert "warning" not in process().stderr
    change("def tile(M, N, BM, BN)", "def tile(M, N, BM, BN, pid_m, pid_n)")
    done = process()
    assert (done.returncode, done.stderr) == (0, "wrote 2 files\n")


def test_strict_refuses_free_names(folder):
    config("strict = true\n" + CONFIG)
    result = run()
    assert result.exit_code == 2 and "tile: nobody defined pid_m, pid_n" in result.stderr
    assert files() == []
    change("def tile(M, N, BM, BN)", "def tile(M, N, BM, BN, pid_m, pid_n)")
    built()


# -- copies --------------------------------------------------------------------------------------

COPIES = """
from lego_emit import Col, GroupBy, RegP, Row, TileBy, symbols

M, N = symbols("M N")
rows, columns = Row(M, N), Col(M, N)
tiles = Row(4, 6, 8, 8)
matrix = Row(32, 48)


def blocks(H, W):
    return GroupBy([8 * H, 8 * W]).OrderBy(RegP([H, 8, W, 8], [0, 2, 1, 3]))
"""
COPIED = """
targets = ["c", "rust"]

[[copies]]
from = "layouts.py:rows"
to = "layouts.py:columns"
element = "uint8"

[[copies]]
to = "layouts.py:tiles"
of = [32, 48]
name = "to_tiles"
targets = ["c"]
"""


@pytest.fixture
def copied(folder):
    """A project with copies."""
    (folder / "layouts.py").write_text(COPIES)
    config(COPIED)
    namespace = {}
    exec(COPIES, namespace)
    return namespace


@pytest.mark.slow
def test_each_copy_is_a_file(copied):
    built()
    assert files() == [
        "generated/c/rows_to_columns.h",
        "generated/c/to_tiles.h",
        "generated/rust/rows_to_columns.rs",
    ]
    unit = lego_emit.copy(
        copied["rows"], copied["columns"], "c", name="rows_to_columns", element="uint8"
    )
    assert text_of("generated/c/rows_to_columns.h") == unit.source
    packed = lego_emit.pack(copied["tiles"], "c", of=(32, 48), name="to_tiles")
    assert text_of("generated/c/to_tiles.h") == packed.source
    assert (
        "\n// Source: layouts.py:rows, columns\n"
        in Path("generated/c/rows_to_columns.h").read_text()
    )


@pytest.mark.slow
def test_a_copy_is_stale_by_content(copied):
    built("--depfile", "out.d")
    assert "3 files up to date" in built().stderr
    assert re.search(r"to_tiles\.h: .*layouts\.py", Path("out.d").read_text())
    assert run("--list-outputs").stdout.split() == [
        "generated/c/rows_to_columns.h", "generated/rust/rows_to_columns.rs", "generated/c/to_tiles.h",
    ]  # fmt: skip
    config(COPIED.replace("of = [32, 48]", 'of = [32, 48]\nelement = "uint16"'))
    check = run("--diff")
    assert check.exit_code == 1 and "+static inline void to_tiles(const uint16_t" in check.stdout
    assert "rows_to_columns" not in check.stderr
    built()
    change("Col(M, N)", "Row(M, N)")
    check = run("--check")
    assert check.exit_code == 1 and check.stderr.count("is out of date") == 2
    built()
    config("targets = ['c']\n[[copies]]\nto = 'layouts.py:tiles'\n")
    built()
    assert files() == ["generated/c/pack_tiles.h", "out.d"]


FILE_OF_COPIES = """
[[files]]
name = "tiles"
layouts = ["layouts.py:blocks", {source = "layouts.py:tiles", pack = true, unpack = true, of = [32, 48]}]
copies = [
  {from = "layouts.py:rows", to = "layouts.py:columns"},
  {from = "layouts.py:columns", to = "layouts.py:rows", name = "back", element = 2},
]
sizes = { W = 4 }
assume = ["H < 64", "M < 2**20"]
targets = ["c", "cpp", "rust", "fortran", "julia", "javascript", "numpy"]
"""


@pytest.mark.slow
def test_functions_and_copies_in_one_file(copied, need, tmp_path):
    """Helpers are there once, and strict compilers take the file."""
    config(FILE_OF_COPIES)
    built()
    text = Path("generated/c/tiles.h").read_text()
    assert text.count("u8x16 tiles_4_load(") == text.count("u8x16 tiles_2_load(") == 1
    assert text.count("#define TILES_LARGE") == text.count("#define TILES_VECTORS") == 1
    for name in (
        "blocks_apply",
        "tiles_apply",
        "tiles_pack",
        "tiles_unpack",
        "rows_to_columns",
        "back",
    ):
        assert f" {name}(" in text
    assert "@param H 1 <= H < 64\n" in text and "@pre M < 2^20\n" in text
    gcc, gxx = need("gcc", "apt-get install gcc"), need("g++", "apt-get install g++")
    Path("main.c").write_text('#include "generated/c/tiles.h"\nint main(void) { return 0; }\n')
    Path("main.cpp").write_text('#include "generated/cpp/tiles.hpp"\nint main() { return 0; }\n')
    strict = [
        "-O1",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Wsign-conversion",
        "-Werror",
    ]
    subprocess.run([gcc, "-std=c99", *strict, "main.c", "-o", "main"], check=True)
    subprocess.run([gxx, "-std=c++20", *strict, "main.cpp", "-o", "main"], check=True)
    rustc = need("rustc", "apt-get install rustc")
    Path("main.rs").write_text("pub mod tiles;\n")
    shutil.copy("generated/rust/tiles.rs", "tiles.rs")
    subprocess.run([rustc, "--crate-type=lib", "-D", "warnings", "main.rs"], check=True)
    gfortran = need("gfortran", "apt-get install gfortran")
    command = [
        gfortran,
        "-std=f2018",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-c",
        "generated/fortran/tiles.f90",
    ]
    subprocess.run(command, check=True)


def test_a_size_is_what_a_function_makes_a_layout_of(copied):
    config(
        'targets = ["c"]\nsizes = { H = 2, W = 3 }\n[[copies]]\nto = "layouts.py:blocks"\n'
        '[[layouts]]\nsource = "layouts.py:blocks"\npack = true\n[[files]]\nname = "both"\n'
        'copies = [{ to = "layouts.py:blocks" }, { from = "layouts.py:blocks" }]\n'
    )
    built()
    assert files() == ["generated/c/blocks.h", "generated/c/both.h", "generated/c/pack_blocks.h"]
    for path in files():
        assert "384 elements" in Path(path).read_text()


def test_a_size_of_a_matrix_is_what_a_function_makes_a_layout_of(copied):
    config(
        'targets = ["c"]\nsizes = { H = 2, W = 3 }\n[[copies]]\nto = "layouts.py:blocks"\n'
        'of = ["H * 8", "8 * W"]\n'
    )
    built()
    assert "384 elements" in Path("generated/c/pack_blocks.h").read_text()


def test_names_of_copies_are_checked_before_anything_is_emitted(copied):
    config('layouts = ["layouts.py:tiles"]\n' + COPIED.replace("to_tiles", "memcpy"))
    Path("layouts.py").write_text("raise SystemExit\n")
    said = run().output
    assert "copy 2 (layouts.py:tiles), c: name is 'memcpy', no name for a function in C" in said


def test_a_layout_is_packed_in_its_own_file(copied):
    config(
        'targets = ["c", "rust"]\n[[layouts]]\nsource = "layouts.py:tiles"\npack = true\nof = [32, 48]\n'
        'element = "uint16"\nzero = false'
    )
    built()
    text = Path("generated/c/tiles.h").read_text()
    assert "tiles_apply(" in text and "void tiles_pack(const uint16_t *restrict src" in text
    text = Path("generated/rust/tiles.rs").read_text()
    assert "pub fn pack<T: Copy>" in text and "pub const fn apply(" in text


# -- bad input -----------------------------------------------------------------------------------

LAYOUT = 'layouts = ["layouts.py:turned"]\n'
FILES = 'targets = ["cpp"]\n[[files]]\nname = "x"\nlayouts = '
ONE = 'targets = ["cpp"]\n' + LAYOUT
COPY = 'targets = ["cpp"]\n[[copies]]\n'
TURNED = 'to = "layouts.py:turned"\n'
ENDS = TURNED + 'from = "layouts.py:turned"\n'
BAD = [
    ("target = ['cpp']\n" + LAYOUT, ["no key 'target'", "Did you mean 'targets'?"]),
    (ONE + 'index_type = "int32"', ["no key 'index_type'", "Did you mean 'index-type'?"]),
    (
        'targets = ["cpp"]\n[[layouts]]\nsource = "layouts.py:turned"\nasume = []',
        ["layout 1", "Did you mean 'assume'?"],
    ),
    ("x = ", ["no TOML", "Invalid value"]),
    ('targets = ["cpp"]', ["no layouts"]),
    ("layouts = 3", ["layouts is 3", "give a list"]),
    ('layouts = ["layouts.py"]', ["source is 'layouts.py'", "FILE.py:NAME"]),
    (LAYOUT, ["layout 1 (layouts.py:turned)", "no targets"]),
    ('targets = ["cpp"]\n[[layouts]]\nname = "x"', ["layout 1", "no source"]),
    ('targets = ["cp"]\n' + LAYOUT, ["no target 'cp'", "Did you mean 'cpp'?"]),
    ('targets = "cpp"\n' + LAYOUT, ["targets is 'cpp'", "give a list"]),
    (ONE + "sizes = { BM = '32' }", ["sizes is", "{ BM = 32 }"]),
    (ONE + "base = 2", ["base is 2", "0, 1"]),
    (ONE + 'base = "g=1"', ["base is 'g=1'", "give 0, 1, or", "base = { g = 1, local = 1 }"]),
    (ONE + 'base = "1"', ["base is '1'", "give 0, 1, or"]),
    (ONE + "base = { g = 2 }", ["base is {'g': 2}", "give one of 0, 1"]),
    (ONE + "base = true", ["base is True"]),
    (ONE + 'index-type = "i64"', ["index-type is 'i64'", "Did you mean 'int64'?"]),
    (ONE + "strict = 1", ["strict is 1", "true or false"]),
    (ONE + 'cost = "op"', ["cost is 'op'", "Did you mean 'ops'?"]),
    (ONE + 'assume = "M < 3"', ["assume is 'M < 3'", "give a list"]),
    (ONE + 'output = "{nmae}.h"', ["{nmae}", "Did you mean 'name'?"]),
    (ONE + 'output = "{name.h"', ["output is '{name.h'"]),
    (ONE + 'output = "{name}\\n"', ["control characters"]),
    (ONE + 'output = "../{name}.h"', ["../turned.h lies outside", "--allow-outside"]),
    (ONE + 'output = "/tmp/{name}.h"', ["lies outside", "--allow-outside"]),
    (ONE + 'output = "layouts.py"', ["layouts.py is an input"]),
    (ONE + 'output = "lego-emit.toml"', ["lego-emit.toml is an input"]),
    ('targets = ["cpp", "rust"]\noutput = "x"\n' + LAYOUT, ["cpp and", "rust both write x"]),
    (
        'targets = ["cpp"]\nlayouts = ["layouts.py:turned", "./layouts.py:turned"]',
        ["layout 1", "layout 2", "both write generated/cpp/turned.hpp"],
    ),
    (
        'targets = ["rust"]\nlayouts = [{ source = "layouts.py:turned", name = "tile_a" }, '
        '{ source = "layouts.py:turned", name = "tile_A" }]',
        ["write generated/rust/tile_a.rs and generated/rust/tile_A.rs", "one file where case is"],
    ),
    (ONE + 'output = "Layouts.py"', ["Layouts.py is an input"]),
    (
        'targets = ["julia"]\noutput = "{name}_{target}.{ext}"\nlayouts = [{ source = '
        '"layouts.py:turned", name = "tile2" }, { source = "layouts.py:turned", name = "tile_2" }]',
        ["layout 1", "layout 2", "tile2 and tile_2 would both be the module Tile2"],
    ),
    (
        'targets = ["cpp"]\nlayouts = [{ source = "layouts.py:turned", name = "a__b" }, '
        '{ source = "layouts.py:turned", name = "a_b" }]',
        ["a__b and a_b would both be the include guard LEGO_A_B_HPP"],
    ),
    (ONE + 'names = "camel"', ["names is 'camel'", "Did you mean 'camelCase'?"]),
    (ONE + "prefix = 3", ["prefix is 3", '"acme_"']),
    (ONE + 'prefix = "_a"', ["layout 1 (layouts.py:turned), cpp: prefix is '_a'"]),
    (ONE + 'namespace = "a:b"', ["layout 1 (layouts.py:turned), cpp: namespace is 'a:b'"]),
    (ONE + 'index-type = ["auto", "i32"]', ["index-type is ['auto', 'i32']", "give one of auto"]),
    (
        'targets = ["fortran"]\nnamespace = "tiles"\n'
        'layouts = ["layouts.py:turned", "layouts.py:tile"]',
        ["turned and tile would both be the module tiles", "in [[files]]"],
    ),
    ('targets = ["cpp"]\nfiles = 3', ["files is 3", "[[files]]"]),
    ('targets = ["cpp"]\ncopies = 3', ["copies is 3", "[[copies]]"]),
    (COPY, ["copy 1: no from and no to"]),
    (COPY + 'form = "layouts.py:turned"', ["copy 1: no key 'form'", "Did you mean 'from'?"]),
    ("view = true\n" + COPY + TURNED, ["lego-emit.toml: view is of index functions, and there are copies alone"]),
    ('names = "camelCase"\n' + COPY + TURNED, ["names is of index functions"]),
    ("checks = true\n" + FILES + '[]\ncopies = [{to = "layouts.py:turned"}]', ["checks is of index functions"]),
    (COPY + ENDS + "of = [6, 4]", ["copy 1: of is where rows are packed or unpacked"]),
    (COPY + TURNED + "element = 0", ["copy 1: element is 0", '"uint8"']),
    (COPY + TURNED + 'element = "int7"', ["copy 1 (layouts.py:turned), cpp: element is 'int7'"]),
    (COPY + TURNED + "value = 3", ["copy 1: value is 3", '"v ^ 0x88"']),
    (COPY + TURNED + 'value = "other.py:f"', ["copy 1: layouts of layouts.py and of other.py"]),
    (COPY + TURNED + 'value = "v ^"', ["copy 1 (layouts.py:turned), cpp: ", "no expression"]),
    (COPY + TURNED + "of = 3", ["copy 1: of is 3", '[32, "N"]']),
    (COPY + TURNED + 'of = ["8 x", 3]', [", cpp: of '8 x, 3': no expression"]),
    (COPY + TURNED + "of = [3, 8]", ["of= has 3 on axis 0"]),
    (COPY + TURNED + "zero = 1", ["copy 1: zero is 1", "true or false"]),
    (COPY + TURNED + 'index-type = "int32"', ["copy 1: no key 'index-type'"]),
    (COPY + TURNED + 'assume = ["Q < 3"]', ["the assumption 'Q < 3' names Q"]),
    (COPY + TURNED + "sizes = { Q = 3 }", ["sizes fixes Q"]),
    (COPY + TURNED + 'targets = ["mlir"]', ["copy 1 (layouts.py:turned), mlir: MLIR has no copies"]),
    (COPY + TURNED + 'from = "other.py:x"', ["copy 1: layouts of other.py and of layouts.py"]),
    (COPY + 'to = "layouts.py:tile"', ["copy 1 (layouts.py:tile), cpp: layouts.py, line", "NameError"]),
    (COPY + 'to = "layouts.py:turn"', ["Did you mean 'turned'?"]),
    (ONE[:-1] + '\n[[layouts]]', ["no TOML"]),
    ('targets = ["cpp"]\n[[layouts]]\nsource = "layouts.py:turned"\nzero = true', ["give pack = true"]),
    (FILES + '[]\ncopies = [{to = "layouts.py:turned"}, {to = "layouts.py:turned"}]',
     ["file 1 (x), cpp: x would have two functions pack_turned"]),
    (FILES + '[]\ncopies = [{to = "layouts.py:turned"}, {element = 2}]',
     ["file 1 (x), copy 2: no from and no to"]),
    (FILES + '[]\ncopies = [{to = "layouts.py:turned", targets = ["c"]}]',
     ["file 1 (x), copy 1: targets holds for the whole file; give it in [[files]]"]),
    (FILES + '[]\ncopies = [{to = "layouts.py:turned"}, {from = "layouts.py:turned"}]\nassume = ["Q < 3"]',
     ["no copy has what 'Q < 3' is of"]),
    ('targets = ["cpp"]\n[[files]]\nlayouts = ["layouts.py:tile"]', ["file 1: no name"]),
    ('targets = ["cpp"]\n[[files]]\nname = "x"', ["file 1 (x): no layouts"]),
    ('targets = ["cpp"]\n[[files]]\nname = "x"\nlayouts = []', ["file 1 (x): no layouts"]),
    ('[[files]]\nname = "x"\nlayouts = ["layouts.py:tile"]', ["file 1 (x): no targets"]),
    (FILES + '["layouts.py:tile", {name = "x"}]', ["file 1 (x), layout 2: no source"]),
    (FILES + '[{source = "layouts.py:tile", sizes = {}}]', ["file 1 (x), layout 1: sizes holds for the whole file; give it in [[files]]"]),
    (FILES + '[{source = "layouts.py:tile", size = {}}]', ["file 1 (x), layout 1: no key 'size'"]),
    (FILES + '["layouts.py:tile", "more.py:tiled"]', ["layouts of layouts.py and of more.py"]),
    (FILES + '["layouts.py:tile", "layouts.py:tile"]', ["tile and tile are both called tile"]),
    (
        FILES + '["layouts.py:tile", { source = "layouts.py:turned", name = "tile" }]',
        ["file 1 (x): tile and turned are both called tile"],
    ),
    (FILES + '["layouts.py:tuned"]', ["file 1 (x), cpp", "Did you mean 'turned'?"]),
    (ONE + 'output = "full"', ["full is a folder"]),
    (ONE + 'output = "layouts.py/{name}"', ["layouts.py/turned", "Not a directory"]),
    ('targets = ["cpp"]\nlayouts = ["no.py:x"]', ["layout 1 (no.py:x), cpp: no.py: no such file"]),
    ('targets = ["cpp"]\nlayouts = ["layouts.py:tuned"]', ["Did you mean 'turned'?"]),
    (ONE + "sizes = { M = nan }", ["sizes is", "nan"]),
    (ONE + "sizes = { M = inf }", ["sizes is", "inf"]),
    (ONE + "sizes = { M = 1979-05-27 }", ["sizes is"]),
    (ONE + "sizes = { M = [4] }", ["sizes is", "[4]"]),
    (ONE + "base = nan", ["base is nan", "0, 1"]),
    (ONE + "assume = [nan]", ["assume is [nan]"]),
    (ONE + "assume = [['M < 3']]", ["assume is [['M < 3']]"]),
    (ONE + "assume = ['M < nan']", ["nan"]),
    (ONE + 'prefix = "a\\u202eb"', [r"prefix is 'a\u202eb'"]),
    (ONE + 'prefix = "*/"', ["prefix is '*/'"]),
    (ONE + 'namespace = "a\\nb"', [r"namespace is 'a\nb'"]),
    (ONE + 'namespace = "a\\\\"', [r"namespace is 'a\\'"]),
    ('targets = ["cpp"]\nlayouts = [{ source = "layouts.py:turned", name = "a\\nb" }]', [r"a\nb"]),
    ('targets = ["cpp"]\nlayouts = [{ source = "layouts.py:turned", name = "??/" }]', ["??/"]),
    ('targets = ["cpp"]\nlayouts = [{ source = "layouts.py:turned", name = 3 }]', ["name is 3"]),
    ('targets = ["cpp"]\nlayouts = [["layouts.py:turned"]]', ["layouts is [["]),
    ('targets = ["cpp"]\nlayouts = [nan]', ["layouts is [nan]"]),
    ("targets = [nan]\n" + LAYOUT, ["targets is [nan]"]),
    ('targets = []\n' + LAYOUT, ["no targets"]),
    ('targets = ["cpp"]\nlayouts = [""]', ["source is ''"]),
    (ONE + 'output = ""', ["output is ''"]),
    (ONE + 'output = "a\\u0000b"', ["control characters"]),
    (ONE + "targets = ['rust']", ["no TOML", "overwrite"]),
    ("\ufeff" + ONE + "\x01", ["no TOML"]),
    ('targets = ["cpp"]\nlayouts = ["layouts.py:tile"]\nassume = ["Q < 3"]', ["Q", "layout 1"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), rest_slow(BAD, 20), ids=[b[1][0] for b in BAD])
def test_bad_configurations(text, says):
    Path("full").mkdir()
    config(text)
    for arguments in ([], ["--check"]):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.output.startswith(("Error: lego-emit.toml", "Error: layouts.py/turned"))
        for part in says:
            assert part in result.output
        assert files() == []


def test_no_configuration():
    Path("lego-emit.toml").unlink()
    result = run()
    assert result.exit_code == 2 and "no lego-emit.toml" in result.output
    result = run("--config", "x.toml")
    assert result.exit_code == 2 and "x.toml: no such file" in result.output


def test_two_layouts_that_fail_are_two_messages_and_nothing_is_written():
    config('targets = ["cpp"]\nlayouts = ["layouts.py:turned", "layouts.py:a", "x.py:b"]')
    result = run()
    assert result.exit_code == 2
    assert "(layouts.py:a)" in result.output and "(x.py:b)" in result.output
    assert files() == []


def test_outside_is_allowed_with_the_flag(folder):
    (folder / "in").mkdir()
    Path("in/lego-emit.toml").write_text(
        'targets = ["cpp"]\noutput = "../out/{name}.{ext}"\nlayouts = ["../layouts.py:turned"]'
    )
    result = run("--config", "in/lego-emit.toml")
    assert result.exit_code == 2 and "--allow-outside" in result.output
    arguments = ["--config", "in/lego-emit.toml", "--allow-outside"]
    built(*arguments)
    assert Path("out/turned.hpp").is_file()
    change()
    result = run("--check", *arguments)
    assert "`lego-emit build --config in/lego-emit.toml --allow-outside` to fix" in result.output
    built("--clean", *arguments)
    assert not Path("out/turned.hpp").exists()


def test_a_symbolic_link_as_output(folder):
    Path("precious").write_text("precious")
    Path("generated/cpp").mkdir(parents=True)
    Path("generated/cpp/tile.hpp").symlink_to(folder / "precious")
    result = run("--force")
    assert result.exit_code == 2
    assert "generated/cpp/tile.hpp is a symbolic link to" in result.output
    assert Path("precious").read_text() == "precious"


def test_a_symbolic_link_to_a_folder_outside(folder, tmp_path_factory):
    Path("generated").symlink_to(tmp_path_factory.mktemp("outside"))
    result = run()
    assert result.exit_code == 2 and "lies outside of" in result.output


@pytest.fixture
def unprivileged(need):
    """Runs the build as somebody to whom read-only is read-only: root may write everywhere."""
    prefix = []
    if os.geteuid() == 0:
        setpriv = need("setpriv", "apt-get install util-linux")
        prefix = [setpriv, "--bounding-set=-dac_override,-dac_read_search"]
    command = [*prefix, sys.executable, "-c", "from lego_emit.cli import main; main()", "build"]
    return lambda *arguments: subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_read_only_folder(folder, unprivileged):
    folder.chmod(0o555)
    done = unprivileged("--check")
    assert done.returncode == 1 and "is missing" in done.stderr
    done = unprivileged()
    folder.chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert "Permission denied" in done.stderr and "--out-dir" in done.stderr


@pytest.mark.slow
def test_a_read_only_output_folder(unprivileged):
    """Nothing is written, then, and the next build finds all as it was."""
    Path("generated/rust").mkdir(parents=True, mode=0o555)
    done = unprivileged()
    assert done.returncode == 2 and "cannot write generated/rust/t" in done.stderr, done.stderr
    assert files() == []
    Path("generated/rust").chmod(0o755)
    assert unprivileged().returncode == 0


def test_two_projects_in_one_folder():
    Path("other.toml").write_text(ONE)
    built("--out-dir", "out")
    result = run("--config", "other.toml", "--out-dir", "out")
    assert result.exit_code == 2
    assert "out belongs to the build of out/../lego-emit.toml" in result.output
    assert "--out-dir" in result.output


def test_one_project_by_two_names(folder):
    Path("link").symlink_to(folder)
    built("--out-dir", "out")
    assert "up to date" in built("--config", "link/lego-emit.toml", "--out-dir", "link/out").stderr


def test_one_thing_at_a_time():
    result = run("--check", "--clean")
    assert result.exit_code == 2 and "--clean" in result.output


def test_files_that_are_not_utf_8(folder):
    Path("lego-emit.toml").write_bytes(b"# \n# \xff\n" + CONFIG.encode())
    result = run()
    assert result.exit_code == 2 and "lego-emit.toml, line 2: not UTF-8" in result.output
    config(CONFIG)
    Path("layouts.py").write_bytes(b"x = '\xff'\n")
    result = run()
    assert result.exit_code == 2 and "layouts.py" in result.output and "utf-8" in result.output
    assert files() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [b"a b", b"$HOME", b"\xff\xfe", "é#ü".encode(), b"-x", b"a'b"])
def test_odd_paths(folder, name):
    place = Path(os.fsdecode(os.path.join(os.fsencode(folder), name)))
    place.mkdir()
    (place / "lego-emit.toml").write_text(CONFIG)
    for out in (["--out-dir", place / "out"], []):
        (place / "layouts.py").write_text(LAYOUTS)
        toml = place / "lego-emit.toml"
        built("--config", toml, *out, "--depfile", place / "d")
        built("--config", toml, *out, "--check")
        (place / "layouts.py").write_text(LAYOUTS.replace("Col(6", "Row(6"))
        assert run("--config", toml, *out, "--diff").exit_code == 1
        built("--config", toml, *out)
        listed = built("--config", toml, *out, "--list-outputs").stdout_bytes.splitlines()
        assert all(Path(os.fsdecode(path)).is_file() for path in listed) and len(listed) == 4
    result = run("--config", place / "no.toml")
    assert result.exit_code == 2 and "no such file" in result.output
