"""Copies in Rust, Fortran, Julia, JavaScript and NumPy: run, and compared with the layouts and with NumPy."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from marks import rest_deep, rest_slow
from test_copies import verified
from test_javascript import STRICT

from lego_emit import Col, GenP, GroupBy, Linear, RegP, Row, Strided, catalogue, copy, pack, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.cli import main
from lego_emit.copies.running import library
from lego_emit.errors import LayoutError, LegoError
from lego_emit.run import registry

M, N, C, H, W, LD = symbols("M N C H W LD")
LANGUAGES = ("rust", "fortran", "julia", "javascript", "numpy")
SWIZZLED = catalogue["nvidia.SW128"](8, 8)

COPIES = {
    "transposed": (Row(M, N), Col(M, N), {}),
    "ragged": (Row(37, 9), Padded([37, 9], Strided(((4, 4, 3), (4, 3)), ((4, 1, 16), (192, 48)))), {"element": 3}),
    "triangle": (catalogue["lapack.TP"](6, "U"), Row(6, 6), {"element": 8}),
    "blocked": (Row(W, C, H, W), catalogue["onednn.nChw16c"](W, C, H, W), {}),
    "pitched": (Strided((M, N), (LD, 1)), Row(M, N), {"assume": ["LD >= N"]}),
    "planes": (Row(M, N, 3), RegP([M, N, 3], [2, 0, 1]), {"element": "uint8"}),
    "packed": (RegP([M, N, 3], [2, 0, 1]), Row(M, N, 3), {"element": "uint16"}),
    "morton": (Row(16, 16), catalogue["morton.2D"](16, 16), {"element": 1}),
    "records": (Row(M, N), Col(M, N), {"element": 16}),
    "swizzled": (Row(*SWIZZLED.dims), SWIZZLED, {"element": 2}),
    "curve": (Row(8, 8), catalogue["hilbert.2D"](8, 8), {"element": 8}),
    "bytes_of": (Row(M, N), Col(M, N), {"element": 1}),
    "shared": (Row(64, 1024), Col(64, 1024), {}),
    "bottom_up": (Strided((M, N), (-N, 1), offset=N * (M - 1)), Col(M, N), {}),
    "mirrored": (Strided((M, N), (N, -1), offset=N - 1), catalogue["tenstorrent.TILE"](M, N), {"element": 2}),
    "reversed": (Row(8, 16), Strided((8, 16), (-16, -1), offset=127), {"element": 1}),
    "blocks": (Row(201, 299), Col(201, 299), {}),
    "pairs": (Row(75, 77), Col(75, 77), {"element": 8}),
    "wide": (Row(35, 37), Col(35, 37), {"element": 16}),
    "rows": (Row(2, 64, 50), RegP((2, 64, 50), [0, 2, 1]), {"element": 4}),
    "fields": (Row(33, 3, 50), RegP((33, 3, 50), [2, 1, 0]), {"element": 1}),
    "structs": (Row(601, 4), Col(601, 4), {"element": 4}),
    "squares": (Row(64, 64), catalogue["morton.2D"](64, 64), {"element": 4}),
    "panels": (Row(66, 96), Strided((66, (32, 3)), (32, (1, 66 * 32))), {"element": 4}),
    "gaps": (Strided((M, N), (N + 8, 1)), catalogue["cublaslt.COL32_2R_4R4"](M, N), {"element": 1}),
}  # fmt: skip


def made(name, target):
    A, B, options = COPIES[name]
    return copy(A, B, target, name=name, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(COPIES, 3))
@pytest.mark.parametrize("target", LANGUAGES)
def test_routines_are_verified(name, target):
    found = verified(made(name, target))
    assert found, str(found)


@pytest.mark.parametrize(
    "target, name, told, line, times",
    [
        ("fortran", "blocks", 64, "dst(into", 8),
        ("fortran", "structs", 4, "!GCC$ unroll 4", 1),
        ("javascript", "blocks", 16, "dstWords[into", 16),
        ("javascript", "pairs", 4, "dstWords[2 * into", 8),
        ("javascript", "squares", 16, "dstWords[into", 16),
        ("julia", "blocks", 0, "min(", 2),
        ("julia", "structs", 0, "(t1 + 63)", 1),
    ],
)
def test_blocks_are_moved_by_statements_where_tiles_are_worth_it(target, name, told, line, times):
    text = made(name, target).source
    assert text.count(line) == times
    assert (f"blocks of {told} elements" in text) == bool(told)
    assert name != "blocks" or "min(" in text  # the last tile is moved back
    few = copy(Row(8, 8), Col(8, 8), target)
    assert "into" not in few.source and "single elements" in few.source


@pytest.mark.parametrize("target, long", [("julia", "copyto!"), ("javascript", ".subarray(")])
def test_short_runs_are_moved_by_a_loop(target, long):
    assert long not in made("panels", target).source
    assert long in copy(Row(66, 384), Strided((66, (128, 3)), (128, (1, 66 * 128))), target).source


@pytest.mark.slow
@pytest.mark.parametrize("target", LANGUAGES)
def test_routines_do_what_numpy_does(target):
    unit = copy(Row(M, N), Col(M, N), target, name="transposed")
    for m, n in ((16, 16), (17, 15), (1, 33), (64, 48)):
        given = np.arange(m * n, dtype=np.float32) - 5
        given[0] = np.array([0x7FA00001], np.uint32).view(np.float32)[0]  # a signaling NaN
        found = unit.run(given, M=m, N=n)
        wanted = given.view(np.uint32).reshape(m, n).T.reshape(-1)
        assert np.array_equal(found.view(np.uint32), wanted)
    given = np.arange(32 * 48, dtype=np.int16)
    tiles = pack(Row(4, 6, 8, 8), target, of=(32, 48), element="int16").run(given)
    assert np.array_equal(tiles, given.reshape(4, 8, 6, 8).transpose(0, 2, 1, 3).reshape(-1))


@pytest.mark.slow
def test_a_box_of_nothing_may_begin_behind_a_memory_in_numpy():
    unit, sizes = made("gaps", "numpy"), {"M": 2, "N": 37}
    given = np.arange(2 * 37 + 8, dtype=np.uint8)
    assert np.array_equal(unit.run(given, **sizes), unit.plan.run(given, sizes))


RANKS = """program ranks
  use, intrinsic :: iso_fortran_env, only: int64, real32
  use transposed_mod, only: transposed
  implicit none
  real(real32) :: flat(6), a(2, 3), b(3, 2), w(6, 4)
  real(real32), allocatable :: c(:, :, :)
  integer :: k
  flat = [(real(k, real32), k = 1, 6)]
  a = reshape(flat, [2, 3])
  allocate(c(3, 1, 2))
  call transposed(3_int64, 2_int64, a, b)
  if (any(abs(b - transpose(a)) > 0)) error stop 'rank 2'
  call transposed(3_int64, 2_int64, a(1, 1), c)
  if (any(abs(c(:, 1, :) - b) > 0)) error stop 'an element, and rank 3'
  w = 0
  call transposed(3_int64, 2_int64, flat, w(1:6:2, 1:4:3))
  if (any(abs(w(1:6:2, 1:4:3) - b) > 0) .or. nint(sum(w)) /= 21) error stop 'a section'
  call inner(a, b)
contains
  subroutine inner(src, dst)
    real(real32), intent(in) :: src(*)
    real(real32), intent(inout) :: dst(*)
    call transposed(3_int64, 2_int64, src, dst)
  end subroutine inner
end program ranks
"""


@pytest.mark.slow
def test_arrays_of_any_rank_in_fortran(tmp_path, need):
    gfortran = need("gfortran", "apt-get install gfortran")
    (tmp_path / "unit.f90").write_text(made("transposed", "fortran").source)
    (tmp_path / "ranks.f90").write_text(RANKS)
    strict = ["-std=f2018", "-Wall", "-Wextra", "-Werror", "-fcheck=bounds,pointer,mem"]
    command = [gfortran, *strict, "unit.f90", "ranks.f90", "-o", "ranks"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "ranks"], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "opencl", "glsl", *LANGUAGES])
def test_a_source_may_be_read_only(target):
    given = np.arange(12, dtype=np.float32)
    given.setflags(write=False)
    found = copy(Row(M, N), Col(M, N), target, name="transposed").run(given, M=3, N=4)
    assert np.array_equal(found, given.reshape(3, 4).T.reshape(-1))


@pytest.mark.slow
@pytest.mark.parametrize("target", LANGUAGES)
def test_a_faulty_text_is_not_verified(target):
    unit = made("transposed", target)
    wrong = {
        "rust": ("i0 + N * i1]", "N * i0 + i1]"),
        "fortran": ("i0 + N * i1)", "i0 + M * i1)"),
        "julia": ("i0 + N * i1", "i0 + M * i1"),
        "javascript": ("i0 + N * i1", "i0 + M * i1"),
        "numpy": ("(1, N)", "(N, 1)"),
    }[target]
    text = unit.source.replace(*wrong)
    assert text != unit.source
    try:
        assert not replace(unit, source=text).verify()
    except LegoError as error:  # a language that checks bounds
        assert target in ("rust", "numpy"), error


# What is wrong with a call, in words of each language.
CALLS = {
    "rust": ("fn main() { unit::transposed(3, 2, &[0u32; 6], &mut [0u32; 5]); }", "main.rs:3:13:\ndst is too short"),
    "julia": ("Transposed.transposed!(zeros(Float32, 5), zeros(Float32, 6), 3, 2)", "dst is too short"),
    "javascript": ("transposed(3, 2, new Float32Array(6), new Float32Array(5));", "dst is too short"),
    "numpy": ("transposed(3, 2, np.zeros(6, 'f4'), np.zeros(5, 'f4'))", "too short"),
}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("target", CALLS)
def test_an_array_that_is_too_short_is_refused(target, tmp_path):
    unit, (call, said) = made("transposed", target), CALLS[target]
    file = tmp_path / f"unit{unit.printer.extension}"
    file.write_text(unit.source)
    program = sys.executable if target == "numpy" else registry.toolchain(target).path()
    if target == "rust":
        (tmp_path / "main.rs").write_text(f"#![allow(dead_code)]\nmod unit;\n{call}\n")
        subprocess.run([program, "main.rs"], cwd=tmp_path, check=True)
        command = [tmp_path / "main"]
    else:
        file.write_text(f"{unit.source}\n{call}\n")
        more = ["--compile=min"] if target == "julia" else []  # some builds crash on an error
        command = [program, *more, file]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and said in done.stderr


def test_numpy_takes_arrays_without_masks_and_sizes_of_any_integer_type():
    scope: dict = {}
    exec(made("transposed", "numpy").source, scope)
    moved, given = scope["transposed"], np.arange(200 * 3, dtype="f4")
    found = moved(np.uint8(200), np.int8(3), given)
    assert np.array_equal(found, given.reshape(200, 3).T.reshape(-1))
    masked = np.ma.masked_array(given, given < 3)
    for wrong in ((given.tolist(),), (masked,), (given, masked), (given, found.tolist())):
        with pytest.raises(TypeError, match="NumPy arrays without masks"):
            moved(200, 3, *wrong)
    with pytest.raises(TypeError, match="interpreted as an integer"):
        moved(200.0, 3, given)
    with pytest.raises(ValueError, match="the elements must have 4 bytes"):
        moved(200, 3, given.astype(float))


def test_rustfmt_and_clippy_find_nothing(tmp_path, need):
    rustfmt = need("rustfmt", "rustup component add rustfmt")
    clippy = need("clippy-driver", "rustup component add clippy")
    lints = ["--crate-type=lib", "--emit=metadata", "-D", "warnings", "-W", "clippy::pedantic"]
    texts = {name: made(name, "rust").source for name in COPIES}
    for name in ("blocked", "morton", "pitched", "records", "transposed"):
        A, B, options = COPIES[name]
        unit = copy(A, B, "rust", name=f"{name}_shared", threads=True, **options)
        texts[f"{name}_shared"] = unit.source
    texts["conditions"] = copy(*tiled(), "rust", name="conditions").source  # more than 100
    for name, text in texts.items():
        (tmp_path / f"{name}.rs").write_text(text)
    text = "#![no_std]\n\n" + "".join(f"pub mod {name};\n" for name in texts)
    (tmp_path / "all.rs").write_text(text)
    subprocess.run([rustfmt, "--edition", "2021", "all.rs"], cwd=tmp_path, check=True)
    for name, text in texts.items():
        assert (tmp_path / f"{name}.rs").read_text() == text
    for more in (NONE, SIMD, [*SIMD, "-C", "target-cpu=x86-64-v3"]):
        done = subprocess.run(
            [clippy, *lints, "--edition", "2021", *more, "all.rs"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


# A crate that has no feature simd, and one that turns it on.
NONE = ["--check-cfg", 'cfg(feature, values("rayon"))', "-F", "unsafe_code"]
SIMD = ["--check-cfg", 'cfg(feature, values("rayon", "simd"))', "--cfg", 'feature="simd"']


PADDED = """
#![allow(dead_code)]
mod transposed;
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pixel(u8, u16); // one byte has no value
fn main() {
    let of: Vec<Pixel> = (0..37 * 43).map(|k| Pixel(k as u8, k as u16)).collect();
    let mut to = vec![Pixel(0, 0); of.len()];
    transposed::transposed(37, 43, &of, &mut to);
    for (k, x) in to.iter().enumerate() {
        assert_eq!(*x, of[k % 37 * 43 + k / 37]);
    }
    let short = || transposed::transposed(37, 43, &of, &mut vec![Pixel(0, 0); of.len() - 1]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(short)).is_err());
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("edition", rest_deep(["2024", "2021"], 1))
def test_registers_of_rust_take_types_with_padding(edition, tmp_path, need):
    rustc = need("rustc", "rustup")
    (tmp_path / "transposed.rs").write_text(made("transposed", "rust").source)
    (tmp_path / "main.rs").write_text(PADDED)
    command = [rustc, "--edition", edition, "-D", "warnings", "-C", "debug-assertions=on", *SIMD]
    subprocess.run([*command, "-O", "main.rs"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, sizes", rest_deep([("load", "block stream_lines"), ("block", "fetch LARGE")], 1)
)
def test_names_of_functions_of_registers_may_be_a_user_s(name, sizes, toolchain_of):
    toolchain_of("rust")
    found = verified(copy(Row(*symbols(sizes)), Col(*symbols(sizes)), "rust", element=1, name=name))
    assert found, str(found)


FAULTS = {
    "two registers": ("zip_wide_lo_epi64(x4, x6)", "zip_wide_lo_epi64(x6, x4)"),
    "a load": ("load_two(src.add(3 * a1)", "load_two(src.add(2 * a1)"),
    "a tail that is not moved back": ("i1_at.min(M - 8)", "i1_at"),
    "the second block": ("exchange(src.add(4 * a1)", "exchange(src.add(3 * a1)"),
}


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_of_registers_are_found(fault):
    unit = made("transposed", "rust")
    text = unit.source.replace(*FAULTS[fault])
    assert text != unit.source
    try:
        found = verified(replace(unit, source=text))
    except LegoError as error:
        assert "panics" in str(error)
    else:
        assert not found and "registers: place" in str(found)


@pytest.mark.slow
def test_formatters_of_python_find_nothing(tmp_path):
    for name in COPIES:
        (tmp_path / f"{name}.py").write_text(made(name, "numpy").source)
    ruff = shutil.which("ruff") or shutil.which("ruff", path=f"{sys.prefix}/bin")
    assert ruff is not None, "needs ruff: pip install ruff"
    done = subprocess.run(
        [ruff, "format", "--diff", "--line-length=100", tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def tiled():
    """Rows, and tiles of three ragged axes, of which there are many boxes."""
    K = symbols("K")
    halves = RegP([(M + 3) // 4, 4, (N + 4) // 5, 5, (K + 7) // 8, 8], [0, 2, 5, 3, 4, 1])
    whole = [(M + 3) // 4 * 4, (N + 4) // 5 * 5, (K + 7) // 8 * 8]
    return Row(M, N, K), Padded([M, N, K], GroupBy(whole).OrderBy(halves))


@pytest.mark.slow
def test_typescript_takes_modules_and_declarations(tmp_path):
    tsc = Path(__file__).parent.parent / "build" / "node_modules" / ".bin" / "tsc"
    if not tsc.exists():
        pytest.skip("TypeScript is missing")
    lines = []
    for folder in ("modules", "declared"):
        (tmp_path / folder).mkdir()
    units = [made(name, "javascript") for name in ("transposed", "ragged", "triangle")]
    for name, value in (("boxes", lambda v: v ^ 1), ("entries", lambda v: min(v, 9))):
        units.append(copy(*tiled(), "javascript", name=name, element=1, value=value))
    assert "function boxesBox(" in units[-2].source
    for unit in units:
        name = unit.name
        (tmp_path / "modules" / f"{name}.mjs").write_text(unit.source)
        for path, text in unit.files(tmp_path / "declared" / f"{name}.mjs").items():
            path.write_text(text)
        lines += [
            f'import * as {name} from "./modules/{name}.mjs";',
            f'import * as {name}_declared from "./declared/{name}.mjs";',
            f"export const {name}_a: typeof {name}_declared = {name};",
            f"export const {name}_b: typeof {name} = {name}_declared;",
        ]
    (tmp_path / "check.mts").write_text("\n".join(lines))
    done = subprocess.run([tsc, *STRICT, "check.mts"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("target", rest_slow(("javascript", "c", "fortran", "julia")))
@pytest.mark.parametrize("sizes", ("t1_at from_", "t0At into", "T1_AT End0"))
def test_a_size_may_be_called_as_an_integer_of_a_nest(target, sizes, toolchain_of):
    """Names that loops make of others, and that a language spells otherwise than they are given."""
    toolchain_of(target)
    assert copy(Row(*symbols(sizes)), Col(*symbols(sizes)), target, name="moved").verify()


COORDINATES = (
    ("numpy", ("src", "dst")),
    ("javascript", ("srcWords", "for")),
    ("fortran", ("i", "I")),
    ("c", ("at", "copy_places")),
    ("cpp", ("T", "memcpy")),
    ("julia", ("T", "blank")),
)


@pytest.mark.parametrize(("target", "names"), rest_slow(COORDINATES, 1))
def test_coordinates_may_be_called_as_what_a_routine_has(target, names, toolchain_of):
    """Those of a layout whose positions are no sums of digits, in the loop over both index functions."""
    toolchain_of(target)
    bits = [12, 6, 2, 122, 1, 18, 43, 205]
    mixed = Linear({names[0]: bits[:4], names[1]: bits[4:]}, out={"offset": 256})
    found = verified(copy(Row(16, 16), Row(256) @ mixed, target))
    assert found, str(found)


@pytest.mark.parametrize("size", ("src_words", "SrcWords", "dstWords", "src_place", "src_at"))
def test_a_size_that_is_spelled_as_an_array_is_refused(size):
    with pytest.raises(LayoutError, match="something of the routine"):
        copy(Row(M, symbols(size)), Col(M, symbols(size)), "javascript")


@pytest.mark.parametrize("target", ["mlir", "triton", "python"])
def test_languages_without_copies_are_named(target):
    with pytest.raises(LegoError, match=r"has no copies; .*rust"):
        copy(Row(4), Row(4), target)


@pytest.mark.slow
def test_a_type_that_a_copy_does_not_choose_is_no_way_out():
    swizzled = GenP(
        [M, 8 * N],
        lambda i, j: i * 8 * N + (j ^ (i % 8)),
        lambda flat: (flat // (8 * N), flat % (8 * N) ^ (flat // (8 * N) % 8)),
    )
    pair = Row(M, 8 * N), GroupBy([M, 8 * N]).OrderBy(swizzled)
    with pytest.raises(LegoError, match=r"may have more; .* ranges=") as found:
        copy(*pair, "javascript")
    assert "index_type" not in str(found.value)
    assert copy(*pair, "javascript", ranges={"N": (1, 2**20)}).plan.is_affine is False


@pytest.mark.slow
def test_a_prefix_and_a_style_are_those_of_the_routine():
    text = str(copy(Row(M, N), Col(M, N), "rust", name="turned", prefix="own_"))
    assert "pub fn own_turned<T: Copy>" in text and "own_turned_source_bytes" in text
    text = str(copy(Row(M, N), Col(M, N), "javascript", name="turn_it"))
    assert "export function turnIt(M, N, src, dst)" in text


LAYOUTS = """
from lego_emit import Col, Row, symbols

M, N = symbols("M N")
rows, columns = Row(M, N), Col(M, N)
"""


@pytest.mark.slow
def test_the_command_line_emits_and_times(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("layouts.py").write_text(LAYOUTS)
    command = ["copy", "layouts.py:rows", "layouts.py:columns", "--name", "turned"]

    def run(*more):
        return CliRunner().invoke(main, [*command, *more])

    done = run("-t", "rust", "-t", "numpy", "-o", "out/", "--element", "uint8", "--no-zero")
    assert done.exit_code == 0, done.output
    text = Path("out/turned.rs").read_text()
    again = "copy layouts.py:rows layouts.py:columns --target rust --element uint8 --name turned --no-zero"
    assert f"// To regenerate: lego-emit {again}" in text and Path("out/turned_numpy.py").exists()
    assert run("-t", "rust", "--plan").output.startswith("- kernel of 4 registers")
    plans = run("-t", "cpp", "-t", "numpy", "-t", "c", "--plan").output
    assert "C++, C:\n- kernel" in plans and "NumPy:\n- an assignment of each box" in plans
    done = run("-t", "numpy", "--time", "-s", "M=8,N=8")
    assert done.exit_code == 0 and "of memcpy" in done.output
    timed = json.loads(run("-t", "numpy", "--time", "-s", "M=8,N=8", "--json").output)
    assert [one["language"] for one in timed] == ["NumPy"] and timed[0]["percent"] > 0
    assert run("-t", "numpy", "--json").exit_code == 2
    assert "__global__ void" in run().output  # as generate, for CUDA
    Path("layouts.py").write_text(LAYOUTS + "def tiles(M, B):\n    return Row(M // B, B)\n")
    command = ["copy", "layouts.py:tiles", "-e", "Col(8, 4)", "-t", "numpy"]
    assert run("-s", "M=32,B=4").exit_code == 0
    done = run("-s", "M=32,B=4,Q=3")
    assert done.exit_code == 2 and "sizes fixes Q; all its sizes are numbers" in done.output
    command = ["copy", "layouts.py:rows", "layouts.py:columns", "--name", "turned"]
    done = run("-t", "triton")
    assert done.exit_code == 2 and "Triton has no copies" in done.output


@pytest.mark.slow
def test_texts_are_the_same_every_time():
    for target in LANGUAGES:
        assert str(made("blocked", target)) == str(made("blocked", target))


USE = """
import { turn } from "./turn.mjs";
const room = new Uint32Array(40);
const views = [room.subarray(0, 15), room.subarray(20, 35)];
const errors = [];
const wrong = [
  [3, 5, room.subarray(0, 14), views[1]],
  [3, 5, views[0], room.subarray(20, 34)],
  [3, 5, views[0], room.subarray(14)],
  [3, 5, room, new Uint8Array(room.buffer)],
  [3, 5, [], views[1]],
  [3, 5, views[0], new Float64Array(15)],
  [2.5, 5, ...views],
  [3, -5, ...views],
  ["3", 5, ...views],
  [3, undefined, ...views],
];
for (const given of wrong) {
  try {
    turn(...given);
  } catch (error) {
    errors.push(`${error.name}: ${error.message}`);
  }
}
turn(3, 5, ...views);
turn(3, 5, new Uint32Array(room.buffer), room.subarray(15)); // only what is read counts
console.log(errors.join("\\n"));
"""
WRONG_IN_JAVASCRIPT = """RangeError: src is too short
RangeError: dst is too short
RangeError: dst overlaps src
RangeError: dst overlaps src
TypeError: src is no typed array of elements of up to 4 bytes
TypeError: dst is no typed array of elements of up to 4 bytes
RangeError: M must be an integer of 0 or more
RangeError: N must be an integer of 0 or more
RangeError: M must be an integer of 0 or more
RangeError: N must be an integer of 0 or more
"""


def test_javascript_says_which_argument_is_wrong(need, tmp_path):
    node = need("node", "apt-get install nodejs")
    (tmp_path / "turn.mjs").write_text(copy(Row(M, N), Col(M, N), "javascript", name="turn").source)
    (tmp_path / "use.mjs").write_text(USE)
    done = subprocess.run([node, tmp_path / "use.mjs"], capture_output=True, text=True)
    assert done.stdout == WRONG_IN_JAVASCRIPT, done.stderr


def test_comments_fit_a_copy():
    """A module of copies alone has no index functions; what each helper does, and what its parameters are."""
    text = str(copy(Row(M, N), Col(M, N), "numpy", name="turn"))
    assert text.count('"""Copies of NumPy arrays') == 1 and "broadcast" not in text
    blocked = catalogue["onednn.nChw16c"](N, C, H, W)
    for target, name in (("c", "turn"), ("rust", "`turn`")):
        unit = copy(Row(N, C, H, W), blocked, target, name="turn", threads=True)
        text = str(unit)
        assert f"/// Copies a box of {name}." in text and "aK is the stride" in text
        lines = text.split("\n")
        bare = [k for k, line in enumerate(lines) if "void turn_" in line and line[0] != " "]
        boxes = [k for k in bare if "_box" in lines[k] or "_bulk" in lines[k]]
        assert all(lines[k - 1].startswith("///") for k in boxes) and bool(boxes) == (target == "c")


@pytest.mark.parametrize("target", ["julia", "fortran"])
def test_places_of_long_moves_have_names(target):
    """A run was broken within its subscripts, which Fortran has twice."""
    text = str(copy(Row(M, N, 8, 8), RegP([M, N, 8, 8], [0, 2, 1, 3]), target, name="cut"))
    assert re.search(r"dst[(\[]dst_at.*src[(\[]src_at.*[)\]]\n", text) and "dst_at = " in text


@pytest.mark.slow
def test_julia_is_timed_as_users_run_it(need):
    """Other runs of Julia are optimized less, since that compiles sooner: four times as slow."""
    need("julia", "apt-get install julia")
    unit = copy(Row(3, 5), Col(3, 5), "julia", name="turn")
    flags = [
        Path(f"/proc/{library(unit, (), is_timed=is_timed).pid}/cmdline").read_text().split("\0")
        for is_timed in (False, True)
    ]
    assert [[flag for flag in own if flag.startswith("-O")][-1] for own in flags] == ["-O1", "-O2"]


@pytest.mark.deep
@pytest.mark.parametrize("threads", [False, True])
def test_julia_reads_a_copy_of_a_source_that_is_written(need, tmp_path, threads):
    julia = need("julia", "apt-get install julia")
    unit = copy(Row(3, 5), Col(3, 5), "julia", name="turn", threads=threads)
    use = """
room = collect(Int32, 1:40)
due = vec(permutedims(reshape(room[1:15], 5, 3)))
Turn.turn!(view(room, 10:24), view(room, 1:15))
exit(room[10:24] == due ? 0 : 1)
"""
    (tmp_path / "use.jl").write_text(f"{unit.source}\n{use}")
    subprocess.run([julia, tmp_path / "use.jl"], check=True)


def test_each_procedure_in_fortran_says_what_it_does():
    text = made("transposed", "fortran").source
    said = text.count("  !> Copies each element of the source")
    assert said == 4  # the generic name, the loops, and two types


@pytest.mark.slow
def test_a_plan_is_short_where_it_is_shown():
    assert (
        repr(made("shared", "c").plan) == "<Plan of 1 box; kernel of 4 registers; through a buffer>"
    )
    assert all(len(repr(made(name, "c").plan)) <= 101 for name in COPIES)
