"""C99: one header of static inline functions, for C23 and C++ too.

Reference: ISO C99, https://en.cppreference.com/w/c/language (7.1.3 and 7.26: reserved names;
6.5.7: a negative number shifted to the left is undefined, and to the right as the compiler says,
which is by its sign in all of them).
"""

from dataclasses import replace

from lego_emit.emit.printer import BREAK, Op, call
from lego_emit.ir.nodes import Node
from lego_emit.printers.c_array import ArrayForm, free
from lego_emit.printers.c_family import (
    C_OPS,
    CPP_KEYWORDS,
    EXTREMES,
    HELPERS,
    UNARY,
    HeaderPrinter,
)

MARKS = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}

# <stdint.h>'s types and macros.
WIDTHS = [f"{kind}{bits}" for kind in ("", "_least", "_fast") for bits in (8, 16, 32, 64)]
STDINT = {f"{sign}int{w}_t" for sign in ("", "u") for w in (*WIDTHS, "ptr", "max")} | {
    f"{sign}INT{w.upper()}_{end}"
    for sign in ("", "U")
    for w in (*WIDTHS, "PTR", "MAX")
    for end in ("MAX", "MIN", "C", "WIDTH")
}
# Macros that other headers and compilers define, as far as an index might have their name.
MACROS = frozenset(
    """BUFSIZ CHAR_BIT EOF FILENAME_MAX FOPEN_MAX HUGE_VAL INFINITY INT_MAX INT_MIN LLONG_MAX
    LLONG_MIN LONG_MAX LONG_MIN NAN NULL RAND_MAX SIZE_MAX UINT_MAX ULLONG_MAX ULONG_MAX
    errno linux stderr stdin stdout unix""".split()
)

# Functions of the C library and those that compilers know without a header; all of them are at
# file scope whether they are declared or not.
MATHS = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2
    expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log
    log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo
    rint round roundeven scalbln scalbn sin sinh sqrt tan tanh tgamma trunc drem exp10 gamma j0 j1
    jn pow10 scalb significand sincos y0 y1 yn finite isinf isnan signbit cabs cacos cacosh carg
    casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan
    ctanh""".split()
LIBRARY = """abort abs acosl aligned_alloc alloca asctime assert atexit atof atoi atol atoll
    at_quick_exit bcmp bcopy bsearch btowc bzero calloc clearerr clock ctime dcgettext dgettext
    difftime div dprintf execl execle execlp execv execve execvp exit fclose feof ferror fflush ffs
    ffsl ffsll fgetc fgetpos fgets fgetwc fgetws fileno fopen fork fprintf fprintf_unlocked fputc
    fputc_unlocked fputs fputs_unlocked fputwc fputws fread free freopen fscanf fseek fsetpos ftell
    fwide fwprintf fwrite fwrite_unlocked fwscanf getc getchar getenv gets gettext getwc getwchar
    gmtime imaxabs imaxdiv index isalnum isalpha isascii isblank iscntrl isdigit isfinite isgraph
    isgreater isless islower isnormal isprint ispunct isspace isunordered isupper iswalnum iswalpha
    iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
    iswxdigit isxdigit labs ldiv link llabs lldiv localeconv localtime longjmp malloc mblen mbrlen
    mbrtowc mbsinit mbsrtowcs mbstowcs mbtowc memccpy memchr memcmp memcpy memmove mempcpy memset
    mktime offsetof perror pipe printf printf_unlocked putc putchar putchar_unlocked putc_unlocked
    puts puts_unlocked putwc putwchar qsort quick_exit raise rand random read realloc remove rename
    rewind rindex scanf select setbuf setjmp setlocale setvbuf signal sleep snprintf sprintf srand
    srandom sscanf stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup
    strerror strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup strpbrk strrchr
    strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm swab swprintf
    swscanf sync system time timespec_get tmpfile tmpnam toascii tolower toupper towctrans towlower
    towupper truncate ungetc ungetwc unlink vfprintf vfscanf vfwprintf vfwscanf vprintf vscanf
    vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait wcrtomb wcscat wcschr wcscmp
    wcscoll wcscpy wcscspn wcsftime wcslen wcsncat wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn
    wcsstr wcstod wcstof wcstok wcstol wcstold wcstoll wcstombs wcstoul wcstoull wcsxfrm wctob
    wctomb wctrans wctype wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf write wscanf
    size_t ptrdiff_t wchar_t clock_t time_t div_t ldiv_t lldiv_t""".split()


class CPrinter(HeaderPrinter):
    """C's spellings: <stdint.h>'s types, helpers named after the unit and the index type."""

    name = "c"
    aliases = ("c99",)
    title = "C"
    extension = ".h"
    types = {"int32": "int32_t", "int64": "int64_t", "uint32": "uint32_t", "uint64": "uint64_t"}
    suffixes = {"int32": "", "int64": "LL", "uint32": "u", "uint64": "ull"}
    ops = {
        **C_OPS,
        "min": call("{unit}_min({0},\v{1})", 2, "min"),
        "max": call("{unit}_max({0},\v{1})", 2, "max"),
        "floordiv": call("{unit}_floor_div({0},\v{1})", 2, "floor_div"),
        "floormod": call("{unit}_floor_mod({0},\v{1})", 2, "floor_mod"),
        "isqrt": call("{unit}_isqrt({0})", 1, "isqrt"),
        "lookup": call("{0}[{1}]", 2),
        "int": HeaderPrinter.cast,
        "shl.signed": Op("({T})((u{T}){0} << {1})", UNARY, (UNARY, 13)),
    }
    helpers = {
        f"{name}_{mark}": text
        for name, text in (EXTREMES | HELPERS).items()
        for mark in MARKS.values()
    }
    template = "c.jinja"
    reserved = CPP_KEYWORDS - {"std", "lego"} | {"typeof", "typeof_unqual"} | STDINT | MACROS
    reserved_functions = frozenset({f"{m}{end}" for m in MATHS for end in ("", "f", "l")} | {*LIBRARY})
    qualifiers = "static inline"

    def fit(self, node, function):
        """What may be negative is shifted to the left as an unsigned number."""
        node = super().fit(node, function)
        if node.op == "shl" and function.index_type.startswith("int") and not positive(node.args[0]):
            return replace(node, op="shl.signed")
        return node

    def op(self, node, view):
        """The helpers have the index type in their names: C has no overloads."""
        op = super().op(node, view)
        if op.helper is None:
            return op
        helper = self.helper_name(op.helper, view.index_type)
        return replace(op, text=op.text.replace(op.helper, helper), helper=helper)

    def helper_name(self, name, index_type):
        """Its name and the index type."""
        return f"{name}_{MARKS[index_type]}"

    def table_parameter(self, form, T):
        """A pointer to constants."""
        return f"const {T} *{{name}}"

    def head(self, start, parameters, end=None):
        """A function's head; one without parameters says so."""
        return super().head(start, parameters or "void", end)

    def unread(self, function):
        """A cast to void for each."""
        return [f"(void){p.name};" for p in function.params if p.name not in function.used]

    def struct(self, function, result):
        """A type of its own."""
        first, *members, _ = super().struct(function, result)
        return [f"typedef {first}", *members, f"}} {result};"]

    def several(self, function, result):
        """A variable: C++ has no compound literals."""
        names = {p.name for p in (*function.params, *function.tables)}
        name = free("result", names | {name for name, _ in function.body})
        start = f"const {result} {name} = "
        return [self.braced(start, function.texts(), 2), f"return {name};"]

    def array_name(self, name):
        """<name>_fill."""
        return f"{name}_fill"

    def array_form(self, function) -> ArrayForm:
        """What the fill's template sees."""
        return ArrayForm(self, function, ("out",))

    def fill_doc(self, function, array: ArrayForm) -> list[str]:
        """The doc comment of the fill function."""
        out = array.names["out"]
        lines = [
            f"Puts the results of {function.name} over {array.over}, into {out}. The parameters "
            f"before {out} are those of {function.name}.",
            f"@param {out} room for {array.plain_count} results",
        ]
        return [part for line in lines for part in self.comment(line, "///")]

    def element(self, function, array: ArrayForm) -> str:
        """The call for one element in the loops over the axes, which count from 0."""
        base = f" + {function.base}" if function.base else ""
        arguments = [*array.scalars, *(f"{name}{base}" for name, _ in array.loops)]
        return f"{function.name}({f',{BREAK}'.join(arguments)})"

    def opening(self, unit, helpers, functions):
        """What the functions include, and the helpers."""
        return "\n\n".join(["#include <stdint.h>", *helpers])


def positive(node: Node) -> bool:
    """Whether the node is known to be no negative number."""
    low = node.value if node.op == "const" else node.lo
    return isinstance(low, int) and low >= 0
