"""How our nodes print under SymPy's own printers: ccode, pycode, lambdify and latex.

A table of spellings. {0}, {1}, {2} are the operands with the parentheses that they need, {a}, {b},
{c} without; each result stands in parentheses where an operator could tear it apart, so that no
printer of SymPy's need know our precedence (it has none for them: -2*Mod(n, p) prints as
-2*n % p). Python's // and % round down as our nodes do. C's round towards 0, and are mended below.
"""

from __future__ import annotations

from typing import Any

FUNCTION = 70  # of SymPy's precedences: what binds less tightly than a call takes parentheses

PYTHON = {
    "IntAdd": "({0} + {1})", "IntSub": "({0} - {1})", "IntMul": "({0} * {1})", "IntNeg": "(-{0})",
    "FloorDiv": "({0} // {1})", "FloorMod": "({0} % {1})",
    "IntMin": "min({a}, {b})", "IntMax": "max({a}, {b})",
    "BitAnd": "({0} & {1})", "BitOr": "({0} | {1})", "BitXor": "({0} ^ {1})", "BitNot": "(~{0})",
    "ShiftLeft": "({0} << {1})", "ShiftRight": "({0} >> {1})",
    "Less": "int({0} < {1})", "LessEqual": "int({0} <= {1})", "Greater": "int({0} > {1})",
    "GreaterEqual": "int({0} >= {1})", "Equal": "int({0} == {1})", "Unequal": "int({0} != {1})",
    "LogicalAnd": "int(bool({0} and {1}))", "LogicalOr": "int(bool({0} or {1}))", "LogicalNot": "int(not {0})",
    "Select": "({1} if {0} else {2})", "TableLookup": "{a}[{b}]",
}  # fmt: skip

# NumPy, CuPy, JAX: on arrays of integers and on integers. A root is exact below 2**52.
ARRAY = {
    **PYTHON,
    "IntMin": "{minimum}({a}, {b})", "IntMax": "{maximum}({a}, {b})",
    "Isqrt": "{floor}({sqrt}({a})).astype({int64})",
    "Less": "{where}({0} < {1}, 1, 0)", "LessEqual": "{where}({0} <= {1}, 1, 0)",
    "Greater": "{where}({0} > {1}, 1, 0)", "GreaterEqual": "{where}({0} >= {1}, 1, 0)",
    "Equal": "{where}({0} == {1}, 1, 0)", "Unequal": "{where}({0} != {1}, 1, 0)",
    "LogicalAnd": "{where}(({0} != 0) & ({1} != 0), 1, 0)",
    "LogicalOr": "{where}(({0} != 0) | ({1} != 0), 1, 0)",
    "LogicalNot": "{where}({0} == 0, 1, 0)", "Select": "{where}({0} != 0, {b}, {c})",
    "TableLookup": "{array}({a})[{b}]",
}  # fmt: skip
_ARRAY_NAMES = ("array", "minimum", "maximum", "where", "floor", "sqrt", "int64")

# C: one expression each, right for every sign, in which operands stand more than once. A root is
# exact below 2**52.
C = {
    **PYTHON,
    "FloorDiv": "({0} / {1} - ({0} % {1} != 0 && ({0} % {1} < 0) != ({1} < 0)))",
    "FloorMod": "({0} % {1} + ({0} % {1} != 0 && ({0} % {1} < 0) != ({1} < 0) ? {1} : 0))",
    "IntMin": "({0} < {1} ? {0} : {1})", "IntMax": "({0} > {1} ? {0} : {1})",
    "Isqrt": "((long long)sqrt((double){0}))",
    "ShiftLeft": "({0} * (1LL << {1}))",
    "Less": "({0} < {1})", "LessEqual": "({0} <= {1})", "Greater": "({0} > {1})",
    "GreaterEqual": "({0} >= {1})", "Equal": "({0} == {1})", "Unequal": "({0} != {1})",
    "LogicalAnd": "({0} && {1})", "LogicalOr": "({0} || {1})", "LogicalNot": "(!{0})",
    "Select": "({0} ? {1} : {2})", "TableLookup": "{table}[{b}]",
}  # fmt: skip
# by a divisor that is known to be positive, and of a dividend that is known not to be negative, too
C_POSITIVE = {
    "FloorDiv": "({0} / {1} - ({0} % {1} < 0))",
    "FloorMod": "({0} % {1} + ({0} % {1} < 0 ? {1} : 0))",
}
C_NATURAL = {"FloorDiv": "({0} / {1})", "FloorMod": "({0} % {1})"}

LATEX = {
    "IntAdd": r"\left({0} + {1}\right)", "IntSub": r"\left({0} - {1}\right)",
    "IntMul": r"\left({0} \cdot {1}\right)", "IntNeg": r"\left(- {0}\right)",
    "FloorDiv": r"\left\lfloor {0} / {1} \right\rfloor", "FloorMod": r"\left({0} \bmod {1}\right)",
    "IntMin": r"\min\left({a}, {b}\right)", "IntMax": r"\max\left({a}, {b}\right)",
    "Isqrt": r"\left\lfloor \sqrt{{{a}}} \right\rfloor",
    "BitAnd": r"\left({0} \mathbin{{\&}} {1}\right)", "BitOr": r"\left({0} \mathbin{{|}} {1}\right)",
    "BitXor": r"\left({0} \oplus {1}\right)", "BitNot": r"\left(\mathord{{\sim}} {0}\right)",
    "ShiftLeft": r"\left({0} \ll {1}\right)", "ShiftRight": r"\left({0} \gg {1}\right)",
    "Less": r"\left[{0} < {1}\right]", "LessEqual": r"\left[{0} \leq {1}\right]",
    "Greater": r"\left[{0} > {1}\right]", "GreaterEqual": r"\left[{0} \geq {1}\right]",
    "Equal": r"\left[{0} = {1}\right]", "Unequal": r"\left[{0} \neq {1}\right]",
    "LogicalAnd": r"\left[{0} \wedge {1}\right]", "LogicalOr": r"\left[{0} \vee {1}\right]",
    "LogicalNot": r"\left[\neg {0}\right]",
    "Select": r"\begin{{cases}} {b} & \text{{if}}\: {a} \\ {c} & \text{{otherwise}} \end{{cases}}",
    "TableLookup": r"{a}_{{{b}}}",
}  # fmt: skip


class Spelled:
    """A node that prints: SymPy's printers ask an expression for methods of these names."""

    precedence = 1000  # an atom's: what needs parentheses brings its own

    def _pythoncode(self, printer: Any, **_: Any) -> str:
        if type(self).__name__ == "Isqrt":
            (a,) = _operands(self)
            return f"{printer._module_format('math.isqrt')}({printer._print(a)})"
        return self._by(PYTHON, printer)

    _lambdacode = _pythoncode

    def _numpycode(self, printer: Any, **_: Any) -> str:
        names = {n: printer._module_format(f"{printer._module}.{n}") for n in _ARRAY_NAMES}
        return self._by(ARRAY, printer, **names)

    _cupycode = _jaxcode = _numpycode

    def _ccode(self, printer: Any, **_: Any) -> str:
        table = C
        if type(self).__name__ in C_POSITIVE:
            a, b = _operands(self)
            if b.is_positive:
                table = C_NATURAL if a.is_nonnegative else C_POSITIVE
        return self._by(table, printer)

    _cxxcode = _ccode

    def _latex(self, printer: Any, exp: str | None = None, **_: Any) -> str:
        text = self._by(LATEX, printer)
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"

    def _by(self, table: dict[str, str], printer: Any, **names: str) -> str:
        operands = _operands(self)
        wrapped = [printer.parenthesize(x, FUNCTION, strict=True) for x in operands]
        plain = dict(zip("abc", (printer._print(x) for x in operands), strict=False))
        if type(self).__name__ == "TableLookup":
            entries = ", ".join(map(str, operands[0].args))
            names["table"] = f"((const long long[]){{{entries}}})" if entries else plain["a"]
        return table[type(self).__name__].format(*wrapped, **plain, **names)


def _operands(node: Any) -> tuple[Any, ...]:
    return node.args
