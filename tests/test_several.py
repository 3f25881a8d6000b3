"""generate() of several functions and layouts: one file of all of them."""

import pytest

from lego_emit import Col, GroupBy, LegoError, cute, generate, symbols
from lego_emit.emit import registry
from lego_emit.errors import AssumptionError, TraceError, VerifyError
from lego_emit.pipeline import build_program

CPP = registry.printer("cpp")
M, N = symbols("M N")
LAYOUT = GroupBy([M, N]).OrderBy(Col(M, N))
ASSUME = ["0 <= j < BM", "0 <= k < 100", "M >= 2"]


def tiled(p, j, BM):
    return (p * BM + j) // 3


def wrapped(k, M):
    return k % M


@pytest.mark.slow
def test_one_file_of_several(need):
    need("g++", "apt-get install g++")
    unit = generate(
        [tiled, wrapped, LAYOUT],
        "cpp",
        name="several",
        assume=[*ASSUME, "0 <= p < 8"],
        sizes={"N": 4},
    )
    names = ["tiled", "wrapped", "layout_apply", "layout_inv"]
    assert [f.name for f in unit.functions] == names and "LEGO_SEVERAL_HPP" in unit.source
    assert "with N = 4" in unit.source and not unit.is_pair
    alone = build_program(wrapped, CPP, assume=["0 <= k < 100", "M >= 2"]).functions[0]
    assert unit.functions[1].outputs == alone.outputs
    assert unit.functions[1].assumptions == alone.assumptions
    found = unit.verify(sizes={"BM": 5, "M": 6})
    assert found and len(found.checks) == 9
    run = unit.compile()
    assert run["tiled"](3, 4, 5) == tiled(3, 4, 5)
    assert run["layout_apply"](6, 2, 3) == 2 + 3 * 6
    with pytest.raises(VerifyError, match="no parameter 'Q'"):
        unit.verify(sizes={"Q": 5})
    with pytest.raises(VerifyError, match="give a list of 3"):
        unit.verify(sizes={"BM": 5, "M": 6}, reference=tiled)
    wrong = [lambda p, j, BM: 0, None, None]
    assert not unit.verify(sizes={"BM": 5, "M": 6}, reference=wrong)


@pytest.mark.parametrize(
    "target", ["rust", "julia", "javascript", "glsl", "wgsl", "fortran", "cuda"]
)
def test_a_dict_names_them(target):
    unit = generate({"first": tiled, "second": tiled}, target, assume=["0 <= p < 8"])
    assert [f.name for f in unit.functions] == ["first", "second"]
    assert list(unit.sympy) == ["first", "second"]
    assert unit.explain("second").startswith("second(p, j, BM)")


def test_an_object_that_is_called_is_what_its_call_is():
    swizzle = cute.Swizzle(3, 3, 3)
    unit = generate(swizzle, "cpp", ranges={"position": (0, 512)})
    (function,) = unit.functions
    assert function.name == "swizzle" and function.summary == "Where a position goes."
    assert "\n// swizzle(position), a Swizzle\n" in unit.source and "Any" not in unit.source
    assert all(function.evaluate({"position": p}) == {"result": swizzle(p)} for p in range(512))
    several = generate([swizzle, tiled], "rust", assume=["0 <= p < 8"])
    assert [f.name for f in several.functions] == ["swizzle", "tiled"]


def test_the_unit_has_the_first_ones_name():
    guards = []
    for given in ([tiled, wrapped], {"pack": wrapped, "unpack": tiled}, [LAYOUT, tiled]):
        source = generate(given, "cpp", assume=["0 <= p < 8"]).source
        guards.append(source.partition("#ifndef ")[2].split()[0])
    assert guards == ["LEGO_TILED_HPP", "LEGO_PACK_HPP", "LEGO_LAYOUT_HPP"]
    source = generate([tiled, wrapped], "fortran", assume=["0 <= p < 8"]).source
    assert "module tiled_mod\n" in source


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ([tiled, tiled], {}, "two of what generate"),
        ([LAYOUT, GroupBy([4])], {}, "are called layout"),
        (
            {"f": LAYOUT, "f_apply": tiled},
            {},
            "two functions f_apply: a layout NAME gives NAME_apply",
        ),
        (GroupBy([4]), {"sizes": {"i": 2}}, r"none; a slice such as layout\[3, :\]"),
        ([], {}, "there is nothing to emit"),
        ([tiled, 3], {}, r"takes a function or a layout, several of them, .*, where 1 is 3\n"),
        ([5], {}, r" not \[5\], where 0 is 5\n"),
        (
            {"good": LAYOUT, "bad": "(4,8):(8,1)"},
            {},
            r"not a dict, where 'bad' is '\(4,8\):\(8,1\)'; cute.layout\(\) reads",
        ),
        ("(4,8):(8,1)", {}, r"not '\(4,8\):\(8,1\)'; cute.layout\(\) reads"),
        ({"1": tiled}, {}, "'1' is not a name for a function"),
        (LAYOUT, {"name": "my layout"}, "name is 'my layout', no name for a function"),
        ([tiled, wrapped], {"name": "a/b"}, "name is 'a/b', no name for a function"),
        ([tiled, wrapped], {"sizes": {"Q": 2}}, "sizes fixes Q, .* parameters: p, j, BM, k, M"),
        ([tiled, wrapped], {"assume": ["Z < 3"]}, "names Z, which is not a parameter"),
        ([tiled, wrapped], {"ranges": {"z": (0, 3)}}, "the range of z names z"),
    ],
)
def test_what_is_refused(given, options, words):
    with pytest.raises((TraceError, AssumptionError), match=words) as raised:
        generate(given, "cpp", **options)
    assert isinstance(raised.value, LegoError)


def test_sizes_fixes_the_symbols_of_a_layout():
    """Also those that a GenP's function closes over; nothing is said of them any more."""
    from lego_emit import GenP

    apply, inv = build_program(LAYOUT, CPP, sizes={"N": 4}).functions
    assert [p.name for p in apply.params] == ["M", "i", "j"]
    assert apply.ranges["j"] == "0 <= j < 4" and apply.assumptions == ("4*M <= 2**63 - 1",)
    assert inv.ranges["flat"] == "0 <= flat < 4*M"
    turned = GroupBy([N]).OrderBy(GenP([N], lambda i: N - 1 - i, lambda i: N - 1 - i))
    apply, inv = build_program(turned, CPP, sizes={"N": 6}).functions
    assert [p.name for p in apply.params] == ["i"]
    assert [apply.evaluate({"i": i})["flat"] for i in range(6)] == [5, 4, 3, 2, 1, 0]
