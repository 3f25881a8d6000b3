"""Copies in parts, for threads: what parts have, and the routines that share them out."""

import re
import subprocess
from dataclasses import replace

import pytest
from click.testing import CliRunner
from copy_lengths import MOST, longest, symbolic
from marks import rest_deep
from test_copies import changed, plan, verified

from lego_emit import Col, GroupBy, RegP, Row, Strided, TileBy, catalogue, copy, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.cli import main
from lego_emit.copies import pieces, running
from lego_emit.copies.checks import check, sizes_of
from lego_emit.copies.chunks import in_chunks
from lego_emit.copies.pieces import count_of, covers_once, in_pieces
from lego_emit.errors import InternalError, LegoError
from lego_emit.ir.nests import LAST, PART, Loop, plus
from lego_emit.ir.nodes import const, var

M, N, C, H, W, LD = symbols("M N C H W LD")
LANGUAGES = ("c", "cpp", "fortran", "julia")

COPIES = {
    "turned": (Row(M, N), Col(M, N), {}),
    "blocked": (Row(W, C, H, W), catalogue["onednn.nChw16c"](W, C, H, W), {}),
    "ragged": (Row(37, 9), Padded([37, 9], Strided(((4, 4, 3), (4, 3)), ((4, 1, 16), (192, 48)))), {"element": 3}),
    "curve": (Row(64, 64), catalogue["hilbert.2D"](64, 64), {"element": 8}),
    "rings": (Row(12, 8, 8), catalogue["healpix.RING"](8), {}),
    "pitched": (Strided((M, N), (LD, 1)), Row(M, N), {"assume": ["LD >= N"], "element": 2}),
    "run": (Row(M), Row(M), {"element": 1}),
    "tiles": (TileBy([M // 8, N // 8], [8, 8]), Row(M // 8, N // 8, 8, 8), {}),
    "planes": (Row(M, N, 3), RegP([M, N, 3], [2, 0, 1]), {"element": "uint8"}),
    "kept": (Row(20, 7), Padded([20, 7], Strided(((4, 8), 8), ((8, 64), 1))), {"zero": False}),
    "shared": (Row(64, 1024), Col(64, 1024), {}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(COPIES, 1))
@pytest.mark.parametrize("target", LANGUAGES)
def test_copies_of_threads_are_verified(name, target, monkeypatch):
    """Small parts, so that small memories have several."""
    monkeypatch.setattr(pieces, "PIECE", 512)
    A, B, options = COPIES[name]
    found = copy(A, B, target, name=name, threads=True, **options).verify()
    assert found and "in two threads" in str(found), str(found)


TILES32 = catalogue["cublaslt.COL32_2R_4R4"](M, N)
NAMED = {
    "an offset": (TILES32, Strided((M, N), (N, 1), offset=16), 12),
    "backwards": (Strided((M, N), (N, -1), offset=N - 1), TILES32, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_each_name_is_read(name):
    """Compilers warn of others."""
    A, B, size = NAMED[name]
    text = str(copy(A, B, "c", name="moved", element=size, zero=False, threads=True))
    for function in text.split("\n}\n"):
        for own in re.findall(r"const int64_t (\w+) =", function):
            assert len(re.findall(rf"\b{own}\b", function)) > 1, own


SLICED = {
    **{name: one for name, one in COPIES.items() if name not in ("curve", "rings", "planes")},
    "panels": (Row(M, N), Padded([M, N], Strided(((8, (M + 7) // 8), N), ((1, 8 * N), 8))), {}),
    "constant": (Row(37, 40), Padded([37, 40], Strided(((4, 4, 3), 40), ((4, 1, 640), 16))), {"element": 2}),
    "changed": (Row(M, N), Col(M, N), {"element": 1, "value": lambda v: v ^ 0x88}),
    "few": (catalogue["tenstorrent.TILE"](M, N), Col(M, N), {"element": 2}),
    "bricks": (Row(M, N), catalogue["onednn.BA16a16b2a"](M, N), {"element": 1}),
    "cyclic": (*symbolic("scalapack.block_cyclic_2d"), {"element": 2}),
    "large": (Row(1024, 1025), Col(1024, 1025), {"element": 1}),
    "curves": (Row(256, 256), catalogue["morton.2D"](256, 256), {"element": 8}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(SLICED, 1))
def test_slices_of_the_destination_are_verified(name, monkeypatch, need):
    need("rustc", "rustup")
    monkeypatch.setattr(pieces, "PIECE", 512)
    A, B, options = SLICED[name]
    unit = copy(A, B, "rust", name=name, threads=True, **options)
    found = verified(unit)
    assert found and "in two threads" in str(found), str(found)
    assert f"{name}_chunks" in str(unit)


@pytest.mark.slow
def test_padding_is_cut_along_the_rows_of_elements():
    """Padding of whole processes, whose digits are one, is cut at those, too."""
    A, B, options = SLICED["cyclic"]
    assert longest(str(copy(A, B, "rust", name="cyclic", threads=True, **options)), "rust") <= MOST


@pytest.mark.slow
def test_a_slice_that_is_cut_elsewhere_is_found():
    large = Row(1024, 1025), Col(1024, 1025)  # of which no place is looked at
    for A, B in (COPIES["turned"][:2], COPIES["blocked"][:2], large):
        made = plan(A, B)
        chunks = in_chunks(made, sizes_of(made), piece=256 if made.space.sizes else 0)
        assert check(made, chunks.body, pieces=chunks)
        (length, count), *more = chunks.chunks
        start, *loops = chunks.loops
        for wrong in (
            replace(chunks, chunks=((plus(length, 1), count), *more)),
            replace(chunks, boxes=chunks.boxes[:-1]),
            replace(chunks, loops=(replace(start, value=plus(start.value, 1)), *loops)),
        ):
            with pytest.raises(InternalError, match="nothing was emitted"):
                check(made, wrong.body, pieces=wrong)


# What rayon has of these names, as threads.
RAYON = """
pub mod iter {
    pub trait ParallelBridge: Iterator + Send + Sized where Self::Item: Send {
        fn par_bridge(self) -> Bridge<Self> { Bridge(self) }
    }
    impl<I: Iterator + Send> ParallelBridge for I where I::Item: Send {}
    pub struct Bridge<I>(I);
    pub trait ParallelIterator: Sized + Send {
        type Item: Send;
        fn for_each<F: Fn(Self::Item) + Sync + Send>(self, call: F);
    }
    impl<I: Iterator + Send> ParallelIterator for Bridge<I> where I::Item: Send {
        type Item = I::Item;
        fn for_each<F: Fn(I::Item) + Sync + Send>(self, call: F) {
            let all = std::sync::Mutex::new(self.0);
            let next = || all.lock().unwrap().next();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| while let Some(one) = next() { call(one) });
                }
            });
        }
    }
}
"""
RAYON_MAIN = """
mod turned;
fn main() {
    let src: Vec<f32> = (0..521 * 264).map(|k| k as f32).collect();
    let mut dst = vec![0f32; 521 * 264];
    turned::turned(521, 264, &src, &mut dst);
    for (k, &x) in dst.iter().enumerate() {
        assert_eq!(x, src[k % 521 * 264 + k / 521]);
    }
}
"""


@pytest.mark.slow
def test_threads_of_a_crate_share_slices(tmp_path, need):
    rustc = need("rustc", "rustup")
    unit = copy(Row(M, N), Col(M, N), "rust", name="turned", threads=True)
    (tmp_path / "turned.rs").write_text(unit.source)
    (tmp_path / "rayon.rs").write_text(RAYON)
    (tmp_path / "main.rs").write_text(f"#![allow(dead_code)]{RAYON_MAIN}")
    command = [rustc, "--edition", "2021"]
    subprocess.run([*command, "--crate-type=rlib", "rayon.rs"], cwd=tmp_path, check=True)
    command += ["-D", "warnings", "--cfg", 'feature="rayon"', "--extern", "rayon=librayon.rlib"]
    subprocess.run([*command, "main.rs"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.deep
@pytest.mark.parametrize("target", LANGUAGES)
def test_copies_of_threads_are_verified_as_they_are(target):
    A, B, options = COPIES["blocked"]
    assert copy(A, B, target, name="blocked", threads=True, **options).verify()


# A copy, numbers for its sizes, and the least and the most parts that it may have.
COUNTS = (
    (Row(4096, 4096), Col(4096, 4096), {}, 128, 1024),
    (Row(M, N), Col(M, N), {"M": 4096, "N": 4096}, 128, 1024),
    (Row(M, N), Row(M, N), {"M": 1, "N": 2**24}, 128, 1024),
    (Row(64, 64), Col(64, 64), {}, 1, 1),
    (Row(M, N), Col(M, N), {"M": 64, "N": 64}, 1, 1),
    (*COPIES["blocked"][:2], {"W": 256, "C": 1, "H": 64}, 128, 2048),
    (Row(2, 256, 64, 64), catalogue["onednn.nChw16c"](2, 256, 64, 64), {}, 64, 128),
)


@pytest.mark.parametrize("A, B, sizes, least, most", COUNTS)
def test_parts_are_large_and_enough_for_many_threads(A, B, sizes, least, most):
    found = in_pieces(plan(A, B))
    assert least <= count_of(found, sizes) <= most
    assert covers_once(found, found.body, sizes)


def test_numbers_are_cut_into_equal_parts():
    body = in_pieces(plan(Row(1024, 1024), Col(1024, 1024))).body
    assert [s.stop for s in body if isinstance(s, Loop)] == [var(LAST)]
    text = str(copy(Row(1024, 1024), Col(1024, 1024), "c", threads=True))
    assert "return 64;" in text and "extent" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "within"), [(1024, False), (1040, False), (1064, True), (1001, True)]
)
def test_parts_whose_rows_begin_at_lines_are_streamed_in_whole_lines(n, within):
    unit = copy(Row(n, 1024), Col(n, 1024), "c", name="turned", threads=True)
    assert ("turned_stream_lines(" in unit.source) == within
    assert running.verify(unit, {}, ("-O1", "-DTURNED_LARGE=0"))


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "layouts",
    [
        (Row(33, 18), Col(33, 18)),
        (Row(M, N), Col(M, N)),
        (Row(1024, 1024), Col(1024, 1024)),
        COPIES["ragged"][:2],
    ],
)
def test_a_part_that_is_left_out_is_found(layouts):
    made = plan(*layouts)
    parts = in_pieces(made)
    assert check(made, parts.body, pieces=parts)

    def later(s):
        return replace(s, start=plus(s.start, 1)) if s.name == PART else s

    def sooner(s):
        return replace(s, stop=plus(s.stop, -1)) if s.name == PART else s

    for change in (later, sooner):
        with pytest.raises(InternalError, match="nothing was emitted"):
            check(made, changed(parts.body, Loop, change), pieces=parts)


def test_parts_that_overlap_are_found():
    made = plan(Row(1024, 1024), Col(1024, 1024))
    parts = in_pieces(made)
    (loop,) = parts.loops
    start = loop.body[0]
    for value in (const(0), plus(start.value, 1)):
        wrong = replace(loop, body=(replace(start, value=value), *loop.body[1:]))
        assert not covers_once(parts, (*parts.lets, wrong), {})


@pytest.mark.slow
def test_the_plain_routine_is_as_it_was():
    plain = str(copy(Row(M, N), Col(M, N), "c"))
    assert "_part" not in plain and "omp" not in plain
    text = str(copy(Row(M, N), Col(M, N), "c", threads=True))
    assert "copy_parts(int64_t M, int64_t N)" in text and "#ifdef _OPENMP" in text
    text = str(copy(Row(M, N), Col(M, N), "fortran", threads=True, name="turned"))
    assert "!$omp parallel do schedule(static) if (parts > 1)" in text


WRONG = {
    "NumPy copies in one thread; leave out threads": lambda: copy(*COPIES["turned"][:2], "numpy", threads=True),
    "JavaScript copies in one thread": lambda: copy(*COPIES["turned"][:2], "javascript", threads=True),
    "in CUDA C.* threads share every copy": lambda: copy(*COPIES["turned"][:2], "cuda", threads=True),
    "is called last": lambda: copy(Row(symbols("last")), Row(symbols("last")), "c", threads=True),
    "written before all else": lambda: copy(
        Row(5, 7), Padded([5, 7], GroupBy([8, 8]).OrderBy(catalogue["hilbert.2D"](8, 8))), "c", threads=True
    ),
    "each write a slice of the destination, and positions": lambda: copy(*COPIES["curve"][:2], "rust", threads=True),
    "whole blocks is all of it": lambda: copy(*COPIES["planes"][:2], "rust", threads=True, element=1),
    "not made of rows": lambda: copy(Row(3, 2), Strided((3, 2), (4, 6)), "rust", threads=True),
    "make it by copy": lambda: copy(*COPIES["turned"][:2], "c").time(sizes={"M": 8, "N": 8}, threads=2),
    "threads is 0": lambda: copy(*COPIES["turned"][:2], "c").time(sizes={"M": 8, "N": 8}, threads=0),
}  # fmt: skip


@pytest.mark.parametrize("said", WRONG)
@pytest.mark.quick(4)
def test_wrong_input_is_one_message(said):
    with pytest.raises(LegoError, match=said):
        WRONG[said]()


@pytest.mark.slow
def test_two_threads_are_timed_beside_memcpy_in_two():
    unit = copy(*COPIES["turned"][:2], "c", name="turned", threads=True)
    assert unit.time(sizes={"M": 64, "N": 64}, threads=2).percent > 0


@pytest.mark.slow
def test_a_build_makes_copies_of_threads(tmp_path):
    (tmp_path / "layouts.py").write_text(
        "from lego_emit import Col, Row, symbols\n\nrows, columns = Row(*symbols('M N')), Col(*symbols('M N'))\n"
    )
    (tmp_path / "lego-emit.toml").write_text(
        """
[[copies]]
from = "layouts.py:rows"
to = "layouts.py:columns"
name = "turned"
threads = true
targets = ["c"]
output = "turned.h"
"""
    )
    done = CliRunner().invoke(main, ["build", "--config", str(tmp_path / "lego-emit.toml")])
    assert done.exit_code == 0, done.output
    assert "turned_part(" in (tmp_path / "turned.h").read_text()


MAIN = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "blocked.h"
enum { N = 2, C = 40, H = 64, W = 64, THREADS = 8 };
static uint32_t *src, *dst, *due;
static void *some(void *own) {
  const int64_t parts = blocked_parts(N, C, H, W), k = (int64_t)(intptr_t)own;
  blocked_part(N, C, H, W, src, dst, parts * k / THREADS, parts * (k + 1) / THREADS);
  return NULL;
}
int main(void) {
  const size_t from = (size_t)blocked_source_bytes(N, C, H, W);
  const size_t to = (size_t)blocked_destination_bytes(N, C, H, W);
  src = malloc(from), dst = malloc(to), due = malloc(to);
  for (size_t k = 0; k < from / 4; ++k) src[k] = (uint32_t)k * 2654435761u;
  memset(dst, 0xa5, to);
  blocked(N, C, H, W, src, due);
  pthread_t threads[THREADS];
  for (int k = 0; k < THREADS; ++k) pthread_create(threads + k, NULL, some, (void *)(intptr_t)k);
  for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL);
  return memcmp(dst, due, to) != 0;
}
"""


@pytest.mark.deep
@pytest.mark.parametrize("checks", ["thread", "address,undefined"])
@pytest.mark.parametrize("large", [(), ("-DBLOCKED_LARGE=0",)])
def test_threads_of_ones_own_under_sanitizers(checks, large, tmp_path):
    dims = symbols("N C H W")
    unit = copy(Row(*dims), catalogue["onednn.nChw16c"](*dims), "c", name="blocked", threads=True)
    (tmp_path / "blocked.h").write_text(unit.source)
    (tmp_path / "main.c").write_text(MAIN)
    command = ["gcc", "-O1", "-g1", "-pthread", f"-fsanitize={checks}", "-fno-sanitize-recover=all"]
    subprocess.run([*command, *large, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_sizes_come_in_the_order_of_the_definition(tmp_path, monkeypatch):
    """As in the functions that generate() makes of it."""
    monkeypatch.chdir(tmp_path)
    text = "from lego_emit import Row, Col\n\ndef {}(m, mb, n):\n    return {}(n * mb, m)\n\n"
    (tmp_path / "of.py").write_text(text.format("rows", "Row") + text.format("cols", "Col")[31:])
    found = CliRunner().invoke(main, ["copy", "of.py:rows", "of.py:cols", "-t", "numpy"])
    assert "def copy(m, mb, n, src, out=None)" in found.output, found.output
    given = (
        'targets = ["numpy"]\n[[copies]]\nfrom = "of.py:rows"\nto = "of.py:cols"\nname = "copied"\n'
    )
    (tmp_path / "lego-emit.toml").write_text(given)
    assert not CliRunner().invoke(main, ["build"]).exit_code
    built = (tmp_path / "generated" / "numpy" / "copied.py").read_text()
    assert "def copied(m, mb, n, src, out=None)" in built
    typed = ["copy", "-e", "Row(n*mb, m)", "-e", "Col(n*mb, m)", "-t", "numpy"]
    assert "def copy(n, mb, m, src, out=None)" in CliRunner().invoke(main, typed).output
    turned = copy(Row(M, N), Col(M, N), "numpy", order=["N", "M"])
    assert turned.plan.space.sizes == ("N", "M")
    with pytest.raises(LegoError, match="order has 'K'"):
        copy(Row(M, N), Col(M, N), "numpy", order=["K"])


def test_a_part_has_no_loop_of_one_round():
    """Digits of which a part has one element, and only one."""
    order = Row(2048, 2048), catalogue["morton.2D"](2048, 2048)
    text = str(copy(*order, "c", element=4, threads=True, name="morton"))
    assert "morton_part(" in text and not re.findall(r" < 1;|<= 0;", text)
