"""Branches joined where they meet: as long as their number, and of the value that Python gives."""

import linecache
import math
import random
from collections import Counter
from itertools import product

import pytest
from marks import rest_slow

from lego_emit import GenP, GroupBy, Row, generate
from lego_emit.errors import LegoError, TraceError
from lego_emit.trace import branches, functions, joined


def written(text, name="f"):
    """The function of a text that is found where a file's is."""
    file = f"<text {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {"GroupBy": GroupBy, "Row": Row, "math": math}
    exec(compile(text, file, "exec"), names)
    return names[name]


def with_flags(count, statement="if f{k}: x = (x ^ {k}) + 3"):
    flags = [f"f{k}" for k in range(count)]
    lines = [f"def f({', '.join([*flags, 'x'])}):"]
    lines += [f"    {statement.format(k=k)}" for k in range(count)]
    return written("\n".join([*lines, "    return x", ""]))


def of_flags(fn, count):
    return generate(fn, "c", ranges={"x": (0, 64), **{f"f{k}": (0, 2) for k in range(count)}})


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "if f{k}: x = (x ^ {k}) + 3",
        "x = (x ^ {k}) + 3 if f{k} else x",
        "if f{k}: x ^= {k}; x += 3",
        "if f{k}: t = x ^ {k}; x = t + 3",
        "if not f{k}: pass\n    else: x = 3 + ({k} ^ x)",
    ],
)
def test_the_text_grows_with_the_flags(statement):
    operations, lines = {}, {}
    for count in (8, 16, 32):
        fn = with_flags(count, statement)
        unit = of_flags(fn, count)
        operations[count], lines[count] = unit.functions[0].op_count, unit.source.count("\n")
        rng = random.Random(count)
        for _ in range(20):
            values = {f"f{k}": rng.randrange(2) for k in range(count)} | {"x": rng.randrange(64)}
            assert unit.functions[0].evaluate(values) == {"result": fn(**values)}
    assert operations[32] - operations[16] == 2 * (operations[16] - operations[8]) == 64
    assert lines[32] - lines[16] <= 4 * 16 and operations[8] <= 32


@pytest.mark.slow
def test_a_condition_of_several_parts_the_path_once():
    """One that leaves the function is no branch to be joined, but its parts are no paths either."""
    fn = with_flags(20, "if f{k} and x == {k}: return x * {k} + 1")
    unit, rng = of_flags(fn, 20), random.Random(20)
    for _ in range(200):
        values = {f"f{k}": rng.randrange(2) for k in range(20)} | {"x": rng.randrange(64)}
        assert unit.functions[0].evaluate(values) == {"result": fn(**values)}


def turned(x, y, fx, fy, t, r, N):
    if fx:
        x = N - 1 - x
    if fy:
        y = N - 1 - y
    if t:
        x, y = y, x
    if r:
        x, y = y, N - 1 - x
    return y * N + x


def test_rotations_and_mirrors():
    ranges = {"x": (0, "N"), "y": (0, "N"), **{n: (0, 2) for n in ("fx", "fy", "t", "r")}}
    unit = generate(turned, "c", ranges=ranges)
    (function,) = unit.functions
    assert function.op_count == 18  # by hand: 4 choices by if, 2 swaps, 5 operations
    for point in product(range(3), range(3), *[range(2)] * 4):
        values = dict(zip(("x", "y", "fx", "fy", "t", "r"), point, strict=True)) | {"N": 3}
        assert function.evaluate(values) == {"result": turned(**values)}


# -- of the value that Python gives ----------------------------------------------------------------

CASES = {
    "what a condition says holds in its branch alone": """
def f(x, y, a, b):
    if x < 4: y = x % 4
    if a: y = x % 4 + 1
    return y
""",
    "both arms hold one node": """
def f(x, y, a, b):
    if x < 4: r = x % 4
    else: r = x % 4 + 1
    if a: r = r + y
    return r
""",
    "a division that its condition guards": """
def f(x, y, a, b):
    if y: x = 7 * x // y
    if y > 2: a = x % (y - 2)
    if b: x = x + a
    return x
""",
    "a division on the other side": """
def f(x, y, a, b):
    if y == 0: x = x + 1
    else: x = 9 * x // y
    z = 0 if y - 1 <= 0 else x % (y - 1)
    return x + 10 * z if a else z
""",
    "names that one branch assigns, read where it is taken": """
def f(x, y, a, b):
    if a: t = x + 1
    if b: x = x + y
    if a: x = t * x
    return x
""",
    "a name of its own in each": """
def f(x, y, a, b):
    if a: t = x + 1; x = t * t
    if b: t = y + 1; y = t * t
    return x + 100 * y
""",
    "elif": """
def f(x, y, a, b):
    if a: x = y
    elif x < y: x, y = y, x + 1
    elif b: y = 3
    else: x = x + 1
    return x + 100 * y
""",
    "one in the other": """
def f(x, y, a, b):
    if a:
        x = x + 1
        if b: x, y = y, x
        if x > 2: y = y + x
    elif b:
        if y: x = x // y
    return x + 100 * y
""",
    "loops around and inside": """
def f(x, y, a, b):
    n = 0
    for k in range(3):
        if x >> k & 1: n = n + (y << k)
        if k > 1 and a: break
    if b:
        for k in range(2):
            if k == a: continue
            n = n + k
    return n
""",
    "what a loop reads on its next turn": """
def f(x, y, a, b):
    n = y
    for k in range(3):
        x = x + n
        if x >> k & 1: n = k
    return x
""",
    "what is read where a loop ends": """
def f(x, y, a, b):
    n = 0
    for k in range(3):
        if x > k: n = k + 1
        if y == k: break
        n = 5
    return n
""",
    "and, or, not, chains": """
def f(x, y, a, b):
    if a and x < 3 or not b: x = x + 7
    if 1 <= x < 5: y = 3 - y
    if not (a or b): y = y + 1
    c = a and x > 2
    d = 0 <= y < 2
    if c or d: x = x * 2
    return x + 100 * y + 1000 * (d + 0) + (b or 5)
""",
    "helpers": """
def smaller(x, y):
    if x < y: return x
    return y
def turned(x, y, a):
    if a: x, y = y, x
    return x, y
def f(x, y, a, b):
    n = smaller(x, y) + 3 * smaller(y, a)
    x, y = turned(x, y, b)
    if a: x = smaller(x, 2)
    return n + 10 * x + 100 * y
""",
    "helpers inside": """
def f(x, y, a, b):
    def mirrored(v): return 3 - v if a else v
    x = mirrored(x)
    if b: y = mirrored(y)
    return x + 10 * y
""",
    "helpers that are lambdas": """
smaller, larger = lambda x, y: x if x < y else y, lambda x, y: smaller(y, x) if x > y else y
def f(x, y, a, b):
    mirrored = lambda v: 3 - v if a else (lambda w: w if b else 0)(v)
    if b: x = mirrored(x)
    if y: y = larger(smaller(x, 2), y)
    return x + 10 * y
""",
    "a helper with side effects": """
def noted(seen, x):
    seen.append(x)
    return x
def f(x, y, a, b):
    seen = []
    if a: x = noted(seen, x + 1)
    if b: y = noted(seen, y + 1)
    return x + 10 * y + 100 * len(seen)
""",
    "lists": """
def f(x, y, a, b):
    found, other = [x], [y]
    if a: found.append(y)
    if b: found += [x]
    if x > 1: other = found
    other[0] = 7
    return len(found) + 10 * found[0] + 100 * other[0]
""",
    "an entry is assigned": """
def f(x, y, a, b):
    found = [x, y]
    if a: found[0] = y + 1
    if b: x = found[0] + x
    return x + 10 * found[0]
""",
    "calls that change what is around": """
def f(x, y, a, b):
    seen = []
    note = seen.append
    if a: t = note(x)
    if b: t = seen.append(y); x = x + 1
    return x + 10 * len(seen)
""",
    "a list is added to in its place": """
def f(x, y, a, b):
    found = [x]
    same = found
    if a: found += [y]
    if b: x = x + 1
    return len(same) + 10 * x
""",
    "what a function inside reads": """
def f(x, y, a, b):
    g = lambda: x + 1
    if a: x = y; y = g()
    if b: x = g() + x
    return x + 10 * y
""",
    "what a generator reads": """
def f(x, y, a, b):
    late = (x + k for k in range(2))
    if a: x = x + 5
    if b: y = y + 1
    return sum(late) + 100 * y
""",
    "what comes one after the other": """
def f(x, y, a, b):
    source = iter((x, y, 3))
    if a:
        for v in source:
            x = x + v
            break
    for v in source:
        y = y + v
    if b: y = y + 1
    return x + 100 * y
""",
    "a walrus": """
def f(x, y, a, b):
    if (t := x + a) > 2: y = t
    if b and (u := y * 2) > x: x = u
    return x + 10 * y + 100 * t
""",
    "numbers that a loop needs": """
def f(x, y, a, b):
    n = 2 if a else 3
    for k in range(n): x = x + k * y
    if b: x = x + n
    return x
""",
    "what is no number": """
def f(x, y, a, b):
    kind = "row" if a else "column"
    known = None
    if b: known = x
    if kind == "row": y = y + 1
    return x + 10 * y if known is None else 7 + known
""",
    "truth": """
def f(x, y, a, b):
    found = False
    for k in range(3):
        if x == k: found = True
    if found is True: y = y + 1
    hit = False
    if a: hit = x < y
    return (x if hit else y) + 100 * hit + 1000 * (not hit)
""",
    "tuples": """
def f(x, y, a, b):
    p = (x, (y, 1)) if a else (y, (x, 2))
    q = (x,) if b else (x, y)
    return p[0] + 10 * p[1][0] + 100 * p[1][1] + 1000 * len(q)
""",
    "it leaves": """
def f(x, y, a, b):
    if a: x = x + 1
    if x > y: return y
    if b:
        y = 2 * y
        if x == 1: return 50 + x
    return x + 10 * y
""",
    "try and match": """
def f(x, y, a, b):
    try:
        if a: x = x + 1
    finally:
        y = y + 1
    match a:
        case 0:
            if b: y = x
        case _:
            x = x + y
    return x + 10 * y
""",
    "names of its own": """
state = 0
def f(x, y, a, b):
    n = 0
    def counted():
        nonlocal n
        n = n + 1
        return n
    if a: x = counted() + x
    if b: y = counted() + y
    return x + 10 * y + 100 * n
""",
    "layouts": """
def f(x, y, a, b):
    L, M = GroupBy([4, 4]), GroupBy([5])
    n = L[x, y]
    if a: n = L[y, x]
    if x < 3: n = n + M[x + 1]
    if b: n = n + L.inv(n % 16)[0]
    return n
""",
    "a comprehension's variable has the name of another": """
def f(x, y, a, b):
    k = x
    if a: k = 5; x = x + sum(k for k in range(3))
    if b: y = y + 1
    return k + 10 * x + 100 * y
""",
    "a walrus that is not always reached": """
def f(x, y, a, b):
    t = 9
    if a: t = 1
    elif x: t = 2
    n = 0 if b else (t := 7)
    if a and y: x = x + 3
    return t + 10 * x + n
""",
    "what is deleted or added to later": """
def f(x, y, a, b):
    if a: t = 1; u = x; x = x + t
    else: t = 2; u = y; x = x + 3 * t
    if b: y = y + 1
    del t
    try: u += 1
    finally: y = y + u
    return x + 10 * y
""",
    "a key": """
def f(x, y, a, b):
    seen = []
    if a: x = x + max((1, 2), key=lambda v: seen.append(v) or v)
    if b: y = y + 1
    return x + 10 * y + 100 * len(seen)
""",
    "what is gone through, in a tuple": """
def f(x, y, a, b):
    sources = iter((1, 2, 3, 4)), 5
    if a: x = x + sum(v for _, v in zip((1, 2), sources[0]))
    if b: y = y + 1
    for v in sources[0]:
        y = y + v
        break
    return x + 10 * y
""",
    "objects that change when they are read": """
class Counter:
    def __init__(self): self.n = 0
    @property
    def next(self):
        self.n += 1
        return self.n
    def __add__(self, other):
        self.n += other
        return self
    def __missing__(self, k): return self.next
    def __getitem__(self, k): return self.next
counter = Counter()
def read(t): return t + counter.next
def f(x, y, a, b):
    counter.n, other, third = 0, Counter(), Counter()
    if a: x = read(x)
    n = other.next if a else x
    if b: third = third + 2
    if b: y = y + other[7]
    return x + 10 * y + 100 * n + 1000 * (other.n + 10 * (counter.n + 10 * third.n))
""",
    "objects that only hold": """
class Sizes:
    scale = 3
    def __init__(self, n): self.n = n
sizes = Sizes(2)
def f(x, y, a, b):
    own = Sizes(3)
    if a: x = x * sizes.n
    if b: y = y + own.n * sizes.scale
    return x + 10 * y
""",
    "types": """
def f(x, y, a, b):
    n = True
    if a: n = x
    if b: y = y + 1
    return y + 10 * isinstance(n, bool)
""",
}
RANGES = {"x": (0, 4), "y": (0, 4), "a": (0, 2), "b": (0, 2)}
POINTS = [dict(zip(RANGES, p, strict=True)) for p in product(*(range(*r) for r in RANGES.values()))]


def wrong_points(fn, unit):
    return [v for v in POINTS if [*unit.functions[0].evaluate(v).values()] != [fn(**v)]]


@pytest.fixture(params=[1, 32], ids=["alone", "beside the paths"])
def few(request, monkeypatch):
    """Whether the joined form is the only one, or is one of several."""
    monkeypatch.setattr(functions, "FEW_PATHS", request.param)
    return request.param


@pytest.mark.parametrize("name", rest_slow(CASES, 8))
@pytest.mark.quick(4)
def test_the_value_is_python_s(name, few):
    fn = written(CASES[name])
    assert branches.rewritten(fn.__code__) is not None
    unit = generate(fn, "cpp", ranges=RANGES)
    assert wrong_points(fn, unit) == []
    assert unit.functions[0].checked[0]


JOINED = [
    "what a condition says holds in its branch alone", "a division that its condition guards", "elif",
    "a division on the other side", "a name of its own in each", "one in the other", "helpers",
    "helpers inside", "helpers that are lambdas", "and, or, not, chains", "a walrus", "what a loop reads on its next turn",
    "a comprehension's variable has the name of another", "what is deleted or added to later", "objects that only hold",
]  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.quick(4)
def test_one_path_does_for_all(name, monkeypatch):
    """Where all that a function does can be joined, no branch parts the path around it."""
    monkeypatch.setattr(functions, "FEW_PATHS", 1)
    calls, called = Counter(), functions._called_with

    def counted(names, signature, function, trace):
        calls[trace.tape is None, id(trace)] += 1
        traces.append(trace)
        return called(names, signature, function, trace)

    traces = []  # so that no two have one id
    monkeypatch.setattr(functions, "_called_with", counted)
    generate(written(CASES[name]), "cpp", ranges=RANGES)
    assert {count for (is_joined, _), count in calls.items() if is_joined} == {1}


def test_a_lambda():
    text = "f = lambda x, *, n=3: [(lambda x: -x)(x), (x if x < n else 2) + (1 if x % 2 else n)][1]"
    fn = written(text)
    assert branches.rewritten(fn.__code__) is not None
    (function,) = generate(fn, "cpp", ranges={"x": (0, 8)}).functions
    assert all(function.evaluate({"x": x}) == {"result": fn(x)} for x in range(8))


@pytest.mark.slow
def test_a_function_without_a_text_is_followed_along_its_paths():
    def text(count):
        flags = [f"f{k}" for k in range(count)]
        lines = [f"    if f{k}: x = (x ^ {k}) + 3" for k in range(count)]
        return "\n".join([f"def f({', '.join([*flags, 'x'])}):", *lines, "    return x", ""])

    names: dict = {}
    exec(text(6), names)
    unit = of_flags(names["f"], 6)
    for point in product(range(2), repeat=6):
        values = {f"f{k}": v for k, v in enumerate(point)} | {"x": 9}
        assert unit.functions[0].evaluate(values) == {"result": names["f"](**values)}
    exec(text(9), names)
    with pytest.raises(TraceError, match="more than 256 paths"):
        of_flags(names["f"], 9)


@pytest.mark.slow
def test_another_text_than_what_was_compiled_is_not_taken():
    fn = with_flags(9)
    file = fn.__code__.co_filename
    lines = [line.replace("+ 3", "+ 4") for line in linecache.cache[file][2]]
    linecache.cache[file] = 1, None, lines, file
    assert branches.rewritten(fn.__code__) is None
    with pytest.raises(TraceError, match="more than 256 paths"):
        of_flags(fn, 9)


def test_an_error_has_its_line():
    fn = with_flags(9, "if f{k}: x = x + {k} if f{k} else x / 2")
    with pytest.raises(TraceError, match=r"f \(line 10\b.*\): .* write //"):
        of_flags(with_flags(9, "if f{k}: x = x / (2 + {k})"), 9)
    assert of_flags(fn, 9).functions[0].op_count < 40


@pytest.mark.slow
def test_a_layout_has_as_many_paths_as_before():
    def spread(i):
        found = []
        for k in range(6):
            if i // 2**k % 2:
                found.append(2 ** (5 - k))
        return sum(found)

    def layout(n):
        return GroupBy([64]).OrderBy(GenP([64], spread, spread))

    apply, _ = generate(layout, "cpp", sizes={"n": 1}).functions
    assert all(apply.evaluate({"i": i}) == {"flat": spread(i)} for i in range(64))


@pytest.mark.deep
def test_calls_that_call_on_have_an_end():
    text = """
def g(n, k):
    if n < k: return n
    return g(n - 1, k + 1) + g(n - 2, k + 2) + (1 if n % 3 else 0)
def f(x):
    return g(x, 0)
"""
    with pytest.raises(TraceError, match=r"256 paths|conditions on one path"):
        generate(written(text), "cpp", ranges={"x": (0, 1000)})


@pytest.mark.slow
def test_what_a_header_asks_for():
    """A divisor that a condition guards is no precondition, however many flags stand around it; and what
    no path asks for no form with joined branches does."""
    lines = [f"    if f{k}: x = (x ^ {k}) + 3" for k in range(20)]
    lines.insert(9, "    if y: x = x + 99 // y")
    flags = ", ".join(f"f{k}" for k in range(20))
    fn = written(
        "\n".join([f"def f({flags}, x, y):", *lines, "    return x + (7 // y if y > 0 else 0)", ""])
    )
    unit = of_flags(fn, 20)
    assert not any("y" in text for text in unit.functions[0].assumptions)
    some = written("""
def f(x, a):
    n = x
    if a: n = 3 * x
    if a > 1: n = n + 1
    return x // n
""")
    unit = generate(some, "cpp", ranges={"x": (0, 9), "a": (0, 3)})
    for x, a in product(range(9), range(3)):
        if x or a > 1:
            assert unit.functions[0].evaluate({"x": x, "a": a}) == {"result": some(x, a)}
    assert all("a == 0 or" in text for text in unit.functions[0].assumptions)


# -- mistakes that are planted ---------------------------------------------------------------------


def nothing_held(function):
    return set()


def never_strict(self, value):
    return None


JOIN = joined.join
FAULTS = {
    "swapped": (joined, "join", lambda c, a, b, *known: JOIN(c, b, a, *known), "elif"),
    "held": (branches, "_held", nothing_held, "what a function inside reads"),
    "called": (joined, "_is_harmless", lambda f: True, "calls that change what is around"),
    "in place": (joined.Joined, "_changed", never_strict, "a list is added to in its place"),
    "noted": (branches, "_only_computes", lambda *given, **named: True, "an entry is assigned"),
    "later": (branches, "_loads", lambda node: set(), "what a loop reads on its next turn"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mistake_shows(fault, monkeypatch):
    """Each of the cases above is wrong, or refused, or no longer joined, where what it is for is broken."""
    module, name, broken, case = FAULTS[fault]
    monkeypatch.setattr(module, name, broken)
    monkeypatch.setattr(functions, "FEW_PATHS", 1)
    branches.rewritten.cache_clear()
    fn = written(CASES[case])
    try:
        with pytest.raises(LegoError, match=r"gives"):
            generate(fn, "cpp", ranges=RANGES)
    finally:
        branches.rewritten.cache_clear()


GLOBALS = """
size = 4
def scaled(x): return x * size
def let(n):
    global size
    size = n
def writes(x):
    global size
    size = 8
    x = scaled(x)
    size = 4
    return x
def reads(x):
    let(8)
    x = x * size
    let(4)
    return x
def counts(x):
    global calls
    calls = 1
    calls += 1
    return x + calls
"""


def test_a_global_that_one_function_assigns_and_another_reads_is_refused():
    """The function that is followed has globals of its own: the value would be an old one."""
    for name, writer, reader in (("writes", "writes", "scaled"), ("reads", "let", "reads")):
        with pytest.raises(
            TraceError, match=f"{writer} assigns the global size, which {reader} reads"
        ):
            generate(written(GLOBALS, name), "c")
    assert "return x + 2;" in generate(written(GLOBALS, "counts"), "c").source
