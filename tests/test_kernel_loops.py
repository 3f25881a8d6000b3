"""What a loop of a template's text leaves constant: where it is, and how an index is summed then."""

import re
from itertools import product
from random import Random

import pytest
from marks import rest_deep, some_slow

from lego_emit import GroupBy, RegP, Row, TileBy, render
from lego_emit.kernels.loops import counted_in

LOOPS = """\
for (int i = 0; i < {{ A.dims[0] }}; ++i) {
  x[{{ A[i] }}] = 0;
  for (int j = f(2, g(3)); j < n; j += 2) y[{{ A[i] }}] = z[{{ B[j] }}
    + 1];
  while (k) { v[{{ A[i] }}]; }
  for (unsigned j = 0, k = 1; j < k; ++j)
    if (j) { w[{{ A[j] }}]; }
  u[{{ A[i] }}];
}
t[{{ A[0] }}];
for (auto& one : all) s[{{ A[0] }}];
for (;;) { r[{{ A[0] }}]; }
"""


def test_the_innermost_loop_of_a_line():
    i, j, both = frozenset("i"), frozenset("j"), frozenset("jk")
    assert dict(counted_in(LOOPS)) == {2: i, 3: j, 5: i, 7: both, 8: i}


def test_a_loop_that_is_never_closed():
    assert dict(counted_in("for (int i = 0; {{ A[i] }}")) == {}
    assert dict(counted_in("for (int i = 0; i < 2; ++i) { {{ A[i] }}")) == {1: frozenset("i")}


def layouts(random):
    """A layout over numbers, and its three sizes."""
    sizes = [random.choice([2, 3, 4, 6, 8]) for _ in range(6)]
    whole = [a * b for a, b in zip(sizes[::2], sizes[1::2], strict=True)]
    order = random.sample(range(6), 6)
    return GroupBy(whole).OrderBy(RegP(sizes, order)), whole


PART = r"((?:[^()?:]|\([^()]*\))+)"


def as_python(text):
    """An expression in C over numbers that are not negative."""
    chosen = re.sub(rf"\({PART} \? {PART} : {PART}\)", r"(\2 if \1 else \3)", text)
    return chosen.replace("/", "//")


@pytest.mark.parametrize("seed", rest_deep(some_slow(range(60), {0, 3, 5}), 6))
def test_the_sum_is_the_layouts(seed):
    random = Random(seed)
    layout, (n, m, k) = layouts(random)
    head, place = "for (int c = 0; c < 4; ++c) ", "{{ A[x, y - y % 2, c + z] }}"
    ends = [f"0 <= {name} < {end}" for name, end in [("x", n), ("y", m), ("z", k - 1), ("c", 2)]]
    text = f"{{% names x, y, z, c %}}\n{head}[{place}];\n[{place}];\n"
    apart, whole = re.findall(r"\[(.*)\];", render(text, assume=ends, A=layout))
    for x, y, z, c in product(range(n), range(m), range(k - 1), range(2)):
        if random.random() < 0.2:
            names = {"x": x, "y": y, "z": z, "c": c}
            wanted = layout.apply(x, y - y % 2, c + z)
            for one in (apart, whole):
                assert eval(as_python(one), {}, names) == wanted, one


def test_fewer_operations_mix_the_loops_number_with_the_rest():
    N, B = 512, 8
    bricks = GroupBy([N, N, N]).OrderBy(RegP([N // B, B, N // B, B, N // B, B], [0, 2, 4, 1, 3, 5]))
    names = "{% names p, q, r, j, k, n %}"
    place = "{{ A[8 * p + n, 8 * q + j, 8 * r + k] }}"
    ends = ["0 <= j < 8", "0 <= k < 8", "-4 <= n < 12", "0 <= p < 64", "0 <= q < 64", "0 <= r < 64"]
    text = render(
        f"{names}for (int n = -4; n < 12; ++n) f({place});\ng({place});", assume=ends, A=bricks
    )
    apart, whole = re.findall(r"[fg]\((.*)\);", text)
    assert apart.endswith(" + (2096640 * ((n + 8) >> 3) + 64 * (n + 8))")
    assert "n" not in apart.removesuffix(" + (2096640 * ((n + 8) >> 3) + 64 * (n + 8))")
    assert whole != apart and whole.rindex("n") < whole.rindex("k")


def test_what_is_made_of_the_loops_number_moves_with_it():
    A = GroupBy([64, 64]).OrderBy(Row(64, 64))
    text = """{% names x, n %}{% assume "0 <= n < 8", "0 <= x < 8" %}
for (int n = 0; n < 8; ++n) {
  {% index i = 8 * n % 64 %}
  f({{ A[x + i, x] }});
}
"""
    (found,) = re.findall(r"f\((.*)\);", render(text, A=A))
    assert eval(found, {}, {"x": 3, "i": 16}) == 64 * 19 + 3
    assert found == "65 * x + 64 * i"


def test_what_a_whole_says_of_names_holds_for_its_parts():
    tile = elements = GroupBy([64, 64]).OrderBy(Row(64, 64))
    work = TileBy([4, 4], [16, 16]).OrderBy(Row(64, 64))
    text = """{% names r, c, y, x %}{% set u, v = elements.inv(work[r, c, y, x]) %}
for (int r = 0; r < 4; ++r)
  for (int c = 0; c < 4; ++c) f({{ tile[u, v] }});
"""
    made = render(text, tile=tile, elements=elements, work=work)
    assert "f(1024 * r + 64 * y + x + 16 * c);" in made
