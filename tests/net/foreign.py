"""Forms that no text of ours has: a checker of certificates refuses each."""

import hashlib
import itertools
import json
import re

from lego_emit.proofcheck.check import check

COMMENT = re.compile(r" *(?://|\*|!|# )")
CALLABLE = r"(?m)^((?:\[\[nodiscard\]\] )?(?:LEGO_HOST_DEVICE )?constexpr [\w: ]+ )"
LAST = r"\b(\w+)(\) noexcept \{)"
C_FAMILY = [
    ("another guard", r"#ifndef (\w+_(?:HPP|CUH|GLSL)\b)", r"#ifdef \1"),
    ("a guard of another name", r"#define (\w+_(?:HPP|CUH|GLSL)\b)", r"#define \1_2"),
    ("a volatile variable", r"(?m)^  (?:const )?((?:std::)?\w+ \w+ = )", r"  volatile \1"),
    ("two expressions for one", r"return ([^{};]+);", r"return (0, \1);"),
    ("a statement of nothing", r"(?m)^(  return [^;]+;)", r"  ;\n\1"),
    ("a label", r"(?m)^(  return [^;]+;)", r"  here: \1"),
]
CXX = [
    *C_FAMILY,
    ("variadic", LAST, r"\1, ...\2"),
    ("may throw", r"\) noexcept \{", ") noexcept(false) {"),
    ("consteval", r"\bconstexpr\b", "consteval"),
    ("a template", CALLABLE, r"template <class T> \1"),
    ("a given argument", LAST, r"\1 = 0\2"),
    ("thrown away", r"\[\[nodiscard\]\]", "[[deprecated]]"),
    ("of another linkage", CALLABLE, r'extern "C" \1'),
    (
        "a result of a type found",
        r"constexpr (?!auto)[\w:]+(?: long)? (\w+\()",
        r"constexpr auto \1",
    ),
    ("a try", r"(?m)^(  return [^;]+;)", r"  try { \1 } catch (...) {}"),
]
# (name, pattern, replacement) of each language: at the first place outside comments where it fits.
FORMS = {
    "cpp": CXX,
    "cuda": CXX,
    "glsl": [
        *C_FAMILY,
        ("in and out", r"\bout (u?int\w* \w+)", r"inout \1"),
        ("a precision", r"(?m)^(int \w+\()", r"highp \1"),
        ("discarded", r"(?m)^(  return [^;]+;)", r"  discard;\n\1"),
    ],
    "rust": [
        ("async", r"\bpub const fn\b", "pub async fn"),
        ("unsafe", r"\bpub const fn\b", "pub const unsafe fn"),
        ("of another linkage", r"\bpub const fn\b", 'pub extern "C" fn'),
        ("generic", r"\bpub const fn (\w+)\(", r"pub const fn \1<T>("),
        ("of a lifetime", r"\bpub const fn (\w+)\(", r"pub const fn \1<'a>("),
        ("without a result's type", r"\) -> [^{]+ \{", ") {"),
        ("with a where", r"(\) -> [^{]+) \{", r"\1 where i32: Copy {"),
        ("let .. else", r"(let \w+ = [^;]+);", r"\1 else { return 0 };"),
        ("a pattern", r"let (\w+) =", r"let \1 @ _ ="),
        ("a mutable reference", r"(\w+): (i32|i64|u32|u64|usize)", r"\1: &mut \2"),
        ("a question", r"(?m)^(    )([^;{}#/]+)\n\}", r"\1(\2)?\n}"),
        ("public to some", r"\bpub const fn\b", "pub(crate) const fn"),
        ("a block of its own", r"(?m)^(    )([^;{}#/]+)\n\}", r"\1unsafe { \2 }\n}"),
        ("a tuple of one more", r"\) -> \(((?:\w+, )+)(\w+)\) \{", r") -> (\1\2, \2) {"),
    ],
    "fortran": [
        ("optional", r"intent\(in\) ::", "intent(in), optional ::"),
        ("by value", r"intent\(in\) ::", "intent(in), value ::"),
        ("read and set", r"intent\(in\) ::", "intent(inout) ::"),
        ("without an intent", r", intent\(in\) ::", " ::"),
        ("saved", r"(?m)^(    integer(?:\(\w+\))?) :: ", r"\1, save :: "),
        ("impure", r"\belemental\b", "impure elemental"),
        ("recursive", r"\belemental\b", "recursive elemental"),
        (
            "bound",
            r"(end|elemental) ((?:integer\(\w+\) )?function \w+\([^()]*\))",
            r"\1 \2 bind(c)",
        ),
        ("a pointer", r"(?m)^(    integer(?:\(\w+\))?) :: ", r"\1, pointer :: "),
        ("started once", r"(?m)^(    integer(?:\(\w+\))? :: \w+)", r"\1 = 0"),
        ("a statement more", r"(?m)^(    \w+ = .*[^&])$", r"\1; continue"),
        ("named", r"\b(mod|iand|modulo|shifta)\((\w+), ", r"\1(a=\2, p="),
        ("returned early", r"(?m)^(    \w+ = .*[^&])$", r"\1\n    return"),
        ("not private", r"(?m)^  private$", "  public"),
    ],
    "julia": [
        ("a keyword for a parameter", r"(function \w+\([^()]*), (\w+::)", r"\1; \2"),
        ("a semicolon in a call", r"\b(div|mod|fld|rem|min|max)\(([^(),]+), ", r"\1(\2; "),
        ("a tuple of another length", r"NTuple\{(\d+), ", r"NTuple{1\1, "),
        ("a given argument", r"(function \w+\([^()]*?\w+::\w+)([,)])", r"\1=0\2"),
        ("more arguments", r"(function \w+\([^()]*?\w+::\w+)\)", r"\1...)"),
        ("broadcast", r"\b(div|mod|fld|rem|min|max)\(", r"\1.("),
        ("of any type", r"(function \w+\([^()]*?\w+)::\w+", r"\1"),
        ("two statements in a line", r"(?m)^(    \w+ = .*)$", r"\1; 0"),
        ("global", r"(?m)^(    )(\w+ = .*)$", r"\1global \2"),
        ("an interpolation", r'(?m)^"""$', '"""$(0)'),
        ("nothing for a result", r"(?m)^(    return) .*$", r"\1"),
        ("a macro more", r"@inline function", "@inline @fastmath function"),
        ("a module that takes no names", r"(?m)^module ", "baremodule "),
    ],
    "javascript": [
        ("a hole at the start", r"return \[", "return [,"),
        ("a hole in between", r"return \[([^,\]]+),", r"return [\1,,"),
        ("a hole at the end", r"return \[([^\]]*[^,\s])(,?)(\s*)\]", r"return [\1,,\3]"),
        ("spread", r"return \[", "return [..."),
        ("async", r"\bfunction\b", "async function"),
        ("a generator", r"\bfunction\b", "function*"),
        ("a given argument", r"(function \w+\(\w+)", r"\1 = 0"),
        ("more arguments", r"(function \w+\((?:\w+, )*)(\w+)\)", r"\1...\2)"),
        ("a semicolon left out", r"(?m)^(  return .*);$", r"\1"),
        ("hoisted", r"\b(const|let) (\w+ =)", r"var \2"),
        ("two expressions for one", r"return ([^\[{;]+);", r"return (0, \1);"),
        ("a chain that may end", r"\bMath\.(\w+)\(", r"Math?.\1("),
        ("the default", r"export function", "export default function"),
        ("a computed name", r"([{,] ?\n? *)(x|at): (?!number)", r"\1[\2]: "),
    ],
}


def exchanged(text, names):
    """It with two neighbors' names exchanged in the comments of these functions: (what, text) for each
    place."""
    tag = re.compile(r"^\s*(?:///|!>|\*) @param (?:\{\w+\} )?(\w+) ", re.MULTILINE)
    found = list(tag.finditer(text))
    places = [
        ("names of parameters exchanged", one.span(1), other.span(1))
        for one, other in itertools.pairwise(found)
        if text.count("\n", one.start(1), other.start(1)) == 1
    ]
    tuples = r"^\W*(?:.* index|result:|\w+\(.*\) ->|@returns \{\[?) ?`?\(?(\w+)(?:: number)?, (\w+)"
    places += [
        ("names of a list exchanged", match.span(1), match.span(2))
        for match in re.finditer(tuples, text, re.MULTILINE)
    ]
    for what, (a, b), (c, d) in places:
        defined = CODE.search(text, d)
        if defined and any(f" {name}(" in defined[0] for name in names):
            yield what, text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


# The next line that begins a definition.
CODE = re.compile(
    r"^(?:\[\[|export |pub |static |  (?:elemental|pure) |@inline |function |constexpr |LEGO_|int |"
    r"u?int64_t |void ).*",
    re.MULTILINE,
)


def edits(text, language, names):
    """(what, text) for each form that fits somewhere. names: of the functions that are certified."""
    for what, pattern, new in FORMS[language]:
        for match in re.finditer(pattern, text):
            if not COMMENT.match(text, text.rfind("\n", 0, match.start()) + 1):
                yield what, text[: match.start()] + match.expand(new) + text[match.end() :]
                break
    yield from exchanged(text, names)


def is_refused(certificate, text, subject):
    """Whether a text is not proved under another one's certificate."""
    checksum = hashlib.sha256(text.encode()).hexdigest()
    return not check({**certificate, "sha256": checksum}, text, subject, all=False)


def accepted(unit, subject, language, seen=None):
    """The names of foreign forms that a checker accepts in a unit's text. seen: a set that takes the
    names of all that were tried."""
    certificate = json.loads(unit.certificate().json)
    names = [function["name"] for function in certificate["functions"]]
    found = []
    for what, text in edits(unit.source, language, names):
        if seen is not None:
            seen.add(what)
        if not is_refused(certificate, text, subject):
            found.append(what)
    return found
