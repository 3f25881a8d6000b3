"""Structs and arrays in signatures: read from annotations, emitted, run and compared."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from lego_emit import LegoError, generate
from lego_emit.types import Array

LANGUAGES = "c cpp cuda hip opencl metal rust fortran julia javascript glsl wgsl python numpy triton mlir".split()
C_FAMILY = "c cpp cuda hip metal opencl".split()


class Coord(NamedTuple):
    x: int
    y: int
    z: int


@dataclass(frozen=True)
class Box:
    low: int
    high: int


class Empty(NamedTuple):
    pass


class Weighted(NamedTuple):
    x: int
    weight: float


def voxel(size: Coord, at: Coord) -> int:
    return (at.z * size.y + at.y) * size.x + at.x


def unravel(size: Coord, n: int) -> Coord:
    return Coord(n % size.x, n // size.x % size.y, n // (size.x * size.y))


def offset(X: Array[4], i: Array[4]) -> int:
    flat = 0
    for k in range(4):
        flat = flat * X[k] + i[k]
    return flat


def turned(i: tuple[int, int, int]) -> tuple[int, int, int]:
    return i[1], i[2], i[0]


def clipped(box: Box, n: int) -> Box:
    return Box(min(box.low, n), max(box.high, n))


RANGES = {f"at.{c}": (0, f"size.{c}") for c in "xyz"}
ELEMENTS = {f"i[{k}]": (0, f"X[{k}]") for k in range(4)}


@pytest.fixture(scope="module", params=LANGUAGES)
def compiled(request, toolchain_of):
    """The functions of a language, by name."""
    toolchain = toolchain_of(request.param)
    units = [
        generate(voxel, request.param, ranges=RANGES),
        generate(unravel, request.param, ranges={"n": (0, "size.x*size.y*size.z")}),
        generate(offset, request.param, ranges=ELEMENTS),
        generate(turned, request.param),
        generate(clipped, request.param),
    ]
    runs = toolchain.compile(units)
    return {
        unit.program.name.removesuffix(f"_{request.param}"): run
        for unit, run in zip(units, runs, strict=True)
    }


def run(compiled, name):
    """The function of a unit."""
    unit = compiled[name]
    return unit[next(iter(unit))]


def test_structs(compiled):
    size = Coord(4, 5, 6)
    for n in range(120):
        at = unravel(size, n)
        assert run(compiled, "voxel")(size, at) == n
        assert run(compiled, "voxel")((4, 5, 6), [*at]) == n
        found = run(compiled, "unravel")(size, n)
        assert found == at and type(found) is Coord
    assert run(compiled, "clipped")(Box(3, 9), 12) == Box(3, 12)


def test_arrays(compiled):
    X = (2, 3, 4, 5)
    for n, i in enumerate(np.ndindex(*X)):
        assert run(compiled, "offset")(X, i) == n
    assert run(compiled, "turned")((7, 8, 9)) == (8, 9, 7)


def test_members_by_columns(compiled):
    n = np.arange(120)
    found = run(compiled, "unravel")(4, 5, 6, n)
    assert (run(compiled, "voxel")(4, 5, 6, *found) == n).all()
    whole = run(compiled, "unravel")(Coord(4, 5, 6), n)
    assert type(whole) is Coord and (whole.z == n // 20).all()


def test_verify(toolchain_of):
    toolchain_of("cpp")
    unit = generate(unravel, "cpp", ranges={"n": (0, "size.x*size.y*size.z")})
    found = unit.verify(sizes={"size": Coord(4, 5, 6)})
    assert found and "equal (120 indices" in str(found)


# -- texts ---------------------------------------------------------------------------------------


def test_cpp():
    text = generate(voxel, "cpp", ranges=RANGES).source
    assert "constexpr std::int64_t voxel(Coord size, Coord at) noexcept {" in text
    assert "return size.x * (size.y * at.z + at.y) + at.x;" in text
    assert "/// @param at 0 <= at.x < size.x, 0 <= at.y < size.y, 0 <= at.z < size.z\n" in text
    assert "// voxel(size: Coord, at: Coord) -> int\n" in text
    text = generate(offset, "cpp", ranges=ELEMENTS).source
    assert "offset(\n    const std::int64_t (&X)[4], const std::int64_t (&i)[4]) noexcept {" in text
    assert (
        "std::array<std::int32_t, 3> turned(" in generate(turned, "cpp", index_type="int32").source
    )


def test_a_struct_in_two_files(tmp_path, toolchain_of):
    """Of one content it is one type; of another the compiler says which."""
    path = toolchain_of("cpp").path()
    (tmp_path / "a.hpp").write_text(generate(voxel, "cpp", ranges=RANGES).source)
    (tmp_path / "b.hpp").write_text(
        generate(unravel, "cpp", assume=["size.x >= 1", "size.y >= 1"]).source
    )
    narrow = generate(unravel, "cpp", index_type="int32", name="other").source
    (tmp_path / "c.hpp").write_text(narrow)

    def built(*files):
        text = "".join(f'#include "{f}"\n' for f in files)
        text += "int main() { return int(lego::voxel({4, 5, 6}, lego::unravel({4, 5, 6}, 31)) - 31); }\n"
        (tmp_path / "main.cpp").write_text(text)
        return subprocess.run(
            [path, "-std=c++17", "-Wall", "-Werror", "main.cpp"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    assert built("a.hpp", "b.hpp").returncode == 0
    assert subprocess.run([tmp_path / "a.out"], check=False).returncode == 0
    assert "two different structs are named Coord" in built("a.hpp", "b.hpp", "c.hpp").stderr


def test_sizes_that_are_numbers(toolchain_of):
    toolchain_of("cpp")
    for sizes in ({"size": Coord(4, 5, 6)}, {"size.x": 4, "size.y": 5, "size.z": 6}):
        unit = generate(voxel, "cpp", sizes=sizes)
        assert [p.name for p in unit.functions[0].params] == ["at.x", "at.y", "at.z"]
    unit = generate(
        voxel, "cpp", sizes={"size.x": 4}, ranges={"at.x": (0, 4), "at.y": (0, "size.y")}
    )
    assert "voxel(Coord size, Coord at)" in unit.source
    assert unit.compile()["voxel"](Coord(4, 5, 6), Coord(3, 2, 1)) == 31
    unit = generate(offset, "cpp", sizes={"X": (2, 3, 4, 5)})
    assert unit.compile()["offset"]((1, 2, 3, 4)) == 119


def test_annotations_that_say_nothing():
    def plain(M: int, i: "an index", j: list[int] = 3) -> "the position":  # noqa: F722
        return M * i + j

    unit = generate(plain, "cpp")
    assert "plain(std::int64_t M, std::int64_t i)" in unit.source


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["cpp", "python"])
@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        ({"p": Empty}, "the annotation of p is Empty, a struct without fields; give it integers"),
        (
            {"p": Weighted},
            "whose field weight is float; a struct holds integers: write weight: int",
        ),
        ({"p": "Coords"}, "the annotation of p is 'Coords', and nobody defined Coords; import it"),
        ({"p": Array}, "the annotation of p is Array; say how many elements it has, as Array[4]"),
        ({"return": Empty}, "its result's is Empty, a struct without fields"),
    ],
)
def test_annotations_that_are_wrong(language, annotations, said):
    def function(p, i):
        return i

    function.__annotations__ = annotations
    with pytest.raises(LegoError) as error:
        generate(function, language)
    assert said in str(error.value) and str(error.value).startswith("function: ")


@pytest.mark.parametrize("count", [0, -1, True, "4", 2.0, 10**6])
def test_arrays_of_no_number(count):
    with pytest.raises(LegoError, match="an array has a number of elements, 1 to 4096"):
        Array[count]


def test_elements_that_are_not_there():
    def beyond(X: Array[4], i: int) -> int:
        return X[4] * i

    def variable(X: Array[4], i: int) -> int:
        return X[i]

    with pytest.raises(LegoError, match=r"X\[4\]: the array has 4 elements, 0 to 3"):
        generate(beyond, "cpp")
    with pytest.raises(LegoError, match="X is read at an index that is no constant"):
        generate(variable, "cpp")


def test_results_of_another_form():
    def short(i: int) -> Coord:
        return i, i

    with pytest.raises(LegoError, match=r"short returns .*, and its annotation says Coord"):
        generate(short, "cpp")


def test_two_structs_of_one_name():
    class Other(NamedTuple):
        a: int

    Other.__name__ = "Coord"

    def first(p: Coord) -> int:
        return p.x

    def second(p: Coord) -> int:
        return p.a

    second.__annotations__ = {"p": Other}
    with pytest.raises(LegoError, match="two structs are named Coord: one of x, y, z, one of a"):
        generate([first, second], "cpp")
