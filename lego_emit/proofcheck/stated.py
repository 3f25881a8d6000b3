"""What a text's comments state: ranges of parameters and results, and what is assumed.

Conditions stand there in the notation of each language. What a user reads is what the proofs use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .terms import Term, made, term_of, var
from .text import Function, UnsupportedSyntax

RESULT = "the_result"  # what a single result is called in a comment, as a variable
UNSEEN = re.compile(r"every intermediate value fits \w+")
MOST = {
    "INT32_MAX": 31, "INT64_MAX": 63, "UINT32_MAX": 32, "UINT64_MAX": 64, "INT_MAX": 31,
    "LLONG_MAX": 63, "UINT_MAX": 32, "ULLONG_MAX": 64, "i32::MAX": 31, "i64::MAX": 63,
    "u32::MAX": 32, "u64::MAX": 64, "usize::MAX": 64, "Number.MAX_SAFE_INTEGER": 53,
    "SIZE_MAX": 64,
}  # fmt: skip
WIDTHS = {
    "int32": 31, "int64": 63, "int32_t": 31, "int64_t": 63, "uint32": 32, "uint64": 64,
}  # fmt: skip
TYPED = {
    "0_int32": 31,
    "0_int64": 63,
    "Int32": 31,
    "Int64": 63,
    "0": 31,
    "UInt32": 32,
    "UInt64": 64,
}
CALLS = {
    "div": "tdiv", "mod": "fmod", "fld": "fdiv", "rem": "tmod", "modulo": "fmod", "iand": "and",
    "ior": "or", "ieor": "xor", "xor": "xor", "shiftl": "shl", "shifta": "shr", "div_euclid": "fdiv",
    "rem_euclid": "fmod",
}  # fmt: skip
TOKEN = re.compile(
    r"\s*(\d+(?:_\w+)?|[A-Za-z_][\w]*(?:::\w+)*|\.and\.|\.or\.|\.not\.|<<|>>|<=|>=|==|!=|/=|&&|\|\||//|\*\*"
    r"|[-+*/%^&|~!<>(),?:{}.\[\]])"
)


@dataclass
class Stated:
    """What a function's comment states. params: of each parameter its conditions; results: of each
    result with a range its conditions, on a variable of its name, or RESULT; assumptions: what else
    is assumed; unseen: whether it is assumed, too, that all values fit."""

    params: dict[str, list[Term]] = field(default_factory=dict)
    results: list[list[Term]] = field(default_factory=list)
    assumptions: list[Term] = field(default_factory=list)
    unseen: bool = False


def stated(function: Function, language: str) -> Stated:
    """What the comment of a function of the text states. Raises UnsupportedSyntax for what looks like a
    condition and cannot be read."""
    names = [name for name, _ in function.params]
    found = Stated()
    seen: list[str] = []
    for kind, text in _items(function.comment, language):
        if kind == "assume":
            if UNSEEN.fullmatch(text):
                found.unseen = True
            else:
                found.assumptions += conditions(text, language, names)
        elif kind == "result":
            said = _last(text)
            if said:
                found.results += [conditions(part, language, None) for part in _separate(said)]
        else:
            tagged, _, text = text.partition(" ") if kind == "tagged" else ("", "", text)
            said = _last(text)
            if tagged and tagged == function.sizes and not said:
                continue
            grouped = any(name.startswith((f"{tagged}.", f"{tagged}[")) for name in names)
            for part in [] if not said else _separate(said) if grouped else [said]:
                known = conditions(part, language, names)
                name = _subject(part, names, language)
                own = whole(name or "") if grouped else name or ""
                if not name or (tagged and _folded(tagged, language) != _folded(own, language)):
                    raise UnsupportedSyntax(
                        f"{function.name}: the comment says {part!r} of {tagged or 'no parameter'}"
                    )
                found.params.setdefault(name, []).extend(known)
                tagged = own
            if tagged:
                seen.append(_folded(tagged, language))
    order = [_folded(n, language) for name in names for n in (whole(name), name)]
    if seen != [name for name in dict.fromkeys(order) if name in seen]:
        raise UnsupportedSyntax(
            f"{function.name}: the comment speaks of {', '.join(seen)}, in this order"
        )
    return found


def whole(name: str) -> str:
    """The struct or the array that a member is of; a name that is none as it is."""
    return re.split(r"[.\[]|->", name.lstrip("*"))[0]


# Where a comment lists names: of the parameters, or of the results.
LISTS = re.compile(
    r"^(?:Physical position of the logical index|Logical index) \(([\w., \[\]]+)\)|"
    r"^- result: \(([\w, ]+)\);|^@returns \{[\[{](\w+:.*?)[\]}]\}|^@param\[out\] (\w+(?:,\w+)+)(?: |$)|^\w+\(([\w, ]*)\)(?: -> \(;? ?([\w, ]+)\))?$",
    re.MULTILINE,
)


def listed_names(function: Function) -> Iterator[list[str]]:
    """The names that its comment lists together, in their order."""
    text = "\n".join(line.strip() for line in _plain(function.comment)).replace("`", "")
    for match in LISTS.finditer(text):
        for found in filter(None, match.groups()):
            yield [
                part.partition(":")[0].strip() for part in re.split("[,;]", found) if part.strip()
            ]


def renamed(function: Function) -> list[tuple[str, str]]:
    """(what the definition calls it, what the text does), as its comment says."""
    return re.findall(
        r"Renamed: ([\w.\[\]]+) is ([\w.\[\]]+) here", function.comment.replace("`", "")
    )


def condition_in_python(text: str) -> Term:
    """A condition of a certificate, in Python's notation."""
    found = conditions(text, "python", None)
    both = found[0]
    for other in found[1:]:
        both = made("land", both, other)
    return both


def floored(term: Term) -> Term:
    """It with divisions that round down: what a comment means, whatever its notation."""
    memo: dict[Term, Term] = {}
    for part in term.walk():
        args = [memo[a] if isinstance(a, Term) else a for a in part.args]
        op = {"tdiv": "fdiv", "tmod": "fmod"}.get(part.op, part.op)
        memo[part] = made(op, *args) if args and isinstance(args[0], Term) else part
    return memo[term]


# -- the parts of a comment ------------------------------------------------------------------------


def _items(comment: str, language: str) -> Iterator[tuple[str, str]]:
    """("tagged" with a parameter's name before its text | "param" | "result" | "assume", the text)."""
    if language in ("rust", "julia"):
        yield from _listed(_plain(comment))
    elif language == "glsl":
        yield from _lines(_plain(comment))
    else:
        yield from _tagged(_plain(comment))


def _plain(comment: str) -> list[str]:
    """Its lines without marks."""
    lines = []
    for line in comment.splitlines():
        line = re.sub(r'^\s*(///|//!|//|!>|!!|!|\*/|/\*\*|/\*|\*|"""|#)( |$)', "", line)
        lines.append(line.rstrip().removesuffix("*/").rstrip())
    return lines


def _tagged(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """@param, @return and @pre of Doxygen; of JSDoc "Assumes ..", too."""
    items: list[str] = []
    for line in lines:
        text = line.strip()
        if text.startswith("@") or text.startswith("Assumes ") or not text:
            items.append(text)
        elif items:
            items[-1] += f" {text}" if items[-1] else text
        else:
            items.append(text)
    for item in items:
        tag, _, rest = item.partition(" ")
        rest = re.sub(r"^\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*", "", rest)
        if tag == "@param":
            yield "tagged", rest
        elif tag in ("@return", "@returns"):
            yield "result", rest
        elif tag == "@param[out]":
            yield "result", rest.partition(" ")[2]
        elif tag == "@pre":
            yield "assume", rest
        elif tag == "Assumes":
            yield "assume", rest.removesuffix(".")


def _listed(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lists of Markdown, code between backticks."""
    items: list[str] = []
    for line in lines:
        text = line.strip()
        if line.startswith(("- ", "Assumes ")) or not text:
            items.append(text)
        elif items and items[-1]:
            items[-1] += f" {text}"
    for item in items:
        text = item.removeprefix("- ")
        if not item or ("`" not in text and "fits" not in text):
            continue
        if text.startswith("Assumes "):
            yield "assume", text.removeprefix("Assumes ").removesuffix(".").replace("`", "")
        elif re.match(r"[Rr]esult: ", text):
            code = re.findall(r"`([^`]*)`", text)
            yield "result", code[-1] if code and _compares(code[-1]) else ""
        elif item.startswith("- ") and not text.startswith("Renamed"):
            code = re.findall(r"`([^`]*)`", text)
            for part in _separate(code[-1]) if code and _compares(code[-1]) else ():
                yield "param", part


def _lines(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A line for each thing; what is long goes on in the next one."""
    waiting: list[str] = []
    for line in lines:
        text = line.strip()
        starts = re.match(r"(Result:|Assumes |Renamed:|The same )", text)
        if waiting and (starts or not _open(waiting[-1])):
            waiting.append(text)
        elif waiting:
            waiting[-1] += f" {text}"
        else:
            waiting.append(text)
    for text in waiting[bool(waiting and _is_sentence(waiting[0])) :]:
        if text.startswith("Result:"):
            yield "result", text.removeprefix("Result:").strip()
        elif text.startswith("Assumes "):
            yield "assume", text.removeprefix("Assumes ")
        elif not text.startswith("Renamed:") and _compares(text):
            yield "param", text


def _is_sentence(text: str) -> bool:
    """Whether a comment's first line is the user's sentence on what the function computes."""
    code = re.match(r"(Result:|Assumes |Renamed:)", text) or "; " in text
    words = re.search(r"[a-z]\w* (?!and |or )[a-z]", text)
    return text.endswith(".") or (words is not None and not code)


def _open(text: str) -> bool:
    """Whether a line cannot be the end of what it says."""
    return bool(re.search(r"([-+*/%<>=&|,?:(]|and|or)$", text)) or text.count("(") > text.count(")")


def _compares(text: str) -> bool:
    return bool(re.search(r"<|>|==|!=|/=", text))


def _last(text: str) -> str:
    """The conditions at its end, after the user's own words; "" where there are none."""
    said = text.rsplit("; ", 1)[-1].strip()
    return said if _compares(said) else ""


def _separate(text: str) -> list[str]:
    """What commas separate outside of brackets."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [part.strip() for part in found]


def _folded(name: str, language: str) -> str:
    return name.lower() if language == "fortran" else name


def _subject(text: str, names: Sequence[str], language: str) -> str | None:
    """The parameter that a range is of: it stands alone on one side of a comparison."""
    for part in re.split(r"<=|>=|==|<|>", text):
        for name in names:
            if _folded(part.strip(), language) == _folded(name, language):
                return name
    return None


# -- conditions ------------------------------------------------------------------------------------


def conditions(text: str, language: str, names: Sequence[str] | None) -> list[Term]:
    """The conditions that a chain such as 0 <= i < N / B is made of. names: of the variables that may
    stand in it. Raises UnsupportedSyntax."""
    reader = _Reader(
        re.sub(r"\bthe result\b|^result\b|(?<=<= )result\b", RESULT, text), language, names
    )
    found = reader.chain()
    reader.end()
    return found


class _Reader:
    """Conditions in any of the notations, binding as Python's operators do: where a language's bind
    otherwise, its comments have brackets."""

    def __init__(self, text: str, language: str, names: Sequence[str] | None):
        self.text, self.language = text, language
        self.names = None if names is None else {_folded(n, language): n for n in names}
        self.tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if match is None:
                raise self.wrong()
            self.tokens.append(match[1])
            at = match.end()
        self.at = 0

    def wrong(self) -> UnsupportedSyntax:
        return UnsupportedSyntax(f"the comment's {self.text!r} cannot be read")

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        token = self.peek()
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def need(self, token: str) -> None:
        if not self.take(token):
            raise self.wrong()

    def end(self) -> None:
        if self.peek():
            raise self.wrong()

    def chain(self) -> list[Term]:
        """Comparisons, `and` between them."""
        start = self.at
        found = self._comparisons()
        if len(found) > 1 and not self.peek():
            return found
        self.at = start
        whole = self.either()
        return [whole] if whole.is_condition else self._fail()

    def _fail(self) -> list[Term]:
        raise self.wrong()

    def _comparisons(self) -> list[Term]:
        left, found = self.value(), []
        while op := self.take("<", "<=", ">", ">=", "==", "!=", "/="):
            right = self.value()
            found.append(_compared(op, left, right))
            left = right
        return found or [left]

    def either(self) -> Term:
        """or of and of comparisons; a choice around them."""
        found = self.every()
        while self.take("or", "||", ".or."):
            found = made("lor", found, self.every())
        if self.take("?"):
            yes = self.either()
            self.need(":")
            return made("select", found, yes, self.either())
        if self.take("if"):
            condition = self.either()
            self.need("else")
            return made("select", condition, found, self.either())
        return found

    def every(self) -> Term:
        found = self.negated()
        while self.take("and", "&&", ".and."):
            found = made("land", found, self.negated())
        return found

    def negated(self) -> Term:
        if self.take("not", ".not.") or (self.language != "rust" and self.take("!")):
            return made("lnot", self.negated())
        found = self._comparisons()
        whole = found[0]
        for other in found[1:]:
            whole = made("land", whole, other)
        return whole

    def value(self) -> Term:
        return self._binary(0)

    LEVELS = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "//", "%"))
    OPS = {
        "|": "or",
        "&": "and",
        "<<": "shl",
        ">>": "shr",
        "+": "add",
        "-": "sub",
        "*": "mul",
        "//": "fdiv",
    }

    def _binary(self, level: int) -> Term:
        if level == len(self.LEVELS):
            return self.unary()
        found = self._binary(level + 1)
        while op := self.take(*self.LEVELS[level]):
            right = self._binary(level + 1)
            if op == "^" and self.language != "python" and found.constant == 2:
                found = made("shl", 1, right) if right.constant is not None else self._power()
            elif op == "^":
                found = made("xor", found, right)
            elif op in "/%":
                floors = self.language in ("python",)
                kind = {"/": ("tdiv", "fdiv"), "%": ("tmod", "fmod")}[op][floors]
                found = made(kind, found, right)
            else:
                found = made(self.OPS[op], found, right)
        return found

    def _power(self) -> Term:
        raise self.wrong()

    def unary(self) -> Term:
        if self.take("-"):
            return made("sub", 0, self.unary())
        if self.take("~") or (self.language == "rust" and self.take("!")):
            value = self.unary()
            return made("lnot" if value.is_condition else "not", value)
        found = self.primary()
        if self.take("**"):
            exponent = self.unary().constant
            if exponent is None or not 0 <= exponent <= 64:
                raise self.wrong()
            found = found**exponent
        elif self.peek() == "^" and self.language != "python" and found.constant == 2:
            self.at += 1
            bits = self.primary().constant
            if bits is None or not 0 <= bits <= 64:
                raise self.wrong()
            found = term_of(2**bits)
        return found

    def primary(self) -> Term:
        token = self.peek()
        self.at += 1
        if token == "(":
            found = self.either()
            self.need(")")
        elif token == "if":  # Rust's
            condition = self.either()
            self.need("{")
            yes = self.either()
            self.need("}")
            self.need("else")
            self.need("{")
            found = made("select", condition, yes, self.either())
            self.need("}")
        elif re.match(r"\d", token):
            found = term_of(int(token.partition("_")[0]))
        elif re.match(r"[A-Za-z_]", token):
            found = self._named(token)
        else:
            raise self.wrong()
        while self.peek() == ".":
            self.at += 1
            name = self.peek()
            self.at += 1
            self.need("(")
            found = self._called(name, [found, *self._arguments()])
        return found

    def _named(self, name: str) -> Term:
        if name in ("Math", "Number") and self.take("."):
            name = f"{name}.{self.peek()}"
            self.at += 1
        if name in MOST:
            return term_of(2 ** MOST[name] - 1)
        if name in ("huge", "typemax"):
            self.need("(")
            bits = TYPED.get(self.peek())
            self.at += 1
            self.need(")")
            if bits is None:
                raise self.wrong()
            return term_of(2**bits - 1)
        if self.take("("):
            return self._called(name.rpartition(".")[2], self._arguments())
        name += self._member()
        if self.names is None:
            return var(name)
        if _folded(name, self.language) not in self.names:
            raise UnsupportedSyntax(
                f"the comment's {self.text!r} speaks of {name}, which is no parameter"
            )
        return var(self.names[_folded(name, self.language)])

    def _member(self) -> str:
        """What reads a member, in Python's form: .x or [0]; "" where none is read."""
        a, b, c = [*self.tokens[self.at : self.at + 3], "", "", ""][:3]
        if a == "." and b.isidentifier() and c != "(":
            self.at += 2
            return f".{b}"
        if a == "[" and b.isdecimal() and c == "]":
            self.at += 3
            return f"[{b}]"
        return ""

    def _arguments(self) -> list[Term]:
        found = [self.either()]
        while self.take(","):
            found.append(self.either())
        self.need(")")
        return found

    def _called(self, name: str, args: list[Term]) -> Term:
        if name in ("min", "max") and len(args) == 2:
            x, y = args if name == "min" else args[::-1]
            return made("select", made("lt", x, y), args[0], args[1])
        if name == "floor" and len(args) == 1 and args[0].op == "tdiv":
            return made("fdiv", *args[0].args)
        if name == "merge" and len(args) == 3:
            return made("select", args[2], args[0], args[1])
        if name == "mod" and self.language == "fortran":
            return made("tmod", *args)
        if name == "isqrt" and len(args) == 1:
            return args[0].isqrt()
        if name in CALLS and len(args) == 2:
            return made(CALLS[name], *args)
        raise self.wrong()


def _compared(op: str, a: Term, b: Term) -> Term:
    match op:
        case "<" | "<=":
            return made("lt" if op == "<" else "le", a, b)
        case ">" | ">=":
            return made("lt" if op == ">" else "le", b, a)
        case "==":
            return made("eq", a, b)
    return made("ne", a, b)
