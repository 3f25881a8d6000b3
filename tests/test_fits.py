"""NAME_fits: true exactly for the sizes that the header allows, and computed without an overflow."""

import hashlib
import re
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from index_functions import golden_cases
from marks import golden_lowered, rest_deep

from lego_emit import GroupBy, RegP, catalogue, generate, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.emit.fits import EXACTLY, SURELY, fits
from lego_emit.emit.registry import printer
from lego_emit.ir.index_types import IndexType
from lego_emit.ir.nodes import const, evaluate
from lego_emit.ir.program import Function, Param
from lego_emit.ir.relations import Range, names_in, read, says
from lego_emit.operations import IN_RELATIONS
from lego_emit.proofcheck.check import HELD, check
from lego_emit.proofcheck.languages import read as read_text
from lego_emit.proofcheck.text import UnsupportedSyntax

ROOT = Path(__file__).parent.parent / "golden"
HOSTS = ("c", "cpp", "cuda", "hip", "rust", "fortran", "julia", "javascript", "python", "numpy")
READ = ("c", "cpp", "cuda", "rust", "fortran", "julia", "javascript")
SOME = (
    "brick",
    "nw",
    "matmul_pid_any",
    "catalogue_nchw16c",
    "layer_norm_backward",
    "transpose_naive",
)
SANITIZE = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
RANGES = {"i": (0, "M"), "j": (0, "N")}


def scaled(i, j, M, N):
    """The index of an element of a matrix."""
    return N * i + j


def padded(n, m, a, b):
    """Tiles of a x b of which the last ones are not full."""
    p, q = (n + a - 1) // a, (m + b - 1) // b
    tiles = GroupBy([a * p, b * q]).OrderBy(RegP([p, a, q, b], [0, 2, 1, 3]))
    return Padded([n, m], tiles)


STATED = ["N <= M + 40", "M*N >= 6", "M*M <= 70000"]


# -- on every size of a small type -----------------------------------------------------------------


def value(node, sizes, kind, lazy=True):
    """A node's value, of which every part has to fit the type. lazy: whether `or` leaves anything out."""
    if node.op == "var":
        return sizes[node.value]
    if node.op == "land" or (node.op == "lor" and lazy):
        first = value(node.args[0], sizes, kind, lazy)
        return first if first == (node.op == "lor") else value(node.args[1], sizes, kind, lazy)
    args = [value(a, sizes, kind, lazy) for a in node.args]
    if node.op in ("div", "mod"):
        assert args[0] >= 0 and args[1] > 0, says(node)
    found = IN_RELATIONS[node.op].value(*args) if args else node.value
    assert isinstance(found, bool) or kind.least <= found <= kind.most, f"{says(node)} = {found}"
    return found


SIGNED, UNSIGNED = IndexType("small", -128, 127), IndexType("small", 0, 255)
EXACT = [
    ["M*N <= 127"], ["M*N*K <= 127"], ["M*N + 3*M + 5*N + 7 <= 127"], ["M % N == 0", "M*M <= 100"],
    ["(M + 3)*(N + 17) - 1 <= 127"], ["M*N - N <= 127"], ["N*min(M, K) + M*N - N <= 127"],
    ["M <= N or M % N == 0"], ["K*((M - 1)//8) <= 127"], ["M <= N + 100", "N <= 20"], ["M*N <= K"],
    ["isqrt(M*N) <= 9", "M*N <= 127"], ["M*N >= 50"], ["N <= M*K", "N <= 100"], ["M*N != 7", "M*N <= 90"],
    ["M*M - N//2 <= 127 and M*M <= 127"], ["M - N - K <= 3", "N + K <= 99"], ["M >= 8", "M < 100"],
    ["(M + 2*N) % K == 0", "M + 2*N <= 127"], ["M*M*M <= 127", "M*M <= 127"],
    ["M << 2 <= 100", "N + K <= 100", "(N + K) >> 1 <= 9"], ["M % N == 0", "N % K == 0", "7*(M//N)*(N//K) <= 127", "M <= 90"],
    ["N <= M", "K*N + M - N - 1 <= 120", "(K*N + M - N - 1)//M + K <= 127"],
    ["N <= M", "K*N + M <= 127", "(K*N + M - N - 1)//M + K <= 127"],
    ["M*M - 2*M + 1 <= 127"], ["M*M - 2*M <= 127"], ["M*M*M - 3*M*M + 3*M <= 127"],
    ["N <= 30", "M*M - 2*M + N <= 127"], ["M <= 6", "N << M <= 127"], ["M <= 6", "N*(1 << M) + K <= 127"],
    ["M <= 6", "N <= 1 << M", "N*K <= 1 << M"],
]  # fmt: skip


def function(conditions, least, kind):
    """One that assumes these conditions of its sizes, which are at least so large."""
    params = tuple(Param(n, Range(const(least)), least, None, size=True) for n in "MNK")
    return Function("f", params, (), (("r", const(0)),), kind, assumed=tuple(map(said, conditions)))


def said(text):
    """A condition; reading knows no roots and no `or`."""
    from lego_emit.ir.nodes import Node

    if " or " in text:
        return Node("lor", tuple(map(read, text.split(" or "))))
    if "isqrt" in text:
        return Node("le", (Node("isqrt", (read("M*N <= 1").args[0],)), const(9)))
    return read(text)


@pytest.mark.parametrize("least", [1, 0])
@pytest.mark.parametrize("kind", [SIGNED, UNSIGNED], ids=["signed", "unsigned"])
@pytest.mark.parametrize("conditions", EXACT, ids=", ".join)
@pytest.mark.quick(4)
def test_nothing_overflows_and_the_answer_is_the_headers(conditions, kind, least):
    subject = function(conditions, least, kind)
    made = fits([subject], kind, held=True)
    if made is None:  # a divisor may be 0
        assert least == 0 or kind is UNSIGNED
        return
    assert holds_where_the_header_does(subject, made)


PRODUCTS = [
    ["K*((M - 1)//4)*((N - 1)//4) <= 99"], ["((M - 1)//N)*(K + M - 1) + M <= 127"],
    ["M*((M - 1)//K) - (M - 1)//K <= 100"], ["((M - 1)//4)*((N - 1)//4)*((K - 1)//2) <= 2"],
    ["((M - 1)//N)*(K - 1) + (M - 1)*K <= 90", "K + N <= 100"],
    ["3*((M - 1)//4)*((N - 1)//4) + 2*((M - 1)//4)*((N - 1)//4)*K <= 99"],
    ["((M - 1)//4)*((M - 1)//4)*((N - 1)//4)*K + ((M - 1)//4)*((N - 1)//4) + M <= 90"],
]  # fmt: skip


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("kind", [SIGNED, UNSIGNED], ids=["signed", "unsigned"])
@pytest.mark.parametrize("conditions", PRODUCTS, ids=", ".join)
@pytest.mark.quick(4)
def test_factors_of_a_product_may_be_0(conditions, kind, lazy):
    """The others are then not bounded by it, and nothing is divided by it."""
    subject = function(conditions, 1, kind)
    made = fits([subject], kind, held=True, lazy=lazy)
    assert holds_where_the_header_does(subject, made, lazy)


def holds_where_the_header_does(subject, made, lazy=True):
    """How many random sizes satisfy a condition, which is where the function's are satisfied."""
    ((_, whole),), kind, least = made.outputs, made.index_type, subject.params[0].lo
    draw, holding = Random(5), 0
    used = {n for c in subject.assumed for n in names_in(c)}
    for _ in range(700):
        sizes = {
            n: draw.choice([draw.randint(kind.least, kind.most), draw.randint(1, 12)])
            if n in used
            else 1
            for n in "MNK"
        }
        wanted = min(sizes.values()) >= least and all(
            evaluate(c, sizes) is True for c in subject.assumed
        )
        assert value(whole, sizes, kind, lazy) is wanted, (sizes, says(whole))
        holding += wanted
    return holding


@pytest.mark.slow
def test_random_conditions_are_never_wrongly_true():
    draw, asked = Random(3), 0

    def term():
        return "*".join([str(draw.choice([1, 2, 7])), *draw.choices("MNK", k=draw.randint(1, 3))])

    def total():
        signs = (draw.choice([" + ", " - "]) + term() for _ in range(draw.randint(0, 2)))
        return f"{term()}{''.join(signs)} + {draw.choice([0, 5, 100])}"

    for _ in range(250):
        sign = draw.choice(["<=", ">=", "<", "=="])
        conditions = [f"{total()} {sign} {draw.choice(['127', '50', total()])}", "M*N <= 127"]
        subject = function(conditions, 1, SIGNED)
        made = fits([subject], SIGNED, held=True)
        if made is None:
            continue
        for _ in range(40):
            sizes = {n: draw.choice([draw.randint(-128, 127), draw.randint(1, 9)]) for n in "MNK"}
            if value(made.outputs[0][1], sizes, SIGNED):
                asked += 1
                assert min(sizes.values()) >= 1
                assert all(evaluate(c, sizes) is True for c in subject.assumed), (conditions, sizes)
    assert asked > 300


@pytest.mark.parametrize(
    "assumed", ["M - N <= 3", "M == N + 3", "M + N <= 2**31", "(M + 7)//8*8 <= N"]
)
def test_a_range_that_rests_on_a_later_size(assumed):
    """What is known of one size alone is tested before it."""
    unit = generate(scaled, "c", ranges=RANGES, assume=[assumed])
    ((_, whole),) = unit.program.fits[0].outputs
    (kind, (f,)), draw, holding = (
        (unit.program.fits[0].index_type, unit.lowered.functions),
        Random(1),
        0,
    )
    conditions = [c for p in f.params if p.size for c in p.range.conditions(p.name)] + [*f.assumed]
    for _ in range(500):
        M = draw.choice([kind.least, -1, 0, *range(1, 20), 2**31, 2**40, kind.most])
        N = draw.choice([M + draw.randint(-9, 9), 1, 8, 64, 2**23, kind.most // max(M, 1)])
        N = min(max(N, kind.least), kind.most)
        wanted = all(evaluate(c, {"M": M, "N": N}) is True for c in conditions)
        assert value(whole, {"M": M, "N": N}, kind) is wanted, (M, N)
        holding += wanted
    assert holding > 5


def test_what_provably_fits_is_computed_as_the_header_says_it():
    made = fits([function(["M <= 4", "N <= 5", "3*M*N + M <= 60"], 1, SIGNED)], SIGNED, held=True)
    assert "3*M*N + M <= 60" in says(made.outputs[0][1])


# -- where there is one ----------------------------------------------------------------------------


def test_only_preconditions_on_sizes_make_one():
    def plain(i, N):
        return i

    def bounded(i, N):
        return i % 8 + N

    assert not generate(plain, "c", ranges={"i": (0, "N")}).program.fits
    (one,) = generate(bounded, "c", ranges={"i": (0, "N")}, assume=["N <= 100"]).program.fits
    assert (one.name, [p.name for p in one.params]) == ("bounded_fits", ["N"])
    fixed = generate(scaled, "c", ranges=RANGES, sizes={"M": 4, "N": 8})
    assert not fixed.program.fits


@pytest.mark.parametrize("index_type", ["uint32", "uint64"])
def test_no_comparison_is_always_true(index_type):
    """Compilers warn of `N >= 0` where N is unsigned."""
    unit = generate(
        lambda i, j, N: (j << N) + i,
        "cpp",
        name="f",
        index_type=index_type,
        ranges={"i": (0, "1 << N"), "j": (0, 8), "N": (0, 9)},
    )
    assert "f_fits" in unit.source and ">= 0" not in unit.source.split("f_fits")[1]


@pytest.mark.parametrize(
    ("condition", "summary"), [("M*N <= 50", EXACTLY), ("M*N - M - N <= 50", SURELY)]
)
def test_what_is_not_exact_says_so(condition, summary):
    """Of M*N - M - N the product has to fit, too."""
    made = fits([function([condition], 1, SIGNED)], SIGNED, held=True)
    assert made.summary == summary


@pytest.mark.parametrize("tiles", [("n", "m", "a", "b"), ("n", "m", 16, "b"), ("n", 100, "a", 8)])
def test_tiles_of_a_problem_that_they_do_not_divide(tiles):
    """Their preconditions are told exactly, though (m - 1)//b and a - 1 may be 0."""
    layout = padded(*(symbols(n) if isinstance(n, str) else n for n in tiles))
    (made,) = generate(layout, "c", name="f").program.fits
    assert made.summary == EXACTLY


@pytest.mark.parametrize("end", ["1 << M", "2**M", "4 << M"])
def test_an_exponent_of_a_size_is_a_size(end):
    """It may be 0, as the size is 1 then."""
    unit = generate(
        lambda i, j, M, N: j * 2**M + i, "c", name="f", ranges={"i": (0, end), "j": (0, "N")},
        assume=["0 <= M < 20"],
    )  # fmt: skip
    (made,) = unit.program.fits
    assert [p.name for p in made.params] == ["M", "N"]
    for m, n, holds in [
        (0, 1, 1),
        (19, 1, 1),
        (20, 1, 0),
        (-1, 1, 0),
        (19, 0, 0),
        (3, 2**63 - 1, 0),
    ]:
        assert made.evaluate({"M": m, "N": n}) == {"fits": holds}, (m, n)


@pytest.mark.parametrize(
    "given", [{"ranges": {"i": (0, "N"), "j": (0, 1)}}, {"ranges": {"i": (0, "N")}, "assume": ["j == 0"]},
              {"ranges": {"i": (0, "N"), "j": (3, 4)}}],
)  # fmt: skip
def test_an_index_of_one_value_is_no_size(given):
    given = {**given, "assume": [*given.get("assume", ()), "N <= 1000"]}
    (made,) = generate(lambda i, j, N: j * N + i, "c", name="f", **given).program.fits
    assert [p.name for p in made.params] == ["N"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "rust"])
def test_certified_where_a_difference_is_negative_for_small_sizes(target):
    def f(i, N):
        return i * (N * N - 2 * N + 1)

    unit = generate(f, target, name="f", ranges={"i": (0, "N")})
    (made,) = unit.program.fits
    for n in (1, 2, 3, 2097152, 2097153, 2097154, 3037000500, 3037000501):
        whole = n * n - 2 * n + 1 < 2**63 and n**3 - 3 * n * n + 3 * n < 2**63
        assert made.evaluate({"N": n}) == {"fits": whole}, n
    assert check(unit.certificate().data, unit.source, f)


@pytest.mark.slow
def test_a_product_of_which_three_factors_may_be_0():
    """ScaLAPACK's matrix: its condition holds for all sizes that are used, and for none that overflow."""
    names = ("m", "n", "mb", "nb", "p", "q")
    layout = catalogue["scalapack.block_cyclic_2d"](
        **dict(zip(names, symbols(" ".join(names)), strict=True))
    )
    unit = generate(layout, "cpp", name="matrix")
    (made,) = unit.program.fits
    assert made.summary == SURELY
    draw, answers = Random(7), Counter()
    for k in range(200):
        most = 60 if k < 60 else 21
        sizes = {n: 1 << draw.randint(0, most) for n in names}
        sizes = {n: draw.randint(size, 2 * size) for n, size in sizes.items()}
        if k < 60:
            sizes |= {n: draw.randint(1, 9) for n in draw.sample(names, 3)}
        wanted = all(evaluate(c, sizes) is True for f in unit.functions for c in f.assumed)
        found = value(made.outputs[0][1], sizes, made.index_type)
        assert wanted or not found, sizes
        answers[found, wanted] += 1
    assert answers[True, True] > 150 and answers[False, False] > 20 and not answers[False, True]


def test_what_cannot_be_said_of_sizes_makes_none():
    unit = generate(scaled, "c", ranges={"j": (0, "N")}, assume=["N % 8 == 0"])
    assert unit.functions[0].unseen and not unit.program.fits


def test_names_and_order():
    given = {"ranges": RANGES, "index_type": ["auto", "int32"]}
    unit = generate(scaled, "cpp", names="camelCase", prefix="acme_", **given)
    assert [f.name for f in unit.program.fits] == ["acmeScaledFits", "acmeScaledI32Fits"]
    assert [p.name for p in unit.program.fits[0].params] == ["M", "N"]
    taken = generate({"scaled": scaled, "scaled_fits": lambda k: k}, "c", ranges=RANGES)
    assert [f.name for f in taken.program.fits] == ["scaled_fits_2"]


@pytest.mark.parametrize("target", ["opencl", "metal", "glsl", "wgsl", "mlir", "triton"])
def test_languages_of_devices_have_none(target):
    assert not printer(target).has_fits
    assert "fits" not in cases()["matmul_c"].emit(target).source


# -- compiled --------------------------------------------------------------------------------------


@cache
def cases():
    return {case.name: case for case in golden_cases()}


def compiled(target, units):
    from conftest import _found

    return _found(target).compile(units)


def edges(most):
    """Numbers around 0, exact divisors, and the borders of 32 bits and of the type."""
    found = {
        n + d for n in (0, 8, 32, 64, 128, 4096, 2**31, 2**32, most + 1) for d in (-2, -1, 0, 1)
    }
    found |= {most // d + e for d in (2, 3, 15, 64, 127, 128) for e in (-1, 0, 1)}
    for power in (2, 3, 4, 5):
        root = round(most ** (1 / power))
        found |= {root + e for e in (-9, -4, -2, -1, 0, 1, 2)} | {root // 32 * 32}
    return sorted(n for n in {*found, *(-n for n in found)} if -most - 1 <= n <= most)


def compare(unit, run, most, count):
    """How many times a unit's condition holds, which is where its header's do."""
    ((fit,), functions) = unit.known.fits, unit.lowered.functions
    sizes = list(dict.fromkeys(p.name for f in functions for p in f.params if p.size))
    conditions = [
        c for f in functions for p in f.params if p.size for c in p.range.conditions(p.name)
    ]
    conditions += [c for f in functions for c in f.assumed if {*names_in(c)} <= {*sizes}]
    ends = [f.index_type.ends for f in functions]
    least, greatest = max(lo for lo, _ in ends), min(hi for _, hi in ends)
    draw, reached = Random(7), fit.index_type.least
    own = [n for n in edges(most) if n >= reached]
    points = [(n,) for n in own] if len(sizes) == 1 else []
    while len(points) < count:
        point = [
            draw.choice([1, 2, 3, 8, 32, draw.randrange(1, 2 ** draw.choice([4, 16, 31, 40]))])
            for _ in sizes
        ]
        k = draw.randrange(len(point))
        rest = np.prod([n for j, n in enumerate(point) if j != k], dtype=object)
        end = draw.choice([most, most, 2**31 - 1, 70000]) // (rest * draw.choice([1, 1, 2, 8, 128]))
        point[k] = min(most, max(1, end + draw.choice([-33, -1, 0, 1, 2])))
        if draw.random() < 0.5:
            other = draw.choice(point)
            point[k] = max(1, point[k] // other * other)
        if draw.random() < 0.3:
            point = [draw.choice(own) for _ in sizes]
        points.append(tuple(min(n, most) for n in point))
    got = run[fit.name](*(np.array(column, np.int64) for column in zip(*points, strict=True)))
    assert got.dtype == bool
    assert run[fit.name](*points[0]) in (True, False)
    holding = 0
    for point, answer in zip(points, got.tolist(), strict=True):
        at = dict(zip(sizes, point, strict=True))
        wanted = all(least <= n <= greatest for n in point)
        wanted = wanted and all(evaluate(c, at) is True for c in conditions)
        assert answer is wanted, (unit.program.name, at)
        holding += wanted
    return holding


def checked_units(target, names):
    units = [cases()[name].emit(target) for name in names]
    narrow = "uint32" if "uint32" in printer(target).types else "int32"
    for index_type in ("auto", narrow):
        given = {"assume": STATED, "ranges": RANGES, "index_type": index_type}
        tiles = padded(*symbols("n m a b"))
        units.append(generate(tiles, target, name=f"tiles_{index_type}", index_type=index_type))
        units.append(generate(scaled, target, **given))
    return [unit for unit in units if unit.program.fits]


def largest(unit):
    """The largest argument that reaches its condition as it is."""
    most = 2**53 - 1 if unit.printer.name == "javascript" else 2**63 - 1
    return min(most, unit.program.fits[0].index_type.most) if unit.printer.holds_sizes else most


@pytest.mark.slow
@pytest.mark.parametrize("target", HOSTS)
def test_compiled_it_holds_where_the_headers_preconditions_do(target):
    units = checked_units(target, SOME)
    assert len(units) > 3
    for unit, run in zip(units, compiled(target, units), strict=True):
        assert compare(unit, run, largest(unit), 250), unit.program.name


@golden_lowered
@pytest.mark.deep
@pytest.mark.parametrize("target", HOSTS)
def test_compiled_so_does_every_golden_case(target):
    units = checked_units(target, cases())
    for unit, run in zip(units, compiled(target, units), strict=True):
        assert compare(unit, run, largest(unit), 1500), unit.program.name


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "cpp"])
def test_no_sanitizer_finds_anything(target, tmp_path):
    from conftest import _found

    toolchain = _found(target)
    units, calls = checked_units(target, SOME), ""
    for u, unit in enumerate(units):
        (fit,) = unit.program.fits
        (tmp_path / f"unit_{u}.h").write_text(unit.source)
        scope = "lego::" if target == "cpp" else ""
        T = unit.printer.types[fit.index_type]
        calls += "".join(
            f"  n += {scope}{fit.name}({', '.join(f'({T})v[({k} + i * {j + 1}) % COUNT]' for j in range(len(fit.params)))});\n"
            for k in range(5)
        )
    numbers = edges(2**63 - 1)
    listed = ", ".join(f"{n + 1}LL - 1" for n in numbers)
    text = "".join(f'#include "unit_{u}.h"\n' for u in range(len(units) - 1))
    text += f"#define COUNT {len(numbers)}\nstatic const int64_t v[] = {{{listed}}};\nint main(void) {{\n  int n = 0;\n"
    calls = "\n".join(
        c for c in calls.splitlines() if f"{units[-1].program.fits[0].name}((u" not in c
    )
    text += f"  for (int i = 0; i < COUNT; ++i) {{\n{calls}\n  }}\n  return n == 0;\n}}\n"
    source = tmp_path / f"main.{'c' if target == 'c' else 'cpp'}"
    source.write_text(text)
    flags = ["-std=c99" if target == "c" else "-std=c++17", "-O1", *SANITIZE]
    toolchain.execute([toolchain.find().path, *flags, "-o", "main", source.name], cwd=tmp_path)
    toolchain.execute(["./main"], cwd=tmp_path)


# -- certificates ----------------------------------------------------------------------------------


def lines_of(name, target, before="$", after=""):
    """What the checker says of the condition of a golden case, its text changed."""
    case = cases()[name]
    unit = case.emit(target)
    head, mark, text = unit.source.rpartition("preconditions on the sizes hold")
    source = f"{head}{mark}{re.sub(before, after, text, count=1)}"
    data = unit.certificate().data
    *others, fit = data["functions"]
    others = [
        f | {"statements": []} for f in others
    ]  # they are read, and nothing is proved of them
    digest = hashlib.sha256(source.encode()).hexdigest()
    data = data | {"sha256": digest, "functions": [*others, fit]}
    found = check(data, source, case.subject).lines
    return source != unit.source, [line for line in found if line.function == fit["name"]]


def test_a_condition_of_narrower_parameters_is_not_proved():
    """A caller's size would be cut before it is asked for."""
    _, lines = lines_of("transpose_naive", "cuda")
    assert all(line.verdict in HELD for line in lines), lines
    changed, lines = lines_of("transpose_naive", "cuda", r"long long", "int")
    told = {line.says: line.how for line in lines if line.verdict not in HELD}
    assert changed and "N is int32, and the certificate says int64" in told["preconditions"]


def test_of_overloads_the_checker_reads_the_one_that_is_called():
    """NAME_fits has 64 bits and the functions 32: a helper of both is there twice."""
    unit = cases()["matmul_pid_any"].emit("cuda")
    name, helper = unit.program.functions[0].name, "constexpr {0} matmul_pid_any_min({0} a, {0} b)"

    def terms(changed, text):
        text = unit.source.replace(helper.format(changed), text) if changed else unit.source
        assert bool(changed) == (text != unit.source)
        found = [read_text(text, "cuda").read(n) for n in (name, "matmul_pid_any_fits")]
        return [[repr(value.term) for value in f.results] for f in found]

    own = terms("", "")
    for kind, place in (("int", 0), ("long long", 1)):
        other = helper.format(kind).replace("a,", "x,").replace(" b)", " a)").replace("x,", "b,")
        found = terms(kind, other)  # the greater one
        assert found[place] != own[place] and found[1 - place] == own[1 - place]
    wrong = helper.format("int").replace("int a, int b", "unsigned a, unsigned b")
    with pytest.raises(UnsupportedSyntax, match="a second function matmul_pid_any_min"):
        terms("int", wrong)


# (what stands in the text of a condition, what takes its place)
FAULTS = {
    "softmax": [
        (r"(R|C) >= 1", r"\1 >= 0"),
        (r"(R|C) <= (?!.*<= )", r"\1 < "),
        (r"typemax.Int64.|INT64_MAX|i64::MAX|0x7f+|huge.0_int64.|Number.MAX_SAFE_INTEGER", "99"),
        (r"/ (\w)\b|, (\w)\)(?=\n)", r"/ 2"),
    ],
    "transpose_naive": [
        (r"N >= 32", "N >= 33"),
        (r"(N %|mod.N,) 32", r"\1 16"),
        (r"(N % 32 ===? 0 && )|( +if .* = mod.*\n)", ""),
        (r"(N % 32 ===? 0) &&", r"\1 ||"),
        ("== 0", "== 1"),
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        *(("transpose_naive", t) for t in READ),
        *rest_deep([("softmax", t) for t in ("c", "rust", "fortran")]),
    ],
)
def test_certified_and_a_planted_fault_is_refused(name, target):
    _, lines = lines_of(name, target)
    assert [line.says for line in lines] == ["fits", "divisions", "shifts", "preconditions"]
    assert all(line.verdict in HELD for line in lines), lines
    planted = 0
    for before, after in FAULTS[name]:
        changed, lines = lines_of(name, target, before, after)
        planted += changed
        assert not changed or not all(line.verdict in HELD for line in lines), (before, lines)
    assert planted > 2


def test_a_certificate_without_it_says_what_is_missing():
    case = cases()["softmax"]
    unit = case.emit("c")
    data = unit.certificate().data
    assert [(f["role"], f["of"]) for f in data["functions"]] == [
        ("function", "softmax"), ("fits", "softmax"),
    ]  # fmt: skip
    assert unit.certificate("softmax").covers == unit.certificate().covers
    rest = data | {"functions": [data["functions"][0] | {"statements": []}]}
    assert check(rest, unit.source, case.subject).others == ["softmax_positions", "softmax_fits"]
    bare = data["functions"][1] | {"statements": []}
    found = check(data | {"functions": [rest["functions"][0], bare]}, unit.source, case.subject)
    assert {line.how for line in found.lines if line.function == "softmax_fits"} == {
        "the certificate does not state it"
    }


@pytest.mark.parametrize(
    ("target", "index_type"),
    [("javascript", "int64"), ("javascript", "uint64"), ("python", "int32")],
)
def test_integers_without_bounds_are_held_against_the_index_type(target, index_type):
    """Nothing overflows there, so that the header's own text is what is computed."""
    unit = generate(scaled, target, ranges=RANGES, index_type=index_type)
    (fit,) = unit.program.fits
    most = unit.functions[0].index_type.most
    assert says(fit.outputs[0][1]) == f"M >= 1 and N >= 1 and M*N <= {most}"


@pytest.mark.parametrize("divides", ["M % 8 == 0", "M % N == 0"])
def test_a_multiple_that_ends_a_range_is_a_size_too(divides):
    for ranges in (RANGES, {**RANGES, "M": (1, 2**20)}):
        unit = generate(scaled, "c", ranges=ranges, assume=[divides])
        ((fit,), (f,)) = unit.program.fits, unit.functions
        assert [p.name for p in fit.params] == ["M", "N"] and not f.unseen
        for M, N in ((64, 8), (63, 8), (64, 7), (0, 8), (-64, 8), (2**40, 8), (2**62, 2)):
            wanted = M > 0 and (M % 8 == 0 if "8" in divides else M % N == 0)
            wanted = wanted and M * N < 2**63 and (ranges is RANGES or M < 2**20)
            assert value(fit.outputs[0][1], {"M": M, "N": N}, fit.index_type) is wanted, (M, N)
