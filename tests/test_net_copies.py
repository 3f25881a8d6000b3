"""The net of copies: random pairs of memories, what failed, and planted faults. More, and new seeds: ci/fuzz --copies."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from marks import rest_deep
from net import copies
from net.copies import bits_of, cut_of, judge, judge_in, pair_of, rare_of

from lego_emit import pack
from lego_emit.copies import unit as units
from lego_emit.copies.plan import Box
from lego_emit.errors import LayoutError

pytestmark = pytest.mark.slow

SEED, PARTS = 1, 12
M, N = copies.Axis("M", 6, 3), copies.Axis("N", 9, 3)
FAILED = [  # padding to tiles that share no factor
    copies.Pair(
        number,
        copies.Memory("padded", (M, N), ((3,), (5,)), (2, 0, 3, 1)),
        copies.Memory("padded", (M, N), ((2,), (3,)), (1, 2, 0, 3)),
        8, zero, "",
    )
    for number, zero in enumerate((True, False))
]  # fmt: skip


@pytest.mark.parametrize("part", rest_deep(range(PARTS)))
def test_random_copies(part, need):
    need("gcc", "apt-get install gcc")
    pairs = [pair_of(SEED, number) for number in range(part * 6, part * 6 + 6)]
    assert judge(pairs) == []


@pytest.mark.deep
@pytest.mark.parametrize("seed", [2, 3])
def test_copies_under_clang(seed, need):
    need("clang", "apt-get install clang")
    assert judge([pair_of(seed, number) for number in range(16)], "clang") == []


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["", "SCALAR", "LARGE"])
def test_copies_on_aarch64(mode, need):
    """NEON by GCC's vector extensions, and the plain part."""
    need("aarch64-linux-gnu-gcc", "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
    need("qemu-aarch64-static", "apt-get install qemu-user-static")
    pairs = [replace(pair_of(4, number), mode=mode) for number in range(24)]
    for at in range(0, len(pairs), 12):
        assert judge(pairs[at : at + 12], "aarch64-linux-gnu-gcc") == []


@pytest.mark.deep
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("compiler", ["rustc", "rustc-v3"])
def test_copies_in_rust(compiler, part, need):
    """By the feature that has registers, at unaligned addresses."""
    need("rustc", "rustup")
    pairs = [pair_of(6, number) for number in range(part * 12, part * 12 + 12)]
    assert judge(pairs, compiler) == []


@pytest.mark.deep
@pytest.mark.parametrize("compiler", ["rustc", "rustc-v3"])
def test_large_copies_in_rust(compiler, need):
    """A stride that falls, whose remainder was taken below 0, is among them."""
    need("rustc", "rustup")
    pairs = [replace(pair_of(9, number), mode="LARGE") for number in range(16)]
    assert judge(pairs, compiler) == []


@pytest.mark.deep
@pytest.mark.parametrize("seed", [10, 11])
@pytest.mark.parametrize("language", ["fortran", "julia", "javascript", "numpy"])
def test_copies_in_languages(language, seed, toolchain_of):
    """Records of 3 bytes in blocks, which JavaScript named twice, and a size K beside an index k are among them."""
    toolchain_of(language)
    pairs = [pair_of(seed, number) for number in range(12)]
    if language in ("javascript", "numpy"):
        pairs = [replace(pair, mode="") for pair in pairs]
    assert judge_in(language, pairs) == []


@pytest.mark.deep
@pytest.mark.parametrize("compiler", ["gcc", "rustc"])
def test_memories_that_are_chosen_or_have_gaps(compiler, need):
    """A tag chooses from two memories, or padding lies beside gaps that no copy writes."""
    need(compiler, "apt-get install gcc" if compiler == "gcc" else "rustup")
    pairs = [rare_of(12, number) for number in range(12 if compiler == "gcc" else 6)]
    assert judge(pairs, compiler) == []


@pytest.mark.deep
@pytest.mark.parametrize("language", ["fortran", "javascript", "numpy"])
def test_memories_that_are_chosen_or_have_gaps_in_languages(language, toolchain_of):
    toolchain_of(language)
    pairs = [replace(rare_of(12, number), mode="") for number in range(4)]
    assert judge_in(language, pairs) == []


def bits_and_tiles(seed, part):
    """Two of each."""
    numbers = range(2 * part, 2 * part + 2)
    return [bits_of(seed, k) for k in numbers] + [cut_of(seed, 100 + k) for k in numbers]


@pytest.mark.parametrize("part", rest_deep(range(3)))
def test_interleaved_bits_and_tiles_of_a_matrix(part, need):
    """With leading dimensions, strides that fall, and several parts at once."""
    need("gcc", "apt-get install gcc")
    assert judge(bits_and_tiles(SEED, part)) == []


@pytest.mark.deep
def test_interleaved_bits_and_tiles_of_a_matrix_in_rust(need):
    """A stride that falls, by which a bit was multiplied, is among them."""
    need("rustc", "rustup")
    assert judge(bits_and_tiles(2, 1), "rustc-v3") == []


@pytest.mark.deep
@pytest.mark.parametrize("language", ["javascript", "numpy"])
def test_interleaved_bits_and_tiles_of_a_matrix_in_languages(language, toolchain_of):
    toolchain_of(language)
    pairs = [replace(pair, mode="") for pair in bits_and_tiles(2, 0)]
    assert judge_in(language, pairs) == []


def test_a_matrix_that_tiles_do_not_cover_is_refused():
    """One more or twice as many of an axis, and an axis too many."""
    for number in range(8):
        pair = cut_of(3, number)
        tiles = pair.destination if any(pair.destination.tiles) else pair.source
        sizes, axis = [axis.size for axis in pair.source.axes], number % len(pair.source.axes)
        for wrong in (sizes[axis] + 1, 2 * sizes[axis]):
            with pytest.raises(
                LayoutError, match=rf"of= has .* on axis {axis}, and the tiles .* cover"
            ):
                pack(tiles.cut, "c", of=(*sizes[:axis], wrong, *sizes[axis + 1 :]))
        with pytest.raises(LayoutError, match=r"no multiple of the \d sizes|of= has"):
            pack(tiles.cut, "c", of=(*sizes, 2))


@pytest.mark.deep
def test_what_failed():
    assert judge(FAILED) == []


@pytest.mark.parametrize("number", [19, 49])
def test_tiles_of_short_digits_fit_into_shared_memory(number):
    """Whose first digit has fewer rows than all banks hold."""
    text = str(bits_of(31, number).emit("cuda"))
    (size,) = map(int, re.findall(r"unsigned char tile\[(\d+)\]", text))
    assert size <= 48 * 1024  # what a block has wherever CUDA runs


def test_numpy_s_model_is_the_layout_s():
    """Positions are those of the reference evaluator."""
    from lego_emit.algebra.reference import table

    for number, of in [*product(range(40), [pair_of]), *product(range(10), [rare_of, bits_of])]:
        pair = of(5, number)
        for memory in (
            one for end in (pair.source, pair.destination) for one in end.options or (end,)
        ):
            axes = tuple(replace(axis, name="") for axis in memory.axes)
            memory = replace(memory, axes=axes, lead="")
            sizes = [axis.n for axis in axes]
            found, count, _ = memory.model(sizes)
            layout = memory.layout
            assert np.array_equal(found.reshape(-1), np.asarray(table(layout)).reshape(-1))
            assert count == layout.physical_size


def _another_stride(plan):
    box = plan.boxes[0]
    digits = (replace(box.digits[0], a=box.digits[0].a + 1), *box.digits[1:])
    return replace(plan, boxes=(replace(box, digits=digits), *plan.boxes[1:]))


FAULTS = {
    "a stride": _another_stride,
    "a start": lambda plan: replace(
        plan, boxes=(replace(plan.boxes[0], b=plan.boxes[0].b + 1), *plan.boxes[1:])
    ),
    "a box left out": lambda plan: replace(plan, boxes=plan.boxes[:-1]),
    "no zeros": lambda plan: replace(
        plan, boxes=tuple(box for box in plan.boxes if not box.is_padding)
    ),
    "zeros too many": lambda plan: replace(
        plan, boxes=(*plan.boxes, Box(plan.boxes[0].digits, 0, plan.boxes[0].b, True))
    ),
}


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_of_plans_are_found(fault, monkeypatch):
    """Without the check before a copy is given out, what is wrong with its plan is found when it runs."""
    pair = copies.Pair(
        0,
        copies.Memory("rows", AXES),
        copies.Memory("padded", AXES, ((4,), (4,)), (2, 0, 1, 3)),
        4, True, "",
    )  # fmt: skip
    assert judge([pair]) == []
    made = units.plan_of
    monkeypatch.setattr(units, "plan_of", lambda *given: FAULTS[fault](made(*given)))
    monkeypatch.setattr(units, "check", lambda *given: 0)
    assert judge([pair])


AXES = (copies.Axis("M", 8, 4), copies.Axis("N", 8, 4))
TEXTS = {
    "a tail that is not moved back": (r"(\w+)_at < (\w+) - (\d+) \? \1_at : \2 - \3", r"\1_at"),
    "two lanes": ("0, 4, 1, 5", "0, 4, 5, 1"),
    "a kernel's stride": (r"(load\w*)\(src \+ 3 \* a1", r"\1(src + 2 * a1"),
}


@pytest.mark.deep
@pytest.mark.parametrize("fault", TEXTS)
def test_planted_faults_of_texts_are_found(fault, monkeypatch):
    pair = copies.Pair(
        0,
        copies.Memory("rows", AXES),
        copies.Memory("padded", AXES, ((), ()), (1, 0)),
        4, True, "",
    )  # fmt: skip
    assert judge([pair]) == []
    made = copies.copy

    def changed(*given, **options):
        unit = made(*given, **options)
        text, count = re.subn(*TEXTS[fault], unit.source)
        assert count
        return replace(unit, source=text)

    monkeypatch.setattr(copies, "copy", changed)
    assert judge([pair])
