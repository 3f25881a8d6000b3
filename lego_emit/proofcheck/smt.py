"""Proofs by solvers: Z3, and the same question to a second one where it is installed.

A question is a text in SMT-LIB 2, whose answer is "unsat" where the goal follows: over the integers,
or, where bits are joined and all is bounded, over bit-vectors so wide that nothing wraps. All limits
count a solver's own steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..errors import LegoError
from ..packages import z3
from .exhaustive import bounds, parts
from .terms import Term

STEPS = 200_000  # of Z3; an easy question takes some thousands
STEPS_OF_CVC5 = 30_000
CALLS_OF_BITWUZLA = 20_000  # of its terminator
TABLE = 64  # entries of a table that is written out
WIDEST = 256  # bits


class DisagreementError(LegoError):
    """Two solvers gave contrary answers."""


class NotExpressible(Exception):
    """Something has no form in SMT-LIB 2."""


def prove(goal: Term, given: Sequence[Term]) -> str | None:
    """By which solvers a goal was shown to hold, and to have a value, wherever the given conditions do;
    None where it was not. Raises DisagreementError where the solvers contradict each other."""
    try:
        query = to_smt2(goal, given)
    except (NotExpressible, RecursionError):
        return None
    first = _z3(query)
    if first == "sat":
        return None
    name, ask = ("cvc5", _cvc5) if "QF_BV" not in query else ("bitwuzla", _bitwuzla)
    second = ask(query)
    if first == "unsat" and second == "sat":
        raise DisagreementError(f"Z3 says that this holds, and {name} that it does not:\n{query}")
    found = [s for s, answer in (("Z3", first), (name, second)) if answer == "unsat"]
    if not found:
        return None
    return " and ".join(found) if len(found) > 1 else f"{found[0]} alone"


def to_smt2(goal: Term, given: Sequence[Term]) -> str:
    """The question whether a goal can fail, as a text: the same bytes everywhere. Raises NotExpressible."""
    try:
        return _Writer(None).query(goal, given)
    except NotExpressible:
        names = sorted(goal.names().union(*(g.names() for g in given)))
        ranges = bounds(names, given)
        if ranges is None:
            raise
        return _Writer({n: (r.start, r.stop - 1) for n, r in ranges.items()}).query(goal, given)


COMPARED = {"lt": ("<", "bvslt"), "le": ("<=", "bvsle"), "eq": ("=", "=")}
COUNTED = {"add": ("+", "bvadd"), "sub": ("-", "bvsub"), "mul": ("*", "bvmul")}


class _Writer:
    """Each term once, under a name. ranges: of the variables, for bit-vectors; None for integers."""

    def __init__(self, ranges: Mapping[str, tuple[int, int]] | None):
        self.ranges = ranges
        self.lines: list[str] = []
        self.named: dict[Term, str] = {}
        self.ends: dict[Term, tuple[int, int]] = {}
        self.names: dict[str, str] = {}
        self.width = 0

    def query(self, goal: Term, given: Sequence[Term]) -> str:
        """The text of the query, unsatisfiable if the goal is defined and holds wherever all that is given does."""
        known = [part for g in given for part in parts(g)]
        if self.ranges is not None:
            known = [part for part in known if self._bounded(part)]
            if not self._bounded(goal):
                raise NotExpressible
            reach = [e for ends in self.ends.values() for e in ends]
            reach += list(self._range(n)[k] for n in goal.names() for k in (0, 1))
            self.width = max(v.bit_length() for v in reach) + 2
            if self.width > WIDEST:
                raise NotExpressible
        for part in known:
            start = len(self.lines), dict(self.named)
            try:
                self.lines.append(f"(assert {self.said(part)})")
            except NotExpressible:  # less is given
                del self.lines[start[0] :]
                self.named = start[1]
        wanted = self.said(goal)
        defined = " ".join(dict.fromkeys(self._defined(goal)))
        self.lines.append(f"(assert (not (and {wanted} {defined})))")
        sort = f"(_ BitVec {self.width})" if self.width else "Int"
        head = [f"(set-logic {'QF_BV' if self.width else 'ALL'})"]
        head += [f"(declare-const {name} {sort})" for name in self.names.values()]
        return "\n".join([*head, *self.lines, "(check-sat)"]) + "\n"

    def _range(self, name: str) -> tuple[int, int]:
        assert self.ranges is not None
        return self.ranges[name]

    def said(self, term: Term) -> str:
        """The name of a term, or what it is."""
        found = self.named.get(term)
        if found is None:
            text = self._said(term)
            if term.op in ("const", "var", "true", "false"):
                return text
            found = self.named[term] = f"t{len(self.named)}"
            sort = f"(_ BitVec {self.width})" if self.width else "Int"
            kind = "Bool" if term.is_truth else sort
            self.lines.append(f"(define-fun {found} () {kind} {text})")
        return found

    def _number(self, value: int) -> str:
        if self.width:
            return f"(_ bv{value % 2**self.width} {self.width})"
        return str(value) if value >= 0 else f"(- {-value})"

    def _said(self, term: Term) -> str:
        match term.op:
            case "const":
                return self._number(term.args[0])
            case "var":
                return self.names.setdefault(term.args[0], f"v{len(self.names)}")
            case "true" | "false":
                return term.op
            case "lookup":
                entries = term.args[1:]
                if len(entries) > TABLE:
                    raise NotExpressible
                place = self.said(term.args[0])
                text = self.said(entries[-1])
                for k in range(len(entries) - 2, -1, -1):
                    text = f"(ite (= {place} {self._number(k)}) {self.said(entries[k])} {text})"
                return text
        args = [self.said(a) for a in term.args]
        joined = " ".join(args)
        bits = bool(self.width)
        match term.op:
            case "lt" | "le" | "eq":
                return f"({COMPARED[term.op][bits]} {joined})"
            case "ne":
                return f"(not (= {joined}))"
            case "land" | "lor" | "lnot":
                return f"({term.op[1:]} {joined})"
            case "select":
                return f"(ite {joined})"
            case "add" | "sub" | "mul":
                return f"({COUNTED[term.op][bits]} {joined})"
            case "fdiv" | "fmod" | "tdiv" | "tmod":
                return (self._divided_bits if bits else self._divided)(term, *args)
        if bits:
            return self._bits(term, args)
        return self._counted_bits(term, args)

    def _divided(self, term: Term, a: str, d: str) -> str:
        # div rounds such that what is left is never negative: down for d > 0, up for d < 0.
        if term.op in ("fdiv", "fmod"):
            n = term.args[1].constant
            q = f"(div {a} {d})"
            if n is None or n <= 0:
                q = f"(ite (> {d} 0) {q} (div (- {a}) (- {d})))"
        else:
            q = f"(ite (>= {a} 0) (div {a} {d}) (- (div (- {a}) {d})))"
        return q if term.op in ("fdiv", "tdiv") else f"(- {a} (* {d} {q}))"

    def _counted_bits(self, term: Term, args: Sequence[str]) -> str:
        """Bits as digits in base 2, where one side is a number."""
        if term.op == "not":
            return f"(- (- {args[0]}) 1)"
        if term.op == "isqrt":
            root = f"r{len(self.lines)}"
            self.lines.append(f"(declare-const {root} Int)")
            n = args[0]
            self.lines.append(
                f"(assert (=> (>= {n} 0) (and (>= {root} 0) (<= (* {root} {root}) {n}) "
                f"(< {n} (* (+ {root} 1) (+ {root} 1))))))"
            )
            return root
        n = term.args[1].constant
        if term.op in ("shl", "shr") and n is not None and 0 <= n < 1024:
            return f"({'*' if term.op == 'shl' else 'div'} {args[0]} {2**n})"
        mask, text = n, args[0]
        if mask is None:
            mask, text = term.args[0].constant, args[1]
        if term.op != "and" or mask is None or mask < 0:
            raise NotExpressible
        found = ["0"]
        place = 0
        while mask >> place:
            end = place
            while mask >> end & 1:
                end += 1
            if end > place:
                digit = f"(mod (div {text} {2**place}) {2 ** (end - place)})"
                found.append(f"(* {2**place} {digit})")
            place = max(end, place + 1)
        return f"(+ {' '.join(found)} 0)"

    def _divided_bits(self, term: Term, a: str, d: str) -> str:
        match term.op:
            case "fmod":
                return f"(bvsmod {a} {d})"
            case "tmod":
                return f"(bvsrem {a} {d})"
            case "tdiv":
                return f"(bvsdiv {a} {d})"
        if self.ends[term.args[0]][0] >= 0:
            return f"(bvudiv {a} {d})"
        return f"(bvsdiv (bvsub {a} (bvsmod {a} {d})) {d})"

    def _bits(self, term: Term, args: Sequence[str]) -> str:
        words = {
            "and": "bvand",
            "or": "bvor",
            "xor": "bvxor",
            "not": "bvnot",
            "shl": "bvshl",
            "shr": "bvashr",
        }
        if term.op not in words:
            raise NotExpressible
        return f"({words[term.op]} {' '.join(args)})"

    def _defined(self, goal: Term) -> list[str]:
        """That each operation of the goal that is evaluated has a value."""
        found = ["true"]
        seen: set[tuple[Term, tuple[str, ...]]] = set()

        def visit(term: Term, path: tuple[str, ...]) -> None:
            if (term, path) in seen or not any(isinstance(a, Term) for a in term.args):
                return
            seen.add((term, path))
            wanted = self._wanted(term)
            if wanted is not None:
                found.append(f"(=> (and true {' '.join(path)}) {wanted})" if path else wanted)
            first = term.args[0]
            for k, arg in enumerate(term.args):
                inside = path
                if k and term.op in ("select", "land", "lor"):
                    holds = term.op == "land" or (term.op == "select" and k == 1)
                    condition = self.said(first)
                    inside = (*path, condition if holds else f"(not {condition})")
                visit(arg, inside)

        visit(goal, ())
        return found

    def _wanted(self, term: Term) -> str | None:
        at_least = COMPARED["le"][bool(self.width)]
        if term.op in ("fdiv", "fmod", "tdiv", "tmod"):
            n = term.args[1].constant
            if n is None or n <= 0:
                return f"({at_least} {self._number(1)} {self.said(term.args[1])})"
        elif term.op == "isqrt":
            return f"({at_least} {self._number(0)} {self.said(term.args[0])})"
        elif term.op in ("shl", "shr"):
            n = term.args[1].constant
            if n is None or n < 0:
                return f"({at_least} {self._number(0)} {self.said(term.args[1])})"
        elif term.op == "lookup":
            place, last = self.said(term.args[0]), self._number(len(term.args) - 2)
            return f"(and ({at_least} {self._number(0)} {place}) ({at_least} {place} {last}))"
        return None

    # -- the ends of all that is computed, so that bit-vectors are wide enough -----------------------

    def _bounded(self, term: Term) -> bool:
        """Whether all in it has ends."""
        try:
            for part in term.walk():
                if not part.is_truth:
                    self.ends[part] = self._ends_of(part)
        except NotExpressible:
            return False
        return True

    def _ends_of(self, term: Term) -> tuple[int, int]:
        if term.op == "const":
            return term.args[0], term.args[0]
        if term.op == "var":
            return self._range(term.args[0])
        args = [self.ends[a] for a in term.args if not a.is_truth]
        if term.op in ("select", "lookup"):
            chosen = args if term.op == "select" else args[1:]
            return min(lo for lo, _ in chosen), max(hi for _, hi in chosen)
        lo, hi = args[0]
        match term.op:
            case "add":
                return lo + args[1][0], hi + args[1][1]
            case "sub":
                return lo - args[1][1], hi - args[1][0]
            case "mul" | "fdiv" | "tdiv" | "shl" | "shr":
                low, high = args[1]
                if (term.op != "mul" and low < 0) or (term.op[1:] == "div" and low < 1):
                    raise NotExpressible
                if term.op in ("shl", "shr") and high > WIDEST:
                    raise NotExpressible
                value: Callable[[int, int], int] = {
                    "mul": lambda a, b: a * b, "fdiv": lambda a, b: a // b,
                    "tdiv": lambda a, b: a // b, "shl": lambda a, b: a << b,
                    "shr": lambda a, b: a >> b,
                }[term.op]  # fmt: skip
                ends = [value(a, b) for a in (lo, hi) for b in (low, high)]
                return min(ends), max(ends) + (term.op == "tdiv")
            case "fmod" | "tmod":
                low, high = args[1]
                if low < 1:
                    raise NotExpressible
                return (0 if term.op == "fmod" or lo >= 0 else 1 - high), high - 1
            case "and" | "or" | "xor" | "not":
                most = max(max(abs(a), abs(b)) for a, b in args).bit_length()
                return -(2**most), 2**most
        raise NotExpressible


# -- solvers -------------------------------------------------------------------------------------


def _z3(query: str) -> str:
    context = z3.Context()  # in a shared one the answer depends on what was asked before
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", STEPS)
    try:
        solver.from_string(query)
        return str(solver.check())
    except z3.Z3Exception:
        return "unknown"


def _cvc5(query: str) -> str:
    try:
        cvc5: Any = import_module("cvc5")
    except ImportError:
        return "missing"
    solver = cvc5.Solver()
    solver.setOption("rlimit-per", str(STEPS_OF_CVC5))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query, "query")
    answer = "unknown"
    try:
        while not (command := parser.nextCommand()).isNull():
            said = command.invoke(solver, parser.getSymbolManager()).strip()
            answer = said if said in ("sat", "unsat") else answer
    except RuntimeError:  # what it does not take
        return "unknown"
    return answer


def _bitwuzla(query: str) -> str:
    try:
        bitwuzla: Any = import_module("bitwuzla")
    except ImportError:
        return "missing"
    calls = 0

    def enough() -> bool:
        nonlocal calls
        calls += 1
        return calls > CALLS_OF_BITWUZLA

    terms, options = bitwuzla.TermManager(), bitwuzla.Options()  # kept: the parser refers to them
    parser = bitwuzla.Parser(terms, options)
    try:
        parser.parse(query.replace("(check-sat)\n", ""), False, False)
    except bitwuzla.BitwuzlaException:  # what it does not take
        return "unknown"
    solver = parser.bitwuzla()
    solver.configure_terminator(enough)
    answer = solver.check_sat()
    return {bitwuzla.Result.SAT: "sat", bitwuzla.Result.UNSAT: "unsat"}.get(answer, "unknown")
