"""One case judged: values, ranges, signs, widths, the header, its extremes, the explanation.

Nothing here is shared with the simplifier: values come from the reference on integers, and the
emitted nodes are evaluated by machine.py.
"""

import random
import re
import signal
import time
import traceback
import zlib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from math import isqrt, prod
from typing import Any

from lego_emit import LegoError
from lego_emit.algebra.block import Block

# The only internals: the IR of what is emitted.
from lego_emit.errors import InternalError, TraceError

from . import told
from .machine import Machine, Wrong
from .points import Relations, known_of

EAGER = {"fortran"}  # languages that compute both branches
SECONDS = 1.0  # of CPU that one case may take
PATIENCE = 3  # times that, after which it is stopped
ROUNDS = r"\b([4-9]|[1-4]\d)\b"  # a number that a loop's `most` can leave in a header
SMALL = 2**16  # a value of a user's point below which no header may exclude it


@dataclass(frozen=True)
class Finding:
    """What is wrong with a case. kind: one word or two; text: where and how."""

    kind: str
    text: str

    @property
    def key(self):
        """Equal for findings that look like one fault."""
        text = ""
        if self.kind in ("crash", "refusal", "check", "explain"):
            text = self.text
        elif self.kind in ("header", "evaluate", "result"):
            text = self.text.partition("): ")[2]
        if self.kind == "result":
            text = "not defined" if "not defined" in text else ""
        text = re.sub(r"[^\W\d]\w*(?=[^'\w]*[<>=%*+/-])|\d+", "#", text)
        return f"{self.kind} {' '.join(text.split())[:60]}".strip()


@dataclass
class Verdict:
    """What came out of one case."""

    findings: list = field(default_factory=list)
    points: int = 0
    refusal: str = ""  # its class and the beginning of its message
    seconds: float = 0.0  # of CPU in lego_emit's first generate()
    notes: Counter = field(default_factory=Counter)
    source: str = ""
    # (function, arguments, results) for toolchains; a result is None where it is masked
    expected: list = field(default_factory=list)
    program: Any = None  # what was lowered, for other languages

    def add(self, kind, text):
        if len(self.findings) < 8:
            self.findings.append(Finding(kind, text))


class Watched(int):
    """An integer that keeps the least value on the way to what is computed of it."""

    least = 0


def _watching(operation):
    def watched(*values):
        result = operation(*values)
        if type(result) is not int:
            return result
        Watched.least = min(Watched.least, result)
        return Watched(result)

    return watched


for _name in "add sub mul floordiv mod lshift rshift and or xor".split():
    for _full in (f"__{_name}__", f"__r{_name}__"):
        setattr(Watched, _full, _watching(getattr(int, _full)))
Watched.__neg__ = _watching(int.__neg__)


class OutOfTime(BaseException):
    """The alarm; no Exception, so that nobody takes it for one of theirs."""


@contextmanager
def alarm(seconds):
    """OutOfTime after so much CPU time."""

    def ring(_, frame):
        while frame is not None:  # what a __del__ leaves half done can end the process later
            if frame.f_code.co_name == "__del__":
                return  # the timer rings again
            frame = frame.f_back
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# -- the judge -----------------------------------------------------------------------------------


def judge(case, count=60, deep=True, keep=False, seconds=SECONDS):
    """The verdict on a case. count: points looked at, about, in each way of choosing them and each
    function; deep: the explanation, check() and the bytes a second time, too; keep: expected values
    for toolchains; seconds: of CPU that generate() may take."""
    verdict = Verdict()
    try:
        with alarm(4 * PATIENCE * seconds):
            _judge(case, verdict, count, deep, keep, seconds)
    except OutOfTime:
        verdict.add("judge", f"not judged in {4 * PATIENCE * seconds:g} s")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        verdict.add("judge", f"{_prefix(error)} in {where.name}, line {where.lineno}")
    return verdict


def expected_of(expected, place, function):
    """[(arguments, results)] of the function at a place of a unit in any index type."""
    return [
        (arguments, tuple(m if v is None else v for v, m in zip(row, function.masked, strict=True)))
        for of, arguments, row in expected
        if of == place
    ]


def _judge(case, verdict, count, deep, keep, seconds):
    begun, patience = time.process_time(), PATIENCE * seconds
    try:
        subject = case.subject()
    except LegoError as error:
        verdict.refusal = _prefix(error)
        _refused(case, error, verdict)
        return
    unit = _generated(case, subject, verdict, patience)
    verdict.seconds = time.process_time() - begun
    if verdict.seconds > seconds:
        verdict.add("slow", f"generate() took {verdict.seconds:.1f} s of CPU")
    if (deep or verdict.refusal) and not verdict.findings:
        first = verdict.refusal or (unit and unit.source)
        again = Verdict()
        other = _generated(case, subject, again, patience)
        second = again.refusal or (other and other.source)
        if again.findings:
            verdict.findings += again.findings
        elif first != second:
            verdict.add("twice", f"first\n{first}\nthen\n{second}")
    if unit is None:
        return
    verdict.source = unit.source
    verdict.program = unit.lowered if keep else None
    if case.refused not in ("", "?"):
        verdict.add("refusal", f"{case.refused} was wanted, and it was emitted")
    if case.promise and unit.functions[0].result_range != case.promise:
        verdict.add("promise", f"{unit.functions[0].result_range!r}, not {case.promise!r}")
    rng = random.Random(zlib.crc32(case.toml().encode()))
    for k, function in enumerate(unit.functions):
        _Function(case, verdict, unit, k, function, rng, keep).judge(count)
    if deep:
        _check(case, verdict, subject, patience)
        try:
            with alarm(2 * patience):
                told.judge(case, verdict, unit, rng)
        except OutOfTime:
            verdict.add("endless", f"explain() was stopped after {2 * patience:g} s of CPU")


def _generated(case, subject, verdict, patience):
    """The unit, or None where it was refused or is a finding."""
    try:
        with alarm(patience):
            return case.generate(subject)
    except OutOfTime:
        verdict.add("endless", f"generate() was stopped after {patience:g} s of CPU")
    except InternalError as error:
        verdict.add("crash", _prefix(error))
    except LegoError as error:
        verdict.refusal = _prefix(error)
        _refused(case, error, verdict)
    except MemoryError:
        verdict.add("memory", "generate() ran out of memory")
    except RecursionError:
        verdict.add("crash", "RecursionError")
    except Exception as error:
        verdict.add("crash", _prefix(error))
    return None


FOREIGN = (
    "RecursionError", "calls itself without end", "TypeError", "AttributeError", "KeyError",
    "IndexError", "NameError", "ValueError", "AssertionError", "MemoryError",
)  # fmt: skip


def _refused(case, error, verdict):
    """Whether a refusal may be one."""
    name = type(error).__name__
    text = str(error)
    if "failed on symbols" in text and any(f in text for f in FOREIGN):
        verdict.add("crash", _prefix(error))
    elif "calls itself without end" in text:
        verdict.add("crash", _prefix(error))
    elif case.refused == "" and name != "WidthError":
        verdict.add("refusal", _prefix(error))
    elif case.refused not in ("", "?") and name != case.refused:
        verdict.add("refusal", f"{case.refused} was wanted, and it was {_prefix(error)}")


def _prefix(error):
    text = re.sub(r"Node\(.*\)", "..", " ".join(str(error).split()))
    return f"{type(error).__name__}: {text[:160]}"


class _Function:
    """One emitted function of a case."""

    def __init__(self, case, verdict, unit, place, function, rng, keep):
        self.case, self.verdict, self.unit, self.rng, self.keep = case, verdict, unit, rng, keep
        self.place, self.function = place, function
        self.machine = Machine(function, unit.printer.name in EAGER)
        self.renamed = dict(function.renamed)
        self.user = {new: old for old, new in function.renamed}
        self.names = [p.name for p in function.params]
        self.fixed = dict(case.sizes)  # an assumption may name them
        ranges = [p.range_text for p in function.params]
        self.header = Relations(
            [*ranges, *function.assumptions],
            self.names,
            self.machine.least,
            self.machine.most,
            known_of(case, function),
        )
        self.role = next(
            (r for r in ("apply", "inv") if function.name.endswith(f"f_{r}")), "function"
        )
        self.axes = {name: f"axis{k}" for k, (name, _) in enumerate(function.axes)}
        # A layout's own indices are the last parameters, the position of inv the last one.
        self.blocks = {}

    def judge(self, count):
        if self.header.strange:
            strange = ", ".join(self.header.strange)
            self.verdict.add("names", f"{self.function.name}'s header speaks of {strange}")
            return
        tried = Counter()
        for found, inside in self.points(count):
            values = {n: found[n] for n in self.names}
            tried[inside] += 1
            if tried[inside] > 3 * count:
                continue
            self.verdict.points += 1
            wrong = self.look(values, inside)
            if wrong is not None:
                kind, text = wrong
                shown = ", ".join(f"{n}={v}" for n, v in values.items())
                self.verdict.add(kind, f"{self.function.name}({shown}): {text}")
                return
        for inside, number in tried.items():
            self.verdict.notes[f"points {inside}"] += number
        if not tried:
            self.verdict.notes["no points found"] += 1

    # -- one point -------------------------------------------------------------------------------

    def look(self, values, inside):
        """(kind, text) of what is wrong at one argument tuple, or None."""
        admitted = self.header.hold(values)
        if not admitted and inside != "user":
            return None
        if not all(self.machine.least <= v <= self.machine.most for v in values.values()):
            return None  # no argument of this type
        try:
            want = self.want(values)
        except LegoError as error:
            if inside == "user":
                self.verdict.notes["user's point refused by the reference"] += 1
                return None
            want = error
        except (ArithmeticError, ValueError, MemoryError) as error:
            want = error
        if isinstance(want, ArithmeticError | ValueError | MemoryError) and not isinstance(
            want, LegoError
        ):
            self.verdict.notes["undefined in the reference"] += 1
            if not admitted:
                return None
        elif isinstance(want, LegoError):
            if "isqrt" in str(want) or "raised ZeroDivisionError" in str(want):
                want = None
            elif self.header.opaque and "which no type holds" in str(want):
                return None  # a value on the way does not fit
            else:
                return "header", f"it is admitted, and the reference says {_prefix(want)}"
        elif not admitted:
            broken = self.header.broken(values)
            if re.search(r"<= 2\*\*\d+ - 1$", broken):
                self.verdict.notes["small points excluded by a width"] += 1
            elif all(abs(v) < SMALL for v in (*values.values(), *want.values())):
                if self.excused(broken, values):
                    return None
                return "header", f"it is excluded by {broken!r}"
            return None
        exact = isinstance(want, dict)
        try:
            got = self.machine.run(values)
        except Wrong as wrong:
            if wrong.kind == "overflow" and self.header.opaque:
                return None  # "every intermediate value fits"
            return wrong.kind, str(wrong)
        if not exact:
            return None
        if got != want:
            return "value", f"{_plain(got)}, and the reference says {_plain(want)}"
        try:
            same = self.function.evaluate(values)
        except ArithmeticError as error:
            return "evaluate", f"Function.evaluate raises {_prefix(error)}"
        if same != got:
            return "evaluate", f"Function.evaluate gives {_plain(same)}, not {_plain(got)}"
        promised = self.function.result_range
        if promised:
            space = {**values, **got, "result_": next(iter(got.values()))}
            text = promised.replace("the result", "result_")
            try:
                kept = all(eval(f"({text},)", {"isqrt": isqrt}, space))
            except NameError as error:
                return "result", f"{error}: {promised!r}"
            if not kept:
                return "result", f"{_plain(got)} is not in {promised!r}"
        if self.keep and len(self.verdict.expected) < 400:
            arguments = tuple(values[n] for n in self.names)
            shared = zip(got.values(), self.function.masked, strict=True)
            of_layout = self.role != "function"
            results = tuple(None if of_layout and v == m else v for v, m in shared)
            self.verdict.expected.append((self.place, arguments, results))
        return None

    def excused(self, broken, values):
        """Whether a header may exclude what the user's text is defined for: a value on the way that
        is negative, where the type has no negative ones."""
        if self.case.family == "loop" and re.search(ROUNDS, broken):
            self.verdict.notes["points excluded by a loop's most, maybe one of no round"] += 1
            return True
        if self.case.family == "loop" and self.machine.least == 0:
            return True  # no header speaks of what a loop gives: it excludes more
        if self.machine.least != 0 or broken.endswith(">= 0"):
            return self.machine.least == 0
        Watched.least = 0
        self.want({name: Watched(value) for name, value in values.items()})
        if Watched.least < 0:
            return True
        try:
            Machine(self.function, eager=True).run(values)
        except Wrong:  # in a branch that is not taken, too
            return True
        return False

    def want(self, values):
        """What the reference gives, by the outputs' names; its indices count from 0."""
        case = self.case
        base = case.start if self.role == "function" else case.base
        given = {self.user.get(n, n): v for n, v in values.items()}
        if self.role == "function":
            for name in case.indices:
                if name in given:
                    given[name] -= base
            for name, axis in self.axes.items():
                given[axis] = given.pop(self.user.get(name, name)) - base
            result = case.reference(given)
            if isinstance(result, dict):
                found = list(result.values())
            else:
                found = list(result) if isinstance(result, (tuple, list)) else [result]
        else:
            count = len(self.layout_indices())
            own = self.names[len(self.names) - count :]
            sizes = {n: v for n, v in given.items() if n not in {self.user.get(o, o) for o in own}}
            block = self.block(sizes)
            index = [values[n] - base for n in own]
            found = block.apply(*index) if self.role == "apply" else block.inv(*index)
            found = list(found) if isinstance(found, tuple) else [found]
        names = [name for name, _ in self.function.outputs]
        return {name: self.called(int(v) + base) for name, v in zip(names, found, strict=True)}

    def called(self, value):
        """What a function of a layout gives for a value: the greatest number stands for what is masked
        where the type has no -1."""
        masked = self.role != "function" and value < 0 == self.machine.least
        return self.machine.most if masked else value

    def layout_indices(self):
        """The parameters of NAME_apply that are indices, by the IR's own mark."""
        return [p.name for p in self.function.params if p.axis]

    def block(self, sizes):
        key = tuple(sizes.items())
        if key not in self.blocks:
            self.blocks[key] = self.case.reference(sizes)
        return self.blocks[key]

    # -- points ----------------------------------------------------------------------------------

    def points(self, count):
        """(values, "user") of points that the user means, (.., "header") of points that the header
        admits, (.., "extreme") of such as go as far as it lets them."""
        for given in self.case.points:
            values = self.emitted(given)
            if values.keys() >= set(self.names):
                yield {n: values[n] for n in self.names}, "user"
        yield from self.users(count)
        for _ in range(count // 2):
            values = self.header.draw(self.rng)
            if values is not None:
                yield values, "header"
        for _ in range(count // 2):
            values = self.header.draw(self.rng, far=True)
            if values is not None:
                yield values, "extreme"

    def emitted(self, given):
        """A user's numbers by the emitted names, counted from base."""
        counted = set(self.case.indices) | {a for a in self.axes.values()}
        back = {axis: name for name, axis in self.axes.items()}
        return {
            self.renamed.get(back.get(n, n), back.get(n, n)): v + self.case.start * (n in counted)
            for n, v in given.items()
            if n not in self.case.sizes
        }

    def users(self, count):
        case = self.case
        if self.role == "function":
            own = [self.user.get(n, n) for n in self.names]
            own = [self.axes.get(n, n) for n in own]
            relations = Relations(
                [*case.domain, *case.assume], [*own, *case.sizes], -(2**62), 2**62
            )
            for _ in range(count):
                given = relations.draw(self.rng, case.sizes)
                if given is not None:
                    yield self.emitted(given), "user"
            return
        names = dict.fromkeys(case.sizes)
        count_own = len(self.layout_indices())
        names.update((self.user.get(n, n), None) for n in self.names[: len(self.names) - count_own])
        relations = Relations([*case.domain, *case.assume], list(names), -(2**62), 2**62)
        for _ in range(4 if names else 1):
            given = relations.draw(self.rng, case.sizes)
            if given is None:
                continue
            sizes = {n: v for n, v in given.items() if n not in case.sizes}
            try:
                block = self.block(sizes)
            except LegoError:
                self.verdict.notes["user's sizes refused by the reference"] += 1
                continue
            whole = [block.physical_size] if block.results is None else block.physical_dims
            dims = block.dims if self.role == "apply" else whole
            own = self.names[len(self.names) - count_own :]
            there = {self.renamed.get(n, n): v for n, v in sizes.items()}
            for index in self.indices(dims, count if not names else count // 2):
                shifted = (i + case.base for i in index)
                yield {**there, **dict(zip(own, shifted, strict=True))}, "user"

    def indices(self, dims, count):
        if prod(dims) <= count:
            yield from product(*map(range, dims))
            return
        for _ in range(count):
            yield tuple(
                self.rng.choice([0, n - 1, self.rng.randrange(n), self.rng.randrange(n)])
                for n in dims
            )


def _plain(values):
    return next(iter(values.values())) if len(values) == 1 else values


# -- check() -------------------------------------------------------------------------------------


def _check(case, verdict, subject, patience):
    """layout.check() where the case is a layout, or gives one."""
    if not isinstance(subject, Block):
        return
    sizes = {}
    if not subject.is_concrete:
        names = re.search(r"symbols\('([^']*)'\)", case.text).group(1).split()
        drawn = Relations([*case.domain, *case.assume], names, 1, 64).draw(random.Random(1))
        if drawn is None:
            return
        sizes = {n: drawn[n] for n in names}
    try:
        block = case.reference(sizes)
        if block.size > 4096:
            return
        with alarm(patience):
            said = subject.check(**sizes)
    except TraceError:
        verdict.notes["check() of functions that hold symbols"] += 1
        return
    except LegoError as error:
        verdict.add("check", _prefix(error))
        return
    except OutOfTime:
        verdict.add("endless", "check() was stopped")
        return
    if not isinstance(said, str) or not said:
        verdict.add("check", f"it says {said!r}")
