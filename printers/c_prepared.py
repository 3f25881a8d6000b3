"""The helpers of divisions by prepared numbers, in languages with C's operators."""

from __future__ import annotations

import re
from typing import Any

from lego_emit.emit.ops import call
from lego_emit.emit.prepared import with_helpers

SIGNED = "The quotient by the number that mul and shift are made of, of n >= 0."
UNSIGNED = "The quotient by the number that mul, add and shift are made of."
SAID = {
    "fast_div_mul": "The factor of fast_div for a divisor d, 0 of d = 0.",
    "fast_div_add": "The summand of fast_div for a divisor d.",
    "fast_div_shift": "The shift of fast_div for a divisor d.",
}
HIGH = """\
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  const {U} high = {wide};
#else
{portable}
#endif"""
PORTABLE = """\
  const {U} low = {low} * {mul_low};
  const {U} middle = {n_high} * {mul_low} + (low >> 32);
  const {U} other = {n_low} * {mul_high} + {middle_low};
  const {U} high = {n_high} * {mul_high} + (middle >> 32) + (other >> 32);"""


NAMES = ("fast_div", "fast_div_mul", "fast_div_add", "fast_div_shift")
MARKS = ("", "_i32", "_i64", "_u32", "_u64")  # of index types, in C
# By language and bits: (condition of the preprocessor, function) for the upper half of a product. HIP's are
# functions of its runtime's headers, and Clang has numbers of 128 bits.
MSVC = {64: (("defined(_MSC_VER) && defined(_M_X64)", "__umulh"),)}
HIGH_PRODUCTS = {
    "c": MSVC,
    "cpp": MSVC,
    "opencl": {64: (("defined(__OPENCL_VERSION__)", "mul_hi"),)},
    "cuda": {
        32: (("defined(__CUDA_ARCH__)", "__umulhi"),),
        64: (("defined(__CUDA_ARCH__)", "__umul64hi"),),
    },
}


def dividing(printer: Any) -> Any:
    """A printer that spells divisions by prepared numbers as helpers."""
    scope = printer.ops["floordiv"].text.partition("floor_div")[0]
    ops = {f"div.{name[9:]}": call(f"{scope}{name}({{0}})", 1, name) for name in NAMES[1:]}
    quotient = {
        count: {"div.prepared": call(f"{scope}fast_div({texts})", count, "fast_div")}
        for count, texts in ((3, "{0},\v{1},\v{2}"), (4, "{0},\v{1},\v{2},\v{3}"))
    }
    helpers = {
        name + mark: f'{{{{ printer.divides("{name}", unit, index_type) }}}}'
        for name in NAMES
        for mark in MARKS
    }
    unsigned = {"uint32": quotient[4], "uint64": quotient[4]}
    made: Any = with_helpers(printer, {**ops, **quotient[3]}, helpers, typed=unsigned)
    made.divides = lambda name, unit, index_type: Text(made, unit, index_type).helper(name)
    return made


class Text:
    """The texts of the helpers for an index type."""

    def __init__(self, printer: Any, unit: str, index_type: str):
        self.printer, self.unit, self.index_type = printer, unit, index_type
        self.high_products = HIGH_PRODUCTS.get(printer.name, {})
        self.evaluates = (
            "constexpr" in printer.qualifiers
        )  # by the compiler, without such functions
        index = printer.index_types[index_type]
        self.bits, self.signed = index.width, index.least < 0
        self.T = printer.types[index_type]
        self.U, self.S = printer.types[f"uint{self.bits}"], printer.types["uint32"]
        self.W = printer.types["uint64"]

    def helper(self, name: str) -> str:
        """The definition of a helper."""
        said, returned = SAID.get(name, SIGNED if self.signed else UNSIGNED), self.U
        if name == "fast_div":
            parameters = [f"{self.T} n", f"{self.U} mul", f"{self.S} shift"]
            parameters[2:2] = [] if self.signed else [f"{self.U} add"]
            returned, lines = self.T, self._quotient()
        else:
            parameters = [f"{self.T} d"]
            returned = self.S if name == "fast_div_shift" else self.U
            lines = {
                "fast_div_mul": self._mul,
                "fast_div_add": self._add,
                "fast_div_shift": self._shift,
            }[name]()
        own = self.printer
        called = f"{own.prefix(self.unit)}{own.helper_name(name, self.index_type)}"
        head = own.head(f"{own.qualifiers} {returned} {called}", ",\v".join(parameters))
        return "\n".join([f"// {said}", head, *lines, "}"])

    def cast(self, T: str, text: str) -> str:
        """A value as a type; text: an expression."""
        form = self.printer.cast
        if not form.endswith(")") and not re.fullmatch(r"\w+|\(\w+\)\w+", text):
            text = f"({text})"
        return form.format(text, T=T)

    def _quotient(self) -> list[str]:
        if self.bits == 32:
            x = self.cast(self.U, "n") if self.signed else "n"  # no sign is extended
            lines, product = list[str](), f"{self.cast(self.W, x)} * mul"
            for condition, function in self.high_products.get(32, ()):
                # nvcc takes a product that is cast for one of 64 bits, and computes more of it
                high = f"const {self.W} high = {function}({x}, mul);"
                low = f"{x} * mul" if self.signed else f"{x} * mul) + add"
                whole = f"({'(' * (not self.signed)}high << 32 | {low})"
                lines += self._early(condition, high, self._right(whole))
            product = product if self.signed else f"{product} + add"
            return [*lines, f"  const {self.W} product = {product};", f"  {self._right('product')}"]
        value = f"{self.cast(self.U, 'n')} << 1" if self.signed else "n"
        lines = [f"  const {self.U} x = {value};"]
        for condition, function in self.high_products.get(64, ()):
            lines += self._early(condition, self._shifted(f"{function}(x, mul)"))
        wide = self.cast(self.U, f"{self.cast('wide', 'x')} * mul >> 64")
        high = HIGH.format(U=self.U, wide=wide, portable=self._portable())
        return [*lines, *high.splitlines(), f"  {self._shifted('high')}"]

    def _early(self, condition: str, *statements: str) -> list[str]:
        """Statements that return, for the preprocessor, where the compiler does not ask itself."""
        inside = [f"  {statement}" for statement in statements]
        if self.evaluates:
            inside = [f"  {line}" for line in inside]
            inside = ["  if (!__builtin_is_constant_evaluated()) {", *inside, "  }"]
        return [f"#if {condition}", *inside, "#endif"]

    def _right(self, product: str) -> str:
        """The statement that returns the quotient by a number of 64 bits."""
        return f"return {self.cast(self.T, f'{product} >> shift')};"

    def _shifted(self, high: str) -> str:
        """The statement that returns the quotient by the upper half of x * mul."""
        if self.signed:
            return f"return {self.cast(self.T, f'{high} >> shift')};"
        carry = f"x * mul > {self.cast(self.U, '~add')}"
        return f"return ({high} + ({carry} ? 1 : 0)) >> shift;"

    def _portable(self) -> str:
        """The lines that compute the upper half of x * mul by halves of 32 bits."""
        half = {
            f"{name}_low": f"({text} & 0xffffffff{self.printer.suffixes['uint32']})"
            for name, text in (("n", "x"), ("mul", "mul"), ("middle", "middle"))
        }
        half |= {"n_high": "(x >> 32)", "mul_high": "(mul >> 32)", "low": half["n_low"]}
        return PORTABLE.format(U=self.U, **half)

    def _bits(self) -> list[str]:
        """The lines that make l: signed of 2^(l-1) < d <= 2^l, else of 2^l <= d < 2^(l+1)."""
        x = self.cast(self.U, "d - 1") if self.signed else "d"
        start = f"d > 1 ? {x} : 0" if self.signed else "d >> 1"
        return [
            f"  {self.S} l = 0;",
            f"  for ({self.U} x = {start}; x != 0; x >>= 1) ++l;",
        ]

    def _shift(self) -> list[str]:
        more = {(32, True): " + 31", (32, False): " + 32"}.get((self.bits, self.signed), "")
        return [*self._bits(), f"  return l{more};"]

    def _division(self) -> list[str]:
        """The lines that make q and e: 2^(bits+l) divmod d, signed of 2^(bits-1+l); bit by bit, for no
        type is as wide as that of 64 bits."""
        by = self.cast(self.U, "d") if self.signed else "d"
        lines = [f"  const {self.U} by = {by};"]
        one = self.cast(self.W, "1")
        if self.bits == 32:
            power = f"{one} << ({31 if self.signed else 32} + l)"
            return [
                *lines,
                f"  const {self.W} power = {power};",
                f"  const {self.U} q = {self.cast(self.U, 'power / by')};",
                f"  const {self.U} e = {self.cast(self.U, 'power % by')};",
            ]
        start = f"{one} << (l - 1)" if self.signed else f"{one} << l"
        return [
            *lines,
            f"  {self.U} q = 0;",
            f"  {self.U} e = {start};",
            "  for (int bit = 0; bit < 64; ++bit) {",
            f"    const {self.U} over = e >> 63;",
            "    e <<= 1;",
            "    q <<= 1;",
            "    if (over != 0 || e >= by) {",
            "      e -= by;",
            "      ++q;",
            "    }",
            "  }",
        ]

    def _mul(self) -> list[str]:
        lines = ["  if (d == 0) return 0;"]
        power = "(d & (d - 1)) == 0"
        if self.signed:
            top = f"{self.cast(self.U, '1')} << {self.bits - 1}"
            lines += [f"  if ({power}) return {top};"]
            return [*lines, *self._bits(), *self._division(), "  return e == 0 ? q : q + 1;"]
        lines += [f"  if ({power}) return {self._ones()};"]
        return [*lines, *self._bits(), *self._division(), f"  return {self._up()} ? q + 1 : q;"]

    def _ones(self) -> str:
        return self.cast(self.U, f"~{self.cast(self.U, '0')}")

    def _up(self) -> str:
        return f"by - e <= {self.cast(self.U, '1')} << l"

    def _add(self) -> list[str]:
        lines = [
            "  if (d == 0) return 0;",
            f"  if ((d & (d - 1)) == 0) return {self._ones()};",
        ]
        return [*lines, *self._bits(), *self._division(), f"  return {self._up()} ? 0 : q;"]
