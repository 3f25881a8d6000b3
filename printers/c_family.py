"""Spellings shared by the languages with C's operators and C's precedence.

Reference: https://en.cppreference.com/w/c/language/operator_precedence (15 tightest, 3 ?:).
Operands of shifts and bit operations are bracketed unless they are atoms or products, as
compilers' -Wparentheses asks.
"""

from lego_emit.printer import Op, call, infix

UNARY = 14

C_OPS: dict[str, Op] = {
    "mul": infix("*", 13),
    "div": infix("/", 13),
    "mod": infix("%", 13),
    "add": infix("+", 12),
    "sub": infix("-", 12),
    "shl": infix("<<", 11, 13, 13),
    "shr": infix(">>", 11, 13, 13),
    "lt": infix("<", 10, 11, 11),
    "le": infix("<=", 10, 11, 11),
    "gt": infix(">", 10, 11, 11),
    "ge": infix(">=", 10, 11, 11),
    "eq": infix("==", 9, 11, 11),
    "ne": infix("!=", 9, 11, 11),
    "and": infix("&", 8, 13, 13),
    "xor": infix("^", 7, 13, 13),
    "or": infix("|", 6, 13, 13),
    "land": infix("&&", 5, 5, 6),
    "lor": infix("||", 4, 6, 6),
    "select": Op("{0}\v? {1}\v: {2}", 3, (4, 4, 3)),
    "neg": Op("-{0}", UNARY, (UNARY + 1,)),
    "not": Op("~{0}", UNARY, (UNARY,)),
    "lnot": Op("!{0}", UNARY, (UNARY,)),
}

C_KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while""".split()
)

CPP_KEYWORDS = C_KEYWORDS | frozenset(
    """alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor bool
    catch char8_t char16_t char32_t class compl concept consteval constexpr constinit const_cast
    co_await co_return co_yield decltype delete dynamic_cast explicit export false friend mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    reinterpret_cast requires static_assert static_cast synchronized template this thread_local
    throw true try typeid typename using virtual wchar_t xor xor_eq std lego main NULL""".split()
)

__all__ = ["CPP_KEYWORDS", "C_KEYWORDS", "C_OPS", "UNARY", "call"]
