"""The golden cases: their files, the tables' independence, and every toolchain over all of them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from index_functions import golden_cases
from marks import rest_slow

from lego_emit import GroupBy, generate, golden
from lego_emit.algebra import reference
from lego_emit.emit import registry
from lego_emit.errors import GoldenError, LoadError
from lego_emit.tables import differences, read_table

ROOT = Path(__file__).parent.parent / "golden"

FIG2 = (ROOT / "fig2" / "layout.py").read_text()

TWO_AXES = """
from lego_emit import GroupBy


def pair(A, B):
    return {"a": GroupBy([A, 2])[p, :], "b": GroupBy([B, 3])[p, :]}


kernel = pair
sizes = {"A": 4, "B": 5}
domain = {"p": 4}
"""


@pytest.fixture(scope="module")
def updated(tmp_path_factory):
    """A folder with two cases, up to date, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("updated")
    write(folder, "fig2", FIG2)
    write(folder, "two_axes", TWO_AXES)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        golden.update(folder)
    return folder


@pytest.fixture
def root(updated, tmp_path, monkeypatch):
    """A folder with two cases, up to date."""
    monkeypatch.delenv("CI", raising=False)
    shutil.copytree(updated, tmp_path, dirs_exist_ok=True)
    return tmp_path


def write(root, name, text):
    (root / name).mkdir()
    (root / name / "layout.py").write_text(text)
    return root / name


@pytest.fixture(scope="module")
def all_cases():
    return golden_cases()


# -- the committed files -------------------------------------------------------------------------


@pytest.mark.slow
def test_committed_files_are_what_is_made_now(all_cases, monkeypatch):
    """And each function was compared with its definition."""
    monkeypatch.setattr(golden, "cases", lambda root: all_cases)
    found = golden.check(ROOT, ["cuda"])
    assert not found, "\n".join(map(str, found))
    for case in all_cases:
        unit = case.emit("cuda")
        for function in (unit.lowered or unit.program).functions:
            count, reason = function.checked
            assert count and not reason, (case.name, reason)


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(p.parent.name for p in ROOT.glob("*/layout.py")))
def test_the_files_of_a_case_are_what_is_made_now(name, all_cases):
    (case,) = (case for case in all_cases if case.name == name)
    for path, text in case.texts(registry.own_targets(), False):
        assert path.read_text() == text


@pytest.mark.slow
def test_every_case_over_every_index(toolchain, all_cases):
    result = golden.verify(all_cases, toolchain.name)
    assert result.cases == len(all_cases)
    assert result.comparisons > 20000
    assert not result.mismatches, "\n".join(result.mismatches)


def ranged(case):
    """The extents of a case's ':' axes."""
    return [n for name, n in case.table.axes if name == ":"]


@pytest.mark.deep
def test_every_case_with_its_numbers_put_in(toolchain, all_cases):
    if toolchain.name == "triton":  # whose blocks have a power of two of elements
        all_cases = [c for c in all_cases if all(n & (n - 1) == 0 for n in ranged(c))]
    result = golden.verify(all_cases, toolchain.name, numbers=True)
    assert result.functions > 20
    assert not result.mismatches, "\n".join(result.mismatches)


def test_the_transposes_transpose(all_cases):
    for case in all_cases:
        if case.name.startswith("transpose_"):
            row, column = np.divmod(case.table.columns["source"], 64)
            if case.name == "transpose_naive":
                assert (case.table.columns["target"] == 64 * column + row).all()
            else:  # what a thread reads is what another one wrote
                written = dict(
                    zip(
                        zip(*block_and(case, "tile_write"), strict=True),
                        row * 64 + column,
                        strict=True,
                    )
                )
                target_row, target_column = np.divmod(case.table.columns["target"], 64)
                read = zip(*block_and(case, "tile_read"), strict=True)
                for at, r, c in zip(read, target_row, target_column, strict=True):
                    if at in written:  # the table has a quarter of the threads
                        assert written[at] == c * 64 + r


def block_and(case, column):
    return case.table.points()[0].tolist(), case.table.columns[column].tolist()


def test_the_text_is_what_generate_gives(target):
    case = golden.load(ROOT / "brick_star_384")
    unit = generate(case.subject, target, assume=case.options.assume)
    assert case.emit(target).source == unit.source
    assert case.text_path(target).read_text() == unit.source


# -- tables --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_table_comes_from_the_integer_evaluator_alone(root, monkeypatch):
    import lego_emit.trace.layouts

    def refuse(*_):
        raise AssertionError("the symbolic side was asked")

    for name in ("apply", "inv", "getitem"):
        monkeypatch.setattr(lego_emit.trace.layouts, name, refuse)
    for case in golden.cases(root):
        assert case.made.text().splitlines()[2:]


@pytest.mark.slow
def test_a_layout_s_table(root):
    case = golden.load(root / "fig2")
    assert case.table.columns["flat"].tolist() == reference.table(case.subject).tolist()
    assert [len(p) for p in case.table.points()] == [24, 24]
    text = (root / "fig2" / "table.txt").read_text()
    assert "\n# fig2: the physical position of each logical index; -1 is masked\n" in text
    assert "\ntable flat 6 4\n[0, :] 5..2 by -1\n" in text


@pytest.mark.slow
def test_a_result_stands_still_along_the_other_results_axes(root):
    table = golden.load(root / "two_axes").table
    assert table.axes == (("p", 4), (":", 2), (":", 3))
    p, i, j = table.points()
    assert table.columns["a"].tolist() == (2 * p + i).tolist()
    assert table.columns["b"].tolist() == (3 * p + j).tolist()


@pytest.mark.slow
def test_a_table_survives_its_text(all_cases):
    for case in all_cases:
        assert case.table.sizes == {**case.sizes, **case.fixed}
        assert not differences(case.table, read_table(case.table.text("x"), "t"))
        assert not differences(case.table, case.made)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    rest_slow(
        [
            ("[2, :]", "[3, :]", r"line 7: row \[2, :\] wanted"),
            ("7, 6, 23", "7, x, 23", "line 9: no line of a table"),
            ("table flat 6 4", "dims 6 4\nvalues flat", "line 4: no line of a table: 'dims 6 4'"),
            ("table flat 6 4", "table flat 7 4", "flat has 6 rows, its axes ask for 7"),
        ]
    ),
)
def test_a_broken_table_is_refused_with_the_remedy(root, old, new, problem):
    path = root / "fig2" / "table.txt"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    message = f"{path}.*{problem}.*; `lego-emit golden update` rewrites it"
    with pytest.raises(GoldenError, match=message):
        golden.load(root / "fig2").table  # noqa: B018
    (difference,) = golden.check(root, ["c"])
    assert "\n@@ " in difference.diff
    golden.update(root, ["c"])
    assert golden.check(root, ["c"]) == []


@pytest.mark.slow
def test_a_wrong_value_is_found_and_named(root):
    path = root / "fig2" / "table.txt"
    path.write_text(path.read_text().replace("5..2 by -1", "4, 5, 3, 2"))
    (difference,) = golden.check(root, ["c"])
    assert difference.diff == "flat[0, 0]: 4 -> 5\nflat[0, 1]: 5 -> 4\n"
    mismatches = golden.verify([golden.load(root / "fig2")], "cpp").mismatches
    assert len(mismatches) == 2
    assert "fig2: fig2_apply(i=0, j=0) gives" in mismatches[0]
    assert "(2 of 24 differ)" in mismatches[0]


# -- check and update ----------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_to_do_after_an_update(root):
    assert golden.check(root) == []
    assert golden.update(root) == []


@pytest.mark.slow
def test_a_changed_text_is_a_unified_diff(root):
    path = root / "fig2" / "fig2.rs"
    path.write_text(path.read_text().replace("pub const fn", "pub fn", 1))
    (difference,) = golden.check(root)
    assert difference.path == path
    text = str(difference)
    assert "\n-pub fn" in text and "\n+pub const fn" in text and "@@" in text
    assert "lego-emit golden update" in text
    assert golden.check(root, ["cpp"]) == []
    assert golden.update(root) == [path]
    assert golden.check(root) == []


@pytest.mark.slow
def test_line_ends_count(root):
    path = root / "fig2" / "table.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert [d.path for d in golden.check(root, ["c"])] == [path]


@pytest.mark.slow
def test_missing_and_orphaned_files_are_differences(root):
    (root / "fig2" / "fig2.jl").unlink()
    shutil.copy(root / "fig2" / "fig2.hpp", root / "fig2" / "old_name.hpp")
    (root / "fig2" / "notes.txt").write_text("mine")
    (root / "gone").mkdir()
    shutil.copy(root / "fig2" / "fig2.hpp", root / "gone" / "gone.hpp")
    (root / "fig2" / "__pycache__").mkdir()
    (root / "fig2" / "__pycache__" / "layout.pyc").write_text("")
    found = {str(d.path.relative_to(root)): str(d) for d in golden.check(root)}
    assert sorted(found) == [
        "fig2/fig2.jl",
        "fig2/notes.txt",
        "fig2/old_name.hpp",
        "gone/gone.hpp",
    ]
    assert "is missing" in found["fig2/fig2.jl"]
    assert "removes it" in found["fig2/old_name.hpp"]
    assert "move it away" in found["fig2/notes.txt"]
    golden.update(root)
    assert [d.path.name for d in golden.check(root)] == ["notes.txt"]


@pytest.mark.slow
def test_nothing_is_written_under_ci(root, monkeypatch):
    (root / "fig2" / "fig2.jl").unlink()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(GoldenError, match="CI"):
        golden.update(root)
    assert not (root / "fig2" / "fig2.jl").exists()
    assert len(golden.check(root)) == 1


@pytest.mark.slow
def test_nothing_is_written_when_one_case_fails(root):
    (root / "fig2" / "fig2.jl").unlink()
    write(root, "wrong", "from lego_emit import Row\n\n\ndef wrong(M):\n    return Row(M)[1]\n")
    with pytest.raises(GoldenError, match="wrong"):
        golden.update(root)
    assert not (root / "fig2" / "fig2.jl").exists()


# -- bad cases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\n", "one subject wanted, none found"),
        ("layout = 1\ndef kernel(): pass\n", "one subject wanted, layout and kernel found"),
        ("layout = 1\n", "layout is 1"),
        ("def layout(M): pass\n", "layout is a function"),
        ("def kernel(M): pass\nsizes = {'M': '3'}\n", "sizes is"),
        ("def kernel(M): pass\ndomain = {'p': 0}\n", "domain is"),
    ],
)
def test_a_folder_that_is_no_case(tmp_path, text, problem):
    with pytest.raises(GoldenError, match=problem):
        golden.load(write(tmp_path, "bad", text))


def test_a_function_called_layout_is_no_second_subject(tmp_path):
    text = "from lego_emit import Row\n\n\ndef layout(M):\n    return Row(M)\n\n\n"
    text += "def kernel(M):\n    return layout(M)[0]\n"
    assert golden.load(write(tmp_path, "bad", text)).subject.__name__ == "kernel"


def test_a_case_may_import_every_name(tmp_path):
    case = golden.load(write(tmp_path, "a", "from lego_emit import *\n\nlayout = Row(4, 6)\n"))
    assert not case.options.assume


def test_a_number_that_is_not_given(tmp_path):
    head = "from lego_emit import GroupBy\n\n\n"
    case = golden.load(write(tmp_path, "a", head + "def a(M):\n    return GroupBy([M])[0]\n"))
    with pytest.raises(GoldenError, match="a takes M; give"):
        case.made  # noqa: B018
    case = golden.load(write(tmp_path, "b", head + "def b():\n    return GroupBy([4])[p]\n"))
    with pytest.raises(GoldenError, match=r"line 5: NameError: .*'p'.*domain"):
        case.made  # noqa: B018


def test_no_case_at_all(tmp_path):
    with pytest.raises(GoldenError, match="no golden case"):
        golden.cases(tmp_path)
    with pytest.raises(GoldenError, match="no such folder"):
        golden.cases(tmp_path / "nowhere")
    with pytest.raises(LoadError, match="no such file"):
        golden.load(tmp_path)


def test_a_map_without_inverse_has_one_function():
    case = golden.load(ROOT / "broadcast_4x6")
    assert not case.layout.has_inverse
    assert [f.name for f in case.emit("cpp").functions] == ["broadcast_4x6_apply"]


def test_a_layout_has_the_folders_name(tmp_path):
    case = golden.load(write(tmp_path, "abc", FIG2))
    assert (case.unit, isinstance(case.subject, type(GroupBy([1])))) == ("abc", True)
    assert golden.load(ROOT / "readme_index_kernel").unit == "index_kernel"


def test_the_readme_shows_what_is_emitted():
    readme = (ROOT.parent / "README.md").read_text()
    shown = readme.split("```cuda\n")[1].split("```")[0]
    assert shown in (ROOT / "readme_index_kernel" / "readme_index_kernel.cuh").read_text()
    source = (ROOT / "readme_index_kernel" / "layout.py").read_text()
    example = readme.split("```python\n")[1]
    for line in example.split("print(")[0].splitlines()[2:]:
        assert line in source


@pytest.mark.slow
def test_the_text_does_not_depend_on_what_was_made_before():
    """Z3's answers in a context that had been used before differed from those in a fresh one."""
    names = ["nw", "brick_star", "matmul_pid"]
    made = []
    for order in (names, names[::-1]):
        cases = {name: golden.load(ROOT / name) for name in order}
        made.append({name: case.emit("cpp", False).source for name, case in cases.items()})
    assert made[0] == made[1]
