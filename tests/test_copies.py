"""Copies between memory layouts: digits, plans, nests, and the routines in C and C++."""

import random
import re
import shlex
import subprocess
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from copy_lengths import MOST, lengths, longest, symbolic
from marks import rest_deep, rest_slow

import lego_emit
from lego_emit import (
    Choice,
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Lookup,
    Packed,
    RegP,
    Row,
    Strided,
    TileBy,
    catalogue,
    copy,
    pack,
    symbols,
    unpack,
)
from lego_emit.algebra.masked import Padded
from lego_emit.cli import main
from lego_emit.copies import checks, pieces, running
from lego_emit.copies import unit as units
from lego_emit.copies.bits import counted
from lego_emit.copies.checks import check, covering, sizes_of
from lego_emit.copies.digits import index_space, neighbors
from lego_emit.copies.kernels import interleaved, of_bits, zipped_fields
from lego_emit.copies.kinds import apart, nest_of
from lego_emit.copies.pieces import in_pieces
from lego_emit.copies.places import places
from lego_emit.copies.plan import check_plan, model, plan_of
from lego_emit.copies.tiles import Names
from lego_emit.copies.values import layout_at, node_of, value_of
from lego_emit.errors import InternalError, LayoutError, LegoError
from lego_emit.ir.nest_runs import told_apart
from lego_emit.ir.nests import (
    BUFFER,
    DESTINATION,
    SOURCE,
    Abilities,
    Apply,
    Before,
    Buffer,
    Call,
    Flag,
    Helper,
    Let,
    Loop,
    Move,
    Ref,
    Vectors,
    linear,
    nested,
    plus,
    walk,
)
from lego_emit.ir.nodes import Node, const, evaluated, made, var
from lego_emit.movement import convert

M, N, C, H, W, LD, TAG = symbols("M N C H W LD TAG")
SIZES = (1, 2, 4, 8, 16)
WEIGHTS = Row(16, 16, 3, 3), catalogue["onednn.OIhw4i16o4i"](16, 16, 3, 3)
MEMORIES = [n for n, e in catalogue.items() if e(**e.example).results is None]


def plan(A, B, element_bytes=4):
    return plan_of(index_space(A, B), element_bytes)


def planned(A, B, element_bytes=4):
    """A plan and its nest, checked."""
    made = plan(A, B, element_bytes)
    body, _ = nest_of(made)
    check(made, body)
    return made, body


# -- digits and plans ------------------------------------------------------------------------------


def test_digits_of_neighbors_are_one_across_axes():
    (box,) = plan(Row(6, 4, 5), Row(6, 4, 5)).boxes
    assert [(d.n, d.a, d.b) for d in box.digits] == [(120, 1, 1)]
    (box,) = plan(Row(2, 3, 4, 5), RegP([2, 3, 4, 5], [2, 3, 0, 1])).boxes
    assert [(d.n, d.a, d.b) for d in box.digits] == [(20, 1, 6), (6, 20, 1)]


def test_equal_maps_have_equal_plans():
    one = plan(Row(64, 64), GroupBy([64, 64]).OrderBy(RegP([8, 8, 8, 8], [0, 2, 1, 3])))
    other = plan(Strided((64, 64), (64, 1)), Strided(((8, 8), (8, 8)), ((8, 512), (1, 64))))
    assert one.boxes == other.boxes


def test_borders_of_both_sides_are_put_together():
    digits = index_space(Strided(((4, 16),), ((16, 1),)), Strided(((16, 4),), ((4, 1),))).digits()
    assert [(d.n, d.a, d.b) for d in digits] == [(4, 4, 1), (4, 1, 16), (4, 16, 4)]
    assert not plan(Strided(((4, 6),), ((6, 1),)), Strided(((6, 4),), ((4, 1),))).is_affine


def test_a_ragged_axis_is_cut_at_its_digits():
    made = plan(Row(37), Padded([37], Strided(((4, 4, 3),), ((4, 1, 16),))))
    assert [[d.n for d in box.digits] for box in made.boxes if not box.is_padding] == [
        [2, 4, 4], [4], []
    ]  # fmt: skip
    assert sum(box.is_padding for box in made.boxes) == 2


def test_sizes_that_are_symbols():
    digits = plan(TileBy([M // 8, N // 8], [8, 8]), Row(M // 8, N // 8, 8, 8)).boxes[0].digits
    assert [tuple(map(str, (d.n, d.a, d.b))) for d in digits] == [
        ("M // 8", "8*N", "8*N"), ("N // 8", "8", "64"), ("8", "N", "8"), ("8", "1", "1")
    ]  # fmt: skip


def test_quotients_are_of_no_negative_numbers():
    """As Rust computes them; of padded axes with two and three digits."""
    for source, name, more in (
        (Row(M, N, 3, 3), "onednn.OIhw4i16o4i", (3, 3)),
        (Row(M, N), "onednn.BA16a16b2a", ()),
    ):
        made = plan(source, catalogue[name](M, N, *more), 1)
        extents = [d.n for box in made.boxes for d in box.digits]
        quotients = [q for n in extents for q in node_of(n).walk() if q.op == "div"]
        for n in range(1, 40):
            for sizes in ({"M": 17, "N": n}, {"M": n, "N": 16}):
                assert min(evaluated(q.args[0], sizes, {}) for q in quotients) >= 0


@pytest.mark.parametrize("name", rest_deep(MEMORIES, 6))
@pytest.mark.quick(4)
def test_the_catalogue_to_and_from_rows(name):
    entry = catalogue[name]
    layout = entry(**entry.example)
    for pair in ((Row(*layout.dims), layout), (layout, Row(*layout.dims))):
        for size in SIZES:
            if plan(*pair, size).is_affine:
                planned(*pair, size)


def test_a_plan_moves_an_array_as_numpy_does():
    given = np.arange(6 * 8 * 10)
    found = plan(Row(6, 8, 10), RegP([6, 8, 10], [2, 0, 1])).run(given)
    assert np.array_equal(found, given.reshape(6, 8, 10).transpose(2, 0, 1).reshape(-1))


LONG = ("amd.64KB_S", "scalapack.block_cyclic_2d", "onednn.OIhw4i16o4i", "cublaslt.COL4_4R2_8C")


@pytest.fixture
def checked_once(monkeypatch):
    """Boxes, a nest and positions that several languages have are compared with the layouts in the first of them."""
    nests, plans, models, functions, texts, sizes_met = [], set(), {}, {}, {}, {}

    def text_of(own, what):
        """What repr() says, once for each object: the table keeps them."""
        if id(own) not in texts:
            texts[id(own)] = own, repr(what(own))
        return texts[id(own)][1]

    def layouts(space):
        return text_of(space, lambda s: (s.source, s.destination))

    def check_once(plan, body, *given):
        nest = layouts(plan.space), plan.element_bytes, body, given[-1]
        if nest in nests:
            return 1
        nests.append(nest)
        return check(plan, body, *given)

    def check_plan_once(plan, sizes):
        own = layouts(plan.space), text_of(plan.boxes, tuple), plan.pads, (*sizes.items(),)
        if own not in plans:
            check_plan(plan, sizes)
            plans.add(own)

    def model_once(plan, sizes):
        own = layouts(plan.space), (*sizes.items(),)
        if own not in models:
            models[own] = model(plan, sizes)
        return models[own].copy()

    def covering_once(plan, found):
        own = layouts(plan.space), text_of(plan.boxes, tuple), text_of(found, list)
        if own not in sizes_met:
            sizes_met[own] = covering(plan, found)
        return sizes_met[own]

    def places_once(space, name, printer, *given):
        own = layouts(space), name, printer.name, repr(given)
        if own not in functions:
            functions[own] = places(space, name, printer, *given)
        return functions[own]

    monkeypatch.setattr(units, "check", check_once)
    monkeypatch.setattr(units, "places", places_once)
    monkeypatch.setattr(checks, "check_plan", check_plan_once)
    monkeypatch.setattr(checks, "model", model_once)
    monkeypatch.setattr(checks, "covering", covering_once)


LANGUAGES = ("c", "cpp", "rust", "fortran", "julia", "javascript", "numpy")
IN_PARTS = ("c", "cpp", "rust", "fortran", "julia")
# A routine of NumPy that is longer: many boxes, of which few are of one kind.
LONG_IN_NUMPY = ("amd.64KB_S",)


@pytest.mark.parametrize("name", rest_deep(MEMORIES, 0))
def test_functions_of_any_sizes_have_at_most_150_lines(name, checked_once):
    """Those that threads share, too. In C++ of the layouts with the longest ones: it has the lines of C."""
    for target in LANGUAGES:
        if (target == "cpp" and name not in LONG) or (target == "numpy" and name in LONG_IN_NUMPY):
            continue
        for threads in (False, True)[: 1 + (target in IN_PARTS)]:
            found = lengths(name, target, threads)
            assert max((n or 0 for n in found), default=0) <= MOST, (target, threads)


def test_sizes_that_need_no_rounding_leave_the_order_of_parameters():
    space = index_space(*symbolic("scalapack.block_cyclic_2d"))
    assert [*space.sizes] == ["m", "n", "mb", "nb", "p", "q"]


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(LONG, 1))
@pytest.mark.parametrize("target", LANGUAGES)
def test_boxes_of_one_kind_share_a_function(name, target):
    """No function of a copy has more than 150 lines, however many boxes it has."""
    text = str(copy(*symbolic(name), target, name="moved"))
    is_long = target == "numpy" and name in LONG_IN_NUMPY
    assert is_long or longest(text, target) <= MOST
    assert re.search(r"(moved(_b|B)|::b)ox!?\(", text)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("target", rest_deep(LANGUAGES, 1))
def test_a_function_of_boxes_moves_them(target, threads):
    if threads and target not in IN_PARTS:
        pytest.skip("copies in one thread")
    name = "tenstorrent.TILE" if threads else "cublaslt.COL4_4R2_8C"
    unit = copy(*symbolic(name), target, name="moved", threads=threads)
    assert re.search(r"(moved(_b|B)|::b)ox\d?!?\(", str(unit)) and verified(unit)


@pytest.mark.deep
@pytest.mark.parametrize("target", ["c", "fortran", "julia"])
@pytest.mark.parametrize("way", [1, -1])
def test_parts_of_rows_are_verified(target, way):
    """Of boxes of both axes, those of the same rows are cut alike."""
    pair = symbolic("scalapack.block_cyclic_2d")[::way]
    unit = copy(*pair, target, name="moved", element=1, threads=True)
    assert "moved_piece" in str(unit) and verified(unit)


def test_a_function_is_given_what_its_own_calls_are():
    """Also where a name within a function that it calls is the same."""
    at = Move(Ref(DESTINATION, var("to")), Ref(SOURCE, var("from")), const(1))
    called = Helper("box", ("from", "n"), (Let("to", made("mul", var("n"), 2)), at))
    (call,) = apart((Call(called, (var("to"), const(3))),), "bulk")
    assert call.helper.parameters == ("to",) and call.arguments == (var("to"),)


def test_a_nest_runs_once_for_ways_that_it_does_not_tell_apart():
    ways = checks.WAYS
    move = Move(Ref(DESTINATION, const(0)), Ref(SOURCE, const(0)), const(1))
    large, aligned = Flag("large", None, large=const(8)), Flag("aligned", None, aligned=16)

    def kept(*body):
        return [*map(ways.index, told_apart(body, ways))]

    assert kept(move) == kept(Flag("always", None)) == [0]
    assert kept(large) == kept(Loop("i", const(2), (large,))) == [0, 1]
    assert kept(aligned, move) == [0, 3] and kept(large, aligned) == [0, 1, 3]
    assert kept(Before("back", 16)) == [0, 2]
    assert kept(Vectors((large,), (aligned,))) == [0, 1, 3, 4]
    assert kept(Call(Helper("box", (), (Vectors((move,), (move,)),)), ())) == [0, 4]


WITH_CALLS = (
    "tenstorrent.TILE",
    "onednn.OIhw4i16o4i",
    "scalapack.block_cyclic_2d",
    "tinygemm.int4",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(WITH_CALLS, 1))
def test_wrong_arguments_of_boxes_are_found(name):
    """Begins, extents and strides, of elements and of padding, one too many and one too few."""
    made = plan(*symbolic(name))
    body, _ = nest_of(made, (), Abilities(calls=True))
    check(made, body)
    faults = [*with_a_wrong_argument(body)]
    assert len(faults) > 50
    for wrong in faults:
        with pytest.raises(InternalError, match="wrong argument"):
            check(made, wrong)


def with_a_wrong_argument(body):
    """Nests, each with one wrong argument of a box."""
    for k, own in enumerate(body):
        if not isinstance(own, Call):
            continue
        wrong = [
            replace(own, helper=replace(own.helper, body=b))
            for b in with_a_wrong_argument(own.helper.body)
        ]
        for at, argument in enumerate(own.arguments if own.due else ()):
            given = (*own.arguments[:at], plus(argument, (-1) ** at), *own.arguments[at + 1 :])
            wrong.append(replace(own, arguments=given))
        yield from ((*body[:k], one, *body[k + 1 :]) for one in wrong)


@pytest.mark.slow
def test_a_wrong_argument_of_a_box_in_a_part_is_found():
    made = plan(*symbolic("tinygemm.int4"))
    parts = in_pieces(made, (), Abilities(calls=True))
    assert check(made, parts.body, pieces=parts)

    *lets, loop = parts.body
    for inner in [*with_a_wrong_argument(loop.body)][::8]:
        with pytest.raises(InternalError, match="wrong argument"):
            check(made, (*lets, replace(loop, body=inner)), pieces=parts)


@pytest.mark.parametrize("name", rest_deep(WITH_CALLS, 1))
def test_a_nest_is_run_over_some_of_each_box(name):
    """Of the smallest memories, too, where it has many boxes: a fault of a loop is found in whichever box it is."""
    made = plan(*symbolic(name))
    some = [s for s in sizes_of(made) if value_of(made.destination_size, s) <= checks.MOST_CHECKED]
    some += checks.covering(made, sizes_of(made))
    assert all(any(len(box.pairs(s)[1]) for s in some) for box in made.boxes)


@pytest.mark.slow
def test_a_quotient_of_a_negative_number_is_found():
    """Languages round it differently, and Python as the floor, which may be right here."""
    made, body = planned(*symbolic("tenstorrent.TILE"))
    own = next(s for s in body if isinstance(s, Let) and s.value.op == "div")
    x, y = own.value.args
    wrong = replace(own, value=plus(Node("div", (plus(x, -64 * y.value), y)), 64))
    less = tuple(wrong if s is own else s for s in body)
    with pytest.raises(InternalError, match="divides a negative number"):
        check(made, less)


@pytest.mark.slow
def test_a_row_of_one_tile_and_a_line_is_streamed():
    """Which begins nowhere else than at 0."""
    unit = copy(Col(M, 48), Strided((M, 48), (LD, 1)), "c", assume=["LD >= 48"])
    assert "streamed where it is large" in str(unit.plan) and unit.verify()


def test_copy_of_a_whole_memory_says_so():
    unit = pack(Row(4, 4, 8, 8), "c")
    assert unit.plan.is_memcpy
    assert "memcpy" in str(unit.plan) and "of=" in str(unit.plan)
    unit = pack(Row(4, 4, 8, 8), "c", of=(32, 32))
    assert not unit.plan.is_memcpy and "runs of 32 bytes" in str(unit.plan)


def test_neighbors_are_moved_at_once_where_positions_are_no_digits():
    turns, swizzled = catalogue["arrays.boustrophedon"](16, 32), catalogue["nvidia.SW128"](64, 8)
    for pair, found in (
        ((Row(16, 32), turns), (32, "dst")),
        ((turns, Row(16, 32)), (32, "src")),
        ((Row(*swizzled.dims), swizzled), (16, "")),
        ((Row(8, 8), catalogue["hilbert.2D"](8, 8)), (1, "")),
        ((Row(6, 6), catalogue["lapack.TP"](6, "U")), (1, "")),
        ((Row(M, N), Col(M, N)), (1, "")),
    ):
        assert neighbors(index_space(*pair)) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, dims, block, count",
    [("hilbert.2D", (64, 64), (16, 16), 4), ("quda.even_odd", (4, 4, 8, 32), (1, 1, 8, 32), 2)],
)
@pytest.mark.parametrize("turn", [1, -1])
def test_blocks_of_few_ways_are_moved_by_tables(name, dims, block, count, turn):
    layout = catalogue[name](*dims)
    made = copy(*(Row(*layout.dims), layout)[::turn], "c", element=2)
    (each,) = made.program.routines[0].body
    assert (each.ways.block, len(each.ways.entries)) == (block, count)
    assert f"by tables of {count} ways" in made.plan.notes[-1]
    rows = np.arange(layout.size, dtype=np.uint16)
    moved = np.empty_like(rows)
    moved[[layout.apply(*i) for i in np.ndindex(*layout.dims)]] = rows
    given, wanted = (rows, moved)[::turn]
    assert np.array_equal(made.run(given), wanted) and made.verify()
    for away in (1, -1):  # one element's place, and what tells ways apart
        first, *rest = each.ways.entries
        first = (*first[:away], first[away] + 1, *first[away:][1:])
        wrong = replace(each, ways=replace(each.ways, entries=(first, *rest)))
        with pytest.raises(InternalError, match="nothing was emitted"):
            check(made.plan, (wrong,))


@pytest.mark.slow
def test_tables_of_one_name_are_those_of_their_copy():
    for n in (64, 32):
        layout = catalogue["hilbert.2D"](n, n)
        assert copy(Row(n, n), layout, "cpp", element=4, name="along").verify()


# -- kernels -----------------------------------------------------------------------------------------


def test_kernels_are_right_and_short():
    for bits in (1, 2, 3, 4):
        kernel = of_bits([(0, k) for k in range(bits)], [(1, k) for k in range(bits)], 2)
        assert kernel.is_right() and len(kernel.steps) == bits << bits
    morton = of_bits([(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 0), (4, 0), (1, 0), (5, 0)], 6)
    assert morton.is_right() and len(morton.steps) == 2 * len(morton.loads)
    assert len(of_bits([(0, 0), (0, 1)], [(1, 0), (0, 0)], 2).steps) == 2  # VNNI
    for fields in range(3, 7):
        for lanes in (2, 4, 8, 16):
            assert interleaved(fields, lanes, True).is_right()
            assert interleaved(fields, lanes, False).is_right()
            for packs in (True, False):
                zipped, rounds = zipped_fields(fields, lanes, packs), lanes.bit_length()
                assert zipped.is_right() and len(zipped.steps) == 2 * fields * rounds


def test_perfect_shuffles_are_seen():
    for bits in range(1, 5):
        rows, columns = ([(k, bit) for bit in range(bits)] for k in (0, 1))
        kernel = of_bits(rows, columns, 2)
        order, stores, rounds = kernel.shuffled
        assert rounds == bits
        lanes = 1 << bits
        array = [(k, lane) for k in order for lane in range(lanes)]
        for _ in range(bits):
            halves = array[: len(array) // 2], array[len(array) // 2 :]
            array = [one for pair in zip(*halves, strict=True) for one in pair]
        stored = kernel.run([[(k, lane) for lane in range(lanes)] for k in range(lanes)])
        assert array == [one for k in stores for one in stored[k]]
    morton = of_bits([(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 0), (4, 0), (1, 0), (5, 0)], 6)
    assert morton.shuffled is None
    assert interleaved(3, 16, True).shuffled == ((0, 1, 2), (0, 1, 2), -4)
    registers = tuple(range(6))
    assert zipped_fields(3, 16, False).shuffled == (registers, registers, 5)
    assert zipped_fields(3, 16, True).shuffled == (registers, registers, -5)


# -- planted faults ----------------------------------------------------------------------------------


def changed(body, kind, change):
    """A nest with a change to its first statements of a kind."""

    def one(statement):
        if isinstance(statement, kind) and (new := change(statement)) is not statement:
            return new
        parts = {
            name: tuple(map(one, value))
            for name, value in vars(statement).items()
            if isinstance(value, tuple) and value and hasattr(value[0], "__dataclass_fields__")
            and name in ("body", "then", "otherwise", "plain")
        }  # fmt: skip
        return replace(statement, **parts)

    return tuple(map(one, body))


def exchanged(apply):
    step = apply.kernel.steps[-1]
    lanes = (step.lanes[1], step.lanes[0], *step.lanes[2:])
    steps = (*apply.kernel.steps[:-1], step._replace(lanes=lanes))
    return replace(apply, kernel=replace(apply.kernel, steps=steps))


def test_a_fault_of_zips_is_found():
    """No nest is run by them."""
    made, body = planned(Row(M, N, 3), RegP([M, N, 3], [2, 0, 1]), 1)

    def faulty(s):
        zipped = exchanged(replace(s, kernel=s.kernel.zipped)).kernel
        return replace(s, kernel=replace(s.kernel, zipped=zipped))

    with pytest.raises(InternalError, match="zips"):
        check(made, changed(body, Apply, faulty))


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "size"), [(3, 1), (5, 1), (3, 2)])
def test_zips_of_fields_are_compiled_for_sse2(fields, size, toolchain_of):
    toolchain_of("c")
    pair = Row(M, N, fields), RegP([M, N, fields], [2, 0, 1])
    for way, name in ((pair, "apart"), (pair[::-1], "together")):
        unit = copy(*way, "c", element=size, name=name)
        text = unit.source.partition("defined(__SSSE3__)")[2]
        assert ("_zip_low_u" in text) == (name == "apart")
        assert ("_evens_u8" in text) == (name == "together" and size == 1)
        for sizes in ({"M": 7, "N": 31}, {"M": 1, "N": 64}):
            assert running.verify(unit, sizes, ("-O2", "-march=x86-64"))
            assert running.verify(unit, sizes, ("-O2", "-march=x86-64", "-mssse3"))


def test_planted_faults_of_plans_are_found():
    made, body = planned(Row(20, 7), Padded([20, 7], Strided(((4, 8), 8), ((8, 64), 1))))
    first, *rest = made.boxes
    other = replace(first.digits[0], a=first.digits[0].a + 1)
    for boxes in (
        (replace(first, digits=(other, *first.digits[1:])), *rest),
        (*made.boxes[1:],),
        (*made.boxes, first),
        (replace(first, b=first.b + 1), *rest),
    ):
        with pytest.raises(InternalError, match="nothing was emitted"):
            check(replace(made, boxes=boxes), body)


@pytest.mark.parametrize("layouts", [(Row(33, 18), Col(33, 18)), (Row(M, N), Col(M, N))])
def test_planted_faults_of_nests_are_found(layouts):
    made, body = planned(*layouts)
    for kind, change in (
        (Loop, lambda s: replace(s, last=None) if s.last else s),  # a tail that is not moved back
        (Apply, exchanged),  # two lanes
        (Loop, lambda s: replace(s, start=const(s.step))),
        (Apply, lambda s: replace(s, to_strides=tuple(const(1) for _ in s.to_strides))),
    ):
        with pytest.raises(InternalError, match="nothing was emitted"):
            check(made, changed(body, kind, change))


@pytest.mark.parametrize("size", [2, 4, 8])
def test_four_blocks_of_a_transposition_load_and_store_whole_registers(size):
    """The second row of a tile before the first: processors fetch twice what is read or written in equal strides."""
    made, body = planned(Row(M, N), Col(M, N), size)
    assert {s.kernel.cell for s in walk(body) if isinstance(s, Apply)} == {(32 // size,) * 2}
    loops = [s for s in walk(body) if isinstance(s, Loop) and s.rolled and s.start != const(0)]
    assert [s.falls for s in loops] == [
        size < 8,
        False,
    ]  # a tile of 8 bytes has four rows of blocks
    faults = (
        (Apply, lambda s: replace(s, kernel=replace(s.kernel, square=None))),
        (Loop, lambda s: replace(s, stop=plus(s.stop, -s.step)) if s in loops[:1] else s),
    )
    for kind, change in faults:
        with pytest.raises(InternalError, match="nothing was emitted"):
            check(made, changed(body, kind, change))
    text = str(copy(Row(192, 192), Col(192, 192), "c", element=size, name="turn"))
    assert text.count("for (int64_t i0 = t0 + ") == (size < 8)
    assert text.count("turn_low_halves(y") == 16 // size


@pytest.mark.parametrize(
    ("shape", "size", "hints"),
    [
        ((60, 61), 4, 0),
        ((96, 96), 4, 1),
        ((256, 256), 8, 1),
        ((512, 512), 8, 0),
        ((384, 384), 2, 0),
        ((1440, 1440), 2, 1),
        ((96, 96), 1, 0),
        ((384, 384), 1, 3),
        ((300, 300), 1, 2),
        ((M, N), 1, 4),
    ],
)
def test_lines_that_the_next_tile_writes_are_fetched(shape, size, hints):
    """Unless all are in the first cache, or exchanges of many lanes take longer than lines of the second one. Blocks of
    single bytes fetch what the next row of them writes, and what the next tile reads: rows that are not whole lines
    have two, and symbols say where a tile is whole."""
    text = str(copy(Row(*shape), Col(*shape), "c", element=size, name="turn"))
    assert text.count("__builtin_prefetch(dst") == hints
    if size == 1:
        assert len(re.findall(r"__builtin_prefetch\(\s*src \+ (?:next|last)", text)) == hints


def test_one_counter_takes_the_place_of_loops_over_bits():
    """Strides of its bits that double, fall or are no powers of two, and places that read an index in another way."""
    numbers = random.Random(5)
    for _ in range(60):
        count = numbers.randint(3, 9)
        names = [f"i{k}" for k in range(count)]
        strides = [
            [numbers.choice([0, -3, 5, 2 << k, 1 << numbers.randint(0, 12)]) for k in range(count)]
            for _ in "ab"
        ]
        of, to = (linear(const(0), list(zip(map(const, s), names, strict=True))) for s in strides)
        of = of if numbers.random() < 0.8 else plus(made("mod", of, 7), 1)
        base = const(4096 * 3 * count)
        named = [Let("at", to)] if numbers.random() < 0.5 else []
        body = (
            *named,
            Move(
                Ref(DESTINATION, made("add", base, var("at") if named else to)),
                Ref(SOURCE, made("add", base, of)),
                const(1),
            ),
        )
        loops = [Loop(name, const(2), ()) for name in names]
        fresh = Names([*names, "at"])

        def places(statements, env):
            for s in statements:
                if isinstance(s, Let):
                    env = {**env, s.name: evaluated(s.value, env, {})}
                    assert s.name == "at" or env[s.name] >= 0  # of unsigned languages
                elif isinstance(s, Loop):
                    for k in range(evaluated(s.stop, env, {})):
                        yield from places(s.body, {**env, s.name: k})
                else:
                    yield tuple(evaluated(ref.offset, env, {}) for ref in (s.of, s.to))

        wanted = [*places(nested(loops, body), {})]
        found = counted(nested(loops, body), fresh.fresh, least=1)
        assert [*places(found, {})] == wanted
        assert sum(isinstance(s, Loop) for s in walk(found)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_deep(["c", "rust", "numpy"], 1))
def test_padding_of_tiles_within_tiles(language, toolchain_of):
    """Where rows end within a tile whose parts lie apart, no number below 0 is divided."""
    toolchain_of(language)
    rows, halves = (M + 7) // 8, (N + 1) // 2
    for tiles, order, columns in (
        ([rows, 4, 2, N], [0, 1, 3, 2], N),
        ([rows, 2, 2, 2, halves, 2], [0, 1, 2, 4, 3, 5], 2 * halves),
        ([rows, 4, 2, halves, 2], [0, 1, 3, 2, 4], 2 * halves),
    ):
        padded = Padded([M, N], GroupBy([8 * rows, columns]).OrderBy(RegP(tiles, order)))
        assert verified(copy(Row(M, N), padded, language, element=2))
        assert verified(copy(padded, Row(M, N), language, element=2))


def test_bits_that_fall_in_rust(need):
    need("rustc", "rustup")
    falls = Strided(
        ((2,) * 6, (2,) * 6), ((1, -4, -16, 64, 256, -1024), (-2, 8, 32, -128, 512, 2048)), 1174
    )
    assert copy(Row(64, 64), falls, "rust", element=16).verify()


def test_large_copies_of_registers_are_checked():
    """Elements that fill one, in more digits than are run at once."""
    assert copy(Row(4096, 4096), catalogue["morton.2D"](4096, 4096), "c", element=16).checks


def test_functions_that_read_a_number_without_vectors_alone_compile(tmp_path, monkeypatch, need):
    gcc = need("gcc", "apt-get install gcc")
    monkeypatch.setattr(pieces, "PIECE", 1024)
    bits = RegP([M // 16384, *[2] * 14], [9, 1, 3, 5, 12, 8, 13, 14, 0, 6, 2, 10, 7, 4, 11])
    text = copy(
        GroupBy([M]).OrderBy(bits), Row(M), "c", element=2, assume=["M % 16384 == 0"], threads=True
    )
    (tmp_path / "copy.h").write_text(str(text))
    (tmp_path / "a.c").write_text('#include "copy.h"\n')
    for own in ("-DAS_IT_IS", "-DCOPY_SCALAR"):
        command = [gcc, "-std=c99", "-Wall", "-Wextra", "-Werror", own, "-fsyntax-only", "a.c"]
        subprocess.run(command, cwd=tmp_path, check=True)


def test_parts_name_no_stride_that_they_have_one_index_of(monkeypatch):
    """Of digits of two that parts divide."""
    monkeypatch.setattr(pieces, "PIECE", 512)
    steps = (188, 4, -22, 1, 2, 11, 94, 4 * LD, 64 * LD, LD, 47, 16 * LD)
    bits = Strided(((2,) * 12,), (steps,), 22)
    rows = GroupBy([4096]).OrderBy(RegP([2] * 12, [11, 3, 9, 8, 7, 5, 0, 4, 2, 1, 10, 6]))
    text = str(copy(bits, rows, "c", element=2, assume=["LD >= 376"], threads=True))
    names = re.findall(r"const int64_t (\w+) =", text[text.index("void copy_part(") :])
    assert [n for n in names if len(re.findall(rf"\b{n}\b", text)) == 1] == []


@pytest.mark.parametrize("turned", [False, True])
def test_orders_of_interleaved_bits_have_few_loops(turned):
    pair = Row(1024, 1024), catalogue["morton.2D"](1024, 1024)
    text = str(copy(*(pair[::-1] if turned else pair), "c", element=4, name="order"))
    direct = text[text.index("} else {") : text.index("#else", text.index("} else {"))]
    assert 1 < direct.count("for (") <= 11 and "for (int64_t tile" in direct
    assert re.search(r"memcpy\(\n +dst [^\n]+,\n +src [^\n]+,\n +8\);", text)
    block = copy(Row(8, 8), catalogue["nvidia.SW128"](8, 128), "c", element=4, name="block")
    assert not re.search(r"< (\d+); \w+ \+= \1", text + str(block))  # loops of one round
    text = str(copy(*(pair[::-1] if turned else pair), "javascript", element=4, name="order"))
    assert text.count("for (") == 3 and "Math." not in text


@pytest.mark.parametrize(("channels", "tiles"), [(64, ["t2", "t1"]), (65, ["t1", "t2"])])
def test_tiles_are_in_the_order_of_the_destination(channels, tiles):
    """But those of few channels in that of the source, whose lines would be read in several turns."""
    dims = (8, 3136, channels)
    text = str(copy(Row(*dims), RegP(dims, [0, 2, 1]), "c", element=4, name="planes"))
    around = text[: text.index("__builtin_prefetch(dst")]
    assert re.findall(r"for \(int64_t (t\d) = 0", around)[-2:] == tiles


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("flags", [(), ("-march=x86-64-v3",)])
def test_stores_to_a_buffer_are_instructions_where_calls_are_checked(language, flags, tmp_path):
    """Distributions define _FORTIFY_SOURCE, whose memcpy is a call where an array's size is known."""
    source = copy(Row(512, 512), Col(512, 512), language, element=1, name="turn").source
    scope = "" if language == "c" else "using namespace lego;\nusing std::uint8_t;\n"
    use = f"{scope}void use(const uint8_t *src, uint8_t *dst) {{ turn(src, dst); }}"
    compiler, file = ("gcc", "use.c") if language == "c" else ("g++", "use.cpp")
    (tmp_path / file).write_text(f"{source}\n{use}\n")
    command = [
        compiler,
        "-O2",
        "-U_FORTIFY_SOURCE",
        "-D_FORTIFY_SOURCE=3",
        *flags,
        "-S",
        file,
        "-o-",
    ]
    made = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "buffer" in source and "memcpy" not in made


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4, 8])
def test_four_blocks_of_a_transposition_are_verified(size):
    unit = copy(Row(M, N), Col(M, N), "cpp", element=size)
    assert running.verify(unit, {"M": 66, "N": 69}, ("-O2", "-march=x86-64-v3"))


@pytest.mark.quick(1)
@pytest.mark.parametrize("turn", [1, -1])
def test_two_kernels_where_no_one_does_it(turn):
    made, body = planned(*WEIGHTS[::turn], 1)
    first, second = (s for s in walk(body) if isinstance(s, Apply))
    assert (first.to.array, second.of.array) == (BUFFER, BUFFER)
    assert len(first.kernel.loads) == (16, 4)[turn < 0]
    for kind, change in (
        (Apply, exchanged),
        (Apply, lambda s: replace(s, of_strides=s.of_strides[::-1])),
        (Buffer, lambda s: replace(s, body=s.body[:1])),
    ):
        with pytest.raises(InternalError, match="nothing was emitted"):
            check(made, changed(body, kind, change))
    large = Row(256, 256, 3, 3), catalogue["onednn.OIhw4i16o4i"](256, 256, 3, 3)
    planned(*large[::turn], 1)


@pytest.mark.slow
@pytest.mark.parametrize("turn", [1, -1])
def test_nests_of_many_digits_are_run_over_few_of_them_at_a_time(turn, monkeypatch):
    """Of a Morton order each bit is a digit; all of 2048 x 2048 took minutes."""
    pair = (Row(512, 512), catalogue["morton.2D"](512, 512))[::turn]
    (box,) = plan_of(index_space(*pair), 4).boxes
    some = [*checks._fewer(box, 4)]
    assert all(prod(d.n for d in one.digits) <= 2**14 for one in some)
    assert {k for one in some for k, d in enumerate(one.digits) if d.n == 2} == {*range(18)}
    copy(*pair, target="c", element=4)
    made = checks.nest_of

    def wrong(plan):
        body, kinds = made(plan)
        return changed(body, Apply, exchanged), kinds

    monkeypatch.setattr(checks, "nest_of", wrong)
    with pytest.raises(InternalError, match="nothing was emitted"):
        copy(*pair, target="c", element=4)


# -- routines ----------------------------------------------------------------------------------------

ROUTINES = {
    "transpose": (Row(M, N), Col(M, N), {}),
    "blocked": (Row(W, C, H, W), catalogue["onednn.nChw16c"](W, C, H, W), {}),
    "tiles": (TileBy([M // 8, N // 8], [8, 8]), Row(M // 8, N // 8, 8, 8), {}),
    "pitched": (Strided((M, N), (LD, 1)), Row(M, N), {"assume": ["LD >= N"]}),
    "pitches": (Col(M, N), Strided((M, N), (LD, 1)), {"assume": ["LD >= N"], "element": 2}),
    "planes": (Row(M, N, 3), RegP([M, N, 3], [2, 0, 1]), {"element": "uint8"}),
    "morton": (Row(16, 16), catalogue["morton.2D"](16, 16), {"element": 1}),
    "records": (Row(M, N), Col(M, N), {"element": 12}),
    "weights": (Row(M, 16, 3, 3), catalogue["onednn.OIhw4i16o4i"](M, 16, 3, 3), {"element": 1}),
    "kernels": (WEIGHTS[1], WEIGHTS[0], {"element": 1}),
    # An exchange of 16 registers took a stride that it does not use.
    "exchanged": (
        Strided((16, 2, N), (2 * N + 8, N + 4, 1)),
        Strided((16, 2, N), (1, 16, 32)),
        {"element": 1},
    ),
    "swizzled": (Row(8, 8), catalogue["nvidia.SW128"](8, 128), {"element": 16}),
    "triangle": (catalogue["lapack.TP"](6, "U"), Row(6, 6), {}),
    "turns": (catalogue["arrays.boustrophedon"](16, 32), Row(16, 32), {"element": 1}),
    "masked": (
        ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])),
        ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]).OrderBy(Row(3, 4, 2, 2)), guard="logical"),
        {},
    ),
}


def verified(unit, sizes=None):
    """What verify() finds, which is true where everything holds. Rust checks more with debug assertions, in a fifth of
    the time of its optimizer, which all golden copies go through."""
    return running.verify(unit, sizes, ("-O0",) if unit.printer.name == "rust" else ("-O2",))


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(ROUTINES, 4))
@pytest.mark.parametrize("target", ["c", "cpp"])
def test_routines_are_verified(name, target):
    A, B, options = ROUTINES[name]
    found = copy(A, B, target, name=name, **options).verify()
    assert found, str(found)


@pytest.mark.slow
def test_names_of_sizes_and_of_the_file():
    S, T = symbols("S T")
    unit = copy(Row(S, T), Col(S, T), "cpp", name="turn", prefix="acme_", namespace="acme::memory")
    assert "acme_turn_fits" in str(unit) and unit.verify()


WIDER = Strided((M, N), (N + 8, 1))
CHOSEN = {
    "of symbols": (Row(M, N), Choice(TAG, {0: Row(M, N), 1: WIDER}), {"M": 5, "N": 3}),
    "of numbers": (Row(4, 4), Choice(TAG, {0: Row(4, 4), 1: Strided((4, 4), (8, 1))}), {}),
    "ordered": (Row(M, N), GroupBy([M, N]).OrderBy(Choice(TAG, {0: Row(M, N), 1: WIDER})), {"M": 2, "N": 9}),
    "padded": (Row(M, N), Padded([M, N], Choice(TAG, {0: Row(M + 1, N), 1: Col(M + 1, N)})), {"M": 4, "N": 7}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("turn", [1, -1])
def test_a_tag_chooses_from_memories_of_different_sizes(name, turn, need):
    need("gcc", "apt-get install gcc")
    rows, chosen, sizes = CHOSEN[name]
    unit = copy(*(rows, chosen)[::turn], "c", zero=False)
    assert {s["TAG"] for s in sizes_of(unit.plan)} == {0, 1} and unit.verify()
    for tag in (0, 1):
        numbers = {**sizes, "TAG": tag}
        ends = [value_of(n, numbers) for n in (unit.plan.source_size, unit.plan.destination_size)]
        own = [layout_at(L, unit.plan.space, numbers) for L in (rows, chosen)[::turn]]
        given, found = np.arange(1, ends[0] + 1, dtype=np.uint32), np.zeros(ends[1], np.uint32)
        for index in np.ndindex(*own[0].dims):
            found[own[1].apply(*index)] = given[own[0].apply(*index)]
        assert np.array_equal(unit.run(given, **numbers), found)


@pytest.mark.slow
def test_a_routine_runs():
    given = np.arange(12, dtype=np.float32)
    unit = copy(Row(M, N), Col(M, N), "c")
    assert np.array_equal(unit.run(given, M=3, N=4), given.reshape(3, 4).T.reshape(-1))
    out = np.zeros(12, np.float32)
    assert unit.run(given, out, M=4, N=3) is out and out[1] == 3
    with pytest.raises(LegoError, match="shares memory"):
        unit.run(given, given, M=3, N=4)
    with pytest.raises(LegoError, match="float64"):
        unit.run(given.astype(float), M=3, N=4)
    with pytest.raises(
        LegoError, match=r"N has no number; .* give run\(\.\., N=\.\.\) or sizes={'N': \.\.}"
    ):
        unit.run(given, M=3)
    with pytest.raises(LegoError, match="12 elements"):
        unit.run(given[1:], M=3, N=4)


@pytest.mark.slow
def test_arrays_that_cannot_be_written_or_begin_anywhere(need):
    need("rustc", "rustup")
    unit = copy(Row(3, 4), Col(3, 4), "rust", element="complex128")
    memory = np.zeros(13 * 16, np.uint8)
    start = -memory.ctypes.data % 16 + 8
    given, out = (memory[start : start + 192].view(complex) for _ in "ab")
    out = np.frombuffer(bytearray(200), complex, 12, 8)
    given[:] = np.arange(12)
    assert unit.run(given, out) is out
    assert np.array_equal(out, given.reshape(3, 4).T.reshape(-1))
    out.setflags(write=False)
    with pytest.raises(LegoError, match="can only be read"):
        unit.run(given, out)
    assert copy(Row(3, 5), Col(3, 5), "c", element=600).verify()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["rust", "numpy"])
def test_sizes_with_long_names(target):
    """Whose lines are broken, or take a name for what stands in them."""
    names = symbols("batch heads number_of_tokens hidden_size")
    turned = GroupBy(list(names)).OrderBy(RegP(list(names), [2, 1, 0, 3]))
    assert copy(Row(*names), turned, target).verify()
    rows, columns = symbols("number_of_rows number_of_columns")
    padded = GroupBy([(rows + 7) // 8 * 8, (columns + 15) // 16 * 16])
    assert copy(Row(rows, columns), Padded([rows, columns], padded), target).verify()


@pytest.mark.slow
def test_a_faulty_text_is_not_verified():
    unit = copy(Row(M, N), Col(M, N), "c", name="faulty")
    wrong = unit.source.replace("N - 8", "N - 9")
    assert wrong != unit.source
    assert not replace(unit, source=wrong).verify()


def test_texts_are_the_same_every_time():
    units = [copy(Row(M, N), Col(M, N), target) for target in ("c", "cpp", "c")]
    assert str(units[0]) == str(units[2])
    assert "copy_source_bytes" in str(units[1])


def test_a_slow_first_call_shortens_no_round():
    """It looks a symbol up; a round of few calls would measure what surrounds them."""
    clock, calls = [0.0], {"a": list[int](), "b": list[int]()}

    def called(name):
        def function(rounds):
            clock[0] += 1e-3 * rounds + (1.0 if not calls[name] else 0.0)
            calls[name].append(rounds)

        return function

    found = running.in_turns([called("a"), called("b")], 3, lambda: clock[0], 0.1)
    assert found == [[pytest.approx(1e-3)] * 3] * 2
    assert all(own[-3:] == [100] * 3 for own in calls.values())


@pytest.mark.slow
def test_bytes_are_what_the_index_type_holds():
    unit = copy(Row(M, N), Col(M, N), "c", element=24, name="f")
    assert "@pre M*N*24 <= INT64_MAX" in str(unit) and "M*N <= INT64_MAX" not in str(unit)
    fits, most = unit.compile()["f_fits"], (2**63 - 1) // 24
    for m in 1, 2, 1000, 2**31, most // 3, most - 1, most:
        for n in most // m - 1, most // m, most // m + 1, 2**62:
            assert n < 1 or bool(fits(m, n)) == (24 * m * n < 2**63), (m, n)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", rest_slow(ROUTINES, 4))
def test_a_routine_has_at_most_150_lines(name):
    A, B, options = ROUTINES[name]
    text = str(copy(A, B, "c", name=name, **options))
    assert len(text[text.index("/// Copies") :].partition("\n}\n")[0].splitlines()) < 150


@pytest.mark.parametrize(
    "target, head", [("c", "static inline"), ("rust", r"(?:pub )?(?:const )?fn")]
)
@pytest.mark.parametrize("name", rest_deep(MEMORIES, 4))
def test_functions_of_the_catalogue_have_at_most_150_lines(name, target, head):
    """Of sizes that are numbers; axes that end anywhere have a box for each way in which they do."""
    layout = catalogue[name](**catalogue[name].example)
    for pair in ((Row(*layout.dims), layout), (layout, Row(*layout.dims))):
        for size in (1, 4):
            text = str(copy(*pair, target, element=size, name="routine"))
            found = re.findall(rf"^{head}\b.*?^}}$", text, re.MULTILINE | re.DOTALL)
            assert found and max(own.count("\n") for own in found) < 150


def test_unpack_is_the_way_back():
    tiles = Row(4, 4, 8, 8)
    there, back = pack(tiles, "c", of=(32, 32)).plan, unpack(tiles, "c", of=(32, 32)).plan
    given = np.arange(1024)
    assert np.array_equal(back.run(there.run(given)), given)
    assert np.array_equal(
        there.run(given), given.reshape(4, 8, 4, 8).transpose(0, 2, 1, 3).reshape(-1)
    )


def test_conversions_and_comparisons_name_copies(tmp_path, monkeypatch):
    with pytest.raises(
        LegoError, match=r"Both are memories: lego_emit.copy\(A, B\) moves an array"
    ):
        convert(Row(4, 8), Col(4, 8))
    with pytest.raises(LegoError, match=r"of register, lane and warp\n"):
        convert(catalogue["fragment.mma"](**catalogue["fragment.mma"].example), Row(8, 32))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(
        "from lego_emit import *\nrows, columns = Row(8, 8), Col(8, 8)\n"
    )
    done = CliRunner().invoke(main, ["compare", "a.py:rows", "a.py:columns"])
    assert "\nlego-emit copy a.py:rows a.py:columns -t c: kernel of 4 registers\n" in done.output
    done = CliRunner().invoke(main, ["compare", "a.py:rows", "a.py:rows"])
    assert "copy" not in done.output
    done = CliRunner().invoke(main, ["catalogue", "cublaslt.COL32"])
    (line,) = (line for line in done.output.splitlines() if line.startswith("copied:"))
    command, _, way = line.removeprefix("copied:").rpartition(": ")
    assert way == "runs of 128 bytes"
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert "static inline void copy(const uint32_t *restrict src" in done.output


def test_commands_of_copies_list_languages_that_have_some(tmp_path):
    """So does their help."""
    shown = CliRunner().invoke(main, ["pack", "--help"]).output
    assert "One of c, cpp" in shown and "mlir" not in shown
    assert "mlir" in CliRunner().invoke(main, ["generate", "--help"]).output
    given = ["pack", "-e", "Row(M // 2, 2)", "--of", "M", "-t", "all", "-o", str(tmp_path / "out")]
    assert CliRunner().invoke(main, given).exit_code == 0
    assert (tmp_path / "out" / "pack.wgsl").exists()


@pytest.mark.filterwarnings("always::lego_emit.LegoWarning")
def test_commands_warn_once_of_tiles_that_are_cut_from_no_matrix(tmp_path, monkeypatch):
    given = ["pack", "-e", "Row(4, 4, 8, 8)", "-t", "c", "-t", "fortran", "--plan"]
    assert (
        CliRunner().invoke(main, given).stderr.count("warning: copy: this is memcpy; to cut") == 1
    )
    assert not CliRunner().invoke(main, [*given, "--of", "32, 32"]).stderr
    monkeypatch.chdir(tmp_path)
    Path("layouts.py").write_text("from lego_emit import Row\ntiles = Row(4, 4, 8, 8)\n")
    Path("lego-emit.toml").write_text(
        'targets = ["c"]\n[[layouts]]\nsource = "layouts.py:tiles"\noutput = "t.h"\npack = true\n'
    )
    done = CliRunner().invoke(main, ["build"])
    assert done.exit_code == 0 and done.stderr.count("this is memcpy; to cut tiles") == 1


def test_a_plan_runs_without_a_compiler():
    curve = catalogue["hilbert.2D"](8, 8)
    given = np.arange(64)
    there, back = (pack(curve, "c").plan, unpack(curve, "c").plan)
    assert not there.is_affine and not np.array_equal(there.run(given), given)
    assert np.array_equal(back.run(there.run(given)), given)


def test_names_come_by_name_alone():
    assert not {"copy", "pack", "unpack"} & {*lego_emit.__all__}
    assert {"copy", "pack", "unpack"} <= {*dir(lego_emit)}


ROTATED = GroupBy([5, 6]).OrderBy(
    GenP(
        [5, 6],
        lambda i, j: 6 * i + (i + j) % 6,
        lambda flat: (flat // 6, (flat % 6 - flat // 6) % 6),
    )
)
WRONG = {
    "index spaces are": lambda: copy(Row(4, 6), Row(6, 4), "c"),
    "assume=.'M == N'": lambda: copy(Row(M, N), Row(N, M), "c"),
    "assume=.'M == 8'": lambda: copy(Row(8, M), Row(M, 8), "c"),
    r"M, 4. and .M \+ 1, 4.; both layouts take the same indices.\ Where": lambda: copy(
        Row(M, 4), Row(M + 1, 4), "c"
    ),
    "the range of Q names Q": lambda: copy(Row(M, N), Col(M, N), "c", ranges={"Q": (1, 9)}),
    "take of=": lambda: copy(Row(4, 4, 8, 8), Row(32, 32), "c"),
    "several indices in one place": lambda: copy(Row(4, 6), Strided((4, 6), (1, 0)), "c"),
    "puts several indices": lambda: copy(Row(4, 6), Strided((4, 6), (2, 1)), "c"),
    "assume=.'LD >= N'": lambda: copy(Row(M, N), Strided((M, N), (LD, 1)), "c"),
    "element is 0": lambda: copy(Row(4), Row(4), "c", element=0),
    "element is 'float31'": lambda: copy(Row(4), Row(4), "c", element="float31"),
    "MLIR has no copies": lambda: copy(Row(4), Row(4), "mlir"),
    "is not a layout": lambda: copy(Row(4), [4], "c"),
    "fields of words are packed by NAME_set": lambda: pack(Packed(Row(4), 4), "c"),
    "no name for a function": lambda: copy(Row(4), Row(4), "c", name="a b"),
    "name is 'if', no name": lambda: copy(Row(4), Row(4), "c", name="f", prefix="i"),
    "'memcpy', no name": lambda: copy(Row(4), Row(4), "c", name="memcpy"),
    "is called src": lambda: copy(Row(symbols("src")), Row(symbols("src")), "c"),
    "not known which is the largest": lambda: copy(
        Row(M, N),
        Choice(TAG, {0: Strided((M, N), (N + 8, 1)), 1: Strided((M, N), (1, M + 9))}),
        "c",
    ),
    "no padding, and .* give zero=False": lambda: copy(
        ROTATED, Padded([5, 6], Strided((8, 8), (9, 1))), "c"
    ),
    "are no sums of digits, .* give zero=False": lambda: copy(
        Row(5), Choice(TAG, {0: Padded([5], Row(8)), 1: Padded([5], Row(6))}), "c"
    ),
    "header rules out .*; a size is at least 1": lambda: copy(Row(M), Row(M), "c").run([], M=0),
    "is called memcpy": lambda: copy(Row(symbols("memcpy")), Row(symbols("memcpy")), "c"),
    "is called wide": lambda: copy(Row(M, symbols("wide")), Col(M, symbols("wide")), "cpp"),
    "is called own": lambda: copy(
        Row(M, symbols("own")), Col(M, symbols("own")), "rust", threads=True
    ),
    "is called c_loc": lambda: copy(Row(symbols("c_loc")), Row(symbols("c_loc")), "fortran"),
    "tiles of": lambda: pack(Row(4, 4, 8, 8), "c", of=(32, 30)),
    "no multiple": lambda: pack(Row(4, 8, 8), "c", of=(32, 32)),
    r"cover 16\*\(\(M \+ 15\) // 16\); .* Padded": lambda: pack(
        Row((M + 15) // 16, N // 8, 16, 8), "c", of=(M, N)
    ),
    "of= has N on axis 0": lambda: unpack(Row(M, N), "c", of=(N, M)),
    "of= has 32 on axis 0, .* cover M": lambda: pack(
        Padded([M, N], GroupBy([16 * ((M + 15) // 16), N])), "c", of=(32, N)
    ),
    r"round up by \(K \+ 15\) // 16": lambda: pack(Row(-((M - N) // 16), 16), "c"),
    "M - N .* a number below 0 is divided": lambda: copy(
        Strided((M, N), (1, M - (M - N - 5) // 16)), Row(M, N), "c"
    ),
    "8 bytes in NumPy .* 'uint8' or": lambda: copy(Row(4), Row(4), "c", element="u8"),
    "elment'; it has element, .*Did you mean 'element'": lambda: copy(
        Row(4), Row(4), "c", elment="uint8"
    ),
    "H is no option; sizes are given by sizes=": lambda: copy(Row(M), Row(M), "c").time(H=8),
    "Did you mean 'sizes'": lambda: copy(Row(M), Row(M), "c").verify(sizs={"M": 8}),
    "counts no more than 9223372036854775807": lambda: copy(Row(2**61), Row(2**61), "c"),
    "positions below 0.*offset of 5": lambda: copy(Strided((4, 6), (6, -1)), Row(4, 6), "c"),
    "names that begin with turn_": lambda: copy(
        Row(symbols("turn_part")), Row(symbols("turn_part")), "c", name="turn"
    ),
    "on is 'gpu:7'.*on 'cpu' alone": lambda: copy(Row(4), Row(4), "c").verify(on="gpu:7"),
    "on is 3, and": lambda: copy(Row(4), Row(4), "c").time(on=3),  # type: ignore[arg-type]
    "element is 'u1,,'": lambda: copy(Row(4), Row(4), "c", element="u1,,"),
    "element is 'V70000'": lambda: copy(Row(4), Row(4), "c", element="V70000"),
    "of= has 500 on axis 1, .* cover 496": lambda: pack(
        Row(M // 8, N // 8, 8, 8), "c", of=(M, N), sizes={"N": 500}
    ),
    "of= has 12 on axis 0, .* cover 8": lambda: unpack(
        Row(M // 8, 8), "c", of=(M,), sizes={"M": 12}
    ),
    # The header has no M + 1 of which 8 is a factor: of 7 elements 8 were read, and of 9 only 8.
    r"of= has M on axis 0, .* cover 8\*\(\(M \+ 1\) // 8\)": lambda: pack(
        Row((M + 1) // 8, 8), "c", of=(M,)
    ),
    r"of= has M \+ N on axis 0, .* cover 8": lambda: pack(Row((M + N) // 8, 8), "c", of=(M + N,)),
    "of= has N on axis 1": lambda: pack(Row(M // 8, N // 8, 8, 4), "c", of=(M, N)),
    "has a matrix of 30, 30": lambda: pack(
        ExpandBy([30, 30], [32, 32], TileBy([4, 4], [8, 8])), "c", of=(17, 17)
    ),
    "^turn: .* fit int64 [^;]*; a copy's numbers have the type that its language has for sizes: [^;]*$": (
        lambda: copy(Row(2**40, 2**40), Col(2**40, 2**40), "c", name="turn")
    ),
    "moves no masks; .* array.filled": lambda: copy(Row(4), Row(4), "c").run(
        np.ma.masked_array(np.arange(4, dtype=np.uint32), mask=[1, 0, 0, 0])
    ),
    "'real64'; .*, 8 for 64 bits, or": lambda: copy(Row(4), Row(4), "c", element="real64"),
    "fit int32 [^;]*; a copy's .* sizes: [^;]*$": lambda: copy(
        Row(M, 2**40), Col(M, 2**40), "wgsl"
    ),
    "movement.convert": lambda: copy(
        catalogue["fragment.mma"](**catalogue["fragment.mma"].example), Row(8, 32), "c"
    ),
}


@pytest.mark.parametrize(
    "n",
    [-(-M // 16), -(M // -16), -(-M >> 4), "ceiling(M / 16)"],
    ids=["of a negative", "by a negative", "shifted", "SymPy's"],
)
def test_sizes_that_are_rounded_up_are_one(n):
    """However a quotient is rounded up, the routine is the same."""
    if isinstance(n, str):
        n = sympy.sympify(n, locals={"M": sympy.Symbol("M", integer=True, positive=True)})

    def body(n):
        panels = GroupBy([16 * n, 64]).OrderBy(RegP([n, 16, 64], [0, 2, 1]))
        text = str(pack(Padded([M, 64], panels), "c"))
        return text[text.index("\n#") : text.index("#elif")]

    assert body(n) == body((M + 15) // 16)


def test_a_size_rounded_up_by_a_symbol_is_copied(need):
    for n in (-(-M // N), -(M // -N)):
        unit = copy(Row(n, 4), Col(n, 4), "c")
        assert "(M - 1) // N + 1" in str(unit.plan)
    need("gcc", "apt-get install gcc")
    assert unit.verify(sizes={"M": 37, "N": 5})


def test_no_cast_in_cpp_is_useless(tmp_path, need):
    gcc = need("g++", "apt-get install g++")
    for name, more in (("bytes", {}), ("changed", {"value": lambda v: v ^ 0x88})):
        text = str(copy(Row(M, N), Col(M, N), "cpp", element=1, name=name, **more))
        call = f"void f_{name}(const char *a, char *b) {{ lego::{name}(80, 96, a, b); }}\n"
        (tmp_path / f"{name}.cpp").write_text(f"{text}\n{call}")
        for own in ("-msse2", "-march=x86-64-v3"):
            command = [gcc, "-std=c++20", "-Wuseless-cast", "-Werror", own, "-c", f"{name}.cpp"]
            subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("b", [5, 7, 9, 20, 128, N])
def test_tiles_of_any_size_are_cut(b):
    unit = pack(Row(M // b, 2, b, 4), "c", of=(M, 8))
    assert f"@pre M % {b} == 0" in str(unit)
    rows = 18 if b is N else 3 * b
    sizes = {"M": rows, "N": 6} if b is N else {"M": rows}
    found = unit.plan.run(np.arange(8 * rows), sizes)
    tiles = np.arange(8 * rows).reshape(3, rows // 3, 2, 4).transpose(0, 2, 1, 3)
    assert np.array_equal(found, tiles.reshape(-1))


@pytest.mark.parametrize(
    "n, plain",
    [
        (M + (-M) % 16, 16 * ((M + 15) // 16)),
        (3 * M + 2 + (-(3 * M + 2)) % 16, 16 * ((3 * M + 17) // 16)),
        (-(-(M + 1) // 8) + N, (M + 8) // 8 + N),
        (2 * -(-(M + 1) // 8) + 3, 2 * ((M + 8) // 8) + 3),
        ((N + 1) * -(-(M + 1) // 8) + 2 * N, (N + 1) * ((M + 8) // 8) + 2 * N),
    ],
    ids=["by what is left", "by what is left of a sum", "beside another", "twice", "in more terms"],
)
def test_sizes_that_are_rounded_up_are_copied_by_numpy(n, plain):
    """All indices at once, with sizes whose lines are broken; none is taken to be a multiple."""
    run = {}
    unit = copy(Row(n, 4), Col(n, 4), "numpy", name="turned")
    assert not any(c.op == "eq" for c in unit.plan.function.assumed)
    exec(str(unit), run)
    for sizes in ({"M": 1, "N": 3}, {"M": 8, "N": 1}, {"M": 37, "N": 5}):
        rows = eval(str(plain), dict(sizes))
        given = np.arange(4 * rows, dtype=np.uint32)
        found = run["turned"](*(sizes[name] for name in unit.plan.space.sizes), given)
        assert np.array_equal(found, given.reshape(rows, 4).T.reshape(-1))


def test_indices_of_long_sizes_are_unpacked_on_one_line():
    s, t = -(-M // (16 * N)), -(-((M + N) // (N + 1)) >> 4)
    A = GroupBy([s, 4 * t]).OrderBy(RegP([s, t, 4], [1, 0, 2]))
    run = {}
    exec(str(copy(A, Row(s, 4 * t), "numpy", name="each")), run)
    given = np.arange(4, dtype=np.uint32)
    assert np.array_equal(run["each"](3, 3, given), given)


def test_sizes_that_are_known_to_be_equal_are_taken():
    for given in ({"assume": ["M == N"]}, {"sizes": {"M": 4, "N": 4}}):
        assert copy(Row(M, N), Row(N, M), "c", **given).plan.is_memcpy


@pytest.mark.parametrize("said", WRONG)
def test_wrong_input_is_one_message(said):
    with pytest.raises(LegoError, match=said):
        WRONG[said]()


P, Q = symbols("P Q")
PAIRS = Padded([7, 7], GroupBy([9, 9]).OrderBy(RegP([3, 3, 3, 3], [0, 2, 1, 3])))
SKEWED = catalogue["banks.skewed"]
SHARED = [  # (source, destination, what is said)
    (PAIRS, Strided((7, 7), (6, 1)), "puts several"),
    (SKEWED(7, 7), Strided((7, 7), (5, 1)), "puts several"),
    (PAIRS, Lookup([7, 7], [3, *range(48)], many=True), "puts several"),
    (Row(80, 80), Lookup([80, 80], [3, *range(6399)], many=True), "puts several"),
    (SKEWED(M, N), Strided((M, N), (0, 1)), "puts several"),
    (SKEWED(M, N), Strided((M, N), (P, 1)), "'P >= N'"),
    (Row(M, N), Strided((M, N), (1, -P), offset=P * (N - 1)), "'P >= M'"),
    (catalogue["tenstorrent.TILE"](M, N), Strided((M, N), (1, P)), "'P >= M'"),
    (Row(M, 7), Strided((M, 7), (6, 1)), "one of its strides is 6, and what is faster reaches over 7"),
]  # fmt: skip
APART = [  # (source, destination, assumptions)
    (PAIRS, Strided((7, 7), (2, 13)), []),
    (Row(M, 7), Strided((M, 7), (13, 2)), []),
    (catalogue["xla.{1,0:T(8,128)}"](M, N), Strided((M, N), (1, P)), ["P >= M"]),
    (catalogue["blis.panel_a"](M, N, 8), Strided((M, N), (1, P)), ["P >= M"]),
    (Row(M, N), Strided((M, N), (1, -P), offset=P * (N - 1)), ["P >= M"]),
    (Row(M, N, 5), Strided((M, N, 5), (P, Q, 1)), ["P >= N * Q", "Q >= 5"]),
]


@pytest.mark.parametrize(("source", "destination", "said"), SHARED)
def test_a_destination_with_indices_in_one_place_is_refused(source, destination, said):
    """By its own digits, whatever the source has."""
    with pytest.raises(LayoutError, match=said):
        copy(source, destination, "c")


@pytest.mark.parametrize(("source", "destination", "assume"), APART)
def test_a_destination_of_other_strides_is_taken(source, destination, assume):
    assert copy(source, destination, "c", assume=assume).checks


# -- all of the catalogue, compiled ---------------------------------------------------------------

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{includes}
static unsigned char *read_bytes(FILE *file, size_t count) {{
  unsigned char *found = malloc(count ? count : 1);
  if (found == NULL || fread(found, 1, count, file) != count) exit(2);
  return found;
}}
int main(int argc, char **argv) {{
  FILE *file = fopen(argv[argc - 1], "rb");
  int wrong = 0;
  {cases}
  return wrong;
}}
"""
CASE = """{{
    unsigned char *src = read_bytes(file, {a}), *due = read_bytes(file, {b}), *dst = malloc({b});
    memset(dst, 0xa5, {b});
    {name}((const void *)src, (void *)dst);
    if (memcmp(dst, due, {b})) {{ printf("{name} is wrong\\n"); wrong = 1; }}
    free(src); free(due); free(dst);
  }}"""


@cache
def catalogue_copies(size):
    """(the headers by name, the cases of MAIN, the bytes that they read): every memory to and from rows."""
    from lego_emit.copies.plan import PAD

    headers, cases, data = {}, [], b""
    rng = np.random.default_rng(size)
    for at, name in enumerate(MEMORIES):
        entry = catalogue[name]
        layout = entry(**entry.example)
        for way, pair in enumerate([(Row(*layout.dims), layout), (layout, Row(*layout.dims))]):
            called = f"copy_{at}_{way}"
            unit = copy(*pair, "c", name=called, element=size)
            headers[called] = unit.source
            wanted = model(unit.plan, {})
            source = rng.integers(0, 256, (unit.plan.source_size, size), np.uint8)
            due = np.full((len(wanted), size), 0xA5, np.uint8)
            due[wanted >= 0] = source[wanted[wanted >= 0]]
            due[wanted == PAD] = 0
            data += source.tobytes() + due.tobytes()
            cases.append(CASE.format(a=source.size, b=due.size, name=called))
    return headers, cases, data


# One worker does all of a size.
OF_SIZES = [
    pytest.param(size, marks=pytest.mark.xdist_group(f"catalogue {size}")) for size in SIZES
]


@pytest.mark.deep
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("size", OF_SIZES)
@pytest.mark.parametrize("flags", [(), ("-DSCALAR",), ("-march=x86-64-v3", "-DLARGE")])
def test_the_catalogue_under_sanitizers(size, compiler, flags, tmp_path):
    """In memories of exactly their sizes."""
    headers, cases, data = catalogue_copies(size)
    includes = []
    for called, source in headers.items():
        (tmp_path / f"{called}.h").write_text(source)
        if "-DSCALAR" in flags:
            includes.append(f"#define {called.upper()}_SCALAR")
        if "-DLARGE" in flags:
            includes.append(f"#define {called.upper()}_LARGE 0")
        includes.append(f'#include "{called}.h"')
    (tmp_path / "data").write_bytes(data)
    text = MAIN.format(includes="\n".join(includes), cases="\n  ".join(cases))
    (tmp_path / "main.c").write_text(text)
    checks = "address,undefined" if compiler == "gcc" else "undefined"  # which needs no library
    level = "-O0" if compiler == "gcc" else "-O1"  # every access is looked at, or what is left
    command = [compiler, "-std=c99", level, f"-fsanitize={checks}"]
    command += ["-fno-sanitize-recover=all"] if compiler == "gcc" else ["-fsanitize-trap=all"]
    command += [*flags, "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main", "data"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_pitch_that_fits_does_not_overflow(tmp_path):
    """No part of a memory's size is larger than the size."""
    LD = symbols("LD")
    text = copy(Strided((M, N), (LD, 1)), Col(M, N), "c", element=1, name="pitched").source
    main = """
    int main(void) {
      const int64_t LD = (int64_t)1 << 60;
      return pitched_fits(8, 1, LD) && pitched_source_bytes(8, 1, LD) == 7 * LD + 1 && !pitched_fits(9, 1, LD) ? 0 : 1;
    }
    """
    path = tmp_path / "pitch.c"
    path.write_text(text + main)
    flags = ("-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wno-unused-function")
    subprocess.run(["gcc", *flags, str(path), "-o", str(tmp_path / "pitch")], check=True)
    subprocess.run([str(tmp_path / "pitch")], check=True)


PIECES = ((64, 4, 128), (21, 12, 12), (85, 12, 60), (9, 16, 16), (256, 4, 128))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "cpp"])
def test_runs_that_are_moved_in_pieces_are_verified(target):
    for n, size, _ in PIECES:
        tiles = TileBy([2, 3], [2, n]), Row(2, 3, 2, n)
        assert copy(*tiles, target, element=size, name="cut").verify()


@pytest.mark.parametrize("target", ["c", "cpp"])
def test_runs_of_up_to_1_kb_are_moved_in_pieces(target):
    """Of a longer constant memcpy than these, GCC makes rep movsq, and Clang a call."""
    for n, size, rest in PIECES:
        tiles = TileBy([2, 3], [2, n]), Row(2, 3, 2, n)
        text = copy(*tiles, target, element=size, name="cut").source
        assert text.count(f"run{n}(") in (2, 3) and f", {n * size})" not in text
        assert f", {rest})" in text
    for n in (32, 257):
        text = copy(TileBy([2, 3], [2, n]), Row(2, 3, 2, n), target, element=4).source
        assert f", {4 * n})" in text and f"run{n}(" not in text


def test_runs_of_whole_lines_are_streamed_in_the_order_of_the_source():
    """In either direction; runs of a line only where the next run of the destination comes soon."""

    def order(n, tile):
        tiles = TileBy([n // tile] * 2, [tile] * 2), Row(n // tile, n // tile, tile, tile)
        for pair in (tiles, tiles[::-1]):
            text = str(copy(*pair, target="c", element=4, name="moved"))
            body = text[text.index("if (streams) {") : text.index("moved_fence();")]
            yield [int(v) for v in re.findall(r"i\d < (\d+)", body)]

    assert [*order(4096, 32)] == [[128, 32, 128], [128, 128, 32]]
    assert [*order(4096, 64)] == [[64, 64, 64], [64, 64, 64]]
    there, back = order(4096, 16)
    assert len(there) == 3 and back == [256, 256, 16]
    panels = Strided((2048, (16, 128)), (16, (1, 2048 * 16)))
    for pair in ((Row(2048, 2048), panels), (panels, Row(2048, 2048))):  # of four rows at once
        text = str(copy(*pair, target="c", element=4, name="moved"))
        assert "t1 += 4" in text[text.index("if (streams) {") : text.index("moved_fence();")]


@pytest.mark.parametrize(("fields", "hinted"), [(4, False), (16, False), (32, True)])
def test_lines_of_many_rows_are_fetched_ahead(fields, hinted):
    """Of few rows, caches do so themselves, and hints cost time."""
    dims = (2**24 // fields, fields)
    text = str(copy(RegP(dims, [1, 0]), Row(*dims), target="c", element=4, name="moved"))
    streamed = text[text.index("if (streams) {") : text.index("moved_fence();")]
    assert ("__builtin_prefetch" in streamed) == hinted


@pytest.mark.parametrize(("rows", "hinted"), [(500, False), (1500, True)])
def test_short_rows_of_a_large_copy_are_fetched_ahead(rows, hinted):
    pair = Row(rows, 45, 57), RegP((rows, 45, 57), [2, 1, 0])
    text = str(copy(*pair, target="c", element=4, name="moved"))
    direct = text[text.index("} else {", text.index("if (streams)")) :]
    assert ("__builtin_prefetch(src" in direct) == hinted
    x = np.arange(rows * 45 * 57, dtype=np.uint32)
    found = copy(*pair, target="c", element=4).run(x)
    assert np.array_equal(found, x.reshape(rows, 45, 57).T.reshape(-1))
