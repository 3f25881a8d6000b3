"""Every operation over every kind of operand, as texts of many functions at once."""

from lego_emit import isqrt
from lego_emit.trace.calls import call_user_function, signature_of
from lego_emit.trace.follow import TraceOptions, run_trace

RANGES = {"x": (0, 30), "y": (-20, 20), "z": (-9, -1), "u": (1, 7), "v": (-3, 3)}
ASSUMED = {n: f"{lo} <= {n} <= {hi}" for n, (lo, hi) in RANGES.items()}


def number(n):
    return str(n) if n >= 0 else f"({n})"


def pick(condition, a, b):
    """a if condition else b, without a branch in the trace."""
    from lego_emit.arith.expr import select

    return (a if condition else b) if isinstance(condition, bool) else select(condition, a, b)


def function(text):
    """def f(x, y, z, u, v): return text."""
    space = {
        "isqrt": isqrt,
        "int_": lambda c: int(c) if isinstance(c, bool) else 0 + c,
        "pick": pick,
    }
    exec(f"def f({', '.join(RANGES)}):\n    return {text}\n", space)
    return space["f"]


def traced(text):
    """(trace, results) of the function, before it is lowered."""
    from lego_emit.arith.expr import Expr

    made = function(text)
    trace, result = run_trace(
        lambda t: call_user_function(made, t, signature_of(made)),
        TraceOptions(assume=list(ASSUMED.values())),
    )
    return trace, [Expr.of(r) for r in (result if isinstance(result, tuple) else [result])]


# Every operation over every pair of symbols and over numbers, a few dozen to a function.
PAIRS = {
    op: [f"{a} {op} {b}" for a in RANGES for b in RANGES]
    for op in ("+", "-", "*", "//", "%", "&", "|", "^")
}
NUMBERS = {
    **{
        f"{op} number": [f"{a} {op} {number(n)}" for a in "xyv" for n in range(-9, 18) if n]
        for op in ("//", "%", "&", "|", "^")
    },
    "number //": [f"{number(n)} // {a}" for a in RANGES for n in (-7, -1, 0, 1, 12)],
    "number %": [f"{number(n)} % {a}" for a in RANGES for n in (-7, -1, 0, 1, 12)],
    "shifts": [f"{a} {op} {b}" for a in "xyzv" for op in ("<<", ">>") for b in ("u", "0", "5")],
    "digits": [f"{a} % {n} // {m}" for a in "xyv" for n in (4, 6, 8, 30) for m in (2, 3, 4)]
    + [f"{a} // {m} % {n}" for a in "xyv" for n in (4, 6, 8, 30) for m in (2, 3, 4)],
    "unary": [f"{op}{a}" for a in RANGES for op in ("-", "~", "+")] + [f"abs({a})" for a in RANGES],
    "roots": [
        "isqrt(x)",
        "isqrt(u * u - 1)",
        "isqrt(y * y)",
        "isqrt(x * 0 + 63)",
        "isqrt(8 * x + 1)",
    ],
    "extremes": [
        f"{f}({a}, {b})" for f in ("min", "max") for a in RANGES for b in (*RANGES, "-3", "2")
    ],
    **{
        f"select {op}": [
            f"pick({a} {op} {b}, {a}, 7 - {b})" for a in RANGES for b in (*RANGES, "0", "2", "-3")
        ]
        for op in ("<", "<=", ">", ">=", "==", "!=")
    },
    **{f"flag {op}": [f"int_({a} {op} 1) + 2" for a in RANGES] for op in ("<", "<=", "==", "!=")},
}
EVERY_OPERATION = {k: ", ".join(f"({t})" for t in v) for k, v in {**PAIRS, **NUMBERS}.items()}


def corners(draw, count):
    """Points of RANGES, most of them at its ends, none with y or v at 0."""
    for _ in range(count):
        values = {s: draw.choice([lo, hi, draw.randint(lo, hi)]) for s, (lo, hi) in RANGES.items()}
        yield {**values, "y": values["y"] or 1, "v": values["v"] or 1}
