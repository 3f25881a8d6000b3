"""Divisors that are known at launch: products and shifts in their place, exact for all that they promise."""

import random
import shutil
import subprocess
from typing import NamedTuple

import fake_cuda
import numpy as np
import pytest
from marks import rest_deep, some_deep

from lego_emit import Col, GroupBy, LegoError, Packed, Row, generate, symbols
from lego_emit.errors import OptionError, TargetError
from lego_emit.types import I16, I64, U32, Array, Static

TYPES = ("int32", "uint32", "int64", "uint64")
POSITIVE = ["n >= 0", "d >= 1"]
C_FAMILY = ("c", "cpp", "cuda", "hip")


def strided(idx, d0, d1, d2, d3, s0, s1, s2, s3):
    """candle's get_strided_index of rank 4, its loop unrolled."""
    found = 0
    for size, stride in ((d3, s3), (d2, s2), (d1, s1), (d0, s0)):
        found = found + idx % size * stride
        idx = idx // size
    return found


STRIDED = ["idx >= 0", *(f"d{k} >= 1" for k in range(4))]


def quotient(target, index_type, name="f"):
    return generate(
        lambda n, d: n // d,
        target,
        name=name,
        index_type=index_type,
        assume=POSITIVE,
        prepare=True,
    )


def numbers_of(index_type):
    bits = int(index_type[-2:])  # int53 of JavaScript has all of them
    return bits, index_type.startswith("i")


# -- exactness -------------------------------------------------------------------------------------


def divisors(bits, signed):
    """All small ones, powers of two and their neighbors, products near the limit, random ones."""
    most, rng = 2 ** (bits - signed) - 1, random.Random(1)
    yield from range(1, 2**16)
    for k in range(16, bits):
        yield from (d for d in (2**k - 1, 2**k, 2**k + 1) if d <= most)
    root = int(most**0.5)
    yield from (a * b for a in range(root - 9, root) for b in range(root - 9, root))
    yield from (most - k for k in range(20))
    yield from (rng.randrange(1, 2 ** rng.randrange(1, bits + 1 - signed)) for _ in range(20_000))


@pytest.mark.parametrize("index_type", TYPES)
def test_the_inequalities_of_the_proof_hold(index_type):
    """Those of lego_emit/emit/prepared.py: what follows of them is exact for all dividends."""
    bits, signed = numbers_of(index_type)
    for d in divisors(bits, signed):
        if signed:
            shift = (d - 1).bit_length()
            power = 2 ** (bits - 1 + shift)
            mul = -(-power // d)
            assert mul < 2**bits
            assert (
                0 <= mul * d - power <= 2**shift
            )  # times a dividend below 2^(bits-1), below the power
        else:
            shift = d.bit_length() - 1
            power = 2 ** (bits + shift)
            q, e = divmod(power, d)
            if e == 0:
                assert d == 2**shift
            elif d - e <= 2**shift:
                assert q + 1 < 2**bits
            else:
                assert q < 2**bits
                assert (2**bits - 1) * e <= power - e


CHECK = """
static void check_@(@_t d) {
  const @_t top = TOP_@;
  const @_sizes sizes = @_prepare(d);
  @_t ks[] = {0, 1, 2, 3, top / d / 3, top / d / 2, top / d - 1, top / d};
  for (int k = 0; k < 8; ++k) {
    for (int near = 0; near < 3; ++near) {
      if (ks[k] == (@_t)-1 || ks[k] > top / d || (near == 0 && ks[k] == 0)) continue;
      const @_t n = near == 0 ? ks[k] * d - 1 : near == 1 ? ks[k] * d : ks[k] * d < top ? ks[k] * d + 1 : top;
      if (@(sizes, n) != n / d) { printf("@: %llu / %llu\\n", (unsigned long long)n, (unsigned long long)d); exit(1); }
    }
  }
  const @_t last[] = {d - 1, top, top - 1, top / 2, top / 2 + 1};
  for (int k = 0; k < 5; ++k) {
    if (@(sizes, last[k]) != last[k] / d) { printf("@: %llu / %llu\\n", (unsigned long long)last[k], (unsigned long long)d); exit(1); }
  }
}
"""
MAIN = """
int main(void) {
  unsigned long long state = 1;
  for (unsigned d = 1; d < 1u << 16; ++d) { check_int32((int)d); check_uint32(d); check_int64(d); check_uint64(d); }
  for (int k = 0; k < 64; ++k) {
    for (int near = -1; near < 2; ++near) {
      const uint64_t d = (UINT64_C(1) << k) + (uint64_t)near;
      if (d != 0 && d <= INT32_MAX) check_int32((int32_t)d);
      if (d != 0 && d <= UINT32_MAX) check_uint32((uint32_t)d);
      if (d != 0 && d <= INT64_MAX) check_int64((int64_t)d);
      if (d != 0) check_uint64(d);
    }
  }
  for (int k = 0; k < 20; ++k) {
    check_int32(INT32_MAX - k); check_uint32(UINT32_MAX - (unsigned)k);
    check_int64(INT64_MAX - k); check_uint64(UINT64_MAX - (unsigned)k);
  }
  for (int k = 0; k < 100000; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t d = (state ^ state >> 29) >> (state >> 58);
    if ((d & INT32_MAX) != 0) check_int32((int32_t)(d & INT32_MAX));
    if ((uint32_t)d != 0) check_uint32((uint32_t)d);
    if (d >> 1 != 0) check_int64((int64_t)(d >> 1));
    if (d != 0) check_uint64(d);
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    "flags", rest_deep([[], ["-U__SIZEOF_INT128__"]]), ids=["wide", "by halves"]
)
def test_quotients_are_exact_in_c(flags, tmp_path, toolchain_of):
    path = toolchain_of("c").path()
    text = "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    for kind in TYPES:
        (tmp_path / f"{kind}.h").write_text(quotient("c", kind, kind).source)
        text += f'#include "{kind}.h"\n#define TOP_{kind} {kind.upper()}_MAX\n'
        text += CHECK.replace("@", kind)
    (tmp_path / "main.c").write_text(text + MAIN)
    for command in (
        [path, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", *flags, "main.c", "-o", "main"],
        ["./main"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


# -- what is emitted -------------------------------------------------------------------------------


def points(index_type, count=400):
    """Points of strided() whose values fit the type, and their results."""
    rng, (bits, signed) = random.Random(2), numbers_of(index_type)
    top = 2 ** (min(bits - signed, 63))
    found = []
    while len(found) < count:
        row = [rng.randrange(min(2 ** rng.randrange(1, bits), top))]
        row += [rng.randrange(1, min(top, 2 ** rng.randrange(1, bits - 1) + 1)) for _ in range(4)]
        row += [rng.randrange(4) for _ in range(4)]
        if strided(*row) < top:
            found.append(row)
    return found


OTHERS = ("opencl", "metal", "rust", "julia", "javascript", "glsl", "wgsl", "triton")
KINDS = {
    "triton": TYPES[::2],
    "glsl": TYPES[:2],
    "wgsl": TYPES[:2],
    "javascript": (*TYPES[:2], "int53"),
}


def given(target, index_type):
    return dict(target=target, index_type=index_type, assume=STRIDED, prepare=True)


@pytest.mark.parametrize("target", rest_deep((*C_FAMILY, *OTHERS)))
def test_functions_give_what_the_definition_gives(target, toolchain_of):
    kinds = KINDS.get(target, TYPES)
    units = [generate(strided, name=f"strided_{t}", **given(target, t)) for t in kinds]
    for run, kind in zip(toolchain_of(target).compile(units), kinds, strict=True):
        rows = points(kind)
        got = run[f"strided_{kind}"](*np.array(rows, dtype=np.int64).T)
        assert [v % 2 ** numbers_of(kind)[0] for v in got.tolist()] == [strided(*r) for r in rows]


@pytest.mark.parametrize("target", some_deep(OTHERS, OTHERS))
def test_quotients_are_exact_in_other_languages(target, toolchain_of):
    """Over edge dividends of powers of two and their neighbors, and of random divisors."""
    kinds = KINDS.get(target, TYPES)
    units = [quotient(target, kind, f"f_{kind}") for kind in kinds]
    for run, kind in zip(toolchain_of(target).compile(units), kinds, strict=True):
        (bits, signed), rng = numbers_of(kind), random.Random(3)
        top = 2 ** min(bits - (signed and bits != 53), 63) - 1
        some = [rng.randrange(1, 2 ** rng.randrange(1, bits)) for _ in range(3000)]
        some += [2**k + near for k in range(1, bits) for near in (-1, 0, 1)] + [top, top - 1]
        rows = set()
        for d in some:
            for k in (1, 2, top // d // 2, top // d):
                rows |= {(n, d) for n in (k * d - 1, k * d, k * d + 1, top, top - 1)}
        rows = [(n, d) for n, d in rows if 0 <= n <= top and 1 <= d <= top]
        got = run[f"f_{kind}"](*np.array(rows, dtype=np.int64).T).tolist()
        wrong = [
            (*row, v) for row, v in zip(rows, got, strict=True) if v % 2**bits != row[0] // row[1]
        ]
        assert wrong == []


@pytest.mark.parametrize("target", rest_deep((*C_FAMILY, *OTHERS)))
def test_layouts_are_verified_whole(target, toolchain_of):
    toolchain_of(target)
    M, N, K = symbols("M N K")
    layout = GroupBy([M, N, K]).OrderBy(Row(N, M, K))
    unit = generate(layout, target, index_type="int32", prepare=True)
    apply, inv = unit.program.printed.functions[1:]
    assert apply.params[0].name == inv.params[0].name
    assert unit.verify(sizes={"M": 5, "N": 7, "K": 3})


def function_text(unit, name):
    """The text of a function, from its comment on."""
    text = unit.source
    at = text.rindex("\n\n", 0, text.rindex(f" {name}("))
    return text[at : text.index("\n}\n", at) + 3].strip("\n")


def test_common_quotients_are_shared():
    unit = generate(strided, "c", index_type="int32", assume=STRIDED, prepare=True, terse=True)
    text = function_text(unit, "strided")
    assert text.count("strided_fast_div_i32(") == 4
    assert "%" not in text.split("{")[1] and " / " not in text.split("{")[1]


def test_the_struct_comes_first_and_the_others_keep_their_order():
    def f(i, d, j, e, k):
        return i // d + j // e + e + k

    unit = generate(
        f, "c", index_type="int32", prepare=True, assume=["i >= 0", "j >= 0", "d >= 1", "e >= 1"]
    )
    assert "static inline f_sizes f_prepare(int32_t d, int32_t e) {" in unit.source
    assert "f(f_sizes sizes, int32_t i, int32_t j, int32_t k)" in unit.source
    fields = unit.source[unit.source.index("struct f_sizes {") :].split("}")[0]
    names = [line.split()[1].rstrip(";") for line in fields.splitlines()[1:]]
    assert names == ["d_mul", "d_shift", "e_mul", "e_shift", "e"]  # d itself is not read
    assert [p.name for p in unit.functions[0].params] == ["i", "d", "j", "e", "k"]


def test_divisors_are_products_and_quotients_of_sizes(toolchain_of):
    toolchain_of("cpp")

    def f(i, d1, d2, X0, size):
        return i // (d1 * d2) + i % (X0 // 2) + i // (size // d1)

    more = ["i >= 0", "d1 >= 1", "d2 >= 1", "X0 >= 2", "size >= d1", "size <= 1000", "d1 <= 50"]
    unit = generate(f, "cpp", index_type="int32", assume=more, prepare=True, terse=True)
    text = function_text(unit, "f")
    assert "/" not in text[text.index(") noexcept") :]
    run = unit.compile()["f"]
    for row in [(12345, 7, 11, 90, 100), (999, 1, 1, 2, 1), (2**30 + 1, 50, 40000, 3, 51)]:
        assert run(*row) == f(*row)


def test_a_quotient_is_divided_again_by_what_is_not_prepared(toolchain_of):
    toolchain_of("c")
    more = ["i >= 0", "d >= 1", "e >= 1"]
    unit = generate(
        lambda i, d, e: i // (d // 2 + 1) % e, "c", name="f", assume=more, prepare=["d"]
    )
    assert "sizes.d_div_2_plus_1_mul" in unit.source
    assert unit.compile()["f"](12345, 7, 100) == 12345 // 4 % 100


def test_a_divisor_with_an_index_stays_and_is_named():
    def f(i, j, d):
        return i // d + i // (j + 1)

    assume = ["i >= 0", "0 <= j", "j < 9", "d >= 1"]
    unit = generate(f, "c", index_type="int32", assume=assume, prepare=["d"])
    text = function_text(unit, "f")
    assert "Divided by j + 1 as ever." in text
    assert "i / (j + 1)" in text and "f_fast_div_i32(i, sizes.d_mul, sizes.d_shift)" in text


def test_a_divisor_of_0_is_a_precondition(toolchain_of):
    toolchain_of("cpp")
    unit = generate(
        lambda i, d, e: i // (d * e) + d, "cpp", name="f", index_type="int32", prepare=True,
        assume=["i >= 0", "d >= 0", "e >= 0"],
    )  # fmt: skip
    assert unit.functions[0].assumptions != ()
    assert unit.compile()["f"](70, 2, 5) == 9


class Dim(NamedTuple):
    x: int
    y: int


def tile(i, grid: Dim, tile: Dim):
    return i // grid.x % grid.y + i // tile.x * tile.y


@pytest.mark.parametrize("target", rest_deep(C_FAMILY))
def test_structs_and_arrays_are_prepared_whole(target, toolchain_of):
    def candle(idx, dims: Array[4], strides: Array[4]):
        return strided(idx, *(dims[k] for k in range(4)), *(strides[k] for k in range(4)))

    sizes = [f"dims[{k}] >= 1" for k in range(4)]
    of_tile = [f"{n} >= 1" for n in ("grid.x", "grid.y", "tile.x", "tile.y")]
    units = [
        generate(candle, target, index_type="uint32", assume=sizes, prepare=True),
        generate(tile, target, index_type="int32", assume=["i >= 0", *of_tile], prepare=True),
        generate(
            tile, target, name="part", index_type="int32", assume=["i >= 0", *of_tile],
            prepare=["grid"],
        ),
    ]  # fmt: skip
    one, two, part = toolchain_of(target).compile(units)
    assert one["candle"](1000, (3, 5, 7, 11), (1, 2, 3, 4)) == strided(
        1000, 3, 5, 7, 11, 1, 2, 3, 4
    )
    for run in (two["tile"], part["part"]):
        assert run(1000, Dim(3, 5), Dim(7, 11)) == tile(1000, Dim(3, 5), Dim(7, 11))
    assert "sizes, int32_t i, Dim tile" in units[2].source or target != "c"


def test_a_group_of_sizes_is_prepared_whole(toolchain_of):
    class Shape(NamedTuple):
        rows: int
        columns: int

    toolchain_of("cpp")
    M, N = symbols("M N")
    unit = generate(
        GroupBy([M, N]).OrderBy(Col(M, N)), "cpp", prepare=True, group={"shape": Shape(M, N)}
    )
    assert "layout_prepare(Shape shape)" in unit.source
    assert unit.verify(sizes={"M": 5, "N": 7})
    assert unit.compile()["layout_apply"](Shape(5, 7), 2, 3) == 17


def test_several_subjects_have_a_struct_each(toolchain_of):
    M, N = symbols("M N")
    subjects = {"a": GroupBy([M, N]).OrderBy(Col(M, N)), "b": GroupBy([M, N]).OrderBy(Row(M, N))}
    unit = generate(subjects, "cpp", prepare=True)
    for name in ("a", "b"):
        assert f"{name}_prepare(" in unit.source and f"struct {name}_sizes" in unit.source
    toolchain_of("cpp")
    assert unit.verify(sizes={"M": 5, "N": 7})


def test_static_sizes_are_left_to_the_compiler(toolchain_of):
    toolchain_of("cpp")

    def f(i, BM: Static[int], N):
        return i // (N * BM) + i % BM

    unit = generate(f, "cpp", prepare=True, assume=["i >= 0", "N >= 1", "BM >= 1"], sizes={"BM": 8})
    assert "i / BM" in unit.source and "f_prepare(std::int64_t N)" in unit.source
    assert unit.compile()["f"](1000, 8, 5) == f(1000, 8, 5)


@pytest.mark.parametrize("target", rest_deep(["c", "cpp", "rust", "cuda", "julia", "javascript"]))
def test_declared_types(target, toolchain_of):
    def f(n: U32, d: U32, k: I16) -> I64:
        return n // d * k + n % d

    unit = generate(f, target, prepare=True, assume=["d >= 1"])
    run = toolchain_of(target).compile([unit])[0]["f"]
    assert run(2**32 - 1, 7, -3) == f(2**32 - 1, 7, -3)


@pytest.mark.parametrize("option", ["checks", "hints"])
def test_each_function_asserts_what_it_is_given(option, toolchain_of):
    toolchain_of("c")
    unit = generate(
        lambda i, k, n, d: i // d + k % n, "c", name="f", index_type="int32", prepare=True,
        ranges={"i": (0, "n"), "k": (0, 77)}, assume=["d >= 1", "d < 1000"], **{option: True},
    )  # fmt: skip
    sizes, function = function_text(unit, "f_prepare"), function_text(unit, "f")
    if option == "checks":
        assert "assert(d >= 1 && d < 1000);" in sizes and "assert(k >= 0 && k < 77);" in function
    else:
        assert "ASSUME(1 <= d && d < 1000);" in sizes and "ASSUME(0 <= k && k < 77);" in function
    assert unit.compile()["f"](90, 70, 100, 7) == 90 // 7 + 70


def test_several_index_types(toolchain_of):
    toolchain_of("c")
    unit = generate(
        lambda i, n, m: (i // n % m, i % n), "c", name="f", index_type=["int64", "int32"],
        prepare=True, assume=["i >= 0", "n >= 1", "m >= 1"],
    )  # fmt: skip
    run = unit.compile()
    assert run["f"](2**40 + 1, 3, 5) == ((2**40 + 1) // 3 % 5, (2**40 + 1) % 3)
    assert run["f_i32"](1000, 7, 2) == (142 % 2, 1000 % 7)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, said",
    [
        ({"prepare": ["e"]}, "prepare names e, which is no parameter; there are d, i"),
        ({"prepare": ["i"]}, "prepare names i, which divides nothing"),
        ({"prepare": True, "assume": ["d >= 1"]}, "i may be negative, .* say assume=.'i >= 0'"),
        ({"prepare": True, "assume": ["i >= 0"]}, "d may be negative, .* say assume=.'d >= 0'"),
        ({"prepare": True, "target": "fortran"}, "Fortran has no product that is wider than int32"),
        ({"prepare": True, "target": "python"}, "Python has no product that is wider than"),
        ({"prepare": True, "target": "numpy"}, "NumPy has no product that is wider than"),
        ({"prepare": True, "target": "mlir"}, "MLIR has no product that is wider than"),
        (
            {"prepare": True, "target": "glsl", "index_type": "int64"},
            "give index_type='int32' or 'uin",
        ),
        (
            {"prepare": True, "target": "wgsl", "index_type": "uint64"},
            "give index_type='int32' or 'u",
        ),
        (
            {"prepare": True, "target": "js", "index_type": "int64"},
            "give index_type='int32', 'uint32' o",
        ),
        ({"prepare": True, "results": "out"}, "results is 'out', and what is prepared"),
        ({"prepare": True, "bind": {"d": "dim.x"}}, "bind: d is prepared for a launch"),
        (
            {"prepare": True, "types": {"g_sizes": "uint3"}},
            "types names g_sizes, which is no struct",
        ),
    ],
)
def test_what_cannot_be_prepared_is_refused(options, said):
    given = {"assume": ["i >= 0", "d >= 1"], "target": "cpp", "index_type": "int32", **options}
    with pytest.raises(TargetError, match=said):
        generate(lambda i, d: i // d, name="f", **given)


@pytest.mark.parametrize("text", ["*", "True"])
def test_all_are_named_on_a_command_line(text):
    unit = generate(lambda i, d: i // d, "c", name="f", prepare=text, assume=["i >= 0", "d >= 1"])
    assert "f_prepare(" in unit.source


def test_the_bits_of_fields_are_not_prepared():
    N, bits = symbols("N bits")
    fields = Packed(Row(N), bits, word=32, straddle=False)
    with pytest.raises(LegoError, match="take bits, which is not prepared for a launch"):
        generate(fields, "c", name="f", prepare=True, ranges={"bits": (1, 33)})


def test_nothing_to_prepare_is_refused():
    with pytest.raises(TargetError, match="no divisor of f is made of parameters alone"):
        generate(lambda i, d: i + d, "c", name="f", prepare=True)


def test_a_view_and_an_array_form_are_refused():
    M, N = symbols("M N")
    with pytest.raises(TargetError, match="has a view"):
        generate(GroupBy([M, N]).OrderBy(Col(M, N)), "cpp", view=True, prepare=True)


@pytest.mark.parametrize("value", [3, "", ["d", 1], {"d": 1}])
def test_the_option_is_checked(value):
    with pytest.raises(OptionError, match="give True, or a list of parameters"):
        generate(lambda i, d: i // d, "c", prepare=value)


def test_a_prepared_unit_is_not_timed():
    unit = quotient("c", "int32")
    with pytest.raises(LegoError, match="takes what f_prepare makes once for a launch"):
        unit.time(sizes={"d": 3})


@pytest.mark.deep
def test_on_a_gpu(monkeypatch, need):
    """Called and verified by kernels, which the stand-in of a GPU runs."""
    need("g++", "apt-get install g++")
    fake_cuda.install(monkeypatch)
    M, N = symbols("M N")
    unit = generate(GroupBy([M, N]).OrderBy(Col(M, N)), "cuda", index_type="int32", prepare=True)
    assert unit.verify("gpu", sizes={"M": 8, "N": 9})
    assert unit.compile("gpu")["layout_apply"](8, 9, 3, 5) == 43


@pytest.mark.parametrize("language", ["cuda", "hip"])
@pytest.mark.deep
def test_device_code(language, tmp_path, toolchain_of):
    """Of all index types, by the compiler of the device."""
    toolchain = toolchain_of(language)
    units = [quotient(language, kind, f"f_{kind}") for kind in TYPES]
    if language == "cuda" and shutil.which("nvcc") is None:
        pytest.skip("nvcc is missing")
    made = toolchain.assembly if language == "hip" else toolchain.cubin
    paths = made(units, tmp_path)
    assert paths and all(path.exists() for path in paths)


@pytest.mark.deep
def test_clippy_and_rustfmt_find_nothing(tmp_path, need):
    clippy = need("clippy-driver", "apt-get install rust-clippy")
    rustfmt = need("rustfmt", "apt-get install rustfmt")
    kinds = (*TYPES, "usize")
    for kind in kinds:
        unit = generate(strided, name=f"s_{kind}", **given("rust", kind))
        (tmp_path / f"s_{kind}.rs").write_text(unit.source)
    (tmp_path / "lib.rs").write_text("".join(f"pub mod s_{kind};\n" for kind in kinds))
    lints = ["-D", "warnings", "-W", "clippy::pedantic", "--emit=metadata", "--crate-type=lib"]
    for command in (
        [clippy, "--edition", "2021", *lints, "lib.rs"],
        [rustfmt, "--edition", "2021", "--check", *(f"s_{kind}.rs" for kind in kinds)],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
