"""Random functions in the languages that the checker reads, and what their compilers make of them."""

import subprocess
from dataclasses import dataclass, field
from random import Random

RANGES = {(bits, signed): (-(2 ** (bits - 1)) if signed else 0, 2 ** (bits - signed) - 1)
          for bits in (1, 8, 16, 32, 64) for signed in (True, False)}  # fmt: skip
EDGES = [0, 1, 2, 3, 5, 7, 8, 15, 31, 32, 33, 63, 64, 100, 255, 2**15, 2**16, 46340, 2**26]
EDGES += [2**k + d for k in (31, 32, 52, 53, 62, 63, 64) for d in (-1, 0, 1)]


@dataclass
class Writer:
    """A function of a language. Chains of operators have few brackets, so that their precedence
    decides."""

    draw: Random
    number: int
    scope: dict[str, str] = field(default_factory=dict)  # the type of each name
    before: list[str] = field(default_factory=list)

    TYPES = {}
    OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
    UNARY = ["-", "~"]
    JOINED = ["&&", "||"]
    NOT = "!"
    COMPARED = ["<", "<=", ">", ">=", "==", "!="]
    MIXED = 0.3  # how often an operand has another type
    SUFFIX = ";"

    @property
    def name(self):
        return f"f{self.number}"

    def likely(self, chance):
        return self.draw.random() < chance

    def kind(self):
        return self.draw.choice(list(self.TYPES))

    @staticmethod
    def whole(cases):
        """The text that the functions stand in."""
        return "\n".join(c.text for c in cases) + "\n"

    # -- expressions

    def value(self, kind, depth):
        """Operands joined by operators."""
        parts = [self.operand(kind, depth)]
        for _ in range(self.draw.choice((0, 1, 1, 2, 3)) if depth else 0):
            sign = self.draw.choice(self.OPERATORS)
            shift = sign in ("<<", ">>") and self.likely(0.7)
            parts += [sign, self.small(kind) if shift else self.operand(kind, depth - 1)]
        return self.joined(parts)

    def joined(self, parts):
        return " ".join(parts)

    def small(self, kind):
        return self.literal(kind, self.draw.randrange(6))

    def operand(self, kind, depth):
        if self.likely(self.MIXED):
            kind = self.kind()
        if depth <= 0 or self.likely(0.4):
            names = [n for n, t in self.scope.items() if t == kind]
            if names and self.likely(0.75):
                return self.draw.choice(names)
            plain = (0, 1, 2, 3, 4, 5, 7, 8, 12, 31, 32, 63, 64, 255, 2**31 - 1, 2**31, 2**53 - 1)
            return self.literal(kind, self.draw.choice(plain))
        how = self.draw.choice(("unary", "brackets", "brackets", "choice", "cast", "call", "call"))
        return getattr(self, how)(kind, depth - 1)

    def literal(self, kind, number):
        return str(number)

    def unary(self, kind, depth):
        return f"{self.draw.choice(self.UNARY)}{self.operand(kind, depth).lstrip('-~!')}"

    def brackets(self, kind, depth):
        return f"({self.value(kind, depth)})"

    def choice(self, kind, depth):
        a, b = self.value(kind, depth), self.value(kind, depth)
        return f"({self.truth(depth)} ? {a} : {b})"

    def truth(self, depth):
        """A condition."""
        how = self.draw.randrange(8) if depth > 0 else 0
        if how < 4:
            kind = self.kind()
            sign = self.draw.choice(self.COMPARED)
            return f"{self.value(kind, depth - 1)} {sign} {self.value(kind, depth - 1)}"
        if how == 4:
            return f"{self.NOT}({self.truth(depth - 1)})"
        if how == 5:
            return f"({self.truth(depth - 1)})"
        return f" {self.draw.choice(self.JOINED)} ".join(
            self.truth(depth - 1) for _ in range(self.draw.choice((2, 3)))
        )

    # -- the function

    def function(self):
        """(text, types of the parameters, type of the result)."""
        params = {n: self.kind() for n in "xyz"[: self.draw.choice((1, 2, 2, 3))]}
        if self.likely(0.5):
            params = dict.fromkeys(params, self.kind())
        result = self.kind() if self.likely(0.3) else params["x"]
        self.scope = dict(params)
        text = self.written(params, result)
        return "\n".join([*self.before, text]), list(params.values()), result

    def written(self, params, result):
        raise NotImplementedError

    def body(self, result):
        lines = []
        for k in range(self.draw.choice((0, 0, 1, 2))):
            lines += self.statement(f"v{k}")
        return lines

    def statement(self, name):
        raise NotImplementedError


class Rust(Writer):
    TYPES = {"i32": (32, True), "i64": (64, True), "u32": (32, False), "u64": (64, False),
             "usize": (64, False)}  # fmt: skip
    UNARY = ["-", "!", "-"]
    MIXED = 0.0

    def literal(self, kind, number):
        number = min(number, RANGES[self.TYPES[kind]][1])
        text = self.draw.choice((str(number), hex(number), f"0b{number:b}", f"0o{number:o}"))
        if self.likely(0.7):
            text = str(number)
        return text + self.draw.choice(("", "", kind, f"_{kind}"))

    def unary(self, kind, depth):
        signed = self.TYPES[kind][1]
        return f"{self.draw.choice(self.UNARY) if signed else '!'}{self.operand(kind, depth)}"

    def joined(self, parts):
        for k in range(len(parts) - 1):  # `x as T < y` does not parse
            if " as " in parts[k] and parts[k][-1] != ")" and parts[k + 1].startswith("<"):
                parts[k] = f"({parts[k]})"
        return " ".join(parts)

    def typed(self, kind, depth):
        """An operand that has a type of its own, as a method needs it."""
        names = [n for n, t in self.scope.items() if t == kind]
        return self.draw.choice(
            [*names, f"({self.value(kind, depth)} + {self.literal(kind, 0)[:1]}{kind})"]
        )

    def choice(self, kind, depth):
        a, b = self.value(kind, depth), self.value(kind, depth)
        text = f"if {self.truth(depth)} {{ {a} }} else {{ {b} }}"
        return f"({text})"

    def truth(self, depth):
        if self.likely(0.1):
            sign = self.draw.choice(("==", "!=", "&", "|", "^"))
            return f"(({super().truth(depth - 1)}) {sign} ({super().truth(depth - 1)}))"
        if self.likely(0.7) or depth <= 0:
            kind = self.kind()
            sign = self.draw.choice(self.COMPARED)
            a = self.value(kind, depth - 1)
            return f"{f'({a})' if ' as ' in a else a} {sign} {self.value(kind, depth - 1)}"
        return super().truth(depth)

    def cast(self, kind, depth):
        other = self.kind()
        text = f"{self.operand(other, depth)} as {kind}"
        return text if self.likely(0.3) and depth > 0 else f"({text})"

    def call(self, kind, depth):
        match self.draw.randrange(8):
            case 0 | 1 | 2:
                name = self.draw.choice(("min", "max", "div_euclid", "rem_euclid", "wrapping_rem"))
                return f"{self.typed(kind, depth)}.{name}({self.value(kind, depth)})"
            case 3:
                name = self.draw.choice(("wrapping_add", "wrapping_sub", "wrapping_mul", "wrapping_div",
                                         "saturating_sub", "wrapping_shl", "pow"))  # fmt: skip
                other = self.value("u32" if name in ("wrapping_shl", "pow") else kind, depth)
                return f"{self.typed(kind, depth)}.{name}({other})"
            case 4:
                return f"{kind}::{self.draw.choice(('MAX', 'MIN'))}"
            case 5:
                self.before.append(
                    f"const T{self.number}_{len(self.before)}: [{kind}; 3] = [1, 0x10, 7];"
                )
                return f"T{self.number}_{len(self.before) - 1}[{self.value('usize', depth)}]"
            case 6:
                helper = f"g{self.number}_{len(self.before)}"
                keep, self.scope = self.scope, {"a": kind, "b": kind}
                text = self.value(kind, depth)
                self.scope = keep
                self.before.append(f"fn {helper}(a: {kind}, b: {kind}) -> {kind} {{ {text} }}")
                return f"{helper}({self.value(kind, depth)}, {self.value(kind, depth)})"
        return self.brackets(kind, depth)

    def statement(self, name):
        kind = self.kind()
        said = f": {kind}" if self.likely(0.5) else ""
        first = self.value(kind, 2) if said else self.typed(kind, 1)
        match self.draw.randrange(4):
            case 0:
                lines = [f"let mut {name}{said} = {first};"]
                self.scope[name] = kind
                sign = self.draw.choice(("", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"))
                lines.append(f"if {self.truth(1)} {{ {name} {sign}= {self.value(kind, 1)}; }}")
                return lines
            case 1:
                lines = [f"if {self.truth(1)} {{ let {name}{said} = {first}; let x = {name}; }}"]
                return lines
            case 2:
                return ["let x = x;", f"let {name}{said} = {first};"][1:]
        self.scope[name] = kind
        return [f"let {name}{said} = {first};"]

    def written(self, params, result):
        lines = self.body(result)
        if self.likely(0.3):
            lines.append(f"if {self.truth(1)} {{ return {self.value(result, 1)}; }}")
        value = self.value(result, 3)
        if self.likely(0.2):
            lines.append(f"if {self.truth(1)} {{ {value} }} else {{ {self.value(result, 1)} }}")
        else:
            lines.append(value)
        given = ", ".join(f"{n}: {t}" for n, t in params.items())
        return f"fn {self.name}({given}) -> {result} {{\n    " + "\n    ".join(lines) + "\n}"

    @staticmethod
    def program(cases):
        lines = ["#![allow(warnings)]",
                 *(c.text for c in cases),
                 "fn p(f: impl FnOnce() -> i128 + std::panic::UnwindSafe) {",
                 '    match std::panic::catch_unwind(f) { Ok(v) => println!("{}", v), Err(_) => println!("trap") }',
                 "}",
                 "fn main() {", "    std::panic::set_hook(Box::new(|_| {}));"]  # fmt: skip
        for c in cases:
            rows = ", ".join(
                "(" + "".join(f"{v}{t}, " for v, t in zip(row, c.params, strict=True)) + ")"
                for row in c.rows
            )
            given = ", ".join(f"a.{k}" for k in range(len(c.params)))
            lines.append(f"    for a in [{rows}] {{ p(move || {c.name}({given}) as i128); }}")
        return "\n".join([*lines, "}", ""])

    @staticmethod
    def run(program, folder):
        (folder / "p.rs").write_text(program)
        return output(
            ["rustc", "-C", "overflow-checks=on", "-C", "opt-level=0", "-o", "p", "p.rs"],
            ["./p"],
            folder,
        )


class JavaScript(Writer):
    TYPES = {"number": (54, True), "bigint": (64, True)}
    OPERATORS = ["+", "-", "*", "%", "&", "|", "^", "<<", ">>", ">>>"]
    COMPARED = ["<", "<=", ">", ">=", "===", "!==", "==", "!="]
    MIXED = 0.01

    def literal(self, kind, number):
        text = hex(number) if self.likely(0.2) else str(number)
        text = f"0b{number:b}" if self.likely(0.01) else text
        return text + ("n" if kind == "bigint" else "")

    def truth(self, depth):
        if depth > 0 and self.likely(0.7):  # & | ^ bind less than comparisons
            kind = self.kind()
            a, b = (self.brackets(kind, depth - 1) for _ in range(2))
            return f"{a} {self.draw.choice(self.COMPARED)} {b}"
        return super().truth(depth)

    def cast(self, kind, depth):
        if kind == "bigint":
            return f"BigInt({self.value(self.kind(), depth)})"
        how = self.draw.choice(("Number({})", "({} >>> 0)", "({} | 0)", "({} | 0)"))
        other = self.kind() if how[0] == "N" else kind
        if how[0] == "(" and self.likely(0.4):
            return how.format(f"({self.value(kind, depth)}) / {self.operand(kind, depth)}")
        return how.format(self.brackets(other, depth))

    def call(self, kind, depth):
        how = self.draw.randrange(6)
        a, b = self.operand(kind, depth), self.operand(kind, depth)
        if how == 5:
            helper = f"g{self.number}_{len(self.before)}"
            keep, self.scope = self.scope, {"a": kind, "b": kind}
            tags = f"/**\n * @param {{{kind}}} a a\n * @param {{{kind}}} b b\n */"
            text = self.value(kind, depth)
            self.scope = keep
            self.before.append(f"{tags}\nfunction {helper}(a, b) {{ return {text}; }}")
            return f"{helper}({a}, {b})"
        if kind == "bigint":
            return f"({a} / {b})"
        return (
            f"Math.floor({a} / {b})", f"Math.trunc({a} / {b})", f"Math.min({a}, {b})",
            f"Math.max({a}, {b})", f"Math.abs({a})",
        )[how]  # fmt: skip

    def statement(self, name):
        kind = self.kind()
        if self.likely(0.5):
            lines = [f"const {name} = {self.value(kind, 2)};"]
            self.scope[name] = kind
            return lines
        lines = [f"let {name} = {self.value(kind, 2)};"]
        self.scope[name] = kind
        sign = self.draw.choice(("", "+", "-", "*", "%", "<<", ">>", "&", "|", "^", ">>>"))
        lines.append(f"if ({self.truth(1)}) {{ {name} {sign}= {self.value(kind, 1)}; }}")
        return lines

    def written(self, params, result):
        lines = self.body(result)
        if self.likely(0.3):
            lines.append(f"if ({self.truth(1)}) {{ return {self.value(result, 1)}; }}")
        lines.append(f"return {self.value(result, 3)};")
        tags = "\n".join(f" * @param {{{t}}} {n} {n}" for n, t in params.items())
        head = f"/**\n{tags}\n */\nexport function {self.name}({', '.join(params)}) {{"
        return head + "\n  " + "\n  ".join(lines) + "\n}"

    @staticmethod
    def program(cases):
        lines = [c.text for c in cases]
        lines.append("const p = (f, ...a) => { try { console.log(String(f(...a))); } "
                     "catch { console.log('trap'); } };")  # fmt: skip
        for c in cases:
            for row in c.rows:
                given = [
                    f"{v}n" if t == "bigint" else str(v) for v, t in zip(row, c.params, strict=True)
                ]
                lines.append(f"p({', '.join([c.name, *given])});")
        return "\n".join(lines) + "\n"

    @staticmethod
    def run(program, folder):
        (folder / "p.mjs").write_text(program)
        return output(None, ["node", "p.mjs"], folder)


class Julia(Writer):
    TYPES = {"Int32": (32, True), "Int64": (64, True), "UInt32": (32, False), "UInt64": (64, False)}
    OPERATORS = ["+", "-", "*", "÷", "%", "&", "|", "⊻", "<<", ">>"]
    MIXED = 0.1

    def literal(self, kind, number):
        if self.likely(0.2) or kind == "Int64":
            return self.draw.choice((str(number), str(number), hex(number), f"0b{number:b}")) \
                if self.likely(0.1) else str(number)  # fmt: skip
        number = min(number, RANGES[self.TYPES[kind]][1])
        return f"{kind}({number})"

    def truth(self, depth):
        text = super().truth(depth)
        if self.likely(0.15):  # what is compared in a chain
            other = super().truth(depth - 1)
            text = self.draw.choice((f"{text} == ({other})", f"({text}) == ({other}) != true",
                                     f"{text} < {self.operand('Int64', 0)}"))  # fmt: skip
        return text

    def cast(self, kind, depth):
        return f"{kind}({self.value(self.kind(), depth)})"

    def call(self, kind, depth):
        if self.likely(0.2):
            other = self.kind() if self.likely(0.2) else kind
            helper = f"g{self.number}_{len(self.before)}"
            keep, self.scope = self.scope, {"a": kind, "b": kind}
            text = self.value(kind, depth)
            self.scope = keep
            self.before.append(
                f"function {helper}(a::{kind}, b::{kind})::{other}\n    return {text}\nend"
            )
            if self.likely(0.3):
                self.before[-1] += f"\n{helper}(a::Integer, b::Integer) = 5"
            return f"{helper}({self.operand(kind, depth)}, {self.operand(kind, depth)})"
        name = self.draw.choice(("min", "max", "xor", "fld", "mod", "div", "rem"))
        return f"{name}({self.value(kind, depth)}, {self.value(kind, depth)})"

    def statement(self, name):
        kind = self.kind()
        lines = [f"{name} = {self.value(kind, 2)}"]
        self.scope[name] = kind
        if self.likely(0.3):
            lines.append(f"{name} = {self.value(self.kind(), 2)}")
        return lines

    def written(self, params, result):
        lines = [*self.body(result), f"return {self.value(result, 3)}"]
        given = ", ".join(f"{n}::{t}" for n, t in params.items())
        said = f"::{result}" if self.likely(0.8) else ""
        return f"function {self.name}({given}){said}\n    " + "\n    ".join(lines) + "\nend"

    @staticmethod
    def program(cases):
        lines = [c.text for c in cases]
        lines.append('p(f, a...) = try println(f(a...)) catch; println("trap") end')
        for c in cases:
            for row in c.rows:
                given = [f"{t}({v})" if v != -(2**63) else "typemin(Int64)"
                         for v, t in zip(row, c.params, strict=True)]  # fmt: skip
                lines.append(f"p({', '.join([c.name, *given])})")
        return "\n".join(lines) + "\n"

    @staticmethod
    def run(program, folder):
        (folder / "p.jl").write_text(program)
        return output(None, ["julia", "--compile=min", "-O0", "--startup-file=no", "p.jl"], folder)


class Fortran(Writer):
    TYPES = {"int32": (32, True), "int64": (64, True)}
    OPERATORS = ["+", "-", "*", "/"]
    COMPARED = ["<", "<=", ">", ">=", "==", "/=", ".lt.", ".eq.", ".GE."]
    JOINED = [".and.", ".or.", ".eqv.", ".neqv."]
    NOT = ".not. "
    MIXED = 0.08

    def literal(self, kind, number):
        number = min(number, RANGES[self.TYPES[kind]][1])
        return f"{number}_{kind}" if kind == "int64" or self.likely(0.7) else str(number)

    def joined(self, parts):  # no sign right after an operator
        return " ".join(
            f"({p})" if k and p[0] == "-" and len(p) > 1 else p for k, p in enumerate(parts)
        )

    def unary(self, kind, depth):
        if self.likely(0.3):
            return f"not({self.value(kind, depth)})"
        return f"-{self.operand(kind, depth).lstrip('-')}"

    def choice(self, kind, depth):
        if self.likely(0.5):
            return f"merge({self.same(kind, depth)}, {self.truth(depth)})"
        return self.brackets(kind, depth)

    def same(self, kind, depth):
        """Two arguments of one kind."""
        return f"int({self.value(kind, depth)}, {kind}), int({self.value(kind, depth)}, {kind})"

    def cast(self, kind, depth):
        return f"int({self.value(self.kind(), depth)}, {kind})"

    def call(self, kind, depth):
        match self.draw.randrange(5):
            case 0 | 1:
                name = self.draw.choice(("mod", "modulo", "min", "max", "iand", "ior", "ieor"))
                return f"{name}({self.same(kind, depth)})"
            case 2:
                name = self.draw.choice(("shiftl", "shifta", "shiftr", "shiftl", "shifta", "ishft"))
                return f"{name}({self.value(kind, depth)}, {self.small(kind)})"
            case 3:
                return f"abs({self.value(kind, depth)})"
        helper = f"g{self.number}_{len(self.before)}"
        keep, self.scope = self.scope, {"a": kind, "b": kind}
        text = self.value(kind, depth)
        self.scope = keep
        self.before.append(
            f"pure integer({kind}) function {helper}(a, b)\n  integer({kind}), intent(in) :: a, b\n"
            f"  {helper} = {text}\nend function {helper}")  # fmt: skip
        return f"{helper}({self.same(kind, depth)})"

    def written(self, params, result):
        names, lines = {}, []
        for k in range(self.draw.choice((0, 0, 1, 2))):
            name, kind = f"v{k}", self.kind()
            lines.append(f"  {self.draw.choice((name, name.upper()))} = {self.value(kind, 2)}")
            names[name] = self.scope[name] = kind
            if self.likely(0.4):
                lines += [f"  if ({self.truth(1)}) then", f"    {name} = {self.value(kind, 1)}"]
                lines += ["  else", f"    {name} = {self.value(kind, 1)}"] * self.likely(0.5)
                lines.append("  end if")
        lines.append(f"  {self.name} = {self.value(result, 3)}")
        head = [f"pure integer({result}) function {self.name}({', '.join(params)})"]
        head += [f"  integer({t}), intent(in) :: {n}" for n, t in params.items()]
        head += [f"  integer({t}) :: {n}" for n, t in names.items()]
        whole = [*head, *lines, f"end function {self.name}"]
        return "\n".join(folded for line in whole for folded in fold(line))

    @staticmethod
    def whole(cases):
        return "\n".join(["module m", "use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64",
                          "implicit none", "contains", *(c.text for c in cases), "end module m", ""])  # fmt: skip

    @staticmethod
    def program(cases):
        lines = [Fortran.whole(cases), "program p", "use m",
                 "use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64", "implicit none"]  # fmt: skip
        for c in cases:
            for row in c.rows:
                given = ", ".join(f"{v}_{t}" for v, t in zip(row, c.params, strict=True))
                lines.append(f"print '(i0)', {c.name}({given})")
        return "\n".join([*lines, "end program p", ""])

    @staticmethod
    def run(program, folder):
        (folder / "p.f90").write_text(program)
        flags = ["-w", "-O0", "-fno-range-check", "-ffree-line-length-none"]
        return output(["gfortran", *flags, "-o", "p", "p.f90"], ["./p"], folder)


def fold(line):
    """It in lines of at most 120 letters."""
    while len(line) > 120:
        at = line.rindex(" ", 0, 118)
        yield line[:at] + " &"
        line = "    " + line[at + 1 :]
    yield line


class Cpp(Writer):
    TYPES = {"int": (32, True), "long long": (64, True), "unsigned": (32, False),
             "unsigned long long": (64, False), "bool": (1, False)}  # fmt: skip
    MIXED = 0.1

    def kind(self):
        return self.draw.choice([t for t in self.TYPES if t != "bool"])

    def literal(self, kind, number):
        suffix = {"int": "", "unsigned": "u", "long long": "LL"}.get(kind, "ULL")
        return self.draw.choice((str(number), str(number), hex(number))) + suffix

    def unary(self, kind, depth):
        return f"{self.draw.choice('-~!+')}{self.operand(kind, depth).lstrip('-+')}"

    def cast(self, kind, depth):
        text = self.value(self.kind(), depth)
        return f"static_cast<{kind}>({text})" if self.likely(0.5) else f"({kind})({text})"

    def call(self, kind, depth):
        if self.likely(0.6):
            name = self.draw.choice(("min", "max"))
            return f"std::{name}<{kind}>({self.value(kind, depth)}, {self.value(kind, depth)})"
        helper = f"g{self.number}_{len(self.before)}"
        keep, self.scope = self.scope, {"a": kind, "b": kind}
        text = self.value(kind, depth)
        self.scope = keep
        self.before.append(f"{kind} {helper}({kind} a, {kind} b) {{ return {text}; }}")
        return f"{helper}({self.operand(kind, depth)}, {self.operand(kind, depth)})"

    def statement(self, name):
        kind = self.kind()
        lines = [f"{kind} {name} = {self.value(kind, 2)};"]
        self.scope[name] = kind
        if self.likely(0.5):
            sign = self.draw.choice(("", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"))
            lines.append(f"if ({self.truth(1)}) {{ {name} {sign}= {self.value(kind, 1)}; }}")
        return lines

    def written(self, params, result):
        lines = self.body(result)
        if self.likely(0.3):
            lines.append(f"if ({self.truth(1)}) {{ return {self.value(result, 1)}; }}")
        lines.append(f"return {self.value(result, 3)};")
        given = ", ".join(f"{t} {n}" for n, t in params.items())
        return f"{result} {self.name}({given}) {{\n    " + "\n    ".join(lines) + "\n}"

    @staticmethod
    def program(cases):
        lines = [
            "#include <algorithm>",
            "#include <iostream>",
            *(c.text for c in cases),
            "int main() {",
        ]
        for c in cases:
            for row in c.rows:
                given = [f"({t})({v % 2**64}ULL)" for v, t in zip(row, c.params, strict=True)]
                lines.append(f"std::cout << +{c.name}({', '.join(given)}) << '\\n';")
        return "\n".join([*lines, "}", ""])

    @staticmethod
    def run(program, folder):
        (folder / "p.cpp").write_text(program)
        flags = ["-std=c++17", "-w", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
        return output(["g++", *flags, "-o", "p", "p.cpp"], ["./p"], folder)


class TypedRust(Rust):
    TYPES = {"i8": (8, True), "i16": (16, True), "u8": (8, False), "u16": (16, False),
             "i32": (32, True), "u32": (32, False), "usize": (64, False)}  # fmt: skip

    def written(self, params, result):
        """A parameter may be hidden by what it is converted to."""
        name, kind = self.draw.choice(list(params)), self.kind()
        self.scope[name] = kind
        head, _, rest = super().written(params, result).partition("\n")
        return f"{head}\n    let {name} = {name} as {kind};\n{rest}"


class TypedFortran(Fortran):
    TYPES = {"int8": (8, True), "int16": (16, True), "int32": (32, True), "int64": (64, True)}

    def literal(self, kind, number):
        number = min(number, RANGES[self.TYPES[kind]][1])
        return str(number) if kind == "int32" and self.likely(0.3) else f"{number}_{kind}"


class TypedCpp(Cpp):
    TYPES = {"signed char": (8, True), "short": (16, True), "unsigned char": (8, False),
             "unsigned short": (16, False), "int": (32, True), "unsigned": (32, False),
             "long long": (64, True), "bool": (1, False)}  # fmt: skip

    def kind(self):
        return self.draw.choice(list(self.TYPES))

    def literal(self, kind, number):
        if kind == "bool" and self.likely(0.5):
            return self.draw.choice(("true", "false"))
        return f"{number}{'LL' if kind == 'long long' or number > 2**31 - 1 else ''}"

    def cast(self, kind, depth):
        return f"static_cast<{kind}>({self.value(self.kind(), depth)})"


TYPED = {"rust": TypedRust, "fortran": TypedFortran, "cpp": TypedCpp}  # with narrow types
WRITERS = {
    "rust": Rust, "javascript": JavaScript, "julia": Julia, "fortran": Fortran, "cpp": Cpp,
}  # fmt: skip


def output(compiled, command, folder):
    """The lines that a program prints; None where it is none of the language (compiled: how that is
    found out before it runs)."""
    if compiled and subprocess.run(compiled, cwd=folder, capture_output=True).returncode:
        return None
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout.splitlines() if compiled or not done.returncode else None
