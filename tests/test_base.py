"""base=1: indices and positions that count from 1, as Fortran and Julia programmers expect."""

import inspect
import itertools
import json
import re

import index_functions
import pytest
from click.testing import CliRunner

from lego_emit import Col, ExpandBy, GenP, GroupBy, OrderBy, RegP, Row, TileBy, generate
from lego_emit.cli import main
from lego_emit.errors import TargetError, TraceError
from lego_emit.pipeline import build_program
from lego_emit.proofcheck.check import check
from lego_emit.run import registry

LAYOUTS = [
    GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3])),
    TileBy([2, 3], [3, 2]).OrderBy(Col(6, 6)),
    GroupBy([1, 4]).OrderBy(Row(4)),
    GroupBy([7]),
]


TURNED = GroupBy([10]).OrderBy(GenP([10], lambda i: 9 - i, lambda p: 9 - p))


def from_one(index):
    return tuple(i + 1 for i in index)


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_every_index_and_position_is_one_more(layout):
    apply, inv = generate(layout, "fortran", base=1).functions
    names = [p.name for p in apply.params]
    for index in itertools.product(*map(range, layout.dims)):
        flat = layout.apply(*index) + 1
        given = dict(zip(names, from_one(index), strict=True))
        assert apply.evaluate(given) == {"flat": flat}
        assert tuple(inv.evaluate({"flat": flat}).values()) == from_one(index)


def test_a_masked_position_is_zero():
    layout = ExpandBy([5], [6], TileBy([3], [2]))
    apply, inv = generate(layout, "julia", base=1).functions
    assert [apply.evaluate({"i": i, "j": j})["flat"] for i in (1, 2, 3) for j in (1, 2)] == [
        1, 2, 3, 4, 5, 0,
    ]  # fmt: skip
    assert inv.evaluate({"flat": 5}) == {"i": 3, "j": 1}
    assert "0 where it is masked" in apply.summary


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]  # noqa: F821


def test_sizes_stay_and_indices_are_found():
    (found,) = generate(index_kernel, "julia", base=1).functions
    assert found.ranges["pid_m"] == "1 <= pid_m <= M // BM"
    assert found.ranges["i"] == "1 <= i <= BM"
    assert found.ranges["M"] == "M >= 1"
    sizes = {"M": 12, "N": 20, "BM": 3, "BN": 5}
    layout = TileBy([4, 4], [3, 5])
    for index in itertools.product(*map(range, layout.dims)):
        given = dict(zip(("pid_m", "pid_n", "i", "j"), from_one(index), strict=True))
        assert found.evaluate({**sizes, **given})["result"] == layout.apply(*index) + 1


def dealt(n, nb, p, g):
    """The cookbook's."""
    turn, process, inside = Row(-(-n // (nb * p)), p, nb).inv(g)
    return {"process": process, "local": turn * nb + inside}


def gathered(n, nb, p, process, local):
    turn, inside = local // nb, local % nb
    return {"g": Row(-(-n // (nb * p)), p, nb)[turn, process, inside]}


def owner(nb, p, g):
    """A formula: no layout."""
    return {"process": g // nb % p, "local": nb * (g // (nb * p)) + g % nb}


# ScaLAPACK's functions, as they are defined, with the first block at process 0.
def indxg2p(g, nb, p):
    return (g - 1) // nb % p


def indxg2l(g, nb, p):
    return nb * ((g - 1) // (nb * p)) + (g - 1) % nb + 1


def indxl2g(local, nb, process, p):
    return p * nb * ((local - 1) // nb) + (local - 1) % nb + process * nb + 1


SHAPES = [(12, 2, 3), (17, 3, 2), (30, 4, 4), (5, 8, 3), (9, 1, 9), (7, 3, 1)]
NAMED = {"g": 1, "local": 1}


def dealt_like_scalapack(find):
    """find(n, nb, p) gives the three functions: of g, of g, of (process, local)."""
    for n, nb, p in SHAPES:
        to_owner, formula, back = find(n, nb, p)
        for g in range(1, n + 1):
            want = indxg2p(g, nb, p), indxg2l(g, nb, p)
            assert to_owner(g) == formula(g) == want
            assert back(*want) == g == indxl2g(want[1], nb, want[0], p)


@pytest.mark.parametrize("target", ["fortran", "c", "python"])
def test_named_indices_count_from_one_and_nothing_else(target):
    (there,) = generate(dealt, target, base=NAMED).functions
    assume = ["g >= 0", "nb >= 1", "p >= 1"]
    (plain,) = generate(owner, target, base=NAMED, assume=assume).functions
    (back,) = generate(gathered, target, base=NAMED).functions
    assert [p.base for p in there.params] == [0, 0, 0, 1] and there.starts == (0, 1)
    assert [p.base for p in back.params] == [0, 0, 0, 0, 1] and back.starts == (1,)
    assert "Counted from 1: g, local." in there.summary
    assert there.ranges["g"].startswith("1 <= g <")

    def find(n, nb, p):
        given = {"nb": nb, "p": p}
        return (
            lambda g: tuple(there.evaluate({"n": n, **given, "g": g}).values()),
            lambda g: tuple(plain.evaluate({**given, "g": g}).values()),
            lambda process, local: back.evaluate(
                {"n": n, **given, "process": process, "local": local}
            )["g"],
        )

    dealt_like_scalapack(find)


@pytest.mark.quick(2)
@pytest.mark.parametrize("target", ["fortran", "c", "python", "rust", "julia", "javascript"])
def test_what_counts_from_one_is_named_as_the_header_names_it(target):
    def said(subject, base, **more):
        unit = generate(subject, target, base=base, **more)
        found = [f.summary.partition("Counted from 1: ")[2] for f in unit.program.functions]
        text = " ".join(re.sub(r"(?m)^\W+|`", "", unit.source).split())  # without lines' ends
        assert all(f"Counted from 1: {names}" in text for names in found if names)
        return found

    layout = GroupBy([6, 6])
    assert said(layout, {"flat": 1}) == ["the result.", "flat."]
    assert said(layout, {"i": 1}) == ["i.", "i."]
    assert said(layout, {"i": 1, "flat": 1}) == ["i, the result.", "flat, i."]
    assert said(ExpandBy([5], [6], TileBy([3], [2])), {"flat": 1}) == ["the result.", "flat."]
    local = "local_v" if target == "julia" else "local"  # a word of Julia's own
    assert said(gathered, NAMED) == [f"{local}, the result."]
    assert said(dealt, NAMED) == [f"g, {local}."]
    assert said(lambda i: {"i": GroupBy([7])[i]}, {"i": 1}) == ["i, the result."]
    assert said(index_kernel, {"pid_m": 1}, names="camelCase") == ["pidM."]
    own = "pidM" if target == "javascript" else "pid_m"
    assert said(index_kernel, {"pid_m": 1, "result": 1}) == [f"{own}, the result."]


@pytest.mark.slow
def test_compiled_in_fortran_it_is_scalapacks(need):
    need("gfortran", "apt-get install gfortran")
    given = {"assume": ["g >= 0", "nb >= 1", "p >= 1"]}
    units = [generate(f, "fortran", base=NAMED, index_type="int32") for f in (dealt, gathered)]
    units.append(generate(owner, "fortran", base=NAMED, **given))
    runs = [unit.compile() for unit in units]

    def find(n, nb, p):
        return (
            lambda g: runs[0]["dealt"](n, nb, p, g),
            lambda g: runs[2]["owner"](nb, p, g),
            lambda process, local: runs[1]["gathered"](n, nb, p, process, local),
        )

    dealt_like_scalapack(find)


def test_a_formula_says_itself_what_it_counts():
    assume = ["g >= 0", "nb >= 1", "p >= 1"]
    made = [generate(owner, "c", base=base, assume=assume) for base in (0, 1)]
    assert made[0].source == made[1].source
    # beside a layout's index all results count, as before
    (found,) = generate(lambda i: (GroupBy([4])[i], 7), "c", base=1).functions
    assert found.evaluate({"i": 1}) == {"out0": 1, "out1": 8}


@pytest.mark.parametrize("base", [0, 1])
def test_a_masked_inverse_says_its_sentinel(base):
    layout = ExpandBy([5], [6], TileBy([3], [2]), guard="logical")
    _, inv = generate(layout, "julia", base=base).functions
    sentinel = f"({base - 1}, {base - 1})"
    assert f"{sentinel} where it is masked" in inv.summary
    assert inv.evaluate({"flat": 5 + base}) == {"i": base - 1, "j": base - 1}
    unit = generate(layout, "python", base={"i": 1, "flat": base})
    assert "(0, -1) where it is masked" in unit.functions[1].summary
    assert unit.verify()


@pytest.mark.parametrize("named", [*itertools.product((0, 1), repeat=3)])
@pytest.mark.quick(4)
def test_every_choice_of_names_is_verified_and_proved(named):
    base = dict(zip(("i", "j", "flat"), named, strict=True))
    layout = GroupBy([4, 6]).OrderBy(Col(4, 6))
    unit = generate(layout, "python", base=base)
    assert unit.verify()
    apply, inv = unit.functions
    for i, j in itertools.product(range(4), range(6)):
        at = {"i": i + base["i"], "j": j + base["j"]}
        flat = layout.apply(i, j) + base["flat"]
        assert apply.evaluate(at) == {"flat": flat} and inv.evaluate({"flat": flat}) == at
    unit = generate(layout, "c", base=base)
    assert check(json.loads(unit.certificate().json), unit.source, layout)


def test_what_base_names_is_there_and_is_no_size():
    for base, said in (
        ({"h": 1}, "h is no index and no result; there are g, local, process"),
        ({"nb": 1}, "nb is no index"),
    ):
        with pytest.raises(TargetError, match=said):
            generate(dealt, "c", base=base)
    with pytest.raises(TargetError, match="base of g is 2"):
        generate(dealt, "c", base={"g": 2})
    with pytest.raises(TargetError, match="base names 3, which is no name"):
        generate(dealt, "c", base={3: 1})
    with pytest.raises(TraceError, match="base names some of the axes i, j"):
        generate(lambda: GroupBy([4, 6])[:, :], "c", base={"i": 1})
    with pytest.raises(TraceError, match="names some of its indices and its position"):
        generate(GroupBy([4, 6]), "cpp", base={"i": 1}, view=True)
    assert generate(GroupBy([4, 6]), "cpp", base={"i": 1, "j": 1, "flat": 1}, view=True)


def test_the_command_line_and_a_project_name_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text("from lego_emit import Row\n" + inspect.getsource(dealt))
    words = ["generate", "k.py:dealt", "-t", "fortran", "--base", "g=1,local=1"]
    made = CliRunner().invoke(main, words)
    assert made.exit_code == 0 and "Counted from 1: g, local." in made.stdout
    assert "--base g=1,local=1" in made.stdout
    config = 'targets = ["fortran"]\nlayouts = ["k.py:dealt"]\noutput = "{name}.{ext}"\n'
    (tmp_path / "lego-emit.toml").write_text(config + "base = { g = 1, local = 1 }\n")
    done = CliRunner().invoke(main, ["build"])
    assert done.exit_code == 0, done.output
    assert any("Counted from 1: g, local." in f.read_text() for f in tmp_path.glob("*.f*"))
    for wrong in ("g=2", "g", "g=1,g=1", "2", ""):
        refused = CliRunner().invoke(main, [*words[:-1], wrong])
        assert refused.exit_code == 2 and "of the form g=1,local=1" in refused.output


def test_the_command_line_takes_base_more_than_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text("from lego_emit import Row\n" + inspect.getsource(dealt))

    def made(*bases):
        options = [word for base in bases for word in ("--base", base)]
        return CliRunner().invoke(main, ["generate", "k.py:dealt", "-t", "fortran", *options])

    together = made("g=1,local=1")
    assert together.exit_code == 0 and made("g=1", "local=1").stdout == together.stdout
    assert made("1", "1").stdout == made("1").stdout
    assert "Indices and positions count from 1." in made("1").stdout
    for numbers in (("1", "g=1"), ("g=1", "1"), ("local=1", "0", "g=1")):
        mixed = made(*numbers)
        assert mixed.exit_code == 2
        assert "is for all indices, and" in mixed.output
        assert "give one number, or names alone" in mixed.output
    assert "0 and 1 are both given" in made("0", "1").output
    again = made("g=1", "g=0").output
    assert "g is given more than once" in again and "of the form g=1,local=1" in again
    assert "'2' is not 0, 1, or of the form" in made("g=1", "2").output


@pytest.mark.parametrize("target", ["python", "c"])
def test_the_command_line_verifies_what_counts_from_one(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = inspect.getsource(dealt) + "edge = ExpandBy([5], [6], TileBy([3], [2]))\n"
    (tmp_path / "k.py").write_text("from lego_emit import ExpandBy, Row, TileBy\n" + body)
    sizes = ["-s", "n=24,nb=2,p=3"]
    for name, base, more in (("dealt", "g=1,local=1", sizes), ("edge", "1", []), ("edge", "0", [])):
        words = ["verify", f"k.py:{name}", "-t", target, "--base", base, *more]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, result.output
        assert ("local in 1..8" in result.stdout) == (name == "dealt")


def test_another_base_is_refused():
    with pytest.raises(TargetError, match="base is 2"):
        generate(index_kernel, "julia", base=2)


@pytest.mark.slow
def test_compiled(toolchain):
    layout = LAYOUTS[0]
    run = generate(layout, toolchain.name, base=1).compile()
    for i, j in itertools.product(range(1, 7), repeat=2):
        flat = run["layout_apply"](i, j)
        assert flat == layout.apply(i - 1, j - 1) + 1
        assert run["layout_inv"](flat) == (i, j)


@pytest.mark.deep
def test_every_array_form_counts_its_axes_from_the_base(toolchain):
    if toolchain.name == "triton":
        pytest.skip("blocks of Triton have a power of two of elements; test_triton.py has its own")
    index_functions.assert_arrays(
        toolchain, index_functions.array_units(toolchain.name, ("int32",))
    )


@pytest.mark.parametrize(
    ("fn", "assume"),
    [
        (lambda i: TURNED[i], ["1 <= i <= 10"]),
        (lambda i: TURNED[i], ["1 <= i", "i < 11"]),
        (lambda i: TURNED[i] if i < 5 else -1, ["1 <= i <= 10"]),
        (lambda i, n: TURNED[i] if i < n else -1, ["1 <= i <= 10", "n <= 10"]),
    ],
)
def test_an_index_whose_bounds_are_known(fn, assume):
    """It counts from the base like any other."""
    (made,) = build_program(fn, registry.printer("cpp"), assume=assume, base=1).functions
    for i in range(1, 11):
        values = {"i": i, "n": 7}
        given = {p.name: values[p.name] for p in made.params}
        want = fn(*(v - (name == "i") for name, v in given.items())) + 1
        assert made.evaluate(given) == {"result": want}
