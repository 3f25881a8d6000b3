"""What functions are computed in where no index_type is given: on a GPU 32 bits, with what that takes of
sizes as a precondition, unless known ranges exceed them; elsewhere what auto gives."""

from typing import Any

import pytest

from lego_emit import GroupBy, OrderBy, Row, generate, render, symbols
from lego_emit.emit import registry
from lego_emit.emit.printer import Printer
from lego_emit.errors import TargetError
from lego_emit.ir.relations import evaluate
from lego_emit.pipeline import dialect_of
from lego_emit.types import I16, I32, I64

NARROW = ["cuda", "hip", "metal", "opencl", "triton"]
RANGES = {"i": (0, "M"), "j": (0, "N")}
MOST = 2**31 - 1


def place(i, j, M, N):
    return N * i + j


def emitted(target="cuda", subject=place, **given):
    return generate(subject, target, **{"name": "place", "ranges": RANGES, **given})


def kind(*given, **named):
    (function,) = emitted(*given, **named).functions
    return function.index_type, function.assumptions


def test_these_languages_say_so():
    working = registry.working().items()
    assert sorted(name for name, printer in working if printer.narrow_index) == NARROW


@pytest.mark.parametrize("target", NARROW)
def test_sizes_without_a_bound_are_a_precondition_of_32_bits(target):
    unit = emitted(target)
    (function,) = unit.functions
    assert (function.index_type, function.assumptions) == ("int32", ("M*N <= 2**31 - 1",))
    assert [f.name for f in unit.program.fits] == ["place_fits"] * registry.printer(target).has_fits
    assert unit.source == emitted(target, index_type="int32").source


@pytest.mark.parametrize("target", NARROW)
def test_ranges_that_exceed_them_take_64(target):
    for given in (
        {"assume": ["M <= 2**20", "N <= 2**20"]},
        {"assume": ["M*N <= 2**40"]},
        {"assume": ["M >= 2**20", "N >= 2**20"]},
        {"assume": ["M <= 2**40"]},
        {"sizes": {"M": 2**20, "N": 2**20}},
        {"sizes": {"N": 2**20}, "ranges": {"i": (0, 2**20), "j": (0, 2**20)}},
    ):
        unit = emitted(target, **given)
        assert unit.functions[0].index_type == "int64", given
        assert unit.source == emitted(target, **given, index_type="auto").source


@pytest.mark.parametrize("target", NARROW)
def test_what_is_proven_to_fit_has_no_precondition(target):
    bounds = ["M <= 1024", "N <= 1024"]
    unit = emitted(target, assume=bounds)
    assert (unit.functions[0].index_type, unit.functions[0].assumptions) == ("int32", ())
    assert unit.source == emitted(target, assume=bounds, index_type="auto").source


@pytest.mark.parametrize("target", NARROW)
def test_auto_takes_64_bits_where_32_are_not_proven_enough(target):
    assert kind(target, index_type="auto") == ("int64", ("M*N <= 2**63 - 1",))


def test_other_languages_take_what_auto_does():
    for target in registry.working().keys() - NARROW:
        assert emitted(target).source == emitted(target, index_type="auto").source, target


def test_a_printer_of_another_package_takes_what_auto_does():
    class Own(Printer):
        name = title = "own"
        types = {"int32": "int", "int64": "long"}

    own, cuda = Own(), registry.printer("cuda")
    assert not own.narrow_index and dialect_of(own) == dialect_of(own, "auto")
    assert dialect_of(cuda).narrow and not dialect_of(cuda, "auto").narrow


def of_64(i: int, j: int, M: int, N: int) -> I64:
    return N * i + j


def of_32(i: int, j: int, M: int, N: int) -> I32:
    return N * i + j


def takes_64(i: I64, j: int, M: int, N: int) -> int:
    return N * i + j


def takes_16(i: I16, n: int) -> int:
    return 70000 * i + n


def takes_32(i: I32, n: int) -> int:
    return 4 * i + n


@pytest.mark.parametrize("target", ["cuda", "hip", "opencl", "metal"])
def test_declared_types_come_first(target):
    for subject in (of_64, takes_64):
        assert kind(target, subject)[0] == "int64"
    assert kind(target, param_types={"return": "int64"})[0] == "int64"
    assert kind(target, param_types={"i": "int64"})[0] == "int64"
    assert kind(target, of_32)[0] == "int32"
    assert kind(target, of_64, assume=["M <= 1024", "N <= 1024"])[0] == "int32"


def test_a_narrow_type_is_a_range_and_one_of_32_bits_is_none():
    assert kind("cuda", takes_16, ranges=None)[0] == "int64"
    assert kind("cuda", takes_32, ranges=None)[0] == "int32"


@pytest.mark.parametrize(
    ("formula", "ranges", "wanted"),
    [
        (lambda i, n: i % 4 + n, {"i": (0, 2**40)}, "int64"),  # an argument does not fit
        (lambda i, n: n * 3, {"i": (0, 2**40)}, "int64"),
        (lambda i, n: n * 3 + 2**33, None, "int64"),
        (lambda i, n: min(i * n, 2**40), None, "int64"),
        (lambda i, n: (i * n) & 0xFFFFFFFF, None, "int64"),
        (lambda i, n: i << n, {"i": (0, 8), "n": (0, 40)}, "int64"),
        (lambda i, n: (n * i, 2**20 * i), {"i": (0, 2**20)}, "int64"),
        (lambda i, n: (n * i, 2**10 * i), {"i": (0, 2**20)}, "int32"),
        (lambda i, n: i - 3 * n, {"i": (-(2**33), "n")}, "int64"),
        (lambda i, n: i - 3 * n, {"i": (0, "n")}, "int32"),
        (lambda i, n: 3 * n + i, None, "int32"),
    ],
)
def test_one_known_value_that_does_not_fit_takes_64(formula, ranges, wanted):
    assert kind("cuda", formula, ranges=ranges)[0] == wanted


def test_each_function_of_a_unit_has_its_own():
    unit = generate(
        {"open": lambda i, n: i * n, "small": lambda k: k + 1, "large": lambda m: m * 2},
        "cuda",
        ranges={"i": (0, "n"), "k": (0, 10), "m": (0, 2**31)},
    )
    assert [f.index_type for f in unit.functions] == ["int32", "int32", "int64"]
    assert [f.name for f in unit.program.fits] == ["open_fits"]
    both = emitted(index_type=["auto", "int32"])
    assert [(f.name, f.index_type) for f in both.functions] == [
        ("place", "int64"), ("place_i32", "int32")
    ]  # fmt: skip


@pytest.mark.slow
def test_options_that_take_a_layout_or_change_a_text_go_with_it():
    M, N = symbols("M N")
    tiled = OrderBy(Row(M, N)).TileBy([M // 8, N // 8], [8, 8])
    options: list[dict[str, Any]] = [{"view": True}, {"hints": True}, {"checks": True}, {"base": 1}]
    for given in options:
        unit = generate(tiled, "cuda", name="tiled", **given)
        assert {f.index_type for f in unit.functions} == {"int32"}
        narrow = generate(tiled, "cuda", name="tiled", index_type="int32", **given)
        assert unit.source == narrow.source and str(unit.explain()) == str(narrow.explain())
    unit = generate(tiled, "cuda", name="tiled")
    assert unit.certificate().data["functions"][0]["index type"] == "int32"


def near(limit):
    """Pairs of which the product is near a limit."""
    for m in (1, 2, 3, 7, 255, 4096, 46340, 46341, 65536, 2**30, MOST, MOST + 1, 2**32 + 1):
        for n in {limit // m + d for d in (-1, 0, 1)} | {1, MOST, MOST + 1}:
            if n > 0:
                yield m, n


def test_fits_is_exact_at_the_ends_of_32_bits():
    """Where it holds every value on the way fits; one size more, and one does not."""
    unit = emitted()
    (function,), (fits,) = unit.functions, unit.program.fits
    answers = set()
    for m, n in near(MOST):
        holds = fits.evaluate({"M": m, "N": n})["fits"]
        sizes = {"M": m, "N": n}
        assert holds == (m <= MOST and n <= MOST and m * n <= MOST)
        assert holds == (max(m, n) <= MOST and all(evaluate(c, sizes) for c in function.assumed))
        last = (m - 1) * n + n - 1  # the greatest value
        assert (last <= MOST) if holds else last >= MOST or max(m, n) > MOST
        answers.add(holds)
    assert answers == {True, False}


def test_fits_of_a_layout_covers_its_inverse():
    M, N = symbols("M N")
    unit = generate(OrderBy(Row(M, N)), "cuda", name="grid")
    (fits,) = unit.program.fits
    assert [f.index_type for f in unit.functions] == ["int32", "int32"]
    for m, n in near(MOST):
        assert fits.evaluate({"M": m, "N": n})["fits"] == (m * n <= MOST and max(m, n) <= MOST)


@pytest.mark.slow
def test_compiled_it_gives_the_layout():
    M, N = symbols("M N")
    unit = generate(OrderBy(Row(M, N)).TileBy([M // 8, N // 4], [8, 4]), "cuda", name="tiled")
    assert unit.verify("cpu", sizes={"M": 32, "N": 24})
    functions = unit.compile()
    assert functions["tiled_fits"](2**15, 2**15) and not functions["tiled_fits"](2**16, 2**15)


# -- templates -------------------------------------------------------------------------------------

SIZES = symbols("M N")
GRID = OrderBy(Row(*SIZES))


def rendered(text, target="cuda", **given):
    return render(text, target, A=GRID, **given)


def test_a_kernel_computes_in_the_usual_int():
    found = rendered("x[{{ A[i, j] }}]", names="i j")
    assert (str(found), found.assumptions) == ("x[N * i + j]", ("M*N <= 2**31 - 1",))
    wide = rendered("x[{{ A[i, j] }}]", names="i j", index_type="auto")
    assert "long long" in wide and wide.assumptions == ("M*N <= 2**63 - 1",)
    plain = rendered("{% index a, b = A.inv(i) %}\n", "cpp", names="i")
    assert "int64" in plain and plain == rendered(
        "{% index a, b = A.inv(i) %}\n", "cpp", names="i", index_type="auto"
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x[{{ A[i, j] }}]", "i j: int64"),
        ("x[{{ A[i, j] }}]", "N: int64 i j"),
        ("{% index a = A[i, j] %}\n", "i j a: int64"),
        ("x[{{ A[i, j] }}]", "i j: uint32"),
    ],
)
def test_a_name_that_a_template_declares_as_wider_keeps_64_bits(text, names):
    found = rendered(text, names=names)
    before = rendered(text, names=names, index_type="auto")
    assert (str(found), found.assumptions) == (str(before), before.assumptions)
    assert before.assumptions == ("M*N <= 2**63 - 1",)


def test_other_names_of_that_kernel_do_not():
    found = rendered("{{ A[i, j] }}; {{ A[k, k] }}", names="i j: int64 k")
    assert str(found) == "(static_cast<long long>(N) * i + j); (k * (N + 1))"
    assert {"M*N <= 2**63 - 1", "N + 1 <= 2**31 - 1"} < {*found.assumptions}


def test_wrapping_wants_an_index_type():
    with pytest.raises(TargetError, match="give index_type='uint32' or 'uint64'"):
        generate(lambda x: x * 3, "cuda", wrapping=True)
    assert generate(GroupBy([4, 6]), "cuda").functions[0].index_type == "int32"


def clipped(i, j, M, N):
    return (i + min(M, 8)) * N + (j - i) % 3


def narrow_beside_wide(i: I32, j, n: I64):
    return (i + j - n) % 3 * n + (i - j) // 7


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda", "hip", "cpp"])
def test_a_helper_of_two_widths_is_not_ambiguous(target, toolchain_of):
    """Literals without a suffix would be of another type than the sizes beside them in NAME_fits, and
    than the indices of the wider function."""
    toolchain_of(target)
    run = emitted(target, clipped, index_type="int32").compile()
    sizes = {"M": 9, "N": 5}
    assert run["place"](7, 2, *sizes.values()) == clipped(7, 2, **sizes)
    assert run["place_fits"](9, 5) and not run["place_fits"](2**31 - 1, 2)
    run = emitted(target, clipped, index_type=["int64", "int32"]).compile()
    for name in ("place", "place_i32"):
        assert run[name](7, 2, *sizes.values()) == clipped(7, 2, **sizes)
    run = generate(narrow_beside_wide, target, index_type=["int64", "int32"]).compile()
    for name in run:
        assert run[name](-5, 3, 11) == narrow_beside_wide(-5, 3, 11)
