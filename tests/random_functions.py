"""Random integer functions as Python text: the same text is followed with symbols and run on ints."""

from hypothesis import strategies as st

from lego_emit import isqrt
from lego_emit.trace import call_user_function, follow

RANGES = {"x": (0, 30), "y": (-20, 20), "z": (-9, -1), "u": (1, 7), "v": (-3, 3)}
ASSUMED = {n: f"{lo} <= {n} <= {hi}" for n, (lo, hi) in RANGES.items()}
DIVISORS = st.sampled_from([2, 3, 4, 5, 6, 8, 12, 16, -3, -4])
DISTANCES = st.integers(0, 5)


def number(n):
    return str(n) if n >= 0 else f"({n})"


def larger(inner):
    """Every operation over smaller expressions; divisions by a number most often."""
    pairs = st.tuples(inner, inner)
    by_number = st.tuples(inner, st.sampled_from(["//", "%"]), DIVISORS.map(number))
    infix = st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "&", "|", "^"]), inner)
    compare = st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner)
    return st.one_of(
        by_number.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        by_number.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        infix.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        infix.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, DISTANCES).map(lambda t: f"({t[0]} << {t[1]})"),
        st.tuples(inner, DISTANCES).map(lambda t: f"({t[0]} >> {t[1]})"),
        pairs.map(lambda t: f"min({t[0]}, {t[1]})"),
        pairs.map(lambda t: f"max({t[0]}, {t[1]})"),
        inner.map(lambda t: f"(-{t})"),
        inner.map(lambda t: f"(~{t})"),
        compare.map(lambda t: f"int_({t[0]} {t[1]} {t[2]})"),
        st.tuples(compare, inner, inner).map(
            lambda t: f"({t[1]} if {t[0][0]} {t[0][1]} {t[0][2]} else {t[2]})"
        ),
        st.tuples(compare, compare, inner, inner).map(
            lambda t: f"({t[2]} if {' '.join(t[0])} and {' '.join(t[1])} else {t[3]})"
        ),
    )


leaves = (
    st.sampled_from(list(RANGES)) | st.sampled_from(list(RANGES)) | st.integers(-9, 9).map(number)
)
expressions = st.recursive(leaves, larger, max_leaves=8)


def function(text):
    """def f(x, y, z, u, v): return text."""
    space = {"isqrt": isqrt, "int_": lambda c: int(c) if isinstance(c, bool) else 0 + c}
    exec(f"def f({', '.join(RANGES)}):\n    return {text}\n", space)
    return space["f"]


def traced(text):
    """(trace, [result]) of the function, before it is lowered."""
    from lego_emit.expr import Expr

    trace, result = follow(
        lambda t: call_user_function(function(text), t), None, list(ASSUMED.values())
    )
    return trace, [Expr.of(result)]
