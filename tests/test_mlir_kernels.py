"""Kernels in MLIR: operations in place, casts, masks, several results, names, refusals."""

import ctypes
import itertools
import os
import re

import pytest

from lego_emit import GroupBy, Lookup, Row, TileBy, catalogue, isqrt, render, symbols
from lego_emit.errors import TemplateError, ToolchainError
from lego_emit.targets.mlir import MlirTarget

M, N = symbols("M N")
A = TileBy([M // 4, N // 8], [4, 8]).OrderBy(Row(M, N))
S = GroupBy([32, 32])
GIVEN = {
    "A": A,
    "S": S,
    "G": catalogue["triton.grouped"](M // 4, N // 8, 2),
    "L": Lookup([6], "perm"),
    "isqrt": isqrt,
}
TEXT = """{% names p: TT, q: TT, i: TT, j: int32, M: TT, N: TT %}
func.func @f(%p: TT, %q: TT, %i: TT, %j: i32, %M: TT, %N: TT) -> (i64, i64, i64, i64, i1, i64) {
  {% index s: i64 = A[p, q, i, j] %}
  {% index a, b: i64, c, d = A.inv(s) %}
  {% index e: i64 = c * 8 + d %}
  {% index m = A.in_bounds(p, q, i, j) %}
  {% index t: i64, u: i64 = p, p %}
  return %s, %b, %e, %t, %m, %u : i64, i64, i64, i64, i1, i64
}
"""


def rendered(text, **given):
    return render("{% names i, j, p %}" + text, "mlir", **GIVEN, **given)


@pytest.fixture(scope="module")
def target():
    found = MlirTarget()
    try:
        found.find()
    except ToolchainError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["i64", "i32", "index"])
def test_operations_compute_what_the_layout_says(target, tmp_path, kind):
    """Mixed types, an inverse of a result, two names for one value; at the borders, too."""
    text = render(TEXT.replace("TT", kind), "mlir", A=A)
    assert "call" not in text
    wrapper = """
func.func @run(%p: i64, %q: i64, %i: i64, %j: i64, %M: i64, %N: i64, %out: memref<6xi64>) {
"""
    cast = {"i64": "", "i32": "arith.trunci", "index": "arith.index_cast"}[kind]
    narrow = {name: cast for name in "pqiMN"} | {"j": "arith.trunci"}
    own = {name: f"%{name}n" if way else f"%{name}" for name, way in narrow.items()}
    types = {name: "i32" if name == "j" else kind for name in "pqijMN"}
    for name, way in narrow.items():
        if way:
            wrapper += f"  %{name}n = {way} %{name} : i64 to {types[name]}\n"
    wrapper += f"  %r:6 = func.call @f({', '.join(own[n] for n in 'pqijMN')}) : "
    wrapper += f"({', '.join(types[n] for n in 'pqijMN')}) -> (i64, i64, i64, i64, i1, i64)\n"
    wrapper += "  %wide = arith.extui %r#4 : i1 to i64\n"
    for k in range(6):
        value = "%wide" if k == 4 else f"%r#{k}"
        wrapper += f"  %at{k} = arith.constant {k} : index\n"
        wrapper += f"  memref.store {value}, %out[%at{k}] : memref<6xi64>\n"
    target.shared(f"{text}{wrapper}  return\n}}\n", tmp_path, tmp_path / "k.so")
    run = ctypes.CDLL(str(tmp_path / "k.so")).run
    m, n = 12, 24
    layout = TileBy([3, 3], [4, 8]).OrderBy(Row(12, 24))
    out = (ctypes.c_int64 * 6)()
    for at in itertools.product(range(3), range(3), (0, 3), (0, 5, 7)):
        numbers = [*map(ctypes.c_int64, (*at, m, n))]
        run(*numbers, out, out, *map(ctypes.c_int64, (0, 6, 1)))
        p, q, i, j = at
        assert [*out] == [layout.apply(*at), q, 8 * i + j, p, 1, p]
    for at in [(3, 0, 0, 0), (0, 3, 0, 0), (0, 0, 4, 0), (0, 0, 0, 8), (-1, 0, 0, 0)]:
        run(*map(ctypes.c_int64, (*at, m, n)), out, out, *map(ctypes.c_int64, (0, 6, 1)))
        assert out[4] == 0


def test_the_text():
    assert rendered("\n  {% index s: i64 = S[i, j] %}\n  {% index r, c = S.inv(s) %}\n") == (
        """\
  %c32_i64 = arith.constant 32 : i64
  %i_i64 = arith.index_cast %i : index to i64
  %s_1 = arith.muli %i_i64, %c32_i64 : i64
  %j_i64 = arith.index_cast %j : index to i64
  %s = arith.addi %s_1, %j_i64 : i64
  %c5_i64 = arith.constant 5 : i64
  %c31_i64 = arith.constant 31 : i64
  %r = arith.shrsi %s, %c5_i64 : i64
  %c = arith.andi %s, %c31_i64 : i64
"""
    )
    assert rendered("{{ p }} {{ S.size }} {{ S.dims[0] * 2 }}") == "%p 1024 64"
    assert rendered("{% index m = S.in_bounds(1, 2) %}").strip() == "%m = arith.constant true"
    types = "memref<{{ A.size }}xf32>, memref<4x{{ A.dims[1] }}x{{ S.dims[0] }}xf32>"
    assert rendered(types) == "memref<?xf32>, memref<4x?x32xf32>"
    assert "%s = arith.muli %pass, %c32" in rendered(
        "{% index pass = A[0, 0, i, 0] %}\n{% index s = S[pass, 0] %}"
    )


@pytest.mark.slow
def test_names_have_one_value():
    text = rendered(
        "%c32 = arith.constant 1 : index\n{% index s = S[i, j] %}\n{% index a, b = G.inv(p) %}"
    )
    names = re.findall(r"^(%[\w]+) = ", text, re.M)
    assert len(names) == len(set(names)) and "%c32_2 = arith.constant 32 : index" in text
    body = "func.func @{} {{\n{{% index s = S[i, j] %}}\n}}\n"
    assert rendered("\n" + body.format("f()") + body.format("g()")).count("%s = ") == 2


def test_names_may_be_keywords_of_python():
    text = """{% names class, lambda %}{% assume "0 <= class < 4", "lambda % 4 == 0", "0 <= lambda" %}
{% index from = S[class, lambda] %}
{% index a, b = from // 128, S["class", "lambda + 1"] % 4 %}
"""
    assert rendered(text).endswith("%a = arith.constant 0 : index\n%b = arith.constant 1 : index\n")


SECOND = """
func.func @first(%i: index) -> index {
  {% index s = i % 2 %}
  scf.if %true {
    {% index t = s + 1 %}
  }
  return {{ s }} : index
}
AGAINfunc.func @second(%s: index) -> index {
  {% index t = s // 2 %}
"""


def test_a_name_keeps_its_range_in_its_region_alone():
    """Another function's argument of that name is not below 2."""
    with pytest.raises(TemplateError, match="line 10: %s was defined in a region that has ended"):
        rendered(SECOND.replace("AGAIN", ""))
    assert rendered(SECOND.replace("AGAIN", "{% names s %}")).endswith(
        "%t = arith.shrsi %s, %c1_3 : index\n"
    )
    with pytest.raises(TemplateError, match="line 7: %t was defined in a region"):
        rendered(SECOND.replace("{{ s }}", "{{ t }}"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ S[i, j] }}", r"write {% index s = S\[i, j\] %} before, and %s here"),
        ("%n = arith.addi %i, {{ A.size }} : index", r"write {% index s = A.size %} before"),
        ("<{{ A.size }}>", r"a size of symbols is \? in a type"),
        ("{{ A.size + 1 }}", r"write {% index s = \(A.size \+ 1\) %} before"),
        ("{% index s = S[i, ':'] %}", r"write scf.for %i = %c0 to %n step %c1"),
        ("{% index s = S['i // x', 0] %}", "MLIR has no expressions; name the value"),
        ("{% index s = S[i, j] %}\n{% index s = S[j, i] %}", "%s is defined twice in one region"),
        ("{% for k in (1, 2) %}{% index s = S[k, i] %}\n{% endfor %}", "%s is defined twice"),
        ("{% index s = L[i] %}", "needs a table"),
        ("{% index s = isqrt(i) %}", "needs the helper function isqrt"),
        ("{% index s: i32 = A[0, 0, i, j] %}", "s is declared int32, and its value may need index"),
        ("{% index m = S.in_bounds(i, j) %}{% index z = S[m, j] %}", "m is a condition, an i1"),
        (
            "{% index m: i64 = S.in_bounds(i, j) %}",
            "m is a condition, an i1: leave out its type, i64",
        ),
        ("{% index a: f32 = i %}", "no type 'f32'; MLIR has int32"),
        ("{% names \u00fc %}", "is not a name in MLIR"),
        ("{% index a, a = S.inv(p) %}", "index takes names, each once"),
    ],
)
def test_refusals(text, said):
    with pytest.raises(TemplateError, match=said):
        rendered(text)


def test_a_kernel_computes_in_its_own_types():
    with pytest.raises(TemplateError, match="compute in index, not int64"):
        rendered("{{ p }}", index_type="int64")
