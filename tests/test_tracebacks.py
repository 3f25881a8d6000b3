"""Errors of public calls: they are ours, and their tracebacks have next to nothing of ours."""

import traceback
from types import FunctionType

import pytest

import lego_emit
from lego_emit import LegoError, cute, hardware, movement
from lego_emit.algebra.block import OF_A_KIND, Block
from lego_emit.errors import OPERATORS, brief

NAMES = {name: getattr(lego_emit, name) for name in lego_emit.__all__}
NAMES |= {name: getattr(lego_emit, name) for name in ("copy", "pack", "unpack")}
NAMES |= {"cute": cute, "hardware": hardware, "movement": movement}
GIVEN = {
    "L": "GroupBy([4, 6]).OrderBy(Col(4, 6))",
    "S": "GroupBy([symbols('M'), 4])",
    "T": "Strided((4, 4), (4, 1))",
    "B": "Strided([4, 4], [0, 1])",
    "F": "hardware.mma('c')",
    "P": "Packed(GroupBy([8]), bits=4)",
}
CALLS = """
Row(0, 4)
RegP([2, 3], [0, 0])
TileBy([2, 2], [2])
GroupBy([4, 6]).OrderBy(Row(5, 5))
OrderBy(Row(4, 4)).TileBy([3, 2], [2, 2])
ExpandBy([3, 3], [5, 5], GroupBy([4, 4]))
GenP([4], lambda i: 0, lambda f: (f,))
Lookup([4], [0, 0, 1, 1])
Choice(3, {})
Pattern("(h p -> h", p=3)
Strided([4], [1, 2])
Packed(3, {})
Ragged(3)
catalogue["nothing"]
recognize([1, 2, 2.5])
bank_conflicts(S, S)
bank_conflicts(L, lambda lane: lane // 0)
optimal_swizzle(L, 3)
convert(L, S)
simplify("x")
render("{{ A[i, j] }}", "cc", A=L)
generate(L, "rsut")
generate(lambda i: i / 2)
generate([L, 3], "c")
isqrt(-1)
fori_loop(0, 3, 5, 4)
symbols(3)
L.apply(9, 9)
L.apply(1)
L.apply(symbols("M"), 9)
L[9, 9]
L[1]
L.inv(100)
L.inv("x")
L @ 3
3 @ L
B.inv(3)
B.inverse()
L.OrderBy(Row(5))
L.TileOrderBy(3)
L.check(M=3)
S.check()
S.show()
S.plot()
L.show(color="x")
L.show().save("x.abc")
L.pack([1, 2, 3])
L.unpack([1, 2])
S.plan([1])
L.in_bounds(1)
Lookup([4], [0, 2, 1, 3]).step(x=1)
Lookup([4, 2], [0, 2, 1, 3, 7, 6, 5, 4]).to_cute()
F.show(view="x")
P.get([0], 9)
copy(L, S)
pack(L, "c", of=3)
unpack(S, "rsut")
copy(L, L, "c").run(3)
generate(L, "c").verify(sizes={"Q": 3})
generate(L, "c").explain("nothing")
generate(L, "c").certificate(3)
generate(L, "c").compile("x")
generate(L, "c").save("")
generate(L, "c").time(sizes={"Q": 3})
cute.layout("(3:2")
cute.composition(T, Strided([5], [3]))
cute.logical_divide(T, 3)
cute.zipped_divide(T, (5, 5, 5))
cute.tile_to_shape(T, 3)
cute.complement(T, "x")
cute.make_layout([3], [1, 2])
cute.get(T, 9)
hardware.blocked((3,), (4,), (5,))
hardware.mma("x")
movement.gather(L, S)
movement.conflict_sheet(L, 3)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
@pytest.mark.quick(4)
def test_a_traceback_of_a_public_call_is_short(call, tmp_path, monkeypatch):
    monkeypatch.delenv("LEGO_EMIT_TRACEBACK", raising=False)
    monkeypatch.chdir(tmp_path)
    names = dict(NAMES)
    for name, text in GIVEN.items():
        names[name] = eval(text, names)
    with pytest.raises(LegoError) as error:
        eval(call, names)
    frames = traceback.extract_tb(error.value.__traceback__)
    own = [frame for frame in frames if "lego_emit" in frame.filename]
    assert len(own) <= 3, own
    assert len("".join(traceback.format_exception(error.value)).splitlines()) < 16


def test_public_methods_of_all_layouts_are_brief():
    code = brief(len).__code__
    kinds = [Block]
    for kind in kinds:
        kinds += kind.__subclasses__()
        for name, method in vars(kind).items():
            public = name[0] != "_" and name not in OF_A_KIND
            if isinstance(method, FunctionType) and (public or name in OPERATORS):
                assert method.__code__ is code, f"{kind.__name__}.{name}"


@pytest.mark.parametrize("call", ["L.show(theme='dark')", "L.apply(i=3)", "bank_conflicts(L)"])
def test_wrong_arguments_show_no_line_of_ours(call):
    with pytest.raises(TypeError) as error:
        eval(call, NAMES | {"L": lego_emit.Row(4, 6)})
    raised = traceback.extract_tb(error.value.__traceback__)
    assert not [f for f in raised if f.filename.endswith("errors.py")]


@pytest.mark.parametrize(
    ("wrong", "hint"),
    {
        "L.Tileby": r"OrderBy\(block\)\.TileBy\(\[\.\.\], \[\.\.\]\) tiles what a block orders",
        "L.explain": r"lego_emit\.generate\(layout, target\) has the emitted code",
        "L.bank_conflicts": r"lego_emit\.bank_conflicts\(layout, access\) counts",
        "L.copy": r"lego_emit\.copy\(A, B, target\) emits a routine",
        "catalogue['mma']": "no layout of this name. Did you mean 'fragment.mma'",
        "catalogue['block_cyclic']": "Did you mean 'scalapack.block_cyclic'",
    }.items(),
)
def test_what_newcomers_try_first_has_a_hint(wrong, hint):
    with pytest.raises(LegoError, match=hint):
        eval(wrong, NAMES | {"L": lego_emit.Row(4, 6)})
