"""The names that C's headers and compilers have for themselves.

Reference: ISO C23, 7 (library), https://en.cppreference.com/w/c/header; GCC's manual, Other
Builtins; POSIX.1, unistd.h.
"""

# <stdint.h>'s types and macros.
WIDTHS = [f"{kind}{bits}" for kind in ("", "_least", "_fast") for bits in (8, 16, 32, 64)]
STDINT = {f"{sign}int{w}_t" for sign in ("", "u") for w in (*WIDTHS, "ptr", "max")} | {
    f"{sign}INT{w.upper()}_{end}"
    for sign in ("", "U")
    for w in (*WIDTHS, "PTR", "MAX")
    for end in ("MAX", "MIN", "C", "WIDTH")
}

# Macros that other headers and compilers define, as far as an index might have their name.
MACROS = set(
    """BUFSIZ CHAR_BIT E2BIG EDOM EILSEQ EOF ERANGE FILENAME_MAX FOPEN_MAX HUGE_VAL INFINITY INT_MAX
    INT_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN L_tmpnam NAN NULL RAND_MAX SIZE_MAX TMP_MAX
    UINT_MAX ULLONG_MAX ULONG_MAX WEOF errno linux stderr stdin stdout unix""".split()
)

TYPES = set("clock_t div_t ldiv_t lldiv_t ptrdiff_t size_t time_t wchar_t".split())

# Functions of double, beside which there are those of float and long double.
REAL = """acos acosh asin asinh atan atan2 atanh cabs cacos cacosh canonicalize carg casin casinh catan
    catanh cbrt ccos ccosh ceil cexp cimag clog conj copysign cos cosh cpow cproj creal csin csinh
    csqrt ctan ctanh drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmaximum
    fmaximum_mag fmaximum_mag_num fmaximum_num fmin fminimum fminimum_mag fminimum_mag_num
    fminimum_num fmod frexp fromfp fromfpx gamma hypot ilogb j0 j1 jn ldexp lgamma llogb llrint
    llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown nexttoward
    nextup pow pow10 remainder remquo rint round roundeven scalb scalbln scalbn significand sin
    sincos sinh sqrt tan tanh tgamma trunc ufromfp ufromfpx y0 y1 yn""".split()

# Functions of two or three numbers whose result is narrower.
NARROW = """dadd ddiv dfma dmul dsqrt dsub fadd fdiv ffma fmul fsqrt fsub""".split()

# The C library's other functions, those that compilers know without a header, and POSIX's words.
OTHERS = """abort abs access acct alarm aligned_alloc alloca asctime assert at_quick_exit atexit atof
    atoi atol atoll bcmp bcopy brk bsearch btowc bzero c16rtomb c32rtomb c8rtomb calloc chdir chmod
    chown chroot clearerr clock close confstr creat crypt ctime daemon dcgettext dgettext difftime
    div dprintf dup ecvt execl execle execlp execv execve execvp exit fclose fcntl fcvt
    feclearexcept fegetenv fegetexceptflag fegetmode fegetround feholdexcept feof feraiseexcept
    ferror fesetenv fesetexcept fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag
    feupdateenv fflush ffs ffsl ffsll fgetc fgetpos fgets fgetwc fgetws fileno fopen fork fprintf
    fprintf_unlocked fputc fputc_unlocked fputs fputs_unlocked fputwc fputws fread free freopen
    fscanf fseek fsetpos fstat fsync ftell fwide fwprintf fwrite fwrite_unlocked fwscanf gcvt getc
    getchar getenv getline getopt getpid gets gettext getw getwc getwchar gmtime gmtime_r imaxabs
    imaxdiv index isalnum isalpha isascii isatty isblank iscntrl isdigit isfinite isgraph isgreater
    isinf isinff isinfl isless islower isnan isnanf isnanl isnormal isprint ispunct isspace
    isunordered isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower
    iswprint iswpunct iswspace iswupper iswxdigit isxdigit kill labs ldiv link llabs lldiv
    localeconv localtime localtime_r lockf longjmp lseek lstat malloc mblen mbrlen mbrtoc16 mbrtoc32
    mbrtoc8 mbrtowc mbsinit mbsrtowcs mbstowcs mbtowc memccpy memchr memcmp memcpy memmove mempcpy
    memset mkdir mktime nice offsetof open pause pclose perror pipe popen printf printf_unlocked
    profil putc putc_unlocked putchar putchar_unlocked putenv puts puts_unlocked putw putwc putwchar
    qsort quick_exit raise rand random read realloc remove rename revoke rewind rindex rmdir sbrk
    scanf select setbuf setenv setjmp setlocale setvbuf signal signbit sleep snprintf sprintf srand
    srandom sscanf stat stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup
    strerror strfmon strfromd strfromf strfroml strftime strlen strncasecmp strncat strncmp strncpy
    strndup strpbrk strrchr strspn strstr strtod strtof strtoimax strtok strtol strtold strtoll
    strtoul strtoull strtoumax strxfrm swab swprintf swscanf symlink sync syscall system time timegm
    timespec_get timespec_getres tmpfile tmpnam toascii tolower toupper towctrans towlower towupper
    truncate ttyname tzset umask ungetc ungetwc unlink usleep valloc vfork vfprintf vfscanf
    vfwprintf vfwscanf vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf
    wait wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime wcslen wcsncat wcsncmp wcsncpy
    wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold wcstoll
    wcstombs wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctrans wctype wmemchr wmemcmp wmemcpy
    wmemmove wmemset wprintf write wscanf""".split()

# What is at file scope whether it is declared or not.
FUNCTIONS = TYPES.union(
    (f"{name}{end}" for name in REAL for end in ("", "f", "l")),
    (f"{name}{end}" for name in NARROW for end in ("", "l")),
    OTHERS,
)
