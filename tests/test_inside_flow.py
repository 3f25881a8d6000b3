"""lego_emit.jit on the ways of Python's own control flow: the same value as without it, or an error with the place."""

import inspect
import types
from contextlib import suppress

import pytest

from lego_emit import Col, GenP, GroupBy, Row, assume, jit
from lego_emit.errors import KernelError, LegoError, StaleLayoutError

L = Col(4, 6)
FLAG = True
WIDTH = 6
HELD = [Row(4, 6), Col(4, 6)]
NAMED = {"rows": Row(4, 6)}
REFUSED = object()
CLOSED = types.SimpleNamespace(width=6)


def helper(M) -> Row(1, 1).__class__.__mro__[1]:
    return Row(M, WIDTH)


def ran(body, tmp_path, arguments=(4, 6, 2, 3), names="M, N, i, j", above=""):
    """(what a function gives as it stands, what it gives under jit or REFUSED)."""
    text = (
        "import contextlib\nfrom contextlib import suppress\nfrom lego_emit import Col, ExpandBy, GenP, GroupBy, Row, TileBy, assume\n"
        "import types\nHELD, D = types.SimpleNamespace(w=2), {'a': 1}\n"
        f"G, FLAG, S = 6, True, (4, 6)\nL = Col(4, 6)\n{above}\ndef kernel({names}):\n"
    )
    text += "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    path = tmp_path / "own.py"
    path.write_text(text)
    found = []
    for rewritten in (False, True):
        space = {"__name__": "own"}
        exec(compile(text, str(path), "exec"), space)
        kernel = space["kernel"]
        if rewritten:
            try:
                kernel = jit(kernel, target="python", checks="off")
            except KernelError as error:
                assert "own.py, line " in str(error) and "^" in str(error), error
                found.append(REFUSED)
                continue
        try:
            found.append(kernel(*arguments))
        except Exception as error:
            found.append(type(error))
    return found


# Each with whether it is refused; those that are not must give the same value.
FLOW = {
    "a branch changes its condition": ("if T:\n    K = Row(M, N); T -= 1\nelse:\n    K = Col(M, N); T += 1\nreturn K[i, j]", True),
    "a branch changes what is in its condition": ("if T:\n    K = Row(M, N); T.clear()\nelse:\n    K = Col(M, N)\nreturn K[i, j]", True),
    "a global condition that changes": ("global FLAG\nif FLAG:\n    K = Row(M, N)\nelse:\n    K = Col(M, N)\nFLAG = not FLAG\nreturn K[i, j]", True),
    "sizes of a layout that is another one": ("K = Row(2, 8)\na = K.dims[0], K.size, Col(M, 9)[0, K.dims[0]]\nK = Row(5, 8)\nreturn a, K.dims[0], K.size, Col(M, 9)[0, K.dims[0]]", False),
    "sizes of one of two layouts": ("K = Row(2, 8)\nif not T:\n    K = Row(8, 8)\nreturn K.dims[0], K.size", False),
    "an index of three that are two": ("A, B, C = Row(4, 6), Col(4, 6), Row(4, 6)\na = Col(9, 999)[0, A[1, 2] + B[1, 2] + C[1, 2]]\nC = Col(4, 6)\nreturn a, Col(9, 999)[0, A[1, 2] + B[1, 2] + C[1, 2]]", False),
    "a long index with parts that are used twice": ("K = ExpandBy([M - 1, N - 1], [M, N], TileBy([M // 2, N // 2], [2, 2]))\nreturn K[min(i + j, M // 2 - 1), (j + 100 - i - i - i) % (N // 2), (i + j + M + N + 1) % 2, (j + M + N + i + j) % 2]", False),
    "the else of a loop": ("K = Row(M, N)\nfor k in range(5):\n    if k == i: break\nelse:\n    K = Col(M, N)\nreturn K[i, j]", True),
    "the else of a while": ("K = Row(M, N)\nk = 0\nwhile k < 5:\n    k += 1\n    if k == i: break\nelse:\n    K = Col(M, N)\nreturn K[i, j]", True),
    "what an else assumes": ("k = -2\nfor m in range(5):\n    if m == i: break\nelse:\n    assume(k >= 0)\nreturn Row(M, N).in_bounds(k, 0)", False),
    "a name that is a global layout, too": ("for k in range(3):\n    if k == 1:\n        L = Row(M, N); continue\nreturn L[i, j]", True),
    "nested loops": ("for k in range(2):\n    for m in range(2):\n        if m: K = Row(M, N)\nreturn K[i, j]", True),
    "a comprehension's name is a size": ("K = Row(M, N)\nreturn [K[i, j] for N in (7, 8)]", True),
    "a comprehension's name is an index": ("K = Row(M, N)\nreturn [K[k, j] for k in range(M)], [K[i, j] for i in range(M)]", False),
    "a lambda's": ("K = Row(M, N)\nreturn (lambda N: K[i, j])(9)", True),
    "what is assumed of another i": ("K = Row(M, N)\nassume(i == 2)\nreturn [K[i, j] for i in range(4)], K[i, j]", False),
    "a comprehension's condition": ("K = Row(M, N) if T else Col(M, N)\nreturn [K[i, j] for T in (0, 1)]", True),
    "a walrus within": ("K = Row(M, N)\nreturn [K[i, j] for x in (7, 8) if (N := x)]", True),
    "a walrus behind": ("K = Row(M, N)\nz = K[i, j]\nif (N := 9): z += 1\nreturn z, N", False),
    "a function that runs later": ("K = Row(M, N)\ng = lambda: K[i, j]\nN = 9\nreturn g()", True),
    "a generator": ("K = Row(M, N)\ng = (K[i, m] for m in range(2))\nN = 9\nreturn [*g]", True),
    "a sum": ("K = Row(M, N)\nreturn sum(K[i, m] for m in range(2))", False),
    "a match": ("K = Row(M, N)\nmatch i:\n    case 2: N = 9; return K[i, j]\nreturn 0", True),
    "a pattern binds": ("K = Row(M, N)\nmatch 9:\n    case N: pass\nreturn K[i, j]", True),
    "a match alone": ("K = Row(M, N)\nmatch i:\n    case 2: z = K[i, j]\n    case _: z = 0\nreturn z", False),
    "a try": ("K = Row(M, N)\ntry:\n    if i: N = 9; raise ValueError\nexcept ValueError: return K[i, j]", True),
    "a finally": ("K = Row(M, N)\ntry:\n    if i: N = 9; return 0\nfinally:\n    M = K[i, j]\nreturn M", True),
    "suppressed": ("K = Row(M, N)\nwith suppress(ValueError):\n    int('x'); K = Col(M, N)\nreturn K[i, j]", True),
    "what a try learned": ("K = Row(M, N)\ni = -5\ntry:\n    int('x'); i, j = K.inv(7)\nexcept ValueError: pass\nreturn K.in_bounds(i, 0)", False),
    "an exception's name": ("K = Row(M, N)\ntry: int('x')\nexcept ValueError as N: return K[i, j]", True),
    "a group of exceptions": ("K = Row(M, N)\ntry:\n    N = 9; raise ExceptionGroup('', [ValueError()])\nexcept* ValueError: z = K[i, j]\nreturn z", True),
    "chained targets": ("K = Row(M, N)\ny = [0] * 30\nN = y[K[i, j]] = 9\nreturn y", True),
    "chained targets in another order": ("K = Row(M, N)\ny = [0] * 30\ny[K[i, j]] = N = 9\nreturn y", False),
    "del": ("K = Row(M, N)\nx = dict.fromkeys(range(30))\ndel N, x[K[i, j]]\nreturn x", True),
    "a global size": ("global G\nG = 7\nreturn Row(M, G)[i, j]", True),
    "a global layout": ("global L\nL = Row(M, N)\nreturn L[i, j]", True),
    "nonlocal in a function within": ("K = Row(M, N)\ndef g():\n    nonlocal N\n    N = 9\ng()\nreturn K[i, j]", True),
    "a call that would be repeated": ("st = [7, 8]\na, b = Row(M, N).inv(st.pop())\nreturn a, b, st", False),
    "a call in an expression": ("it = iter([6, 8])\na, b = Row(M, N).inv(next(it) + 1)\nreturn a, b", True),
    "a call that would be dropped": ("it = iter([2])\nz = Row(1, N)[next(it) - 2, j]\nreturn z, [*it]", True),
    "calls in another order": ("seen = []\ndef g(x): seen.append(x); return x\nz = Col(M, N)[g(i), g(j)]\nreturn z, seen", True),
    "blanks in a text": ("a, b = Row(M, N).inv(len('a     b'))\nreturn a, b, Row(M, N)[0, len('a  b')]", False),
    "blanks in a condition": ("K = Row(M, N) if T == 'a  b' else Col(M, N)\nreturn K[i, j]", False),
    "a name that the text might take": ("position = 3\np, q = Row(M, N).inv(max(7, 2))\nreturn position, p, q", False),
    "a range of the function's own": ("def range(n): return [-4]\nz = 0\nfor k in range(3): z = Row(M, N).in_bounds(k, 0)\nreturn z", False),
    "a range that starts below 0": ("z = []\nfor k in range(-2, M): z.append(Row(M, N).in_bounds(k, 0))\nreturn z", False),
    "a range to a quotient, and beyond": ("z = []\nfor k in range(N // M): z.append((Row(N // M, 2).in_bounds(k, 0), Row(N // M, 2).in_bounds(k + 1, 0)))\nreturn z", False),
    "a range to a quotient that is none": ("z = []\nfor k in range(0, (j - N) // M): z.append(Row(M, N).in_bounds(k, 0))\nreturn z", False),
    "an end that a round changes": ("z = []\nfor k in range(0, M // 2):\n    z.append(Row(4, 6).in_bounds(k + M - 3, 0)); M -= 1\nreturn z", False),
    "ends that are their counters": ("z = []\nfor i in range(0, i): z.append(Row(4, 6).in_bounds(i + 3, j))\nfor j in range(j // 2): z.append(Row(4, 6).in_bounds(j + 4, 0))\nreturn z", False),
    "an end that a function assigns": ("global G\nG = 3\nz = []\ndef less():\n    global G\n    G -= 1\nfor k in range(0, G):\n    less(); z.append(Row(4, 6).in_bounds(G - 1 - k, 0))\nreturn z", False),
    "itself": ("return 1 if M > 4 else Row(M, N)[i, j] + kernel(M + 1, N, i, j)", False),
    "several lines before a semicolon": ("K = Row(\n    M,\n    N); x = 3\np, q = K.inv(\n    7); y = 4\nassume(\n  M > 0); z = 5\nreturn K[i, j], x, p, q, y, z", False),
    "a comment within": ("p, q = Row(M, N).inv(max( # seven\n    7, 0))\nreturn p, q", False),
    "a condition of conditions": ("K = Row(M, N) if (T if M else N) else Col(M, N)\nreturn K[i, j]", True),
    "a number with an attribute": ("return Row(4, 6).size.bit_length(), Row(4, 6).dims[1].real", False),
    "in a text": ("K = Row(M, N)\nreturn f'{K[i, j]=}'", True),
    "an annotation alone": ("N: int\nreturn Row(M, N)[i, j]", False),
    "another K within": ("K = Row(M, N)\ndef g(K): return K + 1\nreturn g(K[i, j])", False),
    "a size that becomes an index": ("k = 4\nx = Col(k, M)[0, 0]\ni, k = Row(M, N).inv(7)\nreturn x, i, k", False),
    "an augmented target": ("y = [0] * 30\ny[Row(M, N)[i, j]] += 5\nN += 1\nreturn y, Row(M, N)[i, j]", False),
    "a layout and another value": ("K = Row(M, N)\nz = K[i, j]\nK = 5\nreturn z + K", True),
    "an if that returns": ("K = Row(M, N)\nif i > 5:\n    N = 9\n    return K[0, 0] if N < 0 else 0\nreturn K[i, j]", True),
    "with a while": ("k, z = 0, 0\nwhile Row(M, N)[k, 0] < 15:\n    k += 1\n    z += Row(M, N)[k, 1]\nreturn z, k", False),
    "functions that look alike": ("if T:\n    K = GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda a, b: 4*a + b, lambda p: (p//4, p%4)))\nelse:\n    K = GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda a, b: 4*b + a, lambda p: (p%4, p//4)))\nreturn K[i, j]", False),
    "functions that look alike, one by one": ("if T == 1:\n    K = GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda a, b: 4*a + b, lambda p: (p//4, p%4)))\nelif T == 0:\n    K = GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda a, b: 4*b + a, lambda p: (p%4, p//4)))\nelse:\n    K = Row(4, 4)\nreturn K[i, j]", False),
    "the same layout in both branches": ("if i:\n    K = Row(M, N)\nelse:\n    K = Row(M, N)\nreturn K[i, j]", False),
    "a global index that is assigned": ("global G\nG = 3\nreturn Row(M, N)[G, j]", False),
    "a global that a function within assigns": ("def g():\n    global G\n    G = 3\ng()\nreturn Row(M, N)[i, j]", False),
    "an attribute that is assigned": ("HELD.w = 3\nreturn Row(M, HELD.w)[1, 1]", True),
    "an index's attribute": ("HELD.w = 3\nreturn Row(M, N)[HELD.w, j]", True),
    "an item that is assigned": ("D['a'] = 4\nreturn Row(M, D['a'] + 3)[1, 1]", True),
    "an attribute of its own": ("class C: pass\no = C()\no.w = 3\nreturn Row(M, N)[o.w, j]", False),
    "a condition as an index": ("return Row(M, N)[i > 1, j]", True),
    "a truth as an index": ("return Row(M, N)[True, j]", True),
    "a generator within an index": ("return Row(M, N)[sum(x for x in (1, 0)), j]", False),
    "a mask beyond the tile": ("K = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))\nreturn [K.in_bounds(a, b, c, d) for a in range(-1, 4) for b in range(-1, 5) for c in range(-1, 3) for d in (-1, 0, 1, 2)]", False),
    "starred": ("p, *q = Row(M, N).inv(7)\nreturn p, q, (*Row(M, N).inv(8), 9)", False),
    "in a call": ("return max(*Row(M, N).inv(8)), dict(a=Row(M, N)[i, j]), [Row(M, N).inv(9)[1]]", False),
    "two layouts whose positions are choices": ("A = ExpandBy([M - 1, N - 1], [M, N], TileBy([M // 2, N // 2], [2, 2]))\nB = ExpandBy([N - 1, M - 1], [N, M], TileBy([N // 2, M // 2], [2, 2]))\nK = A if T else B\nreturn [K[a, b, c, 1] for a in range(2) for b in range(2) for c in range(2)], (B if T else A)[1, 1, 1, 1]", False),
    "all of an index by one name": ("K = Row(M, N) if T else Col(M, N)\nz = K.inv(7)\nw = K.in_bounds(i, j)\nreturn z, w, K[i, j]", False),
    "a unicode name": ("ä = 'äöü'; z = Row(M, N)[i, j]; return ä, z", False),
}  # fmt: skip


@pytest.mark.parametrize("case", FLOW)
@pytest.mark.quick(4)
def test_control_flow(case, tmp_path):
    body, refused = FLOW[case]
    wants = "T" in body.replace("True", "").replace("TileBy", "").replace("ValueError", "")
    for T in ((0, 1, "a  b", [], [1])[: 5 if wants else 1]) if wants else (None,):
        if isinstance(T, list) != (".clear" in body):
            continue
        given = ((4, 6, 2, 3, T), "M, N, i, j, T") if wants else ((4, 6, 2, 3), "M, N, i, j")
        plain, made = ran(body, tmp_path, *given)
        if refused:
            assert made is REFUSED, made
        else:
            assert made == plain, (T, plain, made)


@pytest.mark.parametrize(
    "end", ["M", "0, M", "1, M", "M // B", "0, M // B", "6", "0, 6", "L.dims[0]", "0, L.dims[0]"]
)
def test_a_range_bounds_its_counter(end, tmp_path):
    size = "L.dims[0]" if "L" in end else end.removeprefix("0, ").removeprefix("1, ")
    text = f"""from lego_emit import Row, jit

L = Row(4, 7)


@jit(target="python")
def count(M, N, B):
    total = 0
    for k in range({end}):
        total += Row({size}, N).in_bounds(k, 0)
    return total
"""
    (tmp_path / "counted.py").write_text(text)
    space = {"__name__": "counted"}
    exec(compile(text, str(tmp_path / "counted.py"), "exec"), space)
    assert "total += True" in space["count"].lego.source
    assert space["count"](12, 5, 3) == len(eval(f"range({end})", {"M": 12, "B": 3, "L": L}))


def test_layouts_in_lists_and_dicts_by_constants():
    @jit(target="python")
    def at(i, j):
        return HELD[0][i, j], HELD[1][i, j], NAMED["rows"][i, j]

    assert at(2, 3) == (15, 14, 15)

    def any_of_them(k, i, j):
        return HELD[k][i, j]

    with pytest.raises(KernelError, match="must be a constant"):
        jit(any_of_them, target="python")


def test_what_a_layout_was_made_of_is_watched():
    global WIDTH
    sizes = [4, 6]

    @jit(target="python")
    def at(M, i, j):
        return Row(M, CLOSED.width)[i, j], helper(M)[i, j], Row(*sizes)[i, j]

    assert at(4, 2, 3) == (15, 15, 15)
    for change, back in (
        (lambda: setattr(CLOSED, "width", 7), lambda: setattr(CLOSED, "width", 6)),
        (lambda: globals().update(WIDTH=7), lambda: globals().update(WIDTH=6)),
        (lambda: sizes.append(1), sizes.pop),
    ):
        change()
        with pytest.raises(StaleLayoutError):
            at(4, 2, 3)
        back()
        assert at(4, 2, 3) == (15, 15, 15)


class Private:
    __width = 5

    @jit(target="python")
    def at(self, i, j):
        return Row(4, 6)[i, j] + self.__width

    @property
    def fails(self):
        raise ValueError("asked")


def test_private_names_and_properties():
    assert Private().at(2, 3) == 20
    one = Private()

    @jit(target="python")
    def at(i, j):
        with suppress(ValueError):
            return one.fails[i, j]
        return Row(4, 6)[i, j]

    assert at(2, 3) == 15


def test_a_launch_asks_numbers_and_no_addresses():
    np = pytest.importorskip("numpy")

    @jit(target="python", checks="raise", assume=["N > 3"])
    def at(M, N, i):
        assume(M % 4 == 0, min(M, N) >= 0)
        if i:
            assume(i % 2 == 0)
        M = M * 2
        assume(M % 8 == 0)
        return Row(M, N)[i, 0]

    assert set(at.lego.unchecked) == {"i % 2 == 0", "M % 8 == 0", "M % 4 == 0", "min(M, N) >= 0"}

    @jit(target="python", checks="raise", assume=["N > 3"])
    def plain(M, N, i):
        assume(M % 4 == 0, min(M, N) >= 0, M % i == 0)
        return Row(M, N)[i, 0]

    assert plain(np.int64(8), 6, 2) == 12
    assert plain.lego.unchecked == ()
    for given in ((np.int64(5), 6, 1), (8, 3, 1), (8, 6, 3)):
        with pytest.raises(LegoError):
            plain(*given)


def test_text_with_line_ends_of_other_kinds(tmp_path):
    text = "from lego_emit import Row, jit\n\n\x0c\n@jit(target='python')\ndef at(i, j):\n    return Row(4, 6)[i, j], '\u2028'\n"
    path = tmp_path / "own.py"
    path.write_text(text)
    space = {"__name__": "own"}
    exec(compile(text, str(path), "exec"), space)
    assert space["at"](2, 3) == (15, "\u2028")
    assert "jit" not in space["at"].lego.source


def test_options_that_are_none():
    def at(i, j):
        return Row(4, 6)[i, j]

    for wrong in ({"ranges": ["i"]}, {"assume": "i > 0"}):
        with pytest.raises(KernelError, match="assume is a list of conditions"):
            jit(at, target="python", **wrong)
    assert inspect.signature(jit(at, target="python")) == inspect.signature(at)


CFG = types.SimpleNamespace(width=6)
NEST = [[4, 6], {"s": [4, 6]}]
Made = Row(1, 1).__class__.__mro__[1]


class Sizes:
    width = 6


def inner(M):
    return WIDTH + 0 * M


def by_another(M) -> Made:
    return Row(M, inner(M))


def by_attribute(M) -> Made:
    return Row(M, CFG.width)


def by_class(M) -> Made:
    return Row(M, Sizes.width)


def by_item(M) -> Made:
    return Row(M, NEST[0][1])


def by_default(M, w=[6]) -> Made:  # noqa: B006
    return Row(M, w[0])


def by_code_within(M) -> Made:
    return (lambda: Row(M, WIDTH))()


def by_cell():
    width = 6

    def put(n):
        nonlocal width
        width = n

    def made(M) -> Made:
        return Row(M, width)

    return made, put


ENCLOSED, put_width = by_cell()
BY_FUNCTION = GroupBy([4, 6]).OrderBy(
    GenP([4, 6], lambda a, b: WIDTH * a + b, lambda p: (p // WIDTH, p % WIDTH))
)


ANOTHER = GenP([4, 6], lambda a, b: 6 * a + b, lambda p: (p // 6, p % 6))  # of the same names


def k_another(M, i, j):
    return by_another(M)[i, j]


def k_attribute(M, i, j):
    return by_attribute(M)[i, j]


def k_class(M, i, j):
    return by_class(M)[i, j]


def k_item(M, i, j):
    return by_item(M)[i, j]


def k_default(M, i, j):
    return by_default(M)[i, j]


def k_within(M, i, j):
    return by_code_within(M)[i, j]


def k_cell(M, i, j):
    return ENCLOSED(M)[i, j]


def k_nested(M, i, j):
    return Row(*NEST[0])[i, j]


def k_nested_dict(M, i, j):
    return Row(*NEST[1]["s"])[i, j]


def k_function(M, i, j):
    return BY_FUNCTION[i, j]


def k_functions(M, i, j):
    return ANOTHER[0, 0] + BY_FUNCTION[i, j]


def width(n):
    globals()["WIDTH"] = n


@pytest.mark.parametrize(
    ("kernel", "change"),
    [
        (k_another, width), (k_within, width), (k_function, width), (k_functions, width),
        (k_cell, put_width),
        (k_attribute, lambda n: setattr(CFG, "width", n)),
        (k_class, lambda n: setattr(Sizes, "width", n)),
        (k_item, lambda n: NEST[0].__setitem__(1, n)),
        (k_default, lambda n: by_default.__defaults__[0].__setitem__(0, n)),
        (k_nested, lambda n: NEST[0].__setitem__(1, n)),
        (k_nested_dict, lambda n: NEST[1]["s"].__setitem__(1, n)),
    ],
    ids=lambda x: x.__name__,
)  # fmt: skip
@pytest.mark.quick(4)
def test_what_functions_read_is_watched(kernel, change):
    made = jit(kernel, target="python")
    assert made(4, 2, 3) == kernel(4, 2, 3) == 15
    change(7)
    try:
        with pytest.raises(StaleLayoutError, match="has changed since the kernel was decorated"):
            made(4, 2, 3)
    finally:
        change(6)
    assert made(4, 2, 3) == 15


@pytest.mark.parametrize(
    ("index", "value"),
    [
        ("rows[:], :", [[8, 9], [10, 11], [12, 13]]),
        ("rows[:, None], :", [[8, 9], [10, 11], [12, 13]]),
        ("rows, 1", [9, 11, 13]),
        ("np.arange(2), p", [1, 3]),
        ("one, :", [14, 15]),
        ("rows, :", None),
        ("rows + 1, :2", None),
        ("np.arange(2), :", None),
        ("rows[:], rows", None),
        ("rows [ : ], :", [[8, 9], [10, 11], [12, 13]]),
        ("rows[\n:  # all\n], :", [[8, 9], [10, 11], [12, 13]]),
        ("rows[0:], 1", [9, 11, 13]),
        ("rows[:, None] + 1, :", [[10, 11], [12, 13], [14, 15]]),
        ("rows[0:], :", None),
        ("-rows, :", None),
        ("np.minimum(rows, 8), :", None),
        (":, np.arange(2)[None, :]", None),
        ("rows[:] + 1, :", None),
    ],
)
def test_arrays_beside_an_axis(index, value, tmp_path):
    """An array of one axis beside ':' would lie along it: a diagonal where the sizes are the same."""
    path = tmp_path / "own.py"
    path.write_text(
        "import numpy as np\nfrom lego_emit import Row, jit\ndef kernel(p, N):\n    L = Row(9, N)\n"
        f"    rows = 2 * p + 2 + np.arange(3)\n    one = np.arange(3)\n    one = 7\n    return L[{index}]\n"
    )
    space = {"__name__": "own"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    if value is None:
        with pytest.raises(KernelError, match=r"line 8, column \d+: .* is an array, whose axis"):
            jit(space["kernel"], target="numpy")
    else:
        assert jit(space["kernel"], target="numpy")(1, 2).tolist() == value


@pytest.mark.filterwarnings("error")
def test_a_module_may_warn_of_a_name(tmp_path):
    """As NumPy does of np.str, which nobody asks for here but to see whether it is a layout."""
    path = tmp_path / "own.py"
    path.write_text(
        "import numpy as np\ndef kernel(i):\n    return np.str if i > 9 else Row(4, 6)[i, 0]\n"
    )
    space = {"__name__": "own", "Row": Row}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert jit(space["kernel"], target="python")(2) == 12


def test_wide_indices_are_not_copied():
    np = pytest.importorskip("numpy")

    def kernel(i):
        return Row(300, 300)[i, 0]

    globals()["np"] = np
    found = jit(kernel, target="numpy")
    assert "np.asarray(i, np.int64)" in found.lego.source and "np.int64(" not in found.lego.source
    assert found(np.array([1, 2], np.int8)).tolist() == [300, 600] and found(3) == 900
