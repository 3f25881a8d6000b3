"""Divisions by prepared numbers, and what prepares those, in languages without C's types.

As lego_emit/emit/prepared.py has them: bits is 32 or 64, signed values are below 2^(bits-1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lego_emit.emit.ops import Op, call
from lego_emit.emit.prepared import parts_of, with_helpers
from lego_emit.emit.view import FunctionView
from lego_emit.errors import TargetError
from lego_emit.ir.index_types import IndexType
from lego_emit.ir.program import Function, Program

NAMES = ("fast_div", "fast_div_mul", "fast_div_add", "fast_div_shift")


def made_of(
    printer: Any,
    spelled: Callable[[str, int], Op],
    text: Callable[[str, str, str], str],
    unsigned: tuple[str, ...] = ("uint32", "uint64"),
    marks: tuple[str, ...] = ("",),
    parts: Callable[[IndexType], Sequence[str]] = parts_of,
) -> Any:
    """A printer with those operations. spelled: the spelling of a call of a helper with so many arguments;
    text: the definition of a helper by its name, the unit and the index type; unsigned: the index types
    without negative numbers; marks: what ends the names of helpers; parts: what prepares a divisor."""
    ops = {f"div.{name[9:]}": spelled(name, 1) for name in NAMES[1:]}
    more = {t: {"div.prepared": spelled("fast_div", 4)} for t in unsigned}
    helpers = {
        name + mark: f'{{{{ printer.divides("{name}", unit, index_type) }}}}'
        for name in NAMES
        for mark in marks
    }
    made: Any = with_helpers(
        printer, {**ops, "div.prepared": spelled("fast_div", 3)}, helpers, parts, more
    )
    made.divides = text
    return made


# -- Rust ------------------------------------------------------------------------------------------

RUST_LOG = {
    True: "{U}::BITS - ((d - 1) as {U}).leading_zeros()",
    False: "{U}::BITS - 1 - (d as {U} | 1).leading_zeros()",
}
RUST_DIVISION = """\
    let power = (1 as {W}) << ({over} + l);
    let (q, e) = (power / d as {W}, power % d as {W});"""
RUST = {
    ("fast_div", True): """\
// The quotient by the number that mul and shift are made of, of n >= 0.
fn fast_div_{T}(n: {T}, mul: {U}, shift: u32) -> {T} {{
    {signed_quotient}
}}""",
    ("fast_div", False): """\
// The quotient by the number that mul, add and shift are made of.
fn fast_div_{T}(n: {T}, mul: {U}, add: {U}, shift: u32) -> {T} {{
    {unsigned_quotient}
}}""",
    ("fast_div_mul", True): """\
// The factor of fast_div for a divisor d, 0 of d = 0.
fn fast_div_mul_{T}(d: {T}) -> {U} {{
    if d == 0 {{
        return 0;
    }}
    let l = {log};
{division}
    (q + (e != 0) as {W}) as {U}
}}""",
    ("fast_div_mul", False): """\
// The factor of fast_div for a divisor d, 0 of d = 0.
fn fast_div_mul_{T}(d: {T}) -> {U} {{
    if d == 0 {{
        return 0;
    }}
    if d.is_power_of_two() {{
        return {U}::MAX;
    }}
    let l = {log};
{division}
    (q + (d as {W} - e <= (1 as {W}) << l) as {W}) as {U}
}}""",
    ("fast_div_add", False): """\
// The summand of fast_div for a divisor d.
fn fast_div_add_{T}(d: {T}) -> {U} {{
    if d == 0 {{
        return 0;
    }}
    if d.is_power_of_two() {{
        return {U}::MAX;
    }}
    let l = {log};
{division}
    if d as {W} - e <= (1 as {W}) << l {{
        0
    }} else {{
        q as {U}
    }}
}}""",
    ("fast_div_shift", True): """\
// The shift of fast_div for a divisor d.
fn fast_div_shift_{T}(d: {T}) -> u32 {{
    {log}{more}
}}""",
}  # fmt: skip
RUST["fast_div_shift", False] = RUST["fast_div_shift", True]
RUST_LINTS = """\
// What is converted fits.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
#[allow(clippy::cast_sign_loss, clippy::cast_lossless)]
#[allow(clippy::unnecessary_cast)]
"""


def rust(printer: Any, helper_call: Callable[[str, int], Op]) -> Any:
    """Rust, whose integers have up to 128 bits; helper_call: the spelling of a helper's call."""

    def text(name: str, unit: str, index_type: str) -> str:
        index = printer.index_types[index_type]
        bits, signed = index.width, index.least < 0
        names = {"T": printer.types[index_type], "U": f"u{bits}", "W": f"u{2 * bits}"}
        over = bits - 1 if signed else bits
        names["log"] = RUST_LOG[signed].format(**names)
        names["division"] = RUST_DIVISION.format(over=over, **names)
        product = "(n as {W} * mul as {W}" + (")" if signed else " + add as {W})")
        quotient = f"({product} >> {'shift' if bits == 32 else over})"
        if bits == 64:
            quotient = f"({quotient} as {{U}} >> shift)"
        quotient = f"{quotient} as {{T}}".format(**names)
        names |= {"signed_quotient": quotient, "unsigned_quotient": quotient}
        names["more"] = f" + {over}" if bits == 32 else ""
        definition = RUST[name, signed].format(**names)
        comment, _, rest = definition.partition("\n")
        return f"\n{comment}\n{RUST_LINTS}const {rest}"

    return made_of(printer, helper_call, text, ("uint32", "uint64", "usize"))


# -- shaders ---------------------------------------------------------------------------------------

# A quotient and a remainder of 2^(32+l) by a divisor d that is no power of two, 2^l < d < 2^(l+1): the factor
# of signed values is for l + 1, and the quotient is never whole.
GLSL_DIVISION = """\
  uint by = uint(d), q = 0u, e = 1u << findMSB(by);
  for (int bit = 0; bit < 32; ++bit) {{
    bool over = e >= 0x80000000u;
    e <<= 1;
    q <<= 1;
    if (over || e >= by) {{
      e -= by;
      ++q;
    }}
  }}"""
GLSL = {
    ("fast_div", True): """\
// The quotient by the number that mul and shift are made of, of n >= 0.
int {unit}_fast_div(int n, uint mul, uint shift) {{
  uint high, low;
  umulExtended(uint(n) << 1, mul, high, low);
  return int(high >> (shift - 31u));
}}""",
    ("fast_div", False): """\
// The quotient by the number that mul, add and shift are made of.
uint {unit}_fast_div(uint n, uint mul, uint add, uint shift) {{
  uint high, low, carry;
  umulExtended(n, mul, high, low);
  uaddCarry(low, add, carry);
  return (high + carry) >> (shift - 32u);
}}""",
    ("fast_div_mul", True): """\
// The factor of fast_div for a divisor d, 0 of d = 0.
uint {unit}_fast_div_mul(int d) {{
  if (d == 0) return 0u;
  if ((d & (d - 1)) == 0) return 0x80000000u;
{division}
  return q + 1u;
}}""",
    ("fast_div_mul", False): """\
// The factor of fast_div for a divisor d, 0 of d = 0.
uint {unit}_fast_div_mul(uint d) {{
  if (d == 0u) return 0u;
  if ((d & (d - 1u)) == 0u) return 0xffffffffu;
{division}
  return by - e <= 1u << findMSB(by) ? q + 1u : q;
}}""",
    ("fast_div_add", False): """\
// The summand of fast_div for a divisor d.
uint {unit}_fast_div_add(uint d) {{
  if (d == 0u) return 0u;
  if ((d & (d - 1u)) == 0u) return 0xffffffffu;
{division}
  return by - e <= 1u << findMSB(by) ? 0u : q;
}}""",
    ("fast_div_shift", True): """\
// The shift of fast_div for a divisor d.
uint {unit}_fast_div_shift(int d) {{
  return d > 1 ? 32u + uint(findMSB(uint(d - 1))) : 31u;
}}""",
    ("fast_div_shift", False): """\
// The shift of fast_div for a divisor d.
uint {unit}_fast_div_shift(uint d) {{
  return 32u + uint(findMSB(d | 1u));
}}""",
}  # fmt: skip

WGSL_HIGH = """\
  let low = (x & 0xffffu) * (mul & 0xffffu);
  let middle = (x >> 16u) * (mul & 0xffffu) + (low >> 16u);
  let other = (x & 0xffffu) * (mul >> 16u) + (middle & 0xffffu);
  let high = (x >> 16u) * (mul >> 16u) + (middle >> 16u) + (other >> 16u);"""
WGSL_DIVISION = """\
  let by = u32(d);
  var q = 0u;
  var e = 1u << firstLeadingBit(by);
  for (var bit = 0; bit < 32; bit++) {{
    let over = e >= 0x80000000u;
    e = e << 1u;
    q = q << 1u;
    if (over || e >= by) {{
      e = e - by;
      q = q + 1u;
    }}
  }}"""
WGSL = {
    ("fast_div", True): """\
// The quotient by the number that mul and shift are made of, of n >= 0; the product by halves.
fn {unit}_fast_div_i32(n: i32, mul: u32, shift: u32) -> i32 {{
  let x = u32(n) << 1u;
{high}
  return i32(high >> (shift - 31u));
}}""",
    ("fast_div", False): """\
// The quotient by the number that mul, add and shift are made of; the product by halves.
fn {unit}_fast_div_u32(n: u32, mul: u32, add: u32, shift: u32) -> u32 {{
  let x = n;
{high}
  let carry = select(0u, 1u, x * mul > ~add);
  return (high + carry) >> (shift - 32u);
}}""",
    ("fast_div_mul", True): """\
// The factor of fast_div for a divisor d, 0 of d = 0.
fn {unit}_fast_div_mul_i32(d: i32) -> u32 {{
  if (d == 0) {{
    return 0u;
  }}
  if ((d & (d - 1)) == 0) {{
    return 0x80000000u;
  }}
{division}
  return q + 1u;
}}""",
    ("fast_div_mul", False): """\
// The factor of fast_div for a divisor d, 0 of d = 0.
fn {unit}_fast_div_mul_u32(d: u32) -> u32 {{
  if (d == 0u) {{
    return 0u;
  }}
  if ((d & (d - 1u)) == 0u) {{
    return 0xffffffffu;
  }}
{division}
  return select(q, q + 1u, by - e <= (1u << firstLeadingBit(by)));
}}""",
    ("fast_div_add", False): """\
// The summand of fast_div for a divisor d.
fn {unit}_fast_div_add_u32(d: u32) -> u32 {{
  if (d == 0u) {{
    return 0u;
  }}
  if ((d & (d - 1u)) == 0u) {{
    return 0xffffffffu;
  }}
{division}
  return select(q, 0u, by - e <= (1u << firstLeadingBit(by)));
}}""",
    ("fast_div_shift", True): """\
// The shift of fast_div for a divisor d.
fn {unit}_fast_div_shift_i32(d: i32) -> u32 {{
  return select(31u, 32u + firstLeadingBit(u32(d - 1)), d > 1);
}}""",
    ("fast_div_shift", False): """\
// The shift of fast_div for a divisor d.
fn {unit}_fast_div_shift_u32(d: u32) -> u32 {{
  return 32u + firstLeadingBit(d | 1u);
}}""",
}  # fmt: skip


def shader(printer: Any) -> Any:
    """GLSL and WGSL, for 32 bits: their products are made of two numbers, or by halves."""
    texts, division, marks = GLSL, GLSL_DIVISION, ("",)
    if printer.name == "wgsl":
        texts, division, marks = WGSL, WGSL_DIVISION, ("_i32", "_u32")

    def parts(index: IndexType) -> list[str]:
        if index.width > 32:
            raise TargetError(
                f"{printer.title} has no product that is wider than {index} for a division by prepared "
                "numbers: give index_type='int32' or 'uint32', or leave prepare= out"
            )
        return parts_of(index)

    def text(name: str, unit: str, index_type: str) -> str:
        index = printer.index_types[index_type]
        names = {"unit": unit, "division": division.format(), "high": WGSL_HIGH}
        return "\n" + texts[name, index.least < 0].format(**names)

    return made_of(printer, _of_unit, text, ("uint32",), marks, parts)


# -- Julia -----------------------------------------------------------------------------------------

JULIA = {
    ("fast_div", True): """\
# The quotient by the number that mul and shift are made of, of n >= 0.
@inline {unit}_fast_div(n::T, mul::{U}, shift::UInt32) where {{T<:Integer}} =
    {quotient} % T""",
    ("fast_div", False): """\
# The quotient by the number that mul, add and shift are made of.
@inline {unit}_fast_div(n::T, mul::{U}, add::{U}, shift::UInt32) where {{T<:Integer}} =
    {quotient} % T""",
    ("fast_div_mul", True): """\
# The factor of fast_div for a divisor d, 0 of d = 0.
function {unit}_fast_div_mul(d)
    d == 0 && return zero({U})
    l = 64 - Base.leading_zeros(d % UInt64 - UInt64(1))
    return Base.cld(UInt128(1) << ({over} + l), UInt128(d)) % {U}
end""",
    ("fast_div_mul", False): """\
# The factor of fast_div for a divisor d, 0 of d = 0.
function {unit}_fast_div_mul(d)
    d == 0 && return zero({U})
    Base.ispow2(d) && return Base.typemax({U})
    power = UInt128(1) << (63 - Base.leading_zeros(d % UInt64))
    q, e = Base.divrem(power << {over}, UInt128(d))
    return (d - e <= power ? q + 1 : q) % {U}
end""",
    ("fast_div_add", False): """\
# The summand of fast_div for a divisor d.
function {unit}_fast_div_add(d)
    d == 0 && return zero({U})
    Base.ispow2(d) && return Base.typemax({U})
    power = UInt128(1) << (63 - Base.leading_zeros(d % UInt64))
    q, e = Base.divrem(power << {over}, UInt128(d))
    return (d - e <= power ? UInt128(0) : q) % {U}
end""",
    ("fast_div_shift", True): """\
# The shift of fast_div for a divisor d.
{unit}_fast_div_shift(d) =
    ({more} + 64 - Base.leading_zeros(d % UInt64 - UInt64(1))) % UInt32""",
    ("fast_div_shift", False): """\
# The shift of fast_div for a divisor d.
{unit}_fast_div_shift(d) = ({more} + 63 - Base.leading_zeros(d % UInt64 | UInt64(1))) % UInt32""",
}  # fmt: skip


def julia(printer: Any) -> Any:
    """Julia, whose integers have up to 128 bits."""

    def text(name: str, unit: str, index_type: str) -> str:
        index = printer.index_types[index_type]
        bits, signed = index.width, index.least < 0
        over = bits - 1 if signed else bits
        product = "n % UInt64 * mul" if bits == 32 else "Base.widemul(n % UInt64, mul)"
        product = product if signed else f"({product} + add)"
        quotient = f"(({product}) >> shift)"
        if bits == 64:
            quotient = f"((({product} >> {over}) % UInt64) >> shift)"
        more = over if bits == 32 else 0
        names = {"unit": unit, "U": f"UInt{bits}", "over": over, "more": more, "quotient": quotient}
        return "\n" + JULIA[name, signed].format(**names)

    made = made_of(printer, _of_unit, text)
    # Prepared numbers are of one type: 64-bit integers are converted, and must fit.
    made.types, made.wider = {**printer.types, "int32": "Int32", "uint32": "UInt32"}, {}
    return made


def _of_unit(name: str, count: int) -> Op:
    """A call of a helper that is named after the unit."""
    arguments = ",\v".join(f"{{{k}}}" for k in range(count))
    return call(f"{{unit}}_{name}({arguments})", count, name)


# -- JavaScript ------------------------------------------------------------------------------------

# A Number has 53 bits. For n < 2^50 the factor m, which is between (1 + 2^-52)/d and (1 + 2^-51)(1 + 2^-53)/d,
# is enough: n*m, rounded, is at least n/d, and less than n/d*(1 + 2^-50) < n/d + 1/d.
# Up to 2^53, with 1/d rounded, n*m is at most n/d*2^-52 < 2/d beside n/d, which is below 1 (d of 1 and 2 are
# exact): the integer below it is at most 1 beside the quotient, and the remainder says which. That is exact
# where it is not negative, and negative where the product is beyond 2^53 and rounded.
JAVASCRIPT = {
    "fastDivMul": """
/**
 * The factor that divides by d.
 * @param {number} d
 * @returns {number}
 */
function fastDivMul(d) {
  return (1 + 2 ** -51) / d;
}
""",
    "fastDiv": """
/**
 * The quotient n / d rounded down, of n >= 0. The product can be one beside it.
 * @param {number} n
 * @param {number} mul that of d
 * @param {number} d
 * @returns {number}
 */
function fastDiv(n, mul, d) {
  const quotient = Math.floor(n * mul);
  const rest = n - quotient * d;
  if (rest < 0) return quotient - 1;
  return rest < d ? quotient : quotient + 1;
}
""",
}


def javascript(printer: Any) -> Any:
    """JavaScript, by a Number's reciprocal."""

    def parts(index: IndexType) -> tuple[str, ...]:
        if printer.types[index] == "bigint":
            raise TargetError(
                f"{printer.title} has no product that is wider than {index} for a division by prepared "
                "numbers: give index_type='int32', 'uint32' or 'int53', or leave prepare= out"
            )
        return ("div.mul", "") if index.width > 32 else ("div.mul",)

    ops = {"div.mul": Op("1 / {0}", 13, (14,))}
    ops["div.prepared"] = call("fastDiv({0}, {1}, {2})", 3, "fastDiv")
    factor = {"div.mul": call("fastDivMul({0})", 1, "fastDivMul")}
    int32 = {"div.prepared": Op("({0} * {1}) | 0", 6, (13, 14)), **factor}
    uint32 = {"div.prepared": Op("({0} * {1}) >>> 0", 11, (13, 14)), **factor}
    return with_helpers(printer, ops, JAVASCRIPT, parts, {"int32": int32, "uint32": uint32})


# -- Triton ----------------------------------------------------------------------------------------

TRITON = '''
@triton.jit
def _fast_div(n, mul, shift, T: tl.constexpr):
    """The quotient by the number that mul and shift are made of, of n >= 0."""
    if T.primitive_bitwidth == 64:
        wide = tl.umulhi(tl.cast(n, tl.uint64) << 1, tl.cast(mul, tl.uint64))
        return tl.cast(wide >> tl.cast(shift, tl.uint64), T)
    else:
        high = tl.umulhi(tl.cast(n, tl.uint32) << 1, tl.cast(mul, tl.uint32))
        return tl.cast(high >> tl.cast(shift - 31, tl.uint32), T)
'''
TRITON_HOST = '''

def _fast_div_mul(d, bits):
    """The factor that divides by d, 0 of d = 0."""
    return -(-(1 << bits - 1 + (d - 1).bit_length()) // d) if d else 0


def _fast_div_shift(d, bits):
    """The shift that divides by d."""
    return (d - 1).bit_length() + (31 if bits == 32 else 0)
'''


def triton(printer: Any, python: Any) -> Any:
    """Triton, whose host is Python: functions take the fields one by one, and what prepares them is a plain
    function, last in the file. python: a printer of Python."""
    typed: dict[str, dict[str, Op]] = {}
    for index, bits in (("int32", 32), ("int64", 64)):
        typed[index] = {
            f"div.{what}": call(f"_fast_div_{what}({{0}}, {bits})", 1) for what in ("mul", "shift")
        }
        typed[index] = {**python.ops, **typed[index]}
    host: Any = with_helpers(python, {}, {}, typed=typed)
    quotient = call("_fast_div({0},\v{1},\v{2},\v{T})", 3, "fast_div")
    made: Any = with_helpers(printer, {"div.prepared": quotient}, {"fast_div": TRITON})

    comma = ",\v"

    def emit(program: Program) -> str:
        prepares = [f for f in program.functions if any(n.op == "div.mul" for n in f.nodes())]
        others = tuple(_said(f, prepares) for f in program.functions if f not in prepares)
        text = type(printer).emit(made, replace(program, functions=others)) + TRITON_HOST
        for f in prepares:
            view = FunctionView(host, host.fitted(f), program.name, f.index_type)
            lines = [host.line(f"def {f.name}({comma.join(view.inputs)}):", 0)]
            lines += [f"    {line}" for line in (*host.docs(view), host.returned(view))]
            text += "\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"
        return text

    made.emit = emit
    return made


def _said(function: Function, prepares: list[Function]) -> Function:
    """A function whose comment says what each field of prepared sizes is of."""
    names = {f.result.struct: f.name for f in prepares if f.result is not None}
    by = {n: names[g.struct] for g in function.groups if g.struct in names for n in g.names}
    params = (
        replace(p, meaning=f"of {by[p.name]}") if p.name in by else p for p in function.params
    )
    return replace(function, params=tuple(params))
