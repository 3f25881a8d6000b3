"""Fortran: every golden text under the strict flags, each index type, the extremes of floor division
and modulo, array forms, and modules used by a program."""

from dataclasses import dataclass, replace

import index_functions
import numpy as np
import programs
import pytest
from marks import every_width

from lego_emit import GroupBy, Row, generate, symbols
from lego_emit.emitted import emit_program
from lego_emit.ir.index_types import INT32
from lego_emit.ir.program import Function, Param, Program
from lego_emit.ir.relations import between

pytestmark = pytest.mark.slow

TYPES = ("int32", "int64", "integer")
STRICT = ("-std=f2018", "-Wall", "-Wextra", "-Werror")
gfortran = pytest.mark.parametrize("toolchain", ["fortran"], indirect=True)


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


# -- golden cases --------------------------------------------------------------------------------


@pytest.mark.deep
@gfortran
@pytest.mark.parametrize("extra", ["-O2", "-fcheck=all"])
def test_every_golden_text_compiles_strictly(toolchain, cases, tmp_path, extra):
    """All texts in one source: the compiler starts once; a module holds no more than its text."""
    units = [case.emit("fortran") for case in cases]
    modules = [unit.printer.module_name(unit.program.name).lower() for unit in units]
    assert len(set(modules)) == len(units) > 60
    (tmp_path / "all.f90").write_text("\n".join(unit.source for unit in units))
    toolchain.execute([toolchain.find().path, *STRICT, extra, "-c", "all.f90"], cwd=tmp_path)


@pytest.mark.deep
@gfortran
@every_width
def test_every_case_in_each_index_type(toolchain, cases):
    counts = index_functions.assert_every_width(cases, "fortran", TYPES)
    assert counts == dict.fromkeys(TYPES, len(cases))


def test_lines_fit(cases):
    for case in cases[::2]:
        longest = max(case.emit("fortran").source.splitlines(), key=len)
        assert len(longest) <= 100, longest


# -- signs ---------------------------------------------------------------------------------------

CONSTANT = {
    "quotient_by_seven": lambda a: a // 7,
    "rest_by_seven": lambda a: a % 7,
    "quotient_by_minus_three": lambda a: a // -3,
    "rest_by_minus_three": lambda a: a % -3,
    "rest_by_minus_one": lambda a: a % -1,
    "quotient_by_eight": lambda a: a // 8,
    "rest_by_eight": lambda a: a % 8,
}


@gfortran
@pytest.mark.parametrize("index_type", TYPES)
def test_floor_division_and_modulo_at_the_ends(toolchain, index_type):
    """The remainder of the least integer by -1 is 0; its quotient does not fit, and is left out."""
    assert index_functions.assert_floors(toolchain, index_type) > 450


@gfortran
@pytest.mark.parametrize("index_type", TYPES)
def test_constant_divisors_at_the_ends(toolchain, index_type):
    least, most = programs.INDEX_TYPES[index_type].ends
    values = np.array([least, least + 1, least + 2, *range(-9, 10), most - 1, most])
    units = [generate(f, "fortran", name=n, index_type=index_type) for n, f in CONSTANT.items()]
    for made, (name, function) in zip(toolchain.compile(units), CONSTANT.items(), strict=True):
        assert made[name](values).tolist() == [function(a) for a in values.tolist()], name


def test_modulo_is_the_intrinsic_where_it_cannot_trap():
    def by(divisor):
        return generate(divisor, "fortran", index_type="int64").source

    assert "modulo(a, b)" in by(lambda a, b: GroupBy([b])[a % b])
    assert "floor_mod" not in by(lambda a, b: GroupBy([b])[a % b])
    assert "modulo(a, 7_int64)" in by(lambda a: a % 7)
    assert "= floor_mod_int64(a, b)" in by(lambda a, b: a % b)


def test_literals_have_no_kind_beside_an_operand_that_has_one():
    """Where kinds may be mixed; else they keep it."""

    def f(M, i, j):
        return {"a": 6 * i + j // 4 * M, "b": min(4 * i + 1, j), "c": 3 * i if j < 2 else 50}

    def in_kind(kind, **options):
        inside = {"i": (0, 99), "j": (0, 99), "M": (1, 99)}
        return generate(f, "fortran", index_type=kind, ranges=inside, **options).source

    assert "a = 6 * i + shifta(j, 2) * M" in in_kind("int32")
    assert "b = min(4_int32 * i + 1_int32, j)" in in_kind("int32")  # the other one is no default
    assert "b = min(4 * i + 1, j)" in in_kind("int64")
    assert "c = merge(3 * i, 50_int64, j <= 1)" in in_kind("int64")
    assert "c = merge(3 * i, 50, j <= 1)" in in_kind("integer")
    assert "6_int64 * own%i" in in_kind("int64", bind={"i": "own%i"})  # of any kind
    large = generate(lambda i: 2**31 * i + 7, "fortran", index_type="int64").source
    assert "2147483648_int64 * i + 7" in large


@gfortran
@pytest.mark.parametrize("flags", [(*STRICT, "-Wconversion"), ("-fdefault-integer-8", STRICT[0])])
def test_every_default_kind_takes_the_literals(toolchain, cases, tmp_path, flags):
    """Where kinds have to agree, a literal of another one is an error."""
    paths = []
    for case in cases[::9]:
        paths.append(f"{case.name}.f90")
        (tmp_path / paths[-1]).write_text(case.emit("fortran").source)
    toolchain.execute([toolchain.find().path, *flags, "-fsyntax-only", *paths], cwd=tmp_path)


def test_comments_name_the_greatest_number_of_the_functions_kind():
    M, N = symbols("M N")
    for kind, zero in (("int32", "0_int32"), ("integer", "0")):
        text = generate(Row(M, N), "fortran", name="rows", index_type=kind).source
        assert f"!> @pre M*N <= huge({zero})\n" in text and f"M <= huge({zero}) / N\n" in text


@gfortran
def test_default_integers(toolchain, tmp_path):
    """No kind anywhere, and what takes default integers takes the literals of a caller."""
    unit = generate(GroupBy([6, 4]), "fortran", name="grid", index_type="integer")
    code = [line for line in unit.source.splitlines() if not line.lstrip().startswith("!")]
    assert not any("int32" in line or "kind" in line for line in code)
    unit.save(tmp_path / "grid.f90")
    main = (
        "program main\n  use grid_mod, only: grid_apply\n  print *, grid_apply(5, 3)\nend program"
    )
    (tmp_path / "main.f90").write_text(main)
    command = [toolchain.find().path, *STRICT, "grid.f90", "main.f90", "-o", "main"]
    toolchain.execute(command, cwd=tmp_path)
    assert toolchain.execute([str(tmp_path / "main")]).split() == ["23"]


# -- the array form ------------------------------------------------------------------------------


@gfortran
def test_array_forms(toolchain):
    """One, two and three axes, one and two results, symbolic and fixed sizes, in every type."""
    index_functions.assert_arrays(toolchain, index_functions.array_units("fortran", TYPES))


@gfortran
def test_the_array_form_of_the_golden_case(toolchain, cases):
    case = next(case for case in cases if case.name == "readme_index_kernel")
    want = case.table.columns["result"].reshape([n for _, n in case.table.axes])
    for numbers, sizes in ((False, [*case.sizes.values()]), (True, [])):
        array = case.emit("fortran", numbers).compile().array("index_kernel")
        for pid_m, pid_n in np.ndindex(4, 4):
            assert (array(*sizes, pid_m, pid_n) == want[pid_m, pid_n]).all()


@gfortran
def test_array_forms_from_one_and_beside_their_like(toolchain):
    """Axes that run from 1; a function that has the name of another one's array form; a parameter
    that has the name of the array; a name of 70 characters."""
    unit = emit_program(array_program(), "fortran")
    run = toolchain.compile([unit])[0]
    names = [f.name for f in unit.functions]
    assert names[:2] == ["tile_positions", "Tile_2"]
    assert "dimension(1:VALUES_v, 1:3) :: values" in unit.source
    for name in names[1:]:
        i, j = np.ogrid[1:5, 1:4]
        assert (run.array(name)(4) == 10 * i + j + 4).all()
        assert len(f"{name}_positions") <= 63


@gfortran
def test_lines_of_long_names_hold(toolchain):
    """The standard's 132 columns, for 20 names of the greatest length."""
    names = [*(f"{'long_' * 12}{k}" for k in range(19)), "i"]
    total = programs.const(1)
    for name in names:
        product = programs.node("mul", programs.var(name, -50, 50), programs.const(3))
        total = programs.node("floormod", programs.node("add", total, product), programs.const(50))
    function = programs.function("g" * 70, {"result": total}, "int64", names)
    function = replace(function, axes=((names[-1], programs.var(names[0], -50, 50)),))
    unit = emit_program(Program("wide", (function,), "long names"), "fortran")
    run = toolchain.compile([unit])[0]
    given = dict(zip(names, range(3, 23), strict=True))
    assert max(map(len, unit.source.splitlines())) <= 132
    want = [function.evaluate({**given, names[-1]: k})["result"] for k in range(3)]
    assert run.array(unit.functions[0].name)(*range(3, 22)).tolist() == want


def array_program():
    """Functions of 1-based axes i and j, 10*i + j + values over (values, 3)."""

    @dataclass(frozen=True)
    class FromOne(Function):
        base: int = 1

    i, j, values = (programs.var(name, 0, 50) for name in ("i", "j", "VALUES"))
    ten = programs.node("mul", programs.const(10), i)
    result = programs.node("add", programs.node("add", ten, j), values)
    params = tuple(Param(n, between(1, 51), 1, 50) for n in ("VALUES", "i", "j"))
    axes = (("i", values), ("j", programs.const(3)))
    made = [
        FromOne(name, params, (), (("result", result),), INT32, axes=axes)
        for name in ("Tile", "a" * 70)
    ]
    taken = programs.function("tile_positions", {"result": programs.var("a")}, params="a")
    return Program("tiles", (taken, *made), "tiles")


# -- in a program --------------------------------------------------------------------------------

MAIN = """
program main
  use, intrinsic :: iso_fortran_env, only: int64
  use index_kernel_mod
  use brick_star_mod, only: star => brick_star
  use lud_thread_mod
  implicit none
  integer(int64) :: tile(0:2, 0:4), i, j
  tile = index_kernel_positions(12_int64, 20_int64, 3_int64, 5_int64, 1_int64, 2_int64)
  print "(15(i0, 1x))", reshape(tile, [5, 3], order=[2, 1])
  do j = 0, 4
    do i = 0, 2
      if (tile(i, j) /= index_kernel(12_int64, 20_int64, 3_int64, 5_int64, 1_int64, 2_int64, i, j)) &
        error stop 1
    end do
  end do
  print "(i0)", star(8_int64, 4_int64, 0_int64, 1_int64, 1_int64, [0_int64, 2_int64], 2_int64, &
    3_int64)
end program main
"""


@gfortran
def test_modules_in_one_program(toolchain, cases, tmp_path):
    """Each module from a file of its own, as a build system compiles them; two have helpers of one
    name. Arrays go through the scalar function, which is elemental."""
    names = ("readme_index_kernel", "brick_star", "lud_thread")
    units = {case.name: case for case in cases if case.name in names}
    for name, case in units.items():
        case.emit("fortran").save(tmp_path / f"{name}.f90")
    (tmp_path / "main.f90").write_text(MAIN)
    files = [f"{name}.f90" for name in names] + ["main.f90"]
    toolchain.execute([toolchain.find().path, *STRICT, "-o", "main", *files], cwd=tmp_path)
    tile, *stars = toolchain.execute([str(tmp_path / "main")]).splitlines()
    case = units["readme_index_kernel"]
    table = case.table.columns["result"].reshape([n for _, n in case.table.axes])
    assert [int(n) for n in tile.split()] == table[1, 2].ravel().tolist()
    star = units["brick_star"].subject
    assert [int(n) for n in stars] == [star(8, 4, 0, 1, 1, i, 2, 3) for i in (0, 2)]
