"""Julia: every golden text in one process, types and allocations of the functions, each index type,
the extremes of floor division and modulo, array forms, and modules used together."""

from dataclasses import dataclass

import index_functions
import numpy as np
import programs
import pytest
from marks import every_width
from typed import Coord, offset, turned, unravel, voxel

from lego_emit import GroupBy, generate
from lego_emit.check.tables import arguments_of, wanted_of
from lego_emit.emitted import emit_program
from lego_emit.ir.index_types import INT32
from lego_emit.ir.program import Function, Param, Program
from lego_emit.ir.relations import between
from lego_emit.targets import julia as julia_target
from lego_emit.types import Array

pytestmark = pytest.mark.slow

FLAGS = [*julia_target.FLAGS, "--check-bounds=yes"]
TYPES = {"int32": ("Int32", "Int64"), "int64": ("Int64",), "uint32": ("UInt32", "UInt64")}
julia = pytest.mark.parametrize("toolchain", ["julia"], indirect=True)


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


def run(toolchain, folder, script):
    """What julia prints for a script, as lines; warnings count as printed."""
    (folder / "main.jl").write_text(script)
    command = [toolchain.find().path, *FLAGS, "main.jl"]
    return toolchain.execute(command, cwd=folder).splitlines()


# -- golden cases --------------------------------------------------------------------------------

CHECK = """
allocated(f::F, arguments::A) where {F, A} = @allocated f(arguments...)

function check(f, arguments, kind, result)
    typed = map(kind, arguments)
    found = Base.return_types(f, typeof(typed))
    found == Any[result] || println("$f: returns $found, not $result")
    f(typed...) isa result || println("$f: gives another type than $result")
    allocated(f, typed)
    bytes = allocated(f, typed)
    bytes == 0 || println("$f: allocates $bytes bytes for $kind")
end

function check_array(f, arguments, kind, result)
    found = Base.return_types(f, Tuple{ntuple(_ -> kind, length(arguments))...})
    found == Any[result] || println("$f: returns $found, not $result")
end

"""


@pytest.mark.deep
@julia
def test_every_golden_function_is_type_stable_and_allocates_nothing(toolchain, cases, tmp_path):
    """Every case in 32 bits, where each function takes Int32 and Int64 and gives back what it took,
    and with symbolic sizes."""
    narrow, _ = index_functions.retyped(cases, "julia", "int32")
    fixed = [(case, numbers) for numbers, those in narrow.items() for case in those]
    script, functions = [CHECK], 0
    for case, numbers in [*fixed, *((case, False) for case in cases if case.sizes)]:
        unit = case.emit("julia", numbers)
        holder, module = f"Unit{len(script)}", unit.printer.module_name(unit.program.name)
        unit.save(tmp_path / f"{holder}.jl")
        script.append(f'module {holder}\ninclude("{holder}.jl")\nend')
        for position, function in enumerate(unit.functions):
            names, points, _ = wanted_of(case, function, inverse=position == 1)
            given = arguments_of(case, function, names, points)
            first = [int(x[0]) if isinstance(x, np.ndarray) else x for x in given]
            for kind in TYPES[function.index_type]:
                script += checks(unit, function, f"{holder}.{module}", first, kind)
            functions += 1
    assert functions > 140
    assert not run(toolchain, tmp_path, "\n".join(script))


@julia
def test_a_literal_that_widens_is_found(toolchain, tmp_path):
    """A test of the test before."""
    kind = type(emit_program(programs.one_parameterless(), "julia").printer)
    broken = type("Broken", (kind,), {"literal": lambda self, value, index_type: str(value)})()
    result = programs.node("add", programs.var("a", -50, 50), programs.const(4))
    program = Program("wide", (programs.function("f", {"result": result}, params="a"),), "")
    for printer, right in ((kind(), True), (broken, False)):
        (tmp_path / "wide.jl").write_text(printer.emit(program).replace("::Ti where", " where"))
        script = CHECK + 'include("wide.jl")\ncheck(Wide.f, (3,), Int32, Int32)\n'
        assert (not run(toolchain, tmp_path, script)) is right


def checks(unit, function, module, arguments, kind):
    count = len(function.outputs)
    element = kind if count == 1 else f"NTuple{{{count}, {kind}}}"
    if function.named:
        names = ", ".join(f":{name}" for name, _ in function.outputs)
        element = f"NamedTuple{{({names}), {element}}}"
    yield f"check({module}.{function.name}, ({', '.join(map(str, arguments))},), {kind}, {element})"
    if function.axes:
        scalars = arguments[: -len(function.axes)]
        array = f"{module}.{unit.printer.array_name(function.name)}"
        result = f"Array{{{element}, {len(function.axes)}}}"
        yield f"check_array({array}, ({', '.join(map(str, scalars))},), {kind}, {result})"


@pytest.mark.deep
@julia
@every_width
def test_every_case_in_each_index_type(toolchain, cases):
    """Unsigned ones, too: nothing on the way is negative."""
    types = ["int32", "int64", "uint32", "uint64"]
    counts = index_functions.assert_every_width(cases, "julia", types)
    assert counts["int32"] == counts["int64"] == len(cases)
    assert counts["uint32"] == counts["uint64"] == len(cases)


@julia
def test_32_bit_units_take_64_bit_arguments(toolchain, cases, monkeypatch):
    monkeypatch.setitem(julia_target.INDEX_TYPES, "int32", "Int64")
    assert index_functions.assert_every_width(cases, "julia", ["int32"]) == {"int32": len(cases)}


def near_and_far(n, i):
    return {"near": GroupBy([n])[i], "far": GroupBy([n])[i] + n}


@julia
@pytest.mark.parametrize("index_type, widest", [("int32", "Int64"), ("uint64", "UInt64")])
def test_integers_of_any_types(toolchain, tmp_path, index_type, widest):
    """Mixed and other types are converted to the widest one."""
    generate(near_and_far, "julia", index_type=index_type).save(tmp_path / "unit.jl")
    script = f"""
    include("unit.jl")
    using .NearAndFar
    for (n, i) in ((10, Int32(3)), (UInt8(10), true), (big(10), 3), (0x0a, 0x03))
        result = near_and_far(n, i)
        result isa NamedTuple{{(:near, :far), NTuple{{2, {widest}}}}} || println(typeof(result))
        (result.near, result.far) == (i, i + 10) || println(result)
    end
    """
    assert not run(toolchain, tmp_path, script)


def of_struct(size: Coord):
    return GroupBy([size.x, size.y])


def of_array(X: Array[2]):
    return GroupBy([X[0], X[1]])


@julia
@pytest.mark.parametrize("index_type", [*TYPES, "uint64"])
def test_structs_and_tuples(toolchain, tmp_path, index_type):
    """Functions of them are type-stable and allocate nothing, and take members of other types; a view
    holds them."""
    one = "check_one(f, arguments, result) = check(f, arguments, identity, result)"
    script = [CHECK, one]
    for function in (voxel, unravel, offset, turned):
        generate(function, "julia", index_type=index_type).save(
            tmp_path / f"{function.__name__}.jl"
        )
        script.append(f'include("{function.__name__}.jl")')
    for kind in TYPES.get(index_type, ("UInt64",)):
        given = f"Unravel.Coord(map({kind}, (4, 5, 6))...)"
        script += [
            f"dims, spot = map(T -> T(map({kind}, (4, 5, 6))...), (Voxel.Coord, Voxel.Coord))",
            f"check_one(Voxel.voxel, (dims, spot), {kind})",
            f"check_one(Unravel.unravel, ({given}, {kind}(31)), typeof({given}))",
            f"check_one(Offset.offset, (map({kind}, (2, 3, 4, 5)), map({kind}, (1, 2, 3, 4))), {kind})",
            f"check_one(Turned.turned, (map({kind}, (7, 8, 9)),), NTuple{{3, {kind}}})",
        ]
    layouts = [
        generate(f, "julia", view=True, index_type=index_type, name=f.__name__)
        for f in (of_struct, of_array)
    ]
    for unit in layouts:
        unit.save(tmp_path / f"{unit.program.name}.jl")
        script.append(f'include("{unit.program.name}.jl")')
    script.append("""
    Voxel.voxel(Voxel.Coord(0x4, Int32(5), 6), Voxel.Coord(3, big(2), true)) == 31 || println("mixed")
    Tuple(getfield(Unravel.unravel(Unravel.Coord(4, 5, 6), UInt8(31)), k) for k in 1:3) == (3, 2, 1) ||
        println("other types")
    Offset.offset((2, 0x3, 4, Int32(5)), (1, 2, 3, 4)) == 119 || println("tuples")
    views = OfStruct.OfStructView(collect(1:12), OfStruct.Coord(3, 4, 1)),
        OfArray.OfArrayView(collect(1:12), (3, 0x4))
    for view in views
        size(view) === (3, 4) || println(size(view))
        view == permutedims(reshape(1:12, 4, 3)) || println(view)
        view[2, 3] = 70
        view.data[7] == 70 || println(view.data)
        other = Base.unaliascopy(view)
        other == view && other.data !== view.data || println(other)
    end
    """)
    assert not run(toolchain, tmp_path, "\n".join(script))


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


@julia
@pytest.mark.parametrize("index_type", ["int32", "int64", "uint32", "uint64"])
def test_floor_division_and_modulo_at_the_ends(toolchain, index_type):
    """The remainder of the least integer by -1 is 0; its quotient does not fit, and is left out."""
    assert index_functions.assert_floors(toolchain, index_type) > 450


@julia
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_constant_divisors_at_the_ends(toolchain, index_type):
    least, most = programs.INDEX_TYPES[index_type].ends
    values = np.array([least, least + 1, least + 2, *range(-9, 10), most - 1, most])
    units = [generate(f, "julia", name=n, index_type=index_type) for n, f in CONSTANT.items()]
    for made, (name, function) in zip(toolchain.compile(units), CONSTANT.items(), strict=True):
        assert made[name](values).tolist() == [function(a) for a in values.tolist()], name


# -- the array form ------------------------------------------------------------------------------


@julia
def test_array_forms(toolchain):
    """One, two and three axes, one and two results, symbolic and fixed sizes, in every type."""
    index_functions.assert_arrays(
        toolchain, index_functions.array_units("julia", ["int32", "int64", "uint32", "uint64"])
    )


@julia
def test_the_array_form_of_the_golden_case(toolchain, cases):
    case = next(case for case in cases if case.name == "readme_index_kernel")
    want = case.table.columns["result"].reshape([n for _, n in case.table.axes])
    for numbers, sizes in ((False, [*case.sizes.values()]), (True, [])):
        array = case.emit("julia", numbers).compile().array("index_kernel")
        for pid_m, pid_n in np.ndindex(4, 4):
            assert (array(*sizes, pid_m, pid_n) == want[pid_m, pid_n]).all()


@julia
def test_array_forms_from_one_and_beside_their_like(toolchain):
    """Axes that run from 1; a function that has the name of another one's array form."""
    unit = emit_program(array_program(), "julia")
    made = toolchain.compile([unit])[0]
    assert [f.name for f in unit.functions] == ["tile_positions", "tile_2"]
    assert "for i in Ti(1):rows, j in Ti(1):Ti(3)]" in unit.source
    assert "element `[i, j]` is `tile_2(rows, i, j)`" in unit.source
    i, j = np.ogrid[1:5, 1:4]
    assert (made.array("tile_2")(4) == 10 * i + j).all()


def array_program():
    """10*i + j of 1-based axes i and j, over (rows, 3)."""

    @dataclass(frozen=True)
    class FromOne(Function):
        base: int = 1

    i, j, rows = (programs.var(name, 0, 50) for name in ("i", "j", "rows"))
    result = programs.node("add", programs.node("mul", programs.const(10), i), j)
    params = tuple(Param(n, between(1, 51), 1, 50) for n in ("rows", "i", "j"))
    axes = (("i", rows), ("j", programs.const(3)))
    tile = FromOne("tile", params, (), (("result", result),), INT32, axes=axes)
    taken = programs.function("tile_positions", {"result": programs.var("a")}, params="a")
    return Program("tiles", (taken, tile), "tiles")


# -- in a program --------------------------------------------------------------------------------

MAIN = """
include("readme_index_kernel.jl")
include("brick_star.jl")
using .IndexKernel, .BrickStar

tile = index_kernel_positions(12, 20, 3, 5, 1, 2)
for i in 0:2, j in 0:4
    tile[i + 1, j + 1] == index_kernel(12, 20, 3, 5, 1, 2, i, j) || println("wrong at $i, $j")
end
println(join(vec(permutedims(tile, (2, 1))), ' '))
println(tile == index_kernel.(12, 20, 3, 5, 1, 2, 0:2, (0:4)'))
println(join(brick_star.(8, 4, 0, 1, 1, [0, 2], 2, 3), ' '))
println(occursin("row-major order", string(@doc index_kernel_positions)))
"""


@julia
def test_modules_in_one_program(toolchain, cases, tmp_path):
    """Two modules whose names come with `using`; the functions broadcast; the documentation is
    there."""
    units = {c.name: c for c in cases if c.name in ("readme_index_kernel", "brick_star")}
    for name, case in units.items():
        case.emit("julia").save(tmp_path / f"{name}.jl")
    tile, same, stars, documented = run(toolchain, tmp_path, MAIN)
    case = units["readme_index_kernel"]
    table = case.table.columns["result"].reshape([n for _, n in case.table.axes])
    assert [int(n) for n in tile.split()] == table[1, 2].ravel().tolist()
    star = units["brick_star"].subject
    assert [int(n) for n in stars.split()] == [star(8, 4, 0, 1, 1, i, 2, 3) for i in (0, 2)]
    assert same == documented == "true"
