"""Cases' units through the real toolchains, in batches, compared with what the judge expects."""

import random
import re
import shutil
from collections import Counter

import numpy as np

from lego_emit import LegoError
from lego_emit.errors import InternalError, VerifyError
from lego_emit.ir.index_types import INT64
from lego_emit.run import registry
from lego_emit.run.space import spaces_of
from lego_emit.targets.c import CTarget
from lego_emit.targets.cpp import CppTarget
from lego_emit.targets.gpu import device
from lego_emit.targets.rust import CheckedRustTarget

from .judge import expected_of
from .machine import Machine, Wrong
from .points import Relations, known_of
from .settings import OTHER_NAMES, TYPES

POINTS = 100  # of one function
MOST_VERIFIED = 2**20  # indices that verify() is asked to run over


SANITIZE = ("-fsanitize=undefined", "-fno-sanitize-recover=all")


class OnTheGpu:
    """CUDA C, compiled for the GPU."""

    def find(self):
        device()

    def compile(self, units):
        return registry.toolchain("cuda").compile_for("gpu", units)


def checked(target, gpu):
    """The toolchain, with every check that it has: what goes wrong ends the process. (Fortran's are
    always on.)"""
    if gpu and target == "cuda":
        return OnTheGpu()
    toolchain = registry.toolchain(target)
    if target == "rust":
        return CheckedRustTarget()
    if not isinstance(toolchain, (CTarget, CppTarget)):
        return toolchain
    flags, program = (*toolchain.flags, *SANITIZE), toolchain.program
    if target == "cpp" and shutil.which("clang++"):  # it alone tells where unsigned numbers wrap
        wraps = "-fsanitize=unsigned-integer-overflow"
        flags, program = (*flags, wraps, "-fsanitize-trap=all"), "clang++"
    return type("Sanitized", (type(toolchain),), {"flags": flags, "program": program})()


def units_of(target, batch, typed):
    """([((place, index type), unit, case, expected)], [(place, text) of what is wrong]) of (case,
    expected, programs), where programs is as Case.emit() takes it.
    typed: in the case's type alone, by every name that the language has for it; else in that type or,
        where the language lacks it, in auto."""
    units, found = [], []
    for place, (case, expected, programs) in enumerate(batch):
        types = [case.index_type] if case.index_type in TYPES[target] else []
        if typed:
            others = OTHER_NAMES.get(target, {}).items()
            types += [name for name, own in others if own == case.index_type]
        for own in types if typed else types or ["auto"]:
            try:
                unit = case.emit(target, own, programs)
            except InternalError as error:
                found.append((place, f"{own}: InternalError: {error}"))
                continue
            except LegoError:
                continue  # a language may lack what another has
            except Exception as error:
                found.append((place, f"{own}: {type(error).__name__}: {error}"))
                continue
            units.append(((place, own), unit, case, expected))
    return units, found


def compared(toolchain, units):
    """({(place, index type): the points of each function that were compared}, [(place, text) of what
    is wrong]). Raises ToolchainError; a check of the toolchain ends the process."""
    points, found = {}, []
    compiled = toolchain.compile([unit for _, unit, _, _ in units]) if units else []
    for run, (key, unit, case, expected) in zip(compiled, units, strict=True):
        points[key] = Counter()
        for k, function in enumerate(unit.functions):
            given = expected_of(expected, k, function)
            count, wrong = _function(run, function, case, given)
            points[key][function.name] = count
            if wrong:
                found.append((key[0], f"{key[1]}: {wrong}"))
                break
    return points, found


def verified(case):
    """What unit.verify() says of a case's unit in C++: None where it cannot be asked, else whether
    it holds, and its words."""
    own = case.index_type if case.index_type in TYPES["cpp"] else "auto"
    unit = case.generate(case.subject(), "cpp", own)
    function = unit.functions[0]
    names = [p.name for p in function.params]
    ranges = function.ranges
    given = {
        n
        for n in names
        if ranges[n].count("<") < 2
        or any(re.search(rf"\b{n}\b", text) for m, text in ranges.items() if m != n)
    }
    # What is assumed of an index that runs is not looked at there.
    if any(
        n not in given for a in function.assumptions for n in names if re.search(rf"\b{n}\b", a)
    ):
        return None
    texts = [*ranges.values(), *function.assumptions]
    header = Relations(texts, names, *function.index_type.ends, known_of(case, function))
    rng = random.Random(1)
    for _ in range(10):
        values = header.draw(rng)
        if values is None:
            return None
        sizes = {n: values[n] for n in given}
        try:
            spaces, _ = spaces_of(unit, sizes, {})
            if max(space.total for space in spaces.values()) > MOST_VERIFIED:
                continue
            found = unit.verify(sizes=sizes, samples=1000)
        except VerifyError:
            continue  # an index without an end, or too many of them
        return bool(found), str(found)
    return None


def _function(run, function, case, given):
    """(points, what is wrong) of one compiled function."""
    kind = INT64 if function.index_type == "int" else function.index_type  # what arrays hold
    least, most = kind.ends
    names = [p.name for p in function.params]
    texts = [*(p.range_text for p in function.params), *function.assumptions]
    header = Relations(texts, names, least, most, known_of(case, function))
    machine = Machine(function, False) if header.opaque else None

    def is_usable(point):
        """Whether the header allows it; what it says of every value on the way in this type, too."""
        try:
            return header.hold(point) and (machine is None or bool(machine.run(point)))
        except Wrong:
            return False

    usable = [
        (a, r)
        for a, r in given
        if all(least <= v <= most for v in (*a, *r)) and is_usable(dict(zip(names, a, strict=True)))
    ][:POINTS]
    if not usable:
        return 0, ""
    wide = np.uint64 if function.index_type in ("uint64", "usize") else np.int64
    columns = [
        np.array([a[k] for a, _ in usable], object).astype(wide).view(np.int64)
        for k in range(len(names))
    ]
    if not columns:
        got = run[function.name]()
        rows = [tuple(np.atleast_1d(got).tolist())] * len(usable)
    else:
        got = run[function.name](*columns)
        outputs = got if isinstance(got, tuple) else (got,)
        rows = list(zip(*(o.view(wide).tolist() for o in outputs), strict=True))
    for (arguments, want), row in zip(usable, rows, strict=True):
        if tuple(row) != tuple(want):
            shown = ", ".join(f"{n}={v}" for n, v in zip(names, arguments, strict=True))
            return len(usable), f"{function.name}({shown}): {row}, the reference says {want}"
    return len(usable), ""
